"""Unpack what is wanted of an input into a folder: files and links that stay inside, nothing run, nothing outside.

Wheels are zip files, a package of Debian holds a tar (dpkg-deb writes it out), a repository comes as a tar.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from anywarp.catalogue.deriving.inputs import Input

_INSTALLED = re.compile(r"^[^/]+\.data/(?:plat|pure)lib/")
"""What a wheel puts before the paths of modules that are installed as they are."""
LIMIT = 8 << 30
"""Bytes that one input may unpack to."""


class Refused(ValueError):
    """Raised for an archive that would write outside its folder, or far too much."""


def unpack(file: Path, each: Input, folder: Path) -> None:
    """Write the wanted files of an archive below `folder`; Refused for one that names a place outside, or is larger than `LIMIT`."""
    left = LIMIT
    with _opened(file, each) as members:
        for name, size, stream, link, mode in members:
            target = each.taken(name)
            if target is None:
                continue
            place = _inside(folder, target)
            left -= size
            if left < 0:
                raise Refused(f"{each.name}: unpacks to more than {LIMIT >> 30} GiB")
            if place.exists() or place.is_symlink():
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            if stream is not None:
                with place.open("wb") as out:
                    shutil.copyfileobj(stream, out, 1 << 20)
                place.chmod(0o755 if mode & 0o100 else 0o644)
            elif link:
                _inside(folder, posixpath.join(posixpath.dirname(target), link))
                place.symlink_to(link)


def _inside(folder: Path, name: str) -> Path:
    """Return a path below the folder; Refused for one that leaves it, by its words or through a link that is there."""
    plain = posixpath.normpath(name)
    if not name or plain.startswith(("/", "..")) or "\0" in name:
        raise Refused(f"{name!r} leads outside the folder")
    place = folder / plain
    if not place.parent.resolve().is_relative_to(folder.resolve()):
        raise Refused(f"{name!r} leads outside the folder")
    return place


Members = Iterator[tuple[str, int, "IO[bytes] | None", str, int]]
"""Path, size, content, target of a link, mode."""


@contextmanager
def _opened(file: Path, each: Input) -> Generator[Members]:
    if each.kind == "pypi":
        with zipfile.ZipFile(file) as archive:
            yield _of_zip(archive)
    elif each.kind == "git":
        with tarfile.open(file, "r:") as archive:
            yield _of_tar(archive)
    else:
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(file)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
                yield _of_tar(archive)
            process.stdout.read()
        if process.returncode:
            raise Refused(f"{file.name} is no package of Debian")


def _of_zip(archive: zipfile.ZipFile) -> Members:
    for member in archive.infolist():
        if not member.is_dir():
            with archive.open(member) as stream:
                yield _INSTALLED.sub("", member.filename), member.file_size, stream, "", member.external_attr >> 16


def _of_tar(archive: tarfile.TarFile) -> Members:
    for member in archive:
        name = member.name.removeprefix("./")
        if member.isreg():
            yield name, member.size, archive.extractfile(member), "", member.mode
        elif member.issym():
            yield name, 0, None, member.linkname, 0
