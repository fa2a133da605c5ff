"""Streams and events: order, asynchrony, default streams, callbacks, time."""

import ctypes
import threading
import time

import pytest

from native import kernels
from native.test_launch import load

pytestmark = pytest.mark.native

INVALID_VALUE, INVALID_HANDLE, NOT_READY, NOT_PERMITTED = 1, 400, 600, 800
LEGACY, PER_THREAD = 1, 2
PAUSE_US = 60_000
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


@pytest.fixture
def counter(driver, context):
    address = driver.out("cuMemAlloc_v2", 4)
    driver.cuMemsetD32_v2(address, 0, 1)
    return address


@pytest.fixture
def sleep(driver, context, handmade, counter):
    """Launch a kernel that takes a while and then adds 1 to the counter."""
    function = load(driver, handmade, kernels.SLEEPS)

    def start(stream=0, us=PAUSE_US):
        driver.launch(
            function, 1, 1, [ctypes.c_uint64(counter), ctypes.c_uint32(1), ctypes.c_uint32(us)], stream=stream
        )

    start(us=0)  # compiled and warm
    driver.cuCtxSynchronize()
    driver.cuMemsetD32_v2(counter, 0, 1)
    return start


def value(address):
    """Read device memory directly: on this device it is the host's, so a test can look without waiting."""
    return ctypes.c_uint32.from_address(address).value


def test_a_launch_returns_before_the_kernel_ends(driver, sleep, counter):
    stream = driver.out("cuStreamCreate", 1)
    begin = time.monotonic()
    sleep(stream)
    assert time.monotonic() - begin < PAUSE_US / 2e6
    assert driver.code("cuStreamQuery", stream) == NOT_READY
    assert value(counter) == 0
    driver.cuStreamSynchronize(stream)
    assert value(counter) == 1
    assert driver.code("cuStreamQuery", stream) == 0
    assert time.monotonic() - begin >= PAUSE_US / 1e6


def test_work_in_one_stream_is_done_in_order(driver, sleep, counter):
    stream = driver.out("cuStreamCreate", 1)
    for i in range(5):
        sleep(stream, us=2000)
        driver.cuMemsetD32Async(counter, 10 * i, 1, stream)
    sleep(stream, us=0)
    driver.cuStreamSynchronize(stream)
    assert value(counter) == 41


def test_streams_run_at_once(driver, sleep, counter):
    streams = [driver.out("cuStreamCreate", 1) for _ in range(4)]
    begin = time.monotonic()
    for stream in streams:
        sleep(stream)
    driver.cuCtxSynchronize()
    assert time.monotonic() - begin < 3 * PAUSE_US / 1e6
    assert value(counter) == 4


def test_the_default_stream_waits_for_blocking_streams_and_they_for_it(driver, sleep, counter):
    blocking = driver.out("cuStreamCreate", 0)
    sleep(blocking)
    got = ctypes.c_uint32()
    driver.cuMemcpyDtoH_v2(ctypes.byref(got), counter, 4)
    assert got.value == 1
    sleep(0)
    driver.cuMemsetD32Async(counter, 100, 1, blocking)
    driver.cuStreamSynchronize(blocking)
    assert value(counter) == 100


def test_the_default_stream_does_not_wait_for_non_blocking_streams(driver, sleep, counter):
    stream = driver.out("cuStreamCreate", 1)
    sleep(stream)
    got = ctypes.c_uint32(7)
    driver.cuMemcpyDtoH_v2(ctypes.byref(got), counter, 4)
    assert got.value == 0
    driver.cuStreamSynchronize(stream)


def test_the_per_thread_default_stream_is_a_stream_per_thread(driver, context, sleep, counter):
    other = threading.Event()

    def run():
        driver.cuCtxSetCurrent(context)
        sleep(PER_THREAD)
        driver.cuStreamSynchronize(PER_THREAD)
        other.set()

    thread = threading.Thread(target=run)
    thread.start()
    sleep(PER_THREAD)
    driver.cuStreamSynchronize(PER_THREAD)
    thread.join()
    assert other.is_set() and value(counter) == 2
    assert stream_id(driver, "cuStreamGetId", PER_THREAD) != stream_id(driver, "cuStreamGetId", LEGACY)


def test_functions_ending_in_ptsz_take_the_null_stream_as_the_threads_own(driver, context):
    assert stream_id(driver, "cuStreamGetId", 0) == stream_id(driver, "cuStreamGetId", LEGACY)
    assert stream_id(driver, "cuStreamGetId_ptsz", 0) == stream_id(driver, "cuStreamGetId", PER_THREAD)


def stream_id(driver, function, handle):
    value = ctypes.c_uint64()
    getattr(driver, function)(handle, ctypes.byref(value))
    return value.value


def test_an_event_orders_two_streams(driver, sleep, counter):
    first, then = driver.out("cuStreamCreate", 1), driver.out("cuStreamCreate", 1)
    event = driver.out("cuEventCreate", 2)
    sleep(first)
    driver.cuEventRecord(event, first)
    assert driver.code("cuEventQuery", event) == NOT_READY
    driver.cuStreamWaitEvent(then, event, 0)
    driver.cuMemsetD32Async(counter, 55, 1, then)
    driver.cuStreamSynchronize(then)
    assert value(counter) == 55
    assert driver.code("cuEventQuery", event) == 0


def test_events_measure_time(driver, sleep):
    stream = driver.out("cuStreamCreate", 1)
    begin, end = driver.out("cuEventCreate", 0), driver.out("cuEventCreate", 0)
    driver.cuEventRecord(begin, stream)
    sleep(stream)
    driver.cuEventRecord(end, stream)
    assert driver.code("cuEventElapsedTime", ctypes.byref(ctypes.c_float()), begin, end) == NOT_READY
    driver.cuEventSynchronize(end)
    took = driver.out("cuEventElapsedTime", begin, end, kind=ctypes.c_float)
    assert PAUSE_US / 1e3 <= took < 20 * PAUSE_US / 1e3
    assert driver.out("cuEventElapsedTime", end, begin, kind=ctypes.c_float) == -took


def test_events_that_cannot_measure_say_so(driver, context):
    timed, untimed = driver.out("cuEventCreate", 0), driver.out("cuEventCreate", 2)
    out = ctypes.byref(ctypes.c_float())
    assert driver.code("cuEventElapsedTime", out, timed, timed) == INVALID_HANDLE  # never recorded
    driver.cuEventRecord(timed, 0)
    driver.cuEventRecord(untimed, 0)
    assert driver.code("cuEventElapsedTime", out, timed, untimed) == INVALID_HANDLE
    driver.cuEventDestroy_v2(timed)
    assert driver.code("cuEventQuery", timed) == INVALID_HANDLE
    assert driver.code("cuEventCreate", ctypes.byref(ctypes.c_void_p()), 8) == INVALID_VALUE


def test_an_event_that_was_never_recorded_is_complete(driver, context):
    event = driver.out("cuEventCreate", 0)
    driver.cuEventQuery(event)
    driver.cuEventSynchronize(event)
    driver.cuStreamWaitEvent(0, event, 0)


def test_host_functions_and_callbacks_come_in_order(driver, sleep, counter):
    stream = driver.out("cuStreamCreate", 1)
    seen = []
    host = HOST_FUNCTION(lambda data: seen.append(("host", data, value(counter))))
    call = CALLBACK(lambda handle, status, data: seen.append(("callback", status, value(counter))))
    sleep(stream)
    driver.cuLaunchHostFunc(stream, host, 17)
    sleep(stream, us=0)
    driver.cuStreamAddCallback(stream, call, 0, 0)
    driver.cuStreamSynchronize(stream)
    assert seen == [("host", 17, 1), ("callback", 0, 2)]


def test_callbacks_may_not_call_the_driver(driver, context):
    codes = []
    host = HOST_FUNCTION(lambda data: codes.append(driver.code("cuMemAlloc_v2", ctypes.byref(ctypes.c_uint64()), 64)))
    driver.cuLaunchHostFunc(0, host, 0)
    driver.cuStreamSynchronize(0)
    assert codes in ([NOT_PERMITTED], [201])


def test_a_destroyed_stream_still_does_its_work(driver, sleep, counter):
    stream = driver.out("cuStreamCreate", 0)
    sleep(stream)
    driver.cuStreamDestroy_v2(stream)
    assert driver.code("cuStreamSynchronize", stream) == INVALID_HANDLE
    driver.cuCtxSynchronize()
    assert value(counter) == 1


def test_freeing_memory_waits_for_kernels_that_use_it(driver, context, handmade):
    function = load(driver, handmade, kernels.SLEEPS)
    address = driver.out("cuMemAlloc_v2", 1 << 20)
    stream = driver.out("cuStreamCreate", 1)
    driver.launch(
        function, 1, 1, [ctypes.c_uint64(address), ctypes.c_uint32(1 << 18), ctypes.c_uint32(PAUSE_US)], stream=stream
    )
    driver.cuMemFree_v2(address)
    driver.cuCtxSynchronize()


def test_pageable_memory_may_be_changed_after_an_asynchronous_copy(driver, sleep, counter):
    stream = driver.out("cuStreamCreate", 1)
    target = driver.out("cuMemAlloc_v2", 4096)
    source = ctypes.create_string_buffer(b"a" * 4096, 4096)
    sleep(stream)
    driver.cuMemcpyHtoDAsync_v2(target, source, 4096, stream)
    ctypes.memset(source, ord("b"), 4096)
    driver.cuStreamSynchronize(stream)
    assert ctypes.string_at(target, 4096) == b"a" * 4096


def test_priorities_and_flags_can_be_asked_for(driver, context):
    stream = driver.out("cuStreamCreateWithPriority", 1, -3)
    priority, flags = ctypes.c_int(), ctypes.c_uint()
    driver.cuStreamGetPriority(stream, ctypes.byref(priority))
    driver.cuStreamGetFlags(stream, ctypes.byref(flags))
    assert (priority.value, flags.value) == (-3, 1)
    assert driver.code("cuStreamCreate", ctypes.byref(ctypes.c_void_p()), 2) == INVALID_VALUE


def test_a_stream_waits_for_a_value_and_another_writes_it(driver, sleep, counter):
    flag = driver.out("cuMemAlloc_v2", 8)
    driver.cuMemsetD32_v2(flag, 0, 2)
    waits, writes = driver.out("cuStreamCreate", 1), driver.out("cuStreamCreate", 1)
    driver.cuStreamWaitValue32_v2(waits, flag, 3, 0)
    driver.cuMemsetD32Async(counter, 9, 1, waits)
    time.sleep(0.02)
    assert value(counter) == 0
    driver.cuStreamWriteValue32_v2(writes, flag, 3, 0)
    driver.cuStreamSynchronize(waits)
    assert value(counter) == 9


def test_threads_launch_on_streams_of_their_own(driver, context, handmade):
    function = load(driver, handmade, kernels.ADD_INDEX)
    rounds, sums = 60, []

    def run():
        driver.cuCtxSetCurrent(context)
        stream, out = driver.out("cuStreamCreate", 1), driver.out("cuMemAlloc_v2", 64)
        driver.cuMemsetD8Async(out, 0, 64, stream)
        for _ in range(rounds):
            driver.launch(function, 50, 64, [ctypes.c_uint64(out)], stream=stream)
        got = (ctypes.c_uint64 * 8)()
        driver.cuMemcpyDtoHAsync_v2(got, out, 64, stream)
        driver.cuStreamSynchronize(stream)
        driver.cuStreamDestroy_v2(stream)
        sums.append(sum(got))

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == [rounds * sum(b * 1000 + t for b in range(50) for t in range(64))] * 6


def test_short_copies_and_sets_in_an_idle_stream_are_done_at_once(driver, context):
    """What takes less than handing it to a thread leaves the stream idle, so that small kernels behind it run at once, too."""
    stream = driver.out("cuStreamCreate", 1)
    memory, other = driver.out("cuMemAlloc_v2", 4096), driver.out("cuMemAlloc_v2", 4096)
    for byte in range(1, 50):
        driver.cuMemsetD8Async(memory, byte, 4096, stream)
        assert driver.code("cuStreamQuery", stream) == 0
        driver.cuMemcpyDtoDAsync_v2(other, memory, 4096, stream)
        assert driver.code("cuStreamQuery", stream) == 0
        assert ctypes.string_at(other, 4096) == bytes([byte]) * 4096


def test_short_copies_and_sets_wait_for_what_came_before(driver, sleep, counter):
    stream = driver.out("cuStreamCreate", 1)
    other = driver.out("cuMemAlloc_v2", 4)
    driver.cuMemsetD32_v2(other, 77, 1)
    sleep(stream)
    driver.cuMemcpyDtoDAsync_v2(other, counter, 4, stream)
    driver.cuMemsetD32Async(counter, 5, 1, stream)
    assert value(other) == 77
    driver.cuStreamSynchronize(stream)
    assert (value(other), value(counter)) == (1, 5)
