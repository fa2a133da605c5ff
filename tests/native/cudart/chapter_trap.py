"""What a kernel breaks: the error sticks to the context and to the thread's last error, until the device is reset."""

import ctypes

from native.cudart.library import Runtime
from native.cudart.program import PTX, Program, pack, shape

ILLEGAL_ADDRESS = 700
WILD = """
.visible .entry wild() {
    .reg .b64 %d; .reg .b32 %r;
    mov.u64 %d, 64;
    ld.global.u32 %r, [%d];
    st.global.u32 [%d], %r;
    ret;
}
"""


def check_an_error_of_a_kernel_sticks_until_the_reset(rt: Runtime) -> None:
    program = Program(rt, (PTX + WILD).encode())
    rt.raw("__cudaRegisterFunction")(program.handle, program.missing, None, b"wild", -1, *[None] * 5)
    before = rt.out("cudaMalloc", ctypes.c_void_p, after=(64,))
    rt.code.cudaLaunchKernel(program.missing, shape(1), shape(1), pack(), 0, None)
    assert rt.code.cudaDeviceSynchronize() == ILLEGAL_ADDRESS
    assert rt.code.cudaGetLastError() == ILLEGAL_ADDRESS
    assert rt.code.cudaGetLastError() == ILLEGAL_ADDRESS
    assert rt.code.cudaMalloc(ctypes.byref(ctypes.c_void_p()), 64) == ILLEGAL_ADDRESS
    assert rt.code.cudaMemset(before, 0, 64) == ILLEGAL_ADDRESS
    rt.cudaDeviceReset()
    assert rt.code.cudaGetLastError() == 0
    again = rt.out("cudaMalloc", ctypes.c_void_p, after=(64,))
    rt.cudaMemset(again, 3, 64)
    rt.cudaLaunchKernel(program.empty, shape(1), shape(1), pack(), 0, None)
    rt.cudaDeviceSynchronize()
    # variables start again from their initial values
    counter = ctypes.c_uint32()
    rt.cudaMemcpyFromSymbol(ctypes.byref(counter), program.counter, 4, 0, 2)
    assert counter.value == 5
    rt.cudaFree(again)
    program.close()
