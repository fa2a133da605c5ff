"""The engine moves through the stages, stops at what fails, and goes on after being killed anywhere."""

import random

import pytest

from anywarp.deploy.rollout.engine import Engine, run
from anywarp.deploy.rollout.gates import Gates
from anywarp.deploy.rollout.observations import Writer
from anywarp.deploy.rollout.state import State

from .plans import observe, plan, text

ERRORS = "  - {kind: errors, more_at_most: 10 %}"


class Recorder:
    """A driver that remembers, across engines: what was applied, and the share in effect."""

    def __init__(self):
        self.applied = []
        self.share = 0.0

    def check(self):
        return "a recorder"

    def apply(self, traffic):
        self.applied.append((traffic.stage, traffic.share))
        self.share = traffic.share

    def read(self):
        return self.share

    def describe(self, traffic):
        return str(traffic)

    def answer(self, stage, result):
        pass

    def close(self):
        pass

    def stop(self):
        pass


class Clock:
    """Time that passes by sleeping."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


def everybody_well(pool):
    return {member.name: True for member in pool.members}


class World:
    """A rollout with traffic, of which engines may die."""

    def __init__(self, tmp_path, monkeypatch, count=4000, faults=None, more="", **given):
        monkeypatch.setenv("ANYWARP_ROLLOUTS", str(tmp_path))
        self.plan = plan(more=more, **given)
        self.text = text(more=more, **given)
        self.driver, self.clock, self.count, self.faults = Recorder(), Clock(), count, faults or {}
        self.rng = random.Random(5)
        self.health = everybody_well
        self.told = []
        self.fed = set()
        self.state = None

    def open(self, point=lambda name: None):
        self.state = State(self.plan)
        assert self.state.acquire("test")
        self.state.begin(self.plan, self.text, "digest", "test")
        return Engine(
            self.plan, self.state, self.driver, self.told.append, point, lambda pool: self.health(pool), self.clock
        )

    def feed(self, row):
        """Let callers come once into every stage that is watched."""
        if self.count and row.phase == "watching" and row.stage not in self.fed:
            self.fed.add(row.stage)
            stage = self.plan.stages[row.stage]
            writer = Writer(self.state.path)
            observe(
                writer, self.plan, stage, **{"count": self.count, "rng": self.rng, **self.faults.get(stage.title, {})}
            )
            assert writer.close() and writer.failures == 0

    def run(self, engine):
        def sleep(seconds):
            self.feed(engine.state.row())
            self.clock.sleep(seconds)

        try:
            return run(engine, sleep)
        finally:
            engine.state.close()

    def events(self):
        state = State(self.plan)
        try:
            return state.events()
        finally:
            state.close()


def test_good_target_gets_all_traffic(tmp_path, monkeypatch):
    world = World(tmp_path, monkeypatch)
    row = world.run(world.open())
    assert (row.phase, row.share) == ("done", 1.0)
    assert world.driver.applied == [("shadow", 0.0), ("10 %", 0.1), ("100 %", 1.0), ("bake", 1.0)]
    moves = [e for e in world.events() if e.kind == "moving" and e.evidence]
    assert len(moves) == 3
    for event in moves:
        for verdict in event.evidence["verdicts"]:
            assert verdict["result"] == "pass" or not verdict["required"]
            assert verdict["target"] and verdict["lower"] is not None and verdict["limit"]


@pytest.mark.parametrize(
    "fault, gate",
    [({"errors": 0.3}, "errors"), ({"slow": 2.5}, "latency p50"), ({"parted": 0.3}, "divergent answers")],
)
def test_bad_target_is_rolled_back(tmp_path, monkeypatch, fault, gate):
    world = World(tmp_path, monkeypatch, count=3000, faults={"10 %": fault})
    row = world.run(world.open())
    assert (row.phase, row.share) == ("reverted", 0.0)
    assert world.driver.share == 0.0
    failed = next(e for e in world.events() if e.kind == "failed")
    assert gate in failed.words
    assert failed.evidence["verdicts"][0]["lower"] > failed.evidence["verdicts"][0]["limit"]


def test_class_that_fails_alone_is_found_and_named(tmp_path, monkeypatch):
    lengths = ("to 512",) * 12 + ("over 4096",)
    world = World(
        tmp_path, monkeypatch, count=12000, faults={"10 %": {"lengths": lengths, "parted": 0.5, "only": "over 4096"}}
    )
    row = world.run(world.open())
    assert row.phase == "reverted"
    failed = next(e for e in world.events() if e.kind == "failed")
    assert "length over 4096" in failed.words
    assert (
        failed.evidence["cause"]["classes with it"] == ["length over 4096"]
        or "length to 512" in failed.evidence["cause"]["classes without it"]
    )


def test_hold_leaves_the_traffic_where_it_is_until_a_person_decides(tmp_path, monkeypatch):
    world = World(
        tmp_path, monkeypatch, count=3000, faults={"10 %": {"errors": 0.3}}, more="on_failure: hold", gates=ERRORS
    )
    row = world.run(world.open())
    assert (row.phase, row.share, world.driver.share) == ("held", 0.1, 0.1)
    engine = world.open()
    engine.state.wish("continue", "somebody says continue")
    world.faults = {}
    row = world.run(engine)
    assert row.phase == "done"


def test_silence_is_undecided_not_passed(tmp_path, monkeypatch):
    world = World(tmp_path, monkeypatch, count=0)
    row = world.run(world.open())
    assert (row.phase, row.stage) == ("asking", 0)
    assert row.watched >= 60
    assert "undecided" in row.reason


def test_abort_rolls_back(tmp_path, monkeypatch):
    world = World(tmp_path, monkeypatch, count=0)
    engine = world.open()
    for _ in range(5):
        engine.step()
    other = State(world.plan)
    other.wish("abort", "from another terminal")
    other.close()
    assert world.run(engine).phase == "reverted"


def test_nothing_moves_when_a_rollback_would_not_be_possible(tmp_path, monkeypatch):
    world = World(tmp_path, monkeypatch)
    world.health = lambda pool: {m.name: pool.name == "mi300" for m in pool.members}
    row = world.run(world.open())
    assert row.phase == "held"
    assert "rollback would not be possible" in row.reason
    assert world.driver.applied == []


def test_rollback_takes_back_only_what_the_source_carries(tmp_path, monkeypatch):
    world = World(tmp_path, monkeypatch, count=4000, faults={"100 %": {"errors": 0.4}}, gates=ERRORS)
    world.plan = world.plan.model_copy(
        update={
            "source": world.plan.source.model_copy(
                update={
                    "members": tuple(
                        world.plan.source.members[0].model_copy(update={"name": n, "capacity": 10.0})
                        for n in ("a", "a2")
                    )
                }
            )
        }
    )
    engine = world.open()
    engine.plan = world.plan
    lost = []

    def health(pool):
        return {m.name: not (lost and m.name == "a2") for m in pool.members}

    world.health = health

    def sleep(seconds):
        row = engine.state.row()
        world.feed(row)
        if row.phase == "reverting":
            lost[:] = [] if world.driver.share == 0.5 else ["a2"]
        world.clock.sleep(seconds)

    while engine.step():
        row = engine.state.row()
        if row.phase in ("watching", "reverting"):
            sleep(2)
    assert [share for _, share in world.driver.applied[-2:]] == [0.5, 0.0]
    assert engine.state.row().phase == "reverted"
    engine.state.close()


def test_target_without_a_member_that_is_well_fails_at_once(tmp_path, monkeypatch):
    world = World(tmp_path, monkeypatch, faults={"10 %": {"count": 10}})
    world.health = lambda pool: {m.name: not (pool.name == "mi300" and world.driver.share > 0) for m in pool.members}
    row = world.run(world.open())
    assert row.phase == "reverted"
    assert "no member of the target is well" in row.reason


class Killed(BaseException):
    pass


def test_goes_on_after_being_killed_at_any_point(tmp_path, monkeypatch):
    """Die at the n-th point, for every n that there is; whoever comes after ends where an undisturbed one ends."""
    monkeypatch.setattr(Gates, "judge", lambda self, bounds=True: [])  # what gates say is not the question here
    points = []
    (tmp_path / "plain").mkdir()
    plain = World(tmp_path / "plain", monkeypatch, count=0)
    plain.run(plain.open(points.append))
    assert len(points) > 20
    for n in range(len(points)):
        place = tmp_path / str(n)
        place.mkdir()
        world = World(place, monkeypatch, count=0)
        seen = []

        def point(name, n=n, seen=seen):
            seen.append(name)
            if len(seen) == n + 1:
                raise Killed(name)

        with pytest.raises(Killed):
            world.run(world.open(point))
        row = world.run(world.open())
        assert (row.phase, row.share, world.driver.share) == ("done", 1.0, 1.0), points[n]
        shares = [share for _, share in world.driver.applied]
        assert shares == sorted(shares), points[n]
        moves = [e.stage for e in world.events() if e.kind == "watching"]
        assert moves == ["shadow", "10 %", "100 %", "bake"], points[n]
