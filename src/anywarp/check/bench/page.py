"""Results of measuring as a page: percentiles with intervals for each cell, over sizes, distributions, pairs and loads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anywarp import pages
from anywarp.check.bench.cell import from_json
from anywarp.check.store import Run
from anywarp.pages.charts import Bar, Scale, scale

_BINS, _POINTS, _MOST_DETAILED = 60, 600, 24


@dataclass(frozen=True)
class Chart:
    """A chart of intervals on one scale; `mark` is where its line of reference lies."""

    title: str
    bars: Sequence[Bar]
    scale: Scale
    mark: float | None = None


def page(runs: Sequence[Run]) -> str:
    """Return one page with these results of `bench`."""
    of = {form: [run for run in runs if run.result.get("form") == form] for form in ("model", "command", "pair", "endpoint")}  # fmt: skip
    singles = of["model"] + of["command"]
    names = list(dict.fromkeys(run.model for run in runs))
    return pages.environment(Path(__file__).parent, charts=True).get_template("page.html").render(
        title=", ".join(names)[:160] or "Results",
        percentiles=[_cells(singles, name, f"{name} of a call, ms") for name in ("p50", "p99")] if singles else [],
        throughput=_throughputs(singles), details=[_detail(run) for run in singles[:_MOST_DETAILED]],
        pairs=[_pair(run) for run in of["pair"]], loads=[_load(run) for run in of["endpoint"]],
        rows=[_row(run) for run in runs],
        marks=[f"{run.id}: {mark}" for run in runs for mark in run.result.get("marks", ())],
    )  # fmt: skip


def _chart(title: str, rows: Sequence[tuple[str, Mapping[str, Any], str]], zero: bool = True) -> Chart:
    """Return a chart of named intervals."""
    ends = [x for _, v, _ in rows for x in (v["value"], v["low"], v["high"]) if x is not None]
    axis = scale(ends, zero)
    bars = [
        Bar(name, _text(v), axis.at(v["value"]), _place(axis, v["low"]), _place(axis, v["high"]), kind)
        for name, v, kind in rows
    ]
    return Chart(title, bars, axis)


def _place(axis: Scale, value: float | None) -> float | None:
    return None if value is None else axis.at(value)


def _text(value: Mapping[str, Any]) -> str:
    low, high = (f"{value[x]:.4g}" if value[x] is not None else "?" for x in ("low", "high"))
    if low == high == f"{value['value']:.4g}":
        return low
    return f"{value['value']:.4g} [{low}, {high}]"


def _title(run: Run) -> str:
    return from_json(run.result["cell"]).title()


def _cells(runs: Sequence[Run], name: str, title: str) -> Chart:
    return _chart(title, [(_title(run), run.result["latency_ms"][name], "one") for run in runs])


def _throughputs(runs: Sequence[Run]) -> list[Chart]:
    units = list(dict.fromkeys(run.result["throughput"]["unit"] for run in runs))
    return [
        _chart(unit, [(_title(run), run.result["throughput"], "two") for run in runs if run.result["throughput"]["unit"] == unit])
        for unit in units
    ]  # fmt: skip


def _detail(run: Run) -> dict[str, Any]:
    """Return the distribution of a cell's times up to a little beyond its 99th percentile, and the series with its warm-up."""
    times = run.result["times_ms"]
    ordered = sorted(times)
    low, high = ordered[0], ordered[int(0.99 * (len(ordered) - 1))]
    axis = scale([low, high], zero=False)
    inside = [x for x in times if x <= axis.high]
    counts = [0] * _BINS
    for x in inside:
        counts[min(_BINS - 1, int(axis.at(x) / 100 * _BINS))] += 1
    most = max(counts)
    bins = [(round(100 * n / _BINS, 2), round(100 / _BINS * 0.92, 2), round(100 * c / most, 2)) for n, c in enumerate(counts) if c]  # fmt: skip
    return {
        "title": _title(run), "id": run.id, "bins": bins, "scale": axis, "beyond": len(times) - len(inside),
        "calls": run.result["calls"], **_series(run.result["warm_up_ms"], times, axis.high),
    }  # fmt: skip


def _series(before: Sequence[float], times: Sequence[float], top: float) -> dict[str, Any]:
    whole = [*before, *times]
    stride = -(-len(whole) // _POINTS)
    shown = [max(whole[n : n + stride]) for n in range(0, len(whole), stride)]
    last = max(1, len(shown) - 1)
    points = " ".join(f"{100 * n / last:.2f},{100 - 100 * min(1.0, x / top):.2f}" for n, x in enumerate(shown))
    return {"points": points, "split": round(100 * len(before) / len(whole), 2), "warm": len(before), "top": f"{top:g}"}


def _pair(run: Run) -> dict[str, Any]:
    result = run.result
    units = [("each pair", {"value": math.exp(x), "low": math.exp(x), "high": math.exp(x)}, "two") for x in result["units"]]  # fmt: skip
    whole = _chart("", [("all pairs", result["ratio"], "one"), *units[:40], ("equal", {"value": 1, "low": 1, "high": 1}, "two")], zero=False)  # fmt: skip
    bars = [Bar(f"pair {n}" if n else "all pairs", *_rest(bar)) for n, bar in enumerate(whole.bars[:-1])]
    return {
        "title": f"{_title_of(result['a'])} : {result['b']['side']}", "chart": Chart("", bars, whole.scale, whole.scale.at(1)),
        "ratio": result["ratio"], "text": _text(result["ratio"]), "decided": result["decided"], "pairs": len(result["units"]),
        "more": max(0, len(units) - 40), "confidence": result["confidence"], "id": run.id,
    }  # fmt: skip


def _rest(bar: Bar) -> tuple[str, float, float | None, float | None, str]:
    return bar.text, bar.value, bar.low, bar.high, bar.kind


def _title_of(side: Mapping[str, Any]) -> str:
    return from_json(side["cell"]).title()


def _load(run: Run) -> dict[str, Any]:
    service = run.result["service"]
    names = {"first_token_s": "to the first token, s", "between_tokens_s": "between tokens, s", "whole_s": "whole answer, s"}  # fmt: skip
    charts = [
        _chart(title, [(p, service[name][p], "one") for p in ("p50", "p90", "p99")])
        for name, title in names.items()
        if name in service
    ]
    return {"title": run.result["load"], "charts": charts, "id": run.id, "tokens": _text(run.result["tokens_per_s"])}


def _row(run: Run) -> dict[str, str]:
    cell = run.result.get("cell")
    what = from_json(cell).title() if cell else run.result.get("load") or run.device
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    return {"id": run.id, "what": what, "machine": run.machine, "device": run.device, "versions": versions, "digest": run.digest}  # fmt: skip
