"""Copies with attributes, alone and in batches: boxes of bytes arrive whole, and sources that end with the call are read in it."""

import ctypes
import time

import numpy as np
import pytest

pytestmark = pytest.mark.native

INVALID_VALUE = 1
STREAM, DURING_CALL, ANY = 1, 2, 3
POINTER = 1
NON_BLOCKING = 1
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class Attributes(ctypes.Structure):
    _fields_ = [("order", ctypes.c_int), ("source", Location), ("target", Location), ("flags", ctypes.c_uint)]


class Operand(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("address", ctypes.c_uint64), ("row", ctypes.c_size_t), ("layer", ctypes.c_size_t),
                ("hint", Location)]  # fmt: skip


class Box(ctypes.Structure):
    _fields_ = [("source", Operand), ("target", Operand), ("width", ctypes.c_size_t), ("height", ctypes.c_size_t),
                ("depth", ctypes.c_size_t), ("order", ctypes.c_int), ("flags", ctypes.c_uint)]  # fmt: skip


@pytest.fixture
def stream(driver, context):
    made = driver.out("cuStreamCreate", NON_BLOCKING)
    yield made
    driver.cuStreamDestroy_v2(made)


@pytest.fixture
def held(driver, stream):
    """Hold the stream up for 50 ms, so that what comes next cannot have happened when its call returns at once."""

    @HOST_FUNCTION
    def wait(_):
        time.sleep(0.05)

    driver.cuLaunchHostFunc(stream, wait, None)
    yield
    driver.cuStreamSynchronize(stream)


def read(driver, address, shape):
    out = np.zeros(shape, np.uint8)
    driver.cuMemcpyDtoH_v2(out.ctypes.data, address, out.nbytes)
    return out


@pytest.mark.parametrize("order", [STREAM, DURING_CALL, ANY])
def test_bytes_are_copied_in_every_order(driver, stream, order):
    data, address = np.arange(1000, dtype=np.uint8), driver.out("cuMemAlloc_v2", 1000)
    attributes = Attributes(order)
    driver.cuMemcpyWithAttributesAsync(address, data.ctypes.data, 1000, ctypes.byref(attributes), stream)
    driver.cuStreamSynchronize(stream)
    np.testing.assert_array_equal(read(driver, address, 1000), data)
    driver.cuMemFree_v2(address)


def test_a_source_that_ends_with_the_call_is_read_in_it(driver, stream, held):
    """Pinned memory is otherwise read when the stream comes to it."""
    source, address = ctypes.c_void_p(), driver.out("cuMemAlloc_v2", 4096)
    driver.cuMemAllocHost_v2(ctypes.byref(source), 4096)
    ctypes.memset(source, 1, 4096)
    driver.cuMemcpyWithAttributesAsync(address, source, 4096, ctypes.byref(Attributes(DURING_CALL)), stream)
    ctypes.memset(source, 2, 4096)
    driver.cuStreamSynchronize(stream)
    assert set(read(driver, address, 4096).tolist()) == {1}
    driver.cuMemFreeHost(source)
    driver.cuMemFree_v2(address)


def test_orders_and_flags_that_do_not_exist_are_refused(driver, stream):
    address, data = driver.out("cuMemAlloc_v2", 64), ctypes.create_string_buffer(64)

    def code(order, flags=0):
        attributes = Attributes(order, Location(), Location(), flags)
        return driver.code("cuMemcpyWithAttributesAsync", address, data, 64, ctypes.byref(attributes), stream)

    assert [code(0), code(4), code(STREAM, 2)] == [INVALID_VALUE] * 3
    assert code(STREAM, 1) == 0
    assert driver.code("cuMemcpyWithAttributesAsync", address, data, 64, None, stream) == INVALID_VALUE
    assert driver.code("cuMemcpyWithAttributesAsync", address, data, 65, ctypes.byref(Attributes(STREAM)), stream) == 1
    driver.cuStreamSynchronize(stream)
    driver.cuMemFree_v2(address)


def box(source, target, shape, source_lengths=(0, 0), target_lengths=(0, 0), order=STREAM):
    depth, height, width = shape
    return Box(
        Operand(POINTER, source, *source_lengths),
        Operand(POINTER, target, *target_lengths),
        width,
        height,
        depth,
        order,
    )


def issue(driver, how, op, stream):
    if how == "one":
        return driver.code("cuMemcpy3DWithAttributesAsync", ctypes.byref(op), 0, stream)
    if how == "batch":
        return driver.code("cuMemcpy3DBatchAsync", 1, ctypes.byref(op), None, 0, stream)
    return driver.code("cuMemcpy3DBatchAsync_v2", 1, ctypes.byref(op), 0, stream)


@pytest.mark.parametrize("how", ["one", "batch", "batch_v2"])
@pytest.mark.parametrize(("rows", "layers"), [(0, 0), (16, 0), (0, 5), (16, 5)])
def test_boxes_are_taken_out_of_larger_ones(driver, stream, how, rows, layers):
    """A length of 0 stands for rows or layers without gaps."""
    shape = depth, height, width = 2, 3, 10
    held = np.random.default_rng(1).integers(0, 256, (depth, layers or height, rows or width), np.uint8)
    target = driver.out("cuMemAlloc_v2", depth * height * width)
    op = box(held.ctypes.data, target, shape, (rows, layers))
    assert issue(driver, how, op, stream) == 0
    driver.cuStreamSynchronize(stream)
    np.testing.assert_array_equal(read(driver, target, shape), held[:, :height, :width])
    driver.cuMemFree_v2(target)


def test_a_batch_does_all_of_its_copies_or_none(driver, stream):
    data, target = np.arange(64, dtype=np.uint8) + 1, driver.out("cuMemAlloc_v2", 64)
    driver.cuMemsetD8_v2(target, 0, 64)
    good = box(data.ctypes.data, target, (1, 1, 32))
    other = box(data.ctypes.data + 32, target + 32, (2, 2, 8))
    bad = box(data.ctypes.data, target, (1, 1, 65))
    ops = (Box * 2)(good, bad)
    assert driver.code("cuMemcpy3DBatchAsync_v2", 2, ops, 0, stream) == INVALID_VALUE
    driver.cuStreamSynchronize(stream)
    assert not read(driver, target, 64).any()
    ops = (Box * 2)(good, other)
    driver.cuMemcpy3DBatchAsync_v2(2, ops, 0, stream)
    driver.cuStreamSynchronize(stream)
    np.testing.assert_array_equal(read(driver, target, 64), data)
    driver.cuMemFree_v2(target)


def test_boxes_that_contradict_themselves_are_refused(driver, stream):
    memory = driver.out("cuMemAlloc_v2", 1024)

    def code(op, flags=0):
        return driver.code("cuMemcpy3DWithAttributesAsync", ctypes.byref(op), flags, stream)

    half = memory + 512
    assert code(box(memory, half, (1, 1, 0))) == INVALID_VALUE
    assert code(box(memory, half, (1, 2, 8), (7, 0))) == INVALID_VALUE
    assert code(box(memory, half, (2, 2, 8), (8, 1))) == INVALID_VALUE
    assert code(box(memory, half, (1, 1, 8), order=0)) == INVALID_VALUE
    assert code(box(memory, half, (1, 1, 8)), 1) == INVALID_VALUE
    assert code(Box(Operand(3, memory), Operand(POINTER, half), 1, 1, 1, STREAM)) == INVALID_VALUE
    op = box(memory, half, (1, 1, 8))
    assert driver.code("cuMemcpy3DBatchAsync_v2", 1, ctypes.byref(op), 0, 0) == INVALID_VALUE  # no legacy stream
    assert code(op) == 0
    driver.cuStreamSynchronize(stream)
    driver.cuMemFree_v2(memory)


class ArrayShape(ctypes.Structure):
    _fields_ = [("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("depth", ctypes.c_size_t), ("format", ctypes.c_int),
                ("channels", ctypes.c_uint), ("flags", ctypes.c_uint)]  # fmt: skip


class ArrayOperand(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("array", ctypes.c_void_p), ("x", ctypes.c_size_t), ("y", ctypes.c_size_t),
                ("z", ctypes.c_size_t)]  # fmt: skip


def test_arrays_are_reached_in_elements_of_theirs(driver, stream):
    """Two words per element: a box goes into the middle of an array and comes out again."""
    array_type, words = 2, 0x03  # CU_MEMCPY_OPERAND_TYPE_ARRAY, CU_AD_FORMAT_UNSIGNED_INT32
    array = driver.out("cuArray3DCreate_v2", ctypes.byref(ArrayShape(8, 6, 4, words, 2)))
    data = np.arange(3 * 2 * 4 * 2, dtype=np.uint32).reshape(2, 3, 4, 2)
    whole = driver.out("cuMemAlloc_v2", 8 * 6 * 4 * 8)
    inside, outside = ArrayOperand(array_type, array, 3, 2, 1), ArrayOperand(array_type, array, 0, 0, 0)

    def operand(kind):
        return Operand.from_buffer_copy(bytes(kind))

    clear = Box(Operand(POINTER, whole), operand(outside), 8, 6, 4, STREAM)
    driver.cuMemsetD8_v2(whole, 0, 8 * 6 * 4 * 8)
    put = Box(Operand(POINTER, data.ctypes.data), operand(inside), 4, 3, 2, DURING_CALL)
    fetch = Box(operand(outside), Operand(POINTER, whole), 8, 6, 4, STREAM)
    for op in (clear, put, fetch):
        driver.cuMemcpy3DWithAttributesAsync(ctypes.byref(op), 0, stream)
    driver.cuStreamSynchronize(stream)
    expected = np.zeros((4, 6, 8, 2), np.uint32)
    expected[1:3, 2:5, 3:7] = data
    np.testing.assert_array_equal(read(driver, whole, 8 * 6 * 4 * 8).view(np.uint32).reshape(expected.shape), expected)
    beyond = Box(Operand(POINTER, whole), operand(inside), 6, 3, 2, STREAM)
    assert driver.code("cuMemcpy3DWithAttributesAsync", ctypes.byref(beyond), 0, stream) == INVALID_VALUE
    driver.cuArrayDestroy(array)
    driver.cuMemFree_v2(whole)
