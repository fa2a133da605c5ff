"""Memory shared between processes: what one writes the other reads, handles end with their memory, damaged ones are refused."""

import ctypes
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

from native.by_hand import Driver

pytestmark = pytest.mark.native

INVALID_VALUE, INVALID_CONTEXT, INVALID_HANDLE = 1, 201, 400
LAZY_ENABLE_PEER_ACCESS = 1
SIZES = [1, 300, 4096, 65535, 65536, (5 << 20) + 12]


class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 64)]


OTHER = """
import ctypes, sys
sys.path[:0] = {path!r}
from native.by_hand import Driver
class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 64)]
driver = Driver()
driver.cuInit(0)
context = driver.out("cuCtxCreate_v2", 0, 0)
def read_handle():
    return Handle.from_buffer_copy(bytes.fromhex(sys.stdin.readline().strip()))
def open_code(handle, flags=1):
    out = ctypes.c_uint64()
    return driver.code("cuIpcOpenMemHandle_v2", ctypes.byref(out), handle, flags), out.value
def tell(*words):
    print(*words, flush=True)
def fetch(address, size):
    out = ctypes.create_string_buffer(size)
    driver.cuMemcpyDtoH_v2(out, address, size)
    return out.raw
"""


class Other:
    """A second process with a driver of its own, which runs `body`."""

    def __init__(self, body: str) -> None:
        source = OTHER.format(path=sys.path) + textwrap.dedent(body)
        self.process = subprocess.Popen(
            [sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def tell(self, text: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def hear(self) -> list[str]:
        assert self.process.stdout
        return self.process.stdout.readline().split()

    def end(self) -> None:
        self.process.communicate(timeout=20)
        assert self.process.returncode == 0

    def __enter__(self) -> "Other":
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.communicate()


def handle_of(driver: Driver, address: int) -> Handle:
    handle = Handle()
    driver.cuIpcGetMemHandle(ctypes.byref(handle), address)
    return handle


def words(handle: Handle) -> str:
    return bytes(handle.bytes).hex()


def write(driver: Driver, address: int, data: np.ndarray) -> None:
    driver.cuMemcpyHtoD_v2(address, data.ctypes.data, data.nbytes)


def read(driver: Driver, address: int, size: int) -> np.ndarray:
    out = np.zeros(size, np.uint8)
    driver.cuMemcpyDtoH_v2(out.ctypes.data, address, size)
    return out


@pytest.mark.parametrize("size", SIZES)
def test_two_processes_see_what_the_other_writes(driver, context, size):
    before, after = np.random.default_rng(size).integers(0, 256, (2, size), np.uint8)
    address = driver.out("cuMemAlloc_v2", size)
    write(driver, address, before)
    handle = handle_of(driver, address)
    np.testing.assert_array_equal(read(driver, address, size), before)  # sharing changes nothing
    write(driver, address, after)
    body = f"""
    code, address = open_code(read_handle())
    tell(code, fetch(address, {size}).hex())
    driver.cuMemsetD8_v2(address, 0x5A, {size})
    tell("set")
    driver.cuIpcCloseMemHandle(address)
    """
    with Other(body) as other:
        other.tell(words(handle))
        code, seen = other.hear()
        assert int(code) == 0
        assert bytes.fromhex(seen) == after.tobytes()
        assert other.hear() == ["set"]
        np.testing.assert_array_equal(read(driver, address, size), np.full(size, 0x5A, np.uint8))
        other.end()
    np.testing.assert_array_equal(read(driver, address, size), np.full(size, 0x5A, np.uint8))
    driver.cuMemFree_v2(address)


def test_memory_beside_what_is_shared_stays_private(driver, context):
    addresses = [driver.out("cuMemAlloc_v2", 256) for _ in range(8)]
    for i, address in enumerate(addresses):
        driver.cuMemsetD8_v2(address, i, 256)
    handle_of(driver, addresses[3])
    mapped = [
        line.split()[0].split("-")
        for line in Path("/proc/self/maps").read_text().splitlines()
        if "anywarp-shared" in line
    ]
    shared = [i for i, a in enumerate(addresses) if any(int(lo, 16) <= a < int(hi, 16) for lo, hi in mapped)]
    assert shared == [3]
    for i, address in enumerate(addresses):
        np.testing.assert_array_equal(read(driver, address, 256), np.full(256, i, np.uint8))
        driver.cuMemFree_v2(address)


def test_a_handle_ends_with_the_memory_but_not_for_those_who_have_it_open(driver, context):
    address = driver.out("cuMemAlloc_v2", 1000)
    driver.cuMemsetD8_v2(address, 7, 1000)
    handle = handle_of(driver, address)
    body = """
    handle = read_handle()
    code, address = open_code(handle)
    tell(code)
    sys.stdin.readline()
    tell(fetch(address, 1000) == bytes([7]) * 1000)
    driver.cuIpcCloseMemHandle(address)
    tell(open_code(handle)[0])
    """
    with Other(body) as other:
        other.tell(words(handle))
        assert other.hear() == ["0"]
        driver.cuMemFree_v2(address)
        other.tell("freed")
        assert other.hear() == ["True"]
        assert other.hear() == [str(INVALID_HANDLE)]
        other.end()


def test_a_handle_ends_with_its_process(driver, context):
    body = """
    address = driver.out("cuMemAlloc_v2", 4096)
    handle = Handle()
    driver.cuIpcGetMemHandle(ctypes.byref(handle), address)
    tell(bytes(handle.bytes).hex())
    sys.stdin.readline()
    """
    out = ctypes.c_uint64()
    with Other(body) as other:
        handle = Handle.from_buffer_copy(bytes.fromhex(other.hear()[0]))
        driver.cuIpcOpenMemHandle_v2(ctypes.byref(out), handle, LAZY_ENABLE_PEER_ACCESS)
        driver.cuIpcCloseMemHandle(out.value)
        other.end()
    assert driver.code("cuIpcOpenMemHandle_v2", ctypes.byref(out), handle, LAZY_ENABLE_PEER_ACCESS) == INVALID_HANDLE


def test_opening_again_gives_the_same_pointer_until_closed_as_often(driver, context):
    address = driver.out("cuMemAlloc_v2", 512)
    body = """
    handle = read_handle()
    first, second = open_code(handle), open_code(handle)
    tell(first[0], second[0], first[1] == second[1])
    address = first[1]
    base, size = ctypes.c_uint64(), ctypes.c_size_t()
    driver.cuMemGetAddressRange_v2(ctypes.byref(base), ctypes.byref(size), address + 5)
    tell(base.value == address, size.value)
    tell(driver.code("cuMemFree_v2", address))
    codes = [driver.code("cuIpcCloseMemHandle", address)]
    codes.append(driver.code("cuMemsetD8_v2", address, 1, 512))
    codes += [driver.code("cuIpcCloseMemHandle", address) for _ in range(2)]
    tell(*codes)
    """
    with Other(body) as other:
        other.tell(words(handle_of(driver, address)))
        assert other.hear() == ["0", "0", "True"]
        assert other.hear() == ["True", "512"]
        assert other.hear() == [str(INVALID_VALUE)]  # only cuIpcCloseMemHandle lets go of it
        assert other.hear() == ["0", "0", "0", str(INVALID_VALUE)]
        other.end()
    driver.cuMemFree_v2(address)


def test_contexts_that_end_close_what_they_opened(driver, context):
    address = driver.out("cuMemAlloc_v2", 512)
    body = """
    handle = read_handle()
    tell(open_code(handle)[0], "anywarp-shared" in open("/proc/self/maps").read())
    driver.cuCtxDestroy_v2(context)
    tell("anywarp-shared" in open("/proc/self/maps").read())
    """
    with Other(body) as other:
        other.tell(words(handle_of(driver, address)))
        assert other.hear() == ["0", "True"]
        assert other.hear() == ["False"]
        other.end()
    driver.cuMemFree_v2(address)


def test_the_same_allocation_has_one_handle(driver, context):
    address = driver.out("cuMemAlloc_v2", 100)
    assert words(handle_of(driver, address)) == words(handle_of(driver, address))
    driver.cuMemFree_v2(address)


def test_a_process_cannot_open_its_own_handle(driver, context):
    address, out = driver.out("cuMemAlloc_v2", 100), ctypes.c_uint64()
    handle = handle_of(driver, address)
    assert driver.code("cuIpcOpenMemHandle_v2", ctypes.byref(out), handle, 1) == INVALID_CONTEXT
    driver.cuMemFree_v2(address)


def test_only_device_memory_is_shared(driver, context):
    handle, host = Handle(), ctypes.c_void_p()
    driver.cuMemAllocHost_v2(ctypes.byref(host), 4096)
    managed = driver.out("cuMemAllocManaged", 4096, 1)
    pooled = driver.out("cuMemAllocAsync", 4096, 0)
    freed = driver.out("cuMemAlloc_v2", 4096)
    assert driver.code("cuIpcGetMemHandle", None, freed) == INVALID_VALUE
    driver.cuMemFree_v2(freed)
    for address in (0, 12345, host.value, managed, pooled, freed):
        assert driver.code("cuIpcGetMemHandle", ctypes.byref(handle), address) == INVALID_VALUE
    driver.cuMemFreeHost(host)
    driver.cuMemFree_v2(managed)
    driver.cuMemFree_v2(pooled)


def test_damaged_handles_are_refused_whatever_byte_it_is(driver, context):
    address = driver.out("cuMemAlloc_v2", 100)
    body = """
    good = bytes(read_handle().bytes)
    codes = set()
    for at in range(64):
        for flip in (1, 0x80, 0xFF):
            codes.add(open_code(Handle.from_buffer_copy(good[:at] + bytes([good[at] ^ flip]) + good[at + 1:]))[0])
    codes.add(open_code(Handle())[0])
    tell(*codes)
    handle = Handle.from_buffer_copy(good)
    tell(open_code(handle, 0)[0], driver.code("cuIpcOpenMemHandle_v2", None, handle, 1))
    tell(open_code(handle)[0])
    """
    with Other(body) as other:
        other.tell(words(handle_of(driver, address)))
        assert other.hear() == [str(INVALID_HANDLE)]
        assert other.hear() == [str(INVALID_VALUE)] * 2
        assert other.hear() == ["0"]
        other.end()
    driver.cuMemFree_v2(address)


def test_work_given_before_is_done_before_memory_is_shared(driver, context):
    size = 1 << 20
    address, stream = driver.out("cuMemAlloc_v2", size), driver.out("cuStreamCreate", 1)
    for value in range(20):
        driver.cuMemsetD8Async(address, value, size, stream)
    handle = handle_of(driver, address)
    body = f"""
    code, address = open_code(read_handle())
    tell(set(fetch(address, {size})) == {{19}})
    """
    with Other(body) as other:
        other.tell(words(handle))
        assert other.hear() == ["True"]
        other.end()
    driver.cuStreamDestroy_v2(stream)
    driver.cuMemFree_v2(address)


def test_nothing_is_lost_that_another_thread_does_while_memory_becomes_shared(driver, context):
    """Each round counts up in memory; an increment lost to the exchange of pages would leave an old value."""
    size, lost = 2 << 20, []
    for _ in range(5):
        address, ready = driver.out("cuMemAlloc_v2", size), threading.Event()

        def count(address=address, ready=ready):
            driver.cuCtxSetCurrent(context)
            for value in range(1, 60):
                driver.cuMemsetD8_v2(address, value, size)
                if set(read(driver, address, size).tolist()[:: size // 64]) != {value}:
                    lost.append(value)
                ready.set()

        thread = threading.Thread(target=count)
        thread.start()
        ready.wait(10)
        handle_of(driver, address)
        thread.join(30)
        driver.cuMemFree_v2(address)
    assert lost == []
