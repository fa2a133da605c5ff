"""Let thread N of a block be the only one to touch a page that may not be touched; print the status and whether the process works on.

python fault_at_lane.py HOW N THREADS

HOW `fill`: threads store side by side, and those behind N too; `alone`: N is the only one that stores; `scattered`: the others
store elsewhere; `first`, `second`, `third`: threads load twice and store, side by side, and one of these three runs over the end; `flushing`: as `alone`, in a
kernel that flushes subnormal numbers, which the process must not do afterwards.
"""

import ctypes
import mmap
import sys

from load_image import GOOD, load

HEAD = GOOD.decode().split(".visible")[0]
BODY = """.visible .entry NAME(.param .u64 border, .param .u32 n)
{
    .reg .b32 %r<6>; .reg .b64 %rd<7>; .reg .pred %p; .reg .f32 %f<3>;
    ld.param.u64 %rd1, [border];
    ld.param.u32 %r2, [n];
    mov.u32 %r1, %tid.x;
    sub.s32 %r3, %r1, %r2;
    mul.wide.s32 %rd2, %r3, 4;
    add.s64 %rd3, %rd1, %rd2;
    setp.eq.s32 %p, %r1, %r2;
    mul.wide.u32 %rd5, %r1, 4;
    sub.s64 %rd4, %rd1, 4096;
    add.s64 %rd5, %rd4, %rd5;
    STORE
    ret;
}
"""
STORES = {
    "fill": "st.global.u32 [%rd3], %r1;",
    "alone": "@%p st.global.u32 [%rd3], %r1;",
    "first": "ld.global.u32 %r4, [%rd3]; ld.global.u32 %r5, [%rd5]; add.u32 %r4, %r4, %r5; st.global.u32 [%rd5+1024], %r4;",
    "second": "ld.global.u32 %r4, [%rd5]; ld.global.u32 %r5, [%rd3]; add.u32 %r4, %r4, %r5; st.global.u32 [%rd5+1024], %r4;",
    "third": "ld.global.u32 %r4, [%rd5]; ld.global.u32 %r5, [%rd5+1024]; add.u32 %r4, %r4, %r5; st.global.u32 [%rd3], %r4;",
    "flushing": "ld.global.f32 %f1, [%rd5]; mul.ftz.f32 %f2, %f1, %f1; @%p st.global.f32 [%rd3], %f2;",
    "scattered": "sub.s64 %rd4, %rd1, 64; selp.b64 %rd3, %rd1, %rd4, %p; st.global.u32 [%rd3], %r1;",
}


def launch(cuda, module, name, border, lane, threads):
    function = ctypes.c_void_p()
    assert cuda.cuModuleGetFunction(ctypes.byref(function), module, name.encode()) == 0
    first, second = ctypes.c_uint64(border), ctypes.c_uint32(lane)
    params = (ctypes.c_void_p * 2)(ctypes.addressof(first), ctypes.addressof(second))
    return cuda.cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, None, params, None) or cuda.cuCtxSynchronize()


def main():
    how, lane, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    cuda, libc = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL(None, use_errno=True)
    context = ctypes.c_void_p()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    border = start + mmap.PAGESIZE
    assert libc.mprotect(ctypes.c_void_p(border), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    image = HEAD + BODY.replace("NAME", how).replace("STORE", STORES[how])
    status, module, log = load(cuda, image.encode())
    assert status == 0, log
    print(launch(cuda, module, how, border, lane, threads), cuda.cuCtxSynchronize(), hex(border))
    assert float.fromhex("0x1p-1000") * float.fromhex("0x1p-60") == float.fromhex("0x1p-1060")


if __name__ == "__main__":
    main()
