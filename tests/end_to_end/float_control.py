"""Launch a kernel that divides while this thread rounds downwards; print the quotient's bits and how the thread rounds afterwards.

python float_control.py
"""

import ctypes
import struct

from load_image import GOOD, load

HEAD = GOOD.decode().split(".visible")[0]
KERNEL = """.visible .entry divides(.param .u64 out, .param .f32 a, .param .f32 b)
{
    .reg .b64 %p; .reg .f32 %f<4>;
    ld.param.u64 %p, [out]; ld.param.f32 %f1, [a]; ld.param.f32 %f2, [b];
    div.rn.f32 %f3, %f1, %f2;
    st.global.f32 [%p], %f3;
    ret;
}
"""
DOWNWARDS = 0x400  # FE_DOWNWARD of fenv.h on x86


def main():
    cuda, libm = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libm.so.6")
    context, function, out = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    status, module, log = load(cuda, (HEAD + KERNEL).encode())
    assert status == 0, log
    assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"divides") == 0
    assert cuda.cuMemAlloc_v2(ctypes.byref(out), 4) == 0
    a, b, bits = ctypes.c_float(1), ctypes.c_float(3), ctypes.c_uint32()
    params = (ctypes.c_void_p * 3)(*(ctypes.addressof(x) for x in (out, a, b)))
    assert libm.fesetround(DOWNWARDS) == 0
    for _ in range(3):  # the first waits for the compiler; later ones run on this thread
        assert cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, params, None) == 0
        assert cuda.cuCtxSynchronize() == 0
        assert cuda.cuMemcpyDtoH_v2(ctypes.byref(bits), out, 4) == 0
        print(struct.pack(">I", bits.value).hex(), libm.fegetround() == DOWNWARDS)


if __name__ == "__main__":
    main()
