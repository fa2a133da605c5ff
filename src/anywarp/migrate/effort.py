"""How much work findings are, as a range in person-days, and how that is counted: a number nobody can follow helps nobody.

One thing to do is counted once, however often it occurs: what lacks a counterpart for one reason needs one solution, a rebuild is set up once.
Further names for the same reason cost a fifth each, further files a tenth, further places in a file a fiftieth: somebody has to go there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from anywarp.migrate.findings import Answer, Effort, Finding
from anywarp.migrate.kinds import kind_of

DAYS: dict[Effort, tuple[float, float]] = {
    "none": (0.0, 0.0),
    "minutes": (0.01, 0.06),
    "hours": (0.125, 1.0),
    "days": (1.0, 5.0),
    "weeks": (5.0, 20.0),
}
"""Person-days of 8 hours that one thing to do may take."""

ONCE = frozenset({"re-index"})
"""Answers that are one decision however many files ask for it: another build of a package is installed once."""

PER_NAME, PER_FILE, PER_PLACE = 0.2, 0.1, 0.02
"""Shares of that for each further name for the same reason, each further file with it, and each further place in a file."""

MOST = 3.0
"""Repetitions together cost at most so many times what the thing costs once: by then somebody writes a script."""

HOW = (
    "counted per thing to do: minutes 5-30 min, hours 1-8 h, days 1-5, weeks 5-20 days of work; of what has the same reason, each further name "
    "costs a fifth, each further file a tenth, each further place in a file a fiftieth, together at most three times the first; another build "
    "of a package is one thing to do"
)


@dataclass(frozen=True, slots=True)
class Days:
    """A range of person-days."""

    low: float = 0.0
    high: float = 0.0

    def __add__(self, other: Days) -> Days:
        return Days(self.low + other.low, self.high + other.high)

    def __str__(self) -> str:
        if self.high == 0:
            return "none"
        if self.high < 0.5:
            return "under half a day"
        low = f"{self.low:.0f}" if self.low >= 1 else f"{self.low:.1f}" if self.low >= 0.1 else "0"
        high = f"{self.high:.0f}" if self.high >= 2 else f"{self.high:.1f}"
        return f"{low} to {high} person-days" if low != high else f"{high} person-days"


Thing = tuple[str, ...]

_NAMES = re.compile(r"`?\b(?:hip|roc|rccl|miopen|amdsmi|cu|nccl|nvml|__)[A-Za-z]*[A-Z_]\w*`?")


def thing_of(finding: Finding) -> Thing:
    """Return what a person does about a finding: findings with the same are one piece of work.

    What has no path or is replaced is one per reason; conversions, rebuilds and new indexes are one per kind and advice.
    """
    use, verdict = finding.use, finding.verdict
    if verdict.answer in ("no-path", "replace"):
        return verdict.answer, use.subject, verdict.effort, _unnamed(verdict.reason), _unnamed(verdict.help)
    return verdict.answer, kind_of(use.subject), verdict.effort, verdict.help or verdict.reason


def _unnamed(text: str) -> str:
    """Return a reason without the names in it: `hipA came with ROCm 10.0` and `hipB came with ROCm 10.0` are one reason."""
    return _NAMES.sub("*", text)


def places(finding: Finding) -> int:
    """Return how many places a finding stands for: scanners join those of one name in one file."""
    text = finding.use.detail("count", "1")
    return int(text) if text.isdecimal() and 0 < len(text) < 10 else 1


@dataclass(slots=True)
class _Work:
    """What is known of one thing to do."""

    answer: Answer
    effort: Effort
    names: set[str]
    files: set[str]
    more_places: int = 0

    def days(self) -> Days:
        named = self.answer in ("no-path", "replace")
        again = PER_NAME * (len(self.names) - 1) if named else 0.0
        if self.answer not in ONCE:
            again += PER_FILE * (len(self.files) - 1) + PER_PLACE * self.more_places
        low, high = DAYS[self.effort]
        times = 1 + min(again, MOST)
        return Days(low * times, high * times)


def days_of(findings: Iterable[Finding]) -> dict[Answer, Days]:
    """Return the work in findings by answer."""
    things: dict[Thing, _Work] = {}
    for finding in findings:
        effort = finding.verdict.effort
        if effort == "none":
            continue
        thing = thing_of(finding)
        work = things.get(thing)
        if work is None:
            work = things[thing] = _Work(finding.verdict.answer, effort, set(), set())
        work.names.add(finding.use.name)
        work.files.add(finding.path)
        work.more_places += places(finding) - 1
    total: dict[Answer, Days] = {}
    for work in things.values():
        total[work.answer] = total.get(work.answer, Days()) + work.days()
    return total


def sum_of(days: Iterable[Days]) -> Days:
    """Add ranges."""
    return sum(days, Days())
