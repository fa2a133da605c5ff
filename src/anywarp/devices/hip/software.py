"""Which ROCm this machine has, whether it fits its GPUs, and whether the installed PyTorch does: for `anywarp doctor`.

Only files are read: loading ROCm takes seconds, and what does not fit is exactly what would fail to load.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from anywarp.devices.facts import Fact
from anywarp.devices.hip.tables import first_with, number, release
from anywarp.devices.hip.topology import Processor

PLACES = ("opt/rocm", "usr")
"""Where AMD's packages and distributions put ROCm; beside them opt/rocm-VERSION, the newest first."""

OLDEST = (6, 0)

_KERNELS = ("lib/rocblas/library", "lib/rocblas/*/library", "lib/*/rocblas/*/library")
"""Where rocBLAS keeps its kernels: in AMD's packages, and in distributions (Debian's librocblas4: lib/x86_64-linux-gnu/rocblas/VERSION)."""

LIBRARIES = {
    "libamdhip64": "hip-runtime-amd",
    "libhipblas": "hipblas",
    "libhipblaslt": "hipblaslt",
    "libMIOpen": "miopen-hip",
    "libhipfft": "hipfft",
    "libhiprand": "hiprand",
    "libhipsparse": "hipsparse",
    "libhipsolver": "hipsolver",
    "librccl": "rccl",
}
"""What our libraries forward to, and the package of AMD's that brings it."""


@dataclass(frozen=True, slots=True)
class Rocm:
    """An installation: where, its version as far as it tells (else empty), and which of LIBRARIES are in it."""

    folder: Path
    version: str
    libraries: frozenset[str]


def find_rocm(root: Path = Path("/")) -> Rocm | None:
    """Return the ROCm that programs find, None when there is none."""
    try:
        numbered = sorted((root / "opt").glob("rocm-*"), key=lambda p: number(p.name[5:]), reverse=True)
    except OSError:
        numbered = []
    for folder in (root / PLACES[0], *numbered, root / PLACES[1]):
        found = _libraries(folder)
        if "libamdhip64" in found:
            return Rocm(folder, _version(folder), found)
    return None


def examine_rocm(found: tuple[Processor, ...], root: Path = Path("/")) -> Iterator[Fact]:
    """Yield what is found about ROCm, for the GPUs that this machine has."""
    rocm = find_rocm(root)
    if rocm is None:
        if found:
            mend = "sudo apt install hip-runtime-amd (AMD's packages) or libamdhip64-6 (Debian's); a ROCm build of PyTorch brings its own"
            yield Fact("rocm", "runtime", "warning", "no libamdhip64: programs cannot reach the GPU", mend)
        else:
            yield Fact("rocm", "runtime", "absent", "no ROCm; only needed to run on AMD GPUs")
        return
    yield _runtime(rocm)
    wanted = sorted({gpu.architecture for gpu in found})
    yield from (_fits(rocm, architecture) for architecture in wanted)
    yield from _products(rocm, wanted)
    missing = sorted(set(LIBRARIES) - rocm.libraries)
    if missing:
        status, mend = (
            ("warning", "sudo apt install " + " ".join(LIBRARIES[name] for name in missing))
            if found
            else ("absent", "")
        )
        yield Fact("rocm", "libraries", status, f"missing: {', '.join(missing)}", mend)
    else:
        yield Fact("rocm", "libraries", "ok", "all that CUDA's libraries are forwarded to")


def examine_torch(found: tuple[Processor, ...], torch: Path | None) -> Iterator[Fact]:
    """Yield whether the PyTorch in the folder given was built for these GPUs; nothing where there is neither."""
    if torch is None or not found:
        return
    version = re.search(r"^hip\s*(?::[^=]*)?=\s*['\"]([\d.]+)", _text(torch / "version.py"), re.MULTILINE)
    if version is None:
        mend = (
            "install the build for your ROCm from PyTorch's index of wheels, .../whl/rocmX.Y, where X.Y is its version"
        )
        yield Fact("rocm", "torch", "warning", "this PyTorch has no ROCm in it: it does not see the AMD GPU", mend)
        return
    built = architectures_of(torch)
    for wanted in sorted({gpu.architecture for gpu in found}):
        if built and wanted not in built:
            mend = (
                f"install a build that has {wanted}, or set HSA_OVERRIDE_GFX_VERSION to one of its family that is there"
            )
            text = f"has no code for {wanted}, only for {', '.join(sorted(built))}"
            yield Fact("rocm", "torch", "warning", text, mend)
        elif built:
            yield Fact("rocm", "torch", "ok", f"for ROCm {version[1]}, has code for {wanted}")


def architectures_of(torch: Path) -> frozenset[str]:
    """Return the architectures that a ROCm build of PyTorch has code for, by the names of its rocBLAS kernels; empty: not known."""
    try:
        names = [path.name for path in (torch / "lib/rocblas/library").iterdir()]
    except OSError:
        return frozenset()
    return frozenset(match[0] for name in names if (match := re.search(r"gfx[0-9a-f]{3,4}", name)))


def _runtime(rocm: Rocm) -> Fact:
    text = f"ROCm {rocm.version or 'of an unknown version'} in {rocm.folder}"
    if rocm.version and number(rocm.version)[:2] < OLDEST:
        return Fact(
            "rocm", "runtime", "warning", text, "install ROCm 6.0 or newer: older ones lack calls that programs need"
        )
    return Fact("rocm", "runtime", "ok", text)


def _fits(rocm: Rocm, architecture: str) -> Fact:
    row = release(rocm.version)
    if row is None:
        return Fact("rocm", architecture, "absent", f"we have no list of GPUs for ROCm {rocm.version or '?'}")
    if architecture in row.architectures:
        return Fact("rocm", architecture, "ok", f"listed by AMD for ROCm {row.rocm}; PyTorch {', '.join(row.pytorch)}")
    since = first_with(architecture)
    newer = since if since and number(since) > number(rocm.version) else ""
    mend = f"install ROCm {newer} or newer" if newer else "it may work; AMD does not test it"
    return Fact("rocm", architecture, "warning", f"not listed by AMD for ROCm {row.rocm}", mend)


def _products(rocm: Rocm, wanted: list[str]) -> Iterator[Fact]:
    """Yield the architectures for which rocBLAS has no kernels: it makes a handle for them, and stops the program at the first product."""
    names = [path.name for place in _KERNELS for path in rocm.folder.glob(f"{place}/TensileLibrary_*")]
    built = {match[1] for name in names if (match := re.match(r"TensileLibrary_(?:lazy_)?.*?(gfx[0-9a-f]{3,4})", name))}
    for architecture in wanted:
        if built and architecture not in built:
            text = f"rocBLAS has no kernels for it (no TensileLibrary_lazy_{architecture}.dat), only for {', '.join(sorted(built))}: cuBLAS will not work"
            mend = "install AMD's package rocblas in the place of the distribution's"
            yield Fact("rocm", architecture, "warning", text, mend)


def _libraries(folder: Path) -> frozenset[str]:
    found: set[str] = set()
    for place in (folder / "lib", folder / "lib64", folder / "lib/x86_64-linux-gnu"):
        try:
            names = [path.name for path in place.iterdir()]
        except OSError:
            continue
        found |= {name for name in LIBRARIES if any(have.startswith(name + ".so") for have in names)}
    return frozenset(found)


def _version(folder: Path) -> str:
    for place in (".info/version", ".info/version-rocm", "share/rocm/version"):
        found = number(_text(folder / place))
        if found:
            return ".".join(map(str, found))
    return ".".join(map(str, number(folder.resolve().name.removeprefix("rocm-"))))


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
