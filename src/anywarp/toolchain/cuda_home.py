"""A folder laid out as a CUDA toolkit, for build systems that want CUDA_HOME: bin/nvcc, include, lib64.

It is made of links into the installed package, so it costs nothing and is never older than what it points to.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Callable
from pathlib import Path

from anywarp import settings
from anywarp.toolchain import architectures, codes, core_libraries, libdevice, placing
from anywarp.toolchain.compile_commands import FOLDERS, MAJOR, RELEASE

LIBRARIES = ("cudart", "nvrtc", "nvJitLink", "cuda", "nvidia-ml", "cupti", "nvToolsExt")
PLACED = "libcudart_placed.so"
"""The runtime library's functions, for linkers only: what it is called within is to become the place of the runtime library."""

_NAME_WITHIN = b"/" + 1023 * b"@"
_FORM = "8"
"""Changed when the layout changes."""


def folder() -> Path:
    """Return where the folder lies, or will: one for each installation and place of the libraries."""
    core = core_libraries.folder()
    text = "\n".join(
        [
            _FORM,
            "" if core is None else str(core.resolve()),
            str(settings.PYTHON.get()),
            str(FOLDERS[0]),
            str(settings.LIBRARY_DIR.get().resolve()),
        ]
    )
    return settings.CACHE_DIR.get().absolute() / f"cuda-home-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def make() -> Path:
    """Make the folder, or what of it is not there yet, and return it. Several processes may do so at once."""
    home = folder()
    for name, target in _links().items():
        _put(home / name, lambda place, target=target: place.symlink_to(target))
    for name, (text, mode) in _texts().items():
        _put(home / name, lambda place, text=text, mode=mode: _write(place, text, mode))
    libraries = settings.LIBRARY_DIR.get().resolve()
    if (libraries / PLACED).exists():
        _put(home / "lib64" / PLACED, lambda place: _write_placed(place, libraries))
    (home / "nvvm/libdevice").mkdir(parents=True, exist_ok=True)
    return home


def make_with_libdevice() -> Path:
    """Make the folder with nvvm/libdevice/libdevice.10.bc in it, for compilers that link that file. AnywarpError (T008) without one."""
    file, home = libdevice.find(), make()
    placing.link(home / "nvvm/libdevice" / libdevice.NAME, file)
    return home


def _write_placed(place: Path, libraries: Path) -> None:
    """Write the library for linkers: programs will ask for the runtime library by its path."""
    path = os.fsencode(libraries / f"libcudart.so.{MAJOR}")
    if len(path) > len(_NAME_WITHIN):
        raise codes.problem(
            codes.NOT_BUILT, f"the path {libraries} is too long", "install anywarp in a folder with a shorter path"
        )
    place.write_bytes((libraries / PLACED).read_bytes().replace(_NAME_WITHIN, path.ljust(len(_NAME_WITHIN), b"\0")))


def library_options() -> list[str]:
    """Return the linker's options for the folder's libraries, in the order in which nvcc gives its own."""
    home = make()
    return [f"-L{home / 'lib64' / 'stubs'}", f"-L{home / 'lib64'}"]


def _put(place: Path, make: Callable[[Path], None]) -> None:
    """Put a file or link where it belongs, unless it is there."""
    if place.is_symlink() or place.exists():
        return
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    placing.put(place, make)


def _write(place: Path, text: str, mode: int) -> None:
    place.write_text(text, encoding="utf-8")
    place.chmod(mode)


def _links() -> dict[str, Path]:
    """Return each link of the layout, with what it points to."""
    libraries = settings.LIBRARY_DIR.get().resolve()
    links: dict[str, Path] = {}
    for place in FOLDERS:
        for entry in sorted(place.iterdir()):
            shared = entry.is_dir() and sum((other / entry.name).is_dir() for other in FOLDERS) > 1
            for file in sorted(entry.iterdir()) if shared else [entry]:
                links.setdefault(f"include/{file.relative_to(place)}", file)
    for name in LIBRARIES:
        for file in sorted(libraries.glob(f"lib{name}.so.*")):
            links[f"lib64/{file.name}"] = file
        versions = (libraries / f"lib{name}.so.{version}" for version in (MAJOR, 1))
        found = next((file for file in versions if file.exists()), None)
        if found is not None:
            links[f"lib64/lib{name}.so"] = found
    # NVIDIA's libraries, those first that programs find on the processor; the newest is linked.
    for file in (*_versioned(libraries), *_versioned(libraries / "hip")):
        if f"lib64/{file.name}" not in links:
            links[f"lib64/{file.name}"] = file
            links[f"lib64/{file.name.partition('.so')[0]}.so"] = file
    core = core_libraries.folder()
    if core is not None:
        links["include/cccl"] = core.resolve()  # where toolkits of CUDA 13 have them
    links["lib64/stubs/libcuda.so"] = libraries / "libcuda.so.1"
    links["bin/ptxas"] = libraries / "ptxas"
    return links


def _versioned(folder: Path) -> list[Path]:
    return sorted(folder.glob("lib*.so.*"), key=_version)


def _version(file: Path) -> int:
    number = file.name.rpartition(".")[2]
    return int(number) if number.isdecimal() else 0


def _texts() -> dict[str, tuple[str, int]]:
    """Return the files of the layout that are no links: content and mode."""
    placed = PLACED if (settings.LIBRARY_DIR.get().resolve() / PLACED).exists() else "-lcudart"
    start = f"#!/bin/sh\nexec {shlex.join(settings.python_command(str(settings.PYTHON.get()), 'anywarp.toolchain'))}"
    return {
        # The linker reads a text as a script: who asks for the static runtime gets the shared one, which is found without a path.
        "lib64/libcudart_static.a": (f"INPUT ( {placed} )\n", 0o644),
        "lib64/libcudadevrt.a": ("!<arch>\n", 0o644),
        "bin/nvcc": (f'{start} "$@"\n', 0o755),
        "bin/__nvcc_device_query": (f"#!/bin/sh\necho {architectures.DEVICE}\n", 0o755),
        "bin/fatbinary": (f'{start}.fatbin "$@"\n', 0o755),
        "version.json": (f'{{"cuda": {{"name": "anywarp", "version": "{RELEASE}"}}}}\n', 0o644),
    }
