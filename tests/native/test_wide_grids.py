"""Grids of more threads along x than code for a block shape reckons with, through the whole of the library."""

import ctypes

import numpy as np
import pytest

pytestmark = pytest.mark.native

# The last block writes its signed index divided by 64, rounded towards zero.
PTX = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 last)
{
.reg .b32 %r<12>; .reg .b64 %d<5>; .reg .pred %p<3>;
ld.param.u64 %d1, [out]; ld.param.u32 %r1, [last];
mov.u32 %r2, %ctaid.x;
setp.ne.u32 %p1, %r2, %r1;
@%p1 bra DONE;
mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
mad.lo.s32 %r5, %r2, %r3, %r4;
shr.s32 %r6, %r5, 31;
shr.u32 %r7, %r6, 26;
add.s32 %r8, %r5, %r7;
shr.s32 %r9, %r8, 6;
mul.wide.u32 %d2, %r4, 4;
add.u64 %d3, %d1, %d2;
st.global.u32 [%d3], %r9;
DONE:
ret;
}
\0"""


def test_an_index_beyond_the_signed_numbers_is_negative(driver, context):
    function = driver.out("cuModuleGetFunction", driver.out("cuModuleLoadData", PTX), b"k")
    out = driver.out("cuMemAlloc_v2", 4096)
    for blocks in (1000, 2**21 + 1, 2**20, 1000):
        driver.launch(function, blocks, 1024, [ctypes.c_uint64(out), ctypes.c_uint32(blocks - 1)])
        found = np.zeros(1024, np.int32)
        driver.cuMemcpyDtoH_v2(found.ctypes.data, out, found.nbytes)
        index = (np.arange(1024) + (blocks - 1) * 1024 + 2**31) % 2**32 - 2**31
        np.testing.assert_array_equal(found, np.trunc(index / 64).astype(np.int32))
