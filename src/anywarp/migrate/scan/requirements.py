"""Requirement and constraint files of pip, with the indexes they name.

The index decides which build of a package is meant: `torch` from an index for the processor has nothing to do with CUDA.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from anywarp.migrate.findings import Use
from anywarp.migrate.scan import declared
from anywarp.migrate.scan.lines import Lines, Piece, Seen, seen

_NAME = re.compile(
    r"(?i)(?:.*[-_.])?(?:requirements?|constraints?)(?:[-_.].*)?\.(?:txt|in|pip)$|reqs?(?:[-_.].*)?\.txt$"
)
_OPTION = re.compile(r"(-[a-zA-Z]|--[a-z-]+)(?:[ \t]*=[ \t]*|[ \t]+)?(\S*)")
_LINE = re.compile(
    rb"[ \t]*(?:-{1,2}[a-z-]+[ =]\S+|[A-Za-z0-9][\w.-]*(?:\[[\w, -]*\])?(?:[ \t]*,?[ \t]*[<>=!~]=?=?[ \t]*[\w.*+-]+)*[ \t]*(?:;.*|#.*|\\)?)[ \t]*\r?$"
)
_PINNED = re.compile(
    rb"^[ \t]*[A-Za-z0-9][\w.-]*(?:\[[\w, -]*\])?[ \t]*[=~>]=[ \t]*\d|^--?(?:extra-index-url|index-url|r|f)[ =]"
)
_COMMENT = re.compile(r"(?:^|[ \t]+)#[^\n]*")


def wants(path: PurePath, head: bytes) -> bool:
    """Tell whether a file is a requirement file, by its name or its folder's."""
    if _NAME.match(path.name):
        return True
    if path.suffix in (".txt", ".in", ".pip") and _looks_like_it(head):
        return True
    folder = path.parent.name.lower()
    return path.suffix in (".txt", ".in") and folder in ("requirements", "reqs", "constraints")


def _looks_like_it(head: bytes) -> bool:
    """Tell whether a text of any name is a list of requirements: most of its first lines are, and one at least has a version."""
    text = head[: head.rfind(b"\n")] if len(head) >= 4096 else head
    told = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith((b"#", b"--hash"))][:40]
    fitting = sum(1 for line in told if _LINE.match(line))
    return bool(told) and fitting * 10 >= len(told) * 9 and any(_PINNED.search(line) for line in told)


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield the packages and indexes that concern CUDA, and the files that belong to it."""
    lines = Lines(data)
    if "\0" not in lines.text[:4096]:
        found = listed(lines.text, "requirements", declared.of_others(path))
        yield from lines.found_in(Piece(lines.text), iter(declared.with_torch(found)))


def listed(text: str, where: str, build: str = "") -> Iterator[Seen]:
    """Yield what a list of requirements says, one per line as pip reads them; `build` is what their index is taken to hold."""
    index = _index(text) or build
    place = 0
    while place < len(text):
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        while text[end - 1 : end] == "\\" and end < len(text):
            following = text.find("\n", end + 1)
            end = len(text) if following < 0 else following
        line = text[place:end]
        stripped = line.lstrip()
        if stripped and stripped[0] != "#":
            yield from _line(stripped, place + len(line) - len(stripped), where, index)
        place = end + 1


def _index(text: str) -> str:
    """Return which build the file's indexes hold: of several, the one for CUDA."""
    builds = [
        declared.index_of(found[1] + "/")
        for found in re.finditer(r"^[ \t]*(?:-i|--(?:extra-)?index-url|-f|--find-links)[ \t=]+(\S+)", text, re.M)
    ]
    builds = [build for build in builds if build]
    return next((build for build in builds if build.startswith("cu")), builds[0] if builds else "")


def _line(line: str, offset: int, where: str, index: str) -> Iterator[Seen]:
    text = _COMMENT.sub("", line.split("\\\n")[0]) if "#" in line or "\\\n" in line else line
    if not text.startswith("-"):
        text = re.split(r"[ \t]+--(?:hash|config-settings|global-option|no-build)", text)[0]
        yield from declared.requirement(text, offset, where, index)
        return
    found = _OPTION.match(text)
    if found is None:
        return
    option, value, place = found[1], found[2], offset + found.start(2)
    if option in ("-i", "--index-url", "--extra-index-url", "-f", "--find-links"):
        yield from declared.index(value, place, where)
    elif option in ("-r", "--requirement", "-c", "--constraint"):
        yield seen("deploy.include", value, place)
    elif option in ("-e", "--editable"):
        yield from declared.link(value, place, where)
