"""cp.async on the devices that run kernels: whole copies, zero-filled tails, and sources that must not be touched."""

from __future__ import annotations

import numpy as np
import pytest

from semantics.devices import DEVICES

THREADS = 40

KERNEL = """.version 8.7
.target sm_80
.address_size 64
.visible .entry k(.param .u64 source, .param .u64 sizes, .param .u64 results)
{{
.reg .b32 %r<8>;
.reg .b64 %a<8>;
.reg .pred %p;
.shared .align 16 .b8 block[{shared}];
mov.u32 %r0, %tid.x;
ld.param.u64 %a0, [source];
ld.param.u64 %a1, [sizes];
ld.param.u64 %a2, [results];
mul.wide.u32 %a3, %r0, 16;
mul.wide.u32 %a4, %r0, 4;
add.u64 %a0, %a0, %a3;
add.u64 %a2, %a2, %a3;
add.u64 %a1, %a1, %a4;
ld.global.u32 %r1, [%a1];
mov.u32 %r2, block;
cvt.u32.u64 %r3, %a3;
add.u32 %r2, %r2, %r3;
mov.b32 %r4, 0xCCCCCCCC;
st.shared.v4.b32 [%r2], {{%r4, %r4, %r4, %r4}};
setp.eq.u32 %p, %r1, 0;
@%p add.u64 %a0, %a0, 0x7000000000000000;
cp.async.{form} [%r2], [%a0], {size}{rest};
cp.async.commit_group;
cp.async.wait_group 0;
ld.shared.v4.b32 {{%r4, %r5, %r6, %r7}}, [%r2];
st.global.v4.b32 [%a2], {{%r4, %r5, %r6, %r7}};
cp.async.wait_all;
ret;
}}
"""


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("form", "size"),
    [
        ("ca.shared.global", 4),
        ("ca.shared.global.L2::128B", 8),
        ("ca.shared::cta.global", 16),
        ("cg.shared.global", 16),
    ],
)
@pytest.mark.parametrize("partial", [False, True])
def test_copies_fill_with_zeros_behind_a_smaller_source(device, form, size, partial):
    source = np.arange(16 * THREADS, dtype=np.uint32).astype(np.uint8) | 1
    sizes = np.array([(n % (size + 1)) if partial else size for n in range(THREADS)], np.uint32)
    results = np.zeros(16 * THREADS, np.uint8)
    ptx = KERNEL.format(shared=16 * THREADS, form=form, size=size, rest=", %r1" if partial else "")
    DEVICES[device](ptx, "k", 1, THREADS, (source, sizes, results))
    for t in range(THREADS):
        kept = int(sizes[t])
        expected = [*source[16 * t : 16 * t + kept], *[0] * (size - kept), *[0xCC] * (16 - size)]
        assert results[16 * t : 16 * t + 16].tolist() == expected, (t, kept)
