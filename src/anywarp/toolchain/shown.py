"""What clang is shown in the place of sources that nvcc takes and clang does not: files of ours, by their names, through its virtual file system."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from anywarp.toolchain import asm_percents, dependent_templates, kernel_bodies, messages, pragma_macros, variable_arrays
from anywarp.toolchain.spaced_launches import joined

_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_MOST = 1 << 24
"""Bytes of a file that is looked at."""

Texts = Mapping[Path, str]


def first(source: str, folders: Sequence[str]) -> dict[Path, str]:
    """Return what clang is to see in the place of a source and of the files it includes by their names in quotes, where it is not what they hold.

    `folders` are searched for files that do not lie beside the one that includes them.
    """
    return {place.absolute(): made for place, text in _files(Path(source), folders) if (made := mended(text)) != text}


def after(said: str, texts: Texts) -> dict[Path, str] | None:
    """Return what clang is to see once it has refused something; None where nothing that we know of is to be mended.

    `texts` is what it saw, where that was not what the files hold; its messages count the lines and columns of that.
    """
    arrays, templates = variable_arrays.refused(said), dependent_templates.refused(said)
    made = dict(texts)
    for place in messages.files(said):
        text = texts.get(place) or _read(place) or ""
        new = mended(text)
        if new == text:  # else the messages' columns are others
            new = variable_arrays.filled(text, arrays.get(place, ()))
        if new == text:
            new = dependent_templates.named(text, templates.get(place, ()))
        if new != text:
            made[place] = new
    return made if made != texts else None


def host(said: str, texts: Texts) -> dict[Path, str] | None:
    """Return what clang is to see of the host's half once it has refused that; None where no kernel's body can be the reason."""
    made = dict(texts)
    for place in messages.files(said):
        text = texts.get(place) or _read(place) or ""
        made.update({place: new} if (new := kernel_bodies.emptied(text)) != text else {})
    return made if made != texts else None


def overlay(texts: Texts, folder: Path) -> str:
    """Write texts for clang to see in the place of files; return the file that says so. Empty: there are none."""
    if not texts:
        return ""
    folder.mkdir(exist_ok=True)
    roots: list[dict[str, str]] = []
    for place, text in texts.items():
        seen = folder / f"shown-{len(roots)}-{place.name}"
        seen.write_text(text, encoding="utf-8", errors="surrogateescape")
        roots.append({"type": "file", "name": str(place), "external-contents": str(seen.absolute())})
    said = folder / "shown.json"
    said.write_text(json.dumps({"version": 0, "use-external-names": False, "roots": roots}), encoding="utf-8")
    return str(said)


def mended(text: str) -> str:
    """Return a source without what nvcc alone takes, as far as that is seen without clang; lines stay."""
    return pragma_macros.written(asm_percents.escaped(joined(text)))


def _read(place: Path) -> str | None:
    """Return the text of a file; None where it cannot be read, or is too long."""
    try:
        if not place.is_file() or place.stat().st_size > _MOST:
            return None
        return place.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None


def _files(source: Path, folders: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Yield a source and the files that it includes, with their texts, those alone that can be read."""
    seen: set[Path] = set()
    waiting = [source]
    while waiting:
        place = waiting.pop()
        if place.absolute() in seen:
            continue
        seen.add(place.absolute())
        text = _read(place)
        if text is None:
            continue
        yield place, text
        for name in _INCLUDED.findall(text):
            near = [folder / name for folder in (place.parent, *map(Path, folders))]
            waiting += [file for file in near if file.is_file()][:1]
