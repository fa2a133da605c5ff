"""How often the gates of `anywarp rollout` are wrong, and how soon they find a regression: rollouts simulated from known distributions.

    python benchmarks/rollout_gates.py null --rollouts 10000       # a target as good as the source: how many rollouts have a false alarm
    python benchmarks/rollout_gates.py boundary --rollouts 500     # a target exactly at limits: the worst case that is still allowed
    python benchmarks/rollout_gates.py planted --rollouts 200      # planted regressions, found within the requests that `anywarp rollout plan` states?

Only traffic is made up; the product's gates decide. What is left out can only hide a pass, never an alarm:

- No stage ends by passing: each is watched to its end. A stage that ends sooner has fewer looks.
- A gate is asked only at looks at which it could fail. It cannot where its estimate keeps the limit, nor where the evidence at one value of the parameter of
  no interest is too little, since the gate takes the least over all of them (0.05 is left for its search). `tests/deploy/rollout/test_simulation.py` asks at every look.

`null` and `boundary` look after every hundred requests, one second of the plan's traffic; the product looks every two seconds. `planted` looks less often than the
product, which so finds at least as soon.
"""

from __future__ import annotations

import argparse
import json
import time
from array import array
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from anywarp.deploy.rollout import plan_file
from anywarp.deploy.rollout.finding import ERRORS, NOISE, SPREAD, requests_to_find
from anywarp.deploy.rollout.gates import Gates, guards, levels, limit_of, name_of
from anywarp.deploy.rollout.ledger import ALL, Ledger, Scope
from anywarp.deploy.rollout.sequential import Betting, rate_evidence

PLAN = """
version: 1
name: simulated
endpoint: {{requests_per_second: 100, length_classes: [4096], smallest_class: 10 %}}
source: {{name: s, members: [{{name: a, url: "http://127.0.0.1:1", capacity: 200}}]}}
target: {{name: t, members: [{{name: b, url: "http://127.0.0.1:2", capacity: 200}}]}}
shadow: {{sample: 20 %, noise: 25 %}}
stages: [shadow, 50 %]
gates:
  - {{kind: divergence, at_most: {divergence}}}
  - {{kind: kl, at_most: 0.01}}
  - {{kind: errors, more_at_most: 1 %}}
  - {{kind: latency, quantile: 0.5, ratio_at_most: {median}}}
  - {{kind: latency, quantile: 0.99, ratio_at_most: {tail}}}
driver: {{kind: proxy}}
"""
WIDE = {"divergence": "2 %", "median": 1.2, "tail": 1.5}
NARROW = {"divergence": "1 %", "median": 1.1, "tail": 1.05}
KL, LONG = 0.004, "length over 4096"
SLACK = 0.05
"""In nats: how far the gates' search for the least evidence may end above it."""


@dataclass(frozen=True)
class Fault:
    """What is wrong with the target: shares of answers and requests, factors of latency, the mean KL; `rare` is the long class's share of requests."""

    parted: float = 0.0
    errors: float = 0.0
    slow: float = 1.0
    tail: float = 1.0
    kl: float = KL
    wrong_class: float = 0.0
    rare: float = 0.06


AT_LIMIT = Fault(parted=0.02, errors=0.01, slow=1.2, kl=0.01, wrong_class=0.02)
PLANTED = {
    "2 % more answers differ": (Fault(parted=0.02, wrong_class=0.02), "shadow", "divergent answers", 1.0),
    "2 % of a class with 10 % of the requests differ": (Fault(wrong_class=0.02, rare=0.1), "shadow", "divergent answers", 0.1),
    "a fifth of a class with 10 % of the requests differs": (Fault(wrong_class=0.2, rare=0.1), "shadow", "divergent answers", 0.1),
    "p99 of latency 10 % longer": (Fault(tail=1.1), "50 %", "latency p99", 1.0),
    "median of latency 20 % longer": (Fault(slow=1.2), "50 %", "latency p50", 1.0),
    "2 % more requests fail": (Fault(errors=0.02), "50 %", "errors", 1.0),
    "KL per token 0.02": (Fault(kl=0.02), "shadow", "KL per token", 1.0),
}  # fmt: skip
"""Each with the stage and the gate whose statement is held against the runs, and the share of requests that it is about."""


class Stream:
    """Values of some of the requests, in order, and where among all requests each of them is."""

    def __init__(self, chosen, values):
        self.places = np.flatnonzero(chosen)
        self.values = values[self.places]

    def count(self, looks):
        """How many there are at each look."""
        return np.searchsorted(self.places, looks)

    def where(self, true, looks):
        """How many of those for which something is true there are at each look."""
        return np.searchsorted(self.places[true], looks)

    def prefix(self, look):
        return self.values[: int(np.searchsorted(self.places, look))].astype(np.float64)


def traffic(plan, stage, count, fault, rng):
    """Make up so many callers with their replays; return streams by scope and name."""
    long = rng.random(count) < fault.rare
    on_target = rng.random(count) < stage.target_share
    replay = rng.random(count) < plan.shadow.sample
    noise = replay & (rng.random(count) < plan.shadow.noise)
    replay &= ~noise
    latency = np.exp(5 + SPREAD * rng.standard_normal(count))
    slow = np.where(latency > np.exp(5 + SPREAD * 1.8), fault.tail, 1.0) * fault.slow
    latency = np.where(on_target, latency * slow, latency)
    failed = rng.random(count) < np.where(on_target, ERRORS + fault.errors, ERRORS)
    failed_replay = rng.random(count) < ERRORS + fault.errors
    differs = rng.random(count) < NOISE + np.where(long, fault.wrong_class, fault.parted) * ~noise
    kl = np.minimum(rng.exponential(fault.kl, count), 1.0)
    out = {}
    for scope, chosen in ((ALL, np.ones(count, bool)), (LONG, long), ("length to 4096", ~long)):
        source, target, here = ~on_target & chosen, on_target & chosen, replay & chosen
        out[scope] = {
            "source failed": Stream(source, failed),
            "target failed": Stream(here, failed_replay) if stage.kind == "shadow" else Stream(target, failed),
            "source latency": Stream(source & ~failed, latency), "target latency": Stream(target & ~failed, latency),
            "noise": Stream(noise & chosen, differs), "parted": Stream(here, differs), "kl": Stream(here, kl),
        }  # fmt: skip
    return out


def shares_to_ask(source, target, limit, enough, looks):
    """Return the looks at which a difference of shares could fail."""
    n, m, s, t = (
        source.count(looks),
        target.count(looks),
        source.where(source.values, looks),
        target.where(target.values, looks),
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        over = (n > 0) & (m > 0) & (t / m - s / n > limit)
    if not over.any():
        return looks[over]
    n, m, s, t = (x[over] for x in (n, m, s, t))
    p = np.clip((s + t - limit * m) / (n + m), 1e-9, 1 - limit)
    return looks[over][rate_evidence(s, n, p) + rate_evidence(t, m, p + limit) >= enough - SLACK]


def ratios_to_ask(source, target, p, limit, looks):
    """Return the looks at which a ratio of quantiles may be over its limit: it is not where one side's is at least a value, the other's at most its multiple."""
    n, m = source.count(looks), target.count(looks)
    open_ = (n > 0) & (m > 0)
    middle = np.exp(5 + SPREAD * NormalDist().inv_cdf(p)) / np.sqrt(limit)
    for value in middle * np.array([1, 0.9, 1.1]):  # any value will do
        kept = (source.where(source.values <= value, looks) <= (p * n).astype(int)) & (
            target.where(target.values <= value * limit, looks) > (p * m).astype(int)
        )
        open_ &= ~kept
    return looks[open_]


def over(source, target, p, limit, look):
    """Say whether the estimate at a look is over the limit."""
    a, b = source.prefix(look), target.prefix(look)
    i, j = (min(int(p * x.size), x.size - 1) for x in (a, b))
    return np.partition(b, j)[j] > limit * np.partition(a, i)[i]


def to_ask(gate, plan, scope, streams, looks):
    """Return the looks at which a gate could fail."""
    limit, _ = limit_of(gate)
    enough = np.log(1 / levels(plan, scope)[0])
    if gate.kind == "errors":
        return shares_to_ask(streams["source failed"], streams["target failed"], limit, enough, looks)
    if gate.kind == "divergence":
        return shares_to_ask(streams["noise"], streams["parted"], limit, enough, looks)
    if gate.kind == "latency":
        return ratios_to_ask(streams["source latency"], streams["target latency"], gate.quantile, limit, looks)
    capital = np.cumsum(Betting([limit / gate.cap]).gains(streams["kl"].values / gate.cap)[0][:, 0])
    capital = np.concatenate([[0.0], capital])
    return looks[capital[streams["kl"].count(looks)] >= enough - SLACK]


def ask(plan, stage, number, scope, streams, look):
    """Return whether the product's gate fails at a look."""
    ledger, place = Ledger(plan), Scope()
    ledger.scopes[scope] = place
    answers = place.sides["shadow" if stage.kind == "shadow" else "target"]
    for side, name in ((place.sides["source"], "source"), (answers, "target")):
        failed = streams[f"{name} failed"].prefix(look)
        side.count, side.errors = failed.size, int(failed.sum())
        side.total = array("d", streams[f"{name} latency"].prefix(look).tobytes())
    place.sides["noise"].parted[number] = array("d", streams["noise"].prefix(look).tobytes())
    place.sides["shadow"].parted[number] = array("d", streams["parted"].prefix(look).tobytes())
    place.values[number] = array("d", streams["kl"].prefix(look).tobytes())
    return Gates(plan, stage, ledger).verdict(number, plan.gates[number], scope, False).result == "fail"


def alarm(plan, stage, seen, looks, every_look=False):
    """Return the first look at which a gate fails, with the gate and the scope; None where none does."""
    first, by = None, None
    for number, gate in enumerate(plan.gates):
        if not guards(plan, gate, stage):
            continue
        for scope, streams in seen.items():
            for look in looks if every_look else to_ask(gate, plan, scope, streams, looks):
                if first is not None and look >= first:
                    break
                if gate.kind == "latency" and not every_look:
                    limit = limit_of(gate)[0]
                    if not over(streams["source latency"], streams["target latency"], gate.quantile, limit, look):
                        continue
                if ask(plan, stage, number, scope, streams, look):
                    first, by = int(look), f"{stage.title}: {name_of(gate)} ({scope})"
                    break
    return None if first is None else (first, by)


def told(name, number, rollouts, began, alarms):
    if (number + 1) % max(rollouts // 20, 1) == 0:
        print(f"  {name}: {number + 1} of {rollouts}, {time.monotonic() - began:.0f} s, {alarms} stopped", flush=True)


def false_alarms(name, fault, rollouts, most, seed):
    """Count the rollouts in which any gate fails in any stage."""
    plan = plan_file.parse(PLAN.format(**WIDE), "simulated").plan
    began, found = time.monotonic(), []
    looks = np.arange(100, most + 1, 100)
    for n in range(rollouts):
        rng = np.random.default_rng([seed, n])
        for stage in plan.stages:
            alarmed = alarm(plan, stage, traffic(plan, stage, most, fault, rng), looks)
            if alarmed is not None:
                found.append(alarmed[1])
                break
        told(name, n, rollouts, began, len(found))
    print(json.dumps({"case": name, "rollouts": rollouts, "stopped": len(found), "by": sorted(found)}), flush=True)


def planted(name, rollouts, seed):
    """Count the rollouts in which a fault is found within the requests that the plan's forecast states."""
    fault, title, gate_name, part = PLANTED[name]
    plan = plan_file.parse(PLAN.format(**NARROW), "simulated").plan
    stage = next(stage for stage in plan.stages if stage.title == title)
    gate = next(gate for gate in plan.gates if name_of(gate) == gate_name)
    stated = int(requests_to_find(plan, gate, stage, part) or 0)
    looks = np.unique(np.geomspace(500, stated, max(int(np.log(stated / 500) / np.log(1.15)), 2)).astype(int))
    began, found = time.monotonic(), []
    for n in range(rollouts):
        seen = traffic(plan, stage, stated, fault, np.random.default_rng([seed, n]))
        alarmed = alarm(plan, stage, seen, looks)
        if alarmed is not None:
            found.append(alarmed)
        told(name, n, rollouts, began, len(found))
    middle = sorted(look for look, _ in found)[len(found) // 2] if found else None
    by = {who: sum(b == who for _, b in found) for who in sorted({b for _, b in found})}
    print(
        json.dumps(
            {"case": name, "rollouts": rollouts, "stated": stated, "found": len(found), "median": middle, "by": by}
        ),
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=["null", "boundary", "planted"])
    parser.add_argument("--rollouts", type=int, default=100)
    parser.add_argument("--most", type=int, default=10_000, help="requests of each stage (null, boundary)")
    parser.add_argument("--only", help="one of the planted regressions, by its number from 1")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.case == "planted":
        names = list(PLANTED)
        for name in [names[int(given.only) - 1]] if given.only else names:
            planted(name, given.rollouts, given.seed)
    else:
        false_alarms(given.case, Fault() if given.case == "null" else AT_LIMIT, given.rollouts, given.most, given.seed)


if __name__ == "__main__":
    main()
