"""The engine: one small step after another, from the first stage to the end of the bake or back.

Each step reads the durable state, does one thing, and writes the state again. What moves traffic is written down before it is done
(phase `moving` or `reverting`) and said to the driver as the whole division, so whoever comes after a crash says the same again.
Time in a stage is counted by a clock that nobody sets, and only while somebody watches.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from anywarp.deploy.rollout import health
from anywarp.deploy.rollout.cause import cause
from anywarp.deploy.rollout.control import write_control
from anywarp.deploy.rollout.drivers.driver import Driver
from anywarp.deploy.rollout.gates import Gates, Verdict, decide, show
from anywarp.deploy.rollout.ledger import Ledger
from anywarp.deploy.rollout.observations import read, read_counts
from anywarp.deploy.rollout.plan import Action, Plan, Pool, Power, Stage
from anywarp.deploy.rollout.power import watts
from anywarp.deploy.rollout.problems import DRIVER
from anywarp.deploy.rollout.state import Row, State
from anywarp.deploy.rollout.traffic import Traffic
from anywarp.deploy.rollout.units import in_words, percent
from anywarp.diagnostics import AnywarpError

TICK = 2.0
"""Seconds between two looks."""
DEAD_LOOKS = 3
"""Looks in a row without any member of the target that is well, after which its gate fails."""
SLACK = 0.002
"""By how much the share that a driver reports may differ: weights are whole numbers."""

Health = Callable[[Pool], dict[str, bool]]


def _nothing(name: str) -> None:
    """Do nothing; tests end the process here."""


@dataclass
class Engine:
    """Drives one rollout; the caller has the state's lock."""

    plan: Plan
    state: State
    driver: Driver
    tell: Callable[[str], None] = _nothing
    point: Callable[[str], None] = _nothing
    health: Health = health.look
    clock: Callable[[], float] = time.monotonic
    tick: float = TICK
    _gates: Gates | None = None
    _gates_of: tuple[int, int] = (-1, -1)
    _looked: float | None = None
    _recorded: int = 0
    _dead: int = 0
    _saved: float = 0.0
    _last: list[Verdict] = field(default_factory=list[Verdict])

    def step(self) -> bool:
        """Do one thing; False when nothing more will happen without a person, or ever."""
        row = self._row()
        if row.wish:
            row = self._obey(row)
        if row.phase == "new":
            self._move(row, 0)
        elif row.phase == "moving":
            self._put_into_effect(row)
        elif row.phase == "watching":
            self._watch(row)
        elif row.phase == "reverting":
            self._revert(row)
        else:
            return False
        return True

    def _row(self) -> Row:
        row = self.state.row()
        assert row is not None
        return row

    def _change(self, kind: str, title: str, words: str, evidence: Any = None, /, **columns: Any) -> None:
        self.point(f"before {kind}")
        self.state.change(kind, title, words, evidence, **columns)
        self.point(f"after {kind}")
        self.tell(words)

    def _title(self, row: Row) -> str:
        return self.plan.stages[row.stage].title

    def _obey(self, row: Row) -> Row:
        """Do what a person wished by `abort` or `--decide`."""
        wish, title = row.wish, self._title(row)
        if row.ended:
            self._change("ignored", title, f"nothing to {wish}: the rollout is {row.phase}", wish="")
        elif wish in ("abort", "rollback"):
            self._begin_revert(row, f"a person said {wish}")
        elif row.phase not in ("asking", "held"):
            self._change("ignored", title, f"nothing to decide: the rollout is {row.phase}", wish="")
        elif wish == "again":
            words = f"{title} is watched again from the start, as a person said"
            self._gates_of = (-1, -1)
            self._change("again", title, words, wish="", phase="moving", reason="")
        else:
            self._next(row, "a person said continue")
        return self._row()

    def _next(self, row: Row, why: str, evidence: Any = None) -> None:
        """Go on to the stage after this one, or end after the last."""
        if row.stage + 1 < len(self.plan.stages):
            self._move(row, row.stage + 1, why, evidence)
            return
        words = f"done: {why}; the target has all traffic, and the source pool can be let go"
        if self.plan.stages[-1].target_share < 1:
            words = f"done: {why}; the plan ends with {percent(self.plan.stages[-1].target_share)} on the target"
        self._change("done", self._title(row), words, evidence, phase="done", wish="", reason=why)

    def _move(self, row: Row, number: int, why: str = "", evidence: Any = None) -> None:
        stage = self.plan.stages[number]
        trouble = self._cannot_move(stage)
        if trouble:
            self._change(
                "held",
                self._title(row),
                f"held before {stage.title}: {trouble}",
                evidence,
                phase="held",
                wish="",
                reason=trouble,
            )
            return
        words = f"{why + '; ' if why else ''}moving to {stage.title}"
        self._change(
            "moving", stage.title, words, evidence, phase="moving", stage=number, share=stage.target_share, watched=0.0, wish="", reason=""
        )  # fmt: skip

    def _cannot_move(self, stage: Stage) -> str:
        """Say why the pools cannot take a stage, or the way back: the source must carry everything until the bake ends."""
        need = self.plan.endpoint.peak
        target = health.carries(self.plan.target, self.health(self.plan.target))
        if target < need * stage.target_share * (1 - 1e-9):
            return f"the target's members that are well carry {target:g} requests per second, {stage.title} needs {need * stage.target_share:g}"
        source = health.carries(self.plan.source, self.health(self.plan.source))
        if source < need * (1 - 1e-9):
            return f"a rollback would not be possible: the source's members that are well carry {source:g} of {need:g} requests per second"
        return ""

    def _traffic(self, stage: Stage) -> Traffic:
        return Traffic(
            stage.title, stage.target_share, self.plan.shadow.sample if stage.compare is None else stage.compare
        )

    def _apply(self, traffic: Traffic) -> bool:
        """Put a division into effect and look whether it is; False where it is not yet."""
        self.point("before apply")
        self.state.update()  # fences off a process that lost the rollout unnoticed
        write_control(self.state.folder, traffic)
        self.point("between control and driver")
        self.driver.apply(traffic)
        self.point("after apply")
        seen = self.driver.read()
        return seen is not None and abs(seen - traffic.share) <= SLACK

    def _put_into_effect(self, row: Row) -> None:
        stage = self.plan.stages[row.stage]
        if not self._apply(self._traffic(stage)):
            self._wait_for_driver(row, stage.title)
            return
        self._gates_of = (-1, -1)
        self._looked = None
        words = f"{stage.title} is in effect: {percent(stage.target_share)} on the target"
        self._change("watching", stage.title, words, phase="watching", watched=0.0, first=self.state.last_observation())

    def _wait_for_driver(self, row: Row, title: str) -> None:
        if row.reason != "waiting":
            self._change(
                "waiting", title, "the driver has taken the division and does not show it yet", reason="waiting"
            )

    def _open_gates(self, row: Row) -> Gates:
        """Return the gates of this stage with all that was seen in it, also by processes before this one."""
        key = (row.stage, row.first)
        if self._gates is None or self._gates_of != key:
            stage = self.plan.stages[row.stage]
            reference = self._reference(row) if stage.target_share >= 1 else None
            self._gates, self._gates_of = Gates(self.plan, stage, Ledger(self.plan), reference), key
            self._gates.ledger.last = row.first
            self._gates.power = self.state.power(stage.title, row.first)
            for look in self.state.looks():
                if look["stage"] == stage.title and look["entry"] == row.first:
                    self._gates.passed |= {(v["gate"], v["scope"]) for v in look["verdicts"] if v["result"] == "pass"}
            self._recorded = self._dead = 0
        return self._gates

    def _reference(self, row: Row) -> Ledger | None:
        """Return what the source answered in the last stage in which it did."""
        for number in range(row.stage - 1, -1, -1):
            stage = self.plan.stages[number]
            if stage.target_share < 1:
                ledger = Ledger(self.plan)
                entry = max((look["entry"] for look in self.state.looks() if look["stage"] == stage.title), default=0)
                for seen in read(self.state.observations, self.plan.name, stage.title, entry):
                    ledger.add(*seen)
                return ledger
        return None

    def _read_new(self, gates: Gates, title: str) -> int:
        count = 0
        for number, seen in read(self.state.observations, self.plan.name, title, gates.ledger.last):
            gates.ledger.add(number, seen)
            count += 1
        return count

    def _watch(self, row: Row) -> None:
        stage = self.plan.stages[row.stage]
        fresh = self._gates_of != (row.stage, row.first)
        gates = self._open_gates(row)
        now = self.clock()
        passed = 0.0 if self._looked is None else min(max(now - self._looked, 0.0), 10 * self.tick)
        self._looked = now
        watched = row.watched + passed
        tokens = gates.ledger.tokens_by_target
        new = self._read_new(gates, stage.title)
        if passed:
            self._measure_power(gates, stage, row, passed, gates.ledger.tokens_by_target - tokens)
        self.state.update(watched=watched)
        if new or fresh or (stage.kind != "shadow" and any(isinstance(gate, Power) for gate in self.plan.gates)):
            self._last = gates.judge(bounds=False)
        verdicts = self._last
        result, telling = decide(verdicts)
        self.driver.answer(stage.title, result if watched >= stage.at_least or result == "fail" else "open")
        dead = self._dead_target(stage)
        ending = result != "open" or dead or watched >= stage.at_most
        count = gates.ledger.scopes["all"].callers + gates.ledger.scopes["all"].sides["shadow"].count
        if (ending and (result == "fail" or dead or watched >= stage.at_least)) or count > 1.1 * self._recorded + 20:
            verdicts = gates.judge()
            self._recorded = count
            self.state.look(stage.title, row.first, watched, [v.as_json() for v in verdicts])
            result, telling = decide(verdicts)
        if dead:
            self._fail(row, "no member of the target is well", {"dead looks": self._dead}, self.plan.on_failure)
        elif result == "fail":
            self._fail_by(row, gates, telling)
        elif result == "pass" and watched >= stage.at_least:
            evidence = {"verdicts": [v.as_json() for v in telling], "watched": watched}
            self._next(row, f"{stage.title} passed after {in_words(watched)}, {count:,} observations", evidence)
        elif watched >= stage.at_most:
            waiting = ", ".join(f"{v.name} ({v.scope})" for v in telling) or "nothing was seen"
            evidence = {"verdicts": [v.as_json() for v in telling], "watched": watched}
            self._fail(
                row,
                f"{stage.title} is undecided after {in_words(watched)}: {waiting}",
                evidence,
                self.plan.on_undecided,
                "undecided",
            )

    def _dead_target(self, stage: Stage) -> bool:
        if stage.kind == "shadow":
            return False
        self._dead = 0 if any(self.health(self.plan.target).values()) else self._dead + 1
        return self._dead >= DEAD_LOOKS

    def _measure_power(self, gates: Gates, stage: Stage, row: Row, passed: float, tokens: int) -> None:
        for gate in self.plan.gates:
            if isinstance(gate, Power) and stage.kind != "shadow":
                power = watts(gate.url, gate.query)
                if power is not None:
                    gates.power.append((power * passed, float(tokens)))
                    self.state.add_power(stage.title, row.first, power * passed, tokens)
                return

    def _fail_by(self, row: Row, gates: Gates, failed: list[Verdict]) -> None:
        worst = failed[0]
        words = "; ".join(
            f"{v.name} ({v.scope}) is {show(v.estimate, v.unit)}, between {show(v.lower, v.unit)} and {show(v.upper, v.unit)}; limit {show(v.limit, v.unit)}"
            for v in failed[:3]
        )
        counts = read_counts(self.state.observations, self.plan.name, self._title(row))
        evidence = {"verdicts": [v.as_json() for v in failed], "cause": cause(gates, failed, counts)}
        action = self.plan.gates[worst.gate].on_failure or self.plan.on_failure
        self._fail(row, f"{self._title(row)} failed: {words}", evidence, action)

    def _fail(self, row: Row, why: str, evidence: Any, action: Action, kind: str = "failed") -> None:
        if action == "rollback":
            self._begin_revert(row, why, evidence, kind)
        else:
            phase = "held" if action == "hold" else "asking"
            self._change(
                kind,
                self._title(row),
                f"{why}; traffic stays at {percent(row.share)}",
                evidence,
                phase=phase,
                wish="",
                reason=why,
            )

    def _begin_revert(self, row: Row, why: str, evidence: Any = None, kind: str = "reverting") -> None:
        self._change(kind, self._title(row), f"{why}; rolling back", evidence, phase="reverting", wish="", reason=why)

    def _revert(self, row: Row) -> None:
        """Give traffic back to the source: all of it, or as much as the members that are well carry while the target still answers."""
        need = self.plan.endpoint.peak
        source = health.carries(self.plan.source, self.health(self.plan.source))
        target_lives = any(self.health(self.plan.target).values())
        share = 0.0 if source >= need * (1 - 1e-9) or not target_lives else min(row.share, 1 - source / need)
        if share and abs(share - row.share) <= SLACK:
            return  # nothing more can go back until more of the source is well
        title = self._title(row)
        if not self._apply(Traffic(title, share, 0.0)):
            self._wait_for_driver(row, title)
            return
        if share:
            words = f"the source carries {source:g} of {need:g} requests per second: {percent(share)} stays on the target until more of it is well"
            self._change("partly reverted", title, words, {"source": source, "need": need}, share=share)
            return
        words = "rolled back: all traffic is on the source"
        self._change("reverted", title, words, phase="reverted", share=0.0, wish="")


def run(engine: Engine, sleep: Callable[[float], None] = time.sleep, patience: int = 5) -> Row:
    """Step until nothing more will happen without a person; a driver that fails is tried again, `patience` times in a row."""
    trouble = 0
    while True:
        try:
            going = engine.step()
            trouble = 0
        except AnywarpError as error:
            if error.diagnostic.code != DRIVER or trouble + 1 >= patience:
                raise
            trouble += 1
            engine.tell(f"{error.diagnostic.message}; trying again")
            going = True
        row = engine.state.row()
        assert row is not None
        if not going:
            return row
        if row.phase in ("watching", "reverting") or row.reason == "waiting" or trouble:
            sleep(engine.tick)
