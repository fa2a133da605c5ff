"""pip replaces a torch for ROCm by PyPI's, which is for CUDA, when a package asks for another version of it.

https://github.com/ROCm/legacy-rocm-build/issues/5733. The installed builds for ROCm become constraints of that one command, so that pip finds other versions of the
package or says what conflicts. A command that names torch itself, or an index for ROCm, knows what it does, and is left alone.
"""

from __future__ import annotations

import atexit
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from anywarp.diagnostics import Diagnostic
from anywarp.frameworks import watching
from anywarp.frameworks.torch import messages, patches, rocm

MODULE = "pip"
ELSEWHERE = ("-t", "--target", "--prefix", "--root", "-I", "--ignore-installed", "--force-reinstall")
KEPT = ("torch", "torchvision", "torchaudio", "triton", "pytorch-triton-rocm", "triton-rocm")
"""Packages whose builds for ROCm have its name in their version's local part."""
_FOR_ROCM = re.compile(r"[\w.!-]+\+[\w.]*(?:rocm|git)[\w.]*")


def install() -> watching.Watcher:
    """Put the watcher in force, once, and return it."""
    return watching.install(__name__, watching.Watcher(before={MODULE: _constrain}))


def _constrain() -> None:
    at = place(sys.argv)
    if at is None or not rocm.concerns(MODULE):
        return
    kept = installed()
    if not kept:
        return
    with tempfile.NamedTemporaryFile("w", prefix="anywarp-", suffix=".txt", delete=False) as file:
        file.write("".join(f"{each}\n" for each in kept))
    atexit.register(Path(file.name).unlink, missing_ok=True)
    sys.argv[at:at] = ["--constraint", file.name]
    patches.write_down("sys.argv of pip", True, f"packages for ROCm stay as they are: {' '.join(kept)}")
    text = f"pip keeps {' '.join(kept)}: PyPI's builds are for CUDA"
    messages.say_once(Diagnostic("F034", text, "note", help="name torch in the command to have it replaced"))


def place(words: Sequence[str]) -> int | None:
    """Return where a further option belongs in pip's command line, behind the command; None where nothing is to be kept.

    What does not go into the environment (`--target`, pip's own environments for building) takes nothing out of it.
    """
    at = next((at for at, word in enumerate(words) if at and word == "install"), None)
    if at is None:
        return None
    for word in words[at + 1 :]:
        name = re.split(r"[=<>!~\[@ ;]", word)[0]
        if name in KEPT or name in ELSEWHERE or "rocm" in word.lower():
            return None
    return at + 1


def installed() -> list[str]:
    """Return the builds for ROCm that are installed, each as `name==version`."""
    versions = {name: rocm.version_of(name) for name in KEPT}
    return [f"{name}=={version}" for name, version in versions.items() if _FOR_ROCM.fullmatch(version)]
