"""Execution contexts of CUDA 13: the device's own, and green ones with a share of the multiprocessors."""

import ctypes

from native.cudart.library import Runtime

INVALID_VALUE, INVALID_HANDLE = 1, 400
ptr, u32, u64 = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64
SM = 1


class Resource(ctypes.Structure):
    _fields_ = [("type", u32), ("pad", u32 * 23), ("count", u32), ("rest", u32 * 9), ("next", ptr)]


def each_call(rt: Runtime, context: int) -> None:
    device, number, resource = ctypes.c_int(-1), u64(), Resource()
    rt.cudaExecutionCtxGetDevice(ctypes.byref(device), context)
    assert device.value == 0
    rt.cudaExecutionCtxGetId(context, ctypes.byref(number))
    assert number.value
    rt.cudaExecutionCtxGetDevResource(context, ctypes.byref(resource), SM)
    assert resource.count > 0
    stream = rt.out("cudaExecutionCtxStreamCreate", ptr, after=(context, 1, 0))
    event, words = rt.out("cudaEventCreate", ptr), rt.out("cudaMalloc", ptr, after=(64,))
    rt.cudaMemsetAsync(words, 0x11, 64, stream)
    rt.cudaExecutionCtxRecordEvent(context, event)
    rt.cudaEventSynchronize(event)
    got = ctypes.create_string_buffer(64)
    rt.cudaMemcpy(got, words, 64, 2)
    assert got.raw == b"\x11" * 64
    rt.cudaExecutionCtxWaitEvent(context, event)
    rt.cudaExecutionCtxSynchronize(context)
    of_stream = Resource()
    rt.cudaStreamGetDevResource(stream, ctypes.byref(of_stream), SM)
    with rt.per_thread():
        rt.cudaStreamGetDevResource(stream, ctypes.byref(of_stream), SM)
    assert of_stream.count == resource.count
    rt.cudaStreamDestroy(stream)
    rt.cudaFree(words)


def check_the_context_of_a_device(rt: Runtime) -> None:
    if rt.major < 13:
        return
    context = rt.out("cudaDeviceGetExecutionCtx", ptr, after=(0,))
    assert rt.out("cudaDeviceGetExecutionCtx", ptr, after=(0,)) == context
    each_call(rt, context)
    assert rt.code.cudaExecutionCtxDestroy(context) == INVALID_VALUE
    assert rt.code.cudaDeviceGetExecutionCtx(ctypes.byref(ptr()), 77) == 101


def check_green_contexts(rt: Runtime) -> None:
    if rt.major < 13:
        return
    whole = Resource()
    rt.cudaDeviceGetDevResource(0, ctypes.byref(whole), SM)
    parts, count, rest = (Resource * 1)(), u32(1), Resource()
    code = rt.code.cudaDevSmResourceSplitByCount(
        parts, ctypes.byref(count), ctypes.byref(whole), ctypes.byref(rest), 0, 4
    )
    if code:  # a processor of few cores has no part of the least size
        assert whole.count < 4
        parts[0] = whole
    group = (u32 * 16)(parts[0].count)
    rt.code.cudaDevSmResourceSplit((Resource * 1)(), 1, ctypes.byref(parts[0]), None, 0, group)
    description = rt.out("cudaDevResourceGenerateDesc", ptr, after=(parts, 1))
    context = rt.out("cudaGreenCtxCreate", ptr, after=(description, 0, 0))
    each_call(rt, context)
    rt.cudaExecutionCtxDestroy(context)
    assert rt.code.cudaExecutionCtxDestroy(context) != 0
