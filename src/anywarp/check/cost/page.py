"""A comparison of costs as a page: both sides, the saving, the break-even, and what they hang on most (a tornado chart)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anywarp import pages
from anywarp.check.store import Run
from anywarp.pages.charts import Bar, Scale, scale

_MOST = 16


def page(run: Run) -> str:
    """Return the page of a result of `cost`."""
    found = run.result
    costs = [(f"{side}: {each['name']}", each["cost"], "one" if side == "source" else "two") for side, each in found["sides"].items()]  # fmt: skip
    axis = scale([x for _, cost, _ in costs for x in cost.values()])
    bars = [Bar(name, _text(c), axis.at(c["value"]), axis.at(c["low"]), axis.at(c["high"]), kind) for name, c, kind in costs]  # fmt: skip
    rows, tornado = _tornado(found)
    return pages.environment(Path(__file__).parent, charts=True).get_template("page.html").render(
        title=" or ".join(each["name"] for each in found["sides"].values())[:160],
        c=found, id=run.id, bars=bars, axis=axis, rows=rows, tornado=tornado, saving=_text(found["saving_per_day"]),
        centre=tornado.at(found["saving_per_day"]["value"]), zero=tornado.at(0), of=found["sides"]["source"]["of"],
    )  # fmt: skip


def _text(value: dict[str, float]) -> str:
    return f"{value['value']:,.4g} [{value['low']:,.4g}, {value['high']:,.4g}]"


def _tornado(found: Any) -> tuple[list[dict[str, Any]], Scale]:
    rows = found["sensitivity"][:_MOST]
    centre = found["saving_per_day"]["value"]
    axis = scale([centre, *(x for row in rows for x in row["saving_per_day"])])
    shown: list[dict[str, Any]] = []
    for row in rows:
        at_low, at_high = (axis.at(x) for x in row["saving_per_day"])
        middle = axis.at(centre)
        parts = [("one", *sorted((at_low, middle))), ("two", *sorted((at_high, middle)))]
        shown.append({**row, "parts": [(kind, a, round(b - a, 3)) for kind, a, b in parts]})
    return shown, axis
