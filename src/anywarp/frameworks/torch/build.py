"""Compiling the stand-in against the headers of the torch that is installed.

The same code builds the binary of a checkout, of a wheel and of a first use on a machine with another torch.
"""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from anywarp import settings
from anywarp.diagnostics import AnywarpError
from anywarp.frameworks.torch import found

NAME = "libanywarp_torch.so"

FLAGS = (
    "-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-fno-strict-aliasing",
    "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off",
    "-Wall", "-Wextra", "-Wno-unused-parameter",
)  # fmt: skip
"""What decides the values computed is the same for every compiler: clang would fuse products and sums where the processor can, GCC
does not with this -std. Random numbers are a card's to the last bit (native/torch/random_philox.cpp)."""

PRECOMPILED = "precompiled.h"

TOGETHER = 12
"""How many sources are compiled as one: what they instantiate of torch's templates is then compiled once."""

SHARED = ("torch/exported.cpp", "torch/version.cpp")
"""What of the stand-in is in what maps `cuda` to an accelerator, too."""

HEADERS = ("cuda/cuda_api.h", "cuda/cuda_types.h")
"""What the sources use of `native` beside their own folder."""


@dataclass(frozen=True)
class Kind:
    """One of the binaries that are made of the sources."""

    folder: str
    """Which sources and headers of `native` it alone has."""
    without: str
    """What follows for the program where there is none."""
    mark: str = ""
    """What it carries behind the identity of the torch that it was made for."""


STAND_IN = Kind("torch/backend", "`cuda` stays unavailable")
"""What a CPU build of torch lacks of a CUDA backend."""

OVER_CUDA = Kind("torch/cuda_build", "its kernels for NVIDIA's cards do not run here")
"""The same, over the libraries that a CUDA build has."""

MAPPING = Kind("torch_accelerator", "`cuda` stays unavailable", " accelerator")
"""What maps `cuda` to an accelerator, whatever build of torch that is (accelerators/)."""


def kind_for(torch: found.Torch) -> Kind:
    """Return what serves a torch on the processor."""
    return OVER_CUDA if torch.cuda else STAND_IN


def native_folder() -> Path:
    """Return the folder that holds `torch/` and `cuda/`: `native` in the installed package or in the checkout."""
    package = Path(__file__).resolve().parents[2]
    installed = package / "native"
    return installed if installed.is_dir() else package.parents[1] / "native"


def sources(native: Path, kind: Kind = STAND_IN) -> list[Path]:
    """Return the C++ files of a binary."""
    if kind is MAPPING:
        return [*sorted((native / kind.folder).glob("*.cpp")), *(native / each for each in SHARED)]
    left = native / (STAND_IN if kind is OVER_CUDA else OVER_CUDA).folder
    return sorted(each for each in (native / "torch").rglob("*.cpp") if left not in each.parents)


def digest(native: Path, kind: Kind = STAND_IN) -> str:
    """Return 16 hex digits over all that decides what is compiled: sources, headers and flags."""
    known = hashlib.sha256(" ".join(FLAGS).encode())
    for path in [
        *sources(native, kind),
        *sorted((native / "torch").rglob("*.h")),
        *sorted((native / kind.folder).glob("*.h") if kind is MAPPING else ()),
        *(native / each for each in HEADERS),
    ]:
        content = path.read_bytes()
        known.update(f"{path.relative_to(native).as_posix()}\n{len(content)}\n".encode())
        known.update(content)
    return known.hexdigest()[:16]


def compile_all(
    native: Path,
    torch: found.Torch,
    out: Path,
    compiler: Sequence[str] = ("g++",),
    jobs: int = 2,
    progress: Callable[[int, int], None] = lambda done, of: None,
    strict: bool = False,
    warn: Callable[[str], object] = lambda words: None,
    together: int = TOGETHER,
    kind: Kind | None = None,
) -> Path:
    """Compile what changed and link `out`/libanywarp_torch.so, which appears whole or not at all; without a `kind`, `kind_for(torch)`.

    `together` files are compiled as one; 1 is for who changes them often. `progress` hears how many parts of how many are ready, `warn` what
    the compiler said of one that compiled. Returns the path; CalledProcessError with the compiler's words (stderr, text) when a file does not
    compile.
    """
    kind = kind or kind_for(torch)
    out.mkdir(parents=True, exist_ok=True)
    include = torch.folder / "include"
    base = [
        *compiler, *FLAGS, *(["-Werror"] if strict else []),
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.has_cxx11_strings())}", f'-DAWT_TORCH_VERSION="{torch.identity}{kind.mark}"',
        f"-ffile-prefix-map={native}=native", f"-ffile-prefix-map={torch.folder}=torch",
        f"-I{native}", f"-I{native / 'torch'}", f"-I{native / kind.folder}", *(_cuda_headers(torch.cuda.partition(".")[0]) if kind is OVER_CUDA else ()),
        "-isystem", str(include), "-isystem", str(include / "torch/csrc/api/include"),
    ]  # fmt: skip
    files = _parts(sources(native, kind), native, out, together)
    names = [f"{_flat(each, native / 'torch')}.o" for each in files]
    stamp = " ".join(base)
    done: list[Path] = []
    ready = _precompiled(compiler, base, native / "torch" / PRECOMPILED, out)

    def one(source: Path, name: str) -> Path:
        target = out / name
        if not _current(target, stamp):
            warn(_compile([*base, *ready, "-c"], source, target, stamp))
        done.append(target)
        progress(len(done), len(files))
        return target

    pool = ThreadPoolExecutor(jobs)
    try:
        objects = list(pool.map(one, files, names))
    finally:
        pool.shutdown(cancel_futures=True)  # at the first error, or Ctrl-C, start nothing more
    library = out / NAME
    if not library.exists() or any(library.stat().st_mtime <= each.stat().st_mtime for each in objects):
        _link(compiler, torch, kind, objects, library)
    return library


def _cuda_headers(major: str) -> list[str]:
    """Return the options for CUDA's headers, which those of a CUDA build of torch include: ours."""
    headers = Path(__file__).resolve().parents[2] / "toolchain" / "include"
    return [word for each in ("cuda", "device", major) for word in ("-isystem", str(headers / each))]


def _parts(found: Sequence[Path], native: Path, out: Path, together: int) -> list[Path]:
    """Return what is compiled: the sources, or files in `out` that include up to `together` of one folder each."""
    if together == 1:
        return list(found)
    parts: list[Path] = []
    by_folder = sorted(found, key=lambda each: (each.parent, each.name))
    for folder, group in itertools.groupby(by_folder, lambda each: each.parent):
        files = list(group)
        for first in range(0, len(files), together):
            part = out / f"{_flat(folder, native)}_{first // together}.cpp"
            text = "".join(f'#include "{each}"\n' for each in files[first : first + together])
            if not part.is_file() or part.read_text() != text:
                part.write_text(text)
            parts.append(part)
    return parts


def _flat(path: Path, root: Path) -> str:
    return (path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name).replace("/", "_")


def _precompiled(compiler: Sequence[str], base: Sequence[str], header: Path, out: Path) -> list[str]:
    """Precompile the header that nearly every file includes; returns the options that use it.

    Half of the time of most files is spent in torch's headers. GCC takes FILE.gch in the place of an included FILE, clang a file by
    its name; compilers other than these two keep such headers in ways of their own.
    """
    said = _call([*compiler, "--version"], of="stdout") if header.exists() else ""
    gcc, clang = "Free Software Foundation" in said, "clang version" in said
    if not (gcc or clang):
        return []
    target, stamp = out / f"{header.name}.{'gch' if gcc else 'pch'}", " ".join(base)
    if not _current(target, stamp):
        _compile([*base, "-x", "c++-header"], header, target, stamp)
    return ["-include", str(target.with_suffix("")), "-Winvalid-pch"] if gcc else ["-include-pch", str(target)]


def _compile(base: Sequence[str], source: Path, target: Path, stamp: str) -> str:
    """Compile one file; `base` ends with the option that says to what."""
    beside = target.with_suffix(f".{os.getpid()}.new")
    depends = target.with_suffix(".d")
    try:
        words = _call([*base, str(source), "-MD", "-MF", str(depends), "-o", str(beside)])
        target.with_suffix(".flags").write_text(stamp)
        os.replace(beside, target)
        return words
    finally:
        beside.unlink(missing_ok=True)


def _link(compiler: Sequence[str], torch: found.Torch, kind: Kind, objects: Sequence[Path], library: Path) -> None:
    beside = library.with_suffix(f".{os.getpid()}.new")
    more: list[str] = []
    if kind is OVER_CUDA:
        # Of a CUDA build's libraries those of NVIDIA's that they want are not looked at: ours are there when it is loaded.
        runtime = settings.LIBRARY_DIR.get() / torch.runtime
        more = ["-lc10_cuda", "-ltorch_cuda", "-Wl,--allow-shlib-undefined", str(runtime)]
    elif kind is MAPPING:
        more = [f"-Wl,-rpath,{torch.folder / 'lib'}"]
    try:
        _call([
            *compiler, "-shared", "-o", str(beside), *map(str, objects), f"-L{torch.folder / 'lib'}", "-lc10", "-ltorch_cpu", *more,
            f"-Wl,-soname,{NAME}", "-Wl,-z,defs", "-Wl,-z,relro", "-Wl,-z,now", "-ldl", "-lpthread",
        ])  # fmt: skip
        os.replace(beside, library)
    finally:
        beside.unlink(missing_ok=True)


def _current(target: Path, stamp: str) -> bool:
    """Tell whether an object is newer than all that went into it and was made with the same flags."""
    try:
        made = target.stat().st_mtime
        if target.with_suffix(".flags").read_text() != stamp:
            return False
        words = target.with_suffix(".d").read_text().replace("\\\n", " ").split(":", 1)[1].split()
        return all(os.stat(word).st_mtime < made for word in words)
    except (OSError, IndexError):
        return False


def _call(command: Sequence[str], of: str = "stderr") -> str:
    """Run a compiler and return what it said; CalledProcessError holds the same."""
    pipe = subprocess.PIPE
    done = subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True)
    return done.stdout if of == "stdout" else done.stderr


def ship(
    native: Path,
    torch: found.Torch,
    libraries: Path,
    jobs: int,
    strict: bool,
    together: int = TOGETHER,
    compiler: Sequence[str] = ("g++",),
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Path:
    """Build into `libraries`/torch/VERSION, the objects beside `libraries`, and return the binary's path."""
    objects, warn = libraries.parent / "torch" / torch.version, sys.stderr.write
    made = compile_all(native, torch, objects, compiler, jobs, progress, strict, warn, together)
    place = libraries / "torch" / torch.version / NAME
    if not place.exists() or place.read_bytes() != made.read_bytes():
        place.parent.mkdir(parents=True, exist_ok=True)
        beside = place.with_suffix(f".{os.getpid()}.new")
        shutil.copyfile(made, beside)
        os.replace(beside, place)
    return place


def main() -> None:
    """Build for a torch folder, `NATIVE TORCH OUT`; or `--ship NATIVE LIBRARIES JOBS STRICT UNITY [TORCH...]` for the torch of
    this Python, if it has one, and for others.

    What the compiler says goes to stderr.
    """
    words = sys.argv[1:]
    try:
        if words[0] == "--ship":
            native, libraries, *others = (Path(words[each]).absolute() for each in (1, 2, *range(6, len(words))))
            together = TOGETHER if words[5] == "ON" else 1
            _ship_each(native, libraries, int(words[3]), words[4] == "ON", together, others)
        else:
            native, folder, out = (Path(each).absolute() for each in words[:3])
            compile_all(native, found.read(folder), out, warn=sys.stderr.write)
    except subprocess.CalledProcessError as error:
        sys.exit(error.stderr)


def _ship_each(native: Path, libraries: Path, jobs: int, strict: bool, together: int, others: Sequence[Path]) -> None:
    spec = importlib.util.find_spec("torch")
    here = [Path(spec.origin).parent] if spec is not None and spec.origin else []
    for folder in (each for each in [*here, *others] if found.is_torch(each)):
        torch = found.read(folder)
        try:
            found.check(torch)
            ship(native, torch, libraries, jobs, strict, together)
        except AnywarpError as error:  # a vendor's build, or too old: nothing to build, and no reason to fail
            print(error.diagnostic.as_text(), file=sys.stderr)
        except subprocess.CalledProcessError as error:
            if torch.minor <= found.NEWEST:
                raise
            print(
                f"torch {torch.version} is newer than this anywarp; not built for it:\n{error.stderr}", file=sys.stderr
            )


if __name__ == "__main__":
    main()
