"""Streams, events and what numba builds on kernels: ufuncs, reductions, random numbers, several threads."""

import threading
import time

import numpy as np
from numba import cuda, float32, guvectorize, vectorize
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

MASK = (1 << 64) - 1


@cuda.jit
def scale_and_add(values, factor, term):
    i = cuda.grid(1)
    if i < values.size:
        values[i] = values[i] * factor + term


@cuda.jit
def spin(values, rounds):
    i = cuda.grid(1)
    acc = values[i]
    for _ in range(rounds):
        acc = acc * 0.999 + 0.5
    values[i] = acc


def check_stream_order():
    stream = cuda.stream()
    values = np.arange(1000, dtype=np.float32)
    device = cuda.to_device(values, stream=stream)
    for step in range(20):
        scale_and_add[8, 128, stream](device, float32(0.5), float32(step))
    got = device.copy_to_host(stream=stream)
    stream.synchronize()
    expected = values.astype(np.float64)
    for step in range(20):
        expected = expected * 0.5 + step
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def check_several_streams():
    streams = [cuda.stream() for _ in range(4)]
    devices = [cuda.to_device(np.full(500, k, np.float32), stream=s) for k, s in enumerate(streams)]
    for _ in range(5):
        for device, stream in zip(devices, streams):
            scale_and_add[4, 128, stream](device, float32(2), float32(1))
    cuda.synchronize()
    for k, device in enumerate(devices):
        np.testing.assert_array_equal(device.copy_to_host(), np.full(500, k * 32 + 31, np.float32))


def check_event_between_streams():
    first, second = cuda.stream(), cuda.stream()
    values = cuda.to_device(np.ones(128, np.float64))
    spin[1, 128, first](values, 200_000)
    event = cuda.event()
    event.record(first)
    event.wait(second)
    scale_and_add[1, 128, second](values, 2.0, 0.0)
    second.synchronize()
    # The iteration ends at its fixed point, 500.
    np.testing.assert_allclose(values.copy_to_host(), np.full(128, 1000.0), rtol=1e-9)


def check_event_times():
    start, middle, end = (cuda.event() for _ in range(3))
    values = cuda.to_device(np.ones(128, np.float64))
    spin[1, 128](values, 10)
    cuda.synchronize()
    clock = time.perf_counter()
    start.record()
    spin[1, 128](values, 2_000_000)
    middle.record()
    spin[1, 128](values, 20)
    end.record()
    end.synchronize()
    wall = (time.perf_counter() - clock) * 1000
    long, short, both = (cuda.event_elapsed_time(a, b) for a, b in [(start, middle), (middle, end), (start, end)])
    assert end.query()
    assert 0 <= short < long, (short, long)
    assert abs(long + short - both) < 0.1 + 0.01 * both, (long, short, both)
    assert both <= wall * 1.05, (both, wall)


def check_auto_synchronize():
    stream = cuda.stream()
    device = cuda.to_device(np.zeros(256, np.float32), stream=stream)
    with stream.auto_synchronize():
        scale_and_add[2, 128, stream](device, float32(1), float32(4))
    np.testing.assert_array_equal(device.copy_to_host(), np.full(256, 4, np.float32))


def check_threads_of_the_host():
    results = {}

    def work(number):
        device = cuda.to_device(np.full(300, number, np.float32))
        for _ in range(10):
            scale_and_add[3, 128](device, float32(1), float32(number))
        results[number] = device.copy_to_host()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(6):
        np.testing.assert_array_equal(results[number], np.full(300, number * 11, np.float32))


def blend_numbers(a, b):
    return a * 0.25 + b * 0.75


def check_vectorize():
    blend = vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")(blend_numbers)
    a, b = np.arange(1000.0).reshape(10, 100), np.arange(100.0)[None, ::-1].copy()
    np.testing.assert_allclose(blend(a, b), a * 0.25 + b * 0.75, rtol=1e-14)


def dot_rows(a, b, out):
    acc = 0.0
    for i in range(a.shape[0]):
        acc += a[i] * b[i]
    out[0] = acc


def check_guvectorize():
    dot = guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()", target="cuda")(dot_rows)
    a, b = np.random.default_rng(20).random((2, 20, 7))
    np.testing.assert_allclose(dot(a, b), (a * b).sum(1), rtol=1e-12)


@cuda.reduce
def total(a, b):
    return a + b


def check_reduce():
    for size in (1, 31, 1000, 70_001):
        values = np.random.default_rng(size).integers(-1000, 1000, size).astype(np.float64)
        assert total(values) == values.sum()


@cuda.jit
def draw(states, out):
    i = cuda.grid(1)
    for k in range(out.shape[1]):
        out[i, k] = xoroshiro128p_uniform_float32(states, i)


def rotate(x, k):
    return (x << k | x >> (64 - k)) & MASK


def xoroshiro_uniforms(s0, s1, count):
    """xoroshiro128+ of Blackman and Vigna with the 2016 constants 55, 14 and 36; the upper 53 bits make the number."""
    numbers = []
    for _ in range(count):
        result = (s0 + s1) & MASK
        s1 ^= s0
        s0, s1 = rotate(s0, 55) ^ s1 ^ (s1 << 14 & MASK), rotate(s1, 36)
        numbers.append((result >> 11) * 2.0**-53)
    return numbers


def check_random_numbers():
    states = create_xoroshiro128p_states(64, seed=7)
    seeds = states.copy_to_host()
    out = cuda.device_array((64, 9), np.float32)
    draw[2, 32](states, out)
    expected = [xoroshiro_uniforms(int(state["s0"]), int(state["s1"]), 9) for state in seeds]
    np.testing.assert_allclose(out.copy_to_host(), expected, rtol=1e-6)


def check_device_description():
    device = cuda.get_current_device()
    assert device.WARP_SIZE == 32
    assert device.MAX_THREADS_PER_BLOCK == 1024
    assert device.compute_capability >= (5, 0)
    assert device.MAX_SHARED_MEMORY_PER_BLOCK >= 48 * 1024
    assert cuda.is_available() and len(cuda.gpus) >= 1
