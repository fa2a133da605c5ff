"""Vectors loaded by each lane and stored to shared memory as they are: scattered on either side, under masks and guards."""

from __future__ import annotations

import numpy as np
import pytest

from semantics.devices import DEVICES

THREADS = 64
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 source, .param .u64 rows, .param .u64 out, .param .u32 limit)
{{
.reg .b32 %r<12>; .reg .b64 %p<8>; .reg .pred %g; .shared .align 16 .b8 room[{bytes}];
mov.u32 %r0, %tid.x; mov.u32 %r9, room;
ld.param.u64 %p0, [source]; ld.param.u64 %p1, [rows]; ld.param.u64 %p2, [out]; ld.param.u32 %r8, [limit];
mul.wide.u32 %p3, %r0, 8; add.u64 %p1, %p1, %p3; ld.global.v2.u32 {{%r1, %r2}}, [%p1];
mad.lo.u32 %r5, %r0, {size}, %r9; mov.b32 %r3, 0xEEEEEEEE; {clear}
bar.sync 0;
mul.wide.u32 %p4, %r1, {size}; add.u64 %p0, %p0, %p4; mad.lo.u32 %r2, %r2, {size}, %r9;
setp.lt.u32 %g, %r0, %r8;
{body}
bar.sync 0;
mul.wide.u32 %p4, %r0, {size}; add.u64 %p2, %p2, %p4;
{back}
ret;
}}
"""
REGISTERS = {16: "{%r3, %r4, %r6, %r7}", 8: "{%r3, %r4}"}
HOW = {
    "all": "{load} {store}",
    "guarded": "@%g {load} @%g {store}",
    "branch": "@!%g bra over; {load} {store} over:",
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("size", [8, 16])
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("scattered", ["both", "source", "target"])
def test_copies_of_scattered_vectors(device, size, how, scattered):
    rng = np.random.default_rng(3)
    words = size // 4
    source = rng.integers(0, 1 << 32, THREADS * words, dtype=np.uint32)
    rows = np.stack([np.arange(THREADS)] * 2, axis=1).astype(np.uint32)
    for column in {"both": (0, 1), "source": (0,), "target": (1,)}[scattered]:
        rows[:, column] = rng.permutation(THREADS)
    v, regs = f"v{words}", REGISTERS[size]
    load, store = f"ld.global.{v}.u32 {regs}, [%p0];", f"st.shared.{v}.u32 [%r2], {regs};"
    text = KERNEL.format(
        bytes=THREADS * size,
        size=size,
        clear=" ".join(f"st.shared.u32 [%r5+{4 * n}], %r3;" for n in range(words)),
        body=HOW[how].format(load=load, store=store),
        back=f"ld.shared.{v}.u32 {regs}, [%r5]; st.global.{v}.u32 [%p2], {regs};",
    )
    limit, out = 41, np.zeros(THREADS * words, np.uint32)
    DEVICES[device](text, "k", 1, THREADS, (source, rows, out, np.uint32(limit)))
    want = np.full((THREADS, words), 0xEEEEEEEE, np.uint32)
    for thread in range(THREADS if how == "all" else limit):
        want[rows[thread, 1]] = source.reshape(THREADS, words)[rows[thread, 0]]
    assert (out.reshape(THREADS, words) == want).all()


PATTERN = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 source, .param .u64 out, .param .u32 pitch)
{{
.reg .b32 %r<12>; .reg .b64 %p<8>; .shared .align 16 .b8 room[{bytes}];
mov.u32 %r0, %tid.x; mov.u32 %r9, room; ld.param.u64 %p0, [source]; ld.param.u64 %p1, [out]; ld.param.u32 %r1, [pitch];
shr.u32 %r2, %r0, {shift}; and.b32 %r3, %r0, {most};
mul.wide.u32 %p2, %r2, %r1; mul.wide.u32 %p3, %r3, {size}; add.u64 %p2, %p2, %p3; add.u64 %p0, %p0, %p2;
shr.u32 %r4, %r2, {by}; and.b32 %r4, %r4, {most}; xor.b32 %r4, %r4, %r3;
shl.b32 %r5, %r2, {shift}; add.u32 %r5, %r5, %r4; mad.lo.u32 %r5, %r5, {size}, %r9;
cp.async.ca.shared.global [%r5], [%p0], {size};
cp.async.wait_all; bar.sync 0;
mul.wide.u32 %p4, %r0, {size}; add.u64 %p1, %p1, %p4; mad.lo.u32 %r6, %r0, {size}, %r9;
{back}
ret;
}}
"""


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("size", [8, 16])
@pytest.mark.parametrize("shift", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("by", [0, 1, 2])
def test_rows_whose_pieces_change_places(device, size, shift, by):
    """As programs lay out tiles so that a column of them lies in all banks; rows are `pitch` bytes apart, which only the launch says."""
    words, pieces, pitch = size // 4, 1 << shift, 240 + size
    v, regs = f"v{words}", REGISTERS[size].replace("%r6", "%r8").replace("%r7", "%r10")
    text = PATTERN.format(
        bytes=THREADS * size, size=size, shift=shift, most=pieces - 1, by=by,
        back=f"ld.shared.{v}.u32 {regs}, [%r6]; st.global.{v}.u32 [%p1], {regs};",
    )  # fmt: skip
    source = np.random.default_rng(shift).integers(0, 1 << 32, THREADS * 64 + 64, dtype=np.uint32)
    out = np.zeros((THREADS, words), np.uint32)
    DEVICES[device](text, "k", 1, THREADS, (source, out, np.uint32(pitch)))
    for thread in range(THREADS):
        row, piece = divmod(thread, pieces)
        start = (row * pitch + (piece ^ (row >> by & (pieces - 1))) * size) // 4
        np.testing.assert_array_equal(out[thread], source[start : start + words])
