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


DEFINES = b""".version 8.0
.target sm_80
.address_size 64
.visible .func (.param .b32 r) seven() { st.param.b32 [r], 7; ret; }
"""
CALLS = b""".version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) seven();
.visible .entry caller() { .param .b32 got; call.uni (got), seven; ret; }
"""


def linked(*fatbins):
    return b"AWLINKED" + b"".join(len(each).to_bytes(8, "little") + each for each in fatbins)


@pytest.mark.native
def test_objects_are_linked_where_the_linked_image_has_machine_code_only():
    image = linked(fatbin((2, 75, bytes(64))), fatbin((1, 75, CALLS)), fatbin((2, 75, bytes(64)), (1, 75, DEFINES)))
    module = open_image(image, "x")
    assert module.entries == ("caller",) and module.function("seven") is not None


def test_ptx_of_the_linked_image_goes_first():
    assert open_image(linked(fatbin((1, 80, PTX)), fatbin((2, 75, bytes(64)))), "x").entries == ("add",)


@pytest.mark.parametrize(
    "image", [b"AWLINKED" + (99).to_bytes(8, "little"), linked(), linked(fatbin((2, 75, bytes(64))))]
)
def test_a_damaged_linked_image_is_refused(image):
    with pytest.raises(AnywarpError):
        open_image(image, "x")


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
