"""NVSHMEM on the processor: every name is there under its version, and each is refused by the library's own status."""

import ctypes

import pytest

from anywarp import settings
from anywarp.catalogue import rocm

pytestmark = pytest.mark.native

NOT_SUPPORTED = 3


@pytest.fixture(scope="module")
def nvshmem(library):
    return library("nvshmem", "libnvshmem_host.so.3")


def test_starting_it_is_refused_and_no_process_has_a_place(nvshmem):
    assert nvshmem.file.nvshmemid_hostlib_init_attr(0, None, 0, None) == NOT_SUPPORTED
    assert nvshmem.file.nvshmem_my_pe() == -1
    assert nvshmem.file.nvshmemid_init_status() == 0


def test_there_is_no_symmetric_memory(nvshmem):
    nvshmem.file.nvshmem_malloc.restype = ctypes.c_void_p
    assert nvshmem.file.nvshmem_malloc(ctypes.c_size_t(64)) is None


def test_every_function_has_the_version_of_the_original(nvshmem):
    loader = ctypes.CDLL(None)
    loader.dlvsym.restype = loader.dlopen.restype = ctypes.c_void_p
    place = str(settings.LIBRARY_DIR.get() / "libnvshmem_host.so.3").encode()
    opened = ctypes.c_void_p(loader.dlopen(place, 2))
    names = [each.name for each in rocm.symbols_of("nvshmem") if each.kind == "function"]
    assert len(names) > 1400
    assert [name for name in names if not loader.dlvsym(opened, name.encode(), b"NVSHMEM")] == []


def test_the_object_that_pytorch_links_has_its_version_and_says_that_there_is_no_transport():
    loader = ctypes.CDLL(None)
    loader.dlvsym.restype = loader.dlopen.restype = ctypes.c_void_p
    opened = ctypes.c_void_p(loader.dlopen(str(settings.LIBRARY_DIR.get() / "libnvshmem_host.so.3").encode(), 2))
    (name,) = (each.name for each in rocm.symbols_of("nvshmem") if each.kind == "object")
    place = loader.dlvsym(opened, name.encode(), b"NVSHMEM")
    assert place and ctypes.c_int.from_address(place).value == 0  # NVSHMEMI_DEVICE_TRANSPORT_TYPE_PROXY
