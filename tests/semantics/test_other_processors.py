"""Code for other processors than this one: compiled and looked at for AVX2 and for AArch64, run as AVX2, as x86-64-v2 and as other AVX-512 here."""

import platform
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given

from anywarp.check.conformance import kernels
from anywarp.check.conformance.table import ROWS
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.simd.machine_code import host_cpu
from anywarp.compiler.simd.target import make_target
from anywarp.compiler.simd.tuning import Tuning
from anywarp.compiler.stages import compile_seen
from anywarp.devices.cpu.execute import Program
from anywarp.ptx import elf
from anywarp.ptx.index import index_module
from semantics.test_devices import chunks, thinned, told
from semantics.test_programs import check, made, seeds, some

KERNELS = sorted((Path(__file__).resolve().parents[2] / "benchmarks" / "kernels").glob("*.ptx"))
BLOCKS = {
    "attention": (64, 1, 1),
    "sgemm16": (16, 16, 1),
    "sgemm32": (32, 32, 1),
    "transpose": (32, 8, 1),
    "stencil5": (16, 16, 1),
}
AVX2 = "+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+sse4.2,+popcnt,+lzcnt,+movbe"
AVX512 = AVX2 + ",+avx512f,+avx512bw,+avx512dq,+avx512vl"
SLOW = Tuning(ahead=2, gathers=0, stream=4)
TARGETS = {
    "AVX2": make_target("x86_64-unknown-linux-gnu", "haswell", AVX2),
    "NEON": make_target("aarch64-unknown-linux-gnu", "neoverse-n1", "+neon,+fullfp16"),
    "SSE4": make_target("x86_64-unknown-linux-gnu", "x86-64-v2", "+sse4.1,+sse4.2,+popcnt"),
    "half": make_target("x86_64-unknown-linux-gnu", "skylake-avx512", AVX512, Tuning(vector=256)),
    "slow": make_target("x86_64-unknown-linux-gnu", "skylake-avx512", AVX512, SLOW),
}
MACHINE = {"AVX2": 62, "NEON": 183, "SSE4": 62}
"""e_machine: EM_X86_64 and EM_AARCH64 (System V ABI, ELF header)."""


@pytest.mark.spread("name")
@pytest.mark.parametrize("name", ["AVX2", "NEON"])
@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_benchmark_kernels_compile_for(name, path):
    target = TARGETS[name]
    index = index_module(path.read_bytes())
    made = compile_seen(index, path.stem, Specialisation(BLOCKS.get(path.stem, (256, 1, 1)), 0), target)
    assert elf.read(made.artifact.object).machine == MACHINE[name]
    text = made.llvm()
    assert "avx512" not in text and ".512" not in text
    assert name == "AVX2" or "llvm.x86" not in text


HERE = platform.machine() == "x86_64"
FEATURES = set(host_cpu()[2].split(","))
RUNNABLE = ["SSE4"] * HERE + ["AVX2"] * (HERE and set(AVX2.split(",")) <= FEATURES)
RUNNABLE += ["half", "slow"] * (HERE and set(AVX512.split(",")) <= FEATURES)

module = lru_cache(maxsize=32)(Program)


def running(name: str, options: str):
    def run(ptx, kernel, grid, block, args, dynamic_shared=0):
        module(ptx, TARGETS[name]).run(kernel, grid, block, args, dynamic_shared, options=options)

    return run


@pytest.mark.spread("name")
@pytest.mark.parametrize("name", RUNNABLE)
@chunks(thinned(ROWS)[5::20])
def test_rows_run_as(name, rows):
    told(kernels.check_straight(running(name, "gang=32"), rows, seed=4, threads=64))
    told(kernels.check_divergent(running(name, "gang=32"), rows[::3], seed=5, threads=45))


@pytest.mark.spread("name")
@pytest.mark.parametrize("name", RUNNABLE)
@pytest.mark.parametrize("options", ["gang=64", "gang=32 tier=quick"])
def test_programs_run_as(name, options):
    @some(2)
    @given(made, seeds)
    def agree(program, seed):
        check(running(name, options), program, (64, 2, 1), seed)

    agree()
