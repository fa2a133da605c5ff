"""A program that uses the CUDA driver as its users do, through ctypes: launches every kernel of a PTX file and checks what they write.

Kernel `addN` stores its thread number plus N; argv: the file, the number of kernels, the threads in a block.
"""

import ctypes
import sys


def check(status: int) -> None:
    if status:
        raise SystemExit(f"CUDA error {status}")


def main() -> None:
    path, kernels, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    cuda = ctypes.CDLL("libcuda.so.1")
    context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    memory = ctypes.c_uint64()
    check(cuda.cuInit(0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(cuda.cuCtxSetCurrent(context))
    with open(path, "rb") as file:
        check(cuda.cuModuleLoadData(ctypes.byref(module), file.read()))
    check(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4 * threads)))
    for n in range(kernels):
        check(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"add%d" % n))
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
        check(cuda.cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, None, arguments, None))
        check(cuda.cuCtxSynchronize())
        out = (ctypes.c_uint32 * threads)()
        check(cuda.cuMemcpyDtoH_v2(out, memory, ctypes.c_size_t(4 * threads)))
        if list(out) != [t + n for t in range(threads)]:
            raise SystemExit(f"add{n} wrote {list(out)}")
    print("right")


main()
