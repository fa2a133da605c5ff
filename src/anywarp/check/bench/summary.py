"""A series of measured times as a result: warm-up found and left out, percentiles with intervals, throughput, energy, and marks for what a reader must know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from anywarp.check.bench import percentiles, warmup

KEPT = 5000
"""Most values of a series that a result keeps: the last ones."""


@dataclass
class Series:
    """What was measured in one process: seconds of each call in order (of the slowest rank), and the joules between places in it."""

    times: list[float] = field(default_factory=list[float])
    ranks: list[list[float]] = field(default_factory=list[list[float]])
    energy: list[tuple[int, dict[str, float]]] = field(default_factory=list[tuple[int, dict[str, float]]])
    first: float = 0.0
    steady: warmup.Steady | None = None

    def look(self) -> warmup.Steady | None:
        """Find where the series is steady, where it is long enough."""
        self.steady = warmup.find(self.times) if len(self.times) >= 2 * warmup.SHORTEST else None
        return self.steady

    @property
    def start(self) -> int:
        """The first value that counts: of the steady part, of all where there is none."""
        return self.steady.start if self.steady is not None and self.steady.kind != "not steady" else 0

    def counted(self) -> list[float]:
        """Return the values that count."""
        return self.times[self.start :]


def summarise(series: Sequence[Series], items: int, unit: str) -> dict[str, Any]:
    """Return the part of a result that comes from times: `items` (inferences, runs) are done by each call."""
    counted = [x for each in series for x in each.counted()]
    mean = percentiles.mean(counted)
    done = percentiles.Interval(items / mean.value, _over(items, mean.high), _over(items, mean.low))
    kinds = [each.steady.kind if each.steady else "too short" for each in series]
    result: dict[str, Any] = {
        "first_s": series[0].first,
        "calls": len(counted),
        "latency_ms": {f"p{p:g}": percentiles.percentile(counted, p).map(1e3).as_json() for p in percentiles.PERCENTILES},
        "mean_ms": mean.map(1e3).as_json(),
        "correlation_time": percentiles.correlation_time(percentiles.np.asarray(counted)),
        "throughput": {"unit": f"{unit}/s", "items": items, **done.as_json()},
        "warm_up": [{"calls": each.start, "kind": kind} for each, kind in zip(series, kinds, strict=True)],
        "processes_p50_ms": [percentiles.percentile(each.counted(), 50).value * 1e3 for each in series],
        "times_ms": [float(f"{x * 1e3:.6g}") for x in counted[-KEPT:]],
        "warm_up_ms": [float(f"{x * 1e3:.6g}") for x in series[0].times[: series[0].start][:KEPT]],
    }  # fmt: skip
    if ranks := _ranks(series):
        result["ranks_p50_ms"] = ranks
    return result


def _over(items: int, time: float | None) -> float | None:
    return items / time if time is not None and time > 0 else None


def _ranks(series: Sequence[Series]) -> list[float]:
    """Return each rank's median in milliseconds, where there are several."""
    if not series[0].ranks or len(series[0].ranks) < 2:
        return []
    joined = [[x for each in series for x in each.ranks[n][each.start :]] for n in range(len(series[0].ranks))]
    return [percentiles.percentile(each, 50).value * 1e3 for each in joined]


def energy(series: Sequence[Series], items: int) -> dict[str, float]:
    """Return joules per item and counter over what is steady; nothing where no counter was read within it."""
    joules: dict[str, float] = {}
    calls = 0
    for each in series:
        inside = [(place, state) for place, state in each.energy if place >= each.start]
        if len(inside) < 2:
            continue
        calls += inside[-1][0] - inside[0][0]
        for _, used in inside[1:]:
            for name, value in used.items():
                joules[name] = joules.get(name, 0.0) + value
    return {name: value / (calls * items) for name, value in joules.items()} if calls else {}


def marks(series: Sequence[Series]) -> list[str]:
    """Return what a reader must know of the times."""
    found: list[str] = []
    for each in series:
        if each.steady is None:
            found.append(f"only {len(each.times)} calls: whether they are steady cannot be told")
        elif each.steady.kind == "not steady":
            found.append("no steady state was found: all calls count, and intervals mean little")
        elif each.steady.kind == "slowdown":
            found.append("it became slower while it ran (heat, another load, memory?): what counts is the slower part")
    return list(dict.fromkeys(found))
