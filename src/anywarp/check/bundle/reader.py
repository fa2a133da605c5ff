"""Reading a bundle, whoever wrote it: everything is checked, and nothing is believed that is not."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import TracebackType
from typing import Any, cast

from anywarp.check.bundle import blob, limits
from anywarp.check.bundle.documents import parse
from anywarp.check.bundle.entries import Entry, read_entry
from anywarp.check.bundle.places import Archive, Folder, Place
from anywarp.check.bundle.problems import damaged, excessive, not_there
from anywarp.check.bundle.recording import Recording
from anywarp.diagnostics import AnywarpError, Diagnostic

FORMAT, VERSION = "anywarp-recording", 1


class Bundle(Recording):
    """A recording that is open for reading."""

    def __init__(self, place: Place, path: Path, prefix: str = "") -> None:
        self._place, self._prefix, self.path = place, prefix, path
        self.manifest = _manifest(place, path, prefix)
        self.notes = list[str]()
        """What the reader found: an end that is missing, a line that was torn."""
        self.entries = _entries(place, prefix, self.notes)
        if self.manifest.get("complete") is not True:
            self.notes.append("the program that was recorded did not come to its end: what it had written is used")

    @property
    def parts(self) -> list[str]:
        """Return the names of the bundles of ranks and further processes within this one."""
        return _names(self.manifest.get("parts"))

    def part(self, name: str) -> Bundle:
        """Open a bundle within this one; AnywarpError as open_bundle."""
        if name not in self.parts:
            raise not_there(self.path / name, "the recording names no such part")
        return Bundle(self._place, self.path, f"{self._prefix}{name}/")

    def read(self, entry: Entry) -> memoryview:
        """Return the bytes of an entry's values, little-endian, contiguous; AnywarpError: V002, V003."""
        if entry.blob is None:
            raise damaged(entry.name, "its values were not recorded")
        name = f"blobs/{entry.blob}.safetensors"
        content = self._place.read(self._prefix + name, 8 + limits.HEADER_BYTES + entry.size)
        if content is None:
            raise damaged(name, "it is missing")
        if hashlib.sha256(content).hexdigest() != entry.blob:
            raise damaged(name, "its content is not what was recorded (its digest is another)")
        return blob.values(content, entry.dtype, entry.shape, name)

    def file(self, name: str, most: int) -> bytes | None:
        """Return another file of the bundle, None where there is none; AnywarpError: V002, V003."""
        return self._place.read(self._prefix + name, most)

    def close(self) -> None:
        """Let go of the files."""
        self._place.close()

    def __enter__(self) -> Bundle:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def open_bundle(path: Path) -> Bundle:
    """Open a recording: a folder, or a .tar of one. AnywarpError: V001, V002, V003, V005 (a later format)."""
    place = Folder(path) if path.is_dir() else Archive(path)
    try:
        return Bundle(place, path)
    except BaseException:
        place.close()
        raise


def _manifest(place: Place, path: Path, prefix: str) -> dict[str, Any]:
    name = f"{prefix}bundle.json"
    content = place.read(name, limits.MANIFEST_BYTES)
    if content is None:
        raise not_there(path, f"there is no {name} in it")
    found = parse(content, name)
    if found.get("format") != FORMAT:
        raise not_there(path, f"{name} is not of a recording")
    if found.get("version") != VERSION:
        text = (
            f"the recording has version {str(found.get('version'))[:20]!r} of its format; this anywarp reads {VERSION}"
        )
        raise AnywarpError(Diagnostic("V005", text, help="read it with the anywarp that recorded it, or a later one"))
    return found


def _names(found: Any) -> list[str]:
    if found is None:
        return []
    items: list[Any] = cast("list[Any]", found) if isinstance(found, list) else [None]
    plain = all(isinstance(n, str) and n.replace("-", "").isalnum() and n.isascii() and len(n) < 100 for n in items)
    if not plain or len(set(items)) != len(items):
        raise damaged("bundle.json", "the names of its parts are none")
    if len(items) > limits.PARTS:
        raise excessive("bundle.json", f"it has {len(items):,} parts")
    return items


def _entries(place: Place, prefix: str, notes: list[str]) -> list[Entry]:
    name = f"{prefix}entries.jsonl"
    content = place.read(name, limits.ENTRIES_BYTES)
    if content is None:
        return []
    if (count := content.count(b"\n")) > limits.ENTRIES:
        raise excessive(name, f"it has {count:,} entries")
    lines = content.split(b"\n")
    if lines[-1]:
        notes.append("the last line of its entries was torn, and is left out")
    found = list[Entry]()
    for number, line in enumerate(lines[:-1]):
        where = f"{name}, line {number + 1}"
        if len(line) > limits.LINE_BYTES:
            raise excessive(where, f"it has {len(line):,} bytes")
        found.append(read_entry(parse(line, where), where))
    return found
