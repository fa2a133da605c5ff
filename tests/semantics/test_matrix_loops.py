"""Sums of products carried round loops, over barriers and past other uses, in blocks of several warps."""

from __future__ import annotations

import numpy as np
import pytest

from semantics.devices import DEVICES
from semantics.matrix_layouts import LAYOUTS
from semantics.matrix_numbers import multiply, random_bits, values
from semantics.test_matrix import fragment, pack, unpack

ROUNDS, WARPS = 3, 3
SHAPE, BYTES = "m16n8k32", 32 * 4
MMA = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"
A, B = "{%a0, %a1, %a2, %a3}", "{%b0, %b1}"
C, D, E = ("{" + ", ".join(f"%{x}{i}" for i in range(4)) + "}" for x in "cde")
MOVED = " ".join(f"mov.b32 %c{i}, %e{i};" for i in range(4))
STORED = " ".join(f"st.global.u32 [%pm+{BYTES * i}], %{{}}{i};" for i in range(4))

BODIES = {
    # how the loop's sums are used: what is stored to `mid` in each round, and what comes out at the end
    "two products after each other": f"{MMA} {D}, {A}, {B}, {C}; {MMA} {E}, {A}, {B}, {D}; bar.sync 0; {MOVED}",
    "a barrier between the products": f"{MMA} {D}, {A}, {B}, {C}; bar.sync 0; {MMA} {E}, {A}, {B}, {D}; {MOVED}",
    "the first sums are read again": f"{MMA} {D}, {A}, {B}, {C}; bar.sync 0; {MMA} {E}, {A}, {B}, {D}; "
    + STORED.format(*"cccc") + MOVED,
    "the sums between are read again": f"{MMA} {D}, {A}, {B}, {C}; {MMA} {E}, {A}, {B}, {D}; bar.sync 0; "
    + STORED.format(*"dddd") + MOVED,
    "sums that stay the same": f"{MMA} {D}, {A}, {B}, {C}; {MMA} {E}, {A}, {B}, {D}; bar.sync 0; " + STORED.format(*"eeee"),
    "registers change places": f"{MMA} {D}, {A}, {B}, {C}; bar.sync 0; {MMA} {E}, {A}, {B}, {D}; "
    "mov.b32 %c0, %e1; mov.b32 %c1, %e0; mov.b32 %c2, %e2; mov.b32 %c3, %e3;",
}  # fmt: skip


def kernel(body):
    loads = [f"ld.global.u32 %a{i}, [%pa+{BYTES * i}];" for i in range(4)]
    loads += [f"ld.global.u32 %b{i}, [%pb+{BYTES * i}];" for i in range(2)]
    return f""".version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 mid, .param .u64 out)
{{
.reg .b32 %a<4>, %b<4>, %c<4>, %d<4>, %e<4>, %i<8>; .reg .b64 %o, %pa, %pb, %pc, %pm, %po; .reg .pred %q;
ld.param.u64 %pa, [a]; ld.param.u64 %pb, [b]; ld.param.u64 %pc, [c]; ld.param.u64 %pm, [mid]; ld.param.u64 %po, [out];
mov.u32 %i0, %tid.x; and.b32 %i1, %i0, 31; shr.u32 %i2, %i0, 5;
mul.wide.u32 %o, %i1, 4; add.u64 %pa, %pa, %o; add.u64 %pb, %pb, %o; add.u64 %pc, %pc, %o; add.u64 %pm, %pm, %o; add.u64 %po, %po, %o;
mul.wide.u32 %o, %i2, {ROUNDS * 4 * BYTES}; add.u64 %pa, %pa, %o; add.u64 %pm, %pm, %o;
mul.wide.u32 %o, %i2, {ROUNDS * 2 * BYTES}; add.u64 %pb, %pb, %o;
mul.wide.u32 %o, %i2, {4 * BYTES}; add.u64 %pc, %pc, %o; add.u64 %po, %po, %o;
{" ".join(f"ld.global.u32 %c{i}, [%pc+{BYTES * i}];" for i in range(4))}
mov.u32 %i3, 0;
again:
{" ".join(loads)}
{body}
add.u64 %pa, %pa, {4 * BYTES}; add.u64 %pb, %pb, {2 * BYTES}; add.u64 %pm, %pm, {4 * BYTES};
add.u32 %i3, %i3, 1; setp.lt.u32 %q, %i3, {ROUNDS}; @%q bra again;
{" ".join(f"st.global.u32 [%po+{BYTES * i}], %c{i};" for i in range(4))}
ret;
}}
"""


def swapped(c):
    out = c.copy()
    out[:8, 0::2], out[:8, 1::2] = c[:8, 1::2], c[:8, 0::2]
    return out


def expected(how, a, b, c):
    """Return what is stored in each round (None: nothing), and the sums at the end."""
    stored = []
    for x, y in zip(a, b, strict=True):
        d = multiply("s32", x, y, c)
        e = multiply("s32", x, y, d)
        stored.append({"the first": c, "the sums": d, "sums that": e}.get(how[:9]))
        if how == "registers change places":
            c = swapped(e)
        elif how != "sums that stay the same":
            c = e
    return stored, c


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("how", BODIES)
def test_sums_carried_round_a_loop(device, how):
    rng = np.random.default_rng(8)
    count_a, place_a, count_b, place_b, count_c, place_c = LAYOUTS[SHAPE, 8]
    a = random_bits("s8", (WARPS, ROUNDS, 16, 32), rng)
    b = random_bits("s8", (WARPS, ROUNDS, 32, 8), rng)
    c = random_bits("s32", (WARPS, 16, 8), rng)

    def packed(kind, matrices, place, count):
        return np.concatenate([pack(kind, fragment(m, place, count)) for m in matrices])

    mid, out = np.zeros(WARPS * ROUNDS * 4 * BYTES, np.uint8), np.zeros(WARPS * 4 * BYTES, np.uint8)
    buffers = (
        packed("s8", a.reshape(-1, 16, 32), place_a, count_a),
        packed("s8", b.reshape(-1, 32, 8), place_b, count_b),
        packed("s32", c, place_c, count_c),
        mid,
        out,
    )
    DEVICES[device](kernel(BODIES[how]), "k", 1, 32 * WARPS, buffers)

    def read(data, number):
        lanes = unpack("s32", data[4 * BYTES * number : 4 * BYTES * (number + 1)], count_c)
        found = np.empty((16, 8), object)
        for lane in range(32):
            for i in range(count_c):
                found[place_c(lane, i)] = lanes[lane][i]
        return values("s32", found)

    for warp in range(WARPS):
        stored, last = expected(how, values("s8", a[warp]), values("s8", b[warp]), values("s32", c[warp]))
        for n, want in enumerate(stored):
            if want is not None:
                assert (read(mid, warp * ROUNDS + n) == want).all(), (warp, n)
        assert (read(out, warp) == last).all(), warp
