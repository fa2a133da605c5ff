"""Vectors under masks whose place was found in a lane: where no lane is on, what that lane names need not be there, and nobody looks for it."""

import re

import numpy as np
import pytest

from anywarp.compiler.ir import Specialisation
from anywarp.compiler.simd.target import make_target
from anywarp.compiler.stages import compile_seen
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module

AVX512 = "+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx2,+fma,+f16c"

# out[i] = the sum of in[i + 32 k] for trips[i] k's from trips[i] / 2 on, and through[i + 32 k] = in[i + 32 k] + 1 there; lanes without a trip have no address
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 trips, .param .u64 out, .param .u64 through)
{
.reg .b32 %r<9>; .reg .b64 %d<12>; .reg .pred %p<3>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [trips]; ld.param.u64 %d3, [out]; ld.param.u64 %d4, [through];
mov.u32 %r1, %tid.x; mul.wide.u32 %d5, %r1, 4;
add.u64 %d6, %d2, %d5; ld.global.u32 %r2, [%d6];
mov.u32 %r3, 0; setp.eq.u32 %p1, %r2, 0; @%p1 bra DONE;
mul.wide.s32 %d7, %r1, 4; add.u64 %d8, %d1, %d7; add.u64 %d9, %d4, %d7;
shr.u32 %r5, %r2, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra LOOP;
SKIP:
add.s64 %d8, %d8, 128; add.s64 %d9, %d9, 128;
add.s32 %r5, %r5, -1; setp.ne.s32 %p2, %r5, 0; @%p2 bra SKIP;
LOOP:
ld.global.u32 %r4, [%d8]; add.u32 %r3, %r3, %r4;
add.u32 %r4, %r4, 1; st.global.u32 [%d9], %r4;
add.s64 %d8, %d8, 128; add.s64 %d9, %d9, 128;
add.s32 %r2, %r2, -1; setp.ne.s32 %p2, %r2, 0; @%p2 bra LOOP;
DONE:
add.u64 %d10, %d3, %d5; st.global.u32 [%d10], %r3;
ret;
}
"""

_ACCESS = re.compile(r"@llvm\.masked\.(load|store)\.\S+\((?:<\S+ x \S+> %\S+, )?ptr align 4 (%\w+), <16 x i1> (%\w+)")


def test_where_no_lane_is_on_a_place_of_our_own_is_named():
    made = make_target("x86_64-unknown-linux-gnu", "skylake-avx512", AVX512)
    text = compile_seen(index_module(TEXT), "k", Specialisation((32, 1, 1), 32), made).llvm()
    found = _ACCESS.findall(text)
    assert {kind for kind, _, _ in found} == {"load", "store"}
    for _, pointer, mask in found:
        chosen = re.search(rf"^  {pointer} = select i1 (%\w+), ptr %\w+, ptr (%a\w+)$", text, re.MULTILINE)
        assert chosen, pointer
        tested = re.search(rf"^  {chosen[1]} = icmp ne i16 (%\w+), 0$", text, re.MULTILINE)
        assert tested and re.search(rf"^  {tested[1]} = bitcast <16 x i1> {mask} to i16$", text, re.MULTILINE)


@pytest.mark.parametrize("on", [[0], [31], [16], [0, 1, 2], [15, 16], list(range(5, 32)), list(range(16)), []])
def test_lanes_that_are_on_access_what_they_name_and_others_nothing(on):
    trips = np.zeros(32, np.int32)
    trips[on] = [2 + i % 3 for i in on]
    source = np.random.default_rng(5).integers(0, 1000, (6, 32), dtype=np.int32)
    out, through = np.full(32, 77, np.int32), np.full((6, 32), -5, np.int32)
    Program(TEXT).run("k", 1, 32, [source, trips, out, through])
    k = np.arange(6)[:, None]
    there = (k >= trips // 2) & (k < trips // 2 + trips)
    np.testing.assert_array_equal(out, np.where(there, source, 0).sum(0))
    np.testing.assert_array_equal(through, np.where(there, source + 1, -5))
