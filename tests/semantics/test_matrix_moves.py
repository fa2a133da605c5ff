"""`ldmatrix`, `stmatrix` and `movmatrix` on every device, with rows scattered in shared memory."""

from __future__ import annotations

import numpy as np
import pytest

from anywarp.compiler.analysis import analyse
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.passes.spread_matrix_loads import spread_matrix_loads
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.simd.target import this_machine
from anywarp.compiler.verify import verify
from anywarp.devices.cpu.execute import Loaded, pack_arguments
from anywarp.ptx.index import index_module
from semantics.devices import DEVICES

RNG = np.random.default_rng(11)
KERNEL = """.version 8.6
.target sm_100
.address_size 64
.visible .entry k(.param .u64 image, .param .u64 rows, .param .u64 out, .param .u64 back)
{{
.reg .b32 %r<12>, %d<4>; .reg .b64 %p<8>; .reg .pred %q;
.shared .align 16 .b8 room[2048];
mov.u32 %r0, %tid.x;
ld.param.u64 %p0, [image]; ld.param.u64 %p1, [rows]; ld.param.u64 %p2, [out]; ld.param.u64 %p3, [back];
mov.u32 %r2, room;
mov.u32 %r3, %r0;
fill: mul.wide.u32 %p4, %r3, 4; add.u64 %p5, %p0, %p4; ld.global.u32 %r4, [%p5];
shl.b32 %r5, %r3, 2; add.u32 %r5, %r5, %r2; st.shared.u32 [%r5], %r4;
add.u32 %r3, %r3, {threads}; setp.lt.u32 %q, %r3, 512; @%q bra fill;
bar.sync 0;
mul.wide.u32 %p4, %r0, 4; add.u64 %p1, %p1, %p4; ld.global.u32 %r6, [%p1]; add.u32 %r6, %r6, %r2;
cvt.u64.u32 %p6, %r6; cvta.shared.u64 %p7, %p6;
{body}
mul.wide.u32 %p4, %r0, {size}; add.u64 %p2, %p2, %p4;
{store}
bar.sync 0;
mov.u32 %r3, %r0;
read: mul.wide.u32 %p4, %r3, 4; add.u64 %p5, %p3, %p4;
shl.b32 %r5, %r3, 2; add.u32 %r5, %r5, %r2; ld.shared.u32 %r4, [%r5]; st.global.u32 [%p5], %r4;
add.u32 %r3, %r3, {threads}; setp.lt.u32 %q, %r3, 512; @%q bra read;
ret;
}}
"""


def build(body, count, threads):
    store = "\n".join(f"st.global.b32 [%p2+{4 * j}], %d{j};" for j in range(count))
    return KERNEL.format(body=body, store=store, size=4 * count, threads=threads)


def regs(count):
    return "{" + ", ".join(f"%d{j}" for j in range(count)) + "}"


def scattered(warps):
    """Bytes of shared memory, and for each lane of each warp the offset of a row of 16 bytes."""
    image = RNG.integers(0, 256, 2048, dtype=np.uint8)
    starts = np.concatenate([RNG.permutation(128)[:32] * 16 for _ in range(warps)]).astype(np.uint32)
    return image, starts


def matrices(image, starts, count):
    rows = [image[s : s + 16].view(np.uint16) for s in starts[: 8 * count]]
    return np.array(rows).reshape(count, 8, 8)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("address", ["shared", "generic"])
def test_ldmatrix_gives_each_lane_two_elements_of_a_row_or_column(device, count, trans, address):
    image, starts = scattered(2)
    out, back = np.zeros(64 * count, np.uint32), np.zeros(2048, np.uint8)
    place = ".shared.b16 " + regs(count) + ", [%r6]" if address == "shared" else ".b16 " + regs(count) + ", [%p7]"
    text = build(f"ldmatrix.sync.aligned.m8n8.x{count}{trans}{place};", count, 64)
    DEVICES[device](text, "k", 1, 64, (image, starts, out, back))
    for warp in range(2):
        found = matrices(image, starts[32 * warp :], count)
        for lane in range(32):
            for j in range(count):
                m = found[j].T if trans else found[j]
                want = int(m[lane // 4, lane % 4 * 2]) | int(m[lane // 4, lane % 4 * 2 + 1]) << 16
                assert out[(32 * warp + lane) * count + j] == want, (warp, lane, j)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_stmatrix_puts_each_lanes_elements_into_a_row_or_column(device, count, trans):
    image, starts = scattered(1)
    out, back = np.zeros(32 * count, np.uint32), np.zeros(2048, np.uint8)
    fill = " ".join(f"mul.lo.u32 %d{j}, %r0, {0x10003 + 0x30007 * j};" for j in range(count))
    body = f"{fill} stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%r6], {regs(count)};"
    DEVICES[device](build(body, count, 32), "k", 1, 32, (image, starts, out, back))
    want = image.copy()
    for j in range(count):
        m = np.zeros((8, 8), np.uint16)
        for lane in range(32):
            value = lane * (0x10003 + 0x30007 * j) & 0xFFFFFFFF
            m[lane // 4, lane % 4 * 2], m[lane // 4, lane % 4 * 2 + 1] = value & 0xFFFF, value >> 16
        for r in range(8):
            at = int(starts[8 * j + r])
            want[at : at + 16] = (m.T if trans else m)[r].copy().view(np.uint8)
    assert (back == want).all()


@pytest.mark.parametrize("device", DEVICES)
def test_a_load_whose_guard_is_false_changes_nothing(device):
    image, starts = scattered(1)
    out, back = np.zeros(32, np.uint32), np.zeros(2048, np.uint8)
    body = "mov.b32 %d0, 77; setp.gt.u32 %q, %ntid.x, 99; @%q ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0}, [%r6+16777216];"
    DEVICES[device](build(body, 1, 32), "k", 1, 32, (image, starts, out, back))
    assert (out == 77).all()


@pytest.mark.parametrize("device", DEVICES)
def test_movmatrix_transposes(device):
    image, starts = scattered(1)
    out, back = np.zeros(32, np.uint32), np.zeros(2048, np.uint8)
    body = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d1}, [%r6]; movmatrix.sync.aligned.m8n8.trans.b16 %d0, %d1;"
    DEVICES[device](build(body, 1, 32), "k", 1, 32, (image, starts, out, back))
    m = matrices(image, starts, 1)[0].T
    assert out.tolist() == [int(m[x // 4, x % 4 * 2]) | int(m[x // 4, x % 4 * 2 + 1]) << 16 for x in range(32)]


@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("address", [".shared.b16 {%d0, %d1, %d2, %d3}, [%r6]", ".b16 {%d0, %d1, %d2, %d3}, [%p7]"])
def test_where_accesses_are_checked_every_lane_loads_for_itself(trans, address):
    text = build(f"ldmatrix.sync.aligned.m8n8.x4{trans}{address};", 4, 32)
    plain = Specialisation((32, 1, 1))
    kernel = prepare_kernel(IndexedModule(index_module(text)), "k", plain)
    spread_matrix_loads(kernel, Specialisation((32, 1, 1), checks=frozenset({"memory"})))
    names = [op.name for block in kernel.blocks for op in block.ops]
    assert "matrix_load" not in names and verify(kernel) == []
    image, starts = scattered(1)
    out, back = np.zeros(128, np.uint32), np.zeros(2048, np.uint8)
    code = Loaded(this_machine().emit(kernel, analyse(kernel, plain), plain))
    code.launch(1, 32, pack_arguments([(8 * n, 8) for n in range(4)], (image, starts, out, back)))
    for j, found in enumerate(matrices(image, starts, 4)):
        m = found.T if trans else found
        for lane in range(32):
            want = int(m[lane // 4, lane % 4 * 2]) | int(m[lane // 4, lane % 4 * 2 + 1]) << 16
            assert out[4 * lane + j] == want
