"""A verdict as one page of HTML that needs no network: to be mailed, and kept with a decision."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from anywarp import pages
from anywarp.check.numbers.causes import CAUSES
from anywarp.check.numbers.judging import graded, named
from anywarp.check.numbers.results import GRADES, LEVELS, Comparison, Layer, Report

MOST_ROWS, MOST_DETAILS, MOST_COLUMNS = 2000, 25, 1000
WORDS = {"pass": "right", "warn": "doubtful", "fail": "wrong"}
HEADLINE = {
    "pass": "It computes the same, as far as it was compared",
    "warn": "It differs by more than was expected",
    "fail": "It does not compute the same",
}
SERIES = {"isolated": "by itself", "propagated": "within the whole"}

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Dot:
    """A point of a chart, in a box of 1000 by 100; `row` is the layer's number."""

    x: float
    y: float
    series: str
    row: int
    title: str


@dataclass(frozen=True)
class Chart:
    """A chart with one logarithmic axis; ticks are (percent from the top, text)."""

    title: str
    about: str
    alternative: str
    series: tuple[str, ...]
    dots: tuple[Dot, ...]
    ticks: tuple[tuple[float, str], ...]
    limit: float | None
    first: int | None
    columns: int
    left: str
    right: str


def page(verdict: Report) -> str:
    """Return the page."""
    environment = pages.environment(_HERE)
    environment.filters["figure"] = figure
    script = (_HERE / "page.js").read_text(encoding="utf-8")
    shown = _shown(verdict.layers)
    details = _details(verdict)
    counts = dict.fromkeys(GRADES, 0)
    for each in verdict.layers:
        grade = graded(each)
        if grade is not None:
            counts[grade] += 1
    return environment.get_template("page.html").render(
        v=verdict,
        title=verdict.about.get("model", "") or verdict.about.get("command", "") or "A run against its recording",
        words=WORDS,
        headline=HEADLINE,
        series_words=SERIES,
        causes=CAUSES,
        counts=list(counts.items()),
        charts=_charts(verdict),
        language=_language(verdict),
        details=details[:MOST_DETAILS],
        more_details=max(0, len(details) - MOST_DETAILS),
        rows=[_row(number, verdict.layers[number]) for number in shown],
        more_rows=len(verdict.layers) - len(shown),
        date=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        script=script,
        script_hash=pages.digest(script),
    )


def figure(value: float | None, digits: int = 3) -> str:
    """Return a number in few digits; a dash where there is none."""
    if value is None:
        return "–"
    if math.isfinite(value) and abs(value) >= 1e300:
        return "beyond all"
    return f"{value:.{digits}g}".replace("e-0", "e-").replace("e+0", "e+")


def _shown(layers: Sequence[Layer]) -> list[int]:
    """Return the numbers of the layers in the table: all, or those that are not right and the first of the others."""
    if len(layers) <= MOST_ROWS:
        return list(range(len(layers)))
    wrong = [n for n, each in enumerate(layers) if graded(each) != "pass"][:MOST_ROWS]
    rest = [n for n, each in enumerate(layers) if graded(each) == "pass"][: MOST_ROWS - len(wrong)]
    return sorted(wrong + rest)


def _row(number: int, each: Layer) -> dict[str, Any]:
    best = each.isolated or each.propagated
    operation = each.operation
    made = operation.function or operation.kind
    if operation.reduction > 1:
        made += f", K = {operation.reduction:,}"
    made += (
        f", {operation.output}"
        if operation.operands == operation.output
        else f", {operation.operands} to {operation.output}"
    )
    within = each.propagated or each.isolated
    return {
        "row": number,
        "name": named(each),
        "grade": graded(each),
        "made": made,
        "isolated": figure(None if each.isolated is None else each.isolated.relative),
        "propagated": figure(None if each.propagated is None else each.propagated.relative),
        "cosine": "–" if within is None else _cosine(within.cosine),
        "why": each.note if best is None else best.reason + (f" ({each.note})" if each.note else ""),
    }


def _cosine(value: float) -> str:
    return f"1 - {figure(1 - value, 2)}" if 0.9995 < value < 1 else f"{value:.4g}"


def _details(verdict: Report) -> list[dict[str, Any]]:
    """Return what is not right, the first that decides before all others, then failures before doubts, in order."""
    found: list[tuple[tuple[bool, bool, int], dict[str, Any]]] = []
    for number, each in enumerate(verdict.layers):
        for how, comparison in (("isolated", each.isolated), ("propagated", each.propagated)):
            if comparison is None or comparison.grade == "pass":
                continue
            rank = (each is not verdict.first, comparison.grade != "fail", number)
            found.append(
                (rank, {"name": named(each), "how": SERIES[how], "comparison": comparison, "facts": _facts(comparison)})
            )
    return [entry for _, entry in sorted(found, key=lambda pair: pair[0])]


def _facts(c: Comparison) -> list[tuple[str, str]]:
    facts = [("shape and type", f"{'x'.join(map(str, c.shape)) or 'a scalar'}, {c.dtype}"), ("bound", c.bound)]
    if c.quantiles:
        facts.append(
            (
                "differences",
                ", ".join(f"{100 * q:g} %: {figure(x)}" for q, x in zip(LEVELS, c.quantiles))
                + f", largest: {figure(c.largest)}",
            )
        )
    facts.append(
        (
            "rms of differences",
            f"{figure(c.rms)}, of values up to {figure(c.scale)}" + (" (estimated)" if c.estimated else ""),
        )
    )
    if c.ceiling is not None:
        facts.append(("over the ceiling", figure(c.ceiling)))
    if c.ratio is not None:
        facts.append(("error over the reference's own", figure(c.ratio)))
    facts.append(("signed mean over mean size", figure(c.bias, 2)))
    return facts


def _charts(verdict: Report) -> list[Chart]:
    if not verdict.layers:
        return []
    first = next((n for n, each in enumerate(verdict.layers) if each is verdict.first), None)
    made = [
        _chart(
            verdict.layers, first, "Differences, over what is allowed", "The largest of each place, in order of execution.",
            lambda c: c.relative, 1.0, (1e-6, 1e6),
        ),
        _chart(
            verdict.layers, first, "How far the direction turns", "1 - cosine between reference and observed.",
            lambda c: max(0.0, 1 - c.cosine), None, (1e-14, 2.0),
        ),
    ]  # fmt: skip
    return [each for each in made if each is not None]


def _chart(
    layers: Sequence[Layer],
    first: int | None,
    title: str,
    about: str,
    value: Callable[[Comparison], float],
    limit: float | None,
    clip: tuple[float, float],
) -> Chart | None:
    """Return a chart of at most MOST_COLUMNS columns: of more layers each column shows its worst."""
    low, high = clip
    each = max(1, -(-len(layers) // MOST_COLUMNS))
    points: dict[tuple[int, str], tuple[float, int]] = {}
    for number, layer in enumerate(layers):
        for series, comparison in (("isolated", layer.isolated), ("propagated", layer.propagated)):
            if comparison is not None:
                at = min(high, max(low, value(comparison)))
                before = points.get((number // each, series))
                if before is None or at > before[0] or number == first:
                    points[number // each, series] = at, number
    if not points:
        return None
    bottom = max(low, min(x for x, _ in points.values()) / 3)
    top = max(*(x for x, _ in points.values()), limit or bottom) * 3
    bottom, top = (
        math.floor(math.log10(min(bottom, (limit or bottom) / 10))),
        math.ceil(math.log10(max(top, bottom * 100))),
    )
    columns = -(-len(layers) // each)

    def height(x: float) -> float:
        return round(100 - 100 * (math.log10(x) - bottom) / (top - bottom), 2)

    dots = tuple(
        Dot(
            round(1000 * (column + 0.5) / columns, 2),
            height(x),
            series,
            number,
            f"{named(layers[number])}, {SERIES[series]}: {figure(x)}",
        )
        for (column, series), (x, number) in points.items()
    )
    step = max(1, math.ceil((top - bottom) / 6))
    ticks = tuple((height(10.0**power), _power(power)) for power in range(bottom, top + 1, step))
    worst, at = max(points.values())
    said = f"{title}: {len(layers)} places, the largest is {figure(worst)} at {named(layers[at])}"
    return Chart(
        title, about, said, tuple(s for s in SERIES if any(d.series == s for d in dots)), dots, ticks, None if limit is None else height(limit),
        first, columns, named(layers[0]), named(layers[-1]),
    )  # fmt: skip


def _power(power: int) -> str:
    return (
        str(10**power)
        if 0 <= power <= 3
        else f"10{''.join('⁰¹²³⁴⁵⁶⁷⁸⁹'[int(c)] if c != '-' else '⁻' for c in str(power))}"
    )


def _language(verdict: Report) -> list[tuple[str, str]]:
    said = verdict.language
    if not said:
        return []
    low, high = said.get("variation") or (None, None)
    rows = [
        ("Positions", f"{said.get('positions', 0):,}"),
        ("KL per token, nats", f"mean {figure(said.get('kl_mean'))}, 99 % {figure(said.get('kl_p99'))}, largest {figure(said.get('kl_largest'))}" + (" (at least: not all tokens are known)" if said.get("partial") else "")),
        ("Total variation", figure(low) if low == high else f"{figure(low)} to {figure(high)}"),
        ("Same likeliest token", _agreement(said)),
    ]  # fmt: skip
    if said.get("divergence"):
        d = said["divergence"]
        rows.append(
            (
                "First other token",
                f"position {d['position']:,}, where the reference preferred its own by {figure(d['margin'])} nats",
            )
        )
    if said.get("perplexity"):
        a, b = said["perplexity"]
        rows.append(("Perplexity", f"{figure(a, 5)}, against {figure(b, 5)} here"))
    if said.get("nll_interval"):
        a, b = said["nll_interval"]
        rows.append(
            (
                "Less likely by, nats per token",
                f"{figure(said.get('nll_difference'))}, 95 %: {figure(a)} to {figure(b)}",
            )
        )
    return rows


def _agreement(said: Any) -> str:
    share, decided, close = said.get("agreement"), said.get("decided", 0), said.get("close", 0)
    told = "–" if share is None else f"{100 * share:.2f} %"
    return f"{told} of {decided:,} decided positions; {close:,} too close to tell (noise {figure(said.get('noise'))})"
