"""What clang is shown in the place of sources that nvcc takes and clang does not: files of ours, by their names, through its virtual file system."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from anywarp.toolchain import variable_arrays
from anywarp.toolchain.spaced_launches import joined

_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_MOST = 1 << 24
"""Bytes of a file that is looked at."""

Places = Mapping[Path, Sequence[tuple[int, int]]]


def overlay(source: str, folders: Sequence[str], folder: Path, arrays: Places | None = None) -> str:
    """Write what clang is to see in the place of a source and of the files it includes by their names in quotes; return the file that says so.

    Empty: all of them are as they are. `folders` are searched for files that do not lie beside the one that includes them; `arrays` are
    places of arrays that clang refused (variable_arrays.py).
    """
    roots: list[dict[str, str]] = []
    for place, text in _files(Path(source), folders):
        made = variable_arrays.filled(joined(text), (arrays or {}).get(place.absolute(), ()))
        if made != text:
            shown = folder / f"shown-{len(roots)}-{place.name}"
            shown.write_text(made, encoding="utf-8", errors="surrogateescape")
            roots.append({"type": "file", "name": str(place.absolute()), "external-contents": str(shown.absolute())})
    if not roots:
        return ""
    said = folder / f"shown-{Path(source).name}.json"
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
