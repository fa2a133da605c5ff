"""Random kernels of branches, loops and jumps into loops, run as vector code and lane by lane in plain Python."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import compile_kernel, prepare_kernel
from anywarp.compiler.simd.target import this_machine
from anywarp.devices.cpu.execute import Loaded, pack_arguments
from anywarp.ptx.index import index_module

REGISTERS = 6
STEPS = 40
MASK = (1 << 32) - 1


@dataclass
class Step:
    op: str
    target: int
    left: int
    right: int  # a register, or a constant where negative


@dataclass
class Piece:
    """A block: some steps, perhaps a barrier, then a branch to `taken` if (register & bits) == 0, else to `other`; -1 is the end.

    Threads that have ended do not keep others waiting, so barriers change nothing, wherever they stand.
    """

    steps: list[Step]
    register: int
    bits: int
    taken: int
    other: int
    barrier: bool = False


OPS = {
    "add.s32": lambda a, b: a + b,
    "sub.s32": lambda a, b: a - b,
    "mul.lo.s32": lambda a, b: a * b,
    "xor.b32": lambda a, b: a ^ b,
    "and.b32": lambda a, b: a & b,
    "mov.b32": lambda a, b: a,
    "shr.u32": lambda a, b: a >> min(b, 32),
}


@st.composite
def programs(draw: st.DrawFn, barriers: bool = False) -> list[Piece]:
    size = draw(st.integers(2, 9))
    register = st.integers(0, REGISTERS - 1)
    goal = st.integers(-1, size - 1)
    step = st.builds(Step, st.sampled_from(sorted(OPS)), register, register, st.integers(-9, REGISTERS - 1))
    return [
        Piece(
            draw(st.lists(step, max_size=3)),
            draw(register),
            draw(st.sampled_from([0, 1, 2, 3, 4, 7, 64])),
            draw(goal),
            draw(st.one_of(st.just(min(i + 1, size - 1)), goal)),
            barriers and draw(st.integers(0, 3)) == 0,
        )
        for i in range(size)
    ]


def ptx(program: list[Piece]) -> str:
    """The program; register 0 begins as the thread's index, 1 as the block's, 2 as 5, the others as the parameter n."""
    lines = [
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 n) {",
        f".reg .b32 %r<{REGISTERS}>; .reg .b32 %t<4>; .reg .b32 %steps; .reg .pred %p<3>; .reg .b64 %d<4>;",
        "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, 5; ld.param.u32 %r3, [n];",
        f"mov.u32 %r4, %r3; mov.u32 %r5, %r3; mov.u32 %steps, {STEPS};",
    ]
    for i, piece in enumerate(program):
        lines.append(f"B{i}: add.s32 %steps, %steps, -1; setp.lt.s32 %p1, %steps, 0; @%p1 bra END;")
        for s in piece.steps:
            right = f"%r{s.right}" if s.right >= 0 else str(-s.right)
            if s.op == "mov.b32":
                lines.append(f"mov.b32 %r{s.target}, %r{s.left};")
            else:
                lines.append(f"{s.op} %r{s.target}, %r{s.left}, {right};")
        if piece.barrier:
            lines.append("bar.sync 0;")
        goals = ["END" if g < 0 else f"B{g}" for g in (piece.taken, piece.other)]
        lines.append(f"and.b32 %t1, %r{piece.register}, {piece.bits}; setp.eq.s32 %p2, %t1, 0;")
        lines.append(f"@%p2 bra {goals[0]}; bra {goals[1]};")
    lines.append(
        "END: ld.param.u64 %d1, [out]; mov.u32 %t1, %ntid.x; mov.u32 %t2, %ctaid.x; mov.u32 %t3, %tid.x;"
        f"mad.lo.s32 %t1, %t1, %t2, %t3; mul.wide.u32 %d2, %t1, {4 * REGISTERS}; add.s64 %d3, %d1, %d2;"
    )
    lines += [f"st.global.u32 [%d3+{4 * k}], %r{k};" for k in range(REGISTERS)]
    return "\n".join([*lines, "ret; }"])


def model(program: list[Piece], tid: int, ctaid: int, n: int) -> list[int]:
    r = [tid, ctaid, 5, n, n, n]
    at = 0
    for _ in range(STEPS):
        piece = program[at]
        for s in piece.steps:
            r[s.target] = OPS[s.op](r[s.left], r[s.right] if s.right >= 0 else -s.right) & MASK
        at = piece.other if r[piece.register] & piece.bits else piece.taken
        if at < 0:
            break
    return r


def run(program: list[Piece], block: int, known: bool, n: int) -> None:
    index = index_module(ptx(program))
    specialisation = Specialisation((block, 1, 1) if known else None)
    prepare_kernel(IndexedModule(index), "k", specialisation, checked=True)
    loaded = Loaded(compile_kernel(index, "k", specialisation, this_machine()))
    out = np.zeros((2 * block, REGISTERS), np.uint32)
    loaded.launch(2, block, pack_arguments([(0, 8), (8, 4)], [out, np.uint32(n)]))
    expected = [model(program, tid, ctaid, n) for ctaid in range(2) for tid in range(block)]
    assert out.tolist() == expected


@given(programs(), st.sampled_from([32, 40, 64]), st.booleans(), st.sampled_from([0, 3, 100]))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_control_flow(program: list[Piece], block: int, known: bool, n: int) -> None:
    run(program, block, known, n)


@given(programs(barriers=True), st.sampled_from([32, 40, 64]), st.booleans(), st.sampled_from([0, 3, 100]))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_control_flow_with_barriers(program: list[Piece], block: int, known: bool, n: int) -> None:
    run(program, block, known, n)


@pytest.mark.long
@given(programs(barriers=True), st.sampled_from([32, 40, 64]), st.booleans(), st.sampled_from([0, 3, 100]))
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
def test_much_random_control_flow_with_barriers(program: list[Piece], block: int, known: bool, n: int) -> None:
    run(program, block, known, n)


@pytest.mark.long
@given(programs(), st.sampled_from([32, 40, 64]), st.booleans(), st.sampled_from([0, 3, 100]))
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
def test_much_random_control_flow(program: list[Piece], block: int, known: bool, n: int) -> None:
    run(program, block, known, n)
