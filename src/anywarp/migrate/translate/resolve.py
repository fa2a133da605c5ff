"""Resolves what rules yield into one flat list of edits over the source, and applies it.

Earlier rules win, groups are applied together or not at all, and an edit may contain others where it says so
(`Kept`); whoever reads the result sees only ranges that do not overlap and their bytes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from anywarp.migrate.translate.edits import Edit, Kept

DEEPEST = 40
"""Nested pieces that are rendered with the edits in them; what lies deeper is copied as it is."""


class Accepted:
    """The edits accepted so far, by place."""

    def __init__(self) -> None:
        self._starts = list[int]()
        self._edits = list[Edit]()  # by start
        self._longest = 0
        self._last = 0

    def offer(self, edits: Sequence[Edit]) -> bool:
        """Accept all of the edits, or none if one of them meets an edit accepted before."""
        fresh = [each for each in edits if each.start >= self._last or not self._has(each)]
        if any(each.start < self._last and self._meets(each) for each in fresh):
            return False
        for each in fresh:
            place = bisect_right(self._starts, each.start)
            self._starts.insert(place, each.start)
            self._edits.insert(place, each)
            self._longest = max(self._longest, each.end - each.start)
            self._last = max(self._last, each.end)
        return True

    def covers(self, start: int, end: int) -> bool:
        """Say whether an accepted edit replaces the range, or a part of it: then somebody has dealt with it."""
        return any(each.start < end and start < each.end for each in self._near(Edit(start, end, b"", "", "")))

    def in_order(self) -> list[Edit]:
        """Return the accepted edits by start; an edit comes before those inside it, an insertion before all there.

        Includes that are needed come first of all, so that no condition put around what follows holds them.
        """
        return sorted(
            self._edits, key=lambda each: (each.start, each.start != each.end, each.rule != "needs", -each.end)
        )

    def _near(self, edit: Edit) -> Iterable[Edit]:
        place = bisect_left(self._starts, edit.start - self._longest)
        while place < len(self._starts) and self._starts[place] <= edit.end:
            yield self._edits[place]
            place += 1

    def _has(self, edit: Edit) -> bool:
        return any(
            (other.start, other.end, other.replacement) == (edit.start, edit.end, edit.replacement)
            and edit.start != edit.end
            for other in self._near(edit)
        )

    def _meets(self, edit: Edit) -> bool:
        return any(_clash(edit, other) for other in self._near(edit))


def _clash(one: Edit, other: Edit) -> bool:
    """Say whether two edits overlap without one being inside a kept piece of the other."""
    if one.end <= other.start or other.end <= one.start:
        return False  # insertions at a border, and at the same place, stand side by side
    return not (_inside(one, other) or _inside(other, one))


def _inside(inner: Edit, outer: Edit) -> bool:
    if isinstance(outer.replacement, bytes):
        return False
    return any(
        isinstance(piece, Kept) and piece.start <= inner.start and inner.end <= piece.end for piece in outer.replacement
    )


def flatten(data: bytes, edits: Sequence[Edit]) -> list[Edit]:
    """Return the outermost edits with plain bytes as replacement, in order; `edits` as `Accepted.in_order` gives them."""
    flat = list[Edit]()
    at, index = 0, 0
    while index < len(edits):
        edit = edits[index]
        index += 1
        inner = list[Edit]()
        while index < len(edits) and edits[index].start < edit.end and edits[index].end <= edit.end:
            inner.append(edits[index])
            index += 1
        assert at <= edit.start, "resolved edits overlap"
        at = edit.end
        text = _rendered(data, edit, inner, 0)
        if data[edit.start : edit.end] != text:
            flat.append(Edit(edit.start, edit.end, text, edit.rule, edit.reason))
    return flat


def _rendered(data: bytes, edit: Edit, inner: Sequence[Edit], depth: int) -> bytes:
    if isinstance(edit.replacement, bytes):
        return edit.replacement
    parts = list[bytes]()
    for piece in edit.replacement:
        if isinstance(piece, bytes):
            parts.append(piece)
        elif depth > DEEPEST:
            parts.append(data[piece.start : piece.end])
        else:
            within = [each for each in inner if piece.start <= each.start and each.end <= piece.end]
            parts.append(_applied(data, piece, within, depth))
    return b"".join(parts)


def _applied(data: bytes, piece: Kept, within: Sequence[Edit], depth: int) -> bytes:
    parts, at, index = list[bytes](), piece.start, 0
    while index < len(within):
        edit = within[index]
        index += 1
        inner = list[Edit]()
        while index < len(within) and within[index].start < edit.end and within[index].end <= edit.end:
            inner.append(within[index])
            index += 1
        parts += [data[at : edit.start], _rendered(data, edit, inner, depth + 1)]
        at = edit.end
    return b"".join([*parts, data[at : piece.end]])


def apply(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Return the text with flat edits, in order, applied."""
    parts, at = list[bytes](), 0
    for edit in edits:
        assert isinstance(edit.replacement, bytes)
        parts += [data[at : edit.start], edit.replacement]
        at = edit.end
    return b"".join([*parts, data[at:]])
