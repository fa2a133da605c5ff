"""Gangs whose code lies on the stack: how that is counted, when one warp at a time is tried, and what is kept."""

import hashlib
import re
from pathlib import Path

import pytest

from anywarp.compiler import gangs
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.options import read_options
from anywarp.compiler.pipeline import compile_kernel, locate
from anywarp.compiler.simd.machine_code import assembly, compile_text
from anywarp.compiler.simd.objects import vectors_on_stack
from anywarp.compiler.simd.spills import register_traffic
from anywarp.compiler.simd.target import make_target
from anywarp.compiler.stages import compile_seen
from anywarp.ptx.index import index_module

KERNELS = Path(__file__).resolve().parents[2] / "benchmarks" / "kernels"
AVX2 = "+avx,+avx2,+fma,+f16c"
AVX512 = f"{AVX2},+avx512f,+avx512bw,+avx512dq,+avx512vl"
TRIPLE = "x86_64-unknown-linux-gnu"
WIDE = make_target(TRIPLE, "znver4", AVX512)
"""A processor on which streaming kernels are wider than a warp."""


def sums(count: int, lanes: int) -> str:
    """A function that loads so many vectors and then adds them up from the last to the first."""
    type = f"<{lanes} x float>"
    lines = [f'define void @f(ptr %p) "prefer-vector-width"="{32 * lanes}" "min-legal-vector-width"="{32 * lanes}" {{']
    for k in range(count):
        lines += [f"  %p{k} = getelementptr i8, ptr %p, i64 {64 * k}", f"  %v{k} = load volatile {type}, ptr %p{k}"]
    last = f"%v{count - 1}"
    for k in reversed(range(count - 1)):
        lines.append(f"  %s{k} = fadd {type} {last}, %v{k}")
        last = f"%s{k}"
    return "\n".join([*lines, f"  store {type} {last}, ptr %p", "  ret void", "}", ""])


@pytest.mark.parametrize(("cpu", "features", "lanes"), [("haswell", AVX2, 8), ("skylake-avx512", AVX512, 16)])
@pytest.mark.parametrize("count", [10, 60])
def test_vectors_on_the_stack_are_those_that_llvm_says_it_spilled(cpu, features, lanes, count):
    text = sums(count, lanes)
    traffic = register_traffic("\n".join(("# %bb.0:", assembly(text, TRIPLE, cpu, features, "f"))))[None]
    told = traffic.vector_spills + traffic.vector_reloads
    assert (told > 30) == (count == 60)
    assert vectors_on_stack(compile_text(text, TRIPLE, cpu, features, "f")) == pytest.approx(told, abs=2)


def test_nothing_is_counted_for_other_processors():
    target = make_target("aarch64-unknown-linux-gnu", "neoverse-n1", "+neon,+fullfp16")
    assert vectors_on_stack(compile_text(sums(60, 4), target.triple, target.cpu, target.features, "f")) == 0


def compiled(options=""):
    index = index_module((KERNELS / "gelu.ptx").read_bytes())
    return index, compile_kernel(index, "gelu", read_options(options, (256, 1, 1)), WIDE)


def test_one_warp_at_a_time_replaces_a_gang_that_is_on_the_stack_too_much(monkeypatch):
    index, wide = compiled()
    assert wide.lanes > 32
    monkeypatch.setattr(gangs, "_SPILT", 0)
    monkeypatch.setattr(gangs, "_KEPT", 1e9)
    index, narrow = compiled()
    assert narrow.lanes == 32
    assert re.fullmatch(
        rf"gang of 32 lanes: {wide.lanes} lanes need \d+ accesses of the stack for each vector of them",
        narrow.notes[-1],
    )
    seen = compile_seen(index, "gelu", Specialisation((256, 1, 1), 0), WIDE)
    assert (seen.specialisation.lanes, seen.artifact.object) == (32, narrow.object)
    digest = hashlib.sha256(narrow.object).hexdigest()
    lines = {locate(index, "gelu", Specialisation((256, 1, 1), 0), WIDE, digest, at) for at in (200, 400)}
    assert any(lines)


def test_it_does_not_where_its_own_code_is_there_as_much(monkeypatch):
    monkeypatch.setattr(gangs, "_SPILT", 0)
    monkeypatch.setattr(gangs, "_KEPT", -1)
    assert compiled()[1].lanes > 32


def test_a_width_that_was_asked_for_stays(monkeypatch):
    monkeypatch.setattr(gangs, "_SPILT", 0)
    monkeypatch.setattr(gangs, "_KEPT", 1e9)
    assert compiled("gang=64")[1].lanes == 64


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "lanes"), [("argmax", 32), ("cheapest_path", 32), ("stencil7", 64)])
def test_kernels_of_the_benchmarks(kernel, lanes):
    """On Zen 4 argmax takes 0.6 and cheapest_path 0.8 of the time that 256 lanes take; stencil7 1.16 of that of 64."""
    block = {"stencil7": (128, 1, 1)}.get(kernel, (256, 1, 1))
    index = index_module((KERNELS / "untuned" / f"{kernel}.ptx").read_bytes())
    made = compile_kernel(index, kernel, Specialisation(block, 0), WIDE)
    assert made.lanes == lanes
