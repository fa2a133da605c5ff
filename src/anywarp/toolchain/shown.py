"""What clang is shown in the place of sources that nvcc takes and clang does not: files of ours, by their names, through its virtual file system."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from anywarp.toolchain import (
    asm_percents,
    dependent_templates,
    kernel_bodies,
    messages,
    pragma_macros,
    unused_templates,
    variable_arrays,
)
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
    """Return what clang is to see once it has refused something; None where nothing that nvcc takes is to be mended.

    `texts` is what it saw, where that was not what the files hold; its messages count the lines and columns of that.
    """
    arrays, templates = variable_arrays.refused(said), dependent_templates.refused(said)

    def new(place: Path, text: str) -> str:
        # one of them: behind the first the messages' columns may be others
        ways = (
            lambda: mended(text),
            lambda: variable_arrays.filled(text, arrays.get(place, ())),
            lambda: dependent_templates.named(text, templates.get(place, ())),
        )
        return next((made for way in ways if (made := way()) != text), text)

    return _changed(said, texts, new)


def without_templates(said: str, texts: Texts) -> dict[Path, str] | None:
    """Return what clang is to see without the bodies of templates in which it has refused something; None where there are none.

    Where such a template is used after all, clang says unused_templates.MARK.
    """
    refused = messages.places(said)
    return _changed(said, texts, lambda place, text: unused_templates.emptied(text, refused.get(place, ())))


def host(said: str, texts: Texts) -> dict[Path, str] | None:
    """Return what clang is to see of the host's half once it has refused that; None where no kernel's body can be the reason."""
    return _changed(said, texts, lambda place, text: kernel_bodies.emptied(text))


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


def _changed(said: str, texts: Texts, new: Callable[[Path, str], str]) -> dict[Path, str] | None:
    """Return the texts with those of the files that messages name made new; None where that changes none."""
    made = dict(texts)
    for place in messages.files(said):
        text = texts.get(place) or _read(place) or ""
        if (shown := new(place, text)) != text:
            made[place] = shown
    return made if made != texts else None


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
