"""Many threads of the program at once, through the driver and through the runtime: what each computes is its own and right."""

import ctypes
import threading

import numpy as np
import pytest

from native import kernels
from native.interfaces import HOST_FUNCTION, Interface, runtime_library
from native.test_launch import load

pytestmark = pytest.mark.native

THREADS = 64
COUNT = 512
INVALID_HANDLE, INVALID_VALUE = 400, 1


@pytest.fixture(params=["driver", "runtime"])
def library(request, driver):
    """The interface under test, with a context that every thread makes current."""
    if request.param == "driver":
        context = driver.out("cuCtxCreate_v2", 0, 0)
        yield Interface(driver, driver, runtime=False)
        driver.code("cuCtxDestroy_v2", context)
        return
    runtime = runtime_library()
    runtime.cudaSetDevice(0)
    runtime.cudaFree(0)
    yield Interface(runtime, driver, runtime=True)
    driver.cuCtxSetCurrent(0)


def on_threads(driver, body, count=THREADS):
    """Run `body(i)` on threads at once, in the caller's context; raise what any of them raised."""
    context = driver.out("cuCtxGetCurrent")
    failures, gate = [], threading.Barrier(count)

    def run(number):
        try:
            driver.cuCtxSetCurrent(context)
            gate.wait()
            body(number)
        except BaseException as error:  # all that a thread can raise belongs to the test
            failures.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


def test_64_threads_use_one_context(library, handmade):
    function = load(library.driver, handmade, kernels.VECADD)

    def body(number):
        stream, event = library.stream(1), library.event(2)
        a = np.arange(COUNT, dtype=np.float32) + number
        out = np.zeros(COUNT, np.float32)
        x, y = library.malloc(a.nbytes), library.malloc(a.nbytes)
        library.copy(x, a.ctypes.data, a.nbytes, stream)
        library.copy(y, x, a.nbytes, stream)
        arguments = [ctypes.c_uint64(y), ctypes.c_uint64(x), ctypes.c_uint64(y), ctypes.c_uint32(COUNT)]
        for _ in range(8):  # y += x
            library.driver.launch(function, COUNT // 128, 128, arguments, stream=stream)
        temporary = library.malloc_async(a.nbytes, stream)
        library.copy(temporary, y, a.nbytes, stream)
        library.copy(out.ctypes.data, temporary, a.nbytes, stream)
        library.free_async(temporary, stream)
        library.record(event, stream)
        library.wait_event(event)
        assert np.array_equal(out, 9 * a)
        library.free(x)
        library.free(y)
        library.destroy_event(event)
        library.destroy_stream(stream)

    on_threads(library.driver, body)


def test_threads_that_give_one_stream_work_lose_none(library, handmade):
    function = load(library.driver, handmade, kernels.ADD_INDEX)
    sums = library.malloc(64)
    stream = library.stream(1)
    zeros, out = np.zeros(8, np.uint64), np.zeros(8, np.uint64)
    library.copy(sums, zeros.ctypes.data, 64, stream)
    library.wait_stream(stream)
    on_threads(
        library.driver,
        lambda _: [library.driver.launch(function, 2, 32, [ctypes.c_uint64(sums)], stream=stream) for _ in range(10)],
    )
    library.copy(out.ctypes.data, sums, 64, stream)
    library.wait_stream(stream)
    expected = [sum(block * 1000 + t for block in range(2) for t in range(i, 32, 8)) for i in range(8)]
    assert out.tolist() == [THREADS * 10 * value for value in expected]
    library.free(sums)
    library.destroy_stream(stream)


def test_threads_that_load_and_unload_modules(library, handmade):
    image = handmade.module(kernels.VECADD)
    driver = library.driver

    def body(number):
        a = np.full(128, number, np.float32)
        x = library.malloc(a.nbytes)
        for _ in range(5):
            module = driver.out("cuModuleLoadData", image)
            function = driver.out("cuModuleGetFunction", module, b"vecadd")
            library.copy(x, a.ctypes.data, a.nbytes, 0)
            arguments = [ctypes.c_uint64(x)] * 3 + [ctypes.c_uint32(128)]
            driver.launch(function, 1, 128, arguments)
            driver.cuModuleUnload(module)
        out = np.zeros_like(a)
        library.copy(out.ctypes.data, x, a.nbytes, 0)
        library.wait_stream(0)
        assert np.array_equal(out, 2 * a)
        library.free(x)

    on_threads(driver, body)


def test_one_graph_launched_by_many_threads_runs_as_often(library, handmade):
    function = load(library.driver, handmade, kernels.ADD_INDEX)
    sums = library.malloc(64)
    zeros, out = np.zeros(8, np.uint64), np.zeros(8, np.uint64)
    stream = library.stream(1)
    library.copy(sums, zeros.ctypes.data, 64, stream)
    made = library.graph_of(
        stream, lambda: library.driver.launch(function, 1, 8, [ctypes.c_uint64(sums)], stream=stream)
    )
    library.wait_stream(stream)

    def body(_):
        own = library.stream(1)
        for _ in range(5):
            library.launch_graph(made, own)
        library.wait_stream(own)
        library.destroy_stream(own)

    on_threads(library.driver, body)
    library.copy(out.ctypes.data, sums, 64, stream)
    library.wait_stream(stream)
    assert out.tolist() == [THREADS * 5 * t for t in range(8)]
    library.destroy_exec(made)
    library.free(sums)
    library.destroy_stream(stream)


def test_streams_waiting_for_each_other_through_events(library):
    """A ring: each thread's stream waits for its neighbour's event, then adds its number to a list, in the ring's order."""
    events = [library.event(2) for _ in range(THREADS)]
    streams = [library.stream(1) for _ in range(THREADS)]
    order = []
    callbacks = [HOST_FUNCTION(lambda _, number=i: order.append(number)) for i in range(THREADS)]
    gates = [threading.Event() for _ in range(THREADS)]

    def body(number):
        if number:
            assert gates[number - 1].wait(60)  # an event that was not recorded yet would hold nobody up
            library.stream_wait(streams[number], events[number - 1], 0)
        library.host_function(streams[number], callbacks[number], None)
        library.record(events[number], streams[number])
        gates[number].set()

    on_threads(library.driver, body)
    for stream in streams:
        library.wait_stream(stream)
        library.destroy_stream(stream)
    for event in events:
        library.destroy_event(event)
    assert order == list(range(THREADS))


def test_each_thread_of_the_runtime_has_a_last_error_of_its_own(driver):
    runtime = runtime_library()
    runtime.cudaSetDevice(0)
    codes = {}
    gate = threading.Barrier(THREADS)

    def body(number):
        if number % 2:
            assert runtime.code("cudaMemcpy", 0, 0, 8, 77) != 0
        else:
            assert runtime.code("cudaSetDevice", 1000) != 0
        gate.wait()
        first, second = runtime.code("cudaGetLastError"), runtime.code("cudaGetLastError")
        codes[number] = (first, second)

    on_threads(driver, body)
    invalid_direction, invalid_device = 21, 101
    assert {codes[i] for i in range(1, THREADS, 2)} == {(invalid_direction, 0)}
    assert {codes[i] for i in range(0, THREADS, 2)} == {(invalid_device, 0)}
