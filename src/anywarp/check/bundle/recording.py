"""What a recording is to whoever compares it: of one process, or of several, put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol, cast

from anywarp.check.bundle.entries import Entry
from anywarp.check.bundle.problems import shown


class Recording(Protocol):
    """Values of a run of a program and what is known of it."""

    manifest: dict[str, Any]
    notes: list[str]
    entries: list[Entry]

    def read(self, entry: Entry) -> memoryview:
        """Return the bytes of an entry's values, little-endian, contiguous; AnywarpError: V002, V003."""
        ...

    def owner(self, entry: Entry, places: Sequence[Sequence[int]]) -> str:
        """Return which rank all these elements of a value come from, in words; nothing where there is only one."""
        return ""

    def mapping(self, name: str) -> dict[str, Any]:
        """Return an object of the manifest, an empty one where there is none."""
        found = self.manifest.get(name)
        return cast("dict[str, Any]", found) if isinstance(found, dict) else {}

    def texts(self, name: str) -> list[str]:
        """Return a list of texts of the manifest, in a form that can be shown."""
        found = self.manifest.get(name)
        items = cast("list[Any]", found) if isinstance(found, list) else []
        return [shown(item, 500) for item in items[:1000]]

    @cached_property
    def found(self) -> Mapping[tuple[str, int, int, str, str], Entry]:
        """The entries of the program's own run by their keys; of several with one key, the first."""
        found: dict[tuple[str, int, int, str, str], Entry] = {}
        for entry in self.entries:
            if entry.run == "propagated":
                found.setdefault(entry.key, entry)
        return found

    @cached_property
    def precise(self) -> Mapping[tuple[str, int, int, str], Entry]:
        """The results in float64, by name, call, visit and slot."""
        return {(*e.key[:3], e.slot): e for e in self.entries if e.run == "precise"}
