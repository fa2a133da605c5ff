"""What the table says of trapping and of memory: passes go by it, and what it says never traps has a result for all operands."""

from __future__ import annotations

import itertools

import pytest

from anywarp.compiler import ir
from anywarp.compiler.attributes import Signed
from anywarp.compiler.fold import evaluate
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.operation_table import OPERATIONS, with_effect, with_memory, with_trap
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.regions import recomputable
from anywarp.compiler.simd.target import make_target
from anywarp.ptx.index import index_module
from anywarp.ptx.isa.ops import BITS

WIDE = make_target(
    "x86_64-unknown-linux-gnu", "skylake-avx512", "+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx2,+fma,+f16c"
)
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<9>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
mov.u32 %r2, %tid.x; mul.wide.s32 %d3, %r2, 4; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3;
mov.u32 %r1, 7; setp.gt.s32 %p1, %r2, 0;
@!%p1 bra J; ld.global.u32 %r1, [%d4+-4]; WAY J:
st.global.u32 [%d5], %r1;
ret;
}
"""


def branches(way: str) -> int:
    index = IndexedModule(index_module(TEXT.replace("WAY", way)))
    kernel = prepare_kernel(index, "k", Specialisation((64, 1, 1), 0), target=WIDE, checked=True)
    return sum(block.terminator.name == "branch" for block in kernel.blocks)


def test_what_the_manual_says_of_accesses():
    """Whatever has an address as its first operand accesses memory there; what obeys a guard does something that lanes may not do."""
    addressed = {o.name for o in OPERATIONS.values() if o.signature.text.startswith("address")}
    assert addressed == with_trap("faults") - {"texture"}
    assert with_memory("read", "readwrite") <= with_effect("ordered", "acting")
    assert not with_trap("faults", "ends") & with_effect("pure", "warp")
    assert with_memory("read") == {"load", "matrix_load"}


@pytest.mark.parametrize("name", ["div", "rem"])
@pytest.mark.parametrize("type", ["i8", "i32", "i64"])
def test_division_never_traps(name: str, type: str):
    """LLVM's udiv, sdiv, urem and srem are undefined by zero, and sdiv of the most negative number by -1; these have results."""
    ones, least = (1 << BITS[type]) - 1, 1 << BITS[type] - 1
    assert OPERATIONS[name].trap == "never"
    for a, signed in itertools.product((0, 1, ones, least), (False, True)):
        by_zero = evaluate(name, type, [a, 0], type, Signed(signed))
        assert by_zero is not None and by_zero & ones == (ones if name == "div" else a)
    wraps = evaluate(name, type, [least, ones], type, Signed(True))
    assert wraps is not None and wraps & ones == (least if name == "div" else 0)


def test_passes_ask_whether_an_operation_may_run_for_nothing(monkeypatch: pytest.MonkeyPatch):
    way = "xor.b32 %r1, %r1, 5;"
    some = ir.Op("xor", "i32", [ir.Const("i32", 1), ir.Op("param", "i32", [])])
    assert branches(way) == 0 and recomputable(some)
    monkeypatch.setattr(ir, "SPECULATABLE", ir.SPECULATABLE - {"xor"})
    assert branches(way) == 1 and recomputable(some) is None


def test_clocks_stay_where_they_are():
    assert branches("mov.u32 %r3, %clock; add.u32 %r1, %r1, %r3;") == 1
