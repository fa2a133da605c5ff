"""Variants: parameters whose divisibility helps are found, and code that may rely on it computes the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anywarp.compiler.analysis import analyse
from anywarp.compiler.artifact import Artifact, pack, unpack
from anywarp.compiler.ir import Kernel, Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import compile_kernel, prepare_kernel
from anywarp.compiler.simd.target import this_machine
from anywarp.compiler.variants import analyse_for_variant
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module

# out[row][i] = 2 * in[row][i], rows of n: the loop over a row as compilers unroll it by two, with a remainder before it.
ROWS = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 unused)
{
.reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<9>; .reg .f32 %f<9>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [n]; ld.param.u32 %r15, [unused];
mov.u32 %r2, %tid.x;
mov.u32 %r3, %ctaid.x;
mul.lo.s32 %r4, %r3, %r1;
setp.ge.s32 %p1, %r2, %r1;
@%p1 bra DONE;
not.b32 %r5, %r2;
add.s32 %r6, %r5, %r1;
shr.u32 %r7, %r6, 5;
add.s32 %r8, %r7, 1;
and.b32 %r9, %r8, 1;
mov.u32 %r10, %r2;
setp.eq.s32 %p2, %r9, 0;
@%p2 bra PAIRS;
add.s32 %r11, %r4, %r10;
mul.wide.s32 %d3, %r11, 4;
add.s64 %d4, %d1, %d3;
add.s64 %d5, %d2, %d3;
ld.global.f32 %f1, [%d4];
add.f32 %f2, %f1, %f1;
st.global.f32 [%d5], %f2;
add.s32 %r10, %r10, 32;
PAIRS:
setp.lt.u32 %p3, %r6, 32;
@%p3 bra DONE;
LOOP:
add.s32 %r12, %r4, %r10;
mul.wide.s32 %d6, %r12, 4;
add.s64 %d7, %d1, %d6;
add.s64 %d8, %d2, %d6;
ld.global.f32 %f3, [%d7];
add.f32 %f4, %f3, %f3;
st.global.f32 [%d8], %f4;
ld.global.f32 %f5, [%d7+128];
add.f32 %f6, %f5, %f5;
st.global.f32 [%d8+128], %f6;
add.s32 %r10, %r10, 64;
setp.lt.s32 %p4, %r10, %r1;
@%p4 bra LOOP;
DONE:
ret;
}
"""
COLUMNS = (16, 4)
BLOCK = (32, 1, 1)
RMSNORM = Path(__file__).parents[2] / "benchmarks" / "kernels" / "rmsnorm.ptx"


def prepared(ptx: str, name: str, specialisation: Specialisation) -> Kernel:
    return prepare_kernel(IndexedModule(index_module(ptx)), name, specialisation)


def scattered(kernel: Kernel, specialisation: Specialisation) -> int:
    shapes = analyse(kernel, specialisation).shapes
    return sum(op.name in ("load", "store") and shapes[op.args[0]].varying for b in kernel.blocks for op in b.ops)


def test_the_length_of_rows_is_wanted_to_be_a_multiple() -> None:
    generic = Specialisation(BLOCK)
    kernel = prepared(ROWS, "k", generic)
    _, variant = analyse_for_variant(kernel, generic)
    assert variant == ((*COLUMNS, 32),)
    granted = Specialisation(BLOCK, multiples=variant)
    assert scattered(kernel, generic) > 0
    analysis, more = analyse_for_variant(kernel, granted)
    assert more == ()
    assert not analysis.divergent_branches and not analysis.divergent_loops


def test_a_kernel_of_real_rows_asks_for_columns_whatever_the_gang() -> None:
    text = RMSNORM.read_text()
    for gang in (32, 64, 128):
        specialisation = Specialisation((32, 4, 1), gang)
        kernel = prepared(text, "rmsnorm", specialisation)
        _, variant = analyse_for_variant(kernel, specialisation)
        assert variant == ((24, 4, 32),)
        assert scattered(kernel, specialisation) == 16
        assert scattered(kernel, Specialisation((32, 4, 1), gang, variant)) == 0


@pytest.mark.parametrize(
    "asked",
    [
        Specialisation(None),
        Specialisation(BLOCK, quick=True),
        Specialisation(BLOCK, checks=frozenset({"memory"})),
        Specialisation(BLOCK, multiples=((*COLUMNS, 8),)),
    ],
    ids=["any shape", "quick", "checked", "already specialised"],
)
def test_only_a_full_compilation_for_a_shape_asks_for_a_variant(asked: Specialisation) -> None:
    assert analyse_for_variant(prepared(ROWS, "k", asked), asked)[1] == ()


def test_a_multiple_that_is_no_power_of_two_counts_as_far_as_it_goes() -> None:
    kernel = prepared(ROWS, "k", Specialisation(BLOCK))
    assert scattered(kernel, Specialisation(BLOCK, multiples=((*COLUMNS, 96),))) == 0
    assert scattered(kernel, Specialisation(BLOCK, multiples=((*COLUMNS, 48),))) > 0
    assert scattered(kernel, Specialisation(BLOCK, multiples=((20, 4, 32),))) > 0


def test_the_artifact_carries_its_variant() -> None:
    artifact = compile_kernel(index_module(ROWS), "k", Specialisation(BLOCK), this_machine())
    assert isinstance(artifact, Artifact)
    assert artifact.variant == ((*COLUMNS, 32),)
    assert unpack(pack(artifact)).variant == artifact.variant


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 64, 96, 100, 160, 2048])
def test_both_kinds_of_code_give_the_same_rows(n: int) -> None:
    program, rows = Program(ROWS), 3
    source = np.random.default_rng(n).random(rows * n + 8, dtype=np.float32)
    want = np.full(rows * n + 8, -7, np.float32)
    want[: rows * n] = 2 * source[: rows * n]
    multiples = [m for m in (1, 2, 32) if n % m == 0]
    for m in multiples:
        out = np.full(rows * n + 8, -7, np.float32)
        options = f"gang=32 multiple=16:4:{m}" if m > 1 else "gang=32"
        program.run("k", rows, BLOCK, [source, out, n, 5], options=options)
        np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("columns", [32, 96, 128, 131, 1000, 1024])
def test_real_rows_with_and_without_their_variant(columns: int) -> None:
    program = Program(RMSNORM.read_text())
    rng = np.random.default_rng(columns)
    x, scale = rng.standard_normal((8, columns), np.float32), rng.random(columns, np.float32)
    exact = x.astype(np.float64)
    want = exact / np.sqrt((exact**2).mean(1, keepdims=True) + 1e-5) * scale
    for multiple in (1, 32):
        if columns % multiple:
            continue
        out = np.zeros_like(x)
        options = "gang=32 multiple=24:4:32" if multiple == 32 else "gang=32"
        program.run("rmsnorm", 2, (32, 4), [x, scale, out, columns, 1e-5], options=options)
        np.testing.assert_allclose(out, want, rtol=2e-5, atol=1e-5)


def test_very_long_kernels_are_not_analysed_again() -> None:
    """Each analysis of a kernel of many thousand operations takes long; what it asks for is not worth that."""
    more = "\n".join(f"mul.lo.u32 %r13, %r13, {3 + 2 * i}; xor.b32 %r13, %r13, %r2;" for i in range(3100))
    ptx = ROWS.replace("LOOP:", f"mov.u32 %r13, %r15;\n{more}\nst.global.u32 [%d2], %r13;\nLOOP:")
    specialisation = Specialisation(BLOCK)
    kernel = prepared(ptx, "k", specialisation)
    assert sum(len(block.ops) for block in kernel.blocks) > 6000
    assert analyse_for_variant(kernel, specialisation)[1] == ()
