"""The service level at which costs are compared, and which measured results hold it.

A result holds a limit when even the upper end of its interval does: what was measured too briefly to know does not count as held.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anywarp.check.bench.percentiles import Interval, interval_from
from anywarp.check.cost.problems import LEVEL, problem
from anywarp.check.store import Run

NONE = "none"
"""The level of work that nobody waits for."""

_LIMIT = re.compile(r"(call|first-token|between-tokens|whole)-p(50|90|95|99)<=(\d{1,9}(?:\.\d{1,9})?)(us|ms|s)")
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
GRAMMAR = "call-p99<=20ms (models, commands); first-token-p99<=500ms, between-tokens-p99<=50ms, whole-p95<=10s (endpoints); or none"
MOST_ERRORS = 0.01


@dataclass(frozen=True)
class Limit:
    """A percentile of a time that must not be above a number of seconds."""

    what: str
    percent: int
    seconds: float

    def text(self) -> str:
        """Return it as it is written."""
        return f"{self.what}-p{self.percent}<={self.seconds * 1e3:g}ms"


def parse(texts: Sequence[str]) -> tuple[Limit, ...]:
    """Return the limits that texts state; () for `none` alone. AnywarpError (V043)."""
    if not texts:
        text = "costs are compared at a service level, and none was named"
        raise problem(LEVEL, text, f"name limits by --level: {GRAMMAR}")
    if list(texts) == [NONE]:
        return ()
    found: list[Limit] = []
    for text in texts:
        match = _LIMIT.fullmatch(text.strip())
        if match is None:
            raise problem(LEVEL, f"{text[:80]!r} is no limit", f"limits are such as {GRAMMAR}")
        found.append(Limit(match[1], int(match[2]), float(match[3]) * _UNITS[match[4]]))
    return tuple(found)


def observed(run: Run, limit: Limit) -> Interval | None:
    """Return what a result has for a limit, in seconds; None where it has nothing of this kind."""
    result = run.result
    if limit.what == "call":
        found = result.get("latency_ms", {}).get(f"p{limit.percent}")
        return interval_from(found).map(1e-3) if found else None
    found = result.get("service", {}).get(f"{limit.what.replace('-', '_')}_s", {}).get(f"p{limit.percent}")
    return interval_from(found) if found else None


def shortfalls(run: Run, level: Sequence[Limit]) -> list[str]:
    """Return in words which limits a result does not hold; none where it holds all of them."""
    found: list[str] = []
    for limit in level:
        seen = observed(run, limit)
        if seen is None:
            found.append(f"{limit.text()}: it says nothing of {limit.what}")
        elif seen.high is None:
            found.append(f"{limit.text()}: it is {seen.value * 1e3:.4g} ms, but too little was measured to be sure")
        elif seen.high > limit.seconds:
            found.append(f"{limit.text()}: it is {seen.value * 1e3:.4g} ms, at most {seen.high * 1e3:.4g} ms")
    counts: Mapping[str, Any] = run.result
    if "errors" in counts and counts["errors"] > MOST_ERRORS * max(1, counts["requests_sent"]):
        found.append(f"{counts['errors']} of {counts['requests_sent']} requests failed")
    return found


def best(runs: Sequence[Run], level: Sequence[Limit], what: str) -> Run:
    """Return of the results that hold the level the one with the highest throughput; AnywarpError (V043) names why none does."""
    holding = [run for run in runs if not shortfalls(run, level)]
    if not holding:
        reasons = "; ".join(f"{run.id} ({'; '.join(shortfalls(run, level))})" for run in runs)
        text = f"no result of the {what} holds the service level: {reasons}"
        raise problem(LEVEL, text, "measure smaller batches, less load or longer, or ask for another level")
    return max(holding, key=lambda run: throughput(run).value)


def throughput(run: Run) -> Interval:
    """Return what a result does in a second: tokens, inferences or runs."""
    found = run.result.get("tokens_per_s") or run.result["throughput"]
    return interval_from(found)


def unit(run: Run) -> str:
    """Return what it does: tokens, inferences or runs."""
    return "tokens" if "tokens_per_s" in run.result else str(run.result["throughput"]["unit"]).removesuffix("/s")
