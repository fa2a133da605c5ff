"""What `anywarp nvcc` says of itself: version, options, architectures, the folder laid out as a toolkit.

Build systems parse the version and the lists, so their form is nvcc's.
"""

from __future__ import annotations

from anywarp import __version__
from anywarp.toolchain import clang as compilers
from anywarp.toolchain import cuda_home
from anywarp.toolchain.architectures import KNOWN
from anywarp.toolchain.compile_commands import RELEASE
from anywarp.toolchain.option_table import OPTIONS
from anywarp.toolchain.options import CommandLine


def answer(line: CommandLine) -> str | None:
    """Return what to print where a question was asked, else None."""
    for name, text in _ANSWERS.items():
        if line.flag(name):
            return text()
    return None


def version() -> str:
    """Return the text of --version; the lines behind the first are what build systems look for."""
    return (
        f"nvcc: anywarp's CUDA compiler driver, anywarp {__version__}, in place of\n"
        "nvcc: NVIDIA (R) Cuda compiler driver\n"
        f"Cuda compilation tools, release {RELEASE.rpartition('.')[0]}, V{RELEASE}"
    )


def _help() -> str:
    rows = [f"{', '.join(option.spellings)}\n    {option.doc}" for option in OPTIONS]
    return "Usage: anywarp nvcc [OPTIONS] FILES\n\n" + "\n".join(rows)


def _architectures() -> str:
    return "\n".join(f"compute_{number}" for number in KNOWN)


def _codes() -> str:
    return "\n".join(f"sm_{number}" for number in KNOWN)


def _home() -> str:
    compilers.find()
    return str(cuda_home.make_with_libdevice())


_ANSWERS = {
    "help": _help,
    "version": version,
    "list-gpu-arch": _architectures,
    "list-gpu-code": _codes,
    "print-cuda-home": _home,
}
