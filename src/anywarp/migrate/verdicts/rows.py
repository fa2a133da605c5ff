"""What the rows of the tables of replacements mean as verdicts: the same row that converting goes by."""

from __future__ import annotations

from anywarp.catalogue.migration import Row
from anywarp.migrate.findings import Effort, Verdict
from anywarp.migrate.rulings.answer import Answer
from anywarp.migrate.target import Target

CONVERT = "`anywarp convert` does it"
BY_HAND = "a person decides: take it out, or do without"
"""What to do about what has no counterpart, where nothing better is known."""

NVIDIA = Verdict("as-is", "NVIDIA's own platform: nothing changes")
"""The verdict on everything where the target is CUDA itself."""

UNREAD = Verdict("as-is", "nothing on the processor reads it: it does no harm and can be left out")
"""The verdict on settings of NVIDIA's container runtime, tools and exporters where the target is the processor."""


def on_hip(row: Row, effort: Effort = "hours") -> Verdict:
    """Return the verdict of a row for AMD GPUs; `effort` is what deciding by hand takes."""
    how, target, reason = row["conversion"], row["target"], row["reason"]
    if how in ("rename", "extra", "scale", "aggregate", "partition", "rewrite") and target:
        return Verdict("converted", reason or f"ROCm's name is {target}", target, "minutes", CONVERT)
    if how in ("drop", "remove"):
        return Verdict("converted", reason, "nothing: it is left out", "minutes", CONVERT)
    if how == "keep":
        return Verdict("as-is", reason)
    if target:
        return by_hand(reason, target, effort)
    return Verdict("no-path", reason, effort=effort, help=BY_HAND)


def by_hand(reason: str, replacement: str, effort: Effort = "hours", help: str = "") -> Verdict:
    """Return the verdict on what has something in its place that a person must choose or size."""
    return Verdict("replace", reason, replacement, effort, help or f"put this in its place: {replacement}")


def ruled(answer: Answer, effort: Effort = "hours") -> Verdict:
    """Return the verdict that a ruling is; `effort` is what deciding by hand takes."""
    if answer.action == "replace":
        return Verdict("converted", answer.reason, answer.text or answer.name, "minutes", CONVERT)
    if answer.action == "remove":
        return Verdict("converted", answer.reason, "nothing: it is left out", "minutes", CONVERT)
    if answer.action == "keep":
        return Verdict("as-is", answer.reason)
    if answer.instead:
        return Verdict("replace", answer.reason, answer.instead, effort, answer.help)
    return Verdict("no-path", answer.reason, effort=effort, help=answer.help or BY_HAND)


def plain(target: Target) -> Verdict | None:
    """Return the verdict that holds for everything on a target: on NVIDIA's own, nothing changes."""
    return NVIDIA if target.device == "cuda" else None
