"""Which torch is installed in a folder, read from its files: importing it is what must not happen yet.

Version, commit and kind of build decide whether there is a stand-in for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from anywarp import settings
from anywarp.diagnostics import AnywarpError, Diagnostic

OLDEST, NEWEST = (2, 4), (2, 13)
"""The oldest minor version of torch whose headers the sources of the stand-in compile against, and the newest, which is the one that
was run; a newer one is tried, an older one refused."""

CUDA_BUILDS = ((2, 10), (2, 15))
"""The oldest and the newest minor version of which a CUDA build was run by us; older and newer ones must be asked for."""

VENDORS = {"cuda": "CUDA", "hip": "ROCm", "xpu": "XPU"}
"""Names in torch/version.py that hold a version in a build for that vendor, else None."""

_NEW_STRINGS = b"torchCheckFailEPKcS2_jRKNSt7__cxx11"
"""Part of a symbol of libc10 (c10::detail::torchCheckFail) that has this form with the C++11 strings of libstdc++."""


@dataclass(frozen=True)
class Torch:
    """One installed torch: its folder, version without local part, commit, the vendor's build it is ("" for the CPU), and for which CUDA or ROCm."""

    folder: Path
    version: str
    commit: str
    vendor: str
    cuda: str = ""
    hip: str = ""

    @property
    def minor(self) -> tuple[int, int]:
        """Return major and minor version."""
        major, minor = self.version.split(".")[:2]
        return int(major), int(minor)

    @property
    def identity(self) -> str:
        """Return what tells it from others, and what a binary built for it carries: version, commit and vendor."""
        return f"{self.version} {self.commit}{f' {self.vendor}' if self.vendor else ''}"

    @property
    def runtime(self) -> str:
        """Return the name of the CUDA runtime that its libraries ask for; "" where it is no CUDA build."""
        return f"libcudart.so.{self.cuda.partition('.')[0]}" if self.cuda else ""

    def has_cxx11_strings(self) -> bool:
        """Tell which form of std::string its libraries are built with (wheels before 2.6 have the old one)."""
        return _NEW_STRINGS in (self.folder / "lib" / "libc10.so").read_bytes()


def is_torch(folder: Path) -> bool:
    """Tell whether a folder that `import torch` would take is PyTorch, and not something else of that name."""
    return (folder / "version.py").is_file() and (folder / "lib" / "libtorch_cpu.so").is_file()


def read(folder: Path) -> Torch:
    """Read torch/version.py; AnywarpError (F002) when it tells no version."""
    text = (folder / "version.py").read_text(encoding="utf-8", errors="replace")
    values = dict(re.findall(r"^(\w+)(?:\s*:[^=\n]*)?\s*=\s*['\"]([^'\"\n]*)['\"]", text, re.MULTILINE))
    version = values.get("__version__", "")
    match = re.match(r"\d+\.\d+(?:\.\d+)?[\w.]*", version)
    if match is None:
        place = folder / "version.py"
        raise AnywarpError(Diagnostic("F002", f"{place} tells no version", help="install torch again"))
    vendor = next((label for name, label in VENDORS.items() if values.get(name)), "")
    return Torch(
        folder,
        match.group(),
        values.get("git_version", "Unknown"),
        vendor,
        values.get("cuda", ""),
        values.get("hip", ""),
    )


def check(torch: Torch, any_vendor: bool = False) -> None:
    """Raise AnywarpError for a torch that gets no binary of ours: F001 for a vendor's build, unless `any_vendor` has one, F002 for one that is too old."""
    if torch.vendor and not any_vendor and (why := _left_alone(torch)):
        help = "anywarp serves torch by a CPU build of it: pip install torch --index-url URL of PyTorch's CPU wheels"
        if torch.cuda and settings.DEVICE.get() == "cpu":
            help = f"{settings.TORCH_CUDA_BUILD.name}=1 tries it all the same; or install a version that was run, or a CPU build"
        text = f"torch {torch.version} in {torch.folder} is a {torch.vendor} build and is not touched{why}"
        raise AnywarpError(Diagnostic("F001", text, severity="note", help=help))
    if torch.minor < OLDEST:
        raise AnywarpError(
            Diagnostic(
                "F002",
                f"torch {torch.version} in {torch.folder} is too old: `cuda` stays unavailable in it",
                help=f"install torch {'.'.join(map(str, OLDEST))} or newer",
            )
        )


def _left_alone(torch: Torch) -> str:
    """Say why a vendor's build is not touched, in words that follow others; "" for one that is served."""
    if not torch.cuda or settings.DEVICE.get() != "cpu":
        return " here"
    asked = settings.TORCH_CUDA_BUILD.get()
    if asked is not None:
        return "" if asked else f", as {settings.TORCH_CUDA_BUILD.name} says"
    first, last = CUDA_BUILDS
    if first <= torch.minor <= last:
        return ""
    spans = ".".join(map(str, first)) + (f" to {'.'.join(map(str, last))}" if last > first else "")
    return f": of CUDA builds those of {spans} are served"
