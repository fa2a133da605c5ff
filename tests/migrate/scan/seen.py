"""What a scanner sees in a text, as short tuples; facts that only connect files apart."""

from __future__ import annotations

import importlib
from pathlib import PurePath

from anywarp.migrate.findings import Use
from anywarp.migrate.verdicts import is_fact


def uses(scanner: str, name: str, text: str | bytes) -> list[Use]:
    """Return all uses that a scanner sees in a file, which it must want."""
    module = importlib.import_module(f"anywarp.migrate.scan.{scanner}")
    data = text.encode() if isinstance(text, str) else text
    path = PurePath(name)
    assert module.wants(path, data[:4096]), name
    return list(module.scan(data, path))


def findings(scanner: str, name: str, text: str | bytes) -> list[tuple[int, int, str, str]]:
    """Return line, column, subject and name of what is no fact."""
    return [(u.line, u.column, u.subject, u.name) for u in uses(scanner, name, text) if not is_fact(u.subject)]


def facts(scanner: str, name: str, text: str | bytes) -> list[tuple[str, str]]:
    """Return subject and name of the facts."""
    return [(u.subject, u.name) for u in uses(scanner, name, text) if is_fact(u.subject)]
