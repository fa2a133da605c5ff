"""Memory: allocation, what may be freed, copies and sets of every shape, pools, host memory, virtual memory, attributes."""

import ctypes
import os
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.native

INVALID_VALUE, OUT_OF_MEMORY, NOT_FOUND = 1, 2, 500
ALREADY_REGISTERED, NOT_REGISTERED = 712, 713
HOST, DEVICE, UNIFIED = 1, 2, 4


class Copy2D(ctypes.Structure):
    _fields_ = [
        ("srcX", ctypes.c_size_t), ("srcY", ctypes.c_size_t), ("srcType", ctypes.c_int), ("srcHost", ctypes.c_void_p),
        ("srcDevice", ctypes.c_uint64), ("srcArray", ctypes.c_void_p), ("srcPitch", ctypes.c_size_t),
        ("dstX", ctypes.c_size_t), ("dstY", ctypes.c_size_t), ("dstType", ctypes.c_int), ("dstHost", ctypes.c_void_p),
        ("dstDevice", ctypes.c_uint64), ("dstArray", ctypes.c_void_p), ("dstPitch", ctypes.c_size_t),
        ("width", ctypes.c_size_t), ("height", ctypes.c_size_t),
    ]  # fmt: skip


def _side(prefix):
    return [
        (prefix + "X", ctypes.c_size_t), (prefix + "Y", ctypes.c_size_t), (prefix + "Z", ctypes.c_size_t),
        (prefix + "LOD", ctypes.c_size_t), (prefix + "Type", ctypes.c_int), (prefix + "Host", ctypes.c_void_p),
        (prefix + "Device", ctypes.c_uint64), (prefix + "Array", ctypes.c_void_p), (prefix + "Reserved", ctypes.c_void_p),
        (prefix + "Pitch", ctypes.c_size_t), (prefix + "Height", ctypes.c_size_t),
    ]  # fmt: skip


class Copy3D(ctypes.Structure):
    _fields_ = [
        *_side("src"),
        *_side("dst"),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("depth", ctypes.c_size_t),
    ]


def fill(driver, address, array):
    driver.cuMemcpyHtoD_v2(address, array.ctypes.data, array.nbytes)


def fetch(driver, address, shape, kind):
    out = np.zeros(shape, kind)
    driver.cuMemcpyDtoH_v2(out.ctypes.data, address, out.nbytes)
    return out


@pytest.mark.parametrize("size", [2 << 20, (2 << 20) + 1, 5 << 20, 64 << 20])
def test_large_allocations_begin_at_a_huge_page(driver, context, size):
    found = [driver.out("cuMemAlloc_v2", size) for _ in range(3)]
    assert all(address % (2 << 20) == 0 for address in found)
    assert len(set(found)) == 3
    for address in found:
        driver.cuMemFree_v2(address)


@pytest.mark.parametrize("size", [1, 255, 4096, 65535, 65536, 1 << 24])
def test_allocations_are_aligned_and_keep_what_is_written(driver, context, size):
    address = driver.out("cuMemAlloc_v2", size)
    assert address % 256 == 0
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    fill(driver, address, data)
    np.testing.assert_array_equal(fetch(driver, address, size, np.uint8), data)
    driver.cuMemFree_v2(address)


def test_impossible_allocations_fail_cleanly(driver, context):
    out = ctypes.byref(ctypes.c_uint64())
    assert driver.code("cuMemAlloc_v2", out, 0) == INVALID_VALUE
    assert driver.code("cuMemAlloc_v2", out, 1 << 60) == OUT_OF_MEMORY
    assert driver.code("cuMemAlloc_v2", out, 2**64 - 1) == OUT_OF_MEMORY
    assert driver.code("cuMemAlloc_v2", None, 16) == INVALID_VALUE


def test_only_what_was_allocated_can_be_freed_and_only_once(driver, context):
    address = driver.out("cuMemAlloc_v2", 1024)
    assert driver.code("cuMemFree_v2", address + 256) == INVALID_VALUE
    assert driver.code("cuMemFree_v2", 0x1234_5600) == INVALID_VALUE
    driver.cuMemFree_v2(address)
    assert driver.code("cuMemFree_v2", address) == INVALID_VALUE
    driver.cuMemFree_v2(0)


def test_memory_in_use_is_accounted_for(driver, context):
    def available():
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        driver.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
        assert 0 < free.value <= total.value
        return free.value, total.value

    size = 64 << 20
    _, total = available()
    address = driver.out("cuMemAlloc_v2", size)
    driver.cuMemsetD8_v2(address, 1, size)
    assert available()[0] <= total - size
    assert total == driver.out("cuDeviceTotalMem_v2", 0, kind=ctypes.c_size_t)
    driver.cuMemFree_v2(address)


def test_copies_outside_of_an_allocation_are_refused(driver, context):
    address, host = driver.out("cuMemAlloc_v2", 64), ctypes.create_string_buffer(128)
    assert driver.code("cuMemcpyHtoD_v2", address, host, 65) == INVALID_VALUE
    assert driver.code("cuMemcpyDtoH_v2", host, address + 32, 33) == INVALID_VALUE
    assert driver.code("cuMemsetD8_v2", address, 0, 65) == INVALID_VALUE
    assert driver.code("cuMemcpyHtoD_v2", 0, host, 1) == INVALID_VALUE
    driver.cuMemcpyHtoD_v2(0, None, 0)


@pytest.mark.parametrize(("name", "kind"), [("D8", np.uint8), ("D16", np.uint16), ("D32", np.uint32)])
def test_memory_is_set_in_one_and_two_dimensions(driver, context, name, kind):
    size = np.dtype(kind).itemsize
    address = driver.out("cuMemAlloc_v2", 64 * 8)
    value = 0x12345678 & ((1 << 8 * size) - 1)
    driver.cuMemsetD8_v2(address, 0xEE, 64 * 8)
    getattr(driver, f"cuMemset{name}_v2")(address + 8, value, 5)
    expected = np.full(64 * 8, 0xEE, np.uint8)
    expected[8 : 8 + 5 * size] = np.full(5, value, kind).view(np.uint8)
    np.testing.assert_array_equal(fetch(driver, address, 64 * 8, np.uint8), expected)
    getattr(driver, f"cuMemsetD2{name}_v2")(address, 64, value, 3, 8)
    rows = fetch(driver, address, (8, 64), np.uint8)
    np.testing.assert_array_equal(rows[:, : 3 * size].copy().view(kind), value)
    if size > 1:
        assert driver.code(f"cuMemset{name}_v2", address + 1, value, 1) == INVALID_VALUE


def test_a_rectangle_is_copied_between_pitched_memories(driver, context):
    source = np.arange(10 * 20, dtype=np.uint8).reshape(10, 20)
    address, pitch = ctypes.c_uint64(), ctypes.c_size_t()
    driver.cuMemAllocPitch_v2(ctypes.byref(address), ctypes.byref(pitch), 20, 10, 4)
    assert pitch.value % 512 == 0
    up = Copy2D(srcType=HOST, srcHost=source.ctypes.data, srcPitch=20, srcX=2, srcY=3, dstType=DEVICE,
                dstDevice=address.value, dstPitch=pitch.value, dstX=1, dstY=1, width=7, height=4)  # fmt: skip
    driver.cuMemcpy2D_v2(ctypes.byref(up))
    back = np.zeros((4, 7), np.uint8)
    down = Copy2D(srcType=UNIFIED, srcDevice=address.value, srcPitch=pitch.value, srcX=1, srcY=1, dstType=HOST,
                  dstHost=back.ctypes.data, width=7, height=4)  # fmt: skip
    driver.cuMemcpy2DUnaligned_v2(ctypes.byref(down))
    np.testing.assert_array_equal(back, source[3:7, 2:9])
    up.height = 1 << 30
    assert driver.code("cuMemcpy2D_v2", ctypes.byref(up)) == INVALID_VALUE
    up.height, up.dstPitch = 4, 3
    assert driver.code("cuMemcpy2D_v2", ctypes.byref(up)) == INVALID_VALUE


def test_a_box_is_copied(driver, context):
    source = np.arange(4 * 5 * 6, dtype=np.int32).reshape(4, 5, 6)
    address = driver.out("cuMemAlloc_v2", source.nbytes)
    fill(driver, address, source)
    back = np.zeros((2, 3, 2), np.int32)
    box = Copy3D(srcType=DEVICE, srcDevice=address, srcPitch=24, srcHeight=5, srcX=4 * 3, srcY=1, srcZ=2, dstType=HOST,
                 dstHost=back.ctypes.data, dstPitch=8, dstHeight=3, width=8, height=3, depth=2)  # fmt: skip
    driver.cuMemcpy3D_v2(ctypes.byref(box))
    np.testing.assert_array_equal(back, source[2:4, 1:4, 3:5])
    box.srcType = 3  # an array, and none is given
    assert driver.code("cuMemcpy3D_v2", ctypes.byref(box)) == 400


def test_host_memory_is_mapped_and_registered(driver, context):
    pinned = driver.out("cuMemHostAlloc", 4096, 2)
    assert driver.out("cuMemHostGetDevicePointer_v2", pinned, 0) == pinned
    assert driver.out("cuMemHostGetFlags", pinned, kind=ctypes.c_uint) & 2
    own = ctypes.create_string_buffer(8192)
    at = ctypes.addressof(own)
    driver.cuMemHostRegister_v2(at, 8192, 0)
    assert driver.code("cuMemHostRegister_v2", at, 4096, 0) == ALREADY_REGISTERED
    driver.cuMemHostUnregister(at)
    assert driver.code("cuMemHostUnregister", at) == NOT_REGISTERED
    driver.cuMemFreeHost(pinned)
    assert driver.code("cuMemFreeHost", pinned) == INVALID_VALUE


def attribute(driver, number, address, kind):
    value = kind()
    driver.cuPointerGetAttribute(ctypes.byref(value), number, address)
    return value.value


def test_pointers_tell_what_they_are(driver, context):
    address, managed = driver.out("cuMemAlloc_v2", 1000), driver.out("cuMemAllocManaged", 1000, 1)
    assert attribute(driver, 2, address + 10, ctypes.c_uint) == 2
    assert attribute(driver, 1, address, ctypes.c_uint64) == context
    assert attribute(driver, 11, address + 999, ctypes.c_uint64) == address
    assert attribute(driver, 12, address, ctypes.c_uint64) == 1000
    assert attribute(driver, 8, address, ctypes.c_uint) == 0
    assert attribute(driver, 8, managed, ctypes.c_uint) == 1
    assert attribute(driver, 2, driver.out("cuMemAllocHost_v2", 64), ctypes.c_uint) == 1
    assert driver.code("cuPointerGetAttribute", ctypes.byref(ctypes.c_uint()), 2, address + 1000) == INVALID_VALUE
    base, size = ctypes.c_uint64(), ctypes.c_size_t()
    driver.cuMemGetAddressRange_v2(ctypes.byref(base), ctypes.byref(size), address + 500)
    assert (base.value, size.value) == (address, 1000)
    assert driver.code("cuMemGetAddressRange_v2", None, None, 4096) == NOT_FOUND


def test_attributes_of_unknown_memory_are_empty(driver, context):
    kind, device = ctypes.c_uint(9), ctypes.c_int(9)
    outs = (ctypes.c_void_p * 2)(ctypes.addressof(kind), ctypes.addressof(device))
    driver.cuPointerGetAttributes(2, (ctypes.c_int * 2)(2, 9), outs, ctypes.addressof(kind))
    assert (kind.value, device.value) == (0, -2)


def test_stream_ordered_memory_counts_in_its_pool(driver, context):
    pool = driver.out("cuDeviceGetDefaultMemPool", 0)
    used = lambda: driver_number(driver, pool, 7)  # noqa: E731
    before = used()
    address = driver.out("cuMemAllocAsync", 4096, 0)
    driver.cuMemsetD8Async(address, 3, 4096, 0)
    assert used() == before + 4096
    driver.cuMemFreeAsync(address, 0)
    assert driver.code("cuMemFreeAsync", address, 0) == INVALID_VALUE
    driver.cuStreamSynchronize(0)
    assert used() == before
    assert driver.code("cuMemFree_v2", address) == INVALID_VALUE


def driver_number(driver, pool, attribute):
    value = ctypes.c_uint64()
    driver.cuMemPoolGetAttribute(pool, attribute, ctypes.byref(value))
    return value.value


class PoolProps(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("handles", ctypes.c_int), ("place", ctypes.c_int), ("id", ctypes.c_int),
                ("security", ctypes.c_void_p), ("most", ctypes.c_size_t), ("rest", ctypes.c_uint8 * 56)]  # fmt: skip


def test_a_pool_with_a_limit_keeps_to_it(driver, context):
    pool = driver.out("cuMemPoolCreate", ctypes.byref(PoolProps(kind=1, place=1, most=10_000)))
    address = driver.out("cuMemAllocFromPoolAsync", 8000, pool, 0)
    assert driver.code("cuMemAllocFromPoolAsync", ctypes.byref(ctypes.c_uint64()), 8000, pool, 0) == OUT_OF_MEMORY
    driver.cuMemFreeAsync(address, 0)
    driver.cuMemPoolDestroy(pool)
    assert driver.code("cuMemPoolDestroy", pool) == INVALID_VALUE


RESERVED, RESERVED_MOST, USED, USED_MOST = 5, 6, 7, 8
MEGABYTE = 1 << 20


@pytest.fixture
def pool(driver, context):
    made = driver.out("cuMemPoolCreate", ctypes.byref(PoolProps(kind=1, place=1)))
    yield made
    driver.cuMemPoolDestroy(made)


@pytest.mark.parametrize("by", ["stream", "event", "context"])
def test_memory_beyond_the_threshold_goes_back_when_the_program_synchronizes(driver, pool, by):
    """cuda.h on CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: released "on the next call to stream, event or context synchronize"."""
    event = driver.out("cuEventCreate", 0)
    first, second = (driver.out("cuMemAllocFromPoolAsync", size * MEGABYTE, pool, 0) for size in (3, 5))

    def numbers():
        return [driver_number(driver, pool, name) // MEGABYTE for name in (RESERVED, RESERVED_MOST, USED, USED_MOST)]

    assert numbers() == [8, 8, 8, 8]
    for address in (first, second):
        driver.cuMemFreeAsync(address, 0)
    driver.cuEventRecord(event, 0)
    while driver.code("cuEventQuery", event):
        pass
    assert numbers() == [8, 8, 0, 8], "asking whether it is done is not waiting for it"
    again = driver.out("cuMemAllocFromPoolAsync", 5 * MEGABYTE, pool, 0)
    assert again == second and numbers() == [8, 8, 5, 8]
    synchronize = {
        "stream": ("cuStreamSynchronize", 0),
        "event": ("cuEventSynchronize", event),
        "context": ("cuCtxSynchronize",),
    }[by]
    getattr(driver, synchronize[0])(*synchronize[1:])
    assert numbers() == [5, 8, 5, 8]
    driver.cuMemFreeAsync(again, 0)
    getattr(driver, synchronize[0])(*synchronize[1:])
    assert numbers() == [0, 8, 0, 8]
    driver.cuEventDestroy_v2(event)


def test_a_pool_keeps_what_its_threshold_allows(driver, pool):
    driver.cuMemPoolSetAttribute(pool, 4, ctypes.byref(ctypes.c_uint64(6 * MEGABYTE)))
    addresses = [driver.out("cuMemAllocFromPoolAsync", size * MEGABYTE, pool, 0) for size in (4, 3, 2)]
    for address in addresses:
        driver.cuMemFreeAsync(address, 0)
    driver.cuStreamSynchronize(0)
    assert driver_number(driver, pool, RESERVED) == 5 * MEGABYTE, "the oldest went"
    driver.cuMemPoolSetAttribute(pool, 4, ctypes.byref(ctypes.c_uint64(0)))
    driver.cuStreamSynchronize(0)
    assert driver_number(driver, pool, RESERVED) == 0


def test_a_program_that_never_synchronizes_does_not_grow(driver, pool):
    for size in range(16, 64):
        driver.cuMemFreeAsync(driver.out("cuMemAllocFromPoolAsync", size * MEGABYTE, pool, 0), 0)
    assert driver_number(driver, pool, RESERVED) <= 2 * 64 * MEGABYTE


def test_what_a_pool_keeps_is_in_nobodys_way(driver, context):
    pool = driver.out("cuMemPoolCreate", ctypes.byref(PoolProps(kind=1, place=1, most=10 * MEGABYTE)))
    driver.cuMemFreeAsync(driver.out("cuMemAllocFromPoolAsync", 8 * MEGABYTE, pool, 0), 0)
    address = driver.out("cuMemAllocFromPoolAsync", 4 * MEGABYTE, pool, 0)
    assert driver_number(driver, pool, RESERVED) == 4 * MEGABYTE, "within the limit"
    driver.cuMemPoolDestroy(pool)
    # What is allocated lives on; the memory of an end is not kept for a pool that nobody can ask.
    driver.cuMemsetD8_v2(address, 7, 4 * MEGABYTE)
    assert is_mapped(address)
    driver.cuMemFreeAsync(address, 0)
    assert not is_mapped(address)


def is_mapped(address):
    ranges = (line.split(maxsplit=1)[0].split("-") for line in Path("/proc/self/maps").read_text().splitlines())
    return any(int(first, 16) <= address < int(end, 16) for first, end in ranges)


def rights_at(address):
    for line in Path("/proc/self/maps").read_text().splitlines():
        places, rights = line.split()[:2]
        first, end = (int(place, 16) for place in places.split("-"))
        if first <= address < end:
            return rights
    return ""


def test_what_grows_step_by_step_is_served_from_somewhat_larger_freed_blocks(driver, pool):
    """No more than a quarter larger; nothing touches the page behind what was asked for, and a freed block is whole again."""
    kilobyte = 1024
    block = driver.out("cuMemAllocFromPoolAsync", 1000 * kilobyte, pool, 0)
    for size, reused in ((1000, True), (900, True), (800, True), (796, False), (1001, False), (63, False)):
        driver.cuMemFreeAsync(block, 0)
        address = driver.out("cuMemAllocFromPoolAsync", size * kilobyte, pool, 0)
        assert (address == block) == reused, size
        end = address + (size * kilobyte + 4095) // 4096 * 4096
        assert not rights_at(end).startswith("rw") or size < 64, size
        assert driver_number(driver, pool, RESERVED) >= size * kilobyte
        driver.cuMemsetD8_v2(address, 5, size * kilobyte)
        driver.cuMemFreeAsync(address, 0)
        block = driver.out("cuMemAllocFromPoolAsync", 1000 * kilobyte, pool, 0)
        driver.cuMemsetD8_v2(block, 6, 1000 * kilobyte)
        assert ctypes.string_at(block, 1000 * kilobyte) == bytes([6]) * (1000 * kilobyte)
    driver.cuMemFreeAsync(block, 0)
    driver.cuStreamSynchronize(0)
    assert driver_number(driver, pool, RESERVED) == 0


def test_memory_that_pools_keep_is_there_for_other_allocations(driver, pool):
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    driver.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
    most = total.value // 8 * 5
    driver.cuMemFreeAsync(driver.out("cuMemAllocFromPoolAsync", most, pool, 0), 0)
    assert driver_number(driver, pool, RESERVED) >= most
    driver.cuMemFree_v2(driver.out("cuMemAlloc_v2", most))
    assert driver_number(driver, pool, RESERVED) == 0


class Properties(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("handles", ctypes.c_int), ("place", ctypes.c_int), ("id", ctypes.c_int),
                ("security", ctypes.c_void_p), ("flags", ctypes.c_uint8 * 8)]  # fmt: skip


class Access(ctypes.Structure):
    _fields_ = [("place", ctypes.c_int), ("id", ctypes.c_int), ("flags", ctypes.c_int)]


def test_virtual_memory_is_reserved_mapped_and_seen_twice(driver, context):
    wish = ctypes.byref(Properties(kind=1, handles=1, place=1))
    step = driver.out("cuMemGetAllocationGranularity", wish, 0, kind=ctypes.c_size_t)
    space = driver.out("cuMemAddressReserve", 2 * step, 0, 0, 0)
    physical = driver.out("cuMemCreate", step, wish, 0, kind=ctypes.c_uint64)
    everything = ctypes.byref(Access(place=1, flags=3))
    assert driver.code("cuMemSetAccess", space, step, everything, 1) == INVALID_VALUE
    driver.cuMemMap(space, step, 0, physical, 0)
    assert driver.code("cuMemMap", space, step, 0, physical, 0) == INVALID_VALUE
    driver.cuMemMap(space + step, step, 0, physical, 0)
    driver.cuMemSetAccess(space, 2 * step, everything, 1)
    driver.cuMemsetD32_v2(space, 77, 16)
    assert fetch(driver, space + step, 16, np.uint32).tolist() == [77] * 16
    driver.cuMemsetD32_v2(space + step - 4, 88, 1)
    assert fetch(driver, space + step - 4, 2, np.uint32).tolist() == [88, 77]  # a copy spans both mappings
    beyond = np.zeros(step // 4 + 2, np.uint32)
    assert driver.code("cuMemcpyDtoH_v2", beyond.ctypes.data, space + step, beyond.nbytes) == INVALID_VALUE
    shared = driver.out("cuMemExportToShareableHandle", physical, 1, 0, kind=ctypes.c_int)
    again = driver.out("cuMemImportFromShareableHandle", shared, 1, kind=ctypes.c_uint64)
    os.close(shared)
    driver.cuMemRelease(again)
    driver.cuMemRelease(physical)
    assert driver.code("cuMemAddressFree", space, 2 * step) == INVALID_VALUE  # still mapped
    driver.cuMemUnmap(space, 2 * step)
    driver.cuMemAddressFree(space, 2 * step)
    assert driver.code("cuMemRelease", physical) == INVALID_VALUE


def test_memory_that_the_system_may_take_counts_and_holds_again_when_it_is_allocated(driver, pool):
    for byte in (1, 2, 3):
        address = driver.out("cuMemAllocFromPoolAsync", 3 * MEGABYTE, pool, 0)
        assert driver_number(driver, pool, RESERVED) == 3 * MEGABYTE
        driver.cuMemsetD8_v2(address, byte, 3 * MEGABYTE)
        assert ctypes.string_at(address, 3 * MEGABYTE) == bytes([byte]) * (3 * MEGABYTE)
        driver.cuMemFreeAsync(address, 0)
        driver.cuStreamSynchronize(0)
        assert driver_number(driver, pool, RESERVED) == 0
    driver.cuMemPoolTrimTo(pool, 0)
    assert not is_mapped(address), "trimming gives back what rests, too"
