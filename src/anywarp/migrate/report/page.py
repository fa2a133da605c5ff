"""An assessment as one page of HTML that needs no network: to be mailed, kept with a decision, and printed.

Everything in it came from files that nobody vouches for, so all text is escaped by the template and the page forbids itself to load
anything or to run any script but its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Generic, TypeVar

from markupsafe import Markup, escape

from anywarp import pages
from anywarp.migrate.assess import Assessment
from anywarp.migrate.effort import HOW, places
from anywarp.migrate.findings import ANSWERS, Answer, Finding
from anywarp.migrate.kinds import KINDS, kind_of
from anywarp.migrate.report.words import place
from anywarp.migrate.shown import shorten, visible
from anywarp.migrate.summary import Summary, target_arguments

MOST_BLOCKERS, MOST_BARS, MOST_PROBLEMS = 25, 24, 200

_HERE = Path(__file__).parent
T = TypeVar("T", bound=Hashable)


class _Table(Generic[T]):
    """Values that occur many times, each kept once."""

    def __init__(self) -> None:
        self._index: dict[T, int] = {}

    def add(self, value: T) -> int:
        """Return the number of a value."""
        return self._index.setdefault(value, len(self._index))

    def values(self) -> list[T]:
        """Return all values in the order of their numbers."""
        return list(self._index)


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of a chart: its name, how many findings, and the stretches by answer as (answer, count, start, width) in percent."""

    key: str
    name: str
    count: int
    parts: tuple[tuple[Answer, int, float, float], ...]


def report(assessment: Assessment, summary: Summary, new: Sequence[bool] | None = None) -> str:
    """Return the page."""
    environment = pages.environment(_HERE)
    environment.filters["shorten"] = shorten  # pyright: ignore[reportArgumentType]
    environment.filters["ticks"] = _ticks
    environment.globals["place"] = place  # pyright: ignore[reportArgumentType]
    script = (_HERE / "page.js").read_text(encoding="utf-8")
    findings = len(assessment.findings)
    quiet = sum(s.findings for s in summary.shares if s.answer in ("as-is", "converted"))
    return environment.get_template("page.html").render(
        a=assessment,
        s=summary,
        answers=ANSWERS,
        kinds=KINDS,
        how=HOW,
        date=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        paths=[visible(path) for path in assessment.plan.paths],
        options=target_arguments(assessment.plan.target),
        total=findings,
        quiet=100 * quiet / findings if findings else 100.0,
        all_bar=_bar("", "all findings", {s.answer: s.findings for s in summary.shares}, findings),
        kind_bars=_scaled((kind, KINDS[kind], row) for kind, row in summary.kinds.items()),
        deployment_bars=_scaled(_deployment_rows(assessment, summary)),
        more_deployments=max(0, len(summary.deployments) - MOST_BARS),
        blockers=summary.blockers[:MOST_BLOCKERS],
        more_blockers=max(0, len(summary.blockers) - MOST_BLOCKERS),
        problems=assessment.problems[:MOST_PROBLEMS],
        data=_data(assessment.findings, new),
        script=script,
        script_hash=pages.digest(script),
        compared=new is not None,
    )


def _ticks(text: str) -> Markup:
    """Return a text, escaped, in which what stands between backticks is code."""
    parts = str(escape(text)).split("`")
    return Markup("".join(f"<code>{part}</code>" if n % 2 else part for n, part in enumerate(parts)))


def _data(findings: Sequence[Finding], new: Sequence[bool] | None) -> dict[str, Any]:
    """Return the findings as tables and rows of numbers: fifty thousand of them take some megabytes."""
    paths, names, texts = _Table[str](), _Table[tuple[str, str]](), _Table[str]()
    verdicts, reaches = _Table[tuple[str, str, str, str, str]](), _Table[tuple[str, ...]]()
    rows: list[list[int]] = []
    for number, f in enumerate(findings):
        v = f.verdict
        rows.append(
            [
                paths.add(f.path),
                f.use.line,
                names.add((f.use.subject, f.use.name)),
                texts.add(f.use.text),
                verdicts.add((v.answer, v.reason, v.replacement, v.effort, v.help)),
                reaches.add(f.reaches),
                places(f),
                int(new is None or new[number]),
            ]
        )
    return {
        "answers": list(ANSWERS.items()),
        "kinds": list(KINDS.items()),
        "paths": paths.values(),
        "names": [(kind_of(subject), subject, name) for subject, name in names.values()],
        "texts": texts.values(),
        "verdicts": verdicts.values(),
        "reaches": reaches.values(),
        "rows": rows,
    }


def _deployment_rows(assessment: Assessment, summary: Summary) -> Iterable[tuple[str, str, dict[Answer, int]]]:
    shown = [row.deployment.id for row in summary.deployments[:MOST_BARS] if row.findings]
    counts: dict[str, dict[Answer, int]] = {name: {} for name in shown}
    for finding in assessment.findings:
        for name in finding.reaches:
            row = counts.get(name)
            if row is not None:
                row[finding.verdict.answer] = row.get(finding.verdict.answer, 0) + 1
    return ((name, name, row) for name, row in counts.items())


def _scaled(rows: Iterable[tuple[str, str, Any]]) -> list[Bar]:
    """Return bars whose lengths compare."""
    all_rows = list(rows)
    longest = max((sum(row.values()) for _, _, row in all_rows), default=1)
    return [_bar(key, name, row, longest) for key, name, row in all_rows]


def _bar(key: str, name: str, row: dict[Answer, int], longest: int) -> Bar:
    parts: list[tuple[Answer, int, float, float]] = []
    start = 0.0
    for answer in ANSWERS:
        if count := row.get(answer, 0):
            width = 100 * count / max(longest, 1)
            parts.append((answer, count, round(start, 3), round(width, 3)))
            start += width
    return Bar(key, name, sum(row.values()), tuple(parts))
