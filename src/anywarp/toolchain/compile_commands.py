"""The command lines of clang: for the device's half of a file, for the host's half, for C++ that has no device half.

Both halves read the same source with the same headers; the host's half carries the device's as bytes.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anywarp.toolchain import clang as compilers
from anywarp.toolchain import core_libraries, openmp
from anywarp.toolchain.architectures import Architecture
from anywarp.toolchain.options import CommandLine

INCLUDE = Path(__file__).resolve().parent / "include"
FOLDERS = (INCLUDE / "cuda", INCLUDE / "device", INCLUDE / "13", INCLUDE / "libraries")
"""Our headers, in the order in which they are searched: they stand before the host's own, some of which they wrap."""

NVRTC = INCLUDE / "nvrtc"
"""Headers that stand before those that a program brings to NVRTC, and include them."""

MAJOR, MINOR, BUILD = 13, 5, 37
"""The version that macros tell: that of our headers, which libraries compare with it."""

RELEASE = f"{MAJOR}.{MINOR}.{BUILD}"
"""The same as --version and toolkits tell it: CMake reads both."""

_GCC_ONLY = (
    "-fno-gnu-unique", "-fconcepts", "-fmax-errors", "-fno-var-tracking", "-fvar-tracking", "-fno-tree-", "-ftree-", "-fno-ipa-",
    "-fipa-", "-fpermissive", "-fno-implement-inlines", "-fabi-compat-version", "-fno-semantic-interposition-", "-fdiagnostics-show-caret",
    "-fext-numeric-literals", "-fno-ext-numeric-literals", "-static-libgcc", "-static-libstdc++", "-frecord-gcc-switches", "--param",
)  # fmt: skip
"""Options of GCC that change no meaning and that clang refuses; the host's linker still gets them."""

_AS_GCC = ("-fwrapv", "-fno-vectorize")
"""What makes clang's code for the host do what that of the host's g++ does under nvcc, before the options that were given.

Signed numbers wrap around, as programs that g++ compiles have come to expect. Loops are not vectorized: clang 22.1.8 compiles nested loops
over `char` whose index is a remainder wrongly (examples/cuda/life.cu at -O2, in no sanitizer's view undefined; the pass is loop-vectorize,
and it is right with 0 runtime checks). -Xcompiler -fvectorize turns it on again.
"""

_SDK = "12.8"
"""The version of CUDA's runtime interface that clang generates calls for: the newest it knows; 13 has the same calls."""

_TOOLKIT, _OURS = "cuda_runtime.h", "anywarp/launch_syntax.h"
"""A header that toolkits have, and one that only our folders of headers have."""

_DEVICE_OPTIMISATION = {"-O0": "-O1", "-O1": "-O1", "-O2": "-O3", "-O3": "-O3"}
"""What -Xptxas asks for; never -O0, which would leave every variable in memory."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One file to be compiled as CUDA C++, and what distinguishes this compilation."""

    source: str
    architecture: Architecture
    relocatable: bool
    overlay: str = ""
    """A file that says what is seen in the place of files (shown.py)."""
    groups_with_atomics: bool = False
    """Whether `cooperative_groups.h` includes `cuda/atomic`, as NVIDIA's does; with CCCL's that takes a second."""

    @property
    def identity(self) -> str:
        """Return what keeps apart names that are private to files, the same for both halves."""
        text = f"{Path(self.source).absolute()} {self.architecture.name} {self.relocatable}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def device(line: CommandLine, unit: Unit, output: str) -> list[str]:
    """Return the command that compiles the device's half to PTX."""
    return [*_cuda(line, unit), *device_code(line, unit.architecture), "-o", output, unit.source]


def device_code(line: CommandLine, architecture: Architecture) -> list[str]:
    """Return the options that say what PTX is made."""
    levels = [_DEVICE_OPTIMISATION[word] for word in line.all("ptxas-options") if word in _DEVICE_OPTIMISATION]
    words = ["--cuda-device-only", "-S", levels[-1] if levels else "-O3", f"--cuda-feature={architecture.ptx_feature}"]
    words += _arithmetic(line)
    debug = line.flag("device-debug") or line.flag("generate-line-info")
    return [*words, *(["-gline-directives-only"] if debug else [])]


def from_ir(line: CommandLine, architecture: Architecture) -> list[str]:
    """Return the command that goes on from what `device_code` with -emit-llvm made."""
    words = device_code(line, architecture)[1:]
    feature = words.index(f"--cuda-feature={architecture.ptx_feature}")
    words[feature : feature + 1] = ["-Xclang", "-target-feature", "-Xclang", architecture.ptx_feature]
    target = [
        "-x",
        "ir",
        "--target=nvptx64-nvidia-cuda",
        f"-march={architecture.name}",
        "-Wno-unused-command-line-argument",
    ]
    return [*compilers.find().command, *target, *words]


def host(line: CommandLine, unit: Unit, fatbin: str | None, action: Sequence[str], output: str | None) -> list[str]:
    """Return the command for the host's half: `action` is what to make of it, `fatbin` what it carries."""
    words = [*_cuda(line, unit), f"--target={compilers.host_triple()}", "--cuda-host-only", *action]
    words += [*_AS_GCC, *code_generation(line)]
    if fatbin is not None:
        words += ["-Xclang", "-fcuda-include-gpubinary", "-Xclang", fatbin, "--no-offload-new-driver"]
    return [*words, *(["-o", output] if output is not None else []), unit.source]


def code_generation(line: CommandLine) -> list[str]:
    """Return the options for the host's code as clang makes it; programs are position-independent unless asked otherwise."""
    words = openmp.as_clang([word for word in host_options(line) if not word.startswith(_GCC_ONLY)])
    return [*words, *([] if _position_chosen(line) or line.flag("shared") else ["-fPIE"])]


def host_options(line: CommandLine) -> list[str]:
    """Return the options for the host's half of CUDA C++, which C++ files get too."""
    level = line.last("optimize")
    words = [f"-O{level}"] if level else []
    words += ["-g"] if line.flag("debug") else []
    words += ["-pg"] if line.flag("profile") else []
    words += ["-fno-exceptions"] if line.flag("no-exceptions") else []
    words += ["-fPIC"] if line.flag("shared") and not _position_chosen(line) else []
    words += passed_on(line.all("compiler-options"))
    if line.flag("forward-unknown-to-host-compiler") or line.flag("forward-unknown-opts"):
        words += line.unknown
    return words


def passed_on(values: Sequence[str]) -> list[str]:
    """Return words for another program, without the quotes that a makefile left around them."""
    return [part for value in values for part in _unquoted(value)]


def _unquoted(value: str) -> list[str]:
    try:
        return shlex.split(value)
    except ValueError:  # a quote that is never closed is a character
        return value.split()


def plain(
    line: CommandLine, compiler: Sequence[str], source: str, action: Sequence[str], output: str | None
) -> list[str]:
    """Return the command for a file without device code: the host's compiler, which finds our headers."""
    words = [*compiler, *preprocessor(line), *language_version(line), *host_options(line)]
    words += [*core_libraries.options(), *own_headers(), *action]
    return words + (["-o", output] if output is not None else []) + [source]


def language(line: CommandLine, source: str) -> str:
    """Return what a source is: cu, c++ or c, by -x or else its name; empty for what is no source."""
    _, dot, suffix = Path(source).name.rpartition(
        "."
    )  # `.c` counts: CMake files ask with it which compiler is behind nvcc
    known = {".cu": "cu", ".cpp": "c++", ".cxx": "c++", ".cc": "c++", ".C": "c++", ".c++": "c++", ".c": "c"}
    return line.last("x") or known.get(dot + suffix, "")


def _cuda(line: CommandLine, unit: Unit) -> list[str]:
    """Return what both halves have in common."""
    words = [*base(unit.architecture), f"-cuid={unit.identity}"]
    words += ["-ivfsoverlay", unit.overlay] if unit.overlay else []
    words += [f"-D{name}" for name in ("__NVCC__", "__CUDACC_EXTENDED_LAMBDA__", "__CUDACC_RELAXED_CONSTEXPR__")]
    words += [*macros(line, unit.relocatable), *preprocessor(line), *language_version(line), *_warnings(line)]
    words += [*core_libraries.options(), *own_headers(), *openmp.header(), "-include", "cuda_runtime.h"]
    words += ["-DANYWARP_GROUPS_WITH_ATOMICS"] if unit.groups_with_atomics else []
    for file in line.all("pre-include"):
        words += ["-include", file]
    words += ["-fgpu-rdc"] if unit.relocatable else []
    if line.last("default-stream") == "per-thread":
        words += ["-Xclang", "-fgpu-default-stream=per-thread", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"]
    return words


def base(architecture: Architecture) -> list[str]:
    """Return the command that clang's CUDA mode begins with, with our headers."""
    clang = compilers.find()
    words = [
        *clang.command, "-x", "cuda", *clang.options, f"--cuda-gpu-arch={architecture.name}", "-nocudainc", "-nocudalib",
        "--cuda-path=/", "-Wno-unknown-cuda-version", "-Wno-unknown-pragmas", "-Wno-unknown-warning-option", "-Wno-vla-cxx-extension",
        "-Wno-unused-command-line-argument", "-Xclang", f"-target-sdk-version={_SDK}",
    ]  # fmt: skip
    return words


def own_headers() -> list[str]:
    """Return the options for our headers, which come behind the folders that a program names: it may bring a library of CUDA's."""
    return [word for folder in FOLDERS for word in ("-isystem", str(folder))]


def macros(line: CommandLine, relocatable: bool) -> list[str]:
    """Return the macros that nvcc defines (manual, section NVCC identification macros)."""
    names = ["__CUDACC__"]
    names += ["__CUDACC_RDC__"] if relocatable else []
    names += ["__CUDACC_DEBUG__"] if line.flag("device-debug") else []
    names += ["__USE_FAST_MATH__"] if line.flag("use_fast_math") else []
    numbers = {
        "__CUDACC_VER_MAJOR__": MAJOR, "__CUDACC_VER_MINOR__": MINOR, "__CUDACC_VER_BUILD__": BUILD,
        "__CUDA_API_VER_MAJOR__": MAJOR, "__CUDA_API_VER_MINOR__": MINOR, "__NVCC_DIAG_PRAGMA_SUPPORT__": 1,
        "__CUDA_FTZ": int(flushes(line)), "__CUDA_PREC_DIV": int(_fast(line, "prec-div", True)),
        "__CUDA_PREC_SQRT": int(_fast(line, "prec-sqrt", True)),
    }  # fmt: skip
    return [f"-D{name}" for name in names] + [f"-D{name}={value}" for name, value in numbers.items()]


def flushes(line: CommandLine) -> bool:
    """Tell whether subnormal numbers of f32 become zero."""
    return _fast(line, "ftz", False)


def _fast(line: CommandLine, name: str, default: bool) -> bool:
    """Return an option of arithmetic, which --use_fast_math turns round where it is not given itself."""
    return line.truth(name, default != line.flag("use_fast_math"))


def _arithmetic(line: CommandLine) -> list[str]:
    words = ["-ffp-contract=" + ("fast" if line.truth("fmad", True) else "off")]
    words += ["-fgpu-flush-denormals-to-zero"] if flushes(line) else []
    approximate = 0 if line.flag("use_fast_math") else 1  # div.approx, or div.full with 2 ulp over the whole range
    words += ["-mllvm", f"-nvptx-prec-divf32={2 if _fast(line, 'prec-div', True) else approximate}"]
    words += ["-mllvm", f"-nvptx-prec-sqrtf32={int(_fast(line, 'prec-sqrt', True))}"]
    return words


def preprocessor(line: CommandLine) -> list[str]:
    """Return the options for macros and folders of headers."""
    words = list(line.macros)
    for option, name in (("-I", "include-path"), ("-isystem", "system-include")):
        for folder in line.all(name):
            # A toolkit of NVIDIA's, which makefiles name: its headers count only where we have none. Our own come anyway.
            if not (Path(folder) / _OURS).exists():
                words += ["-idirafter" if (Path(folder) / _TOOLKIT).exists() else option, folder]
    return words


def language_version(line: CommandLine) -> list[str]:
    """Return the options for the version of C++ and its limits."""
    words = [f"-std={line.last('std')}"] if line.flag("std") else []
    for name in ("ftemplate-depth", "ftemplate-backtrace-limit"):
        words += [f"-{name}={line.last(name)}"] if line.flag(name) else []
    return words


def _warnings(line: CommandLine) -> list[str]:
    words = ["-Wno-error=register"]  # an error of C++17's in clang, a warning in nvcc
    words += ["-w"] if line.flag("disable-warnings") else []
    words += ["-Wreorder"] if line.flag("Wreorder") else []
    words += ["-Wno-deprecated-declarations"] if line.flag("Wno-deprecated-declarations") else []
    return words + (["-Werror"] if "all-warnings" in line.all("Werror") else [])


def _position_chosen(line: CommandLine) -> bool:
    given = set(passed_on([*line.all("compiler-options"), *line.unknown]))
    return bool(given & {"-fPIC", "-fpic", "-fPIE", "-fpie", "-fno-pic", "-fno-pie", "-fno-PIC", "-fno-PIE"})
