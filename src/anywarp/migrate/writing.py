"""Write what was made of a tree: into a folder beside it, or in place with a list of edits that undoes it.

Names come from trees that nobody vouches for, so nothing is written outside the folder asked for, nothing through a link, and a
file is either the old one or the new one, never half of each.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FORMAT = 1
_CHUNK = 1 << 20


class WritingError(OSError):
    """Raised when a file cannot be written, or not safely; says which and why."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes `[start, end)` of the old text became `text`."""

    start: int
    end: int
    text: bytes


def apply(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Return `data` with edits in ascending order, none overlapping another, made at once."""
    parts: list[bytes] = []
    done = 0
    for edit in edits:
        parts += (data[done : edit.start], edit.text)
        done = edit.end
    return b"".join([*parts, data[done:]])


def write_below(folder: str | Path, shown: str, data: bytes | Iterable[bytes], mode: int = 0o644) -> None:
    """Write a file below `folder`, whose parts are separated by `/` in `shown`, making folders as needed; WritingError otherwise.

    The folder itself may be reached through links; below it, a link in the way is an error.
    """
    parts = shown.split("/")
    if not shown or any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise WritingError(f"{shown!r} is no path below a folder")
    try:
        os.makedirs(folder, exist_ok=True)
        with (
            _opened(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as root,
            _below(root, parts[:-1]) as at,
        ):
            _put(at, parts[-1], data, mode)
    except OSError as error:
        raise WritingError(f"{shown} cannot be written: {error.strerror or error}") from None


def copy_below(folder: str | Path, shown: str, place: str | Path) -> None:
    """Copy a regular file of any size below `folder`, as `write_below` writes one; WritingError when that cannot be done."""
    try:
        with open(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise OSError("it is not a regular file")
            write_below(folder, shown, iter(lambda: file.read(_CHUNK), b""), stat.S_IMODE(status.st_mode))
    except WritingError:
        raise
    except OSError as error:
        raise WritingError(f"{shown} cannot be copied: {error.strerror or error}") from None


def replace(place: str | Path, old: bytes, new: bytes) -> None:
    """Replace the content of a regular file that still holds `old`, keeping its mode; WritingError where it does not, or is a link."""
    head, tail = os.path.split(os.path.abspath(place))
    try:
        with _opened(os.open(head, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as at:
            status = os.stat(tail, dir_fd=at, follow_symlinks=False)
            if not stat.S_ISREG(status.st_mode):
                raise OSError("it is not a regular file")
            with open(os.open(tail, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at), "rb") as file:
                if file.read(len(old) + 1) != old:
                    raise OSError("it was changed meanwhile")
            _put(at, tail, new, stat.S_IMODE(status.st_mode))
    except OSError as error:
        raise WritingError(f"{os.fspath(place)} cannot be replaced: {error.strerror or error}") from None


class EditList:
    """The edits made in place below a folder, kept in a file there, run by run, so that the last run can be undone."""

    def __init__(self, folder: str | Path, name: str) -> None:
        self.folder = Path(folder)
        self.place = self.folder / name
        self._name = name
        self._files: list[dict[str, Any]] = []
        self._before: list[dict[str, Any]] | None = None

    def add(self, shown: str, old: bytes, edits: Sequence[Edit]) -> None:
        """Note the edits of one file, in ascending order."""
        kept: list[dict[str, Any]] = []
        shift = 0
        for edit in edits:
            kept.append({"at": edit.start + shift, "old": _text(old[edit.start : edit.end]), "new": _text(edit.text)})
            shift += len(edit.text) - (edit.end - edit.start)
        new = apply(old, edits)
        self._files.append({"path": shown, "before": _digest(old), "after": _digest(new), "edits": kept})

    def created(self, shown: str, data: bytes) -> None:
        """Note a file that was not there before, which undoing takes away as long as it holds `data`."""
        self._files.append({"path": shown, "created": True, "after": _digest(data)})

    def save(self) -> None:
        """Write the list with this run added; nothing is written when nothing was edited. May be called after each file."""
        if not self._files:
            return
        if self._before is None:
            self._before = self._runs()
        self._write([*self._before, {"files": self._files}])

    def undo(self) -> Iterator[tuple[str, str]]:
        """Undo the last run: yield each file, with "" or the reason why it could not be undone; what could not stays on the list."""
        runs = self._runs()
        if not runs:
            raise WritingError(f"{self.place}: no run is left to undo")
        left: list[dict[str, Any]] = []
        for entry in cast(list[dict[str, Any]], runs[-1].get("files", [])):
            problem = self._undo(entry)
            if problem:
                left.append(entry)
            yield str(entry.get("path", "")), problem
        runs = [*runs[:-1], *([{"files": left}] if left else [])]
        if runs:
            self._write(runs)
        else:
            self.place.unlink()

    def _undo(self, entry: dict[str, Any]) -> str:
        try:
            shown = str(entry["path"])
            if any(part in ("", ".", "..") for part in shown.split("/")):
                return "it lies outside the folder"
            place = self.folder / shown
            new = place.read_bytes()
            if _digest(new) != entry["after"]:
                return "it was changed since"
            if entry.get("created") is True:
                place.unlink()
                return ""
            edits = cast(list[dict[str, Any]], entry["edits"])
            back = [Edit(e["at"], e["at"] + len(_bytes(e["new"])), _bytes(e["old"])) for e in edits]
            old = apply(new, back)
            if _digest(old) != entry["before"]:
                return "its edits do not lead back to what it was"
            replace(place, new, old)
        except (OSError, KeyError, TypeError, ValueError) as error:
            return str(error)
        return ""

    def _runs(self) -> list[dict[str, Any]]:
        try:
            content: Any = json.loads(self.place.read_text("utf-8"))
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise WritingError(f"{self.place} cannot be read as a list of edits: {error}") from None
        if not isinstance(content, dict) or cast(dict[str, Any], content).get("format") != _FORMAT:
            raise WritingError(f"{self.place} is no list of edits of this version")
        return list(cast(dict[str, Any], content).get("runs", []))

    def _write(self, runs: list[dict[str, Any]]) -> None:
        text = json.dumps({"format": _FORMAT, "runs": runs}, indent=1) + "\n"
        write_below(self.folder, self._name, text.encode())


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: Any) -> bytes:
    return str(text).encode("utf-8", "surrogateescape")


@contextlib.contextmanager
def _opened(descriptor: int) -> Generator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _below(root: int, parts: Sequence[str]) -> Generator[int]:
    """Open the folder that `parts` lead to from `root`, making what is missing and following no link."""
    at = os.dup(root)
    try:
        for part in parts:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=at)
            inner = os.open(part, _FOLDER, dir_fd=at)
            os.close(at)
            at = inner
        yield at
    finally:
        os.close(at)


def _put(at: int, name: str, data: bytes | Iterable[bytes], mode: int) -> None:
    """Write a file in an open folder: beside its place, then renamed; a link or folder in its place is an error."""
    try:
        if not stat.S_ISREG(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
            raise OSError("something that is not a regular file is in its place")
    except FileNotFoundError:
        pass
    beside = f".anywarp-{secrets.token_hex(8)}"
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=at)
    try:
        with open(descriptor, "wb") as file:
            file.writelines([data] if isinstance(data, bytes) else data)
            os.fchmod(file.fileno(), mode)
        os.replace(beside, name, src_dir_fd=at, dst_dir_fd=at)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside, dir_fd=at)
        raise
