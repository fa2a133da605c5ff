"""What is known of a failure: which requests, since when, and what to look at first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from anywarp.deploy.rollout.gates import Gates, Verdict
from anywarp.deploy.rollout.ledger import ALL, Side, numbers
from anywarp.deploy.rollout.observations import LOOKS_LIKE
from anywarp.deploy.rollout.plan import Divergence, Errors, Latency
from anywarp.deploy.rollout.sequential import Floats


def cause(gates: Gates, failed: list[Verdict], counts: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Return what a person looks at first: the kind of failure, the classes that have it and those that do not, and since which request.

    `counts` are those of the stage: what tensors that part look like is among them.
    """
    first = failed[0]
    gate = gates.plan.gates[first.gate]
    others = [
        v
        for v in gates.judge(bounds=False)
        if v.gate == first.gate and v.scope != ALL and v.target and gates.ledger.share(v.scope) < 0.99
    ]
    with_it = (
        [v.scope for v in others if v.estimate > v.limit]
        if gate.kind != "agreement"
        else [v.scope for v in others if v.estimate < v.limit]
    )
    without = [v.scope for v in others if v.scope not in with_it]
    scope = with_it[0] if with_it else first.scope
    out: dict[str, Any] = {
        "kind": gate.kind,
        "gate": first.name,
        "classes with it": with_it,
        "classes without it": without,
    }
    side = gates.ledger.scopes[scope].sides[
        "shadow" if isinstance(gate, Divergence) or gates.stage.kind == "shadow" else "target"
    ]
    stream = _stream(gate, first.gate, side)
    if stream is not None:
        place, before, after = change(stream[1])
        out["since observation"] = int(stream[0][place])
        out["before it"], out["since it"] = round(before, 6), round(after, 6)
    seen = {name.removeprefix(LOOKS_LIKE): n for name, n in (counts or {}).items() if name.startswith(LOOKS_LIKE)}
    if seen and gate.kind in ("divergence", "agreement"):
        out["looks like"] = dict(sorted(seen.items(), key=lambda item: -item[1]))
    out["in words"] = _words(out, with_it, without)
    return out


def _stream(gate: Any, number: int, side: Side) -> tuple[list[int], Floats] | None:
    if isinstance(gate, Divergence) and number in side.parted:
        return list(side.compared_ids), np.array(side.parted[number])
    if isinstance(gate, Errors) and side.failed:
        return list(side.ids), np.array(side.failed)
    values = numbers(getattr(side, gate.measure)) if isinstance(gate, Latency) else np.empty(0)
    if isinstance(gate, Latency) and values.size:
        good = [n for n, failed in zip(side.ids, side.failed, strict=True) if not failed]
        if len(good) == values.size:
            return good, np.log(np.maximum(values, 1e-3))
    return None


def change(values: Floats) -> tuple[int, float, float]:
    """Return where the mean of a series most likely changed, by the largest deviation of its cumulative sum, and the means before and since.

    Page, "Continuous inspection schemes", Biometrika 1954. Where it never changed, the place is the start.
    """
    n = values.size
    sums = np.cumsum(values - values.mean())
    scale = float(values.std()) * np.sqrt(n)
    place = int(np.argmax(np.abs(sums[:-1]))) + 1 if n > 1 else 0
    if (
        n < 20 or scale == 0 or abs(float(sums[place - 1])) / scale < 1.36
    ):  # Kolmogorov's 5 % point: no change that can be told from chance
        return 0, float(values.mean()), float(values.mean())
    return place, float(values[:place].mean()), float(values[place:].mean())


def _words(out: dict[str, Any], with_it: list[str], without: list[str]) -> str:
    what = {
        "divergence": "answers differ from the source's beyond its own noise",
        "kl": "the distributions of next tokens differ",
        "agreement": "the most likely tokens differ",
        "errors": "requests fail on the target",
        "latency": "the target is slower",
        "cost": "the target's tokens cost more",
        "power": "the target's tokens take more energy",
    }[out["kind"]]
    where = ""
    if with_it and without:
        where = f", in {', '.join(with_it)} only; {', '.join(without)} are within the limit"
    elif with_it:
        where = ", in all classes"
    since = out.get("since observation")
    from_start = since is not None and out["before it"] == out["since it"]
    when = "" if since is None else ", from the first request on" if from_start else f", since observation {since}"
    looks = out.get("looks like")
    like = (
        ""
        if looks is None
        else f"; looks like {next(iter(looks))} ({next(iter(looks.values()))} of {sum(looks.values())} answers looked at)"
    )
    return f"{what}{where}{when}{like}"
