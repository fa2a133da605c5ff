"""What became of a rollout, as a result beside those of `anywarp bench`, `verify` and `cost` (`anywarp results`, `anywarp ui`)."""

from __future__ import annotations

from anywarp.check.store import Run, opened
from anywarp.check.store.run import key_of
from anywarp.deploy.rollout.plan import Plan
from anywarp.deploy.rollout.report.facts import facts
from anywarp.deploy.rollout.report.page import page
from anywarp.deploy.rollout.state import State

MOST_EVENTS = 500


def keep(plan: Plan, state: State) -> str | None:
    """Add a rollout that is over to the results, once; return the result's id, None where it is there already or not over. AnywarpError where it cannot be written."""
    told = facts(plan, state)
    if told.row is None or not told.row.ended:
        return None
    key = key_of(rollout=plan.name, created=told.row.created)
    result = {
        "form": told.row.phase, "phase": told.row.phase, "reason": told.row.reason, "share": told.row.share, "cause": told.cause,
        "events": [vars(event) for event in told.events[-MOST_EVENTS:]], "counts": told.counts,
        "costs": told.as_json()["costs"], "page": page(told),
    }  # fmt: skip
    run = Run(
        "rollout", result, model=plan.name, device=f"{plan.source.name} to {plan.target.name}", digest=told.row.digest, key=key,
        flags={"driver": plan.driver.kind},
    )  # fmt: skip
    with opened() as store:
        return None if store.latest(key) is not None else store.add(run)
