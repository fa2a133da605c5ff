"""Launch one kernel with a different block shape each time; each thread writes what it sees of itself."""

import ctypes
import sys

PTX = b"""
.version 7.0
.target sm_50
.address_size 64
.visible .entry places(.param .u64 out)
{
    .reg .b32 %r<12>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ntid.x; mov.u32 %r4, %ntid.y; mov.u32 %r5, %ctaid.x;
    mad.lo.u32 %r6, %r2, %r3, %r1;
    mul.lo.u32 %r7, %r3, %r4;
    mad.lo.u32 %r8, %r5, %r7, %r6;
    mul.wide.u32 %rd2, %r8, 4;
    add.s64 %rd3, %rd1, %rd2;
    shl.b32 %r9, %r1, 16;
    shl.b32 %r10, %r2, 8;
    or.b32 %r9, %r9, %r10;
    or.b32 %r9, %r9, %r5;
    st.global.u32 [%rd3], %r9;
    ret;
}
"""


def check(status):
    if status:
        sys.exit(f"CUDA error {status}")


def main():
    cuda = ctypes.CDLL("libcuda.so.1")
    context, module, function, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    check(cuda.cuInit(0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(cuda.cuCtxSetCurrent(context))
    check(cuda.cuModuleLoadData(ctypes.byref(module), PTX + b"\0"))
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"places"))
    check(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1 << 16)))
    params = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
    blocks = 3
    for n in range(1, int(sys.argv[1]) + 1):
        x, y = 1 + n * 7 % 40, 1 + n % 3
        check(cuda.cuLaunchKernel(function, blocks, 1, 1, x, y, 1, 0, None, params, None))
        found = (ctypes.c_uint32 * (blocks * x * y))()
        check(cuda.cuMemcpyDtoH_v2(found, memory, ctypes.c_size_t(4 * len(found))))
        want = [i << 16 | j << 8 | b for b in range(blocks) for j in range(y) for i in range(x)]
        if list(found) != want:
            sys.exit(f"block ({x}, {y}) wrote {list(found)[:8]} ...")
    print("right")


if __name__ == "__main__":
    main()
