"""libc10_cuda and libtorch_cuda for extensions in C++ and CUDA: the functions of torch's CUDA libraries that they call.

CPU builds of torch bring the headers of these libraries and not the libraries. Ours are small and forward to the stand-in; they are
compiled when the first extension is, since who builds extensions has a compiler, and kept for those who only import one.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from anywarp import settings
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.frameworks.torch import binary, build, found, messages

C10, TORCH = "libc10_cuda.so", "libtorch_cuda.so"

OF_C10 = ("allocator", "functions", "streams")
"""The sources of the first library; the others are the second's."""

RUNTIME = "libcudart.so.13"

LIBRARIES = ("libcublas.so.13", "libcublasLt.so.13", "libcusparse.so.12", "libcusolver.so.12")
"""What the second needs, as in a CUDA build: extensions that call these are often not linked to them."""

FLAGS = ("-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-unused-parameter")


def sources() -> Path:
    """Return the folder of the sources, `native/torch_cuda` in the installed package or in the checkout."""
    return build.native_folder() / "torch_cuda"


def headers() -> Path:
    """Return the folder of headers that torch's own headers for CUDA include and neither it nor a CUDA toolkit of ours brings."""
    return sources() / "include"


def folder(torch: found.Torch) -> Path:
    """Return where the libraries for this torch lie, or will."""
    how = " ".join((*FLAGS, *OF_C10, *LIBRARIES))
    known = hashlib.sha256(f"{torch.identity}\n{how}\n{settings.LIBRARY_DIR.get().resolve()}\n".encode())
    for path in sorted(each for each in sources().rglob("*") if each.is_file()):
        known.update(f"{path.name}\n".encode() + path.read_bytes())
    return messages.place() / f"{_name(torch)}{known.hexdigest()[:16]}"


def _name(torch: found.Torch) -> str:
    return f"extensions-{torch.version}-"


def make(torch: found.Torch) -> Path:
    """Compile the libraries where they are not there yet, and return their folder.

    AnywarpError: F003 without a compiler, F009 when they do not compile.
    """
    place = folder(torch)
    if (place / TORCH).exists():
        return place
    messages.say(f"compiling what extensions of torch {torch.version} are linked against (once; a minute)")
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix="making-") as made:
        try:
            _compile(torch, Path(made), binary.compiler())
        except subprocess.CalledProcessError as error:
            lines = [line for line in error.stderr.splitlines() if "error" in line] or error.stderr.splitlines()
            text = f"the libraries that extensions of torch {torch.version} need do not compile: {''.join(lines[:1])}"
            raise AnywarpError(Diagnostic("F009", text, help="g++ 11 or newer is needed")) from error
        Path(made).chmod(0o700)
        try:
            os.rename(made, place)
        except OSError:
            if not (place / TORCH).exists():  # else another process was faster
                raise
        else:
            Path(made).mkdir()  # what the end of the block removes
    return place


def load(torch: found.Torch) -> bool:
    """Load the libraries if they have been made, so that extensions find them by name; tells whether they were."""
    if not any(messages.place().glob(f"{_name(torch)}*")):
        return False  # without reading the sources, as every process that imports torch comes here
    place = folder(torch)
    if not (place / TORCH).exists():
        return False
    for path in (settings.LIBRARY_DIR.get() / RUNTIME, place / C10, place / TORCH):
        ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    return True


def _compile(torch: found.Torch, out: Path, compiler: list[str]) -> None:
    from anywarp.toolchain import compile_commands  # late: only who builds extensions needs it

    libraries, include = settings.LIBRARY_DIR.get().resolve(), torch.folder / "include"
    places = [headers(), include, include / "torch/csrc/api/include", *compile_commands.FOLDERS]
    command = [
        *compiler, *FLAGS, f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.has_cxx11_strings())}", f"-I{sources()}",
        *(word for place in places for word in ("-isystem", str(place))),
    ]  # fmt: skip
    objects = [out / f"{path.stem}.o" for path in sorted(sources().glob("*.cpp"))]
    for made in objects:
        _run([*command, "-c", str(sources() / f"{made.stem}.cpp"), "-o", str(made)])
    link = [*compiler, "-shared", "-Wl,--no-as-needed", f"-Wl,-rpath,{libraries}", f"-L{torch.folder / 'lib'}"]
    needs = [str(libraries / RUNTIME), "-lc10", "-ltorch_cpu"]
    # Functions of the stand-in stay undefined: it is in the process before these are.
    of_c10 = [str(made) for made in objects if made.stem in OF_C10]
    _run([*link, f"-Wl,-soname,{C10}", "-o", str(out / C10), *of_c10, *needs])
    of_torch = [str(made) for made in objects if made.stem not in OF_C10]
    needs += ["-Wl,-rpath,$ORIGIN", str(out / C10), *(str(libraries / each) for each in LIBRARIES)]
    _run([*link, f"-Wl,-soname,{TORCH}", "-o", str(out / TORCH), *of_torch, *needs])
    for path in objects:
        path.unlink()


def _run(command: list[str]) -> None:
    """Run a compiler; CalledProcessError holds what it said."""
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True)
