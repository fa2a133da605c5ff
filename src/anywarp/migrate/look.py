"""Looks into one file, whatever it is: asks the scanners that want it, opens it if it holds others, and bounds what comes out.

The outcome depends on the bytes, the last parts of the name and the scanners alone, so that it can be kept (`facts.py`).
"""

from __future__ import annotations

import hashlib
import mmap
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePath, PurePosixPath
from typing import Any, BinaryIO, cast

from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.migrate import codes
from anywarp.migrate.findings import Use
from anywarp.migrate.scan import HEAD, Container, Doors, Member, Scanner, cut
from anywarp.migrate.scan.lines import utf8
from anywarp.migrate.tree import File, open_regular

MOST_PLACES = 20_000
"""Most uses that are kept of one file; a generated file may have millions."""

MOST_INSIDE = 200_000
"""Most uses that are kept of an archive with all it holds."""

DEEPEST = 4
"""How deep archives are opened in archives: a layer in a saved image in an archive, with a wheel in it."""

INSTALLED = frozenset({"site-packages", "dist-packages"})
"""Folders whose content others made."""

_WIDE = (b"\xff\xfe", b"\xfe\xff")
"""What begins a text in UTF-16."""
_MAPPED_FROM, _SPOOLED_FROM = 1 << 20, 64 << 20
_SYSTEM = ("usr/", "lib/", "lib64/", "bin/", "sbin/", "etc/", "var/lib/", "opt/nvidia/", "opt/conda/", "opt/rocm")
_OWN = ("usr/src/", "usr/local/src/", "usr/local/app")
_TEXT, _NAME, _DETAILS = 240, 400, 64

Row = list[Any]
"""A use as it is kept: [inner path, subject, name, line, column, text, details]."""


@dataclass(slots=True)
class Seen:
    """What one file (with all it holds) says: rows of uses, and problems as [inner path, code, message, severity, help]."""

    uses: list[Row] = field(default_factory=list[Row])
    problems: list[Row] = field(default_factory=list[Row])


@dataclass(slots=True)
class Look:
    """How to look: who is asked, and who is told after each member that the work goes on."""

    doors: Doors
    alive: Callable[[], None] = lambda: None


def wanted(look: Look, path: PurePath, head: bytes, installed: bool) -> tuple[list[Scanner], Container | None]:
    """Return the scanners that want a file and the container that opens it; of what is installed, only those that say so."""
    head = utf8(head) if head[:2] in _WIDE else head
    scanners = [s for s in look.doors.scanners if (s.installed or not installed) and s.wants(path, head)]
    return scanners, next((c for c in look.doors.containers if c.wants(path, head)), None)


def key_of(file: BinaryIO, path: PurePath, how: str, alive: Callable[[], None] = lambda: None) -> str:
    """Return what a file's facts are kept under: a hash of its bytes, of the last parts of its name, and of how it is looked at."""
    digest = hashlib.blake2b(digest_size=32, person=b"anywarp facts")
    digest.update(os.fsencode(f"{path.as_posix()}\0{how}\0"))
    file.seek(0)
    while data := file.read(1 << 20):
        digest.update(data)
        alive()
    return digest.hexdigest()


def is_installed(shown: str) -> bool:
    """Tell whether a path lies in a folder of packages that others made."""
    return not INSTALLED.isdisjoint(shown.split("/")[:-1])


def look_into(file: File, look: Look, known: Callable[[str], bool] = lambda key: False) -> tuple[str, Seen | None]:
    """Return a file's key and what it says; the key is empty when nobody wants the file. AnywarpError when it cannot be read.

    None instead of what it says where `known` tells that the key's facts are kept.
    """
    place, shown = file.place, file.shown
    path, installed = cut(PurePath(shown)), file.installed or is_installed(shown)
    try:
        with open_regular(place) as stream:
            head = stream.read(HEAD)
            scanners, container = wanted(look, path, head, installed)
            if not scanners and container is None:
                return "", Seen()
            key = ""
            if container is not None or any(
                s.last is None for s in scanners
            ):  # a sweep alone is quicker than to keep it
                key = key_of(stream, path, f"{installed} {file.named}", look.alive)
            if key and known(key):
                return key, None
            stream.seek(0)
            seen = Seen()
            _scan(stream, os.fstat(stream.fileno()).st_size, path, scanners, seen, "")
            if container is not None:
                stream.seek(0)
                kind = "source" if file.named and _holds(shown) == "package" else _holds(shown)
                _open(stream, path, container, look, seen, _Inside("", 1, kind, installed))
            return key, seen
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise codes.problem(codes.UNREADABLE, f"it cannot be read: {reason}") from None


def _scan(file: BinaryIO, size: int, path: PurePath, scanners: list[Scanner], seen: Seen, inner: str) -> None:
    """Give the bytes to each scanner, once read for all of them."""
    able = [s for s in scanners if size <= s.largest]
    if scanners and not able:
        most = max(s.largest for s in scanners)
        _problem(seen, inner, codes.diagnostic(codes.TOO_LARGE, f"it has {size:,} bytes, and {most:,} are looked into"))
    if not able:
        return
    data = _data(file, size, all(s.mapped for s in able))
    if data[:2] in _WIDE:
        data = utf8(bytes(data))  # a text of two bytes a character: every scanner reads it as the others
    before = len(seen.uses)
    for scanner in able:
        if scanner.last is None:
            _run(scanner.name, scanner.scan(data, path), seen, inner)
    told: dict[int, set[str]] = {}
    for row in seen.uses[before:]:
        told.setdefault(row[3], set()).add(row[2])
    for scanner in able:
        if scanner.last is not None:
            _run(scanner.name, scanner.last(data, path, told), seen, inner)
    if isinstance(data, mmap.mmap):
        try:
            data.close()
        except BufferError:  # a scanner that still holds a view of it
            del data


def _data(file: BinaryIO, size: int, mapped: bool) -> bytes:
    """Return the bytes of a file: mapped where that is wanted and worth it; a large member of an archive is put into a nameless file first."""
    if not mapped or size <= _MAPPED_FROM:
        return file.read(size)
    try:
        return cast(bytes, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError):  # a member of an archive has no file of its own
        if size <= _SPOOLED_FROM:
            return file.read(size)
    with tempfile.TemporaryFile() as aside:
        left = size
        while left and (data := file.read(min(left, 1 << 20))):
            aside.write(data)
            left -= len(data)
        aside.flush()
        return cast(bytes, mmap.mmap(aside.fileno(), 0, access=mmap.ACCESS_READ))


def _run(name: str, uses: Iterator[Use], seen: Seen, inner: str) -> None:
    """Run one scanner; whatever it raises costs its own findings in this file alone."""
    try:
        for count, use in enumerate(uses):
            if count >= MOST_PLACES or len(seen.uses) >= MOST_INSIDE:
                most = MOST_PLACES if count >= MOST_PLACES else MOST_INSIDE
                text = f"it has more than {most:,} places; the rest is not listed"
                _problem(seen, inner, codes.diagnostic(codes.TOO_MANY_PLACES, text, severity="warning"))
                return
            seen.uses.append(row_of(use, inner))
    except AnywarpError as error:
        _problem(seen, inner, error.diagnostic)
    except MemoryError:
        _problem(seen, inner, codes.diagnostic(codes.NOT_UNDERSTOOD, f"{name}: it needs too much memory"))
    except Exception as error:
        text = f"{name}: {type(error).__name__}: {str(error)[:200]}"
        _problem(seen, inner, codes.diagnostic(codes.NOT_UNDERSTOOD, text))


@dataclass(frozen=True, slots=True)
class _Inside:
    """Where in an archive we are: its name inside the file, how deep, what it holds (image, package, source), and whether others made it."""

    name: str
    depth: int
    holds: str
    installed: bool


def _open(file: BinaryIO, path: PurePath, container: Container, look: Look, seen: Seen, inside: _Inside) -> None:
    """Offer every member of a container to scanners and containers."""
    if inside.depth > DEEPEST:
        text = f"archives are opened {DEEPEST} deep; this one lies deeper"
        _problem(seen, inside.name, codes.diagnostic(codes.ARCHIVE_LIMIT, text))
        return
    for item in _safely(container, file, path, seen, inside.name):
        look.alive()
        if isinstance(item, Use):
            seen.uses.append(row_of(item, inside.name))
        elif isinstance(item, Diagnostic):
            _problem(seen, inside.name, item)
        else:
            _member(item, look, seen, inside)


def _safely(
    container: Container, file: BinaryIO, path: PurePath, seen: Seen, inner: str
) -> Iterator[Member | Use | Diagnostic]:
    try:
        yield from container.members(file, path)
    except MemoryError:
        _problem(seen, inner, codes.diagnostic(codes.NOT_UNDERSTOOD, f"{container.name}: it needs too much memory"))
    except Exception as error:
        text = f"{container.name}: {type(error).__name__}: {str(error)[:200]}"
        _problem(seen, inner, codes.diagnostic(codes.NOT_UNDERSTOOD, text))


def _member(member: Member, look: Look, seen: Seen, inside: _Inside) -> None:
    """Look into one member, which costs only itself when it is damaged."""
    name = f"{inside.name}!/{member.name}" if inside.name else member.name
    path = cut(PurePosixPath(member.name or "unnamed"))
    installed = inside.installed or inside.holds == "package" or is_installed(member.name)
    installed = installed or (inside.holds == "image" and _is_system(member.name))
    try:
        with member.open() as stream:
            head = stream.read(HEAD)
            scanners, container = wanted(look, path, head, installed)
            whole = cast(BinaryIO, Joined(head, stream))
            if container is not None:
                _open(whole, path, container, look, seen, _Inside(name, inside.depth + 1, _holds(name), installed))
            elif scanners:
                _scan(whole, member.size, path, scanners, seen, name)
    except MemoryError:
        _problem(seen, name, codes.diagnostic(codes.NOT_UNDERSTOOD, "it needs too much memory"))
    except Exception as error:
        text = f"it cannot be read: {type(error).__name__}: {str(error)[:200]}"
        _problem(seen, name, codes.diagnostic(codes.DAMAGED_ARCHIVE, text))


class Joined:
    """A stream whose head was read already, from its beginning."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = head, rest

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes, all of them for -1."""
        if size < 0:
            data, self._head = self._head + self._rest.read(), b""
            return data
        data, self._head = self._head[:size], self._head[size:]
        return data + self._rest.read(size - len(data)) if len(data) < size else data

    def fileno(self) -> int:
        raise OSError("a member of an archive has no file of its own")


def row_of(use: Use, inner: str) -> Row:
    """Return a use as it is kept, its texts bounded."""
    details = [[str(k)[:_NAME], str(v)[:_NAME]] for k, v in use.details[:_DETAILS]]
    return [inner[-1000:], use.subject, use.name[:_NAME], use.line, use.column, use.text.strip()[:_TEXT], details]


def use_of(row: Row) -> Use:
    """Return the use that a row keeps."""
    details = tuple((k, v) for k, v in row[6])
    return Use(row[1], row[2], row[3], row[4], row[5], details)


def _problem(seen: Seen, inner: str, d: Diagnostic) -> None:
    seen.problems.append([inner[-1000:], d.code, d.message[:1000], d.severity, d.help[:1000]])


def _holds(name: str) -> str:
    """Tell what an archive holds, by its name: a built package, a person's sources, or (a layer, a saved image) a system."""
    name = name.rpartition("/")[2].lower()
    if name.endswith((".whl", ".egg", ".conda")):
        return "package"
    return "source" if name.endswith((".zip", ".tar.gz", ".tgz")) and "layer" not in name else "image"


def _is_system(name: str) -> bool:
    """Tell whether a file of an image belongs to the system or to a toolkit, not to the program that the image is made for."""
    name = name.removeprefix("./").lstrip("/")
    return name.startswith(_SYSTEM) and not name.startswith(_OWN)
