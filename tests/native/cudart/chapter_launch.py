"""Registration, launches in all forms, what kernels are like, occupancy, libraries."""

import ctypes

from fakes.images import fatbin
from native.cudart.library import Dim3, Runtime
from native.cudart.program import PTX, Program, pack, shape

INVALID_CONFIGURATION, INVALID_SYMBOL, INVALID_FUNCTION, NO_KERNEL_IMAGE, INVALID_HANDLE = 9, 13, 98, 209, 400
CUBIN = 2
N = 100


class Config(ctypes.Structure):
    _fields_ = [
        ("grid", Dim3),
        ("block", Dim3),
        ("shared", ctypes.c_size_t),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("count", ctypes.c_uint),
    ]


def config(grid: int, block: int, stream: int | None = None) -> Config:
    return Config(Dim3(grid, 1, 1), Dim3(block, 1, 1), 0, stream, None, 0)


class Buffers:
    """Input and output of the kernel `work`."""

    def __init__(self, rt: Runtime) -> None:
        self.rt = rt
        self.host = (ctypes.c_uint32 * N)(*[7 * i + 1 for i in range(N)])
        self.input = rt.out("cudaMalloc", ctypes.c_void_p, after=(4 * N,))
        self.output = rt.out("cudaMalloc", ctypes.c_void_p, after=(4 * N,))
        rt.cudaMemcpy(self.input, self.host, 4 * N, 1)

    def arguments(self) -> object:
        return pack(ctypes.c_void_p(self.output), ctypes.c_void_p(self.input), ctypes.c_uint32(N))

    def check(self) -> None:
        got = (ctypes.c_uint32 * N)()
        self.rt.cudaDeviceSynchronize()
        self.rt.cudaMemcpy(got, self.output, 4 * N, 2)
        assert list(got) == [3 * (7 * i + 1) + i for i in range(N)]
        self.rt.cudaMemset(self.output, 0, 4 * N)

    def free(self) -> None:
        self.rt.cudaFree(self.input)
        self.rt.cudaFree(self.output)


def each_way(rt: Runtime, program: Program, buffers: Buffers) -> None:
    """Launch in every form; each does the same."""
    stream = rt.out("cudaStreamCreate", ctypes.c_void_p)
    for target in (None, stream, 1, 2):
        rt.cudaLaunchKernel(program.work, shape(4), shape(32), buffers.arguments(), 0, target)
        buffers.check()
        rt.cudaLaunchKernelExC(ctypes.byref(config(4, 32, target)), program.work, buffers.arguments())
        buffers.check()
        rt.cudaLaunchCooperativeKernel(program.work, shape(4), shape(32), buffers.arguments(), 0, target)
        buffers.check()
        kernel = ctypes.c_void_p()
        assert rt.raw("__cudaGetKernel")(ctypes.byref(kernel), program.work) == 0
        assert rt.raw("__cudaLaunchKernel")(kernel, shape(4), shape(32), buffers.arguments(), 0, target) == 0
        buffers.check()
    rt.cudaStreamDestroy(stream)


def check_launches(rt: Runtime) -> None:
    program, buffers = Program(rt), Buffers(rt)
    each_way(rt, program, buffers)
    with rt.per_thread():
        each_way(rt, program, buffers)
    counted = ctypes.c_uint32()
    rt.cudaMemcpyFromSymbol(ctypes.byref(counted), program.counter, 4, 0, 2)
    assert counted.value == 5 + 2 * 4 * 4 * N
    if rt.has("cudaLaunchCooperativeKernelMultiDevice"):
        parameters = (ctypes.c_uint64 * 8)()
        arguments = buffers.arguments()
        ctypes.memmove(parameters, ctypes.byref(ctypes.c_void_p(program.work)), 8)
        ctypes.memmove(ctypes.addressof(parameters) + 8, (ctypes.c_uint32 * 6)(4, 1, 1, 32, 1, 1), 24)
        parameters[4], parameters[5], parameters[6] = ctypes.addressof(arguments), 0, 0
        rt.cudaLaunchCooperativeKernelMultiDevice(parameters, 1, 0)
        buffers.check()
    buffers.free()
    program.close()


def check_wrong_launches(rt: Runtime) -> None:
    program = Program(rt)
    launch = rt.code.cudaLaunchKernel
    none = pack()
    assert launch(program.empty, shape(0), shape(32), none, 0, None) == INVALID_CONFIGURATION
    assert rt.code.cudaPeekAtLastError() == INVALID_CONFIGURATION
    assert rt.code.cudaGetLastError() == INVALID_CONFIGURATION
    assert rt.code.cudaGetLastError() == 0
    assert launch(program.empty, shape(1), shape(1025), none, 0, None) == INVALID_CONFIGURATION
    assert launch(program.empty, shape(1), shape(32, 1, 65), none, 0, None) == INVALID_CONFIGURATION
    assert launch(program.missing, shape(1), shape(32), none, 0, None) == INVALID_FUNCTION
    assert launch(ctypes.addressof(none), shape(1), shape(32), none, 0, None) == INVALID_FUNCTION
    assert launch(program.empty, shape(1), shape(32), none, 0, 0x1234560) == INVALID_HANDLE
    assert launch(None, shape(1), shape(32), none, 0, None) == INVALID_FUNCTION
    program.close()
    assert launch(program.empty, shape(1), shape(32), none, 0, None) == INVALID_FUNCTION


def check_a_kernel_of_machine_code_alone(rt: Runtime) -> None:
    """A stub launches what it was given without looking: the launch says why there is no kernel."""
    program = Program(rt, fatbin((CUBIN, 90, b"\x7fELF" + bytes(60))))
    kernel = ctypes.c_void_p(1)
    assert rt.raw("__cudaGetKernel")(ctypes.byref(kernel), program.work) == NO_KERNEL_IMAGE
    assert kernel.value is None
    assert rt.raw("__cudaLaunchKernel")(kernel, shape(1), shape(1), None, 0, None) == NO_KERNEL_IMAGE
    assert rt.raw("cudaLaunchKernel")(program.work, shape(1), shape(1), None, 0, None) == NO_KERNEL_IMAGE
    rt.raw("cudaGetLastError")()
    program.close()


def check_call_configurations_nest(rt: Runtime) -> None:
    push, pop = rt.raw("__cudaPushCallConfiguration"), rt.raw("__cudaPopCallConfiguration")
    assert push(shape(3, 4, 5), shape(6, 7, 8), 99, 0x40) == 0
    assert push(shape(1), shape(2), 3, 0) == 0
    grid, block, shared, stream = Dim3(), Dim3(), ctypes.c_size_t(), ctypes.c_void_p()
    places = [ctypes.byref(p) for p in (grid, block, shared, stream)]
    assert pop(*places) == 0
    assert (grid.x, block.x, shared.value, stream.value) == (1, 2, 3, None)
    assert pop(*places) == 0
    assert (grid.x, grid.y, grid.z, block.x, block.y, block.z) == (3, 4, 5, 6, 7, 8)
    assert (shared.value, stream.value) == (99, 0x40)
    assert pop(*places) == 52


def check_symbols(rt: Runtime) -> None:
    program = Program(rt)
    symbols(rt, program)
    with rt.per_thread():
        symbols(rt, program)
    assert rt.code.cudaGetSymbolSize(ctypes.byref(ctypes.c_size_t()), program.work) == INVALID_SYMBOL
    program.close()


def symbols(rt: Runtime, program: Program) -> None:
    assert rt.out("cudaGetSymbolSize", ctypes.c_size_t, after=(program.table,)) == 64
    address = rt.out("cudaGetSymbolAddress", ctypes.c_void_p, after=(program.table,))
    data = bytes(range(40))
    rt.cudaMemcpyToSymbol(program.table, data, 40, 8, 1)
    got = ctypes.create_string_buffer(40)
    rt.cudaMemcpy(got, address + 8, 40, 2)
    assert got.raw == data
    rt.cudaMemcpyToSymbolAsync(program.table, data[::-1], 40, 24, 1, None)
    rt.cudaMemcpyFromSymbolAsync(got, program.table, 40, 24, 2, None)
    rt.cudaStreamSynchronize(None)
    assert got.raw == data[::-1]
    assert rt.code.cudaMemcpyToSymbol(program.table, data, 40, 32, 1) == 1
    assert rt.code.cudaMemcpyFromSymbol(got, program.table, 40, 0, 1) == 21


def check_managed_variables(rt: Runtime) -> None:
    program = Program(rt)
    assert not program.everywhere.value
    assert rt.raw("__cudaInitModule")(program.handle) == 1
    values = (ctypes.c_uint32 * 4).from_address(program.everywhere.value)
    assert list(values) == [0] * 4
    values[2] = 77
    got = ctypes.c_uint32()
    rt.cudaMemcpyFromSymbol(ctypes.byref(got), ctypes.addressof(program.everywhere), 4, 8, 2)
    assert got.value == 77
    program.close()


def check_functions(rt: Runtime) -> None:
    program = Program(rt)
    attributes = (ctypes.c_int32 * 64)()
    rt.cudaFuncGetAttributes(attributes, program.work)
    assert attributes[6] == 1024  # maxThreadsPerBlock, behind three sizes
    rt.cudaFuncSetAttribute(program.work, 8, 60000)
    rt.cudaFuncGetAttributes(attributes, program.work)
    assert attributes[11] == 60000  # maxDynamicSharedSizeBytes
    rt.cudaFuncSetCacheConfig(program.work, 2)
    rt.cudaFuncSetSharedMemConfig(program.work, 1)
    assert rt.out("cudaFuncGetName", ctypes.c_char_p, after=(program.work,)) == b"work"
    offset, size = ctypes.c_size_t(), ctypes.c_size_t()
    rt.cudaFuncGetParamInfo(program.work, 2, ctypes.byref(offset), ctypes.byref(size))
    assert (offset.value, size.value) == (16, 4)
    if rt.has("cudaFuncGetParamCount"):
        rt.cudaFuncGetParamCount(program.work, ctypes.byref(size))
        assert size.value == 3
    assert rt.out("cudaGetFuncBySymbol", ctypes.c_void_p, after=(program.work,))
    assert rt.out("cudaGetKernel", ctypes.c_void_p, after=(program.work,))
    assert rt.code.cudaFuncGetAttributes(attributes, program.missing) == INVALID_FUNCTION
    blocks = rt.out("cudaOccupancyMaxActiveBlocksPerMultiprocessor", ctypes.c_int, after=(program.work, 256, 0))
    assert blocks == 8  # 2048 threads per multiprocessor
    name = "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"
    assert rt.out(name, ctypes.c_int, after=(program.work, 1024, 0, 0)) == 2
    free = rt.out("cudaOccupancyAvailableDynamicSMemPerBlock", ctypes.c_size_t, after=(program.work, 1, 128))
    assert free == 60000  # what was asked for above, though one block could have more
    rt.cudaFuncSetAttribute(program.work, 8, 48 << 10)
    free = rt.out("cudaOccupancyAvailableDynamicSMemPerBlock", ctypes.c_size_t, after=(program.work, 1, 128))
    assert free == 48 << 10
    rt.cudaFuncSetAttribute(program.work, 8, 80 << 10)  # cudaFuncAttributeMaxDynamicSharedMemorySize
    assert (
        rt.out("cudaOccupancyAvailableDynamicSMemPerBlock", ctypes.c_size_t, after=(program.work, 1, 128)) == 80 << 10
    )
    two = rt.out("cudaOccupancyAvailableDynamicSMemPerBlock", ctypes.c_size_t, after=(program.work, 8, 128))
    assert 0 < two < 48 << 10  # eight blocks share what a multiprocessor has
    rt.cudaFuncSetAttribute(program.work, 8, 60000)
    wanted = config(4, 32)
    for name in ("cudaOccupancyMaxPotentialClusterSize", "cudaOccupancyMaxActiveClusters"):
        assert rt.out(name, ctypes.c_int, after=(program.work, ctypes.byref(wanted))) >= 1
    program.close()


def check_libraries(rt: Runtime, tmp: str = "/proc/self/fd/") -> None:
    import os
    import tempfile

    library = rt.out("cudaLibraryLoadData", ctypes.c_void_p, after=(PTX.encode(), *[None] * 2, 0, *[None] * 2, 0))
    count = ctypes.c_uint()
    rt.cudaLibraryGetKernelCount(ctypes.byref(count), library)
    assert count.value == 2
    kernels = (ctypes.c_void_p * 2)()
    rt.cudaLibraryEnumerateKernels(kernels, 2, library)
    kernel = rt.out("cudaLibraryGetKernel", ctypes.c_void_p, after=(library, b"work"))
    assert kernel in list(kernels)
    buffers = Buffers(rt)
    rt.cudaLaunchKernel(kernel, shape(4), shape(32), buffers.arguments(), 0, None)
    buffers.check()
    buffers.free()
    rt.cudaKernelSetAttributeForDevice(kernel, 8, 50000, 0)
    address, size = ctypes.c_void_p(), ctypes.c_size_t()
    rt.cudaLibraryGetGlobal(ctypes.byref(address), ctypes.byref(size), library, b"counter")
    got = ctypes.c_uint32()
    rt.cudaMemcpy(ctypes.byref(got), address, 4, 2)
    assert (size.value, got.value) == (4, 5 + N)
    rt.cudaLibraryGetManaged(ctypes.byref(address), ctypes.byref(size), library, b"everywhere")
    assert size.value == 16
    assert rt.code.cudaLibraryGetGlobal(ctypes.byref(address), ctypes.byref(size), library, b"no") == 500
    if rt.has("cudaLibraryGetUnifiedFunction"):
        assert rt.code.cudaLibraryGetUnifiedFunction(ctypes.byref(address), library, b"work") != 0
    rt.cudaLibraryUnload(library)
    handle, path = tempfile.mkstemp(suffix=".ptx")
    os.write(handle, PTX.encode())
    os.close(handle)
    library = rt.out("cudaLibraryLoadFromFile", ctypes.c_void_p, after=(path.encode(), *[None] * 2, 0, *[None] * 2, 0))
    rt.cudaLibraryUnload(library)
    os.unlink(path)
    assert rt.code.cudaLibraryUnload(library) == INVALID_HANDLE
