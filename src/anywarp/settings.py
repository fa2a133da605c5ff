"""Every environment variable that anywarp reads, typed, with default and meaning.

One place, so that `docs/settings.md` is complete by construction and no other module needs `os.environ`.
The native libraries read some of the same names themselves; `reader` says who reads which.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Literal, TypeVar

T_co = TypeVar("T_co", covariant=True)

Reader = Literal["python", "native", "both"]


class SettingError(ValueError):
    """Raised when an environment variable holds a text that is no value of its type."""


@dataclass(frozen=True)
class Setting(Generic[T_co]):
    """One environment variable: how its text becomes a value, and what holds when it is absent or empty."""

    name: str
    parse: Callable[[str], T_co]
    default: Callable[[], T_co]
    default_text: str
    doc: str
    reader: Reader = "python"

    def get(self, environment: Mapping[str, str] | None = None) -> T_co:
        """Return the value in `environment` (this process's own when None); SettingError on a text it cannot read."""
        text = (os.environ if environment is None else environment).get(self.name, "")
        if not text:
            return self.default()
        try:
            return self.parse(text)
        except ValueError as error:
            raise SettingError(f"{self.name}={text!r}: {error}") from None


def environment() -> dict[str, str]:
    """Return a copy of this process's environment, to be passed on to a child."""
    return dict(os.environ)


def export(changes: Mapping[str, str]) -> None:
    """Change this process's own environment, so that every child process finds the same."""
    os.environ.update(changes)


_OWN = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "TEMP",
    "TMP",
    "TZ",
    "XDG_RUNTIME_DIR",
    "XDG_CACHE_HOME",
    "PYTHONPATH",
)
_OWN_PREFIXES = ("ANYWARP_", "ROCM_", "HIP_")
_NOT_OWN = ("ANYWARP_REPORT_DIR",)


def service_environment() -> dict[str, str]:
    """Return what of the environment a compile service gets, which serves other programs than the one that starts it.

    native/core/service_start.cpp has the same rule.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if (name in _OWN or name.startswith(_OWN_PREFIXES)) and name not in _NOT_OWN
    }


def python_command(python: str, module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of ours in a Python that no environment and no working directory changes (start.py)."""
    start = Path(__file__).resolve().with_name("start.py")
    return [python, "-S", "-E", "-X", "utf8", str(start), module, *arguments]


def _path(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError as error:  # there is no such home
        raise ValueError(str(error)) from None


_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def parse_size(text: str) -> int:
    """Parse a size in bytes, with an optional binary unit: `512M`, `2GiB`."""
    stem = text.strip().upper().removesuffix("IB").removesuffix("B")
    number, unit = (stem[:-1], stem[-1]) if stem[-1:] in _UNITS else (stem, "")
    if not number.strip().isdecimal():
        raise ValueError("expected a size such as 512M or 2GiB")
    return int(number) * _UNITS[unit]


def _count(text: str) -> int:
    if not text.strip().isdecimal():
        raise ValueError("expected a whole number that is not negative")
    return int(text)


def _yes_or_no(text: str) -> bool | None:
    if text.strip() not in ("0", "1"):
        raise ValueError("expected 0 or 1")
    return text.strip() == "1"


def _not_said() -> bool | None:
    return None


def _devices(text: str) -> int:
    if not text.strip().isdecimal() or not 1 <= int(text) <= 64:
        raise ValueError("expected a number of devices from 1 to 64")
    return int(text)


def _local_processes() -> int:
    """Return how many processes torchrun started on this machine, within 1 to 64; native/core/settings.cpp has the same rule."""
    text = os.environ.get("LOCAL_WORLD_SIZE", "")
    return min(max(int(text), 1), 64) if text.isdecimal() and len(text) < 6 else 1


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError("expected a number of seconds") from None
    if not 0 <= value < 1e9:
        raise ValueError("expected a number of seconds that is not negative")
    return value


def _optional_path(text: str) -> Path | None:
    return _path(text)


def _none() -> Path | None:
    return None


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(","))))


def _no_names() -> tuple[str, ...]:
    return ()


CHECKS = ("init", "memory", "race", "sync")
"""What kernels can check while they run (docs/checking.md)."""


def _checks(text: str) -> tuple[str, ...]:
    names = set(_names(text))
    if not names <= {*CHECKS, "all"}:
        raise ValueError(f"not among {', '.join(CHECKS)} and all: {', '.join(sorted(names - {*CHECKS, 'all'}))}")
    return CHECKS if "all" in names else tuple(sorted(names))


def _trace_graphs(text: str) -> str:
    if text not in ("nodes", "whole"):
        raise ValueError("expected nodes or whole")
    return text


def _code_generator(text: str) -> str:
    if text not in ("cpp", "triton"):
        raise ValueError("not one of cpp, triton")
    return text


def _nothing() -> str:
    return ""


def _default_cache_dir() -> Path:
    """Return the user's own place; native/core/settings.cpp has the same rule."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else _home() / ".cache") / "anywarp"


def _data(name: str) -> Path:
    """Return a place among what this user keeps (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_DATA_HOME", "")
    return (Path(base) if base.startswith("/") else _home() / ".local" / "share") / "anywarp" / name


def _home() -> Path:
    """Return the home of this user; one that cannot be used where the user has none, as Debian's `nobody`."""
    if home := os.environ.get("HOME", ""):
        return Path(home)
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")


def _default_library_dir() -> Path:
    here = Path(__file__).resolve().parent
    installed, checkout = here / "lib", here.parents[1] / "build" / "native" / "lib"
    return checkout if not installed.is_dir() and (here.parents[1] / "CMakeLists.txt").is_file() else installed


def _default_python() -> Path:
    return Path(sys.executable)


def cpu_count() -> int:
    """Return the number of processors that this process may run on."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class RandomCard:
    """Whose random numbers PyTorch's `cuda` gives: those of a card with so many multiprocessors and threads on each."""

    philox: bool = True
    multiprocessors: int = 132
    threads: int = 2048


def _card(text: str) -> RandomCard:
    kind, _, shape = text.strip().partition(":")
    multiprocessors, times, threads = (shape or "132x2048").partition("x")
    numbers = multiprocessors.isdecimal() and threads.isdecimal()
    if kind == "host" and not shape:
        return RandomCard(philox=False)
    if kind != "philox" or not (
        times and numbers and 0 < int(multiprocessors) <= 4096 and 256 <= int(threads) <= 65536
    ):
        raise ValueError("expected philox, host, or philox:MULTIPROCESSORSxTHREADS such as philox:108x2048")
    return RandomCard(True, int(multiprocessors), int(threads))


DEVICE = Setting(
    "ANYWARP_DEVICE",
    str,
    lambda: "cpu",
    "cpu",
    "The device that kernels run on; `anywarp doctor` lists them. An accelerator of torch's own (`xpu`): `cuda` is mapped to it.",
    "both",
)
LIBRARY_DIR = Setting(
    "ANYWARP_LIBRARY_DIR",
    _path,
    _default_library_dir,
    "the package's `lib`, or `build/native/lib` in a checkout",
    "The directory with our `libcuda.so.1`, which `anywarp run` puts first on the library path.",
)
CACHE_DIR = Setting(
    "ANYWARP_CACHE_DIR",
    _path,
    _default_cache_dir,
    "`$XDG_CACHE_HOME/anywarp`, or `~/.cache/anywarp`",
    "Where compiled kernels are kept.",
    "both",
)
CACHE_LIMIT = Setting(
    "ANYWARP_CACHE_LIMIT",
    parse_size,
    lambda: 2 << 30,
    "2GiB",
    "The most that the kernel cache may hold; beyond it, the least recently used entries are removed.",
)
ROLLOUTS = Setting(
    "ANYWARP_ROLLOUTS",
    _path,
    lambda: _data("rollouts"),
    "`$XDG_DATA_HOME/anywarp/rollouts`, or `~/.local/share/anywarp/rollouts`",
    "The folder in which `anywarp rollout` keeps the state of each rollout and what was seen ([rollout](rollout.md)).",
)
RESULTS = Setting(
    "ANYWARP_RESULTS",
    _path,
    lambda: _data("results.sqlite"),
    "`$XDG_DATA_HOME/anywarp/results.sqlite`, or `~/.local/share/anywarp/results.sqlite`",
    "The file in which results of `bench`, `verify`, `cost` and `rollout` are kept ([results](cli/results.md)).",
)
PYTHON = Setting(
    "ANYWARP_PYTHON",
    _path,
    _default_python,
    "the interpreter that runs `anywarp`",
    "The interpreter, with anywarp installed, that the native libraries start for the compile service.",
    "both",
)
THREADS = Setting(
    "ANYWARP_THREADS",
    _count,
    cpu_count,
    "the processors this process may run on",
    "How many threads run the blocks of a kernel on the device `cpu`.",
    "native",
)
VERSIONS = Setting(
    "ANYWARP_VERSIONS",
    str,
    lambda: "automatic",
    "automatic",
    "Which versions of a kernel's code run: `automatic` starts with what is soon there and changes to faster code, made in the "
    "background, where it pays; `best` waits for all code before each first launch, and compares; `plain` uses code that assumes nothing but "
    "the block shape.",
    "native",
)
MEMORY = Setting(
    "ANYWARP_MEMORY",
    parse_size,
    lambda: 0,
    "what the machine has",
    "How much memory the device `cpu` says it has, such as 8GiB.",
    "native",
)
DEVICES = Setting(
    "ANYWARP_DEVICES",
    _devices,
    _local_processes,
    "1, or as many as LOCAL_WORLD_SIZE says, which torchrun sets",
    "Into how many devices (1 to 64) the device `cpu` is split: each has a share of the memory, all use the same processors. "
    "`CUDA_VISIBLE_DEVICES` chooses among them as on other machines.",
    "native",
)
ASYNC = Setting(
    "ANYWARP_ASYNC",
    _count,
    lambda: 0,
    "0",
    "1: PyTorch's operators on `cuda` are given to streams and return at once, as on a GPU; else they run on the calling thread.",
    "native",
)
SERVICE_IDLE = Setting(
    "ANYWARP_SERVICE_IDLE",
    _seconds,
    lambda: 60.0,
    "60",
    "Seconds without a request after which the compile service ends.",
)
COMPILE_LIMIT = Setting(
    "ANYWARP_COMPILE_LIMIT",
    _seconds,
    lambda: 600.0,
    "600",
    "Seconds after which compiling one kernel is abandoned.",
)
REPORT_DIR = Setting(
    "ANYWARP_REPORT_DIR",
    _optional_path,
    _none,
    "unset",
    "A directory into which each process writes, at its end, what it launched and called; `anywarp run` sets it.",
    "native",
)
TRACE_DIR = Setting(
    "ANYWARP_TRACE_DIR",
    _optional_path,
    _none,
    "unset",
    "A directory into which each process writes a trace of its calls, kernels and copies; `anywarp run --trace` sets it.",
    "native",
)
TRACE_GRAPHS = Setting(
    "ANYWARP_TRACE_GRAPHS",
    _trace_graphs,
    lambda: "nodes",
    "nodes",
    "What a trace holds of a launched graph: `nodes`, each of them, or `whole`, one span for all.",
    "native",
)
TRACE_LIMIT = Setting(
    "ANYWARP_TRACE_LIMIT",
    parse_size,
    lambda: 4 << 30,
    "4GiB",
    "The most that one process writes into its trace; later events are dropped, with one message.",
    "native",
)
COPIES_DIR = Setting(
    "ANYWARP_COPIES_DIR",
    _optional_path,
    _none,
    "unset",
    "A directory into which each process writes what it copies from a device to the host; `anywarp record` and `anywarp verify` set it.",
    "native",
)
COPIES_LIMIT = Setting(
    "ANYWARP_COPIES_LIMIT",
    parse_size,
    lambda: 256 << 20,
    "256MiB",
    "The most that one process writes of these copies.",
    "native",
)
NVIDIA_DRIVER = Setting(
    "ANYWARP_NVIDIA_DRIVER",
    _optional_path,
    _none,
    "unset: `libcuda.so.1` as the system has it",
    "The path of NVIDIA's driver library, for `anywarp run --device cuda`.",
    "both",
)
CHECK = Setting(
    "ANYWARP_CHECK",
    _checks,
    _no_names,
    "unset",
    "What kernels check while they run, much slower: names among `memory`, `race`, `init` and `sync`, separated by commas, or `all`; "
    "`anywarp run --check` sets it.",
    "native",
)
LOG = Setting(
    "ANYWARP_LOG",
    str,
    lambda: "warn",
    "warn",
    "How much the libraries say on stderr: off, error, warn, info or debug.",
    "native",
)
BUILD_ID = Setting(
    "ANYWARP_BUILD_ID",
    str,
    lambda: "",
    "computed from the compiler's sources",
    "The identity of the compiler, part of each cache key; set it only to share a cache between known equal builds.",
    "both",
)

RUNTIME_DIR = Setting(
    "XDG_RUNTIME_DIR",
    _optional_path,
    _none,
    "unset",
    "Where the socket of the compile service lives, in a folder `anywarp`; without it, in the cache.",
    "both",
)
TORCH_LIBRARY = Setting(
    "ANYWARP_TORCH_LIBRARY",
    _optional_path,
    _none,
    "unset: the one shipped for this torch, else one compiled at first use",
    "The binary that makes `cuda` a device of PyTorch; it must be built for the very torch that is installed.",
)
TORCH_CUDA_BUILD = Setting(
    "ANYWARP_TORCH_CUDA_BUILD",
    _yes_or_no,
    _not_said,
    "unset: those of versions between the oldest and the newest that were run",
    "Whether a CUDA build of PyTorch is served on the device `cpu` ([torch.md](torch.md)): `0`, none is touched; `1`, one of an older or newer version, too.",
)
TORCH_SCOPE = Setting(
    "ANYWARP_TORCH_SCOPE",
    _names,
    _no_names,
    "unset: every program",
    "Programs in which PyTorch gets its `cuda`, separated by commas: `train.py`, or a module or package of `python -m`.",
)
TORCH_BLOCK = Setting(
    "ANYWARP_TORCH_BLOCK",
    _names,
    _no_names,
    "unset: none",
    "Programs in which PyTorch gets no `cuda`, and packages or modules that are not changed, separated by commas.",
)
NEIGHBOURS = Setting(
    "ANYWARP_NEIGHBOURS",
    _names,
    _no_names,
    "unset: none",
    "Packages beside PyTorch, separated by commas, that are answered by ours also where a program only asks whether they are there, such as `flash_attn` ([neighbours.md](neighbours.md)).",
)
TORCH_TF32 = Setting(
    "ANYWARP_TORCH_TF32",
    str,
    _nothing,
    "unset: factors keep their 24 bits",
    "`round`: where torch's flags allow TF32, float32 factors of products and convolutions are rounded as tensor cores do.",
    "native",
)
TORCH_INDUCTOR = Setting(
    "ANYWARP_TORCH_INDUCTOR",
    _code_generator,
    lambda: "cpp",
    "`cpp`",
    "What `torch.compile` generates for `cuda`: `cpp`, C++ for the CPU; `triton`, kernels in Triton as for a card, where Triton is installed.",
)
TORCH_RANDOM = Setting(
    "ANYWARP_TORCH_RANDOM",
    _card,
    RandomCard,
    "`philox`: an H100 or H200, 132 multiprocessors of 2048 threads",
    "`philox`: a seed gives the numbers that it gives on an NVIDIA card (`philox:108x2048` on an A100: the card matters "
    "for large tensors); `host`: the CPU's own generator, seeded from CUDA's state.",
)
TENSORRT_VERSION = "10.13.0"
"""The TensorRT whose interface programs find where none is installed."""


def _release(text: str) -> str:
    if not re.fullmatch(r"\d{1,3}(\.\d{1,5}){1,3}", text.strip()):
        raise ValueError("expected a version such as 8.6.1")
    return text.strip()


TENSORRT = Setting(
    "ANYWARP_TENSORRT",
    _release,
    lambda: "",
    f"that of the package tensorrt where it is installed, else {TENSORRT_VERSION}",
    "The version of TensorRT that programs see ([tensorrt.md](tensorrt.md)); before 10, int64 goes in and out as int32.",
)
PATCH_REPORT = Setting(
    "ANYWARP_PATCH_REPORT",
    _optional_path,
    _none,
    "unset",
    "A directory into which each process writes the changes made to PyTorch in it; `anywarp explain --patches` sets it.",
)
REBIND = Setting(
    "ANYWARP_REBIND",
    _count,
    lambda: 0,
    "0",
    "1: in programs that `anywarp run` starts, the CUDA runtime that they carry statically is replaced by ours, as with `--rebind`.",
)
RUN = Setting(
    "ANYWARP_RUN",
    str,
    _nothing,
    "unset",
    "The name of a run, so that its processes say each message once; `anywarp run` sets it.",
)
RECORD = Setting(
    "ANYWARP_RECORD",
    _optional_path,
    _none,
    "unset",
    "A file that says what is recorded of this run; `anywarp record` and `anywarp verify` set it.",
)
OVERLAYS = Setting(
    "ANYWARP_OVERLAYS",
    _optional_path,
    _none,
    "unset",
    "The directory in which Python finds what `anywarp env make` laid beside its environment; `anywarp run --device hip` sets it.",
)
CXX = Setting(
    "CXX",
    str,
    _nothing,
    "`g++`, else `c++`, else `clang++`",
    "The C++ compiler for PyTorch's stand-in, where none is shipped for the torch that is installed.",
)

CLANG = Setting(
    "ANYWARP_CLANG",
    str,
    _nothing,
    "unset: the one of the package ziglang, else `clang++` on the path",
    "The clang that `anywarp nvcc` and NVRTC compile CUDA C++ with.",
)
CCCL = Setting(
    "ANYWARP_CCCL",
    str,
    _nothing,
    "unset: that of `CUDA_HOME`, `CUDA_PATH` or /usr/local/cuda, else of the package nvidia-cuda-cccl",
    "The folder of NVIDIA's CUDA C++ Core Libraries (Thrust, CUB, libcu++) that `anywarp nvcc` compiles with; `none` for none.",
)
HIP_COMPILER = Setting(
    "ANYWARP_HIP_COMPILER",
    str,
    _nothing,
    "unset: ROCm's hipcc or amdclang++, else `clang++` on the path, else the one of the package ziglang",
    "The compiler, with options, that `anywarp translate --check` compiles HIP with.",
)
HIP_INCLUDE = Setting(
    "ANYWARP_HIP_INCLUDE",
    str,
    _nothing,
    "unset: ROCm's own, else those of the package triton, else the system's",
    "Folders of headers, separated by colons, for `anywarp translate --check`: HIP's own first, those of its libraries too.",
)
LLD = Setting(
    "ANYWARP_LLD",
    str,
    _nothing,
    "unset: ROCm's own, else `ld.lld` on the path, else the one of the package ziglang",
    "The linker `ld.lld` that makes code objects for AMD GPUs; without any, ROCm's comgr links.",
)
HIP_WARPS_PER_WAVE = Setting(
    "ANYWARP_HIP_WARPS_PER_WAVE",
    str,
    lambda: "auto",
    "auto",
    "How many 32-lane warps of a kernel share a wave of 64 lanes on AMD Instinct cards: `auto` has one where warps may wait for each other, "
    "and two else; `1` and `2` say it for all kernels.",
    "native",
)
NVCC_PREPEND_FLAGS = Setting(
    "NVCC_PREPEND_FLAGS",
    str,
    _nothing,
    "unset",
    "Options that `anywarp nvcc` reads before those of its command line, as nvcc does.",
)
NVCC_APPEND_FLAGS = Setting(
    "NVCC_APPEND_FLAGS",
    str,
    _nothing,
    "unset",
    "Options that `anywarp nvcc` reads behind those of its command line, as nvcc does.",
)
NVRTC = Setting(
    "ANYWARP_NVRTC",
    str,
    lambda: "anywarp",
    "`anywarp`",
    "Who compiles for programs that use NVRTC: `anywarp`, or `nvidia`, for NVIDIA's own library where it is installed, or the path of one.",
    "native",
)
OPENBLAS = Setting(
    "ANYWARP_OPENBLAS",
    str,
    _nothing,
    "unset: the one of the package scipy-openblas32, beside anywarp",
    "The OpenBLAS, built as that package builds it, that cuBLAS and cuSOLVER compute with on the device `cpu`.",
    "native",
)
PRODUCT = Setting(
    "ANYWARP_PRODUCT",
    str,
    _nothing,
    "unset: the best that the processor has",
    "Products of matrices of 16-bit and 8-bit types on the device `cpu`, those of kernels too, use no more than `avx512_bf16` (no AMX), `avx512` (nor, in libraries, its instructions for bf16 and s8), `avx2`, or what any processor has (`portable`).",
    "native",
)
HIP_LIBRARY = Setting(
    "ANYWARP_HIP_LIBRARY",
    str,
    _nothing,
    "unset: libamdhip64.so.7, .so.6 or .so on the loader's path, else in /opt/rocm/lib",
    "The HIP runtime that the driver for AMD GPUs works over.",
    "native",
)
ROCM_PATH = Setting(
    "ANYWARP_ROCM_PATH",
    str,
    _nothing,
    "unset",
    "The folder with ROCm's libraries (or its prefix), for the libraries of CUDA that they answer; else beside the HIP runtime in use, `/opt/rocm/lib`, the library path.",
    "both",
)

SETTINGS: tuple[Setting[object], ...] = (
    DEVICE, LIBRARY_DIR, CACHE_DIR, CACHE_LIMIT, RESULTS, ROLLOUTS, PYTHON, THREADS, MEMORY, DEVICES, ASYNC, VERSIONS, SERVICE_IDLE, COMPILE_LIMIT, REPORT_DIR, TRACE_DIR, TRACE_GRAPHS, TRACE_LIMIT,
    COPIES_DIR, COPIES_LIMIT, NVIDIA_DRIVER, CHECK, LOG,
    BUILD_ID, RUNTIME_DIR, TORCH_LIBRARY, TORCH_CUDA_BUILD, TORCH_SCOPE, TORCH_BLOCK, NEIGHBOURS, TORCH_TF32, TORCH_INDUCTOR, TORCH_RANDOM, PATCH_REPORT, TENSORRT, REBIND, RUN, RECORD, OVERLAYS, CXX, CLANG, CCCL, HIP_COMPILER, HIP_INCLUDE, LLD, HIP_WARPS_PER_WAVE, HIP_LIBRARY, NVCC_PREPEND_FLAGS, NVCC_APPEND_FLAGS, NVRTC, OPENBLAS, PRODUCT, ROCM_PATH,
)  # fmt: skip
"""All of them, in the order of docs/settings.md."""


def as_markdown() -> str:
    """Render docs/settings.md."""
    head = (
        "# Settings\n\n"
        "Environment variables that anywarp reads; each may be absent. This page is made by `scripts/docs` from\n"
        "`src/anywarp/settings.py`; `native` says that our libraries read the variable inside your program.\n\n"
        "| variable | default | meaning | read by |\n| --- | --- | --- | --- |\n"
    )
    return head + "".join(f"| `{s.name}` | {s.default_text} | {s.doc} | {s.reader} |\n" for s in SETTINGS)


if __name__ == "__main__":
    print(as_markdown(), end="")
