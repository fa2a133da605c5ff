"""Unified diffs made from the edits themselves, so that nothing is shown as changed that was not.

What compares two texts guesses which lines belong together; whoever made the edits knows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from anywarp.migrate.writing import Edit, apply

CONTEXT = 3
"""Unchanged lines shown around a change."""


@dataclass(frozen=True)
class _Change:
    """Old lines `[start, end)` become the new ones."""

    start: int
    end: int
    old: list[bytes]
    new: list[bytes]


def unified(old: bytes, edits: Sequence[Edit], name: str, new_name: str) -> str:
    """Return the unified diff of edits in ascending order, none overlapping; empty if nothing changes.

    Bytes that are no UTF-8 are shown as escapes; names must be fit to be shown.
    """
    lines = _lines(old)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    changes = [change for change in _changes(old, edits, lines, starts) if change.old != change.new]
    if not changes:
        return ""
    parts, shift = [f"--- {name}\n", f"+++ {new_name}\n"], 0
    for hunk in _hunks(changes):
        parts.append(_text(lines, hunk, shift))
        shift += sum(len(each.new) - len(each.old) for each in hunk)
    return "".join(parts)


def _lines(text: bytes) -> list[bytes]:
    lines = text.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _changes(old: bytes, edits: Sequence[Edit], lines: list[bytes], starts: list[int]) -> Iterator[_Change]:
    """Yield one change for the edits that touch the same or neighbouring lines, without lines equal at its ends."""
    block, first, last = list[Edit](), 0, 0
    for edit in edits:
        begin = min(bisect_right(starts, edit.start) - 1, max(0, len(lines) - 1))
        joins = edit.end > edit.start and old[edit.end - 1 : edit.end] == b"\n" and not edit.text.endswith(b"\n")
        end = min(bisect_right(starts, max(edit.end - 1, edit.start)) + joins, len(lines))
        if block and begin >= last:
            yield _change(old, block, first, last, lines, starts)
            block = []
        first = first if block else begin
        last = max(last, end) if block else end
        block.append(edit)
    if block:
        yield _change(old, block, first, last, lines, starts)


def _change(old: bytes, block: list[Edit], first: int, last: int, lines: list[bytes], starts: list[int]) -> _Change:
    base, limit = starts[first], starts[last]
    inner = [Edit(each.start - base, each.end - base, each.text) for each in block]
    before, after = lines[first:last], _lines(apply(old[base:limit], inner))
    while before and after and before[0] == after[0]:
        before, after, first = before[1:], after[1:], first + 1
    while before and after and before[-1] == after[-1]:
        before, after, last = before[:-1], after[:-1], last - 1
    return _Change(first, last, before, after)


def _hunks(changes: list[_Change]) -> Iterator[list[_Change]]:
    hunk = [changes[0]]
    for each in changes[1:]:
        if each.start - hunk[-1].end > 2 * CONTEXT:
            yield hunk
            hunk = []
        hunk.append(each)
    yield hunk


def _text(lines: list[bytes], hunk: list[_Change], shift: int) -> str:
    start, end = max(0, hunk[0].start - CONTEXT), min(len(lines), hunk[-1].end + CONTEXT)
    longer = sum(len(each.new) - len(each.old) for each in hunk)
    head = f"@@ -{_range(start, end - start)} +{_range(start + shift, end - start + longer)} @@\n"
    parts, at = [head], start
    for each in hunk:
        parts += [_shown(" ", line) for line in lines[at : each.start]]
        parts += [_shown("-", line) for line in each.old] + [_shown("+", line) for line in each.new]
        at = each.end
    parts += [_shown(" ", line) for line in lines[at:end]]
    return "".join(parts)


def _range(start: int, count: int) -> str:
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _shown(sign: str, line: bytes) -> str:
    text = sign + line.decode("utf-8", "backslashreplace")
    return text if text.endswith("\n") else text + "\n\\ No newline at end of file\n"
