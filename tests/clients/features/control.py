"""Control flow and geometry: divergence, loops, barriers that count, device functions, grids of every shape."""

import numpy as np
from numba import cuda, int32


@cuda.jit
def collatz(out):
    i = cuda.grid(1)
    if i == 0 or i >= out.size:
        return
    n, steps = i, 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    out[i] = steps


def count_collatz(n):
    steps = 0
    while n > 1:
        n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
    return steps


def check_divergent_loops():
    out = cuda.to_device(np.zeros(500, np.int32))
    collatz[4, 128](out)
    np.testing.assert_array_equal(out.copy_to_host(), [count_collatz(n) for n in range(500)])


@cuda.jit
def nested(values, out):
    i = cuda.grid(1)
    if i >= values.size:
        return
    acc = 0
    for j in range(values[i]):
        if j % 3 == 0:
            continue
        for k in range(j):
            if k > values[i] // 2:
                break
            acc += j * k
    out[i] = acc


def nested_python(limit):
    acc = 0
    for j in range(limit):
        if j % 3:
            acc += sum(j * k for k in range(min(j, limit // 2 + 1)))
    return acc


def check_break_and_continue():
    values = np.random.default_rng(16).integers(0, 25, 150).astype(np.int32)
    out = cuda.device_array(150, np.int64)
    nested[3, 64](cuda.to_device(values), out)
    np.testing.assert_array_equal(out.copy_to_host(), [nested_python(int(v)) for v in values])


@cuda.jit
def barriers(flags, out):
    i = cuda.grid(1)
    flag = flags[i]
    out[0, i] = cuda.syncthreads_count(flag)
    out[1, i] = cuda.syncthreads_and(flag)
    out[2, i] = cuda.syncthreads_or(flag)


def check_counting_barriers():
    for threads in (32, 48, 100, 256):
        flags = (np.random.default_rng(threads).random((3, threads)) < 0.7).astype(np.int32)
        flags[1], flags[2] = 1, 0
        out = cuda.device_array((3, 3 * threads), np.int32)
        barriers[3, threads](cuda.to_device(flags.reshape(-1)), out)
        got = out.copy_to_host().reshape(3, 3, threads)
        expected = [flags.sum(1), flags.all(1), flags.any(1)]
        np.testing.assert_array_equal(got[0], np.repeat(expected[0][:, None], threads, 1))
        np.testing.assert_array_equal(got[1:] != 0, np.repeat(np.array(expected[1:])[:, :, None], threads, 2) != 0)


@cuda.jit
def ping_pong(out, rounds):
    block = cuda.shared.array(128, dtype=int32)
    thread = cuda.threadIdx.x
    block[thread] = thread
    cuda.syncthreads()
    for _ in range(rounds):
        value = block[(thread + 1) % 128]
        cuda.syncthreads()
        block[thread] = value
        cuda.syncthreads()
    out[thread] = block[thread]


def check_barrier_in_loop():
    out = cuda.device_array(128, np.int32)
    ping_pong[1, 128](out, 37)
    np.testing.assert_array_equal(out.copy_to_host(), (np.arange(128) + 37) % 128)


@cuda.jit
def uneven_barriers(out):
    block = cuda.shared.array(64, dtype=int32)
    thread = cuda.threadIdx.x
    block[thread] = 1
    cuda.syncthreads()
    # The same number of blocks of threads takes either way, so the barrier in the branch is reached by all or none.
    if cuda.blockIdx.x % 2 == 0:
        value = block[63 - thread] + thread
        cuda.syncthreads()
        block[thread] = value
    else:
        block[thread] = -thread
    cuda.syncthreads()
    out[cuda.grid(1)] = block[63 - thread]


def check_barrier_in_uniform_branch():
    out = cuda.device_array(256, np.int32)
    uneven_barriers[4, 64](out)
    thread = np.arange(64)
    even, odd = 63 - thread + 1, -(63 - thread)
    np.testing.assert_array_equal(out.copy_to_host().reshape(4, 64), [even, odd, even, odd])


@cuda.jit(device=True)
def fused(a, b):
    return a * b + 1


@cuda.jit(device=True, inline="never")
def apart(x, limit):
    acc = x
    while acc < limit:
        acc = fused(acc, 2)
    return acc


@cuda.jit(device=True)
def pair(x):
    return x + 1, x * x


@cuda.jit
def call_functions(values, out):
    i = cuda.grid(1)
    if i < values.size:
        first, second = pair(values[i])
        out[i] = apart(values[i], 100) + first * second


def check_device_functions():
    values = np.arange(1, 200, dtype=np.int64)
    out = cuda.device_array(199, np.int64)
    call_functions[4, 64](cuda.to_device(values), out)

    def python(x):
        acc = x
        while acc < 100:
            acc = acc * 2 + 1
        return acc + (x + 1) * x * x

    np.testing.assert_array_equal(out.copy_to_host(), [python(int(v)) for v in values])


@cuda.jit
def stamp(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] += i * 2 + 1


def check_block_sizes():
    for threads in (1, 31, 32, 33, 48, 64, 127, 256, 1024):
        out = cuda.to_device(np.zeros(2500, np.int32))
        stamp[-(-2500 // threads), threads](out)
        np.testing.assert_array_equal(out.copy_to_host(), np.arange(2500) * 2 + 1, err_msg=f"{threads} threads")


@cuda.jit
def stamp_2d(out):
    x, y = cuda.grid(2)
    if x < out.shape[0] and y < out.shape[1]:
        out[x, y] = x * 1000 + y


@cuda.jit
def stamp_3d(out, sizes):
    x, y, z = cuda.grid(3)
    if x < out.shape[0] and y < out.shape[1] and z < out.shape[2]:
        out[x, y, z] = x * 10000 + y * 100 + z
    if x == 0 and y == 0 and z == 0:
        a, b, c = cuda.gridsize(3)
        sizes[0], sizes[1], sizes[2] = a, b, c
        sizes[3], sizes[4], sizes[5] = cuda.blockDim.x, cuda.blockDim.y, cuda.blockDim.z
        sizes[6], sizes[7], sizes[8] = cuda.gridDim.x, cuda.gridDim.y, cuda.gridDim.z


def check_two_dimensional_grid():
    for block in ((16, 16), (1, 32), (7, 5), (32, 3)):
        out = cuda.device_array((45, 33), np.int32)
        stamp_2d[(-(-45 // block[0]), -(-33 // block[1])), block](out)
        np.testing.assert_array_equal(out.copy_to_host(), np.add.outer(np.arange(45) * 1000, np.arange(33)))


def check_three_dimensional_grid():
    for block in ((4, 4, 4), (1, 3, 11), (8, 2, 2)):
        out, sizes = cuda.device_array((9, 7, 12), np.int32), cuda.device_array(9, np.int32)
        grid = tuple(-(-n // b) for n, b in zip((9, 7, 12), block))
        stamp_3d[grid, block](out, sizes)
        x, y, z = np.indices((9, 7, 12))
        np.testing.assert_array_equal(out.copy_to_host(), x * 10000 + y * 100 + z)
        np.testing.assert_array_equal(sizes.copy_to_host(), [g * b for g, b in zip(grid, block)] + [*block] + [*grid])


@cuda.jit
def many_arguments(a, b, c, d, e, f, out):
    out[0], out[1], out[2] = a, b, c
    out[3], out[4], out[5] = d, e, f


def check_scalar_arguments():
    out = cuda.device_array(6, np.float64)
    many_arguments[1, 1](np.int8(-3), np.float32(0.5), np.uint16(65535), 7, 2.25, True, out)
    np.testing.assert_array_equal(out.copy_to_host(), [-3, 0.5, 65535, 7, 2.25, 1])


@cuda.jit
def tuple_argument(sizes, out):
    out[0] = sizes[0] * sizes[1] - sizes[2]


def check_tuple_arguments():
    out = cuda.device_array(1, np.int64)
    tuple_argument[1, 1]((6, 7, 2), out)
    assert out.copy_to_host()[0] == 40


@cuda.jit
def select(values, out):
    i = cuda.grid(1)
    if i < values.size:
        out[i] = cuda.selp(values[i] > 0, values[i], -values[i])


def check_select():
    values = np.arange(-40, 40, dtype=np.float32)
    out = cuda.device_array(80, np.float32)
    select[2, 64](cuda.to_device(values), out)
    np.testing.assert_array_equal(out.copy_to_host(), np.abs(values))


@cuda.jit
def julia(out):
    x, y = cuda.grid(2)
    if x < out.shape[0] and y < out.shape[1]:
        real, imaginary = x / 32.0 - 1.5, y / 32.0 - 1.0
        steps = 0
        while real * real + imaginary * imaginary < 4.0 and steps < 50:
            real, imaginary = real * real - imaginary * imaginary - 0.75, 2.0 * real * imaginary + 0.125
            steps += 1
        out[x, y] = steps


def check_fractal():
    out = cuda.device_array((96, 64), np.int32)
    julia[(6, 4), (16, 16)](out)
    z = np.add.outer(np.arange(96) / 32.0 - 1.5, 1j * (np.arange(64) / 32.0 - 1.0))
    expected = np.zeros(z.shape, np.int32)
    for _ in range(50):
        inside = np.abs(z) < 2
        z[inside] = z[inside] ** 2 - 0.75 + 0.125j
        expected += inside
    # A point whose orbit touches the circle may be counted once more or less, by the rounding of a fused multiply-add.
    assert np.count_nonzero(out.copy_to_host() != expected) <= 20


@cuda.jit
def fences(values, out):
    i = cuda.grid(1)
    out[i] = values[i]
    cuda.threadfence_block()
    cuda.threadfence()
    cuda.threadfence_system()
    cuda.nanosleep(10)


def check_fences():
    out = cuda.device_array(64, np.int64)
    fences[2, 32](cuda.to_device(np.arange(64)), out)
    np.testing.assert_array_equal(out.copy_to_host(), np.arange(64))


@cuda.jit(debug=True, opt=False)
def unoptimised(values, out):
    i = cuda.grid(1)
    if i < values.size:
        if values[i] < 0:
            raise ValueError("negative")
        out[i] = values[i] * 2


def check_unoptimised_code_with_exceptions():
    out = cuda.device_array(64, np.int64)
    unoptimised[2, 32](cuda.to_device(np.arange(64)), out)
    np.testing.assert_array_equal(out.copy_to_host(), 2 * np.arange(64))
    try:
        unoptimised[2, 32](cuda.to_device(-np.arange(64)), out)
        cuda.synchronize()
    except ValueError as error:
        assert "negative" in str(error)
    else:
        raise AssertionError("no exception reached the host")


@cuda.jit
def meet(first, second):
    i = cuda.grid(1)
    first[i] = i * 2
    cuda.cg.this_grid().sync()  # numba links NVIDIA's libcudadevrt.a for it
    second[i] = first[(i + 37) % first.size] + 1


def check_a_grid_that_meets():
    first, second = (cuda.to_device(np.zeros(256, np.int32)) for _ in range(2))
    meet[4, 64](first, second)
    np.testing.assert_array_equal(second.copy_to_host(), 2 * ((np.arange(256) + 37) % 256) + 1)
