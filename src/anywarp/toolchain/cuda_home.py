"""A folder laid out as a CUDA toolkit, for build systems that want CUDA_HOME: bin/nvcc, include, lib64.

It is made of links into the installed package, so it costs nothing and is never older than what it points to.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from anywarp import settings
from anywarp.toolchain.compile_commands import BUILD, FOLDERS, MAJOR, MINOR

LIBRARIES = ("cudart", "nvrtc", "nvJitLink", "cuda", "nvidia-ml", "cupti", "nvToolsExt")
_EMPTY_ARCHIVE = "!<arch>\n"
_FORM = "1"
"""Changed when the layout changes."""


def folder() -> Path:
    """Return where the folder lies, or will: one for each installation and place of the libraries."""
    text = "\n".join([_FORM, sys.executable, str(FOLDERS[0]), str(settings.LIBRARY_DIR.get().resolve())])
    return settings.CACHE_DIR.get().absolute() / f"cuda-home-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def make() -> Path:
    """Make the folder where it is not there, or something has come that it lacks, and return it."""
    home = folder()
    wanted = _links()
    if all((home / name).is_symlink() for name in wanted) and (home / "version.json").exists():
        return home
    home.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = Path(tempfile.mkdtemp(prefix="cuda-home-", dir=home.parent))
    _fill(made, wanted)
    shutil.rmtree(home, ignore_errors=True)
    try:
        os.rename(made, home)
    except OSError:  # another process was faster
        shutil.rmtree(made, ignore_errors=True)
    return home


def _links() -> dict[str, Path]:
    """Return each link of the layout, with what it points to."""
    libraries = settings.LIBRARY_DIR.get().resolve()
    links: dict[str, Path] = {}
    for place in FOLDERS:
        for entry in place.iterdir():
            links.setdefault(f"include/{entry.name}", entry)
    links.pop("include/anywarp", None)
    for place in FOLDERS:
        for entry in (place / "anywarp").iterdir() if (place / "anywarp").is_dir() else ():
            links.setdefault(f"include/anywarp/{entry.name}", entry)
    for name in LIBRARIES:
        for file in sorted(libraries.glob(f"lib{name}.so*")):
            links[f"lib64/{file.name}"] = file
            links.setdefault(f"lib64/lib{name}.so", file)
            if file.name.endswith(f".so.{MAJOR}"):
                links[f"lib64/lib{name}.so"] = file
    return links


def _fill(home: Path, links: dict[str, Path]) -> None:
    for name, target in links.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).symlink_to(target)
    for name in ("bin", "lib64/stubs", "nvvm/libdevice"):
        (home / name).mkdir(parents=True, exist_ok=True)
    (home / "lib64/stubs/libcuda.so").symlink_to(settings.LIBRARY_DIR.get().resolve() / "libcuda.so.1")
    # The linker reads a text as a script: who asks for the static runtime gets the shared one.
    (home / "lib64/libcudart_static.a").write_text("INPUT ( -lcudart )\n", encoding="utf-8")
    (home / "lib64/libcudadevrt.a").write_text(_EMPTY_ARCHIVE, encoding="utf-8")
    command = f"exec {shlex.quote(sys.executable)} -m anywarp.toolchain"
    _script(home / "bin/nvcc", f'{command} "$@"')
    _script(home / "bin/fatbinary", f'{command}.fatbin "$@"')
    ptxas = settings.LIBRARY_DIR.get().resolve() / "ptxas"
    (home / "bin/ptxas").symlink_to(ptxas)
    version = f'{{"cuda": {{"name": "anywarp", "version": "{MAJOR}.{MINOR}.{BUILD}"}}}}\n'
    (home / "version.json").write_text(version, encoding="utf-8")


def _script(file: Path, command: str) -> None:
    file.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
    file.chmod(0o755)
