"""Sums of which terms cancel are what they were, and an index that is divided and put together again is known to count up."""

from __future__ import annotations

import random

import numpy as np
import pytest

from anywarp.compiler.analysis import analyse
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module

HEAD = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
.reg .b32 %r<60>; .reg .b64 %d<60>; .reg .pred %p<3>;
.shared .align 4 .b8 tile[8192];
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r3, [n];
mov.u32 %r2, %tid.x;
"""
# row = i / 20, column = i % 20 as compilers write them of i = tid + n; tile[row][column] = i for rows PITCH bytes apart; out[i] = tile[OTHER i]
TILE = (
    HEAD
    + """
add.u32 %r4, %r2, %r3;
mul.hi.s32 %r5, %r4, 1717986919; shr.u32 %r6, %r5, 31; shr.s32 %r7, %r5, 3; add.s32 %r8, %r7, %r6;
mul.lo.s32 %r9, %r8, 20; sub.s32 %r10, %r4, %r9;
mov.u32 %r11, tile; mad.lo.s32 %r12, %r8, PITCH, %r11; shl.b32 %r13, %r10, 2; add.s32 %r14, %r12, %r13;
st.shared.u32 [%r14], %r4;
ld.shared.u32 %r15, [%r14];
mul.wide.u32 %d3, %r2, 4; add.u64 %d4, %d2, %d3;
mul.lo.u32 %r15, %r15, %r10;
st.global.u32 [%d4], %r15;
ret;
}
"""
)


def test_an_index_put_together_again_counts_up() -> None:
    for pitch, known in ((80, True), (84, False), (-80, False)):
        specialisation = Specialisation((64, 1, 1), 32)
        text = TILE.replace("PITCH", str(pitch))
        kernel = prepare_kernel(IndexedModule(index_module(text)), "k", specialisation, checked=True)
        analysis = analyse(kernel, specialisation)
        stores = [op for block in kernel.blocks for op in block.ops if op.name == "store"]
        steps = [analysis.shapes[op.args[0]].stride for op in stores]  # type: ignore[index]
        assert (steps[0] == 4) == known and steps[1] == 4


@pytest.mark.parametrize("pitch", [80, 84])
def test_each_lane_finds_what_it_wrote(pitch: int) -> None:
    program = Program(TILE.replace("PITCH", str(pitch)))
    for n in (0, 7, 1000):
        out = np.zeros(64, np.int32)
        program.run("k", 1, 64, [0, out, n])
        i = np.arange(64) + n
        np.testing.assert_array_equal(out, i * (i % 20))


def drawn(seed: int, width: int) -> tuple[str, list[str]]:
    """A straight line of sums and products of three numbers, and what each step is, in Python."""
    draw = random.Random(seed)
    letter = "r" if width == 32 else "d"
    names, meant, lines = [f"%{letter}{20 + i}" for i in range(3)], ["a", "b", "c"], list[str]()
    for i in range(23, 45):
        x, y = draw.choice(range(len(names))), draw.choice(range(len(names)))
        number = draw.choice([1, 2, 3, 20, 80, -1, -20, 2**31, 2**30, 5 << 29, 7])
        to, kind = f"%{letter}{i}", draw.choice(["add", "add", "sub", "sub", "mul", "shl", "number"])
        if kind in ("add", "sub"):
            lines.append(f"{kind}.s{width} {to}, {names[x]}, {names[y]};")
            meant.append(f"({meant[x]} {'+' if kind == 'add' else '-'} {meant[y]})")
        elif kind == "mul":
            lines.append(f"mul.lo.s{width} {to}, {names[x]}, {number};")
            meant.append(f"({meant[x]} * {number})")
        elif kind == "shl":
            amount = draw.choice([1, 2, 4, width - 1, width, width + 3])
            lines.append(f"shl.b{width} {to}, {names[x]}, {amount};")
            meant.append(f"({meant[x]} * {1 << amount})")
        else:
            lines.append(f"add.s{width} {to}, {names[x]}, {number};")
            meant.append(f"({meant[x]} + {number})")
        names.append(to)
    return "\n".join(lines), meant


@pytest.mark.parametrize("width", [32, 64])
def test_random_sums_are_what_they_were(width: int) -> None:
    letter, bytes = ("r", 4) if width == 32 else ("d", 8)
    source = np.random.default_rng(3).integers(0, 1 << width, (3, 32), np.uint64, endpoint=False)
    source[:, :3] = [[0, 1, (1 << width) - 1]] * 3
    for seed in range(40):
        lines, meant = drawn(seed, width)
        loads = "".join(f"ld.global.u{width} %{letter}{20 + i}, [%d5+{32 * bytes * i}];\n" for i in range(3))
        stores = "".join(f"st.global.u{width} [%d6+{32 * bytes * i}], %{letter}{43 - i};\n" for i in range(4))
        where = f"mul.wide.u32 %d3, %r2, {bytes}; add.u64 %d5, %d1, %d3; add.u64 %d6, %d2, %d3;\n"
        text = f"{HEAD}{where}{loads}{lines}\n{stores}ret;\n}}"
        out = np.zeros((4, 32), f"u{bytes}")
        Program(text).run("k", 1, 32, [source.astype(out.dtype), out, 0])
        a, b, c = (source[i].astype(object) for i in range(3))
        for i in range(4):
            want = eval(meant[23 - i], {"a": a, "b": b, "c": c}) % (1 << width)
            assert list(out[i]) == list(want), (seed, i)
