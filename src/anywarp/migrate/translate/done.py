"""What became of one file, and how a process tells another: as JSON and the bytes that the file had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from anywarp.diagnostics import Diagnostic, Source, Span
from anywarp.migrate.translate import resolve
from anywarp.migrate.translate.edits import Edit
from anywarp.migrate.translate.engine import Translation


@dataclass(frozen=True)
class Done:
    """What became of one file: its path, its new path, whether it changed, and the translation (None: not one of ours)."""

    shown: str
    new: str
    size: int
    kind: str
    old: bytes = b""
    translation: Translation | None = None
    problem: Diagnostic | None = None

    @property
    def changed(self) -> bool:
        return self.translation is not None and bool(self.translation.edits)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        found = self.translation.diagnostics if self.translation is not None else ()
        return found if self.problem is None else (*found, self.problem)


def without_text(done: Done) -> Done:
    """Return the same without the texts before and after, which a large tree need not keep."""
    shorter = None if done.translation is None else replace(done.translation, text=b"")
    return replace(done, old=b"", translation=shorter)


def packed(done: Done) -> tuple[dict[str, Any], bytes]:
    """Return what `unpacked` makes the same of."""
    head: dict[str, Any] = {"shown": done.shown, "new": done.new, "size": done.size, "kind": done.kind}
    if done.problem is not None:
        head["problem"] = _diagnostic_row(done.problem)
    if (of := done.translation) is not None:
        head["edits"] = [_edit_row(each) for each in of.edits]
        head["diagnostics"] = [_diagnostic_row(each) for each in of.diagnostics]
        head |= {"support": of.support, "names": sorted(of.names), "own": sorted(of.own)}
    return head, done.old


def unpacked(head: dict[str, Any], old: bytes) -> Done:
    """Return what `packed` was given."""
    problem = _diagnostics([head["problem"]], old)[0] if "problem" in head else None
    translation = None
    if "edits" in head:
        edits = tuple(Edit(start, end, text.encode("latin-1"), *rest) for start, end, text, *rest in head["edits"])
        text = resolve.apply(old, edits) if edits else old
        told = tuple(_diagnostics(head["diagnostics"], old))
        names, own = frozenset[str](head["names"]), frozenset[str](head["own"])
        translation = Translation(text, edits, told, tuple(head["support"]), names, own)
    return Done(head["shown"], head["new"], head["size"], head["kind"], old, translation, problem)


def _edit_row(edit: Edit) -> list[Any]:
    assert isinstance(edit.replacement, bytes), "edits of a translation are flat"
    return [edit.start, edit.end, edit.replacement.decode("latin-1"), edit.rule, edit.reason, edit.group]


def _diagnostic_row(d: Diagnostic) -> list[Any]:
    source = None if d.source is None else [d.source.name, bool(d.source.text)]
    span = None if d.span is None else [d.span.start, d.span.end]
    return [d.code, d.message, d.severity, source, span, d.help, d.details]


def _diagnostics(rows: Sequence[list[Any]], old: bytes) -> list[Diagnostic]:
    """Return diagnostics that point into the file, whose text they share."""
    text: str | None = None
    found = list[Diagnostic]()
    for code, message, severity, source, span, help, details in rows:
        if source is not None and source[1] and text is None:
            text = old.decode("utf-8", "replace")
        place = None if source is None else Source(source[0], text or "" if source[1] else "")
        where = None if span is None else Span(span[0], span[1])
        found.append(Diagnostic(code, message, severity, place, where, help, details))
    return found
