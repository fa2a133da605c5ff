"""Uses of one name in one file, counted, so that a report has a line per name and file instead of one per occurrence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from anywarp.migrate.findings import Use

_LISTED = 20


@dataclass(slots=True)
class _Entry:
    offset: int
    count: int = 0
    lines: list[int] = field(default_factory=list[int])
    details: tuple[tuple[str, str], ...] = ()


class Tally:
    """Collects what is used where; `uses` gives one Use per subject and name, at its first place, with `count` and `lines`."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], _Entry] = {}

    def __bool__(self) -> bool:
        return bool(self._entries)

    def add(self, subject: str, name: str, offset: int, details: tuple[tuple[str, str], ...] = ()) -> None:
        """Count one use at a byte offset of the text."""
        entry = self._entries.get((subject, name))
        if entry is None:
            entry = self._entries[subject, name] = _Entry(offset, details=details)
        entry.count += 1
        if len(entry.lines) < _LISTED:
            entry.lines.append(offset)

    def has(self, subject: str) -> bool:
        """Tell whether anything of that subject was counted."""
        return any(key[0] == subject for key in self._entries)

    def uses(
        self,
        place: Callable[[int], tuple[int, int]],
        text: Callable[[int], str],
        more: tuple[tuple[str, str], ...] = (),
    ) -> Iterator[Use]:
        """Yield the uses in the order of their first places; `more` is added to the details of each."""
        for (subject, name), entry in sorted(self._entries.items(), key=lambda item: (item[1].offset, item[0])):
            line, column = place(entry.offset)
            lines = dict.fromkeys(place(offset)[0] for offset in entry.lines)
            details = (("count", str(entry.count)), ("lines", ",".join(map(str, lines))), *entry.details, *more)
            yield Use(subject, name, line, column, text(entry.offset), details)
