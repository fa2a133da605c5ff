"""What the gates make of observations: which count, what a verdict rests on, how chances of error are divided, and what is said of a cause."""

import random

import numpy as np
import pytest

from anywarp.deploy.rollout.cause import cause, change
from anywarp.deploy.rollout.gates import Gates, decide
from anywarp.deploy.rollout.ledger import Ledger
from anywarp.deploy.rollout.observations import Observation

from .plans import plan


def seen(side="target", exchange="1", **given):
    return Observation(
        "chat", "10 %", side, exchange, **{"status": 200, "member": "a" if side == "source" else "b", **given}
    )


def ledger(made, observations):
    out = Ledger(made)
    for number, one in enumerate(observations):
        out.add(number + 1, one)
    return out


def judged(made, observations, stage=1):
    return {(v.name, v.scope): v for v in Gates(made, made.stages[stage], ledger(made, observations)).judge()}


def test_failures_are_statuses_from_400_and_silence_but_not_callers_who_left():
    made = plan(gates="  - {kind: errors, more_at_most: 1 %}")
    rows = [
        seen(),
        seen(status=404),
        seen(status=503),
        seen(status=None, error="refused"),
        seen(status=None, error="client left"),
        seen("source"),
    ]
    verdict = judged(made, rows)["errors", "all"]
    assert (verdict.source, verdict.target, verdict.estimate) == (1, 4, 0.75)


def test_replays_on_the_same_pool_are_noise_and_on_the_other_are_compared():
    made = plan(gates="  - {kind: divergence, at_most: 5 %}").model_copy(
        update={"shadow": plan().shadow.model_copy(update={"noise": 0.5})}
    )
    parted = {"comparison": "divergence", "divergence": 3, "margin": 1.0}
    rows = [
        seen("source", "1"), seen("shadow", "1", member="http://127.0.0.1:9001", **parted), seen("shadow", "1", member="b", comparison="divergence"),
        seen("target", "2"), seen("shadow", "2", member="a", **parted), seen("shadow", "2", member="b", comparison="divergence"),
    ]  # fmt: skip
    verdict = judged(made, rows)["divergent answers", "all"]
    assert (verdict.source, verdict.target, verdict.estimate) == (2, 2, 0.0)


def test_near_ties_do_not_count_as_partings():
    made = plan(gates="  - {kind: divergence, at_most: 5 %, margin: 0.1}")
    rows = [
        seen("shadow", str(n), comparison="divergence", divergence=1, margin=m) for n, m in enumerate((0.05, 0.2, None))
    ]
    assert judged(made, rows)["divergent answers", "all"].estimate == pytest.approx(2 / 3)


def test_cost_of_a_request_is_its_share_of_the_member():
    """20 an hour over 64 requests at once: 3.6 s cost 20 / 3600 * 3.6 / 64."""
    made = plan(gates="  - {kind: cost, at_most: 3}")
    rows = [seen(total_ms=3600.0, tokens_in=60, tokens_out=40) for _ in range(200)]
    verdict = judged(made, rows)["cost per million tokens", "all"]
    assert verdict.estimate == pytest.approx(20 / 3600 * 3.6 / 64 / 100 * 1e6)
    assert verdict.result == "fail"


def test_chances_of_false_alarms_add_up_to_the_plans():
    made = plan()
    total = 0.0
    for stage in made.stages:
        lengths = ["to 512", "to 4096", "over 4096"]
        rows = [seen("source", f"{n}", length=lengths[n % 3], route=f"/r{n % 4}", total_ms=1.0) for n in range(24)]
        rows += [seen("target", f"t{n}", length=lengths[n % 3], route=f"/r{n % 4}", total_ms=1.0) for n in range(24)]
        total += sum(v.false_alarm for v in Gates(made, stage, ledger(made, rows)).judge(bounds=False))
    assert total == pytest.approx(made.confidence.false_alarm)


def test_routes_beyond_a_few_make_no_classes():
    made = ledger(plan(), [seen(route=f"/{n}") for n in range(1000)])
    assert len(made.scopes) == 5


def test_small_class_need_not_pass_but_may_not_fail():
    made = plan(gates="  - {kind: errors, more_at_most: 10 %}")
    rng = random.Random(3)

    def rows(rare_fails):
        for n in range(6000):
            rare = n % 50 == 0
            side = rng.choice(("source", "target"))
            failed = rare and side == "target" and rng.random() < rare_fails
            yield seen(side, str(n), length="over 4096" if rare else "to 512", status=500 if failed else 200)

    result, telling = decide(list(judged(made, rows(0)).values()))
    assert result == "pass"
    result, telling = decide(list(judged(made, rows(0.95)).values()))
    assert result == "fail" and {v.scope for v in telling} == {"length over 4096"}


def test_all_traffic_on_the_target_is_held_against_the_source_before():
    made = plan(gates="  - {kind: errors, more_at_most: 5 %}")
    before = ledger(made, [seen("source", str(n), status=500 if n % 10 == 0 else 200) for n in range(2000)])
    now = ledger(made, [seen("target", str(n), status=500 if n % 10 == 0 else 200) for n in range(2000)])
    verdict = Gates(made, made.stages[2], now, before).judge()[0]
    assert (verdict.source, verdict.result) == (2000, "pass") and "last stage before" in verdict.note


def test_what_passed_once_has_passed_unless_it_fails():
    made = plan(gates="  - {kind: errors, more_at_most: 10 %}")
    gates = Gates(made, made.stages[1], ledger(made, [seen("source"), seen("target")]))
    gates.passed.add((0, "all"))
    assert gates.judge()[0].result == "pass"
    for n in range(500):
        gates.ledger.add(n + 10, seen("source", str(n)))
        gates.ledger.add(n + 600, seen("target", str(n), status=500))
    assert gates.judge()[0].result == "fail"


@pytest.mark.parametrize("at", [200, 900, 1500])
def test_place_of_a_change_is_found(at):
    rng = np.random.default_rng(2)
    values = (rng.random(2000) < np.where(np.arange(2000) < at, 0.01, 0.3)).astype(float)
    place, before, after = change(values)
    assert abs(place - at) < 45 and before < 0.05 < 0.2 < after


def test_no_change_is_not_made_up():
    rng = np.random.default_rng(3)
    assert sum(change((rng.random(500) < 0.2).astype(float))[0] > 0 for _ in range(100)) <= 12


def test_cause_says_since_when_and_where():
    made = plan(gates="  - {kind: errors, more_at_most: 5 %}")
    rows = []
    for n in range(4000):
        length = ("to 512", "over 4096")[n % 2]
        side = ("source", "target")[n // 2 % 2]
        bad = side == "target" and length == "over 4096" and n > 2000 and n % 3 == 0
        rows.append(seen(side, str(n), length=length, status=500 if bad else 200))
    gates = Gates(made, made.stages[1], ledger(made, rows))
    _, failed = decide(gates.judge())
    told = cause(gates, failed)
    assert told["classes with it"] == ["length over 4096"] and told["classes without it"] == ["length to 512"]
    assert abs(told["since observation"] - 2001) < 60
    assert "in length over 4096 only" in told["in words"] and "since observation" in told["in words"]


def test_slow_answers_whose_lateness_comes_in_bursts_are_found():
    """One in five takes two seconds longer, more or less so for a while: how much comes in bursts, whether does not."""
    made = plan(gates="  - {kind: latency, quantile: 0.9, ratio_at_most: 4}")
    rng = np.random.default_rng(8)
    while_slow = np.repeat([0.6, 2.0, 0.7, 0.8], 150)
    rows = [seen("source", str(n), total_ms=float(rng.lognormal(4.5, 0.2))) for n in range(600)]
    rows += [
        seen("target", f"t{n}", total_ms=float(rng.lognormal(4.5, 0.2) + (2000 * while_slow[n] if rng.random() < 0.2 else 0)))
        for n in range(600)
    ]  # fmt: skip
    verdict = judged(made, rows)["latency p90", "all"]
    assert verdict.result == "fail" and 4 < verdict.lower < verdict.estimate < verdict.upper


@pytest.mark.parametrize("factor", [80.0, 1 / 80])
def test_bounds_of_latency_lie_about_the_estimate_however_far_it_is(factor):
    made = plan(gates="  - {kind: latency, quantile: 0.9, ratio_at_most: 4}")
    rng = np.random.default_rng(9)
    rows = [
        seen(side, f"{side}{n}", total_ms=float(slower * rng.lognormal(4.5, 0.2)))
        for side, slower in (("source", 1.0), ("target", factor))
        for n in range(400)
    ]
    verdict = judged(made, rows)["latency p90", "all"]
    assert verdict.estimate == pytest.approx(factor, rel=0.1)
    assert verdict.lower < verdict.estimate < verdict.upper


def test_cause_says_what_tensors_look_like():
    made = plan(gates="  - {kind: divergence, at_most: 5 %}")
    rows = [seen("shadow", str(n), comparison="divergence", divergence=n % 2 or None) for n in range(200)]
    gates = Gates(made, made.stages[1], ledger(made, rows))
    _, failed = decide(gates.judge())
    told = cause(gates, failed, {"seen": 9, "looks like: layout": 12, "looks like: no cause that is known": 2})
    assert told["looks like"]["layout"] == 12
    assert told["in words"].endswith("; looks like layout (12 of 14 answers looked at)")
    assert "looks like" not in cause(gates, failed, {"seen": 9})["in words"]
