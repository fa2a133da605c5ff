"""Loops that add by exchanges: one trip and an atomic addition where nobody asks what was there, and the loop otherwise; sums in both."""

from __future__ import annotations

import numpy as np
import pytest

from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.devices.cpu.execute import Program
from anywarp.devices.cpu.target import host_target
from anywarp.ptx.index import index_module

# key = keys[i]; table[key] = table[key] OP values[i], by exchanges; then what is in AFTER
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 keys, .param .u64 values, .param .u64 table, .param .u64 old)
{
.reg .b32 %r<12>; .reg .b64 %d<12>; .reg .pred %p<3>; .reg .bBITS %v1; .reg .bBITS %v2; .reg .bBITS %v3; .reg .bBITS %v4; .reg .fBITS %f1; .reg .fBITS %f2; .reg .fBITS %f3;
ld.param.u64 %d1, [keys]; ld.param.u64 %d2, [values]; ld.param.u64 %d3, [table]; ld.param.u64 %d4, [old];
mov.u32 %r1, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r2, %r1, %r3, %r4;
mul.wide.u32 %d5, %r2, 4; add.u64 %d6, %d1, %d5; ld.global.u32 %r5, [%d6];
mul.wide.u32 %d7, %r2, SIZE; add.u64 %d8, %d2, %d7; ld.global.fBITS %f1, [%d8];
mul.wide.u32 %d9, %r5, SIZE; add.u64 %d10, %d3, %d9;
setp.lt.s32 %p2, %r5, 0;
@%p2 bra DONE;
ld.global.bBITS %v1, [%d10];
AGAIN:
mov.bBITS %f2, %v1;
SUM
mov.bBITS %v2, %f3;
atom.global.cas.bBITS %v3, [%d10], %v1, %v2;
setp.COMPARE.bBITS %p1, %v1, %v3;
mov.bBITS %v4, %v1;
mov.bBITS %v1, %v3;
@%p1 bra AGAIN;
AFTER
DONE:
ret;
}
"""
ADD = "add.rn.fBITS %f3, %f1, %f2;"
OLD = "add.u64 %d8, %d4, %d7; st.global.bBITS [%d8], %vV;"


def text(bits: int, sum: str = ADD, after: str = "", compare: str = "ne") -> str:
    out = TEXT.replace("SUM", sum).replace("AFTER", after).replace("COMPARE", compare)
    return out.replace("SIZE", str(bits // 8)).replace("BITS", str(bits))


def stays(ptx: str, checks: frozenset[str] = frozenset()) -> bool:
    """Tell whether the loop is one."""
    specialisation = Specialisation(block=(64, 1, 1), checks=checks)
    kernel = prepare_kernel(IndexedModule(index_module(ptx)), "k", specialisation, target=host_target(), checked=True)
    names = [op.attrs.op for block in kernel.blocks for op in block.ops if op.name == "atomic"]
    loops = any(block in block.terminator.targets for block in kernel.blocks)
    assert names == (["cas"] if loops else ["cas", "fadd"])
    return loops


def keys_of(kind: str, n: int) -> np.ndarray:
    rng = np.random.default_rng(3)
    return {
        "one": np.full(n, 5), "sorted": np.sort(rng.integers(0, 8, n)), "one, with gaps": np.where(rng.random(n) < 0.4, -1, 6),
        "many": rng.integers(0, 8, n), "none": np.full(n, -1),
    }[kind].astype(np.int32)  # fmt: skip


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("kind", ["one", "sorted", "one, with gaps", "many", "none"])
@pytest.mark.parametrize("after", ["", OLD.replace("V", "3")], ids=["nobody asks", "the old is kept"])
@pytest.mark.parametrize("lanes", [32, 1])
def test_sums(bits, kind, after, lanes):
    """Whole numbers, whose sums are exact in any order; what was there before each differs as in some order."""
    n, number = 512, {32: np.float32, 64: np.float64}[bits]
    ptx = text(bits, after=after)
    assert stays(ptx) == bool(after)
    keys, values = keys_of(kind, n), np.random.default_rng(1).integers(1, 50, n).astype(number)
    table, old = np.arange(8).astype(number), np.full(n, -1, number)
    Program(ptx).run("k", 8, 64, [keys, values, table, old], options=f"gang={lanes}")
    wanted = np.arange(8).astype(number)
    on = keys >= 0
    np.add.at(wanted, keys[on], values[on])
    np.testing.assert_array_equal(table, wanted)
    if after and kind == "one":  # in the order that the old ones tell, each is the one before and its value
        order = np.argsort(old)
        np.testing.assert_array_equal(old[order], 5 + np.concatenate([[0], np.cumsum(values[order])[:-1]]))


def test_each_sum_is_rounded_by_itself():
    """One at a time beside a large number each is lost; their sum would not be."""
    values, table = np.full(64, 1, np.float32), np.full(8, 2.0**25, np.float32)
    Program(text(32)).run("k", 1, 64, [np.zeros(64, np.int32), values, table, values.copy()])
    assert table[0] == 2.0**25


@pytest.mark.parametrize(
    "changed",
    [
        {"sum": "mul.rn.fBITS %f3, %f1, %f2;"},
        {"sum": "add.rz.fBITS %f3, %f1, %f2;"},
        {"sum": "add.rn.fBITS %f3, %f2, %f2;"},
        {"sum": "add.rn.fBITS %f3, %f1, %f2; st.global.fBITS [%d8], %f3;"},
        {"after": OLD.replace("V", "4")},
        {"after": OLD.replace("V", "2")},
        {"compare": "lt"},
    ],
    ids=[
        "a product",
        "rounded to zero",
        "twice the old",
        "stored on the way",
        "what was expected",
        "the sum",
        "another test",
    ],
)
@pytest.mark.parametrize("bits", [32, 64])
def test_what_is_no_addition_stays(bits, changed):
    if changed.get("compare") == "lt":
        ptx = text(bits, compare="lt").replace(f"lt.b{bits}", f"lt.u{bits}")
    else:
        ptx = text(bits, **changed)
    assert stays(ptx)


def test_watched_exchanges_stay():
    assert stays(text(32), frozenset({"memory"})) and not stays(text(32))
