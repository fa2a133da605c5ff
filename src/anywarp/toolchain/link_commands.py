"""The command lines that make programs, libraries and archives of objects, with the host's own linker.

The runtime library is always the shared one: NVIDIA's static one is NVIDIA's code.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from anywarp import settings
from anywarp.toolchain import clang as compilers
from anywarp.toolchain import codes, cuda_home, openmp
from anywarp.toolchain.compile_commands import passed_on
from anywarp.toolchain.options import CommandLine

RUNTIME = "libcudart.so.13"
"""The runtime library that programs are linked with; its headers are the ones we compile with."""

_COMPILERS = ("g++", "c++", "clang++")
_RUNTIMES = ("none", "shared", "static")


def host_compiler(line: CommandLine, language: str = "c++") -> list[str]:
    """Return the program that links and compiles C++: -ccbin, else CXX, else the machine's, else clang's own.

    AnywarpError (T004) when -ccbin names none.
    """
    asked = line.last("compiler-bindir")
    if asked:
        return [_in_folder(asked) if Path(asked).is_dir() else _existing(asked)]
    names = [settings.CXX.get(), *_COMPILERS] if language == "c++" else ["gcc", "cc", "clang"]
    found = next((name for name in names if name and shutil.which(name.split()[0])), None)
    if found is not None:
        return found.split()
    clang = compilers.find()
    return [*clang.command[:-1], "c++" if language == "c++" else "cc"] if len(clang.command) > 1 else [*clang.command]


def program(line: CommandLine, objects: Sequence[str], output: str) -> list[str]:
    """Return the command that links a program, or with --shared a library."""
    libraries = settings.LIBRARY_DIR.get().resolve()
    words = [*host_compiler(line), "-m64" if line.flag("m64") else ""]
    words += ["-shared"] if line.flag("shared") else []
    words += ["-r"] if line.flag("relocatable-link") else []
    options, parallel = openmp.linked(passed_on(line.all("compiler-options")))
    words += options
    if line.flag("forward-unknown-opts") or line.flag("forward-unknown-to-host-linker"):
        words += line.unknown
    words += ["-Wl,--start-group", *objects, *parallel]
    words += [f"-L{folder}" for folder in line.all("library-path")]
    if not line.flag("relocatable-link"):
        words += [*cuda_home.library_options(), *(f"-l{name}" for name in line.all("library")), *_runtime(line)]
        words += [f"-Wl,-rpath,{libraries}"]
    words += ["-Wl,--end-group"]
    given = passed_on(line.all("linker-options"))
    words += [word if word.startswith("-Wl,") else f"-Wl,{word}" for word in given]
    return [word for word in words if word] + ["-o", output]


def archive(line: CommandLine, objects: Sequence[str], output: str) -> list[str]:
    """Return the command that puts objects into a library."""
    archiver = line.last("archiver-binary") or shutil.which("ar")
    words = [archiver] if archiver else [*compilers.find().command[:-1], "ar"]
    return [*words, "rcs", *line.all("archive-options"), output, *objects]


def _runtime(line: CommandLine) -> list[str]:
    """Return the runtime library as nvcc asks for it; either form is our shared one (`cuda_home.py`)."""
    kind = line.last("cudart", "static")
    if kind not in _RUNTIMES:
        message = f"-cudart takes {', '.join(_RUNTIMES)}, not {kind!r}"
        raise codes.problem(codes.BAD_OPTION, message, "write one of them")
    libraries = settings.LIBRARY_DIR.get().resolve()
    if kind != "none" and not (libraries / RUNTIME).exists():
        message = f"{RUNTIME} is not in {libraries}"
        raise codes.problem(codes.NOT_BUILT, message, "in a checkout, build it with scripts/build")
    named = {"static": ["-lcudadevrt", "-lcudart_static"], "shared": ["-lcudadevrt", "-lcudart"], "none": []}[kind]
    return [*named, "-lrt", "-lpthread", "-ldl"]


def _in_folder(folder: str) -> str:
    found = next((str(Path(folder) / name) for name in _COMPILERS if (Path(folder) / name).exists()), None)
    return found or _existing(str(Path(folder) / _COMPILERS[0]))


def _existing(name: str) -> str:
    if shutil.which(name) is None:
        raise codes.problem(
            codes.NO_HOST_LINKER, f"-ccbin {name}: there is no such compiler", "give the path of a C++ compiler"
        )
    base = Path(name).name
    driver = (
        base.replace("gcc", "g++") if "gcc" in base else base.replace("clang", "clang++") if base == "clang" else base
    )
    return str(Path(name).with_name(driver)) if "/" in name else driver
