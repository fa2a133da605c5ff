"""A rollout as one page of HTML that needs no network: charts as SVG, light and dark, all text escaped by the template."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from anywarp import pages
from anywarp.deploy.rollout.gates import show
from anywarp.deploy.rollout.report.facts import PHASES, Curve, Facts, Span
from anywarp.deploy.rollout.units import in_words, percent

_HERE = Path(__file__).parent
WIDTH, HEIGHT = 720.0, 200.0
LEFT, BOTTOM, TOP = 62.0, 26.0, 10.0
MOST_POINTS = 400


@dataclass(frozen=True)
class Part:
    """The part of a gate's chart that belongs to one stage."""

    stage: str
    start: float
    end: float
    band: str
    line: str


@dataclass(frozen=True)
class Chart:
    """A drawn gate."""

    curve: Curve
    parts: list[Part]
    ticks: list[tuple[float, str]]
    limit: float
    words: str
    last: dict[str, Any]


def page(told: Facts) -> str:
    """Return the page."""
    environment = pages.environment(_HERE)
    environment.filters["percent"] = percent
    environment.filters["lasting"] = in_words
    environment.globals["show"] = show  # pyright: ignore[reportArgumentType]
    charts = [chart(curve) for curve in told.curves if any(p["target"] for p in curve.points)]
    return environment.get_template("page.html").render(
        f=told,
        plan=told.plan,
        row=told.row,
        phase=PHASES[told.row.phase] if told.row else PHASES["new"],
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        steps=steps(told.spans),
        whole=[c for c in charts if c.curve.scope == "all"],
        classes=[c for c in charts if c.curve.scope != "all"],
        decisions=[e for e in told.events if e.says("verdicts")],
        price=sum(a + b for _, _, a, b in told.costs),
        held=sum(a for _, _, a, _ in told.costs),
    )


def steps(spans: list[Span]) -> list[dict[str, Any]]:
    """Return the target's share over time as rectangles; what was too short to be seen has a hair's width."""
    if not spans:
        return []
    start, end = spans[0].start, max(s.end for s in spans)
    scale = (WIDTH - LEFT - 10) / max(end - start, 1e-9)
    tall = HEIGHT - BOTTOM - TOP
    return [
        {
            "x": round(LEFT + (s.start - start) * scale, 2),
            "width": round(max((s.end - s.start) * scale, 1.5), 2),
            "y": round(TOP + tall * (1 - s.share), 2),
            "height": round(max(tall * s.share, 1.5), 2),
            "span": s,
        }
        for s in spans
    ]


def chart(curve: Curve) -> Chart:
    """Draw a gate: its bounds as a band, its estimate as a line, its limit; the vertical range is about limit and estimates."""
    points = [p for p in curve.points if p["target"]]
    if len(points) > MOST_POINTS:
        points = [points[round(n * (len(points) - 1) / (MOST_POINTS - 1))] for n in range(MOST_POINTS)]
    low, high = _range(curve, points)
    step = (WIDTH - LEFT - 20) / max(len(points), 1)

    def y(value: float | None, missing: float) -> float:
        value = missing if value is None or not math.isfinite(value) else value
        share = (min(max(value, low), high) - low) / (high - low)
        return round(TOP + (HEIGHT - BOTTOM - TOP) * (1 - share), 2)

    parts: list[Part] = []
    for stage, group in groupby(enumerate(points), key=lambda pair: pair[1]["stage"]):
        pairs = list(group)
        if len(pairs) == 1:  # one look is drawn as wide as its place
            pairs = [pairs[0], (pairs[0][0] + 0.8, pairs[0][1])]
        xs = [round(LEFT + (n + 0.1) * step, 2) for n, _ in pairs]
        lower = [f"{x},{y(p['lower'], low)}" for x, (_, p) in zip(xs, pairs, strict=True)]
        upper = [f"{x},{y(p['upper'], high)}" for x, (_, p) in zip(xs, pairs, strict=True)]
        line = [f"{x},{y(p['estimate'], low)}" for x, (_, p) in zip(xs, pairs, strict=True)]
        parts.append(Part(str(stage), xs[0], xs[-1], " ".join([*upper, *reversed(lower)]), " ".join(line)))
    ticks = [(y(value, low), show(value, curve.unit)) for value in (low, (low + high) / 2, high)]
    last = points[-1]
    words = (
        f"{curve.name}, {curve.scope}: {show(last['estimate'], curve.unit)}, between {show(last['lower'], curve.unit)} and "
        f"{show(last['upper'], curve.unit)}, limit {show(curve.limit, curve.unit)}: {last['result']}"
    )
    return Chart(curve, parts, ticks, y(curve.limit, low), words, last)


def _range(curve: Curve, points: list[dict[str, Any]]) -> tuple[float, float]:
    values = [curve.limit, *(p["estimate"] for p in points if p["estimate"] is not None)]
    last = points[-1]
    values += [v for v in (last["lower"], last["upper"]) if v is not None and math.isfinite(v)]
    low, high = min(values), max(values)
    room = max(high - low, abs(curve.limit) * 0.1, 1e-9) * 0.25
    return low - room, high + room
