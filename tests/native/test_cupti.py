"""libcupti as profilers use it: records in the profiler's own buffers, callbacks around calls, numbers that belong together.

Offsets within records are those of the public headers (cupti_activity.h of CUDA 12.9 and 13.5), written down here once more.
"""

import ctypes
import struct
import time
from pathlib import Path

import numpy as np
import pytest

from anywarp import settings
from native import kernels
from native.test_launch import load, upload

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not (settings.LIBRARY_DIR.get() / "libcupti.so.13").exists(), reason="libcupti is not built"),
]

MEMCPY, MEMSET, DRIVER, CONCURRENT_KERNEL, MARKER = 1, 2, 4, 10, 12
CUDA_EVENT, SYNCHRONIZATION, EXTERNAL, MEMORY2, GRAPH_TRACE = 36, 38, 39, 49, 51
NOT_SUPPORTED, MAX_LIMIT, INVALID_PARAMETER, QUEUE_EMPTY, MULTIPLE_SUBSCRIBERS = 27, 12, 1, 18, 39
CU_LAUNCH_KERNEL, CU_MEM_ALLOC = 307, 243
DRIVER_DOMAIN = 1

REQUEST = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t)
)
COMPLETE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)


class Profiler:
    """A profiler with buffers of its own; `records` are (kind, bytes) in the order in which they came."""

    def __init__(self, major, buffer_bytes=4096):
        self.lib = ctypes.CDLL(str(settings.LIBRARY_DIR.get() / f"libcupti.so.{major}"))
        self.held, self.records, self.bytes = {}, [], buffer_bytes
        self.on = []
        self.callbacks = REQUEST(self.request), COMPLETE(self.complete)
        self.call("cuptiActivityRegisterCallbacks", *self.callbacks)

    def code(self, name, *arguments):
        return getattr(self.lib, name)(*arguments)

    def call(self, name, *arguments):
        code = self.code(name, *arguments)
        assert code == 0, (name, code)

    def request(self, buffer, size, most):
        made = (ctypes.c_uint64 * (self.bytes // 8))()
        self.held[ctypes.addressof(made)] = made
        buffer[0], size[0], most[0] = ctypes.addressof(made), self.bytes, 0

    def complete(self, _context, _stream, buffer, _size, valid):
        record, starts = ctypes.c_void_p(), []
        while (
            self.code(
                "cuptiActivityGetNextRecord", ctypes.c_void_p(buffer), ctypes.c_size_t(valid), ctypes.byref(record)
            )
            == 0
        ):
            starts.append(record.value)
        content = ctypes.string_at(buffer, valid)
        ends = [*starts[1:], buffer + valid]
        for start, end in zip(starts, ends, strict=True):
            part = content[start - buffer : end - buffer]
            self.records.append((struct.unpack_from("<I", part)[0], part))
        del self.held[buffer]

    def enable(self, *kinds):
        for kind in kinds:
            self.call("cuptiActivityEnable", kind)
            self.on.append(kind)

    def of(self, kind):
        self.call("cuptiActivityFlushAll", 0)
        return [content for found, content in self.records if found == kind]

    def end(self):
        self.call("cuptiFinalize")
        assert not self.held, "a buffer was not given back"


@pytest.fixture(params=[12, 13])
def profiler(request, driver):
    made = Profiler(request.param)
    made.major = request.param
    yield made
    made.end()


def field(record, form, offset):
    return struct.unpack_from("<" + form, record, offset)


def test_a_kernel_has_a_record_with_its_shape_name_and_times(profiler, driver, handmade, context):
    a = np.arange(1000, dtype=np.float32)
    da, db, dc = (upload(driver, a) for _ in range(3))
    function = load(driver, handmade, kernels.VECADD)
    stream = driver.out("cuStreamCreate", 0)
    profiler.enable(CONCURRENT_KERNEL, DRIVER)
    before = time.time_ns()
    driver.launch(
        function,
        (4, 2, 1),
        (256, 1, 1),
        [ctypes.c_uint64(v) for v in (da, db, dc)] + [ctypes.c_uint32(1000)],
        stream=stream,
    )
    driver.cuStreamSynchronize(stream)
    after = time.time_ns()
    (kernel,) = profiler.of(CONCURRENT_KERNEL)
    assert len(kernel) == (248 if profiler.major == 13 else 208)
    start, end = field(kernel, "QQ", 16)
    assert before <= start < end <= after
    assert field(kernel, "6i", 52) == (4, 2, 1, 256, 1, 1)
    (address,) = field(kernel, "Q", 104)
    assert ctypes.string_at(address) == b"vecadd"
    identity = ctypes.c_uint32()
    profiler.call("cuptiGetContextId", ctypes.c_void_p(context), ctypes.byref(identity))
    assert field(kernel, "I", 44) == (identity.value,)
    profiler.call("cuptiGetStreamId", ctypes.c_void_p(context), ctypes.c_void_p(stream), ctypes.byref(identity))
    assert field(kernel, "I", 48) == (identity.value,)
    calls = {field(r, "I", 4)[0]: r for r in profiler.of(DRIVER)}
    assert field(calls[CU_LAUNCH_KERNEL], "I", 32) == field(kernel, "I", 92)  # one correlation for both
    begin, done = field(calls[CU_LAUNCH_KERNEL], "QQ", 8)
    assert before <= begin <= done <= after


def test_copies_and_fills_tell_bytes_and_kinds_of_memory(profiler, driver, context):
    profiler.enable(MEMCPY, MEMSET)
    device = driver.out("cuMemAlloc_v2", 4096)
    pinned = driver.out("cuMemHostAlloc", 4096, 0)
    pageable = np.zeros(700, np.uint8)
    driver.cuMemcpyHtoD_v2(device, pageable.ctypes.data, 700)
    driver.cuMemcpyDtoH_v2(pinned, device, 300)
    driver.cuMemcpyDtoD_v2(device + 2048, device, 99)
    driver.cuMemsetD32_v2(device, 0x1234, 10)
    copies = [(*field(r, "3B", 4), *field(r, "Q", 8)) for r in profiler.of(MEMCPY)]
    htod, dtoh, dtod = 1, 2, 8
    a_pageable, a_pinned, a_device = 1, 2, 3
    assert copies == [
        (htod, a_pageable, a_device, 700),
        (dtoh, a_device, a_pinned, 300),
        (dtod, a_device, a_device, 99),
    ]
    (fill,) = profiler.of(MEMSET)
    assert field(fill, "IQ", 4) == (0x1234, 40)


def test_external_correlations_belong_to_the_calls_between_push_and_pop(profiler, driver, context):
    profiler.enable(EXTERNAL, DRIVER)
    last = ctypes.c_uint64()
    for outer in (71, 72):
        profiler.call("cuptiActivityPushExternalCorrelationId", 3, ctypes.c_uint64(outer))
        driver.out("cuMemAlloc_v2", 64)
        profiler.call("cuptiActivityPopExternalCorrelationId", 3, ctypes.byref(last))
        assert last.value == outer
    driver.out("cuMemAlloc_v2", 64)
    assert profiler.code("cuptiActivityPopExternalCorrelationId", 3, ctypes.byref(last)) == QUEUE_EMPTY
    calls = [field(r, "I", 32)[0] for r in profiler.of(DRIVER) if field(r, "I", 4)[0] == CU_MEM_ALLOC]
    external = [(*field(r, "Q", 8), *field(r, "I", 16)) for r in profiler.of(EXTERNAL)]
    assert external == [(71, calls[0]), (72, calls[1])]


def test_synchronisation_events_and_memory_have_records(profiler, driver, context):
    profiler.enable(SYNCHRONIZATION, CUDA_EVENT, MEMORY2)
    stream, event = driver.out("cuStreamCreate", 0), driver.out("cuEventCreate", 0)
    driver.cuEventRecord(event, stream)
    driver.cuEventSynchronize(event)
    driver.cuStreamSynchronize(stream)
    driver.cuCtxSynchronize()
    memory = driver.out("cuMemAlloc_v2", 12345)
    driver.cuMemFree_v2(memory)
    assert [field(r, "I", 4)[0] for r in profiler.of(SYNCHRONIZATION)] == [1, 3, 4]
    (recorded,) = profiler.of(CUDA_EVENT)
    if profiler.major >= 13:  # CUDA 12 had no function that tells it
        identity = ctypes.c_uint32()
        profiler.call("cuptiGetCudaEventId", ctypes.c_void_p(event), ctypes.byref(identity))
        assert field(recorded, "I", 16) == (identity.value,)
    operations = [(*field(r, "II", 4), *field(r, "QQ", 16)) for r in profiler.of(MEMORY2)]
    assert operations == [(1, 3, memory, 12345), (2, 3, memory, 12345)]


def captured(driver, handmade, stream):
    function = load(driver, handmade, kernels.VECADD)
    a = driver.out("cuMemAlloc_v2", 4096)
    arguments = [ctypes.c_uint64(a)] * 3 + [ctypes.c_uint32(64)]
    driver.cuStreamBeginCapture_v2(stream, 0)
    driver.launch(function, 1, 64, arguments, stream=stream)
    driver.launch(function, 2, 32, arguments, stream=stream)
    graph = ctypes.c_void_p()
    driver.cuStreamEndCapture(stream, ctypes.byref(graph))
    return graph.value


@pytest.mark.parametrize("whole", [False, True])
def test_graphs_are_told_by_node_or_whole(profiler, driver, handmade, context, whole):
    stream = driver.out("cuStreamCreate", 0)
    graph = captured(driver, handmade, stream)
    executable = driver.out("cuGraphInstantiateWithFlags", graph, 0)
    profiler.enable(CONCURRENT_KERNEL, *([GRAPH_TRACE] if whole else []))
    driver.cuGraphLaunch(executable, stream)
    driver.cuStreamSynchronize(stream)
    identity = ctypes.c_uint32()
    profiler.call("cuptiGetGraphExecId", ctypes.c_void_p(executable), ctypes.byref(identity))
    traced = profiler.of(GRAPH_TRACE)
    assert [field(r, "I", 28)[0] for r in traced] == ([identity.value] if whole else [])
    nodes = [(*field(r, "i", 52), *field(r, "i", 64)) for r in profiler.of(CONCURRENT_KERNEL)]
    assert [shape[:2] for shape in nodes] == ([] if whole else [(1, 64), (2, 32)])
    if not whole:
        found = ctypes.c_size_t(2)
        handles = (ctypes.c_void_p * 2)()
        driver.cuGraphGetNodes(graph, handles, ctypes.byref(found))
        numbers = set()
        for handle in handles:
            number = ctypes.c_uint64()
            profiler.call("cuptiGetGraphNodeId", ctypes.c_void_p(handle), ctypes.byref(number))
            numbers.add(number.value)
        assert {field(r, "Q", 144)[0] for r in profiler.of(CONCURRENT_KERNEL)} == numbers


def test_callbacks_come_at_entry_and_exit_of_the_functions_that_were_chosen(profiler, driver, handmade, context):
    seen = []

    def called(user, domain, number, data):
        site, name, params, result, symbol = struct.unpack_from("<I4x4Q", ctypes.string_at(data, 40))
        correlation = struct.unpack_from("<I", ctypes.string_at(data + 64, 4))[0]
        code = ctypes.c_int.from_address(result).value if result else None
        shape = struct.unpack_from("<6I", ctypes.string_at(params + 8, 24)) if params else None
        text = ctypes.string_at(symbol) if symbol else None
        seen.append((user, domain, number, site, ctypes.string_at(name), code, shape, text, correlation))

    function = load(driver, handmade, kernels.VECADD)
    a = driver.out("cuMemAlloc_v2", 4096)
    arguments = [ctypes.c_uint64(a)] * 3 + [ctypes.c_uint32(64)]
    callback, subscriber = CALLBACK(called), ctypes.c_void_p()
    profiler.call("cuptiSubscribe", ctypes.byref(subscriber), callback, ctypes.c_void_p(77))
    other = ctypes.c_void_p()
    assert profiler.code("cuptiSubscribe", ctypes.byref(other), callback, None) == MULTIPLE_SUBSCRIBERS
    profiler.call("cuptiEnableCallback", 1, subscriber, DRIVER_DOMAIN, CU_LAUNCH_KERNEL)
    driver.out("cuMemAlloc_v2", 64)  # not chosen
    driver.launch(function, (3, 2, 1), (32, 1, 1), arguments)
    assert driver.code("cuLaunchKernel", function, 1, 1, 1, 0, 1, 1, 0, 0, None, None) == 1
    profiler.call("cuptiUnsubscribe", subscriber)
    driver.launch(function, 1, 32, arguments)
    assert [entry[:4] for entry in seen] == [(77, 1, CU_LAUNCH_KERNEL, site) for site in (0, 1, 0, 1)]
    assert {entry[4] for entry in seen} == {b"cuLaunchKernel"}
    assert [entry[5] for entry in seen] == [None, 0, None, 1]
    assert seen[0][6] == (3, 2, 1, 32, 1, 1)
    assert seen[0][7] == b"vecadd"
    assert seen[0][8] == seen[1][8] != seen[2][8] == seen[3][8]
    name = ctypes.c_char_p()
    profiler.call("cuptiGetCallbackName", DRIVER_DOMAIN, CU_LAUNCH_KERNEL, ctypes.byref(name))
    assert name.value == b"cuLaunchKernel"
    profiler.call("cuptiGetCallbackName", 2, 211, ctypes.byref(name))
    assert name.value == b"cudaLaunchKernel_v7000"


def test_a_clock_of_the_profiler_gives_all_times(profiler, driver, context):
    clock = ctypes.CFUNCTYPE(ctypes.c_uint64)(lambda: 2 * time.monotonic_ns() + 10**9)
    profiler.call("cuptiActivityRegisterTimestampCallback", clock)
    profiler.enable(MEMCPY)
    memory, host = driver.out("cuMemAlloc_v2", 64), np.zeros(64, np.uint8)
    before = 2 * time.monotonic_ns() + 10**9
    driver.cuMemcpyHtoD_v2(memory, host.ctypes.data, 64)
    after = 2 * time.monotonic_ns() + 10**9
    (copy,) = profiler.of(MEMCPY)
    start, end = field(copy, "QQ", 16)
    slack = 20_000_000  # two clocks are laid on each other within a part in a thousand or so
    assert before - slack <= start <= end <= after + slack


def test_single_functions_are_recorded_or_left_out(profiler, driver, context):
    def seen():
        found = [field(r, "I", 4)[0] for r in profiler.of(DRIVER)]
        profiler.records.clear()
        return found

    profiler.call("cuptiActivityEnableDriverApi", CU_MEM_ALLOC, 1)
    driver.cuCtxSynchronize()
    driver.out("cuMemAlloc_v2", 64)
    assert seen() == [CU_MEM_ALLOC]
    profiler.call("cuptiActivityEnableDriverApi", CU_MEM_ALLOC, 0)
    profiler.enable(DRIVER)
    driver.out("cuMemAlloc_v2", 64)
    driver.cuCtxSynchronize()
    assert seen() == [17]


def test_what_cannot_be_is_refused(profiler):
    assert profiler.code("cuptiActivityEnable", 30) == NOT_SUPPORTED  # samples of a GPU's program counters
    assert profiler.code("cuptiPCSamplingEnable", None) == NOT_SUPPORTED
    assert profiler.code("cuptiActivityRegisterCallbacks", None, None) == INVALID_PARAMETER
    text = ctypes.c_char_p()
    profiler.call("cuptiGetResultString", NOT_SUPPORTED, ctypes.byref(text))
    assert text.value == b"CUPTI_ERROR_NOT_SUPPORTED"
    version = ctypes.c_uint32()
    profiler.call("cuptiGetVersion", ctypes.byref(version))
    assert version.value == {12: 28, 13: 130500}[profiler.major]


@pytest.mark.parametrize("major", [12, 13])
def test_everything_that_nvidias_library_exports_is_there(major):
    lines = (Path(__file__).parents[2] / "native" / "cupti" / "exports.txt").read_text().splitlines()
    names = [line.split()[0] for line in lines if not line.startswith("#") and str(major) in line.split()[1:]]
    assert len(names) == {12: 193, 13: 223}[major]
    library = ctypes.CDLL(str(settings.LIBRARY_DIR.get() / f"libcupti.so.{major}"))
    assert [name for name in names if not hasattr(library, name)] == []


def test_contexts_streams_modules_and_graphs_are_told_when_they_come_and_go(profiler, driver, handmade, context):
    seen = []

    def called(_user, domain, number, data):
        assert domain == 3
        context_of, stream, descriptor = struct.unpack("<3Q", ctypes.string_at(data, 24))
        inner = struct.unpack("<4QI", ctypes.string_at(descriptor, 36)) if descriptor and number >= 9 else None
        seen.append((number, context_of, stream, inner))

    callback, subscriber = CALLBACK(called), ctypes.c_void_p()
    profiler.call("cuptiSubscribe", ctypes.byref(subscriber), callback, None)
    profiler.call("cuptiEnableDomain", 1, subscriber, 3)
    stream = driver.out("cuStreamCreate", 0)
    graph = captured(driver, handmade, stream)
    executable = driver.out("cuGraphInstantiateWithFlags", graph, 0)
    driver.cuGraphExecDestroy(executable)
    driver.cuStreamDestroy_v2(stream)
    other = driver.out("cuCtxCreate_v2", 0, 0)
    driver.cuCtxDestroy_v2(other)
    profiler.call("cuptiUnsubscribe", subscriber)
    created, destroyed, stream_made, stream_gone, loaded = 1, 2, 3, 4, 6
    graph_made, node_made, exec_made, exec_gone = 9, 13, 18, 19
    assert [entry[0] for entry in seen] == [
        stream_made, loaded, graph_made, node_made, node_made, exec_made, exec_gone, stream_gone, created, destroyed
    ]  # fmt: skip
    assert seen[0][1:3] == (context, stream) and seen[-1][1] == other
    nodes = [entry[3] for entry in seen if entry[0] == node_made]
    assert [(inner[0], inner[4]) for inner in nodes] == [(graph, 0), (graph, 0)]  # of this graph, and kernels
