"""Kernels in which many values live across many barriers: they lie in one place, and are what each lane made of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.simd.target import this_machine
from anywarp.compiler.variants import analyse_for_variant
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module

VALUES, BARRIERS, THREADS = 40, 12, 96

HEAD = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<9>; .reg .b32 %v<99>; .reg .b32 %s<9>;
.shared .align 4 .b8 room[384];
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %d3, %r1, 4;
add.u64 %d1, %d1, %d3;
add.u64 %d2, %d2, %d3;
ld.global.u32 %s1, [%d1];
and.b32 %r2, %s1, 1;
setp.eq.u32 %p1, %r2, 0;
mov.u32 %r3, room;
shl.b32 %r4, %r1, 2;
add.u32 %r4, %r3, %r4;
add.u32 %r5, %r1, 1;
rem.u32 %r5, %r5, 96;
shl.b32 %r5, %r5, 2;
add.u32 %r5, %r3, %r5;
"""


def kernel(barriers: int, apart: bool) -> str:
    """Values that each round adds to a neighbour's; `apart`: lanes change them, and wait, on two ways."""
    lines = [f"mad.lo.u32 %v{j}, %s1, {2 * j + 3}, {j};" for j in range(VALUES)]
    for b in range(barriers):
        j = b % VALUES
        lines += [f"st.shared.u32 [%r4], %v{j};"]
        if apart:
            lines += [f"@%p1 bra E{b};", f"add.u32 %v{j + 1}, %v{j + 1}, 5;", "bar.sync 0;", f"bra J{b};"]
            lines += [f"E{b}:", f"mul.lo.u32 %v{j + 1}, %v{j + 1}, 3;", "bar.sync 0;", f"J{b}:"]
        else:
            lines += ["bar.sync 0;"]
        lines += ["ld.shared.u32 %s2, [%r5];", "bar.sync 0;", f"xor.b32 %v{j + 2}, %v{j + 2}, %s2;"]
    lines += ["mov.u32 %s3, 0;"]
    lines += [f"mad.lo.u32 %s3, %s3, 31, %v{j};" for j in range(VALUES)]
    return HEAD + "\n".join(lines) + "\nst.global.u32 [%d2], %s3;\nret;\n}\n"


def wanted(source: np.ndarray, barriers: int, apart: bool) -> np.ndarray:
    """The same with whole numbers."""
    values = [[int(x) * (2 * j + 3) + j for x in source] for j in range(VALUES)]
    for b in range(barriers):
        j = b % VALUES
        told = list(values[j])
        if apart:
            values[j + 1] = [
                v * 3 if x % 2 == 0 else v + 5 for v, x in zip(values[j + 1], source.tolist(), strict=True)
            ]
        values[j + 2] = [v % 2**32 ^ told[(i + 1) % THREADS] % 2**32 for i, v in enumerate(values[j + 2])]
    total = [0] * THREADS
    for row in values:
        total = [t * 31 + v for t, v in zip(total, row, strict=True)]
    return np.array([t % 2**32 for t in total], np.uint32)


def lines_of_code(barriers: int, apart: bool) -> int:
    target = this_machine()
    index = IndexedModule(index_module(kernel(barriers, apart)))
    specialisation = Specialisation((THREADS, 1, 1), 32)
    prepared = prepare_kernel(index, "k", specialisation, target=target)
    analysis, _ = analyse_for_variant(prepared, replace(specialisation, lanes=32))
    return target.emit_text(prepared, analysis, specialisation)[0].count("\n")


@pytest.mark.parametrize("apart", [False, True])
def test_values_across_barriers_are_what_each_lane_made_of_them(apart: bool) -> None:
    source = np.random.default_rng(1).integers(0, 1 << 20, THREADS, dtype=np.uint32)
    out = np.zeros(THREADS, np.uint32)
    Program(kernel(BARRIERS, apart)).run("k", 1, THREADS, [source, out])
    np.testing.assert_array_equal(out, wanted(source, BARRIERS, apart))


@pytest.mark.parametrize(("apart", "most"), [(False, 8), (True, 44)])
def test_a_barrier_does_not_move_all_that_is_alive(apart: bool, most: int) -> None:
    few, many = (lines_of_code(barriers, apart) for barriers in (BARRIERS, 2 * BARRIERS))
    assert (
        many - few
    ) / BARRIERS < VALUES * most  # a value that is moved takes 16 lines a round, or 100 where lanes wait apart


ROUNDS = 8
MATRICES = f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b32 %v<99>; .reg .b32 %s<9>;
.shared .align 16 .b8 room[1024];
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %d3, %r1, 4;
add.u64 %d1, %d1, %d3;
add.u64 %d2, %d2, %d3;
ld.global.u32 %s1, [%d1];
mov.u32 %r3, room;
shl.b32 %r4, %r1, 4;
add.u32 %r4, %r3, %r4;
ROUNDS
mov.u32 %s3, 0;
{chr(10).join(f"mad.lo.u32 %s3, %s3, 31, %v{j};" for j in range(4 * ROUNDS))}
st.global.u32 [%d2], %s3;
ret;
}}
"""


def test_matrices_that_live_across_barriers_stay_what_they_were() -> None:
    rounds = "".join(
        f"mad.lo.u32 %s2, %s1, {2 * k + 1}, {k};\nst.shared.v4.u32 [%r4], {{%s1, %s2, %r1, %s2}};\nbar.sync 0;\n"
        f"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%v{4 * k}, %v{4 * k + 1}, %v{4 * k + 2}, %v{4 * k + 3}}}, [%r4];\nbar.sync 0;\n"
        for k in range(ROUNDS)
    )
    source = np.random.default_rng(2).integers(0, 1 << 20, 64, dtype=np.uint32)
    out = np.zeros(64, np.uint32)
    Program(MATRICES.replace("ROUNDS", rounds)).run("k", 1, 64, [source, out])
    x, threads, total = source.astype(np.int64), np.arange(64), np.zeros(64, np.int64)
    for k in range(ROUNDS):
        made = x * (2 * k + 1) + k
        words = np.stack([x, made, threads, made], 1).reshape(2, 128)  # of each warp: 32 rows of 4
        for j in range(4):  # lane l gets word l % 4 of row l / 4 of matrix j (PTX manual, ldmatrix)
            total = (total * 31 + words[:, 32 * j : 32 * j + 32].reshape(64)) % 2**32
    np.testing.assert_array_equal(out, total.astype(np.uint32))
