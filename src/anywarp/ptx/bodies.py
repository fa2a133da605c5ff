"""Where bodies begin and end in PTX: the outermost braces, found in compiled code."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from anywarp.diagnostics import Source, Span
from anywarp.ptx import codes
from anywarp.ptx.lexer import NESTING_LIMIT

_OPAQUE = re.compile(rb'//[^\n]*|"[^"\n]*"?|/\*[\s\S]*?(?:\*/|\Z)')
"""Text in which braces mean nothing."""


def body_ranges(source: Source) -> dict[int, int]:
    """Match the outermost braces: the offset of each `{` to the offset behind its `}`.

    Braces in comments and strings do not count. Linear, and nearly all in compiled code.
    """
    data = source.text.encode("ascii", "replace")
    places = _braces(data)
    if not len(places):
        return {}
    steps = np.where(np.frombuffer(data, np.uint8)[places] == ord("{"), 1, -1).astype(np.int32)
    depth = np.cumsum(steps, dtype=np.int64)
    _check_depth(source, places, depth)
    starts = places[(steps == 1) & (depth == 1)]
    ends = places[(steps == -1) & (depth == 0)] + 1
    return dict(zip(starts.tolist(), ends.tolist(), strict=True))


def _braces(data: bytes) -> NDArray[np.intp]:
    """Return the offsets of the braces outside comments and strings."""
    letters = np.frombuffer(data, np.uint8)
    places = np.flatnonzero((letters == ord("{")) | (letters == ord("}")))
    starts: list[int] = []
    ends: list[int] = []
    for first, last in _doubtful(data, letters, places):
        for m in _OPAQUE.finditer(data, first, last):
            starts.append(m.start())
            ends.append(m.end())
    if not starts:
        return places
    before = np.searchsorted(np.array(starts, np.intp), places, side="right") - 1
    hidden = (before >= 0) & (places < np.array(ends, np.intp)[np.maximum(before, 0)])
    return places[~hidden]


def _doubtful(data: bytes, letters: NDArray[np.uint8], places: NDArray[np.intp]) -> Iterator[tuple[int, int]]:
    """Yield the ranges in which braces may stand in comments or strings: from a quote or slash to the end of its line.

    With block comments, which cross lines, that is everything; compilers write none.
    """
    marks = np.flatnonzero((letters == ord('"')) | (letters == ord("/")))
    if b"/*" in data:
        yield 0, len(data)
        return
    starts: list[int] = []
    ends: list[int] = [0]
    for at in marks.tolist():
        if at >= ends[-1]:
            end = data.find(b"\n", at)
            starts.append(at)
            ends.append(end if end >= 0 else len(data))
    first = np.searchsorted(places, np.array(starts, np.intp))
    last = np.searchsorted(places, np.array(ends[1:], np.intp))
    for n in np.flatnonzero(first != last).tolist():
        yield starts[n], ends[n + 1]


def _check_depth(source: Source, places: NDArray[np.intp], depth: NDArray[np.int64]) -> None:
    """Report a stray `}`, a `{` never closed, or too many levels."""
    if depth.min() < 0:
        at = int(places[int(np.argmax(depth < 0))])
        raise codes.problem(codes.UNEXPECTED, "this `}` closes nothing", source, Span(at, at + 1))
    if depth.max() > NESTING_LIMIT + 1:
        at = int(places[int(np.argmax(depth > NESTING_LIMIT + 1))])
        message = f"scopes nested more than {NESTING_LIMIT} deep"
        raise codes.problem(codes.TOO_DEEP, message, source, Span(at, at + 1))
    if depth[-1] != 0:
        opened = np.flatnonzero(depth == 0)
        at = int(places[int(opened[-1]) + 1 if len(opened) else 0])
        help = "the PTX seems to be cut off"
        raise codes.problem(codes.ENDS_EARLY, "the text ends before this `{` is closed", source, Span(at, at + 1), help)
