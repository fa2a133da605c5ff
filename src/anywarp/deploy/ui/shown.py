"""What the pages show of a result: what its kind is called, and the page that its own command would have written."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from anywarp.check.store import Run

TITLES = {
    "verify": "Verifications",
    "bench": "Measurements",
    "cost": "Costs",
    "assess": "Assessments",
    "organisation": "Organisations",
    "fleet": "Fleets",
    "rollout": "Rollouts",
}
"""What results of a kind are called; in this order."""

KINDS = {
    "verify": "verification",
    "bench": "measurement",
    "cost": "cost",
    "assess": "assessment",
    "organisation": "organisation",
    "fleet": "fleet",
    "rollout": "rollout",
}
"""What one of them is called."""


def report_of(run: Run) -> Callable[[], str] | None:
    """Return what makes the page of a run; None where its kind has none."""
    made = _PAGES.get(run.kind)
    if made is None or (made is _kept_page and "page" not in run.result):
        return None
    return lambda: made(run)


def sources_of(run: Run) -> list[str]:
    """Return the ids of the results that one was made from."""
    sides = run.result.get("sides")
    if run.kind != "cost" or not isinstance(sides, Mapping):
        return []
    found = [side.get("result") for side in sides.values() if isinstance(side, Mapping)]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return [str(each) for each in found if each]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _bench_page(run: Run) -> str:
    from anywarp.check.bench.page import page

    return page([run])


def _verify_page(run: Run) -> str:
    from anywarp.check.numbers import as_json
    from anywarp.check.numbers.page import page

    return page(as_json.read(run.result))


def _cost_page(run: Run) -> str:
    from anywarp.check.cost.page import page

    return page(run)


def _kept_page(run: Run) -> str:
    return str(run.result["page"])


_PAGES: dict[str, Callable[[Run], str]] = {
    "verify": _verify_page,
    "bench": _bench_page,
    "cost": _cost_page,
    "assess": _kept_page,
    "organisation": _kept_page,
    "fleet": _kept_page,
    "rollout": _kept_page,
}
