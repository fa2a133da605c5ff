"""A program for the driver interface, with no word of anywarp in it: saxpy in single precision, copied back at once, in part and later; `factor` is what it computes with."""

import ctypes
import sys

factor, device_rows = float(sys.argv[1]), 64
lib = ctypes.CDLL("libcuda.so.1")
KERNEL = b"""
.version 7.0
.target sm_80
.address_size 64
.visible .entry saxpy(.param .u64 p, .param .f32 a) {
  .reg .u64 %rd<4>; .reg .u32 %r<6>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [p]; ld.param.f32 %f1, [a];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r5, 4; add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3]; fma.rn.f32 %f3, %f2, %f1, 0f3F800000; st.global.f32 [%rd3], %f3;
  ret; }
\0"""


def c(name, *given):
    code = getattr(lib, name)(*given)
    assert code == 0, (name, code)


def out(name, *given, kind=ctypes.c_void_p):
    value = kind()
    c(name, ctypes.byref(value), *given)
    return value


c("cuInit", 0)
out("cuCtxCreate_v2", 0, 0)
function = out("cuModuleGetFunction", out("cuModuleLoadData", KERNEL), b"saxpy")
size = ctypes.c_size_t(4096)
memory = out("cuMemAlloc_v2", size, kind=ctypes.c_uint64)
values = (ctypes.c_float * 1024)(*(i / 7 for i in range(1024)))
c("cuMemcpyHtoD_v2", memory, values, size)
first = (ctypes.c_float * 16)()
c("cuMemcpyDtoH_v2", first, memory, ctypes.c_size_t(64))
a = ctypes.c_float(factor)
arguments = (ctypes.c_void_p * 2)(ctypes.addressof(memory), ctypes.addressof(a))
c("cuLaunchKernel", function, 8, 1, 1, 128, 1, 1, 0, None, arguments, None)
result = (ctypes.c_float * 1024)()
c("cuMemcpyDtoH_v2", result, memory, size)
stream = out("cuStreamCreate", 0)
later = (ctypes.c_float * 1024)()
c("cuMemcpyDtoHAsync_v2", later, memory, size, stream)
c("cuStreamSynchronize", stream)
assert list(later) == list(result)
print(result[3])
