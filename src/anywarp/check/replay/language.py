"""A language model's logits in a recording and here, over all recorded calls."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from anywarp.check.bundle import Entry
from anywarp.check.bundle.recording import Recording
from anywarp.check.numbers.language import compare_logits
from anywarp.check.record.kept import Array, array
from anywarp.check.replay.sides import Sides

_ENOUGH = 16
"""Positions from which on the text itself is used, for perplexity."""


def measure(sides: Sides) -> dict[str, Any] | None:
    """Compare the logits of a language model; None where there are none."""
    parts = list[tuple[Array, Array, Array | None, Array | None]]()
    for entry in sides.reference.entries:
        here = sides.observed.found.get(entry.key)
        if entry.role != "logits" or entry.blob is None or here is None or here.blob is None:
            continue
        if len(entry.shape) < 2 or here.shape != entry.shape:
            continue
        other = sides.null.found.get(entry.key) if sides.null is not None else None
        noise = array(sides.null, other) if sides.null and other and other.blob and other.shape == entry.shape else None
        parts.append(
            (array(sides.reference, entry), array(sides.observed, here), noise, _tokens(sides.reference, entry))
        )
    if not parts:
        return None
    forced = [part for part in parts if part[3] is not None]
    if sum(part[0][..., 1:, 0].size for part in forced) >= _ENOUGH:
        rows = [(a[..., :-1, :], b[..., :-1, :], None if n is None else n[..., :-1, :], t) for a, b, n, t in forced]
        tokens = np.concatenate([np.ravel(cast(Array, row[3])[..., 1:]) for row in rows])
    else:
        rows, tokens = parts, None
    one, two = _joined([row[0] for row in rows]), _joined([row[1] for row in rows])
    noises = [row[2] for row in rows if row[2] is not None]
    null = _joined(noises) if len(noises) == len(rows) else None
    return compare_logits(one, two, tokens, null=null).as_json()


def _joined(parts: list[Array]) -> Array:
    """Return logits as (positions, vocabulary)."""
    rows: list[Array] = [np.reshape(part, (-1, part.shape[-1])) for part in parts]
    return np.concatenate([row for row in rows if row.shape[-1] == rows[0].shape[-1]])


def _tokens(bundle: Recording, logits: Entry) -> Array | None:
    """Return the tokens that a call was given, where there is one for each of its logits."""
    for entry in bundle.entries:
        its = entry.role == "tokens" and entry.call == logits.call and entry.name == logits.name and entry.blob
        if its and len(entry.shape) == 2 and entry.shape == logits.shape[:-1]:
            return array(bundle, entry)
    return None
