"""The verdict over the layers of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from anywarp.check.numbers.results import GRADES, Comparison, Fingerprint, Grade, Layer, Report

JUMP = 30.0
"""How much more than at any layer before a propagated difference is, if something between two layers is wrong."""


def judge(
    layers: Sequence[Layer],
    *,
    language: Mapping[str, Any] | None = None,
    about: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> Report:
    """Return the verdict over layers that are in order of execution; `language` is what `language.compare_logits` or `compare_top` returned, `as_json()`.

    A layer that fails by itself decides, then other weights, then the language, then what was seen within the whole: if every layer is right by
    itself, differences that grow with depth are a warning, those that appear between two layers a failure.
    """
    grade, reason, first, cause = _verdict(layers)
    said = dict(language or {})
    spoken = said.get("grade")
    if spoken in GRADES and GRADES.index(spoken) > GRADES.index(grade):
        grade, reason = spoken, f"the language model differs: {said.get('reason', '')}"
    elif spoken == "pass" and grade == "warn" and cause is not None and cause.name == "accumulated":
        reason += "; the language model does not differ"
    if not layers and not said:
        grade, reason = "fail", "nothing was compared"
    return Report(grade, reason, tuple(layers), first, cause, said, dict(about or {}), tuple(notes))


def _verdict(layers: Sequence[Layer]) -> tuple[Grade, str, Layer | None, Fingerprint | None]:
    for layer in layers:
        if layer.weights is False:
            cause = Fingerprint("other-weights", "the digests of its parameters differ", 1.0)
            return "fail", f"{named(layer)} has other parameters than the reference", layer, cause
    for layer in layers:
        if layer.isolated is not None and layer.isolated.grade == "fail":
            cause = _cause(layer.isolated) or _stale(layer, layers)
            return "fail", f"{named(layer)} fails by itself: {layer.isolated.reason}", layer, cause
    for position, layer in enumerate(layers):
        if layer.propagated is not None and layer.propagated.grade == "fail":
            return _within(layers, position, layer, layer.propagated)
    for layer in layers:
        for comparison, words in ((layer.isolated, "by itself"), (layer.propagated, "within the whole")):
            if comparison is not None and comparison.grade == "warn":
                return "warn", f"{named(layer)}, {words}: {comparison.reason}", layer, _cause(comparison)
    compared = sum(1 for layer in layers if layer.isolated is not None or layer.propagated is not None)
    if layers and not compared:
        return "fail", "no layer could be compared", None, None
    return "pass", f"all {compared} places that were compared are right", None, None


def _within(
    layers: Sequence[Layer], position: int, layer: Layer, comparison: Comparison
) -> tuple[Grade, str, Layer | None, Fingerprint | None]:
    """Judge by the first layer that fails within the whole, while none fails by itself."""
    cause = _cause(comparison) or _stale(layer, layers)
    before = [each for each in layers[:position] if each.propagated is not None]
    if layer.isolated is None:
        return "fail", f"{named(layer)} fails within the whole: {comparison.reason}", layer, cause
    worst = max((each.propagated.relative for each in before if each.propagated is not None), default=0.0)
    if comparison.relative > JUMP * max(worst, 1 / JUMP) or comparison.unlike:
        last = f" and after {named(before[-1])}" if before else ""
        reason = (
            f"something before {named(layer)}{last} is wrong that belongs to no compared layer: {comparison.reason}"
        )
        return "fail", reason, replace(layer), cause
    unseen = [each for each in layers[:position] if each.isolated is None and each.propagated is None]
    said = f"differences grow from {before[0].propagated.relative if before and before[0].propagated else 0:.3g} to {comparison.relative:.3g} times what is allowed for"
    accumulated = Fingerprint(
        "accumulated", f"{said}, and every layer that was compared by itself is right", 0.5 if unseen else 0.8
    )
    return "warn", f"every layer is right by itself; from {named(layer)} on {said}", layer, accumulated


def _cause(comparison: Comparison) -> Fingerprint | None:
    return comparison.fingerprints[0] if comparison.fingerprints else None


def _stale(layer: Layer, layers: Sequence[Layer]) -> Fingerprint | None:
    """A layer that was right in the first call and is wrong in every later one keeps something it should not."""
    same = [each for each in layers if each.name == layer.name and each.slot == layer.slot]
    grades = [(each.call, graded(each)) for each in same]
    right = [call for call, grade in grades if grade == "pass"]
    wrong = [call for call, grade in grades if grade == "fail"]
    if right and len(wrong) >= 2 and max(right) < min(wrong):
        said = f"right in calls {min(right)} to {max(right)}, wrong in all {len(wrong)} later ones"
        return Fingerprint("stale-cache", said, 0.6, f"from call {min(wrong)}")
    return None


def graded(layer: Layer) -> Grade | None:
    """Return a layer's grade: by itself if that is known, else within the whole; None where nothing was compared."""
    comparison = layer.isolated or layer.propagated
    return None if comparison is None else comparison.grade


def named(layer: Layer) -> str:
    """Return a layer's name with its call and slot, where they say something."""
    text = layer.name or "the whole model"
    if layer.slot not in ("", "0", "out"):
        text += f" ({layer.slot})"
    return text if not layer.call else f"{text}, call {layer.call}"
