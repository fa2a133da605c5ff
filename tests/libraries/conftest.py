"""NVIDIA's libraries on the processor, in this process, as the build made them."""

import ctypes

import pytest

from anywarp import settings
from libraries.loading import Library


@pytest.fixture(scope="session")
def library(private_places):
    """`library(STEM, FILE)`: one of the libraries, loaded once."""
    loaded = {}

    def load(stem, file, major=13):
        if not (settings.LIBRARY_DIR.get() / file).exists():
            pytest.skip(f"{file} is not built")
        if file not in loaded:
            loaded[file] = Library(stem, file, major)
        return loaded[file]

    return load


@pytest.fixture(autouse=True, scope="module")
def no_context_left():
    """A library makes the primary context current where there is none, and keeps it: other tests of this process begin without."""
    yield
    path = settings.LIBRARY_DIR.get() / "libcuda.so.1"
    if not path.exists():
        return
    cuda, flags, active = ctypes.CDLL(str(path)), ctypes.c_uint(), ctypes.c_int(1)
    cuda.cuCtxSetCurrent(None)
    while cuda.cuDevicePrimaryCtxGetState(0, ctypes.byref(flags), ctypes.byref(active)) == 0 and active.value:
        if cuda.cuDevicePrimaryCtxRelease_v2(0):
            break
