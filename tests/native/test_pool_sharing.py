"""Memory pools shared between processes by file descriptors: what one writes the other reads; strange data is refused."""

import ctypes
import os
import textwrap

import numpy as np
import pytest

from native.test_ipc import Other, read, write

pytestmark = pytest.mark.native

INVALID_VALUE, INVALID_HANDLE = 1, 400
FILE_DESCRIPTOR = 1


class Properties(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("handles", ctypes.c_int), ("place", ctypes.c_int), ("device", ctypes.c_int),
                ("security", ctypes.c_void_p), ("limit", ctypes.c_size_t), ("usage", ctypes.c_ushort),
                ("reserved", ctypes.c_ubyte * 54)]  # fmt: skip


class PointerData(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 64)]


IMPORT = """
import os
class PointerData(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 64)]
process, number, words = sys.stdin.readline().split()
file, data = os.open(f"/proc/{process}/fd/{number}", os.O_RDWR), bytes.fromhex(words)
pool = ctypes.c_uint64()
driver.cuMemPoolImportFromShareableHandle(ctypes.byref(pool), file, 1, 0)
os.close(file)
def open_data(raw):
    out = ctypes.c_uint64()
    raw = PointerData.from_buffer_copy(raw)
    return driver.code("cuMemPoolImportPointer", ctypes.byref(out), pool.value, ctypes.byref(raw)), out.value
"""


@pytest.fixture
def pool(driver, context):
    properties = Properties(1, FILE_DESCRIPTOR, 1, 0)
    made = driver.out("cuMemPoolCreate", ctypes.byref(properties))
    yield made
    driver.cuMemPoolDestroy(made)


def file_of(driver, pool):
    out = ctypes.c_int(-1)
    driver.cuMemPoolExportToShareableHandle(ctypes.byref(out), pool, FILE_DESCRIPTOR, 0)
    return out.value


def data_of(driver, address):
    data = PointerData()
    driver.cuMemPoolExportPointer(ctypes.byref(data), address)
    return bytes(data.bytes)


class Importer(Other):
    """A second process that has imported a pool and knows of one allocation in it."""

    def __init__(self, driver, pool, address, body):
        super().__init__(IMPORT + textwrap.dedent(body))
        file = file_of(driver, pool)
        self.tell(f"{os.getpid()} {file} {data_of(driver, address).hex()}")
        self.first = self.hear()
        os.close(file)


@pytest.mark.parametrize("size", [1, 5000, 1 << 20])
def test_two_processes_see_what_the_other_writes(driver, pool, size):
    neighbour = driver.out("cuMemAllocFromPoolAsync", size, pool, 0)
    address = driver.out("cuMemAllocFromPoolAsync", size, pool, 0)
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    write(driver, neighbour, np.full(size, 9, np.uint8))
    write(driver, address, data)
    body = f"""
    code, address = open_data(data)
    tell(code, fetch(address, {size}).hex())
    driver.cuMemsetD8_v2(address, 0x5A, {size})
    driver.cuMemFreeAsync(address, 0)
    driver.cuStreamSynchronize(0)
    tell("anywarp-pool" in open("/proc/self/maps").read())
    """
    with Importer(driver, pool, address, body) as other:
        assert other.first == ["0", data.tobytes().hex()]
        assert other.hear() == ["False"]  # what was freed there is mapped no more
        other.end()
    np.testing.assert_array_equal(read(driver, address, size), np.full(size, 0x5A, np.uint8))
    np.testing.assert_array_equal(read(driver, neighbour, size), np.full(size, 9, np.uint8))
    driver.cuMemFree_v2(address)
    driver.cuMemFree_v2(neighbour)


def test_memory_of_shared_pools_is_reused_and_counted(driver, context, pool):
    first = driver.out("cuMemAllocFromPoolAsync", 1 << 20, pool, 0)
    driver.cuMemsetD8_v2(first, 1, 1 << 20)
    file = file_of(driver, pool)
    driver.cuMemFree_v2(first)
    assert os.fstat(file).st_blocks == 0  # given back to the system
    second = driver.out("cuMemAllocFromPoolAsync", 1 << 20, pool, 0)
    assert os.fstat(file).st_size == 1 << 20
    driver.cuMemFreeAsync(second, 0)
    driver.cuStreamSynchronize(0)
    os.close(file)


def test_imported_pools_do_not_allocate_and_damaged_data_is_refused(driver, pool):
    address = driver.out("cuMemAllocFromPoolAsync", 5000, pool, 0)
    body = """
    out = ctypes.c_uint64()
    tell(driver.code("cuMemAllocFromPoolAsync", ctypes.byref(out), 64, pool.value, 0))
    codes = set()
    for at in range(40):
        code, opened = open_data(data[:at] + bytes([data[at] ^ 0x80]) + data[at + 1:])
        codes.add(code)
        if code == 0:
            driver.cuMemsetD8_v2(opened, 3, 1)
    tell(*sorted(codes))
    tell(driver.code("cuMemPoolExportToShareableHandle", ctypes.byref(out), pool.value, 1, 0))
    """
    with Importer(driver, pool, address, body) as other:
        assert other.first == [str(INVALID_VALUE)]
        # A smaller size is still a part of the file, and no more than its owner let us see.
        assert set(other.hear()) <= {"0", str(INVALID_VALUE)}
        assert other.hear() == [str(INVALID_VALUE)]
        other.end()
    driver.cuMemFree_v2(address)


def test_only_pools_made_for_it_are_shared(driver, context):
    handle_types = driver.out("cuDeviceGetAttribute", 119, 0, kind=ctypes.c_int)  # MEMPOOL_SUPPORTED_HANDLE_TYPES
    assert handle_types == FILE_DESCRIPTOR
    plain, out, data = driver.out("cuDeviceGetDefaultMemPool", 0), ctypes.c_int(), PointerData()
    code = driver.code("cuMemPoolExportToShareableHandle", ctypes.byref(out), plain, FILE_DESCRIPTOR, 0)
    assert code == INVALID_VALUE
    address = driver.out("cuMemAllocAsync", 64, 0)
    assert driver.code("cuMemPoolExportPointer", ctypes.byref(data), address) == INVALID_VALUE
    assert driver.code("cuMemPoolExportPointer", ctypes.byref(data), 12345) == INVALID_VALUE
    driver.cuMemFree_v2(address)


def test_files_that_are_no_pool_are_refused(driver, context, tmp_path):
    out = ctypes.c_uint64()
    with (tmp_path / "file").open("w") as file:
        code = driver.code("cuMemPoolImportFromShareableHandle", ctypes.byref(out), file.fileno(), FILE_DESCRIPTOR, 0)
    assert code == INVALID_HANDLE
    assert (
        driver.code("cuMemPoolImportFromShareableHandle", ctypes.byref(out), 99999, FILE_DESCRIPTOR, 0) == INVALID_VALUE
    )
