"""Launches whose brackets a formatter took apart, `kernel << <grid, block >> > (a)`: nvcc reads them, clang does not.

clang is shown such files with the brackets together, in the place of the ones on disk; lines and columns stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from anywarp.toolchain.masked import masked

Range = tuple[int, int]

_OPENS = re.compile(r"<(?:[ \t]+<[ \t]*<|<[ \t]+<)(?!<)")
_SIGN = re.compile(r"[()\[\]{};]|>[ \t]*>[ \t]*>(?!>)")
_REACH = 4096
_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_MOST = 1 << 24
"""Bytes of a file that is looked at."""


def joined(text: str) -> str:
    """Return a source in which the brackets of launches stand together; what stands in comments and literals stays."""
    if _OPENS.search(text) is None:
        return text
    out: list[str] = []
    done = 0
    for launch in launches(masked(text)):
        if launch[0][0] < done:
            continue
        for (start, end), bracket in zip(launch, ("<<<", ">>>"), strict=True):
            out += [text[done:start], bracket.ljust(end - start)]
            done = end
    return "".join([*out, text[done:]])


def launches(code: str) -> Iterator[tuple[Range, Range]]:
    """Yield, in code without comments and literals, where such brackets open and where they close."""
    for opens in _OPENS.finditer(code):
        closes = _end(code, opens.end())
        if closes is not None:
            yield opens.span(), closes


def _end(code: str, at: int) -> Range | None:
    """Return the range of the brackets that end the configuration which begins at `at`."""
    depth = 0
    for match in _SIGN.finditer(code, at, min(len(code), at + _REACH)):
        sign = match[0]
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0 or (depth == 0 and sign == ";"):
            return None
        if depth == 0 and sign.startswith(">"):
            return match.span()
    return None


def overlay(source: str, folders: Sequence[str], folder: Path) -> str:
    """Write what clang is to see in the place of a source and of the files it includes by their names in quotes; return the file that says so.

    Empty: all of them are as they are. `folders` are searched for files that do not lie beside the one that includes them.
    """
    roots: list[dict[str, str]] = []
    for place, text in _files(Path(source), folders):
        made = joined(text)
        if made != text:
            shown = folder / f"joined-{len(roots)}-{place.name}"
            shown.write_text(made, encoding="utf-8", errors="surrogateescape")
            roots.append({"type": "file", "name": str(place.absolute()), "external-contents": str(shown.absolute())})
    if not roots:
        return ""
    said = folder / f"joined-{Path(source).name}.json"
    said.write_text(json.dumps({"version": 0, "use-external-names": False, "roots": roots}), encoding="utf-8")
    return str(said)


def _files(source: Path, folders: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Yield a source and the files that it includes, with their texts, those alone that can be read."""
    seen: set[Path] = set()
    waiting = [source]
    while waiting:
        place = waiting.pop()
        if place.absolute() in seen:
            continue
        seen.add(place.absolute())
        try:
            if not place.is_file() or place.stat().st_size > _MOST:
                continue
            text = place.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            continue
        yield place, text
        for name in _INCLUDED.findall(text):
            near = [folder / name for folder in (place.parent, *map(Path, folders))]
            waiting += [file for file in near if file.is_file()][:1]
