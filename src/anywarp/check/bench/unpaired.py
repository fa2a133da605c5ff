"""Two results of different times or machines, compared: alike in all that must be, with an interval that holds whatever each side's is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anywarp.check.bench import likeness, percentiles
from anywarp.check.bench.problems import ASKED, problem
from anywarp.check.store import Run

COMPARED = ("p50", "p90", "p99")


def compare(first: Run, second: Run, anyway: bool) -> dict[str, Any]:
    """Return the ratios A/B of two results of `bench`; AnywarpError: V033 where they are not alike, V036 where they are none.

    Each side's interval is taken at 97.5 %, so that both hold together at 95 % whatever their relation (Bonferroni): the ratio is at least the
    one's low over the other's high. It is wider than that of pairs in turns, and knows nothing of what changed between the two.
    """
    for run in (first, second):
        if run.kind != "bench" or run.result.get("form") not in ("model", "command", "endpoint"):
            raise problem(ASKED, f"{run.id} is no result that can be compared", "compare results of a model, a command or an endpoint")  # fmt: skip
    unlike = likeness.require(first.result["alike"], second.result["alike"], anyway, f"{first.id} and {second.id}")
    marks = [f"not alike: {text}" for text in unlike]
    marks.append("not measured in turns: what changed between the two measurements is part of the ratio")
    for run in (first, second):
        marks += [f"{run.id}: {mark}" for mark in run.result.get("marks", ())]
    ratios = {name: _ratio(a, b) for name, (a, b) in _sides(first.result, second.result).items()}
    return {"a": first.id, "b": second.id, "ratios": ratios, "marks": marks, "confidence": percentiles.CONFIDENCE}


def _sides(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    wide = (1 + percentiles.CONFIDENCE) / 2
    if "times_ms" in first and "times_ms" in second:
        return {
            name: (_of(first["times_ms"], name, wide), _of(second["times_ms"], name, wide)) for name in COMPARED
        }  # fmt: skip
    found = {"tokens_per_s": (first["tokens_per_s"], second["tokens_per_s"])}
    for service in ("first_token_s", "between_tokens_s", "whole_s"):
        a, b = first["requests"].get(service), second["requests"].get(service)
        if a and b:
            found |= {f"{service} {name}": (_of(a, name, wide), _of(b, name, wide)) for name in COMPARED}
    return found


def _of(values: Sequence[float], name: str, confidence: float) -> dict[str, float | None]:
    return percentiles.percentile(values, float(name[1:]), confidence).as_json()


def _ratio(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, float | None]:
    low = a["low"] / b["high"] if a["low"] is not None and b["high"] else None
    high = a["high"] / b["low"] if a["high"] is not None and b["low"] else None
    return {"value": a["value"] / b["value"], "low": low, "high": high}
