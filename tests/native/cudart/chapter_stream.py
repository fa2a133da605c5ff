"""Streams, events, callbacks, captures."""

import ctypes
import threading

from native.cudart.library import Runtime
from native.cudart.program import Program, pack, shape

NOT_READY, INVALID_HANDLE = 600, 400
HOST = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


def each_stream(rt: Runtime) -> None:
    stream = rt.out("cudaStreamCreateWithFlags", ctypes.c_void_p, after=(1,))
    other = rt.out("cudaStreamCreateWithPriority", ctypes.c_void_p, after=(0, -1))
    flags, priority, number, device = ctypes.c_uint(), ctypes.c_int(), (ctypes.c_ulonglong * 2)(), ctypes.c_int(7)
    rt.cudaStreamGetFlags(stream, ctypes.byref(flags))
    rt.cudaStreamGetPriority(other, ctypes.byref(priority))
    rt.cudaStreamGetId(stream, number)
    rt.cudaStreamGetId(other, ctypes.addressof(number) + 8)
    rt.cudaStreamGetDevice(stream, ctypes.byref(device))
    assert (flags.value, priority.value, device.value) == (1, -1, 0) and number[0] != number[1]
    value = (ctypes.c_int * 16)(2)
    rt.cudaStreamSetAttribute(stream, 3, value)  # the policy of synchronisation
    rt.cudaStreamCopyAttributes(other, stream)
    got = (ctypes.c_int * 16)()
    rt.cudaStreamGetAttribute(other, 3, got)
    assert got[0] == 2
    order(rt, stream, other)
    rt.cudaStreamDestroy(stream)
    rt.cudaStreamDestroy(other)
    assert rt.code.cudaStreamDestroy(stream) == INVALID_HANDLE
    assert rt.code.cudaStreamSynchronize(0x1234560) == INVALID_HANDLE


def order(rt: Runtime, stream: int, other: int) -> None:
    """What waits for an event runs behind what was recorded in it."""
    gate, seen = threading.Event(), []
    first = HOST(lambda _: (gate.wait(20), seen.append("first")))
    second = CALLBACK(lambda s, status, data: seen.append((s, status, data)))
    event = rt.out("cudaEventCreateWithFlags", ctypes.c_void_p, after=(2,))
    rt.cudaLaunchHostFunc(stream, first, None)
    rt.cudaEventRecord(event, stream)
    rt.cudaStreamWaitEvent(other, event, 0)
    rt.cudaStreamAddCallback(other, second, 0x77, 0)
    assert rt.code.cudaStreamQuery(stream) == NOT_READY
    assert rt.code.cudaEventQuery(event) == NOT_READY
    assert rt.code.cudaStreamQuery(other) == NOT_READY
    gate.set()
    rt.cudaStreamSynchronize(other)
    assert seen == ["first", (other, 0, 0x77)]
    rt.cudaStreamQuery(stream)
    rt.cudaEventQuery(event)
    rt.cudaEventSynchronize(event)
    if rt.has("cudaLaunchHostFunc_v2"):
        rt.cudaLaunchHostFunc_v2(stream, first, None, 0)
        rt.cudaStreamSynchronize(stream)
        assert seen[2:] == ["first"]
    rt.raw("cudaGetLastError")()
    rt.cudaEventDestroy(event)
    assert rt.code.cudaEventDestroy(event) == INVALID_HANDLE


def each_event(rt: Runtime) -> None:
    start, end = rt.out("cudaEventCreate", ctypes.c_void_p), rt.out("cudaEventCreate", ctypes.c_void_p)
    rt.cudaEventRecord(start, None)
    pause = HOST(lambda _: threading.Event().wait(0.02))
    rt.cudaLaunchHostFunc(None, pause, None)
    rt.cudaEventRecordWithFlags(end, None, 0)
    rt.cudaEventSynchronize(end)
    for name in ("cudaEventElapsedTime", "cudaEventElapsedTime_v2"):
        if rt.has(name):
            assert rt.out(name, ctypes.c_float, after=(start, end)) >= 19
    rt.cudaEventDestroy(start)
    rt.cudaEventDestroy(end)


def check_streams(rt: Runtime) -> None:
    each_stream(rt)
    each_event(rt)
    with rt.per_thread():
        each_stream(rt)
        each_event(rt)


def each_capture(rt: Runtime, program: Program) -> None:
    stream = rt.out("cudaStreamCreate", ctypes.c_void_p)
    status, number, graph, nodes, count = (
        ctypes.c_int(),
        ctypes.c_ulonglong(),
        ctypes.c_void_p(),
        ctypes.c_void_p(),
        ctypes.c_size_t(),
    )
    rt.cudaStreamIsCapturing(stream, ctypes.byref(status))
    assert status.value == 0
    rt.cudaStreamBeginCapture(stream, 2)
    rt.cudaLaunchKernel(program.empty, shape(1), shape(1), pack(), 0, stream)
    rt.cudaStreamIsCapturing(stream, ctypes.byref(status))
    assert status.value == 1
    first = [ctypes.byref(p) for p in (status, number, graph, nodes)]
    if rt.major == 12:
        rt.cudaStreamGetCaptureInfo(stream, *first[:2])
        rt.cudaStreamGetCaptureInfo_v2(stream, *first, ctypes.byref(count))
        assert count.value == 1 and nodes.value and graph.value
        rt.cudaStreamGetCaptureInfo_v3(stream, *first, None, ctypes.byref(count))
        rt.cudaStreamUpdateCaptureDependencies(stream, None, 0, 1)
        rt.cudaStreamUpdateCaptureDependencies_v2(stream, None, None, 0, 1)
    else:
        rt.cudaStreamGetCaptureInfo(stream, *first, None, ctypes.byref(count))
        assert count.value == 1 and nodes.value and graph.value
        rt.cudaStreamUpdateCaptureDependencies(stream, None, None, 0, 1)
    assert status.value == 1 and number.value
    captured = ctypes.c_void_p()
    rt.cudaStreamEndCapture(stream, ctypes.byref(captured))
    assert captured.value
    rt.cudaStreamBeginCaptureToGraph(stream, captured, None, None, 0, 0)
    rt.cudaLaunchKernel(program.empty, shape(1), shape(1), pack(), 0, stream)
    rt.cudaStreamEndCapture(stream, ctypes.byref(captured))
    rt.cudaStreamDestroy(stream)


def check_captures(rt: Runtime) -> None:
    program = Program(rt)
    each_capture(rt, program)
    with rt.per_thread():
        each_capture(rt, program)
    mode = ctypes.c_int(2)
    rt.cudaThreadExchangeStreamCaptureMode(ctypes.byref(mode))
    assert mode.value == 0
    rt.cudaThreadExchangeStreamCaptureMode(ctypes.byref(mode))
    assert mode.value == 2
    program.close()
