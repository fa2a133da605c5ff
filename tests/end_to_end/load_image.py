"""Load an image with the driver API as a CUDA program does, launch its first kernel named, and print what came back as JSON.

    python load_image.py FILE [KERNEL]

Afterwards a good kernel is loaded and run in the same process, which must work unless a launch failed for good.
"""

import ctypes
import json
import sys

GOOD = b"""
.version 7.0
.target sm_50
.address_size 64
.visible .entry fill(.param .u64 out)
{
    .reg .b32 %r<3>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    add.s32 %r2, %r1, 1000;
    st.global.u32 [%rd3], %r2;
    ret;
}
"""
CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 5, 6


def load(cuda, image):
    """Return (status, module, error log)."""
    module, log = ctypes.c_void_p(), ctypes.create_string_buffer(8192)
    options = (ctypes.c_int * 2)(CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
    values = (ctypes.c_void_p * 2)(ctypes.addressof(log), ctypes.c_void_p(len(log)))
    status = cuda.cuModuleLoadDataEx(ctypes.byref(module), image, 2, options, values)
    return status, module, log.value.decode(errors="replace")


def launch(cuda, module, name, pointer):
    function = ctypes.c_void_p()
    status = cuda.cuModuleGetFunction(ctypes.byref(function), module, name.encode())
    if status:
        return status
    argument = ctypes.c_uint64(pointer)
    params = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    status = cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, params, None)
    return status or cuda.cuCtxSynchronize()


def main():
    cuda = ctypes.CDLL("libcuda.so.1")
    context, memory = ctypes.c_void_p(), ctypes.c_uint64()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    assert cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096)) == 0
    with open(sys.argv[1], "rb") as file:
        image = file.read()
    out = {}
    out["load"], module, out["log"] = load(cuda, image + b"\0")
    if out["load"] == 0 and len(sys.argv) > 2:
        out["launch"] = launch(cuda, module, sys.argv[2], memory.value)
    status, module, _ = load(cuda, GOOD)
    out["good"] = status or launch(cuda, module, "fill", memory.value)
    if out["good"] == 0:
        result = (ctypes.c_uint32 * 32)()
        assert cuda.cuMemcpyDtoH_v2(result, memory, ctypes.c_size_t(128)) == 0
        out["right"] = list(result) == [1000 + lane for lane in range(32)]
    print(json.dumps(out))


if __name__ == "__main__":
    main()
