"""What a compiled program brings: a fatbin in its wrapper, stubs of kernels, shadows of variables; here made by hand."""

from __future__ import annotations

import ctypes

from native.cudart.library import Dim3, Runtime

PTX = """.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 counter = 5;
.const .align 4 .b8 table[64];
.global .align 4 .u32 everywhere[4];
// out[i] = 3 * in[i] + i, and counts the threads that did it
.visible .entry work(.param .u64 out, .param .u64 in, .param .u32 n)
{
    .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.s32 %r1, %r1, %r2, %r3;
    ld.param.u32 %r4, [n];
    setp.ge.u32 %p, %r1, %r4;
    @%p ret;
    ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
    mul.wide.u32 %d3, %r1, 4;
    add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3;
    ld.global.u32 %r5, [%d1];
    mad.lo.s32 %r5, %r5, 3, %r1;
    st.global.u32 [%d2], %r5;
    mov.u64 %d4, counter;
    atom.global.add.u32 %r6, [%d4], 1;
    ret;
}
.visible .entry empty() { ret; }
"""


class Program:
    """Registers everything above with a runtime, as nvcc's constructors do."""

    def __init__(self, runtime: Runtime, image: bytes = PTX.encode()) -> None:
        self._rt = runtime
        self._image = ctypes.create_string_buffer(image)
        self._wrapper = (ctypes.c_uint64 * 3)(0x466243B1 | 1 << 32, ctypes.addressof(self._image), 0)
        self._stubs = ctypes.create_string_buffer(64)
        self.handle = runtime.raw("__cudaRegisterFatBinary")(self._wrapper)
        self.everywhere = ctypes.c_void_p(0)
        self.work, self.empty, self.missing, self.counter, self.table = (
            ctypes.addressof(self._stubs) + 8 * i for i in range(5)
        )
        for stub, name in ((self.work, b"work"), (self.empty, b"empty"), (self.missing, b"missing")):
            runtime.raw("__cudaRegisterFunction")(self.handle, stub, stub, name, -1, *[None] * 5)
        for shadow, name, size in ((self.counter, b"counter", 4), (self.table, b"table", 64)):
            runtime.raw("__cudaRegisterVar")(self.handle, shadow, shadow, name, 0, size, 0, 0)
        runtime.raw("__cudaRegisterManagedVar")(
            self.handle, ctypes.addressof(self.everywhere), None, b"everywhere", 0, 16, 0, 0
        )
        runtime.raw("__cudaRegisterFatBinaryEnd")(self.handle)

    def close(self) -> None:
        """Take it all back, as at the end of a program."""
        self._rt.raw("__cudaUnregisterFatBinary")(self.handle)


def pack(*values: object) -> ctypes.Array[ctypes.c_void_p]:
    """The list of addresses of arguments that a launch takes; keeps the values alive."""
    addresses = (ctypes.c_void_p * max(len(values), 1))(*[ctypes.addressof(v) for v in values])
    addresses.kept = values
    return addresses


def shape(x: int, y: int = 1, z: int = 1) -> Dim3:
    return Dim3(x, y, z)
