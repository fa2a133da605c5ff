"""State spaces and layouts: shared (static and dynamic), local, constant, pinned, managed, strided and structured."""

import numpy as np
from numba import cuda, float32, float64, int16, int32

TABLE = np.arange(60, dtype=np.float32).reshape(12, 5) ** 1.5
WEIGHTS = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int64)
TILE, PADDED = 16, 17


@cuda.jit
def reverse(values, out):
    block = cuda.shared.array(64, dtype=int32)
    thread = cuda.threadIdx.x
    block[thread] = values[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = block[63 - thread]


def check_static_shared():
    values = np.arange(256, dtype=np.int32) * 3
    out = cuda.device_array(256, np.int32)
    reverse[4, 64](cuda.to_device(values), out)
    np.testing.assert_array_equal(out.copy_to_host(), values.reshape(4, 64)[:, ::-1].reshape(-1))


@cuda.jit
def transpose(a, out):
    tile = cuda.shared.array((TILE, PADDED), dtype=float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * TILE + y, cuda.blockIdx.x * TILE + x
    if row < a.shape[0] and column < a.shape[1]:
        tile[y, x] = a[row, column]
    cuda.syncthreads()
    row, column = cuda.blockIdx.x * TILE + y, cuda.blockIdx.y * TILE + x
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[x, y]


def check_transpose_in_shared_tiles():
    a = np.random.default_rng(13).standard_normal((50, 37)).astype(np.float32)
    out = cuda.device_array((37, 50), np.float32)
    transpose[(3, 4), (TILE, TILE)](cuda.to_device(a), out)
    np.testing.assert_array_equal(out.copy_to_host(), a.T)


@cuda.jit
def turn_block(out):
    block = cuda.shared.array((4, 8, 4), dtype=float32)
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    block[x, y, z] = x * 100 + y * 10 + z
    cuda.syncthreads()
    out[x, y, z] = block[3 - x, 7 - y, 3 - z]


def check_three_dimensional_shared():
    out = cuda.device_array((4, 8, 4), np.float32)
    turn_block[1, (4, 8, 4)](out)
    x, y, z = np.indices((4, 8, 4))
    np.testing.assert_array_equal(out.copy_to_host(), (3 - x) * 100 + (7 - y) * 10 + 3 - z)


@cuda.jit
def dynamic(values, out):
    block = cuda.shared.array(0, dtype=float32)
    thread = cuda.threadIdx.x
    block[thread] = values[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = block[(thread + 1) % cuda.blockDim.x] * 2


def check_dynamic_shared():
    for threads in (32, 100, 1024):
        values = np.arange(3 * threads, dtype=np.float32)
        out = cuda.device_array(3 * threads, np.float32)
        dynamic[3, threads, 0, threads * 4](cuda.to_device(values), out)
        np.testing.assert_array_equal(out.copy_to_host(), np.roll(values.reshape(3, -1), -1, 1).reshape(-1) * 2)


@cuda.jit
def two_views(out):
    numbers = cuda.shared.array(0, dtype=int32)[:64]
    halves = cuda.shared.array(0, dtype=int16)[128:192]
    thread = cuda.threadIdx.x
    numbers[thread] = thread * 1000
    halves[thread] = -thread
    cuda.syncthreads()
    out[thread] = numbers[63 - thread] + halves[(thread + 5) % 64]


def check_two_views_of_dynamic_shared():
    out = cuda.device_array(64, np.int32)
    two_views[1, 64, 0, 64 * 4 + 64 * 2](out)
    thread = np.arange(64)
    np.testing.assert_array_equal(out.copy_to_host(), (63 - thread) * 1000 - (thread + 5) % 64)


@cuda.jit
def local_history(out, steps):
    i = cuda.grid(1)
    history = cuda.local.array(16, dtype=float64)
    history[0] = i
    for step in range(1, steps):
        history[step] = history[step - 1] * 0.5 + step
    acc = 0.0
    for step in range(steps):
        acc += history[(i + step) % steps]
    out[i] = acc


def check_local_array():
    out = cuda.device_array(100, np.float64)
    local_history[2, 50](out, 16)
    history = [np.arange(100.0)]
    for step in range(1, 16):
        history.append(history[-1] * 0.5 + step)
    np.testing.assert_allclose(out.copy_to_host(), np.sum(history, 0), rtol=1e-12)


@cuda.jit
def look_up(rows, columns, out, weights):
    table = cuda.const.array_like(TABLE)
    numbers = cuda.const.array_like(WEIGHTS)
    i = cuda.grid(1)
    if i < out.size:
        out[i] = table[rows[i], columns[i]]
        weights[i] = numbers[i % 8]


def check_constant_array():
    rng = np.random.default_rng(14)
    rows, columns = rng.integers(0, 12, 90).astype(np.int32), rng.integers(0, 5, 90).astype(np.int32)
    out, weights = cuda.device_array(90, np.float32), cuda.device_array(90, np.int64)
    look_up[3, 32](cuda.to_device(rows), cuda.to_device(columns), out, weights)
    np.testing.assert_array_equal(out.copy_to_host(), TABLE[rows, columns])
    np.testing.assert_array_equal(weights.copy_to_host(), WEIGHTS[np.arange(90) % 8])


@cuda.jit
def double_plus_one(values, out):
    i = cuda.grid(1)
    if i < values.size:
        out[i] = values[i] + values[i] + values.dtype.type(1)


@cuda.jit
def negate_flags(flags, out):
    i = cuda.grid(1)
    if i < flags.size:
        out[i] = not flags[i]


def check_every_integer_and_float_type():
    for dtype in (
        np.int8,
        np.int16,
        np.int32,
        np.int64,
        np.uint8,
        np.uint16,
        np.uint32,
        np.uint64,
        np.float32,
        np.float64,
    ):
        values = np.arange(50).astype(dtype)
        out = cuda.device_array(50, dtype)
        double_plus_one[2, 32](cuda.to_device(values), out)
        np.testing.assert_array_equal(out.copy_to_host(), values * dtype(2) + dtype(1), err_msg=str(dtype))


def check_boolean_arrays():
    flags = np.arange(40) % 3 == 0
    out = cuda.device_array(40, np.bool_)
    negate_flags[1, 64](cuda.to_device(flags), out)
    np.testing.assert_array_equal(out.copy_to_host(), ~flags)


@cuda.jit
def rotate(values, out):
    i = cuda.grid(1)
    if i < values.size:
        out[i] = values[i] * (0.0 + 1.0j) + values[i].conjugate()


def check_complex_numbers():
    rng = np.random.default_rng(15)
    for dtype, error in ((np.complex64, 1e-6), (np.complex128, 1e-14)):
        values = (rng.standard_normal(70) + 1j * rng.standard_normal(70)).astype(dtype)
        out = cuda.device_array(70, dtype)
        rotate[2, 40](cuda.to_device(values), out)
        np.testing.assert_allclose(out.copy_to_host(), values * 1j + values.conj(), rtol=error, atol=error)


POINT = np.dtype([("x", np.float32), ("y", np.float64), ("tag", np.int16)], align=True)


@cuda.jit
def move_points(points, out):
    i = cuda.grid(1)
    if i < points.size:
        out[i].x = points[i].x + 1
        out[i].y = points[i].y * points[i].x
        out[i].tag = -points[i].tag


def check_records():
    points = np.zeros(33, POINT)
    points["x"], points["y"], points["tag"] = np.arange(33), np.arange(33) * 0.25, np.arange(33) * 7
    out = cuda.to_device(np.zeros(33, POINT))
    move_points[2, 32](cuda.to_device(points), out)
    got = out.copy_to_host()
    np.testing.assert_array_equal(got["x"], points["x"] + 1)
    np.testing.assert_array_equal(got["y"], points["y"] * points["x"])
    np.testing.assert_array_equal(got["tag"], -points["tag"])


@cuda.jit
def add_slices(a, b, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[i, j] + b[i, j]


def check_strided_views():
    base = np.arange(400, dtype=np.float32).reshape(20, 20)
    device = cuda.to_device(base)
    out = cuda.device_array((5, 10), np.float32)
    add_slices[(1, 2), (8, 8)](device[10:15, 10:], device.T[2:12:2, :10], out)
    np.testing.assert_array_equal(out.copy_to_host(), base[10:15, 10:] + base.T[2:12:2, :10])


def check_fortran_order():
    a = np.asfortranarray(np.arange(24, dtype=np.float32).reshape(4, 6))
    out = cuda.device_array((4, 6), np.float32)
    add_slices[(1, 1), (8, 8)](cuda.to_device(a), cuda.to_device(np.ascontiguousarray(a)), out)
    np.testing.assert_array_equal(out.copy_to_host(), 2 * a)


def check_empty_arrays():
    out = cuda.device_array(0, np.float32)
    double_plus_one[1, 32](cuda.to_device(np.zeros(0, np.float32)), out)
    assert out.copy_to_host().shape == (0,)


def check_host_arrays_are_copied_back():
    values, out = np.arange(40, dtype=np.float32), np.zeros(40, np.float32)
    double_plus_one[2, 32](values, out)
    np.testing.assert_array_equal(out, values * 2 + 1)


def check_pinned_and_mapped_memory():
    pinned = cuda.pinned_array(64, np.float32)
    pinned[:] = np.arange(64)
    out = cuda.mapped_array(64, np.float32)
    double_plus_one[2, 32](cuda.to_device(pinned), out)
    cuda.synchronize()
    np.testing.assert_array_equal(out, np.arange(64) * 2 + 1)


def check_managed_memory():
    values = cuda.managed_array(64, np.float32)
    values[:] = np.arange(64)
    double_plus_one[2, 32](values, values)
    cuda.synchronize()
    np.testing.assert_array_equal(values, np.arange(64) * 2 + 1)


def check_device_slices_and_copies():
    device = cuda.to_device(np.zeros(30, np.int32))
    device[10:20].copy_to_device(np.arange(10, dtype=np.int32))
    device[25:] = 9
    counterpart = cuda.device_array_like(device)
    counterpart.copy_to_device(device)
    expected = np.zeros(30, np.int32)
    expected[10:20], expected[25:] = np.arange(10), 9
    np.testing.assert_array_equal(counterpart.copy_to_host(), expected)
    assert counterpart[27] == 9
    np.testing.assert_array_equal(counterpart.reshape(5, 6).copy_to_host(), expected.reshape(5, 6))


@cuda.jit
def stamp_all(values):
    i = cuda.grid(1)
    if i < values.size:
        values[i] = i


def check_large_array():
    values = cuda.device_array(3_000_001, np.int32)
    stamp_all[-(-3_000_001 // 256), 256](values)
    np.testing.assert_array_equal(values.copy_to_host(), np.arange(3_000_001))


def check_memory_info():
    context = cuda.current_context()
    info = context.get_memory_info()
    assert 0 < info.free <= info.total
