"""Counters in shared memory that programs count up once for all lanes that name them: each lane counts, and only where nobody can tell."""

from __future__ import annotations

import numpy as np
import pytest

from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.devices.cpu.execute import Program
from anywarp.devices.cpu.target import host_target
from anywarp.ptx.index import index_module

# lanes that are on count key & 31 in a block's counters, which are added to those in memory
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 keys, .param .u64 on, .param .u64 out, .param .u64 old)
{
.reg .b32 %r<20>; .reg .b64 %d<12>; .reg .pred %p<5>; .reg .b16 %h1;
.shared .align 4 .b8 count[512];
ld.param.u64 %d1, [keys]; ld.param.u64 %d2, [on]; ld.param.u64 %d3, [out]; ld.param.u64 %d9, [old];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
mov.u32 %r5, count; shl.b32 %r6, %r1, 2; add.u32 %r6, %r5, %r6;
st.shared.u32 [%r6], 0; st.shared.u32 [%r6+256], 0;
bar.sync 0;
mul.wide.u32 %d4, %r4, 4; add.u64 %d5, %d1, %d4; cvt.u64.u32 %d6, %r4; add.u64 %d6, %d2, %d6;
ld.global.u8 %h1, [%d6]; setp.eq.u16 %p1, %h1, 0; @%p1 bra DONE;
ld.global.u32 %r7, [%d5]; and.b32 %r7, %r7, 31;
and.b32 %r8, %r1, 31; shl.b32 %r9, -1, %r8; not.b32 %r9, %r9;
shl.b32 %r10, %r7, 2; add.u32 %r10, %r5, %r10;
activemask.b32 %r11; match.any.sync.b32 %r12, %r7, %r11;
COUNT
DONE:
bar.sync 0;
ld.shared.u32 %r15, [%r6]; shl.b32 %r16, %r2, 6; add.u32 %r16, %r16, %r1; mul.wide.u32 %d7, %r16, 4; add.u64 %d8, %d3, %d7;
st.global.u32 [%d8], %r15;
ret;
}
"""
FIRST = "and.b32 %r13, %r12, %r9; setp.ne.u32 %p2, %r13, 0; popc.b32 %r14, %r12;"
BRANCH = FIRST + "@%p2 bra DONE;\natom.shared.add.u32 %r17, [%r10], %r14;"
SAME = {
    "a branch": BRANCH,
    "a guard": FIRST + "@!%p2 red.shared.add.u32 [%r10], %r14;",
    "64 bits": FIRST + "@%p2 bra DONE;\nadd.u32 %r10, %r10, %r10; cvt.u64.u32 %d10, %r14; sub.u32 %r10, %r10, %r5; red.shared.add.u64 [%r10], %d10;",
}  # fmt: skip
OTHER = {
    "what was there is kept": BRANCH + "add.u64 %d9, %d9, %d4; st.global.u32 [%d9], %r17;",
    "others add than the first": FIRST + "@!%p2 bra DONE;\nred.shared.add.u32 [%r10], %r14;",
    "who is below differs": BRANCH.replace("%r12, %r9", "%r12, %r8"),
    "lanes have counters of their own": "mov.u32 %r10, %r6;" + BRANCH,
    "not all lanes are counted": "match.any.sync.b32 %r12, %r7, -1; and.b32 %r12, %r12, 0x0f0f0f0f;" + BRANCH,
    "more is added": BRANCH.replace("@%p2", "add.u32 %r14, %r14, 1; @%p2"),
    "something else is done": BRANCH + "st.shared.u32 [%r10+128], 1;",
    "the lanes are those of another match": BRANCH.replace("popc.b32 %r14, %r12", "match.any.sync.b32 %r18, %r8, %r11; popc.b32 %r14, %r18"),
}  # fmt: skip


def matches(count: str, checks: frozenset[str] = frozenset()) -> bool:
    """Tell whether lanes that hold the same are still looked for."""
    specialisation = Specialisation(block=(64, 1, 1), checks=checks)
    module = IndexedModule(index_module(TEXT.replace("COUNT", count)))
    kernel = prepare_kernel(module, "k", specialisation, target=host_target(), checked=True)
    return any(op.name == "match_any" for block in kernel.blocks for op in block.ops)


@pytest.mark.parametrize("count", [*SAME, "what was there is kept"])
def test_counts(count: str) -> None:
    rng = np.random.default_rng(9)
    program = Program(TEXT.replace("COUNT", {**SAME, **OTHER}[count]))
    for keys in (rng.integers(0, 2**32, 256), np.full(256, 7), rng.choice([3, 35, 8], 256)):
        for on in (np.ones(256), rng.integers(0, 2, 256), np.arange(256) % 32 == 9, np.zeros(256)):
            out, old = np.zeros((4, 64), np.uint32), np.zeros(256, np.uint32)
            for gang in (32, 64):
                arrays = [keys.astype(np.uint32), on.astype(np.uint8), out, old]
                program.run("k", 4, 64, arrays, options=f"gang={gang}")
                want = [np.bincount(k[o] & 31, minlength=64) for k, o in zip(keys.reshape(4, 64), on.reshape(4, 64) > 0, strict=True)]  # fmt: skip
                if count == "64 bits":
                    want = [np.stack([w[:32], 0 * w[:32]], 1).ravel() for w in want]
                np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("count", SAME)
def test_every_lane_counts(count: str) -> None:
    assert not matches(SAME[count])


@pytest.mark.parametrize("count", OTHER)
def test_who_can_tell_has_the_first_lane_count(count: str) -> None:
    assert matches(OTHER[count])


def test_checked_compilations_are_as_written() -> None:
    assert matches(SAME["a branch"], frozenset({"race"}))
