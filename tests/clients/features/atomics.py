"""Atomic operations: every kind that numba offers, in global and shared memory, with the old values they return."""

import numpy as np
from numba import cuda, float32, int32

COUNT, SLOTS = 1000, 7
WIDE = (np.int32, np.uint32, np.int64, np.uint64)
FLOATS = (np.float32, np.float64)


def draw(dtype, low, high):
    rng = np.random.default_rng(11)
    return rng.integers(low, high, COUNT).astype(dtype), rng.integers(0, SLOTS, COUNT).astype(np.int32)


def fold(ufunc, start, values, slots):
    expected = start.copy()
    ufunc.at(expected, slots, values)
    return expected


def run(kernel, start, values, slots):
    out = cuda.to_device(start)
    kernel[9, 128](cuda.to_device(values), cuda.to_device(slots), out)
    return out.copy_to_host()


@cuda.jit
def add(values, slots, out):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(out, slots[i], values[i])


@cuda.jit
def sub(values, slots, out):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.sub(out, slots[i], values[i])


@cuda.jit
def largest(values, slots, out):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.max(out, slots[i], values[i])


@cuda.jit
def smallest(values, slots, out):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.min(out, slots[i], values[i])


def check_kind(kernel, ufunc, dtypes, low, high, start=0):
    for dtype in dtypes:
        values, slots = draw(dtype, low, high)
        first = np.full(SLOTS, start, dtype)
        np.testing.assert_array_equal(
            run(kernel, first, values, slots), fold(ufunc, first, values, slots), err_msg=str(dtype)
        )


def check_add_integers():
    check_kind(add, np.add, WIDE, 0, 1000)


def check_add_floats():
    # Small integers as floating point, so that the sum is exact in any order.
    check_kind(add, np.add, FLOATS, -100, 100)


def check_sub():
    check_kind(sub, np.subtract, (*WIDE, *FLOATS), 0, 100)


def check_max():
    check_kind(largest, np.maximum, (*WIDE, *FLOATS), 0, 10**6)


def check_max_negative():
    check_kind(largest, np.maximum, (np.int32, np.int64, *FLOATS), -(10**6), -1, -(10**7))


def check_min():
    check_kind(smallest, np.minimum, (*WIDE, *FLOATS), 0, 10**6, 10**6)


def check_min_negative():
    check_kind(smallest, np.minimum, (np.int32, np.int64, *FLOATS), -(10**6), 10**6, 5)


@cuda.jit
def nan_extremes(values, out):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.nanmax(out, 0, values[i])
        cuda.atomic.nanmin(out, 1, values[i])


def check_nan_extremes():
    for dtype in FLOATS:
        values, _ = draw(dtype, -1000, 1000)
        values[::13] = np.nan
        out = cuda.to_device(np.array([-2000, 2000], dtype))
        nan_extremes[9, 128](cuda.to_device(values), out)
        np.testing.assert_array_equal(out.copy_to_host(), [np.nanmax(values), np.nanmin(values)])


@cuda.jit
def bitwise(values, out):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.and_(out, 0, values[i])
        cuda.atomic.or_(out, 1, values[i])
        cuda.atomic.xor(out, 2, values[i])


def check_bitwise():
    for dtype in WIDE:
        values, _ = draw(dtype, 2**20, 2**30)
        out = cuda.to_device(np.array([2**30 - 1, 0, 5], dtype))
        bitwise[9, 128](cuda.to_device(values), out)
        expected = [
            np.bitwise_and.reduce(values),
            np.bitwise_or.reduce(values),
            np.bitwise_xor.reduce(values) ^ dtype(5),
        ]
        np.testing.assert_array_equal(out.copy_to_host(), np.array(expected, dtype))


@cuda.jit
def tickets(counter, taken, limit):
    taken[cuda.grid(1)] = cuda.atomic.inc(counter, 0, limit)


@cuda.jit
def countdown(counter, taken, limit):
    taken[cuda.grid(1)] = cuda.atomic.dec(counter, 0, limit)


def check_inc_and_dec():
    for dtype in (np.uint32, np.uint64):
        for kernel in (tickets, countdown):
            counter, taken = cuda.to_device(np.zeros(1, dtype)), cuda.device_array(1000, dtype)
            kernel[10, 100](counter, taken, dtype(9))
            # Both walk through 0..9 and around, so that each of the ten values is returned a hundred times.
            np.testing.assert_array_equal(np.bincount(taken.copy_to_host().astype(np.int64)), np.full(10, 100))
            assert counter.copy_to_host()[0] == 0


@cuda.jit
def old_values(counter, taken):
    taken[cuda.grid(1)] = cuda.atomic.add(counter, 0, 1)


def check_returned_values():
    for dtype in (np.int32, np.int64, np.float32, np.float64):
        counter, taken = cuda.to_device(np.zeros(1, dtype)), cuda.device_array(1280, dtype)
        old_values[10, 128](counter, taken)
        np.testing.assert_array_equal(np.sort(taken.copy_to_host()), np.arange(1280).astype(dtype))


@cuda.jit
def exchange(cell, taken):
    i = cuda.grid(1)
    taken[i] = cuda.atomic.exch(cell, 0, i + 1)


def check_exchange():
    for dtype in WIDE:
        cell, taken = cuda.to_device(np.zeros(1, dtype)), cuda.device_array(256, dtype)
        exchange[4, 64](cell, taken)
        # Every number is written once and read once, except the one that stays.
        seen = np.sort(np.append(taken.copy_to_host(), cell.copy_to_host()))
        np.testing.assert_array_equal(seen, np.arange(257))


@cuda.jit
def claim(cells, winners):
    i = cuda.grid(1)
    slot = i % cells.size
    if cuda.atomic.cas(cells, slot, 0, i + 1) == 0:
        cuda.atomic.add(winners, slot, 1)


def check_compare_and_swap():
    for dtype in WIDE:
        cells, winners = cuda.to_device(np.zeros(SLOTS, dtype)), cuda.to_device(np.zeros(SLOTS, np.int32))
        claim[8, 64](cells, winners)
        held = cells.copy_to_host().astype(np.int64)
        np.testing.assert_array_equal(winners.copy_to_host(), np.ones(SLOTS))
        np.testing.assert_array_equal((held - 1) % SLOTS, np.arange(SLOTS))


@cuda.jit
def cas_loop_add(values, out):
    i = cuda.grid(1)
    if i < values.size:
        old = out[0]
        while True:
            seen = cuda.atomic.cas(out, 0, old, old + values[i])
            if seen == old:
                break
            old = seen


def check_loop_of_compare_and_swap():
    values = np.arange(1, 301, dtype=np.int32)
    out = cuda.to_device(np.zeros(1, np.int32))
    cas_loop_add[3, 128](cuda.to_device(values), out)
    assert out.copy_to_host()[0] == values.sum()


@cuda.jit
def shared_kinds(values, out):
    cells = cuda.shared.array(6, dtype=int32)
    sums = cuda.shared.array(1, dtype=float32)
    thread = cuda.threadIdx.x
    if thread < 6:
        cells[thread] = 1 << 30 if thread == 3 else (-1 if thread == 4 else 0)
    if thread == 6:
        sums[0] = 0.0
    cuda.syncthreads()
    value = values[cuda.grid(1)]
    cuda.atomic.add(cells, 0, value)
    cuda.atomic.max(cells, 1, value)
    cuda.atomic.or_(cells, 2, value)
    cuda.atomic.min(cells, 3, value)
    cuda.atomic.and_(cells, 4, value)
    cuda.atomic.xor(cells, 5, value)
    cuda.atomic.add(sums, 0, float32(value))
    cuda.syncthreads()
    if thread < 6:
        out[cuda.blockIdx.x, thread] = cells[thread]
    if thread == 6:
        out[cuda.blockIdx.x, 6] = int32(sums[0])


def check_shared_memory():
    values = np.random.default_rng(12).integers(1, 10000, (5, 200)).astype(np.int32)
    out = cuda.device_array((5, 7), np.int32)
    shared_kinds[5, 200](cuda.to_device(values.reshape(-1)), out)
    rows = [
        [
            r.sum(),
            r.max(),
            np.bitwise_or.reduce(r),
            r.min(),
            np.bitwise_and.reduce(r),
            np.bitwise_xor.reduce(r),
            r.sum(),
        ]
        for r in values
    ]
    np.testing.assert_array_equal(out.copy_to_host(), rows)


@cuda.jit
def two_dimensional(out):
    cuda.atomic.add(out, (cuda.threadIdx.x % 3, cuda.threadIdx.y % 2), 1)


def check_tuple_index():
    out = cuda.to_device(np.zeros((3, 2), np.int32))
    two_dimensional[2, (9, 8)](out)
    np.testing.assert_array_equal(out.copy_to_host(), np.full((3, 2), 24))
