"""cuFile on the processor: files read into device memory and written from it, against what Python reads of the same files."""

import ctypes
import os

import numpy as np
import pytest

pytestmark = pytest.mark.native

OPAQUE_FD, USERSPACE = 1, 3
INVALID_FILE_TYPE, POINTER_RANGE, INVALID, KNOWN, UNKNOWN = 5018, 5014, 5022, 5023, 5024
NOT_REGISTERED, HANDLE_KNOWN, NOT_SUPPORTED = 5027, 5028, 5007


class Description(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("fd", ctypes.c_long), ("operations", ctypes.c_void_p)]


class Status(ctypes.Structure):
    _fields_ = [("err", ctypes.c_int), ("cu_err", ctypes.c_int)]


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


@pytest.fixture(scope="module")
def cufile(library):
    found = library("cufile", "libcufile.so.0")
    found("cuFileDriverOpen")
    yield found
    found("cuFileDriverClose_v2")


@pytest.fixture
def device(cufile):
    """Memory of the device, 8192 bytes, by its address."""
    cuda, address = cufile._cuda, ctypes.c_uint64()
    assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(8192)) == 0
    yield address.value
    assert cuda.cuMemFree_v2(address) == 0


@pytest.fixture
def opened(cufile, tmp_path):
    """A file of 10000 random bytes, its descriptor and its handle."""
    path, closing = tmp_path / "data", []
    path.write_bytes(np.random.default_rng(1).bytes(10000))

    def open_it(flags=os.O_RDWR):
        fd = os.open(path, flags)
        handle = cufile.out("cuFileHandleRegister", Description(OPAQUE_FD, fd, None))
        closing.append((handle, fd))
        return path, fd, handle

    yield open_it
    for handle, fd in closing:
        cufile.status("cuFileHandleDeregister", handle)
        os.close(fd)


def bytes_at(address, size):
    return ctypes.string_at(address, size)


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_RDONLY | os.O_DIRECT], ids=["buffered", "direct"])
def test_a_file_is_read_into_device_memory(cufile, device, opened, flags):
    path, _, handle = opened(flags)
    assert cufile.status("cuFileRead", handle, device, 1001, 777, 13) == 1001
    assert bytes_at(device + 13, 1001) == path.read_bytes()[777:1778]


def test_a_read_ends_where_the_file_does(cufile, device, opened):
    path, _, handle = opened()
    assert cufile.status("cuFileRead", handle, device, 8192, 9000, 0) == 1000
    assert bytes_at(device, 1000) == path.read_bytes()[9000:]
    assert cufile.status("cuFileRead", handle, device, 8192, 20000, 0) == 0


@pytest.mark.parametrize("flags", [os.O_RDWR, os.O_RDWR | os.O_DIRECT], ids=["buffered", "direct"])
def test_device_memory_is_written_to_a_file(cufile, device, opened, flags):
    path, _, handle = opened(flags)
    before = path.read_bytes()
    ctypes.memmove(device, bytes(range(200)), 200)
    assert cufile.status("cuFileWrite", handle, device, 150, 5001, 50) == 150
    assert path.read_bytes() == before[:5001] + bytes(range(50, 200)) + before[5151:]


def test_pieces_are_read_and_written_in_their_order(cufile, device, opened):
    path, _, handle = opened()
    pieces = (Piece * 2)(Piece(device, 100), Piece(device + 4096, 50))
    assert cufile.status("cuFileReadv", handle, pieces, 2, 10, 0) == 150
    assert bytes_at(device, 100) + bytes_at(device + 4096, 50) == path.read_bytes()[10:160]
    ctypes.memmove(device, b"a" * 100, 100)
    assert cufile.status("cuFileWritev", handle, pieces, 2, 0, 0) == 150
    assert path.read_bytes()[:100] == b"a" * 100


def test_a_stream_reads_what_its_sizes_say_when_it_gets_there(cufile, device, opened):
    path, _, handle = opened()
    size, at, offset, moved = ctypes.c_size_t(64), ctypes.c_int64(3), ctypes.c_int64(8), ctypes.c_ssize_t(-9)
    cufile("cuFileReadAsync", handle, device, size, at, offset, moved, None)
    assert cufile._cuda.cuCtxSynchronize() == 0
    assert moved.value == 64
    assert bytes_at(device + 8, 64) == path.read_bytes()[3:67]


def test_a_write_to_a_file_that_is_only_read_is_the_systems_error(cufile, device, opened):
    _, _, handle = opened(os.O_RDONLY)
    assert cufile.status("cuFileWrite", handle, device, 10, 0, 0) == -1


def test_no_access_leaves_the_memory_that_was_allocated(cufile, device, opened):
    _, _, handle = opened()
    assert cufile.status("cuFileRead", handle, device, 8192, 0, 1) == -POINTER_RANGE
    assert cufile.status("cuFileRead", handle, device, 16, 0, -1) == -INVALID


def test_handles_and_buffers_are_known_once(cufile, device, opened):
    _, fd, handle = opened()
    again = ctypes.c_void_p()
    assert cufile.status("cuFileHandleRegister", again, Description(OPAQUE_FD, fd, None)) == HANDLE_KNOWN
    cufile("cuFileBufRegister", device, 4096, 0)
    assert cufile.status("cuFileBufRegister", device, 4096, 0) == KNOWN
    cufile("cuFileBufDeregister", device)
    assert cufile.status("cuFileBufDeregister", device) == UNKNOWN
    cufile.status("cuFileHandleDeregister", handle)
    assert cufile.status("cuFileRead", handle, device, 1, 0, 0) == -NOT_REGISTERED


def test_what_is_no_file_is_refused(cufile):
    reading, writing = os.pipe()
    handle = ctypes.c_void_p()
    assert cufile.status("cuFileHandleRegister", handle, Description(OPAQUE_FD, reading, None)) == INVALID_FILE_TYPE
    assert cufile.status("cuFileHandleRegister", handle, Description(OPAQUE_FD, 9999, None)) == INVALID
    os.close(reading), os.close(writing)


def test_the_version_is_that_of_the_package(cufile):
    assert cufile.out("cuFileGetVersion", kind=ctypes.c_int) == 1200


def test_what_is_not_there_returns_two_words(cufile):
    function = cufile.file.cuFileBatchIOSetUp
    function.restype = Status
    said = function(None, 1)
    assert (said.err, said.cu_err) == (NOT_SUPPORTED, 0)
