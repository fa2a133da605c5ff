"""Rollouts as the pages show them: what this user's folder of rollouts holds (ANYWARP_ROLLOUTS), read while whoever drives them goes on."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from anywarp import pages, settings
from anywarp.check.headlines import Headline, Mark
from anywarp.deploy.rollout.gates import show
from anywarp.deploy.rollout.plan import Plan
from anywarp.deploy.rollout.report.facts import PHASES
from anywarp.deploy.rollout.state import Event, Row, State
from anywarp.deploy.rollout.units import in_words, percent
from anywarp.deploy.ui import codes
from anywarp.diagnostics import AnywarpError

_MARKS: dict[str, Mark] = {"asking": "warn", "held": "warn", "reverting": "bad", "reverted": "bad", "done": "good"}
_MOST_EVENTS = 200


@dataclass(frozen=True, slots=True)
class Moving:
    """A rollout in the list."""

    name: str
    headline: Headline
    stage: str
    share: str
    changed: float
    ended: bool


@dataclass(frozen=True, slots=True)
class Gate:
    """What one gate said last."""

    name: str
    scope: str
    headline: Headline


@dataclass(frozen=True, slots=True)
class Look:
    """A rollout's page."""

    one: Moving
    facts: Sequence[tuple[str, str]]
    gates: Sequence[Gate]
    events: Sequence[Event]


def rollouts() -> list[Moving]:
    """Return all rollouts, those that go on first, then the newest first; one that cannot be read says so in its place."""
    folder = settings.ROLLOUTS.get()
    found: list[Moving] = []
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not (place / "rollout.sqlite").is_file():
            continue
        try:
            with _opened(place.name) as (plan, state):
                row = state.row()
                found.append(
                    _moving(plan, row)
                    if row
                    else Moving(place.name, Headline("none", "not begun", ""), "", "", 0.0, False)
                )
        except AnywarpError as error:
            found.append(
                Moving(place.name, Headline("bad", error.diagnostic.code, error.diagnostic.message), "", "", 0.0, True)
            )
    return sorted(found, key=lambda one: (one.ended, -one.changed))


def look(name: str) -> Look:
    """Return what the page of a rollout shows; AnywarpError (Y132) where there is none."""
    with _opened(name) as (plan, state):
        row = state.row()
        if row is None:
            raise codes.problem(codes.MISSING, f"the rollout {name} has not begun")
        looks, events = state.looks(), state.events()
        one = _moving(plan, row)
        facts = [
            ("Stage", one.stage),
            ("Share of the target", one.share),
            ("Watched for", in_words(row.watched)),
            ("Begun", pages.moment(row.created)),
            ("Driven by", row.owner),
        ]
        gates = [_gate(each) for each in looks[-1]["verdicts"]] if looks and not row.ended else []
        return Look(one, [f for f in facts if f[1]], gates, events[::-1][:_MOST_EVENTS])


def report(name: str) -> str:
    """Return the report of a rollout."""
    from anywarp.deploy.rollout.report.facts import facts
    from anywarp.deploy.rollout.report.page import page

    with _opened(name) as (plan, state):
        return page(facts(plan, state))


def abort(name: str) -> None:
    """Have whoever drives a rollout bring all traffic back; AnywarpError (Y132) where nobody can."""
    with _opened(name, reading=False) as (_, state):
        row = state.row()
        if row is None or row.ended:
            raise codes.problem(codes.MISSING, f"the rollout {name} is over: there is nothing to stop")
        state.wish("abort", "a person says abort, on the page")


@contextlib.contextmanager
def _opened(name: str, reading: bool = True) -> Generator[tuple[Plan, State]]:
    """Open the state of a rollout by the plan that it keeps; only to look at it unless `reading` is False."""
    from anywarp.deploy.rollout.plan_file import parse

    path = settings.ROLLOUTS.get() / name / "rollout.sqlite"
    if not name or name in (".", "..") or "/" in name or "\0" in name or len(name) > 100 or not path.is_file():
        raise codes.problem(codes.MISSING, f"there is no rollout {name!r} here")
    try:
        with contextlib.closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=5.0)) as read:
            found = read.execute("SELECT plan FROM rollouts WHERE name = ?", (name,)).fetchone()
    except sqlite3.Error as error:
        raise codes.problem(codes.MISSING, f"the state of {name} cannot be read: {error}") from error
    if found is None:
        raise codes.problem(
            codes.MISSING,
            f"the state of {name} is not in {path}",
            "one that several operators share is in PostgreSQL: `anywarp rollout status` shows it",
        )
    plan = parse(found[0], f"the plan of {name}").plan
    state = State(plan, reading)
    try:
        yield plan, state
    finally:
        state.close()


def _moving(plan: Plan, row: Row) -> Moving:
    stages = plan.stages
    stage = stages[row.stage].title if 0 <= row.stage < len(stages) else ""
    return Moving(
        row.name,
        Headline(_MARKS.get(row.phase, "none"), PHASES[row.phase], row.reason),
        stage,
        percent(row.share),
        row.changed,
        row.ended,
    )


def _gate(verdict: dict[str, Any]) -> Gate:
    result = str(verdict.get("result", ""))
    mark: Mark = {"pass": "good", "fail": "bad"}.get(result, "none")  # pyright: ignore[reportAssignmentType]
    ends = f"{show(verdict.get('lower'), verdict['unit'])} to {show(verdict.get('upper'), verdict['unit'])}"
    text = f"{show(verdict.get('estimate'), verdict['unit'])} ({ends}), allowed {show(verdict.get('limit'), verdict['unit'])}; {verdict.get('source', 0)} and {verdict.get('target', 0)} requests"
    return Gate(str(verdict.get("name", "")), str(verdict.get("scope", "")), Headline(mark, result, text))
