"""What the layer asks of an image: the C library and the shared libraries that its files are linked against, read from the files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from anywarp.deploy.image import codes
from anywarp.deploy.image.contents import Contents
from anywarp.deploy.image.entries import Entry

_LIBC = re.compile(r"^(?:lib(?:c|m|dl|rt|pthread|util|resolv|nsl|crypt|anl|mvec)\.so|ld-linux)")
_VERSION = re.compile(r"^GLIBC_(\d+)\.(\d+)(?:\.\d+)?$")
_LAZY = re.compile(r"^lib(?:amdhip64|hip|hsa|roc|rccl|MIOpen|migraphx|torch|c10|cuda|nvrtc|nv|stdc\+\+|gcc_s|omp|gomp)")
"""Libraries that a part of ours is linked against and that come with what that part is for: ROCm, a program's torch, our own."""


@dataclass(slots=True)
class Wants:
    """The newest release of glibc that the files ask for and which file does, and the other libraries with who asks for them."""

    glibc: tuple[int, int] = (0, 0)
    by: str = ""
    libraries: dict[str, str] = field(default_factory=dict[str, str])


def of(entries: Iterable[Entry]) -> Wants:
    """Return what files ask for, less what they bring themselves."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    out = Wants()
    brought: set[str] = set()
    for entry in entries:
        brought.add(entry.path.rpartition("/")[2])
        if not isinstance(entry.content, Path) or entry.link:
            continue
        with entry.content.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
            try:
                _file(cast(Any, ELFFile)(file), entry.path, out)
            except (ELFError, ValueError, KeyError) as error:
                help = "install anywarp again"
                raise codes.problem(
                    codes.NOT_CARRIED, f"{entry.content} cannot be read as a library: {error}", help
                ) from error
    out.libraries = {name: by for name, by in out.libraries.items() if name not in brought and not _LIBC.match(name)}
    return out


def _file(elf: Any, path: str, out: Wants) -> None:
    for section in elf.iter_sections():
        if section.name == ".dynamic":
            for tag in section.iter_tags():
                if tag.entry.d_tag == "DT_NEEDED":
                    out.libraries.setdefault(tag.needed, path)
        elif section.name == ".gnu.version_r":
            for _, versions in section.iter_versions():
                for version in versions:
                    found = _VERSION.match(version.name)
                    if found and (number := (int(found[1]), int(found[2]))) > out.glibc:
                        out.glibc, out.by = number, path


def check(wants: Wants, image: Contents) -> None:
    """Hold an image against what the layer asks for; AnywarpError (Y123) that names what is missing."""
    if image.has_musl() and not image.facts("glibc"):
        raise codes.problem(
            codes.TOO_OLD,
            "the image has musl in the place of glibc, which no library for CUDA runs on",
            "build on an image with glibc",
        )
    found = image.facts("glibc")
    if not found:
        help = "wrap an image that has libc.so.6: one made `FROM scratch` holds nothing to run anywarp with"
        raise codes.problem(codes.TOO_OLD, "no glibc is found in the image", help)
    if found[-1] < wants.glibc:
        text = f"the image has glibc {'.'.join(map(str, found[-1]))}, and {wants.by} needs {wants.glibc[0]}.{wants.glibc[1]}"
        help = "install anywarp from its wheel, which needs 2.28, or wrap an image on a newer system"
        raise codes.problem(codes.TOO_OLD, text, help)
    there = image.libraries()
    missing = sorted(name for name in wants.libraries if name not in there and not _LAZY.match(name))
    if missing:
        text = f"the image lacks {', '.join(missing[:5])}, which {wants.libraries[missing[0]]} needs"
        raise codes.problem(
            codes.TOO_OLD, text, "install it in the image first; for a Python of your own, take one that may be moved"
        )
