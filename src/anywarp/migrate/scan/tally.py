"""Uses of one name in one file, counted, so that a report has a line per name and file instead of one per occurrence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from anywarp.migrate.findings import Use

Details = tuple[tuple[str, str], ...]
_LISTED = 20
_KEPT = 2000


@dataclass(slots=True)
class _Entry:
    offset: int
    count: int = 0
    lines: list[int] = field(default_factory=list[int])


class Tally:
    """Collects what is used where; `uses` gives one Use per subject, name and details, at its first place, with `count` and `lines`."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str, Details], _Entry] = {}

    def __bool__(self) -> bool:
        return bool(self._entries)

    def add(self, subject: str, name: str, offset: int, details: Details = ()) -> None:
        """Count one use at a byte offset of the text."""
        key = (subject, name, details)
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = _Entry(offset)
        entry.count += 1
        if offset < entry.offset:
            entry.offset = offset
        if len(entry.lines) < _KEPT:
            entry.lines.append(offset)

    def __len__(self) -> int:
        return len(self._entries)

    def has(self, subject: str) -> bool:
        """Tell whether anything of that subject was counted."""
        return any(key[0] == subject for key in self._entries)

    def uses(
        self,
        place: Callable[[int], tuple[int, int]],
        text: Callable[[int], str],
        more: Details = (),
    ) -> Iterator[Use]:
        """Yield the uses in the order of their first places; `more` is added to the details of each."""
        for (subject, name, own), entry in sorted(self._entries.items(), key=lambda item: (item[1].offset, item[0])):
            line, column = place(entry.offset)
            lines = list(dict.fromkeys(place(offset)[0] for offset in sorted(entry.lines)))[:_LISTED]
            details = (("count", str(entry.count)), ("lines", ",".join(map(str, lines))), *own, *more)
            yield Use(subject, name, line, column, text(entry.offset), details)
