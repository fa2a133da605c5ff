"""Images to modules, and problems to CUDA errors (values of CUresult from the driver API manual)."""

import pytest

from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.runtime.modules import cuda_code, open_image
from fakes.images import fatbin, ptx

PTX = ptx("add()")


@pytest.mark.parametrize("image", [PTX, PTX + b"\0", fatbin((1, 80, PTX)), fatbin((2, 90, bytes(64)), (1, 80, PTX))])
def test_text_and_fat_binaries_open_alike(image):
    assert open_image(image, "x").entries == ("add",)


def test_the_highest_architecture_is_taken():
    image = fatbin((1, 70, PTX.replace(b" add", b" old")), (1, 90, PTX.replace(b" add", b" new")), (1, 80, PTX))
    assert open_image(image, "x").entries == ("new",)


def test_machine_code_alone_is_no_binary_for_this_device():
    with pytest.raises(AnywarpError) as caught:
        open_image(fatbin((2, 90, bytes(64)), (2, 80, bytes(64))), "x")
    assert caught.value.diagnostic.code == "R010" and cuda_code(caught.value.diagnostic) == 209
    assert "sm_80, sm_90" in caught.value.diagnostic.message


@pytest.mark.parametrize(
    ("code", "cuda"),
    [
        ("P001", 218),  # CUDA_ERROR_INVALID_PTX
        ("P010", 500),  # CUDA_ERROR_NOT_FOUND
        ("P022", 200),  # CUDA_ERROR_INVALID_IMAGE
        ("C102", 218),
        ("C002", 218),
        ("C012", 2),  # CUDA_ERROR_OUT_OF_MEMORY
        ("C015", 1),  # CUDA_ERROR_INVALID_VALUE
        ("C016", 999),  # CUDA_ERROR_UNKNOWN
        ("C101", 801),  # CUDA_ERROR_NOT_SUPPORTED
        ("D001", 209),
        ("R007", 999),
    ],
)
def test_each_kind_of_problem_has_its_cuda_error(code, cuda):
    assert cuda_code(Diagnostic(code, "x")) == cuda


def test_a_problem_may_state_its_own():
    assert cuda_code(Diagnostic("C101", "x", details={"cuda": 222})) == 222
