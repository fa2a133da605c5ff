"""Count what our code for AMD GPUs executes beside what clang makes of the same kernel as HIP: instructions by class, memory lines, registers, spills, occupancy.

Both run over HIP itself on an emulated card (scripts/amd_stack, docs/hip-stack.md), whose emulator counts what it executes (tests/amd_stack/counts.cpp); the
problems are those of kernels.py, cut so that they end soon, and each result is verified. It is no time: a count says what the hardware must do, not how long.

    AMD_STACK=build/ci/amd-stack python benchmarks/amd_counts.py
    AMD_STACK=build/ci/amd-stack python benchmarks/amd_counts.py --set untuned --card gfx1100 --page docs/amd-counts.md --results counts.json
"""

from __future__ import annotations

import ctypes
import importlib
import json
import math
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import click
import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE)]

SETS = {"main": "workloads", "untuned": "untuned"}
SMALL = {"N": 1 << 16, "ROWS": 32, "COLS": 1024, "MATRIX": 128, "IMAGE": 128, "SIDE": 2048, "BODIES": 512, "HEADS": 1, "SEQUENCE": 128}
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
    if mnemonic.startswith(("s_wait", "s_nop", "s_delay", "s_sleep", "s_clause", "s_inst_prefetch", "s_set_inst", "s_code_end")):
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
    return [work for work in module.workloads() if work.name != "vecadd_64k"]


class Hip:
    """HIP's driver interface, with code objects that clang made: a runner as those of runners.py are."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.hip = folder, ctypes.CDLL("libamdhip64.so.6")
        self.check(self.hip.hipInit(0))

    def check(self, status: int) -> None:
        if status:
            raise RuntimeError(f"HIP error {status}")

    def prepare(self, work: Any, arrays: list[Any]) -> Any:
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        code = (self.folder / work.kernel).read_bytes()
        self.check(self.hip.hipModuleLoadData(ctypes.byref(module), ctypes.create_string_buffer(code, len(code))))
        self.check(self.hip.hipModuleGetFunction(ctypes.byref(function), module, work.kernel.encode()))
        values: list[Any] = []
        for array in arrays:
            pointer, source = ctypes.c_uint64(), np.ascontiguousarray(array)
            self.check(self.hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(array.nbytes)))
            self.check(self.hip.hipMemcpyHtoD(pointer, ctypes.c_void_p(source.ctypes.data), ctypes.c_size_t(array.nbytes)))
            values.append(pointer)
        values += [ctypes.c_int32(i) for i in work.ints[: work.kernel_ints]] + [ctypes.c_float(f) for f in work.floats]
        return function, (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values]), values, arrays

    def launch(self, state: Any, work: Any) -> None:
        shape = [ctypes.c_uint(n) for n in (*work.grid, 1, *work.block, 1, 0)]
        self.check(self.hip.hipModuleLaunchKernel(state[0], *shape, None, state[1], None))
        self.check(self.hip.hipDeviceSynchronize())

    def fetch(self, state: Any) -> list[Any]:
        copies = [np.empty_like(a) for a in state[3]]
        for copy, pointer in zip(copies, state[2], strict=False):
            self.check(self.hip.hipMemcpyDtoH(ctypes.c_void_p(copy.ctypes.data), pointer, ctypes.c_size_t(copy.nbytes)))
        return copies


def compile_hip(chosen: str, card: str, folder: Path, only: str) -> dict[str, dict[str, Any]]:
    """Translate the kernels of a set to HIP and compile them with the stack's clang; return what the code objects say, or why there is none."""
    from amd_stack.translated import RELEASE, compiler

    found: dict[str, dict[str, Any]] = {}
    place = HERE / "kernels" / (workloads(chosen)[0].folder or ".")
    made = folder / "translated"
    command = [sys.executable, "-m", "anywarp", "translate", str(place), "-o", str(made), "--target", f"hip:{card}", "--rocm", RELEASE]
    subprocess.run(command, capture_output=True, check=False)
    for kernel in {work.kernel for work in workloads(chosen) if only in work.name}:
        flags = ["-O3", "-std=c++17", "--cuda-device-only", "--no-gpu-bundle-output"]
        done = subprocess.run([*compiler(card), *flags, str(made / f"{kernel}.cu"), "-o", str(folder / kernel)], capture_output=True, text=True, check=False)
        found[kernel] = said((folder / kernel).read_bytes()) if done.returncode == 0 else {"failed": done.stderr[-300:]}
    return found


def compile_ours(chosen: str, card: str, only: str) -> dict[str, dict[str, Any]]:
    """Compile the kernels' PTX for the card as the driver has it done for a launch; return what the code objects say."""
    from anywarp.compiler.amdgpu.target import make_target
    from anywarp.compiler.options import read_options
    from anywarp.compiler.pipeline import compile_kernel
    from anywarp.ptx.index import index_module

    found: dict[str, dict[str, Any]] = {}
    for work in workloads(chosen):
        if only in work.name and work.kernel not in found:
            text = (HERE / "kernels" / work.folder / f"{work.kernel}.ptx").read_text()
            made = compile_kernel(index_module(text), work.kernel, read_options("", (*work.block, 1)), make_target(card))
            found[work.kernel] = said(made.object)
    return found


def said(code: bytes) -> dict[str, Any]:
    """Return registers, spills and memory as a code object tells them."""
    from anywarp.compiler.amdgpu.code_object import kernel_metadata

    facts = kernel_metadata(code)
    return {
        "vgprs": facts.vgprs, "sgprs": facts.sgprs, "spills": facts.vgpr_spills + facts.sgpr_spills,
        "scratch": facts.scratch, "shared": facts.lds,
    }  # fmt: skip


def worker(side: str, chosen: str, only: str, folder: Path) -> None:
    """Launch each workload once and print a line for each: whether it is right."""
    from runners import make_runner

    runner = Hip(folder) if side == "clang" else make_runner("anywarp")
    for work in workloads(chosen):
        if only not in work.name:
            continue
        try:
            arrays = work.make()
            state = runner.prepare(work, arrays)
            runner.launch(state, work)
            error = work.verify(arrays, runner.fetch(state))
            print(json.dumps({"name": work.name, "kernel": work.kernel, "right": bool(error <= work.tolerance), "error": error}), flush=True)
        except Exception as problem:  # one kernel's failure is a cell of the table
            print(json.dumps({"name": work.name, "kernel": work.kernel, "right": False, "error": str(problem)[:200]}), flush=True)


def counted(side: str, chosen: str, card: str, only: str, folder: Path, limit: float) -> dict[str, dict[str, Any]]:
    """Run one side over the card; return by workload whether it was right and what was executed."""
    from amd_stack import stack

    logs = folder / f"logs-{side}"
    logs.mkdir()
    inner = [sys.executable, str(Path(__file__).resolve()), "--worker", side, "--set", chosen, "--only", only, "--folder", str(folder)]
    command = inner if side == "clang" else [sys.executable, "-m", "anywarp", "run", "--device", "hip", "--", *inner]
    done = stack.run(command, card, limit=limit, RJ_COUNTS="1", RJ_SINKS="file", RJ_SINK_DIR=str(logs))
    outcomes = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"name"')]
    if not outcomes:
        raise SystemExit(f"{side} on {card}: {done.stderr[-800:]}")
    log = logs / "counts.log"
    dispatches = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    found: dict[str, dict[str, Any]] = {}
    for outcome in outcomes:
        of_kernel = [d for d in dispatches if d["kernel"].removesuffix(".kd") == outcome["kernel"]]
        found[outcome["name"]] = {**outcome, **(summed(of_kernel) if of_kernel else {"right": False, "error": outcome["error"] or "not counted"})}
    return found


def summed(dispatches: list[dict[str, Any]]) -> dict[str, Any]:
    """Return instructions by class, bytes and lines of memory."""
    classes, lines, moved = Counter[str](), 0, 0
    for dispatch in dispatches:
        for name, (executed, _, bytes_, lines_) in dispatch["instructions"].items():
            kind = class_of(name)
            classes[kind] += executed
            if kind in ("memory", "scratch"):
                lines, moved = lines + lines_, moved + bytes_
    return {"classes": dict(classes), "lines": lines, "bytes": moved, "waves": sum(d["waves"] for d in dispatches)}


def total(side: dict[str, Any]) -> int:
    """Return the instructions that compute or move something."""
    return sum(count for kind, count in side["classes"].items() if kind != "waits")


def ratio(ours: float, theirs: float) -> float | None:
    return ours / theirs if theirs else None


def geometric(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def table(card: str, found: dict[str, Any]) -> list[str]:
    """Return the lines of the page for one card."""
    lines = [
        f"## {card}",
        "",
        "| kernel | instructions, ours / clang | ratio | " + " | ".join(CLASSES[:-1]) + " | memory lines | registers | waves per SIMD | spills |",
        "| --- | --- | --- |" + " --- |" * (len(CLASSES) + 3),
    ]
    ratios, moved = [], []
    for name, pair in found.items():
        ours, theirs = pair["ours"], pair["clang"]
        if not (ours.get("right") and theirs.get("right")):
            whose = " and ".join(side for side, each in (("ours", ours), ("clang's", theirs)) if not each.get("right"))
            lines.append(f"| {name} | {whose} not right: {str((ours if not ours.get('right') else theirs).get('error'))[:80]} |" + " |" * (len(CLASSES) + 4))
            continue
        whole = total(ours) / total(theirs)
        ratios.append(whole)
        moved.append(ours["lines"] / theirs["lines"])
        cells = []
        for kind in CLASSES[:-1]:
            a, b = ours["classes"].get(kind, 0), theirs["classes"].get(kind, 0)
            cells.append("" if not a and not b else f"{a / b:.2f}" if b and max(a, b) >= NEGLIGIBLE else f"{a} / {b}")
        facts = [pair["ours code"], pair["clang code"]]
        lines.append(
            f"| {name} | {total(ours)} / {total(theirs)} | {'**' if whole > 1.1 else ''}{whole:.3f}{'**' if whole > 1.1 else ''} | {' | '.join(cells)} | {moved[-1]:.3f} | "
            + " / ".join(f"{f['vgprs']}+{f['sgprs']}" for f in facts) + f" | {pair['waves']} | " + " / ".join(str(f["spills"]) for f in facts) + " |"
        )
    over = [name for name, pair in found.items() if pair["ours"].get("right") and pair["clang"].get("right") and total(pair["ours"]) > 1.1 * total(pair["clang"])]
    lines += [
        "",
        f"Geometric mean over {len(ratios)} kernels: instructions {geometric(ratios):.3f}, memory lines {geometric(moved):.3f}. Over 1.10: {', '.join(over) or 'none'}.",
        "",
    ]
    return lines


HEAD = """# What our code executes on an AMD GPU, beside clang's

Made by `benchmarks/amd_counts.py`. Each kernel of `benchmarks/kernels` ran twice over HIP itself on an emulated card ([hip-stack.md](hip-stack.md)): as PTX through
anywarp, and as HIP, which `anywarp translate` made of the same CUDA source, by Debian's clang 22 (`-O3`). The emulator counted what it executed. Results were verified
on both sides. **These are counts, not times, and no AMD GPU ran anything.** The problems are small.

A ratio is ours to clang's: below 1 we execute less. Instructions of waves that compute or move something; waits for counters, hints and idle cycles are left out.
*Memory lines*: lines of 128 bytes that vector memory instructions touched, each instruction by itself. Registers: vector + scalar, ours / clang's.

"""


@click.command()
@click.option("--card", "cards", multiple=True, help="gfx942 and gfx1100 unless named.")
@click.option("--set", "chosen", type=click.Choice(list(SETS)), default="main")
@click.option("--only", default="", help="Workloads whose name contains this.")
@click.option("--page", type=click.Path(path_type=Path))
@click.option("--results", type=click.Path(path_type=Path), help="Keep results in this JSON file, with those of former runs.")
@click.option("--limit", default=550.0, help="Seconds for each side.")
@click.option("--worker", "side", default="")
@click.option("--folder", type=click.Path(path_type=Path))
def command(cards: tuple[str, ...], chosen: str, only: str, page: Path | None, results: Path | None, limit: float, side: str, folder: Path | None) -> None:
    """Count instructions of our code and of clang's, kernel by kernel."""
    if side:
        assert folder
        worker(side, chosen, only, folder)
        return
    from anywarp.compiler.amdgpu.occupancy import waves_per_simd  # noqa: F401  (told on the page below)

    kept: dict[str, Any] = json.loads(results.read_text()) if results and results.exists() else {}
    for card in cards or ("gfx942", "gfx1100"):
        with tempfile.TemporaryDirectory() as temporary:
            place = Path(temporary)
            codes = {"ours": compile_ours(chosen, card, only), "clang": compile_hip(chosen, card, place, only)}
            sides = {each: counted(each, chosen, card, only, place, limit) for each in ("clang", "ours")}
        for work in workloads(chosen):
            if only in work.name:
                pair: dict[str, Any] = {each: sides[each].get(work.name, {"right": False, "error": "did not come so far"}) for each in sides}
                pair |= {f"{each} code": codes[each][work.kernel] for each in codes}
                pair["waves"] = " / ".join(waves(card, pair[f"{each} code"], work) for each in ("ours", "clang"))
                kept.setdefault(card, {})[work.name] = pair
        if results:
            results.write_text(json.dumps(kept, indent=1) + "\n")
        print("\n".join(table(card, kept[card])), flush=True)
    if page:
        page.write_text(HEAD + "\n".join(line for card, found in kept.items() for line in table(card, found)).rstrip() + "\n")


def waves(card: str, code: dict[str, Any], work: Any) -> str:
    """Return how many waves of a SIMD there can be, by the documented rules."""
    from anywarp.compiler.amdgpu.occupancy import waves_of

    if "failed" in code:
        return "-"
    return str(waves_of(card, code["vgprs"], code["sgprs"], code["shared"], work.block[0] * work.block[1]))


if __name__ == "__main__":
    command()
