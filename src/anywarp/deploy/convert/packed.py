"""A conversion as one process tells another: as JSON and the bytes that the file had."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

from anywarp.deploy.convert.engine import Converted
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Refusal
from anywarp.migrate.writing import Edit, apply

_KINDS: dict[str, type[Finding]] = {kind.__name__: kind for kind in (Change, Refusal, Note, Fine)}


def packed(converted: Converted) -> dict[str, Any]:
    """Return what `unpacked` makes the same of, with the old bytes."""
    return {"kind": converted.kind, "findings": [_row(finding) for finding in converted.findings]}


def unpacked(head: dict[str, Any], old: bytes) -> Converted:
    """Return what `packed` was given, of the bytes `old`."""
    findings = tuple(_finding(row) for row in head["findings"])
    edits = [Edit(f.start, f.end, f.replacement) for f in findings if isinstance(f, Change)]
    return Converted(head["kind"], old, apply(old, edits) if edits else old, findings)


def _row(finding: Finding) -> list[Any]:
    values = [value.decode("latin-1") if isinstance(value, bytes) else value for value in astuple(finding)]
    return [type(finding).__name__, *values]


def _finding(row: list[Any]) -> Finding:
    name, *values = row
    if name == "Change":
        values[2] = values[2].encode("latin-1")
    return _KINDS[name](*values)
