"""How often the gates of `anywarp rollout` are wrong, and how soon they find a regression: rollouts simulated from known distributions.

    python benchmarks/rollout_gates.py null --rollouts 10000       # a target as good as the source: how many rollouts have a false alarm
    python benchmarks/rollout_gates.py boundary --rollouts 2000    # a target exactly at every limit: the worst case that is still allowed
    python benchmarks/rollout_gates.py planted --rollouts 200      # planted regressions: requests until each is found, and how many are missed

The gates are the product's own; only the traffic is made up, in bulk. Each rollout has a shadow stage and one of 50 %, is looked at
after every half more requests, and ends as the engine ends it.
"""

from __future__ import annotations

import argparse
import json
import time
from array import array

import numpy as np

from anywarp.deploy.rollout import plan_file
from anywarp.deploy.rollout.gates import Gates, decide
from anywarp.deploy.rollout.ledger import Ledger, Scope

PLAN = """
version: 1
name: simulated
endpoint: {requests_per_second: 100, length_classes: [4096], smallest_class: 10 %}
source: {name: s, members: [{name: a, url: "http://127.0.0.1:1", capacity: 200}]}
target: {name: t, members: [{name: b, url: "http://127.0.0.1:2", capacity: 200}]}
shadow: {sample: 20 %, noise: 25 %}
stages: [shadow, 50 %]
gates:
  - {kind: divergence, at_most: 2 %}
  - {kind: kl, at_most: 0.01}
  - {kind: errors, more_at_most: 1 %}
  - {kind: latency, quantile: 0.5, ratio_at_most: 1.2}
  - {kind: latency, quantile: 0.99, ratio_at_most: 1.5}
driver: {kind: proxy}
"""
NOISE, ERRORS, SPREAD, KL, RARE = 0.01, 0.002, 0.5, 0.004, 0.06
"""Share that parts by noise, share that fails, deviation of log-latency, mean KL, share of the long class."""

GOOD = {"parted": 0.0, "errors": 0.0, "slow": 1.0, "tail": 1.0, "kl": KL, "wrong_class": 0.0}
AT_LIMIT = {"parted": 0.02, "errors": 0.01, "slow": 1.2, "tail": 1.0, "kl": 0.01, "wrong_class": 0.0}
PLANTED = {
    "4 % more answers differ": {**GOOD, "parted": 0.04},
    "2 % more requests fail": {**GOOD, "errors": 0.02},
    "latency 30 % longer": {**GOOD, "slow": 1.30},
    "p99 of latency 80 % longer": {**GOOD, "tail": 1.80},
    "KL per token 0.02": {**GOOD, "kl": 0.02},
    "a fifth of the long class (6 % of requests) wrong": {**GOOD, "wrong_class": 0.2},
}


def extend(place, values):
    place.frombytes(np.ascontiguousarray(values, dtype=np.float64).tobytes())


def add(ledger, stage, count, fault, rng):
    """Add so many callers with their replays, to all requests and to their classes."""
    long = rng.random(count) < RARE
    on_target = rng.random(count) < stage.target_share
    replay = rng.random(count) < ledger.plan.shadow.sample
    noise = rng.random(count) < ledger.plan.shadow.noise
    latency = np.exp(5 + SPREAD * rng.standard_normal(count))
    slow = np.where(latency > np.exp(5 + SPREAD * 1.8), fault["tail"], 1.0) * fault["slow"]
    latency = np.where(on_target, latency * slow, latency)
    failed = rng.random(count) < np.where(on_target, ERRORS + fault["errors"], ERRORS)
    failed_replay = rng.random(count) < ERRORS
    differs = rng.random(count) < NOISE + np.where(long, fault["wrong_class"], fault["parted"]) * ~noise
    kl = np.minimum(rng.exponential(fault["kl"], count), 1.0)
    for name, chosen in (("all", np.ones(count, bool)), ("length over 4096", long), ("length to 4096", ~long)):
        scope = ledger.scopes.setdefault(name, Scope())
        for stream, mask in (
            ("source", ~on_target & chosen),
            ("target", on_target & chosen),
            ("shadow", replay & ~noise & chosen),
            ("noise", replay & noise & chosen),
        ):
            side = scope.sides[stream]
            bad = failed_replay if stream in ("shadow", "noise") else failed
            side.count += int(mask.sum())
            side.errors += int((bad & mask).sum())
            extend(side.total, latency[mask & ~bad])
            if stream in ("shadow", "noise"):
                extend(side.parted.setdefault(0, array("d")), differs[mask])
        extend(scope.values.setdefault(1, array("d")), kl[replay & ~noise & chosen])


def rollout(plan, fault, rng, most, first=1500):
    """Return how it ended, in which stage, after how many requests of that stage, and what failed."""
    for stage in plan.stages:
        ledger = Ledger(plan)
        gates = Gates(plan, stage, ledger)
        seen, step = 0, first
        while True:
            add(ledger, stage, step, fault, rng)
            seen += step
            result, telling = decide(gates.judge(bounds=False))
            if result == "fail":
                return "failed", stage.title, seen, (telling[0].name, telling[0].scope)
            if result == "pass":
                break
            if seen >= most:
                return "undecided", stage.title, seen, (telling[0].name, telling[0].scope)
            step = max(seen // 2, first)
    return "passed", plan.stages[-1].title, seen, ("", "")


def many(name, fault, rollouts, most, seed):
    plan = plan_file.parse(PLAN, "simulated").plan
    began, ends = time.monotonic(), []
    for n in range(rollouts):
        ends.append(rollout(plan, fault, np.random.default_rng([seed, n]), most))
        if (n + 1) % max(rollouts // 20, 1) == 0:
            print(
                f"  {name}: {n + 1} of {rollouts}, {time.monotonic() - began:.0f} s, failed {sum(e[0] == 'failed' for e in ends)}",
                flush=True,
            )
    found = sorted(e[2] for e in ends if e[0] == "failed")
    told = {
        "case": name, "rollouts": rollouts, **{how: sum(e[0] == how for e in ends) for how in ("failed", "passed", "undecided")},
        "median requests": found[len(found) // 2] if found else None,
        "9 of 10 within": found[min(int(0.9 * rollouts), len(found) - 1)] if len(found) >= 0.9 * rollouts else None,
        "by": sorted({f"{e[1]}: {e[3][0]} ({e[3][1]})" for e in ends if e[0] == "failed"}),
    }  # fmt: skip
    print(json.dumps(told), flush=True)
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=["null", "boundary", "planted"])
    parser.add_argument("--rollouts", type=int, default=100)
    parser.add_argument("--most", type=int, default=60_000, help="requests of a stage after which it is undecided")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.case == "planted":
        for name, fault in PLANTED.items():
            many(name, fault, given.rollouts, given.most, given.seed)
    else:
        many(given.case, GOOD if given.case == "null" else AT_LIMIT, given.rollouts, given.most, given.seed)


if __name__ == "__main__":
    main()
