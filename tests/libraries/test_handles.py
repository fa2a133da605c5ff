"""What all libraries do alike: every symbol is there, and what is not implemented says so by name."""

import pytest

from anywarp.catalogue.generate_library import REPLACED, functions_of
from anywarp.catalogue.rocm import load

pytestmark = pytest.mark.native

VARIANTS = [(stem, variant) for stem, replaced in REPLACED.items() for variant in replaced.variants]


@pytest.mark.parametrize(("stem", "variant"), VARIANTS, ids=lambda value: getattr(value, "soname", value))
def test_every_symbol_is_there(library, stem, variant):
    made = library(stem, variant.soname, variant.majors[0])
    missing = [f.name for f in functions_of(load(stem), variant) if not hasattr(made.file, f.name)]
    assert not missing


def test_a_handle_of_cublas_keeps_what_it_is_told(library):
    cublas = library("cublas", "libcublas.so.13")
    handle = cublas.out("cublasCreate_v2")
    cublas("cublasSetPointerMode_v2", handle, 1)
    import ctypes

    mode = ctypes.c_int(7)
    cublas("cublasGetPointerMode_v2", handle, mode)
    assert mode.value == 1
    assert cublas.status("cublasSetPointerMode_v2", handle, 2) == 7  # CUBLAS_STATUS_INVALID_VALUE
    cublas("cublasDestroy_v2", handle)
    assert cublas.status("cublasSetPointerMode_v2", None, 0) == 1  # CUBLAS_STATUS_NOT_INITIALIZED
