"""Tables of `anywarp rollout`: rules in a terminal, columns in a pipe, JSON for programs."""

from __future__ import annotations

import json
import time
from typing import Any

import click

from anywarp.cli.tables import table
from anywarp.deploy.rollout.finding import ERRORS, NOISE, SPREAD, twice_over
from anywarp.deploy.rollout.forecast import Forecast
from anywarp.deploy.rollout.gates import limit_of, name_of, show
from anywarp.deploy.rollout.plan import Plan
from anywarp.deploy.rollout.state import Row, State
from anywarp.deploy.rollout.units import in_words, percent


def show_plan(plan: Plan, expected: list[Forecast], style: str) -> list[str]:
    """Print what a plan will lead to; return what speaks against it."""
    findings = _findings(plan, expected)
    total = sum(one.price for one in expected)
    held = sum((one.stage.at_most if one.lasts is None else one.lasts) for one in expected) / 3600 * plan.source.price
    if style == "json":
        stages = [
            {"stage": o.stage.title, "share": o.stage.target_share, "seconds by gate": o.needs, "lasts": o.lasts, "cost": o.price,
             "requests until stopped": {name: {"all": every, "a class": part} for name, (every, part) in o.finds.items()}}
            for o in expected
        ]  # fmt: skip
        told = {
            "name": plan.name,
            "stages": stages,
            "cost of both pools": total,
            "cost of holding the source": held,
            "findings": findings,
        }
        click.echo(json.dumps(told, indent=1))
        return findings
    click.echo(f"{plan.name}: from {plan.source.name} to {plan.target.name}, by {plan.driver.kind}")
    lines: list[list[str]] = []
    for one in expected:
        lasts = "not decided" if one.lasts is None else in_words(one.lasts)
        lines.append(
            [
                one.stage.title,
                percent(one.stage.target_share),
                lasts,
                f"{one.price:,.2f}",
                _reason(one),
            ]
        )
    table(
        "stages, for a target as good as the source",
        ["stage", "target", "lasts about", f"both pools, {plan.currency}", "waits longest for"],
        lines,
    )
    _show_finds(plan, expected)
    click.echo(
        f"assumed: {plan.endpoint.requests_per_second:g} requests per second, {percent(ERRORS)} fail on both sides, log-latency deviates by {SPREAD:g},"
        f" {percent(NOISE)} of answers part by noise"
    )
    click.echo(
        f"both pools until the end: {total:,.2f} {plan.currency}; of it, holding {plan.source.name} for the way back: {held:,.2f}"
    )
    click.echo(
        f"a gate that fails: {plan.on_failure}; a stage that ends undecided: {plan.on_undecided}; false alarms in all at most {percent(plan.confidence.false_alarm)}"
    )
    for finding in findings:
        click.echo(f"warning: {finding}", err=True)
    return findings


def _show_finds(plan: Plan, expected: list[Forecast]) -> None:
    """Print when a target that breaks a limit twice over is stopped, in the first stage that lasts long enough for it."""
    lines: list[list[str]] = []
    for gate in plan.gates:
        name, truth = name_of(gate), twice_over(gate)
        stages = [one for one in expected if name in one.finds]
        if truth is None or not stages:
            continue
        rate = plan.endpoint.requests_per_second
        good = [one for one in stages if (one.finds[name][0] or float("inf")) <= rate * one.stage.at_most]
        one = (good or stages)[0]
        limit, unit = limit_of(gate)
        every, part = (f"{need:,.0f}" if need is not None else "–" for need in one.finds[name])
        lines.append([name, show(limit, unit), show(truth, unit), one.stage.title, every, part])
    if lines:
        head = [
            "gate",
            "limit",
            "truth",
            "stage",
            "requests",
            f"in a class with {percent(plan.endpoint.smallest_class)}",
        ]
        share = percent(1 - plan.confidence.missed)
        table(f"a target that breaks a limit twice over is stopped, in {share} of rollouts, within", head, lines)


def _reason(one: Forecast) -> str:
    """Say what a stage waits longest for."""
    name, need = max(
        one.needs.items(), key=lambda item: float("inf") if item[1] is None else item[1], default=("", 0.0)
    )
    return name if need is None or need > one.stage.at_least else "its at_least"


def _findings(plan: Plan, expected: list[Forecast]) -> list[str]:
    out: list[str] = []
    for one in expected:
        for name in one.undecided:
            need = one.needs[name]
            time_needed = "more requests than come in weeks" if need is None else in_words(need)
            out.append(
                f"{one.stage.title} would end undecided: {name} needs {time_needed}, at_most is {in_words(one.stage.at_most)};"
                " widen its limit, give the stage more time, or leave the gate to later stages"
            )
    for pool in (plan.source, plan.target):
        if pool.capacity < plan.endpoint.peak:
            out.append(f"{pool.name} carries {pool.capacity:g} requests per second, the peak is {plan.endpoint.peak:g}")
    if not any(stage.kind == "bake" for stage in plan.stages):
        out.append("there is no bake: the source pool may be let go as soon as the last stage passes")
    return out


def show_status(plan: Plan, state: State, row: Row | None, style: str) -> None:
    """Print where a rollout is."""
    looks = state.looks()
    verdicts: list[dict[str, Any]] = looks[-1]["verdicts"] if looks else []
    events = state.events()
    if style == "json":
        told = None if row is None else {**vars(row), "stage": plan.stages[row.stage].title}
        last = [{"time": e.time, "kind": e.kind, "stage": e.stage, "words": e.words} for e in events[-20:]]
        click.echo(json.dumps({"rollout": told, "gates": verdicts, "events": last}, indent=1))
        return
    if row is None:
        click.echo(f"{plan.name} has not begun")
        return
    stage = plan.stages[row.stage]
    click.echo(
        f"{plan.name}: {row.phase}, {stage.title}, {percent(row.share)} on {plan.target.name}, watched for {in_words(row.watched)}"
    )
    if row.reason:
        click.echo(f"  {row.reason}")
    if verdicts:
        lines = [
            [v["name"], v["scope"], v["result"], show(v["estimate"], v["unit"]), show(v["lower"], v["unit"]), show(v["upper"], v["unit"]),
             show(v["limit"], v["unit"]), f"{v['source']:,}", f"{v['target']:,}"]
            for v in verdicts
        ]  # fmt: skip
        head = ["gate", "requests", "result", "estimate", "from", "to", "limit", "source", "target"]
        table(f"gates, at the last look ({looks[-1]['stage']})", head, lines)
    table("lately", ["when", "what"], [[time.strftime("%F %T", time.localtime(e.time)), e.words] for e in events[-8:]])
