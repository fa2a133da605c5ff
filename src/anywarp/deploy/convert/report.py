"""Tell what a conversion did: each change with its reason, each refusal with what to do, and the sum.

What a file holds may have been written to fool a terminal, so it is shown with every odd character visible.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from anywarp.deploy.convert.engine import Converted
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal
from anywarp.deploy.convert.tree import Result, Run
from anywarp.migrate.shown import shorten, visible

_WIDTH = 76
_FEW = 3


class _Lines:
    """Lines and columns of a text, found in ascending order of places."""

    def __init__(self, data: bytes) -> None:
        self._data, self._line, self._place = data, 1, 0

    def of(self, place: int) -> tuple[int, int]:
        if place < self._place:
            self._line, self._place = 1, 0
        self._line += self._data.count(b"\n", self._place, place)
        self._place = place
        head = self._data.rfind(b"\n", 0, place) + 1
        return self._line, len(self._data[head:place].decode("utf-8", "replace")) + 1


def as_text(done: Run, notes: bool = True) -> Iterator[str]:
    """Yield the report as lines for people."""
    for result in done.touched:
        if result.converted is not None and not _elsewhere(result.converted):
            yield from _file(result.file.shown, result.converted, notes)
    yield from _others(done)
    yield from _summary(done)


def _elsewhere(converted: Converted) -> bool:
    """Say whether a file is of no kind that is converted, and for another command or for people."""
    return not converted.kind and all(isinstance(finding, Note) for finding in converted.findings)


def _others(done: Run) -> Iterator[str]:
    """Yield a line for each reason why files that mention NVIDIA are not for this command."""
    names: dict[str, list[str]] = {}
    for result in done.touched:
        if result.converted is not None and _elsewhere(result.converted):
            why = (
                result.converted.notes[0].reason.partition("command: ")[2] or "binary: `anywarp assess` looks into them"
            )
            names.setdefault(why, []).append(result.file.shown)
    for reason, those in names.items():
        few = ", ".join(visible(name) for name in those[:_FEW]) + (
            f" and {len(those) - _FEW} more" if len(those) > _FEW else ""
        )
        yield f"{len(those)} that mention NVIDIA are not for this command ({reason}): {few}"
    if names:
        yield ""


def _file(shown: str, converted: Converted, notes: bool) -> Iterator[str]:
    told = [f for f in converted.findings if isinstance(f, Change | Refusal) or (notes and not isinstance(f, Fine))]
    if not told:
        return
    yield f"{visible(shown)}{f'  ({converted.kind})' if converted.kind else ''}"
    lines = _Lines(converted.old)
    grouped: dict[tuple[object, ...], list[str]] = {}
    for finding in told:
        line, column = lines.of(finding.start)
        grouped.setdefault(_said(converted, finding), []).append(f"{line}:{column}")
    for (head, *rest), places in grouped.items():
        few = ", ".join(places[:8]) + (f" and {len(places) - 8} more" if len(places) > 8 else "")
        yield f"  {few}  {head}"
        yield from (f"      {line}" for line in rest)
    yield ""


def _said(converted: Converted, finding: Finding) -> tuple[str, ...]:
    old = _shown(converted.old[finding.start : finding.end])
    if isinstance(finding, Change):
        return (f"{old} -> {_shown(finding.replacement) or '(taken out)'}", finding.reason)
    if isinstance(finding, Refusal):
        return (f"LEFT {old}", f"{finding.reason} [{finding.code}]", f"do: {finding.help}")
    return (f"note {old}", finding.reason)


def _shown(data: bytes) -> str:
    return shorten(" ".join(data.decode("utf-8", "replace").split()), _WIDTH)


def _summary(done: Run) -> Iterator[str]:
    numbers = sums(done)
    yield (
        f"{numbers['files']} files looked at, {numbers['converted']} changed: {numbers['changes']} changes, "
        f"{numbers['refusals']} places left for a person, {numbers['notes']} notes"
    )
    if numbers["refusals"]:
        kinds = Counter(r.code for result in done.touched if result.converted for r in result.converted.refusals)
        yield (
            "left: "
            + ", ".join(f"{count} {code}" for code, count in sorted(kinds.items()))
            + " (`anywarp explain CODE`)"
        )
    if done.links:
        yield f"{done.links} symbolic links were not followed"


def sums(done: Run) -> dict[str, int]:
    """Return the numbers at the end of a report."""
    all_of = [result.converted for result in done.results if result.converted is not None]
    return {
        "files": len(done.results),
        "converted": sum(converted.new != converted.old for converted in all_of),
        "changes": sum(len(converted.changes) for converted in all_of),
        "refusals": sum(len(converted.refusals) for converted in all_of),
        "notes": sum(len(converted.notes) for converted in all_of),
        "problems": len(done.problems) + sum(result.problem is not None for result in done.results),
    }


def as_json(done: Run, options: Options) -> dict[str, Any]:
    """Return the report for programs."""
    return {
        "version": 1,
        "target": str(options.target),
        "card": options.card,
        "naming": options.naming,
        "files": [_json_file(result) for result in done.touched if result.converted is not None],
        "problems": [
            problem.as_json() for problem in (*done.problems, *(r.problem for r in done.results if r.problem))
        ],
        "sum": sums(done),
    }


def _json_file(result: Result) -> dict[str, Any]:
    converted = result.converted
    assert converted is not None
    out: dict[str, Any] = {"path": visible(result.file.shown), "kind": converted.kind}
    out.update({"changes": [], "refusals": [], "notes": [], "fine": []})
    lines = _Lines(converted.old)
    for finding in converted.findings:
        line, column = lines.of(finding.start)
        entry: dict[str, Any] = {
            "line": line,
            "column": column,
            "text": _text(converted.old[finding.start : finding.end]),
        }
        entry["reason"] = finding.reason
        if finding.source:
            entry["source"] = finding.source
        if isinstance(finding, Change):
            entry["replacement"] = _text(finding.replacement)
            out["changes"].append(entry)
        elif isinstance(finding, Refusal):
            entry.update({"code": finding.code, "help": finding.help})
            out["refusals"].append(entry)
        else:
            out["fine" if isinstance(finding, Fine) else "notes"].append(entry)
    return out


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def diff(result: Result) -> str:
    """Return a unified diff of one file, empty where nothing changed; odd characters in the name are made visible."""
    converted = result.converted
    if converted is None or converted.new == converted.old:
        return ""
    old, new = (
        data.decode("utf-8", "surrogateescape").splitlines(keepends=True) for data in (converted.old, converted.new)
    )
    name = visible(result.file.shown)
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
