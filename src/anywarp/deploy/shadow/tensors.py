"""The inference protocol v2 over HTTP (KServe's open inference protocol): which requests are compared, and how far outputs may differ.

https://kserve.github.io/website/latest/modelserving/data_plane/v2_protocol/
"""

from __future__ import annotations

import math
import re
from typing import Any, cast

from anywarp.deploy.shadow.openai import Json, NotComparable, WrongContent, read_json
from anywarp.deploy.shadow.scoring import Comparison

PATH = re.compile(r"/v2/models/[^/]+(?:/versions/[^/]+)?/infer")
ROUNDING = {"FP16": 2.0**-10, "BF16": 2.0**-7, "FP32": 2.0**-23, "FP64": 2.0**-52}
"""Distance of neighbouring numbers around 1."""
NAMES = {"FP16": "float16", "BF16": "bfloat16", "FP32": "float32", "FP64": "float64"}
MOST_LOOKED_AT = 1 << 16
"""Elements of an output in which a cause is searched for."""
STEPS = 64
"""By how many such distances, relative to the output's largest value, two servers' numbers may differ before they count as different.

Sums of K products differ by about sqrt(K) roundings between two orders; deep networks add layers of them. A limit of ours, not of the protocol."""


def read_infer_request(body: bytes, binary: bool) -> Json:
    """Return the JSON of a request that may be replayed and compared; NotComparable else."""
    if binary:
        raise NotComparable("tensors in binary form")
    given = read_json(body, NotComparable("no JSON"))
    parameters: Any = given.get("parameters")
    if isinstance(parameters, dict) and cast(Json, parameters).get("sequence_id"):
        raise NotComparable("a sequence with state")
    return given


def compare_outputs(caller: bytes, shadow: bytes) -> Comparison:
    """Compare the outputs of two answers, element by element: numbers within rounding of their type, all else exactly; WrongContent where one is no answer."""
    a, b = (_outputs(body) for body in (caller, shadow))
    if [(n, t, s) for n, t, s, _ in a] != [(n, t, s) for n, t, s, _ in b]:
        raise WrongContent("wrong content: outputs of other names, types or shapes")
    same: list[bool] = []
    for (_, kind, _, mine), (_, _, _, theirs) in zip(a, b):
        if len(mine) != len(theirs):
            raise WrongContent("wrong content: fewer or more elements than the caller's")
        same += _same(kind, mine, theirs)
    place = same.index(False) if False in same else None
    return Comparison("divergence", len(same), place, None, None, sum(same) / len(same) if same else None)


def likely_cause(caller: bytes, shadow: bytes) -> str | None:
    """Return what the first output that differs looks like, by the fingerprints of `anywarp verify`: a cause's name, with its place; None where nothing fits.

    Both answers were compared before. Looks at outputs of numbers up to `MOST_LOOKED_AT` elements.
    """
    import numpy as np

    from anywarp.check.numbers.comparing import compare
    from anywarp.numerics.operation import Operation

    array: Any = np.array
    for (_, kind, shape, mine), (_, _, _, theirs) in zip(_outputs(caller), _outputs(shadow)):
        if kind not in NAMES or not 0 < len(mine) <= MOST_LOOKED_AT or all(_same(kind, mine, theirs)):
            continue
        try:
            a, b = (array(values, dtype=np.float64).reshape(shape) for values in (mine, theirs))
        except (ValueError, TypeError, OverflowError):
            continue
        found = compare(a, b, Operation(output=NAMES[kind])).fingerprints
        if found:
            return f"{found[0].name}{', ' + found[0].place if found[0].place else ''}"
    return None


def _outputs(body: bytes) -> list[tuple[str, str, list[int], list[Any]]]:
    given = read_json(body, WrongContent("wrong content: no JSON"))
    try:
        told: list[Any] = given["outputs"]
        return [(str(o["name"]), str(o["datatype"]), list(o["shape"]), _flat(o["data"])) for o in told]
    except (KeyError, TypeError):
        raise WrongContent("wrong content: not in the form of the protocol") from None


def _flat(data: Any) -> list[Any]:
    """Return data in one row: the protocol allows rows in rows, too."""
    if not isinstance(data, list):
        raise TypeError
    row = cast("list[Any]", data)
    for _ in range(16):
        if not any(isinstance(x, list) for x in row):
            return row
        row = [y for x in row for y in (cast("list[Any]", x) if isinstance(x, list) else [x])]
    raise TypeError


def _same(kind: str, mine: list[Any], theirs: list[Any]) -> list[bool]:
    if kind not in ROUNDING:
        return [x == y for x, y in zip(mine, theirs)]
    numbers = [abs(float(x)) for x in mine if _is_number(x)]
    allowed = STEPS * ROUNDING[kind] * max(numbers, default=0.0)
    return [x == y or (_is_number(x) and _is_number(y) and abs(float(x) - float(y)) <= allowed) for x, y in zip(mine, theirs)]  # fmt: skip


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
