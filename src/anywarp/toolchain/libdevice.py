"""libdevice.10.bc of our own: the device library as bitcode, for compilers that link NVIDIA's file of this name (XLA, Triton, clang).

`python -m anywarp.toolchain.libdevice FILE` writes it; releases do, so that who has no clang finds it in the wheel. Elsewhere it
is made when it is first asked for, of include/libdevice/libdevice.cu and the device's headers.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from anywarp import settings
from anywarp.diagnostics import AnywarpError
from anywarp.toolchain import clang as compilers
from anywarp.toolchain import codes, compile_commands
from anywarp.toolchain.architectures import Architecture

NAME = "libdevice.10.bc"
"""The file's name: 10 is the version that NVIDIA's has had since CUDA 9, and which compilers look for."""

SOURCE = compile_commands.INCLUDE / "libdevice/libdevice.cu"

_HEADER = 'target datalayout = "e-i64:64-v16:16-v32:32-n16:32:64"\ntarget triple = "nvptx64-nvidia-gpulibs"\n'
"""What the module says of its target: as NVIDIA's, since LLVM's linker takes just this together with every other NVPTX target."""

_REFLECT, _HELD = "@__nvvm_reflect(", "@__aw_held_reflect("
_DROPPED = re.compile(
    r"^(?:source_filename|target|!|; ).*\n|, !(?!\{)[\w.]+ ![0-9]+|\b(?:noundef|dso_local|local_unnamed_addr|samesign|mustprogress) "
    r"|\b(?:captures|range|nofpclass|initializes)\((?:[^()]|\([^()]*\))*\) ?",
    re.MULTILINE,
)
"""What the text is better without: nobody needs it, and old releases of LLVM do not know some of it."""
_LIFETIME = re.compile(r"^.*@llvm\.(?:lifetime\.|experimental\.noalias).*\n", re.MULTILINE)
_ATTRIBUTES = re.compile(r"^attributes #(\d+) = \{(.*)\}$", re.MULTILINE)
_DECLARATION = re.compile(r"^(declare .*\)).*$", re.MULTILINE)


def shipped() -> Path:
    """Return where a release has the file."""
    return settings.LIBRARY_DIR.get() / NAME


def find() -> Path:
    """Return the file, made first where there is none of these sources, by the Python that anywarp is installed in. AnywarpError (T008)."""
    if shipped().exists():
        return shipped()
    place = settings.CACHE_DIR.get().absolute() / f"libdevice-{_identity()}" / NAME
    if not place.exists():
        command = settings.python_command(str(settings.PYTHON.get()), "anywarp.toolchain.libdevice", str(place))
        done = subprocess.run(
            command, env=settings.service_environment(), capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode:
            raise _failed(done.stderr)
    return place


def make(place: Path) -> None:
    """Compile the library to `place`; readers see all of it or nothing. AnywarpError (T001, T008) where that fails."""
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(prefix="anywarp-libdevice-") as name:
        text = Path(name) / "library.ll"
        _run([*_front_end(), "-o", str(text), str(SOURCE)])
        text.write_text(_before(text.read_text(encoding="utf-8")), encoding="utf-8")
        _run([*_optimiser(), "-o", str(text), str(text)])
        content = _assemble(_afterwards(text.read_text(encoding="utf-8")))
    early = place.with_name(f".{place.name}.{os.getpid()}")
    early.write_bytes(content)
    os.replace(early, place)


def _front_end() -> list[str]:
    architecture = Architecture(80)  # no function depends on it
    words = [*compile_commands.base(architecture), f"--cuda-feature={architecture.ptx_feature}", "-cuid=libdevice"]
    # As NVRTC: without the machine's own headers, so that any machine makes the same file.
    words += ["-nostdlibinc", "-Wno-builtin-macro-redefined", "-D__STDC_HOSTED__=0", "-D__CUDACC_RTC__", "-D__CUDACC__"]
    words += ["-include", "anywarp/nvrtc.h", f"-I{compile_commands.NVRTC}", *compile_commands.own_headers()]
    words += ["-ffp-contract=fast", "-fno-strict-aliasing", "-fwrapv", "--cuda-device-only", "-S", "-emit-llvm"]
    return [*words, "-O3", "-Xclang", "-disable-llvm-passes"]


def _optimiser() -> list[str]:
    target = ["--target=nvptx64-nvidia-cuda", "-Wno-override-module", "-Wno-unused-command-line-argument"]
    return [*compilers.find().command, "-x", "ir", *target, "-O3", "-S", "-emit-llvm"]


def _before(text: str) -> str:
    """Return the front end's text for the optimiser, which is to inline small functions only and to leave the questions open."""

    def attributes(match: re.Match[str]) -> str:
        words = match[2]
        if "target-cpu" in words:  # of a function, not of a call
            return _group(match, "alwaysinline" if "alwaysinline" in words else "noinline")
        return _group(match, "memory(none)" if "memory(none)" in words else "")

    text = _DECLARATION.sub(r"\1", text).replace(_REFLECT, _HELD)
    return _HEADER + _ATTRIBUTES.sub(attributes, _DROPPED.sub("", text))


def _afterwards(text: str) -> str:
    """Return the optimiser's text as it goes into the file: every function is inlined by whoever links it."""

    def attributes(match: re.Match[str]) -> str:
        if "noinline" in match[2] or "alwaysinline" in match[2]:
            return _group(match, "alwaysinline")
        return _group(match, "memory(none)" if "memory(none)" in match[2] else "")

    text = _LIFETIME.sub("", _DECLARATION.sub(r"\1", text)).replace(_HELD, _REFLECT)
    return f'source_filename = "{NAME}"\n{_HEADER}' + _ATTRIBUTES.sub(attributes, _DROPPED.sub("", text))


def _group(match: re.Match[str], word: str) -> str:
    return f"attributes #{match[1]} = {{ nounwind {word} }}"


def _assemble(text: str) -> bytes:
    """Return the bitcode of a text. By LLVM itself: clang would write its own data layout over the module's."""
    from anywarp.compiler import bitcode  # not before: programs' own Pythons, which ask for the file, have no llvmlite

    try:
        return bitcode.assemble(text)
    except ValueError as error:
        raise _failed(str(error)) from None


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise _failed(done.stderr)


def _failed(reason: str) -> AnywarpError:
    help = (
        "`pip install 'anywarp[nvcc]'` brings a clang that compiles it; ANYWARP_CLANG must be unset, or name such a one"
    )
    return codes.problem(codes.LIBDEVICE, f"{NAME} cannot be made: {reason.strip()}", help)


def _identity() -> str:
    """Return 12 hex digits over what decides the file's content."""
    digest = hashlib.sha256()
    folders = (*compile_commands.FOLDERS[:2], compile_commands.NVRTC)
    headers = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    for path in (Path(__file__), SOURCE, *sorted(headers)):
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]


def main(arguments: Sequence[str]) -> int:
    """Write the file and return the exit code, 2 where it cannot be made."""
    if len(arguments) != 1:
        print("usage: python -m anywarp.toolchain.libdevice FILE", file=sys.stderr)
        return 2
    try:
        make(Path(arguments[0]))
    except AnywarpError as error:
        print(error.diagnostic.as_text(), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
