"""Things destroyed while they are in use, and very many of them: work that was given is done, and nothing is left behind."""

import ctypes
import gc
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from anywarp import settings
from native import kernels
from native.interfaces import HOST_FUNCTION
from native.test_launch import load
from native.test_races import library  # noqa: F401  (a fixture)

pytestmark = pytest.mark.native

PAUSE_US = 30_000
NOT_INITIALISED = 3


@pytest.fixture
def sleep(library, handmade):  # noqa: F811
    """Launch a kernel that waits and then adds 1 to a word."""
    function = load(library.driver, handmade, kernels.SLEEPS)

    def start(address, stream, us=PAUSE_US):
        arguments = [ctypes.c_uint64(address), ctypes.c_uint32(1), ctypes.c_uint32(us)]
        library.driver.launch(function, 1, 1, arguments, stream=stream)

    start.function = function
    return start


@pytest.fixture
def word(library):  # noqa: F811
    """One word of device memory, 0."""
    address = library.malloc(4)
    zero = ctypes.c_uint32(0)
    library.copy(address, ctypes.addressof(zero), 4, 0)
    library.synchronise()
    yield address
    library.synchronise()
    library.free(address)


def value(library, address):  # noqa: F811
    out = ctypes.c_uint32(77)
    library.copy(ctypes.addressof(out), address, 4, 0)
    library.synchronise()
    return out.value


def test_streams_destroyed_with_work_queued_do_it(library, sleep, word):  # noqa: F811
    for _ in range(5):
        stream = library.stream(1)
        for _ in range(3):
            sleep(word, stream, 2000)
        library.destroy_stream(stream)
        library.synchronise()
    assert value(library, word) == 15


def test_a_stream_destroyed_by_another_thread_than_fills_it(library, sleep, word):  # noqa: F811
    from native.test_races import on_threads

    streams = [library.stream(1) for _ in range(16)]
    ours = [library.malloc(4) for _ in streams]
    zero = ctypes.c_uint32(0)
    for address in ours:
        library.copy(address, ctypes.addressof(zero), 4, 0)
    library.synchronise()

    def body(number):
        sleep(ours[number], streams[number], 500)
        library.destroy_stream(streams[number])

    on_threads(library.driver, body, len(streams))
    library.synchronise()
    assert [value(library, address) for address in ours] == [1] * 16
    for address in ours:
        library.free(address)


def test_freeing_memory_waits_for_the_kernel_that_uses_it(library, sleep):  # noqa: F811
    stream = library.stream(1)
    address = library.malloc(4)
    begin = time.monotonic()
    sleep(address, stream)
    library.free(address)
    assert time.monotonic() - begin >= PAUSE_US / 1e6
    library.wait_stream(stream)
    library.destroy_stream(stream)


def test_memory_freed_in_a_stream_serves_what_came_before(library, sleep):  # noqa: F811
    stream = library.stream(1)
    for _ in range(20):
        address = library.malloc_async(4, stream)
        zero, out = ctypes.c_uint32(5), ctypes.c_uint32(0)
        library.copy(address, ctypes.addressof(zero), 4, stream)
        sleep(address, stream, 300)
        library.copy(ctypes.addressof(out), address, 4, stream)
        library.free_async(address, stream)
        library.wait_stream(stream)
        assert out.value == 6
    library.destroy_stream(stream)


def test_unloading_a_module_in_flight(library, handmade, word):  # noqa: F811
    driver = library.driver
    stream = library.stream(1)
    for _ in range(3):
        module = driver.out("cuModuleLoadData", handmade.module(kernels.SLEEPS))
        function = driver.out("cuModuleGetFunction", module, kernels.SLEEPS.name.encode())
        arguments = [ctypes.c_uint64(word), ctypes.c_uint32(1), ctypes.c_uint32(5000)]
        for _ in range(2):
            driver.launch(function, 1, 1, arguments, stream=stream)
        driver.cuModuleUnload(module)
    library.wait_stream(stream)
    assert value(library, word) == 6
    library.destroy_stream(stream)


def test_events_destroyed_before_they_happen(library, sleep, word):  # noqa: F811
    first, second = library.stream(1), library.stream(1)
    order = []
    callback = HOST_FUNCTION(lambda _: order.append(ctypes.c_uint32.from_address(word).value))
    event = library.event(2)
    sleep(word, first)
    library.record(event, first)
    library.stream_wait(second, event, 0)
    library.destroy_event(event)
    library.host_function(second, callback, None)
    library.wait_stream(second)
    assert order == [1]
    for stream in (first, second):
        library.destroy_stream(stream)


def test_a_graph_destroyed_while_it_runs(library, sleep, word):  # noqa: F811
    stream = library.stream(1)

    def work():
        for _ in range(4):
            sleep(word, stream, 3000)

    for _ in range(3):
        made = library.graph_of(stream, work)
        library.launch_graph(made, stream)
        library.destroy_exec(made)
    library.wait_stream(stream)
    assert value(library, word) == 12
    library.destroy_stream(stream)


def test_a_context_destroyed_with_work_queued(driver, handmade):
    for _ in range(5):
        context = driver.out("cuCtxCreate_v2", 0, 0)
        function = load(driver, handmade, kernels.SLEEPS)
        address = driver.out("cuMemAlloc_v2", 4)
        for _ in range(3):
            stream = driver.out("cuStreamCreate", 1)
            arguments = [ctypes.c_uint64(address), ctypes.c_uint32(1), ctypes.c_uint32(1000)]
            driver.launch(function, 1, 1, arguments, stream=stream)
        driver.cuCtxDestroy_v2(context)


def resident():
    """Return the process's memory in bytes."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("many", [1500, pytest.param(10_000, marks=pytest.mark.long)])
def test_very_many_streams_and_events_at_once(library, handmade, many):  # noqa: F811
    function = load(library.driver, handmade, kernels.ADD_INDEX)
    sums = library.malloc(64)
    zeros = np.zeros(8, np.uint64)
    library.copy(sums, zeros.ctypes.data, 64, 0)
    library.synchronise()
    streams = [library.stream(1) for _ in range(many)]
    events = [library.event(2) for _ in range(many)]
    arguments = [ctypes.c_uint64(sums)]
    for number, (stream, event) in enumerate(zip(streams, events, strict=True)):
        if number:
            library.stream_wait(stream, events[number - 1], 0)
        library.driver.launch(function, 1, 8, arguments, stream=stream)
        library.record(event, stream)
    library.wait_event(events[-1])
    out = np.zeros(8, np.uint64)
    library.copy(out.ctypes.data, sums, 64, streams[-1])
    library.wait_stream(streams[-1])
    assert out.tolist() == [many * t for t in range(8)]
    for stream, event in zip(streams, events, strict=True):
        library.destroy_stream(stream)
        library.destroy_event(event)
    library.free(sums)


def launches_without_growth(library, handmade, count, allowed):  # noqa: F811
    function = load(library.driver, handmade, kernels.ADD_INDEX)
    sums = library.malloc(64)
    stream, event = library.stream(1), library.event(2)
    arguments = [ctypes.c_uint64(sums)]

    def some(times):
        for number in range(times):
            library.driver.launch(function, 1, 1, arguments, stream=stream)
            if number % 100 == 0:
                library.record(event, stream)
                library.free_async(library.malloc_async(1 << 16, stream), stream)
            if number % 5000 == 0:
                library.wait_stream(stream)
        library.wait_stream(stream)

    some(20_000)
    before = resident()
    some(count)
    grown = resident() - before
    library.free(sums)
    library.destroy_event(event)
    library.destroy_stream(stream)
    assert grown < allowed


def test_launches_do_not_grow_the_process(library, handmade):  # noqa: F811
    launches_without_growth(library, handmade, 30_000, 1 << 20)


@pytest.mark.long
def test_a_million_launches_do_not_grow_the_process(library, handmade):  # noqa: F811
    launches_without_growth(library, handmade, 1_000_000, 1 << 20)


def test_streams_events_and_memory_that_come_and_go_leave_nothing(library):  # noqa: F811
    def some(times):
        for _ in range(times):
            stream, event, address = library.stream(1), library.event(2), library.malloc(4096)
            library.record(event, stream)
            library.wait_event(event)
            library.free(address)
            library.destroy_event(event)
            library.destroy_stream(stream)

    some(500)
    before = resident()
    some(3000)
    assert resident() - before < 1 << 20


def test_a_child_forked_after_the_runtime_started_is_told_so():
    script = (
        "import ctypes, os, sys\n"
        "runtime = ctypes.CDLL(sys.argv[1])\n"
        "pointer = ctypes.c_void_p()\n"
        "print(runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(4)), flush=True)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    print(runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(4)), runtime.cudaDeviceSynchronize(), flush=True)\n"
        "    os._exit(0)\n"
        "print(os.waitpid(child, 0)[1], runtime.cudaFree(pointer))\n"
    )
    path = settings.LIBRARY_DIR.get() / "libcudart.so.13"
    ran = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=60)
    assert ran.stdout.split() == ["0", str(NOT_INITIALISED), str(NOT_INITIALISED), "0", "0"], ran.stderr
