"""Packages that bring operators of their own for torch, and whether these were built for the torch that is installed.

The wheels that a package index hands out by default belong to torch's CUDA build. Beside a CPU build they are imported without a word and
register nothing (`operator torchvision::nms does not exist`), with anywarp as without it.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from anywarp.frameworks.torch import found
from anywarp.runtime.checkup import Fact

PACKAGES = ("torchvision", "torchaudio")

OF_CUDA_BUILDS = frozenset({"libtorch_cuda.so", "libc10_cuda.so"})
"""Libraries that only torch's CUDA build has."""


def statuses() -> Iterator[Fact]:
    """Yield what `anywarp doctor` says of each package that is installed beside a CPU build of torch."""
    folder = _folder("torch")
    if folder is None or not found.is_torch(folder):
        return
    torch = found.read(folder)
    for name in PACKAGES:
        package = _folder(name)
        if package is not None and not torch.vendor:
            yield status(name, package, torch)


def status(name: str, package: Path, torch: found.Torch) -> Fact:
    """Return what is to be said of one package and a CPU build of torch."""
    version = _version(package)
    missing = next((each for each in sorted(package.rglob("*.so")) if OF_CUDA_BUILDS & needed(each)), None)
    if missing is None:
        return Fact("software", name, "ok", f"{version}, built for a CPU build of torch")
    text = f"{version} was built for torch's CUDA build and its operators do not exist in torch {torch.version} for the CPU"
    wheel = wheel_for(name, torch)
    help = f"pip install '{wheel}' --force-reinstall --no-deps --index-url URL of PyTorch's CPU wheels"
    return Fact("software", name, "warning", text, help)


def wheel_for(name: str, torch: found.Torch) -> str:
    """Return the requirement of the package's release that belongs to a torch.

    torchvision 0.N came with torch 2.(N - 15) (its own metadata; PyTorch's list of releases); torchaudio has torch's version up to 2.11, its last.
    """
    major, minor = torch.minor
    if name == "torchvision" and major == 2:
        return f"torchvision==0.{minor + 15}.*"
    return f"{name}=={major}.{min(minor, 11)}.*"


def needed(library: Path) -> frozenset[str]:
    """Return the libraries that a library is linked to; nothing for a file that is none."""
    try:
        with library.open("rb") as file:
            section = ELFFile(file).get_section_by_name(".dynamic")
            if not isinstance(section, DynamicSection):
                return frozenset()
            return frozenset(str(getattr(tag, "needed", "")) for tag in section.iter_tags("DT_NEEDED"))
    except (OSError, ELFError, ValueError, KeyError, IndexError, UnicodeDecodeError, AssertionError, MemoryError):
        return frozenset()


def _version(package: Path) -> str:
    try:
        text = (package / "version.py").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    match = re.search(r"^__version__ = ['\"]([\w.+]{1,60})['\"]", text, re.MULTILINE)
    return match.group(1) if match else "of an unknown version"


def _folder(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec is not None and spec.origin else None
