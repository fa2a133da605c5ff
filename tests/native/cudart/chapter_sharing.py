"""Memory pools; memory and events that processes share; external memory and semaphores."""

import ctypes
import os

from native.cudart.library import IpcHandle, MemLocation, Runtime

INVALID_VALUE, INVALID_CONTEXT, H2D, D2H = 1, 201, 1, 2
ptr, u32, u64 = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64
THRESHOLD, RESERVED, USED = 4, 5, 7


class PoolProps(ctypes.Structure):
    _fields_ = [("type", u32), ("handles", u32), ("place", u32), ("device", u32), ("rest", u64 * 9)]


class Access(ctypes.Structure):
    _fields_ = [("location", MemLocation), ("flags", u32)]


def number(rt: Runtime, pool: int, attribute: int) -> int:
    value = u64()
    rt.cudaMemPoolGetAttribute(pool, attribute, ctypes.byref(value))
    return value.value


def check_pools(rt: Runtime) -> None:
    usual = rt.out("cudaDeviceGetDefaultMemPool", ptr, after=(0,))
    props = PoolProps(1, 0, 1, 0)
    pool = rt.out("cudaMemPoolCreate", ptr, after=(ctypes.byref(props),))
    rt.cudaDeviceSetMemPool(0, pool)
    assert rt.out("cudaDeviceGetMemPool", ptr, after=(0,)) == pool
    rt.cudaDeviceSetMemPool(0, usual)
    rt.cudaMemPoolSetAttribute(pool, THRESHOLD, ctypes.byref(u64(1 << 20)))
    stream = rt.out("cudaStreamCreate", ptr)
    with rt.per_thread():
        first = rt.out("cudaMallocFromPoolAsync", ptr, after=(100_000, pool, stream))
    assert number(rt, pool, USED) == 100_000
    rt.cudaFreeAsync(first, stream)
    rt.cudaStreamSynchronize(stream)
    assert number(rt, pool, USED) == 0
    assert number(rt, pool, RESERVED) >= 100_000  # up to the threshold it waits for the next
    again = rt.out("cudaMallocFromPoolAsync", ptr, after=(99_999, pool, stream))
    assert again == first
    rt.cudaFreeAsync(again, stream)
    large = rt.out("cudaMallocFromPoolAsync", ptr, after=(2 << 20, pool, stream))
    rt.cudaFreeAsync(large, stream)
    rt.cudaStreamSynchronize(stream)
    assert number(rt, pool, RESERVED) <= 1 << 20
    rt.cudaMemPoolTrimTo(pool, 0)
    assert number(rt, pool, RESERVED) == 0
    place, flags = MemLocation(1, 0), u32()
    rt.cudaMemPoolSetAccess(pool, ctypes.byref(Access(place, 3)), 1)
    rt.cudaMemPoolGetAccess(ctypes.byref(flags), pool, ctypes.byref(place))
    assert flags.value == 3
    if rt.major >= 13:
        assert rt.out("cudaMemGetDefaultMemPool", ptr, after=(ctypes.byref(place), 1)) == usual
        rt.cudaMemSetMemPool(ctypes.byref(place), 1, pool)
        assert rt.out("cudaMemGetMemPool", ptr, after=(ctypes.byref(place), 1)) == pool
        rt.cudaMemSetMemPool(ctypes.byref(place), 1, usual)
    rt.cudaMemPoolDestroy(pool)
    assert rt.code.cudaMemPoolDestroy(usual) == INVALID_VALUE
    rt.cudaStreamDestroy(stream)


def check_pools_of_several_processes(rt: Runtime) -> None:
    props = PoolProps(1, 1, 1, 0)  # shared by file descriptor
    pool = rt.out("cudaMemPoolCreate", ptr, after=(ctypes.byref(props),))
    memory = rt.out("cudaMallocFromPoolAsync", ptr, after=(4096, pool, None))
    rt.cudaMemset(memory, 0x21, 4096)
    file = ctypes.c_int(-1)
    rt.cudaMemPoolExportToShareableHandle(ctypes.byref(file), pool, 1, 0)
    ticket = ctypes.create_string_buffer(64)
    rt.cudaMemPoolExportPointer(ticket, memory)
    imported = rt.out("cudaMemPoolImportFromShareableHandle", ptr, after=(ptr(file.value), 1, 0))
    there = rt.out("cudaMemPoolImportPointer", ptr, after=(imported, ticket))
    got = ctypes.create_string_buffer(16)
    rt.cudaMemcpy(got, there, 16, D2H)
    assert got.raw == b"\x21" * 16
    os.close(file.value)
    rt.cudaFreeAsync(there, None)
    rt.cudaFreeAsync(memory, None)
    rt.cudaDeviceSynchronize()
    rt.cudaMemPoolDestroy(imported)
    rt.cudaMemPoolDestroy(pool)


def check_handles_for_other_processes(rt: Runtime) -> None:
    """A process cannot open its own (CUDA Runtime API, cudaIpcOpenMemHandle); examples/cuda/ipc.cu has two."""
    memory = rt.out("cudaMalloc", ptr, after=(1000,))
    ticket = IpcHandle()
    rt.cudaIpcGetMemHandle(ctypes.byref(ticket), memory)
    assert any(bytes(ticket))
    assert rt.code.cudaIpcOpenMemHandle(ctypes.byref(ptr()), ticket, 1) == INVALID_CONTEXT
    assert rt.code.cudaIpcCloseMemHandle(memory) == INVALID_VALUE  # it was not opened
    event = rt.out("cudaEventCreateWithFlags", ptr, after=(6,))
    rt.cudaIpcGetEventHandle(ctypes.byref(ticket), event)
    assert rt.code.cudaIpcOpenEventHandle(ctypes.byref(ptr()), ticket) in (0, INVALID_CONTEXT)
    rt.cudaFree(memory)


def check_external_memory(rt: Runtime) -> None:
    file = os.memfd_create("shared")
    os.ftruncate(file, 16384)
    other = os.dup(file)
    description = (u64 * 13)(1, file, 0, 16384)
    memory = rt.out("cudaImportExternalMemory", ptr, after=(description,))
    buffer = rt.out("cudaExternalMemoryGetMappedBuffer", ptr, after=(memory, (u64 * 11)(8192, 4096)))
    os.pwrite(other, b"from the file", 8192 + 100)
    got = ctypes.create_string_buffer(13)
    rt.cudaMemcpy(got, buffer + 100, 13, D2H)
    assert got.raw == b"from the file"
    rt.cudaMemset(buffer, 0x66, 10)
    assert os.pread(other, 10, 8192) == b"\x66" * 10
    beyond = (u64 * 11)(8192, 8193)
    assert rt.code.cudaExternalMemoryGetMappedBuffer(ctypes.byref(ptr()), memory, beyond) == INVALID_VALUE
    rt.cudaFree(buffer)
    rt.cudaDestroyExternalMemory(memory)
    os.close(other)


def signal_and_wait(rt: Runtime, suffix: str, words: int) -> None:
    file = os.memfd_create("timeline")
    os.ftruncate(file, 4096)
    other = os.dup(file)
    line = rt.out("cudaImportExternalSemaphore", ptr, after=((u32 * 24)(9, 0, file),))
    handles, value = (ptr * 1)(line), (u64 * words)(8)
    stream = rt.out("cudaStreamCreate", ptr)
    getattr(rt, f"cudaWaitExternalSemaphoresAsync{suffix}")(handles, (u64 * words)(5), 1, stream)
    getattr(rt, f"cudaSignalExternalSemaphoresAsync{suffix}")(handles, value, 1, stream)
    assert rt.code.cudaStreamQuery(stream) == 600
    os.pwrite(other, (5).to_bytes(8, "little"), 0)
    rt.cudaStreamSynchronize(stream)
    assert int.from_bytes(os.pread(other, 8, 0), "little") == 8
    rt.cudaDestroyExternalSemaphore(line)
    rt.cudaStreamDestroy(stream)
    os.close(other)


def check_external_semaphores(rt: Runtime) -> None:
    for suffix in ("", "_v2") if rt.major < 13 else ("",):
        signal_and_wait(rt, suffix, 18)
        with rt.per_thread():
            signal_and_wait(rt, suffix, 18)


def check_where_memory_is(rt: Runtime) -> None:
    if rt.major < 13:
        return
    size = 4 << 20
    memory = rt.out("cudaMallocManaged", ptr, after=(size, 1))
    places = (MemLocation * 2)()
    rt.cudaMemPrefetchAsync(memory + size // 2, size // 2, MemLocation(1, 0), 0, None)
    rt.cudaMemGetLocationInfo(memory, size, size // 2, 0, places)
    assert [(p.type, p.id) for p in places] == [(2, 0), (1, 0)]
    assert rt.code.cudaMemGetLocationInfo(memory, size, size + 1, 0, places) == INVALID_VALUE
    rt.cudaFree(memory)
