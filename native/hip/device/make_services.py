"""Compile services.c to the LLVM IR that kernels are linked with: `python make_services.py` writes it, `--check` compares.

Needs clang with the AMDGPU target: the one of the wheel ziglang. What names a processor or its features is taken out, for the same
text serves all of them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUT = HERE.parents[2] / "src/anywarp/compiler/amdgpu/services.ll"


def compiled() -> str:
    """Return the text, with nothing in it that differs between processors."""
    command = [
        sys.executable, "-m", "ziglang", "clang", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx906", "-nogpulib", "-std=c17", "-O2",
        "-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize", "-fno-builtin", "-Wall", "-Wextra", "-Werror", "-S", "-emit-llvm",
        str(HERE / "services.c"), "-o", "-",
    ]  # fmt: skip
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = []
    for line in text.splitlines():
        if line.startswith(("source_filename", "; ModuleID", "!llvm.ident", "!llvm.errno")) or "clang version" in line:
            continue
        if line.startswith("attributes"):
            line = re.sub(
                r' "(amdgpu-[^"]*|target-[^"]*|stack-protector[^"]*|uniform-work-group-size)"(="[^"]*")?', "", line
            )
        line = re.sub(r"^define (hidden|protected) ", "define linkonce_odr hidden ", line)
        lines.append(re.sub(r", ![a-z._]+ ![0-9]+", "", line))
    kept = [line for line in lines if not re.match(r"^!\d+ = |^!llvm\.module", line)]
    return (
        "; Made by native/hip/device/make_services.py from services.c beside it.\n"
        + re.sub(r"\n{3,}", "\n\n", "\n".join(kept))
        + "\n"
    )


if __name__ == "__main__":
    text = compiled()
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if OUT.read_text() == text else f"{OUT.name} is not what services.c says: run {Path(__file__).name}")
    OUT.write_text(text)
