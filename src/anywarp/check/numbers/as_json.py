"""A verdict as JSON, in a form that stays (`verify.schema.json` describes it)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, TypeVar, cast

from anywarp import __version__
from anywarp.check.numbers.causes import CAUSES
from anywarp.check.numbers.judging import graded, named
from anywarp.check.numbers.results import LEVELS, Comparison, Fingerprint, Layer, Report, Spot
from anywarp.numerics.operation import Operation

Made = TypeVar("Made")

VERSION = 1
"""Raised when something that was there changes its meaning; additions do not change it."""


def report(verdict: Report) -> dict[str, Any]:
    """Return the verdict as a mapping ready for `json.dumps`: what is no finite number is null."""
    counts = dict.fromkeys(("pass", "warn", "fail"), 0)
    for each in verdict.layers:
        grade = graded(each)
        if grade is not None:
            counts[grade] += 1
    return {
        "format": "anywarp-verify",
        "version": VERSION,
        "tool": f"anywarp {__version__}",
        "grade": verdict.grade,
        "reason": verdict.reason,
        "about": dict(verdict.about),
        "first": None if verdict.first is None else named(verdict.first),
        "cause": None if verdict.cause is None else cause(verdict.cause),
        "counts": counts,
        "levels": list(LEVELS),
        "language": plain(dict(verdict.language)) or None,
        "layers": [layer(each) for each in verdict.layers],
        "notes": list(verdict.notes),
    }


def layer(each: Layer) -> dict[str, Any]:
    """Return one layer as a mapping."""
    return {
        "name": each.name,
        "call": each.call,
        "slot": each.slot,
        "operation": asdict(each.operation),
        "grade": graded(each),
        "weights": each.weights,
        "isolated": None if each.isolated is None else comparison(each.isolated),
        "propagated": None if each.propagated is None else comparison(each.propagated),
        "note": each.note,
    }


def comparison(each: Comparison) -> dict[str, Any]:
    """Return one comparison as a mapping."""
    return plain(asdict(each)) | {"fingerprints": [cause(found) for found in each.fingerprints]}


def cause(found: Fingerprint) -> dict[str, Any]:
    """Return a likely cause as a mapping, with what it means and what to do."""
    means, do = CAUSES[found.name]
    return plain(asdict(found)) | {"means": means, "help": do}


def plain(value: Any) -> Any:
    """Return a value with lists for tuples and null for numbers that JSON lacks."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read(found: Mapping[str, Any]) -> Report:
    """Return the verdict that `report` made a mapping of; numbers that were not finite are NaN. ValueError where it is none of this version."""
    if found.get("format") != "anywarp-verify" or found.get("version") != VERSION:
        raise ValueError("not a verdict of this version")
    try:
        layers = tuple(_read_layer(each) for each in found["layers"])
        first = next((each for each in layers if named(each) == found["first"]), None)
        cause = None if found["cause"] is None else _read(Fingerprint, found["cause"])
        return Report(
            found["grade"],
            found["reason"],
            layers,
            first,
            cause,
            found["language"] or {},
            found["about"],
            tuple(found["notes"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a verdict: {error}") from error


def _read_layer(found: Mapping[str, Any]) -> Layer:
    parts = {side: _read_comparison(found[side]) for side in ("isolated", "propagated")}
    return _read(Layer, {**found, **parts, "operation": _read(Operation, found["operation"])})


def _read_comparison(found: Mapping[str, Any] | None) -> Comparison | None:
    if found is None:
        return None
    worst = tuple(_read(Spot, {**spot, "index": tuple(spot["index"])}) for spot in found["worst"])
    causes = tuple(_read(Fingerprint, each) for each in found["fingerprints"])
    quantiles = tuple(math.nan if x is None else x for x in found["quantiles"])
    return _read(
        Comparison,
        {**found, "worst": worst, "fingerprints": causes, "quantiles": quantiles, "shape": tuple(found["shape"])},
    )


def _read(kind: type[Made], found: Mapping[str, Any]) -> Made:
    """Make one of our records of what a mapping says of its fields; a float that JSON lacked is NaN."""
    types: dict[str, Any] = {f.name: f.type for f in fields(cast("Any", kind))}
    missing = {name: math.nan for name, type in types.items() if type == "float" and found.get(name, 0) is None}
    return kind(**{name: found[name] for name in types if name in found} | missing)
