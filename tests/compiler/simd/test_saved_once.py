"""What barriers keep is stored once: again only where it may have changed since lanes went on, in loops and under conditions."""

from __future__ import annotations

import numpy as np
import pytest

from anywarp.compiler.ir import Specialisation
from anywarp.compiler.simd.target import make_target
from anywarp.compiler.stages import compile_seen
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module

WIDE = make_target(
    "x86_64-unknown-linux-gnu", "skylake-avx512", "+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx2,+fma,+f16c"
)

# x = in[i], y = in[i + 128], z = in[i + 256]; n times: tile[i] = x; FIRST; wait; y += tile[i ^ 64] * z; SECOND; wait; out[i] = x + 3 y + 7 z
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
.reg .b32 %r<30>; .reg .b64 %d<9>; .reg .pred %p<5>;
.shared .align 4 .b8 tile[512];
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
mul.wide.u32 %d3, %r2, 4; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3;
ld.global.u32 %r10, [%d4]; ld.global.u32 %r11, [%d4+512]; ld.global.u32 %r12, [%d4+1024];
mov.u32 %r3, tile; mad.lo.u32 %r4, %r2, 4, %r3; xor.b32 %r5, %r2, 64; mad.lo.u32 %r6, %r5, 4, %r3;
mov.u32 %r7, 0;
setp.eq.u32 %p1, %r1, 0;
@%p1 bra DONE;
LOOP:
st.shared.u32 [%r4], %r10;
FIRST
bar.sync 0;
ld.shared.u32 %r13, [%r6];
mad.lo.u32 %r11, %r13, %r12, %r11;
SECOND
bar.sync 0;
add.u32 %r7, %r7, 1;
setp.lt.u32 %p1, %r7, %r1;
@%p1 bra LOOP;
DONE:
mad.lo.u32 %r20, %r11, 3, %r10; mad.lo.u32 %r20, %r12, 7, %r20;
st.global.u32 [%d5], %r20;
ret;
}
"""
CHANGES = {
    "nothing": ("", lambda x, y, z, i, k: (x, y, z)),
    "x": ("mad.lo.u32 %r10, %r10, 5, %r7;", lambda x, y, z, i, k: (5 * x + k, y, z)),
    "z of some lanes": (
        "and.b32 %r14, %r2, 5; setp.eq.u32 %p2, %r14, 1; @%p2 mad.lo.u32 %r12, %r12, 3, 1;",
        lambda x, y, z, i, k: (x, y, np.where(i & 5 == 1, 3 * z + 1, z)),
    ),
    "z in some trips": (
        "and.b32 %r14, %r7, 1; setp.eq.u32 %p2, %r14, 1; @%p2 bra J#; add.u32 %r12, %r12, %r10; J#:",
        lambda x, y, z, i, k: (x, y, z if k % 2 else z + x),
    ),
    "x of lanes that turn": (
        "and.b32 %r14, %r2, 3; L#: setp.eq.u32 %p2, %r14, 0; @%p2 bra M#; mad.lo.u32 %r10, %r10, 3, 1; sub.u32 %r14, %r14, 1; bra L#; M#:",
        lambda x, y, z, i, k: (np.choose(i & 3, [x, 3 * x + 1, 9 * x + 4, 27 * x + 13]), y, z),
    ),
}


def text(first: str, second: str) -> str:
    one, two = (CHANGES[name][0].replace("#", number) for name, number in ((first, "1"), (second, "2")))
    return TEXT.replace("FIRST", one).replace("SECOND", two)


def meant(numbers: np.ndarray, first: str, second: str, n: int) -> np.ndarray:
    (x, y, z), i = numbers.astype(np.uint32), np.arange(128)
    for k in range(n):
        tile = x
        x, y, z = CHANGES[first][1](x, y, z, i, np.uint32(k))
        y = tile[i ^ 64] * z + y
        x, y, z = CHANGES[second][1](x, y, z, i, np.uint32(k))
    return x + 3 * y + 7 * z


@pytest.mark.parametrize("gang", [32, 64, 128])
@pytest.mark.parametrize("second", CHANGES)
@pytest.mark.parametrize("first", CHANGES)
def test_what_is_kept_is_what_it_was(first: str, second: str, gang: int) -> None:
    program = Program(text(first, second))
    numbers = np.random.default_rng(5).integers(0, 1 << 32, (3, 128), dtype=np.uint32)
    for n in (0, 1, 2, 5):
        out = np.zeros(128, np.uint32)
        program.run("k", 1, 128, [numbers, out, n], options=f"gang={gang}")
        np.testing.assert_array_equal(out, meant(numbers, first, second, n), str(n))


def test_what_has_not_changed_is_not_stored_again() -> None:
    def stores(first: str, second: str) -> int:
        kernel = compile_seen(index_module(text(first, second)), "k", Specialisation((128, 1, 1), 32), WIDE)
        return kernel.llvm().count("store <16 x i32>")

    assert stores("nothing", "nothing") < stores("nothing", "x") - 1
