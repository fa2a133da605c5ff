"""Write what was made of a tree: into a folder beside it, or in place with a list of edits that undoes it.

Names come from trees that nobody vouches for, so nothing is written outside the folder asked for, nothing through a link, and a
file is either the old one or the new one, never half of each.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FORMAT = 2
_HEAD = f'{{"format": {_FORMAT}, "run": "'.encode()
_BESIDE = ".anywarp-"
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
    parts = _parts(shown)
    try:
        os.makedirs(folder, exist_ok=True)
        with (
            _opened(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as root,
            _below(root, parts[:-1], make=True) as at,
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


class EditList:
    """A journal of the edits made in place below a folder, in a file there: what a run is about to do is on disk before it is done.

    Whatever ends a run, SIGKILL or a failing machine, the list leads back to what was there before. It is a line of JSON per
    record and only grows; a line that a killed run left unfinished is for a file that was not touched. Its lock keeps a second
    run out, which is refused.
    """

    def __init__(self, folder: str | Path, name: str) -> None:
        self.folder = Path(folder)
        self.place = self.folder / name
        self._name = name

    @classmethod
    def of(cls, source: Path, name: str) -> EditList:
        """Return the list of a folder, or of a single file, beside it; `source` may be the list itself."""
        if source.name.endswith(name):
            return cls(source.parent, source.name)
        return cls(source, name) if source.is_dir() else cls(source.parent, f".{source.name}{name}")

    @contextlib.contextmanager
    def run(self) -> Generator[EditRun]:
        """Begin a run, which nobody else does here at the same time; WritingError where somebody does, or no list can be kept."""
        with self._open(create=True) as (root, descriptor):
            before, end = self._runs(descriptor)
            os.ftruncate(descriptor, end)
            if before:
                _sweep(root, before[-1])
            try:
                yield EditRun(root, self.folder, descriptor)
            finally:
                if not self._runs(descriptor)[0]:
                    os.unlink(self._name, dir_fd=root)

    def undo(self) -> Iterator[tuple[str, str]]:
        """Undo the last run: yield each file, with "" or the reason why it could not be undone; what could not stays on the list.

        Files that the run, or an undo before this one, was stopped before are as they were, and need nothing.
        """
        with self._open(create=False) as (root, descriptor):
            runs, end = self._runs(descriptor)
            if not runs:
                os.unlink(self._name, dir_fd=root)
                raise WritingError(f"{self.place}: no run is left to undo")
            run = runs[-1]
            undone: list[int] = []
            for number, entry in reversed(run.entries.items()):
                problem = _undo(root, entry, run.beside)
                if not problem:
                    undone.append(number)
                yield str(entry.get("path", "")), problem
            _sweep(root, run)
            if len(undone) < len(run.entries):
                os.ftruncate(descriptor, end)
                with contextlib.suppress(OSError):  # what was undone is found to be so next time, list or not
                    _append(descriptor, {"undone": undone})
            elif len(runs) > 1:
                os.ftruncate(descriptor, run.start)
                os.fsync(descriptor)
            else:
                os.unlink(self._name, dir_fd=root)

    def left(self) -> int:
        """Return how many runs could be undone."""
        try:
            with self._open(create=False) as (_, descriptor):
                return len(self._runs(descriptor)[0])
        except WritingError:
            return 0

    @contextlib.contextmanager
    def _open(self, create: bool) -> Generator[tuple[int, int]]:
        """Open the folder, and the list in it, locked."""
        with contextlib.ExitStack() as opened:
            try:
                root = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                opened.callback(os.close, root)
                descriptor = self._locked(root, create)
                opened.callback(os.close, descriptor)
            except BlockingIOError:
                message = f"another run is changing files in {self.folder}, or taking changes back, at this moment"
                raise WritingError(message) from None
            except OSError as error:
                if isinstance(error, FileNotFoundError) and not create:
                    raise WritingError(f"{self.place}: no run is left to undo") from None
                message = f"{self.place}, the list of edits, cannot be kept: {error.strerror or error}"
                raise WritingError(message) from None
            yield root, descriptor

    def _locked(self, root: int, create: bool) -> int:
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        while True:
            descriptor = os.open(self._name, flags, 0o644, dir_fd=root)
            try:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise OSError("it is not a regular file")
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is(root, self._name, descriptor):
                    return descriptor
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)  # whoever had it took it away at the end

    def _runs(self, descriptor: int) -> tuple[list[_Recorded], int]:
        """Read the list; return its runs, and where the line ends behind which a killed run left half a line."""
        with open(os.dup(descriptor), "rb") as file:
            file.seek(0)
            data = file.read()
        found: list[_Recorded] = []
        end = data.rfind(b"\n") + 1
        at = 0
        try:
            if not _HEAD.startswith(data[: len(_HEAD)]):
                raise ValueError("it begins with something else")
            for line in data[:end].split(b"\n")[:-1]:
                record: Any = json.loads(line)
                if not isinstance(record, dict):
                    raise ValueError("a line is no record")
                _note(found, cast(dict[str, Any], record), at)
                at += len(line) + 1
        except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
            raise WritingError(f"{self.place} is no list of edits of this version: {error}") from None
        return [each for each in found if each.entries], end


@dataclass(slots=True)
class _Recorded:
    """One run as the list has it: where it begins there, the name its unfinished files have, and its entries by their numbers."""

    start: int
    beside: str
    entries: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    count: int = 0


def _note(found: list[_Recorded], record: dict[str, Any], at: int) -> None:
    """Take in one record of a list: a run begins, or an entry, or entries that are done with."""
    if "run" in record:
        if record["format"] != _FORMAT or not re.fullmatch(r"[0-9a-f]{16}", record["run"]):
            raise ValueError("its format is another")
        found.append(_Recorded(at, _BESIDE + record["run"]))
    elif "undone" in record:
        for number in record["undone"]:
            found[-1].entries.pop(number, None)
    else:
        found[-1].entries[found[-1].count] = record
        found[-1].count += 1


class EditRun:
    """Changes files below a folder, each only after the list says how to change it back."""

    def __init__(self, root: int, folder: Path, descriptor: int) -> None:
        self._root = root
        self._folder = folder
        self._list = descriptor
        self._token = secrets.token_hex(8)
        self._count = 0

    def replace(self, shown: str, old: bytes, edits: Sequence[Edit]) -> None:
        """Make edits, in ascending order, in a file that holds `old`, keeping its mode; WritingError where it does not, or is a link."""
        kept: list[dict[str, Any]] = []
        shift = 0
        for edit in edits:
            kept.append({"at": edit.start + shift, "old": _text(old[edit.start : edit.end]), "new": _text(edit.text)})
            shift += len(edit.text) - (edit.end - edit.start)
        new = apply(old, edits)
        with self._at(shown, "replaced") as (at, name):
            _expect(at, name, old)
            self._note({"path": shown, "before": _digest(old), "after": _digest(new), "edits": kept})
            try:
                _put(at, name, new, _expect(at, name, old), _BESIDE + self._token)
            except OSError:
                if _digest(_read(at, name)) != _digest(new):
                    self._forget()
                raise

    def write(self, shown: str, data: bytes) -> None:
        """Write a file that need not be there; undoing gives back what it held, or takes it away as long as it holds `data`."""
        with self._at(shown, "written") as (at, name):
            try:
                old = _read(at, name)
            except FileNotFoundError:
                self._note({"path": shown, "created": True, "after": _digest(data)})
                _put(at, name, data, 0o644, _BESIDE + self._token)
                return
        if old != data:
            self.replace(shown, old, [Edit(0, len(old), data)])

    @contextlib.contextmanager
    def _at(self, shown: str, done: str) -> Generator[tuple[int, str]]:
        place = self._folder / shown
        try:
            with _below(self._root, _parts(shown)[:-1], make=False) as at:
                yield at, _parts(shown)[-1]
        except OSError as error:
            raise WritingError(f"{place} cannot be {done}: {error.strerror or error}") from None

    def _note(self, entry: dict[str, Any]) -> None:
        begin = [] if self._count else [{"format": _FORMAT, "run": self._token}]
        _append(self._list, *begin, entry)
        if begin:
            os.fsync(self._root)
        self._count += 1

    def _forget(self) -> None:
        """Take the last entry, whose file was not changed, off the list; where that fails, undoing finds the file as it was."""
        with contextlib.suppress(OSError):
            _append(self._list, {"undone": [self._count - 1]})


def _undo(root: int, entry: dict[str, Any], beside: str) -> str:
    """Undo one entry of a list; return the reason where that cannot be."""
    try:
        parts = _parts(str(entry["path"]))
        with _below(root, parts[:-1], make=False) as at:
            try:
                new = _read(at, parts[-1])
            except FileNotFoundError:
                if entry.get("created") is True:
                    return ""
                raise
            if _digest(new) == entry.get("before"):
                return ""
            if _digest(new) != entry["after"]:
                return "it was changed since"
            if entry.get("created") is True:
                os.unlink(parts[-1], dir_fd=at)
                return ""
            edits = cast(list[dict[str, Any]], entry["edits"])
            back = [Edit(e["at"], e["at"] + len(_bytes(e["new"])), _bytes(e["old"])) for e in edits]
            old = apply(new, back)
            if _digest(old) != entry["before"]:
                return "its edits do not lead back to what it was"
            _put(at, parts[-1], old, _expect(at, parts[-1], new), beside)
    except (OSError, KeyError, TypeError, ValueError) as error:
        return (error.strerror if isinstance(error, OSError) else None) or str(error)
    return ""


def _sweep(root: int, run: _Recorded) -> None:
    """Take away what a killed run left unfinished beside its files, and have on disk what was renamed there."""
    folders = {tuple(str(entry.get("path", "")).split("/")[:-1]) for entry in run.entries.values()}
    for parts in folders:
        with (
            contextlib.suppress(OSError, ValueError),
            _below(root, _parts("/".join((*parts, "x")))[:-1], make=False) as at,
        ):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(run.beside, dir_fd=at)
            os.fsync(at)


def _append(descriptor: int, *records: dict[str, Any]) -> None:
    """Add lines to a list and have them on disk; where not all of it can be, the list is as before."""
    data = memoryview("".join(json.dumps(each) + "\n" for each in records).encode())
    end = os.lseek(descriptor, 0, os.SEEK_END)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    except BaseException:
        os.ftruncate(descriptor, end)
        raise


def _is(root: int, name: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(name, dir_fd=root, follow_symlinks=False), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _parts(shown: str) -> list[str]:
    parts = shown.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise WritingError(f"{shown!r} is no path below a folder")
    return parts


def _read(at: int, name: str) -> bytes:
    """Return what a regular file in an open folder holds; OSError for a link or anything else."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(name, flags, dir_fd=at), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("it is not a regular file")
        return file.read()


def _expect(at: int, name: str, old: bytes) -> int:
    """Return the mode of a file that holds `old`; OSError where it does not."""
    status = os.stat(name, dir_fd=at, follow_symlinks=False)
    if not stat.S_ISREG(status.st_mode):
        raise OSError("it is not a regular file")
    if status.st_size != len(old) or _read(at, name) != old:
        raise OSError("it was changed meanwhile")
    return stat.S_IMODE(status.st_mode)


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
def _below(root: int, parts: Sequence[str], make: bool) -> Generator[int]:
    """Open the folder that `parts` lead to from `root`, following no link; what is missing is made, if wished."""
    at = os.dup(root)
    try:
        for part in parts:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=at)
            inner = os.open(part, _FOLDER, dir_fd=at)
            os.close(at)
            at = inner
        yield at
    finally:
        os.close(at)


def _put(at: int, name: str, data: bytes | Iterable[bytes], mode: int, beside: str = "") -> None:
    """Write a file in an open folder: beside its place, then renamed; a link or folder in its place is an error.

    With the name that it shall have `beside`, it is on disk before it is renamed.
    """
    try:
        if not stat.S_ISREG(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
            raise OSError("something that is not a regular file is in its place")
    except FileNotFoundError:
        pass
    durable = bool(beside)
    if durable:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=at)
    beside = beside or _BESIDE + secrets.token_hex(8)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=at)
    try:
        with open(descriptor, "wb") as file:
            file.writelines([data] if isinstance(data, bytes) else data)
            os.fchmod(file.fileno(), mode)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(beside, name, src_dir_fd=at, dst_dir_fd=at)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside, dir_fd=at)
        raise
