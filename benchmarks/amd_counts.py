"""Count what our code for AMD GPUs executes beside what clang makes of the same kernel as HIP: instructions by class, memory, registers, spills, occupancy.

Both run in the emulator of AMD's instructions (tests/emulator), which counts what waves execute; the problems are those of kernels.py, cut so that they end
soon, and each result is verified. A count is no time: it says what the hardware must do, not how long it takes. clang is that of scripts/amd_stack, with
ROCm's device libraries; TINYGRAD names tinygrad's work tree (scripts/tinygrad_tree).

    export AMD_STACK=build/ci/amd-stack TINYGRAD=$(scripts/tinygrad_tree)
    python benchmarks/amd_counts.py --results counts.json --page docs/amd-counts.md
    python benchmarks/amd_counts.py --set untuned --results untuned.json
    python benchmarks/amd_counts.py --set matrix --results untuned.json --page docs/amd-counts-untuned.md
"""

from __future__ import annotations

import importlib
import json
import math
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE)]

SIDES = ("ours", "clang")
ALIGNMENT = 4096
LIMIT = 400_000_000
"""Instructions of all waves of a launch."""

SETS = {"main": "workloads", "untuned": "untuned", "matrix": "products"}
SMALL = {
    "N": 1 << 14, "ROWS": 8, "COLS": 1024, "MATRIX": 64, "IMAGE": 64, "SIDE": 128, "BODIES": 256, "HEADS": 1, "SEQUENCE": 32,
    "CELLS": 1 << 13, "OPTIONS": 1 << 12, "WORDS": 1 << 14, "SUMS": 16, "BINS": 16,
}  # fmt: skip
"""Sizes of the main set in the place of its own."""

CLASSES = ("vector", "scalar", "matrix", "memory", "scratch", "shared", "scalar memory", "waits")
NEGLIGIBLE = 64
"""Of classes with fewer instructions than this no ratio is told."""


def class_of(mnemonic: str) -> str:
    """Return the class of an instruction; `waits` are those that compute nothing: waits for counters, hints, idle cycles."""
    if mnemonic.startswith(("v_mfma", "v_smfma", "v_wmma", "v_swmma")):
        return "matrix"
    if mnemonic.startswith("v_"):
        return "vector"
    if mnemonic.startswith(("s_load", "s_buffer_load", "s_store", "s_scratch")):
        return "scalar memory"
    if mnemonic.startswith(
        ("s_wait", "s_nop", "s_delay", "s_sleep", "s_clause", "s_inst_prefetch", "s_set_inst", "s_code_end")
    ):
        return "waits"
    if mnemonic.startswith("s_"):
        return "scalar"
    if mnemonic.startswith("ds_"):
        return "shared"
    return "scratch" if mnemonic.startswith("scratch_") else "memory"


def workloads(chosen: str) -> list[Any]:
    """Return the workloads of a set, the main one with small sizes."""
    module = importlib.import_module(SETS[chosen])
    if chosen == "main":
        for name, value in SMALL.items():
            setattr(module, name, value)
    if chosen == "untuned":
        module.PART = 32
    return [work for work in module.workloads() if work.name != "vecadd_64k"]


def compile_hip(chosen: str, card: str, folder: Path, only: str) -> bytes:
    """Translate the kernels of a set to HIP and compile them with the stack's clang and ROCm's device libraries, all in one code object."""
    from amd_stack.translated import RELEASE, compiler

    sources, made = folder / "sources", folder / "translated"
    sources.mkdir()
    kernels = sorted({work.kernel for work in workloads(chosen) if only in work.name})
    for kernel in kernels:
        [path] = (HERE / "kernels").rglob(f"{kernel}.cu")
        shutil.copy(path, sources)
    command = [sys.executable, "-m", "anywarp", "translate", str(sources), "-o", str(made), "--target", f"hip:{card}"]
    subprocess.run([*command, "--rocm", RELEASE], capture_output=True, check=False)
    parts = "".join(f'namespace of_{kernel} {{\n#include "{kernel}.cu"\n}}\n' for kernel in kernels)
    support = "".join(f'#include "{path.name}"\n' for path in sorted(made.glob("anywarp_*.h")))  # outside of namespaces
    (made / "whole.hip").write_text(f"#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n{support}{parts}")
    flags = ["-O3", "-std=c++17", "--cuda-device-only", "--no-gpu-bundle-output", str(made / "whole.hip")]
    subprocess.run([*compiler(card), *flags, "-o", str(folder / "whole")], check=True)
    return (folder / "whole").read_bytes()


def facts_of(code: bytes, kernel: str) -> dict[str, Any]:
    """Return what a code object says of one of its kernels (LLVM's AMDGPU usage, code object metadata)."""
    from anywarp.compiler.amdgpu.code_object import metadata

    [found] = [each for each in metadata(code)["amdhsa.kernels"] if each[".name"] == kernel]
    return found


def said(facts: dict[str, Any]) -> dict[str, Any]:
    """Return registers, spills and memory of a kernel."""
    spills = facts.get(".vgpr_spill_count", 0) + facts.get(".sgpr_spill_count", 0)
    return {
        "vgprs": facts[".vgpr_count"],
        "sgprs": facts[".sgpr_count"],
        "spills": spills,
        "scratch": facts[".private_segment_fixed_size"],
        "shared": facts[".group_segment_fixed_size"],
    }


def aligned(array: Any) -> Any:
    """Copy an array to where a device allocation would begin: at a multiple of a line."""
    room = np.empty(array.nbytes + ALIGNMENT, np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def launch_ours(work: Any, card: str) -> dict[str, Any]:
    """Run our code for a workload in the emulator; return whether it is right, what was executed, and what the code says of itself."""
    from anywarp.compiler.amdgpu.occupancy import waves_per_simd
    from semantics.emulated import Program

    program, arrays = Program((HERE / "kernels" / work.folder / f"{work.kernel}.ptx").read_text(), card), work.make()
    copies, program.counts = [aligned(array) for array in arrays], {}
    values = [np.int32(i) for i in work.ints[: work.kernel_ints]] + [np.float32(f) for f in work.floats]
    program.run(work.kernel, (*work.grid, 1), (*work.block, 1), [*copies, *values], limit=LIMIT)
    made = program.compile(work.kernel, (*work.block, 1))
    waves, _ = waves_per_simd(made.amd, made.shared_bytes, work.block[0] * work.block[1])
    return {
        **judged(work, arrays, copies),
        **summed(program.counts),
        **said(facts_of(made.object, made.symbol)),
        "waves": waves,
    }


def launch_clang(work: Any, card: str, code: bytes) -> dict[str, Any]:
    """Run clang's code for a workload in the emulator; the same answers."""
    from anywarp.compiler.amdgpu.occupancy import waves_per_simd
    from anywarp.compiler.artifact import Amd
    from emulator import client, code_object

    arrays = work.make()
    shape = (*work.grid, 1), (*work.block, 1)
    arguments = code_object.load(code).kernels[work.kernel][".args"]
    places = [0x7B00_0000_0000 + 0x1000_0000 * index for index in range(len(arrays))]
    given = [struct.pack("<Q", place) for place in places]
    given += [struct.pack("<i", i) for i in work.ints[: work.kernel_ints]] + [struct.pack("<f", f) for f in work.floats]
    hidden = {f"hidden_block_count_{axis}": struct.pack("<I", n) for axis, n in zip("xyz", shape[0], strict=True)}
    hidden |= {f"hidden_group_size_{axis}": struct.pack("<H", n) for axis, n in zip("xyz", shape[1], strict=True)}
    kernarg = bytearray(max(a[".offset"] + a[".size"] for a in arguments))
    for argument in arguments:
        value = hidden.get(argument[".value_kind"]) if argument[".value_kind"].startswith("hidden") else given.pop(0)
        if value:
            kernarg[argument[".offset"] : argument[".offset"] + len(value)] = value
    memory = [(place, array.tobytes()) for place, array in zip(places, arrays, strict=True)]
    counts: dict[str, Any] = {}
    after, _ = client.launch(code, card, work.kernel, *shape, bytes(kernarg), memory, 0, LIMIT, counts)
    copies = [np.frombuffer(data, array.dtype).reshape(array.shape) for data, array in zip(after, arrays, strict=True)]
    facts = facts_of(code, work.kernel)
    wave, shared = facts[".wavefront_size"], facts[".group_segment_fixed_size"]
    amd = Amd(
        card, wave, wave // 32, facts[".vgpr_count"], facts.get(".agpr_count", 0), facts[".sgpr_count"], 0, 0, 0, shared,
        facts[".max_flat_workgroup_size"],
    )  # fmt: skip
    waves, _ = waves_per_simd(amd, shared, work.block[0] * work.block[1])
    return {**judged(work, arrays, copies), **summed(counts), **said(facts), "waves": waves}


def judged(work: Any, before: list[Any], after: list[Any]) -> dict[str, Any]:
    """Return whether the workload's own check is content with what was computed."""
    error = work.verify(before, after)
    return {"right": bool(error <= work.tolerance), "error": float(error)}


def summed(counts: dict[str, tuple[int, int, int]]) -> dict[str, Any]:
    """Return instructions by class, bytes and lines of memory."""
    classes, lines, moved = Counter[str](), 0, 0
    for name, (executed, bytes_, lines_) in counts.items():
        kind = class_of(name.lower())
        classes[kind] += executed
        if kind in ("memory", "scratch"):
            lines, moved = lines + lines_, moved + bytes_
    return {
        "classes": dict(classes),
        "lines": lines,
        "bytes": moved,
        "names": {name: each[0] for name, each in counts.items()},
    }


def total(side: dict[str, Any]) -> int:
    """Return the instructions that compute or move something."""
    return sum(count for kind, count in side["classes"].items() if kind != "waits")


def geometric(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def table(card: str, found: dict[str, Any]) -> list[str]:
    """Return the lines of the page for one card."""
    kinds = CLASSES[:-1]
    lines = [
        f"## {card}",
        "",
        "| kernel | instructions | ratio | " + " | ".join(kinds) + " | lines | bytes | registers | waves | spills |",
        "| --- | --- | --- |" + " --- |" * (len(kinds) + 5),
    ]
    good = {name: pair for name, pair in found.items() if all(pair[side].get("right") for side in SIDES)}
    for name, pair in found.items():
        ours, theirs = (pair[side] for side in SIDES)
        if name not in good:
            whose = [f"{side}: {pair[side].get('error')}" for side in SIDES if not pair[side].get("right")]
            lines.append(f"| {name} | not right: {'; '.join(whose)[:160]} |" + " |" * (len(kinds) + 6))
            continue
        whole = total(ours) / total(theirs)
        cells = [share(ours["classes"].get(kind, 0), theirs["classes"].get(kind, 0)) for kind in kinds]
        cells += [share(ours[what], theirs[what]) for what in ("lines", "bytes")]
        facts = [
            f"{ours['vgprs']}+{ours['sgprs']} / {theirs['vgprs']}+{theirs['sgprs']}",
            f"{ours['waves']} / {theirs['waves']}",
            f"{ours['spills']} / {theirs['spills']}",
        ]
        shown = f"**{whole:.3f}**" if whole > 1.1 else f"{whole:.3f}"
        lines.append(f"| {name} | {total(ours)} / {total(theirs)} | {shown} | {' | '.join(cells + facts)} |")
    ratios = {name: total(pair["ours"]) / total(pair["clang"]) for name, pair in good.items()}
    moved = [pair["ours"]["lines"] / pair["clang"]["lines"] for pair in good.values() if pair["clang"]["lines"]]
    over = [name for name, each in ratios.items() if each > 1.1]
    return [
        *lines,
        "",
        f"Geometric mean over {len(good)} kernels: instructions {geometric(list(ratios.values())):.3f}, lines of memory {geometric(moved):.3f}. Over 1.10: {', '.join(over) or 'none'}.",
        "",
    ]


def sections(card: str, found: dict[str, Any]) -> list[str]:
    """Return the lines of the page for one card: what has two sides, and what has ours alone."""
    both = {name: pair for name, pair in found.items() if "clang" in pair}
    alone = {name: pair for name, pair in found.items() if "clang" not in pair}
    return (table(card, both) if both else []) + (products(card, alone) if alone else [])


def products(card: str, found: dict[str, Any]) -> list[str]:
    """Return the lines of the page about products of mma.sync on one card, which have our side alone."""
    kinds = [kind for kind in CLASSES[:-1] if kind != "matrix"]
    lines = [
        f"### Products of mma.sync on {card}",
        "",
        "Instructions of ours alone; each class per instruction that multiplies matrices.",
        "",
        "| kernel | instructions | matrix | " + " | ".join(kinds) + " | registers | waves | spills |",
        "| --- | --- | --- |" + " --- |" * (len(kinds) + 3),
    ]
    for name, pair in found.items():
        ours = pair["ours"]
        if not ours.get("right"):
            lines.append(f"| {name} | not right: {str(ours.get('error'))[:160]} |" + " |" * (len(kinds) + 4))
            continue
        matrix = ours["classes"].get("matrix", 0)
        cells = [
            f"{ours['classes'].get(kind, 0) / matrix:.2f}" if matrix else str(ours["classes"].get(kind, 0))
            for kind in kinds
        ]
        lines.append(
            f"| {name} | {total(ours)} | {matrix} | {' | '.join(cells)} | {ours['vgprs']}+{ours['sgprs']} | {ours['waves']} | {ours['spills']} |"
        )
    return [*lines, ""]


def share(ours: int, theirs: int) -> str:
    """Return a ratio as a cell; both numbers where a ratio would say nothing."""
    if ours == theirs == 0:
        return ""
    return f"{ours / theirs:.2f}" if theirs and max(ours, theirs) >= NEGLIGIBLE else f"{ours} / {theirs}"


HEAD = """# What our code executes on an AMD GPU, beside clang's

Made by `benchmarks/amd_counts.py`. Each kernel of `benchmarks/kernels` was executed twice by an emulator of AMD's instructions ([hip-emulated.md](hip-emulated.md)): as
anywarp compiles its PTX, and as Debian's clang 22 (`-O3`, ROCm's device libraries) compiles what `anywarp translate` makes of the same CUDA source. The emulator counted what
waves executed, and results were verified on both sides. **These are counts, not times, and no AMD GPU ran anything.** The problems are small.

Ratios are ours to clang's: below 1 we execute less. *Instructions* compute or move something; waits for counters, hints and idle cycles are left out.
*Lines*: lines of 128 bytes that vector memory instructions touched, each instruction by itself; *bytes*: what lanes asked for. *Registers*: vector + scalar.
*Waves* per SIMD, by the documented rules. What has a slash is ours / clang's.
"""

WORDS = {
    "main": """
Where the ratios come from, by the names of the instructions: `expf` and `logf` are NVIDIA's, spelled out in the PTX, where clang has ROCm's, which lean on the hardware's logarithm
and power (`blackscholes`). NVIDIA's compiler
unrolls loops that clang leaves (`rmsnorm`), and what it makes of shuffles we do by swizzles and moves between lanes, where HIP's go through shared memory's crossbar (DS_BPERMUTE).
Kernels that nobody tuned for, and products of `mma.sync`: [amd-counts-untuned.md](amd-counts-untuned.md).

""",
    "untuned": """
These are the kernels of `benchmarks/kernels/untuned`, with a 32nd of their work. Where the ratios come from, by the names of the instructions: PTX does not say that sums do not overflow, so
`(low + high) / 2` of signed numbers is rounded and its sign extended each time (`lower_bound`); NVIDIA's compiler unrolls the loop over rows that are shorter than that (`spmv`); `__expf` keeps denormal
results, as NVIDIA's `ex2.approx.f32` does, where HIP's does not: five instructions each (`softmax_odd`).
On gfx1100 a sum of 64 bits is two instructions, and PTX's indices of 32 bits may wrap around, so that each is extended by itself where clang extends one and adds the rest (`stencil7`).
On 2026-11-30 a row came to be added to its array before the loop over it (`gemv` was at 1.165, `embedding` at 1.164 and `softmax_odd` at 1.174 on gfx1100), and `shfl.down` by constants to be read by one address
(`spmv` was at 1.284 and 1.338).
`half_axpby` was at 1.16 before arithmetic of f16x2 became packed instructions. `kmeans` was at 1.11 (gfx942) and 1.26 before a loop over rows of shared memory read 16 bytes at once.

""",
}
"""What a page says of its set."""


@click.command()
@click.option("--card", "cards", multiple=True, help="gfx942 and gfx1100 unless named.")
@click.option("--set", "chosen", type=click.Choice(list(SETS)), default="main")
@click.option("--only", default="", help="Workloads whose name contains this.")
@click.option("--page", type=click.Path(path_type=Path))
@click.option(
    "--results", type=click.Path(path_type=Path), help="Keep results in this JSON file, with those of former runs."
)
@click.option("--only-page", is_flag=True, help="Run nothing.")
def command(
    cards: tuple[str, ...], chosen: str, only: str, page: Path | None, results: Path | None, only_page: bool
) -> None:
    """Count instructions of our code and of clang's, kernel by kernel."""
    kept: dict[str, Any] = json.loads(results.read_text()) if results and results.exists() else {}
    for card in () if only_page else cards or ("gfx942", "gfx1100"):
        with tempfile.TemporaryDirectory() as temporary:
            made = compile_hip(chosen, card, Path(temporary), only) if chosen != "matrix" else None
        for work in workloads(chosen):
            if only not in work.name:
                continue
            pair = {"ours": attempt(partial(launch_ours, work, card))}
            if made:
                pair["clang"] = attempt(partial(launch_clang, work, card, made))
            kept.setdefault(card, {})[work.name] = pair
            print("\n".join(sections(card, {work.name: pair})[4:7]), flush=True)
            if results:
                results.write_text(json.dumps(kept, indent=1) + "\n")
    if page:
        page.write_text(
            HEAD
            + WORDS["main" if chosen == "main" else "untuned"]
            + "\n".join(line for card, found in kept.items() for line in sections(card, found)).rstrip()
            + "\n"
        )
    else:
        print("\n".join(line for card, found in kept.items() for line in sections(card, found)))


def attempt(launch: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what a launch says, or why there is nothing: one kernel's failure is a cell of the table."""
    try:
        return launch()
    except Exception as problem:
        return {"right": False, "error": f"{type(problem).__name__}: {problem}"[:300]}


if __name__ == "__main__":
    command()
