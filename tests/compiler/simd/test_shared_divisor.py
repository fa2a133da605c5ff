"""Division by a number that all lanes share and only a launch knows: a product, with the quotient of whole numbers every time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anywarp.compiler.analysis import analyse
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.simd.target import this_machine
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module

# quotients[i] = in[i] / by, rests[i] = in[i] % by
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 quotients, .param .u64 rests, .param .u32 by)
{
.reg .b32 %r<9>; .reg .b64 %d<9>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [quotients]; ld.param.u64 %d3, [rests]; ld.param.u32 %r2, [by];
mov.u32 %r1, %tid.x; mul.wide.u32 %d4, %r1, 4;
add.u64 %d1, %d1, %d4; add.u64 %d2, %d2, %d4; add.u64 %d3, %d3, %d4;
ld.global.u32 %r3, [%d1];
div.TYPE %r4, %r3, %r2; rem.TYPE %r5, %r3, %r2;
st.global.u32 [%d2], %r4; st.global.u32 [%d3], %r5;
ret;
}
"""
LANES = 64
EDGES = sorted({0, 1, 2, 3, 5, 7, 10, 49, 641, 6700417, 65535, 65536, 65537, 999983} | {
    (1 << k) + o for k in (8, 15, 16, 24, 30, 31, 32) for o in (-2, -1, 0, 1) if (1 << k) + o < 1 << 32
})  # fmt: skip
PROGRAMS = {type: Program(TEXT.replace("TYPE", type)) for type in ("u32", "s32")}


def divided(type: str, numbers: list[int], by: int) -> list[tuple[int, int]]:
    """Quotient and rest as PTX has them, and what `ptx.isa.ops` states for a divisor of zero."""

    def number(x: int) -> int:
        return x - (1 << 32) if type == "s32" and x >> 31 else x

    out: list[tuple[int, int]] = []
    for x in numbers:
        a, b = number(x), number(by)
        quotient = -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        out.append((quotient % (1 << 32), (a if b == 0 else a - quotient * b) % (1 << 32)))
    return out


def run(type: str, numbers: list[int], by: int, gang: int) -> list[tuple[int, int]]:
    source = np.resize(np.array(numbers, np.uint32), LANES)
    quotients, rests = np.zeros(LANES, np.uint32), np.zeros(LANES, np.uint32)
    PROGRAMS[type].run("k", 1, LANES, [source, quotients, rests, by], options=f"gang={gang}")
    return list(zip(quotients.tolist(), rests.tolist(), strict=True))[: len(numbers)]


@pytest.mark.parametrize("type", PROGRAMS)
def test_numbers_at_the_edges_divide_by_each_other(type: str) -> None:
    for by in EDGES:
        numbers = sorted(
            {*EDGES, *(min(by * k + o, (1 << 32) - 1) for k in (1, 2, 3) for o in (0, 1) if by * k < 1 << 32)}
        )
        for first in range(0, len(numbers), LANES):
            part = numbers[first : first + LANES]
            assert run(type, part, by, 64) == divided(type, part, by), by


@given(
    st.sampled_from(sorted(PROGRAMS)), st.lists(st.integers(0, (1 << 32) - 1), min_size=1, max_size=LANES),
    st.one_of(st.integers(0, (1 << 32) - 1), st.integers(0, 2000), st.sampled_from(EDGES)), st.sampled_from([32, 64]),
)  # fmt: skip
def test_any_number_divides_any_other(type: str, numbers: list[int], by: int, gang: int) -> None:
    numbers = [*numbers, *(x * by % (1 << 32) for x in numbers)][:LANES]
    assert run(type, numbers, by, gang) == divided(type, numbers, by)


def test_no_vector_is_divided() -> None:
    specialisation = Specialisation((LANES, 1, 1), 32)
    kernel = prepare_kernel(IndexedModule(index_module(TEXT.replace("TYPE", "u32"))), "k", specialisation)
    text = this_machine().emit_text(kernel, analyse(kernel, specialisation), specialisation)[0]
    assert "fdiv" not in text and " udiv i64" in text
