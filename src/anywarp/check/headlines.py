"""What came out of a result, in one line with a mark, for lists of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from anywarp.check.store import Run

Mark = Literal["good", "warn", "bad", "none"]


@dataclass(frozen=True, slots=True)
class Headline:
    """What came out, in a line: a word for its mark ("" for none), and a sentence."""

    mark: Mark
    word: str
    text: str


UNKNOWN = Headline("none", "", "what came out is not in a form that this anywarp knows")


def headline(run: Run) -> Headline:
    """Return what came out of a run; the database may come from elsewhere, so what is not as it should be is said."""
    try:
        return _HEADLINES[run.kind](run.result)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return UNKNOWN


def _verified(result: Mapping[str, Any]) -> Headline:
    grade = str(result["grade"])
    mark: Mark = {"pass": "good", "warn": "warn", "fail": "bad"}[grade]  # pyright: ignore[reportAssignmentType]
    return Headline(mark, grade, str(result["reason"]))


def _measured(result: Mapping[str, Any]) -> Headline:
    text = _MEASURED[result["form"]](result)
    marks = result.get("marks", ())
    return Headline("warn", f"{len(marks)} to know", text) if marks else Headline("none", "", text)


def _times(result: Mapping[str, Any]) -> str:
    done = result["throughput"]
    return f"median {_interval(result['latency_ms']['p50'], ' ms')}, {done['value']:.4g} {done['unit']}"


def _pair(result: Mapping[str, Any]) -> str:
    return f"ratio of times {_interval(result['ratio'])}" + ("" if result["decided"] else ", not decided")


def _load(result: Mapping[str, Any]) -> str:
    return f"{_interval(result['tokens_per_s'])} tokens/s"


def _cost(result: Mapping[str, Any]) -> Headline:
    saving, back = result["saving_per_day"], result["break_even"]
    text = f"saves {saving['value']:,.2f} {result['currency']} a day ({saving['low']:,.2f} to {saving['high']:,.2f})"
    if saving["value"] <= 0:
        return Headline("bad", "costs more", text)
    text += (
        f"; it has paid for itself on {back['date']}"
        if back["date"]
        else "; it does not pay for itself within ten years"
    )
    return Headline("good" if saving["low"] > 0 else "warn", "saves" if saving["low"] > 0 else "not sure", text)


def _assessed(result: Mapping[str, Any]) -> Headline:
    shares = {str(answer): int(count) for answer, count in result["answers"].items()}
    total, stays = int(result["findings"]), shares.get("no-path", 0)
    text = (
        f"{total:,} findings; {shares.get('as-is', 0) + shares.get('converted', 0):,} run as they are or are converted"
    )
    return Headline("bad", f"{stays:,} without a path", text) if stays else Headline("none", "", text)


def _fleet(result: Mapping[str, Any]) -> Headline:
    tasks, done, failed = int(result["tasks"]), int(result["done"]), int(result["failed"])
    text = f"{done:,} of {tasks:,} tasks have results"
    return Headline("bad", f"{failed:,} failed", text) if failed else Headline("none", "", text)


def _organisation(result: Mapping[str, Any]) -> Headline:
    stays = int(result["blocked"])
    text = f"{int(result['units']):,} to move, {int(result['gpus']):,} GPUs, {result['days']}"
    return Headline("bad", f"{stays:,} without a path", text) if stays else Headline("none", "", text)


def _moved(result: Mapping[str, Any]) -> Headline:
    cause: Mapping[str, Any] = result["cause"] or {}
    reason = str(result["reason"])
    if result["phase"] == "done":
        return Headline("good", "done", reason)
    return Headline("bad", "rolled back", f"{reason}; {cause['in words']}" if cause else reason)


def _interval(found: Mapping[str, Any], unit: str = "") -> str:
    low, high = found.get("low"), found.get("high")
    ends = f" ({low:.4g} to {high:.4g})" if low is not None and high is not None else ""
    return f"{found['value']:.4g}{ends}{unit}"


_MEASURED: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "model": _times,
    "command": _times,
    "pair": _pair,
    "endpoint": _load,
}
_HEADLINES: dict[str, Callable[[Mapping[str, Any]], Headline]] = {
    "verify": _verified,
    "bench": _measured,
    "cost": _cost,
    "assess": _assessed,
    "fleet": _fleet,
    "organisation": _organisation,
    "rollout": _moved,
}
