"""Requirement and constraint files of pip, with the indexes they name.

The index decides which build of a package is meant: `torch` from an index for the processor has nothing to do with CUDA.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from anywarp.migrate.findings import Use
from anywarp.migrate.formats import requirements
from anywarp.migrate.formats.requirements import INDEXES, Line, Option
from anywarp.migrate.scan import declared
from anywarp.migrate.scan.lines import Lines, Piece, Seen, seen


def wants(path: PurePath, head: bytes) -> bool:
    """Tell whether a file is a requirement file, by its name, its folder's or its lines."""
    return requirements.named(path, head)


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield the packages and indexes that concern CUDA, and the files that belong to it."""
    lines = Lines(data)
    if "\0" not in lines.text[:4096]:
        every = list(requirements.lines(lines.text))
        index = indexed(every) or declared.of_others(path)
        found = (one for line in every for one in read(line, "requirements", index))
        yield from lines.found_in(Piece(lines.text), iter(declared.with_torch(found)))


def indexed(lines: list[Line]) -> str:
    """Return which build the indexes hold that lines name: of several, the one for CUDA."""
    options = (option for line in lines for option in line.options if option.name in INDEXES)
    builds = [build for option in options if (build := declared.index_of(option.value + "/"))]
    return next((build for build in builds if build.startswith("cu")), builds[0] if builds else "")


def read(line: Line, where: str, index: str) -> Iterator[Seen]:
    """Yield what a line says; `index` is what the packages' index is taken to hold."""
    if line.request:
        yield from declared.requirement(line.request, line.span[0], where, index)
    else:
        for option in line.options:
            yield from _option(option, where)


def _option(option: Option, where: str) -> Iterator[Seen]:
    if option.name in INDEXES:
        yield from declared.index(option.value, option.start, where)
    elif option.name in ("--requirement", "--constraint"):
        yield seen("deploy.include", option.value, option.start)
    elif option.name == "--editable":
        yield from declared.link(option.value, option.start, where)
