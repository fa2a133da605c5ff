"""What `anywarp convert` will do, said of an assessment's findings: one engine decides for both.

A judge goes by tables, one place at a time; converting looks at the whole file. Where the two would differ, the file is converted
in memory, and what becomes of a finding's line is what is said of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from anywarp.deploy.convert.engine import Converted, convert
from anywarp.deploy.convert.model import Change, Finding, Options, Refusal
from anywarp.deploy.convert.sweep import mentions_nvidia
from anywarp.deploy.convert.tree import LARGEST
from anywarp.diagnostics import AnywarpError
from anywarp.migrate import findings as assessed
from anywarp.migrate.findings import Verdict
from anywarp.migrate.kinds import kind_of
from anywarp.migrate.target import Target
from anywarp.migrate.tree import read
from anywarp.migrate.verdicts.rows import CONVERT

_TRANSLATED = ("cuda", "ptx", "binary", "build")
"""Kinds that are not converted here: `anywarp translate` has them, or nobody."""

LEFT = "`anywarp convert` leaves it: see what it says of this line, and change it by hand"
"""What to do about what a table has an answer for and converting does not reach."""

Place = Callable[[str], str | None]
"""Where the file that a finding's path shows lies on disk; None where it is inside another."""


def settled(findings: Sequence[assessed.Finding], target: Target, place: Place) -> list[assessed.Finding]:
    """Return the findings, of which those said to be converted, and those said to be left, are what converting makes of them."""
    if target.device != "hip":
        return list(findings)
    by_file: dict[str, list[int]] = defaultdict(list)
    for index, finding in enumerate(findings):
        if (_promised(finding.verdict) or finding.verdict.answer == "replace") and kind_of(
            finding.use.subject
        ) not in _TRANSLATED:
            by_file[finding.path].append(index)
    out = list(findings)
    for path, indices in by_file.items():
        where = place(path)
        result = _converted(where, target) if where is not None else None
        if result is None:
            continue
        lines = _Lines(result)
        for index in indices:
            out[index] = replace(out[index], verdict=_verdict(out[index], lines))
    return out


def _promised(verdict: Verdict) -> bool:
    return verdict.answer == "converted" or (verdict.answer == "re-index" and verdict.help == CONVERT)


def _converted(place: str, target: Target) -> Converted | None:
    try:
        return convert(read(place, limit=LARGEST), PurePath(Path(place).absolute()), Options(target))
    except AnywarpError:
        return None  # what cannot be read is told where it was looked into


class _Lines:
    """What becomes of the lines of one file."""

    def __init__(self, result: Converted) -> None:
        starts = [0]
        for line in result.old.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        self.old = result.old
        self.changed: dict[int, list[Change]] = defaultdict(list)
        self.refused: dict[int, list[Refusal]] = defaultdict(list)
        for finding in result.findings:
            if isinstance(finding, Change | Refusal):
                self._enter(finding, starts)

    def _enter(self, finding: Finding, starts: list[int]) -> None:
        first = bisect_right(starts, finding.start)
        last = bisect_right(starts, max(finding.start, finding.end - 1))
        for line in range(first, last + 1):
            if isinstance(finding, Change):
                self.changed[line].append(finding)
            elif isinstance(finding, Refusal):
                self.refused[line].append(finding)

    def text(self, change: Change) -> str:
        """Return what a change takes away."""
        return self.old[change.start : change.end].decode("utf-8", "replace")


def _verdict(finding: assessed.Finding, lines: _Lines) -> Verdict:
    use, verdict = finding.use, finding.verdict
    changes = lines.changed.get(use.line, []) if use.line else [c for of in lines.changed.values() for c in of]
    refusals = lines.refused.get(use.line, [])
    if _promised(verdict):
        if changes:
            return verdict
        first = refusals[0] if refusals else None
        reason = first.reason if first is not None else verdict.reason
        help = first.help if first is not None else LEFT
        answer = "replace" if verdict.answer == "converted" else verdict.answer
        return replace(verdict, answer=answer, reason=reason, help=help, effort="minutes")
    own = [c for c in changes if mentions_nvidia(use.name.encode()) and use.name in lines.text(c)]
    if own and not refusals:
        new = own[0].replacement.decode("utf-8", "replace").strip()
        reason, help = own[0].reason, CONVERT
        return replace(verdict, answer="converted", reason=reason, replacement=new, effort="minutes", help=help)
    about = [r for r in refusals if use.name and use.name in lines.old[r.start : r.end].decode("utf-8", "replace")]
    return replace(verdict, help=about[0].help) if about else verdict
