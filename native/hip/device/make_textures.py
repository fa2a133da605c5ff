"""Compile the texture unit for the device: `python make_textures.py` writes textures.ll, `--check` compares.

Its sources are those of the processor's texture unit; `include/` holds what they use of the C++ library. Needs the wheel ziglang,
whose clang has the AMDGPU target.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm

HERE = Path(__file__).resolve().parent
NATIVE = HERE.parents[1]
OUT = HERE.parents[2] / "src/anywarp/compiler/amdgpu/textures.ll"
SOURCES = ("devices/texture_sampling.cpp", "devices/texture_surfaces.cpp", "hip/device/textures.cpp")
TARGET = ("--target=amdgcn-amd-amdhsa", "-mcpu=gfx906")


def parsed(source: str) -> llvm.ModuleRef:
    """Compile one source to a module."""
    command = [
        sys.executable, "-m", "ziglang", "clang", "-x", "c++", *TARGET, "-nogpulib", "-std=c++20", "-Os", "-fno-exceptions", "-fno-rtti",
        "-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize", "-fno-builtin", "-ffp-contract=off", "-nostdinc",
        "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", f"-I{HERE / 'include'}", f"-I{NATIVE}", "-S", "-emit-llvm",
        str(NATIVE / source), "-o", "-",
    ]  # fmt: skip
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return llvm.parse_assembly(text)


def compiled() -> str:
    """Return the text of all sources together, with nothing in it that differs between processors."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    whole = parsed(SOURCES[0])
    for source in SOURCES[1:]:
        whole.link_in(parsed(source))
    for function in whole.functions:
        if not function.is_declaration and not function.name.startswith("aw_hip_"):
            function.linkage = "internal"
            function.add_function_attribute("noinline")  # so that it stands in the text once
    machine = llvm.Target.from_triple(TARGET[0].split("=")[1]).create_target_machine(cpu="gfx906", opt=2)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(whole, builder)
    return cleaned(str(whole))


def cleaned(text: str) -> str:
    """Take out what names a processor, its features or the compiler."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(("source_filename", "; ModuleID", "!llvm.", "; Function Attrs")) or re.match(
            r"^!\d+ = ", line
        ):
            continue
        if line.startswith("attributes"):  # whether to inline is for each kernel to decide
            line = re.sub(r" (noinline|optsize|nocreateundeforpoison)\b", "", line)
            line = re.sub(
                r' "(amdgpu-[^"]*|target-[^"]*|stack-protector[^"]*|uniform-work-group-size)"(="[^"]*")?', "", line
            )
        line = re.sub(r"^define (hidden |protected |dso_local )*(?=.*@aw_hip_)", "define linkonce_odr hidden ", line)
        lines.append(re.sub(r", ![a-z._]+ ![0-9]+", "", line).rstrip())
    head = "; Made by native/hip/device/make_textures.py from the texture unit of native/devices and textures.cpp beside it.\n"
    return head + re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


if __name__ == "__main__":
    made = compiled()
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if OUT.read_text() == made else f"{OUT.name} is not what its sources say: run {Path(__file__).name}")
    OUT.write_text(made)
