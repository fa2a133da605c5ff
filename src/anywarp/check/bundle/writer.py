"""Writing a bundle while a program runs: what is written is there, whatever becomes of the program."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anywarp.check.bundle import blob
from anywarp.check.bundle.documents import dump
from anywarp.check.bundle.entries import Entry
from anywarp.check.bundle.reader import FORMAT, VERSION

_NAMED = 200
"""How many values that did not fit are named."""


class Budget:
    """How many bytes of values a recording may hold, and what did not fit."""

    def __init__(self, most: int) -> None:
        self.most, self.used = most, 0
        self.dropped, self.dropped_bytes = 0, 0
        self.names: dict[str, None] = {}

    def takes(self, size: int, name: str) -> bool:
        """Take `size` bytes, or note that `name` did not fit."""
        if self.used + size <= self.most:
            self.used += size
            return True
        self.dropped += 1
        self.dropped_bytes += size
        if len(self.names) < _NAMED:
            self.names[name] = None
        return False

    def as_json(self) -> dict[str, Any]:
        """Return what the manifest says of it."""
        out: dict[str, Any] = {"bytes": self.most, "used": self.used}
        if self.dropped:
            out["dropped"] = {"values": self.dropped, "bytes": self.dropped_bytes, "names": list(self.names)}
        return out


class Writer:
    """A bundle that is being written, into a folder that is there and the user's own. OSError where it cannot be."""

    def __init__(self, folder: Path, budget: int, manifest: Mapping[str, Any]) -> None:
        self.folder, self.budget = folder, Budget(budget)
        self._manifest: dict[str, Any] = {"format": FORMAT, "version": VERSION, "complete": False, **manifest}
        self._known = set[str]()
        self._count = 0
        self._entries = os.open(folder / "entries.jsonl", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        (folder / "blobs").mkdir(mode=0o700)
        self.describe()

    def describe(self, **facts: Any) -> None:
        """Write the manifest, with more facts in it, in the place of the earlier one."""
        self._manifest |= {**facts, "budget": self.budget.as_json(), "entries": self._count}
        _replace(self.folder / "bundle.json", dump(self._manifest) + b"\n")

    def keep(self, name: str, dtype: str, shape: tuple[int, ...], values: bytes | memoryview) -> str | None:
        """Keep a tensor's values and return their digest, None when the budget is used up; equal tensors are kept once."""
        head = blob.head(dtype, shape)
        state = hashlib.sha256(head)
        state.update(values)
        digest = state.hexdigest()
        if digest in self._known:
            return digest
        if not self.budget.takes(len(head) + len(values), name):
            return None
        _replace(self.folder / "blobs" / f"{digest}.safetensors", head, values)
        self._known.add(digest)
        return digest

    def add(self, entry: Entry) -> None:
        """Append an entry, whose blob has been kept before: whoever reads the entry finds it."""
        self.add_all([entry])

    def add_all(self, entries: list[Entry]) -> None:
        """Append entries in one write; their indices are given here."""
        lines = list[bytes]()
        for entry in entries:
            lines.append(dump({**entry.as_json(), "index": self._count}) + b"\n")
            self._count += 1
        _write(self._entries, b"".join(lines))

    def close(self, complete: bool, **facts: Any) -> None:
        """Write the manifest's last version."""
        self.describe(**facts, complete=complete)
        os.close(self._entries)


def _write(file: int, content: bytes | memoryview) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]


def _replace(path: Path, *content: bytes | memoryview) -> None:
    """Write a file so that it is whole or not there; private to the user."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        for part in content:
            _write(file, part)
        os.close(file)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
