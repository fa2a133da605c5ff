"""Which architecture is compiled: nvcc's many ways to ask for several, and the one that the device would choose.

Everything we make is PTX, and the device takes the best PTX it can run; compiling the others would only cost time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from anywarp.toolchain import codes
from anywarp.toolchain.options import CommandLine

DEVICE = 80
"""The compute capability that the device reports, times ten (native/cpu/device_attributes.cpp)."""

KNOWN = (50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121)
"""Those that clang compiles for."""

RETIRED = (20, 21, 30, 32, 35, 37)
"""Those of older releases of CUDA, which build files still name: code for the oldest known stands for theirs."""

_NAME = re.compile(r"(?:sm|compute|lto)_(\d{2,3})([af]?)$")
_DEFAULT = ("native", "all", "all-major")
_PTX_FEATURES = ((100, "+ptx86"), (103, "+ptx87"), (110, "+ptx88"), (121, "+ptx88"))


@dataclass(frozen=True, order=True, slots=True)
class Architecture:
    """A compute capability times ten, and `a` or `f` for features of one architecture or family."""

    number: int
    variant: str = ""

    @property
    def name(self) -> str:
        """Return it as clang and PTX spell it: sm_80."""
        return f"sm_{self.number}{self.variant}"

    @property
    def ptx_feature(self) -> str:
        """Return clang's name for the PTX version: an old one, which every consumer reads, where the architecture allows it."""
        return next((feature for top, feature in _PTX_FEATURES if self.number <= top), "+ptx88")


def read(text: str) -> Architecture:
    """Read sm_80, compute_90a, native and the like. AnywarpError (T002) for what is none."""
    if text in _DEFAULT:
        return Architecture(DEVICE)
    match = _NAME.match(text)
    if match and int(match[1]) in RETIRED and not match[2]:
        return Architecture(KNOWN[0])
    if match is None or int(match[1]) not in KNOWN:
        known = " ".join(f"sm_{number}" for number in KNOWN)
        raise codes.problem(codes.BAD_OPTION, f"{text!r} is no GPU architecture", f"choose one of {known}")
    return Architecture(int(match[1]), match[2])


def chosen(line: CommandLine) -> Architecture:
    """Return what to compile for: of all that was asked for, the best the device runs, else the lowest."""
    asked = _asked(line)
    runnable = [a for a in asked if a.number <= DEVICE and not a.variant]
    return max(runnable) if runnable else min(asked, default=Architecture(DEVICE))


def _asked(line: CommandLine) -> list[Architecture]:
    asked = [read(line.last("gpu-architecture"))] if line.flag("gpu-architecture") else []
    for specification in line.all("generate-code"):
        asked.append(_of_specification(specification))
    return asked


def _of_specification(text: str) -> Architecture:
    """Read `arch=compute_80,code=[sm_80,compute_80]`, with or without quotes around parts of it."""
    clean = text.replace('"', "").replace("\\", "").replace("'", "").replace(" ", "")
    match = re.match(r"arch=(\w[\w-]*)", clean)
    if match is None:
        raise codes.problem(
            codes.BAD_OPTION, f"-gencode {text}: no architecture", "write it as -gencode arch=compute_80,code=sm_80"
        )
    for code in re.findall(r"code=\[?([^\]]*)", clean):
        for name in filter(None, code.split(",")):
            read(name)
    return read(match[1])
