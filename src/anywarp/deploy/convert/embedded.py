"""Texts inside texts: shell in a manifest, a query in an autoscaler, a file in a ConfigMap, each converted as what it is."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from anywarp.deploy.convert import registry
from anywarp.deploy.convert.model import Answer, Finding, Fine, Options

MOST_DEPTH = 4
"""Files in files in files: deeper ones are left to the list of what was not converted."""

_depth = 0


def shell(data: bytes, options: Options) -> Iterator[Finding]:
    """Convert a line or script of shell."""
    module = _module("commands")
    return module.commands(data, options) if module else iter(())


def query(data: bytes, options: Options) -> Iterator[Finding]:
    """Convert an expression of Prometheus."""
    module = _module("promql")
    return module.expression(data, options) if module else iter(())


def metric(name: str, options: Options) -> Answer | None:
    """Return what becomes of the name of a metric."""
    module = _module("promql")
    return module.metric(name, options) if module else None


def file(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Convert a file that is kept inside another one; its comments are fine as they are."""
    global _depth
    kind = registry.kind_of(path, data)
    if kind is None or _depth >= MOST_DEPTH:
        return
    _depth += 1
    try:
        yield from kind.convert(data, path, options)
        for start, end in kind.comments(data):
            yield Fine(start, end, "a comment")
    finally:
        _depth -= 1


def _module(name: str) -> Any:
    try:
        return importlib.import_module(f"anywarp.deploy.convert.{name}")
    except ModuleNotFoundError:
        return None
