"""Kernels that do wrong: the right error, a diagnostic that names the thread, and a process that lives."""

import ctypes
import subprocess
import sys

import pytest

from native import kernels
from native.by_hand import CudaError

pytestmark = pytest.mark.native

ILLEGAL_ADDRESS, ASSERT, MISALIGNED_ADDRESS, LAUNCH_FAILED, CONTEXT_IS_DESTROYED = 700, 710, 716, 719, 709


def start(driver, handmade, kernel, *arguments, grid=1, block=32):
    module = driver.out("cuModuleLoadData", handmade.module(kernel))
    function = driver.out("cuModuleGetFunction", module, kernel.name.encode())
    driver.launch(function, grid, block, list(arguments))


@pytest.mark.parametrize(
    "address", [0, 16, 1 << 40, 0xDEAD_0000_0000_0000], ids=["null", "low", "unmapped", "impossible"]
)
def test_a_wild_store_is_an_illegal_address_that_sticks(driver, context, handmade, address, capfd):
    start(driver, handmade, kernels.STORES, ctypes.c_uint64(address))
    assert driver.code("cuCtxSynchronize") == ILLEGAL_ADDRESS
    assert driver.code("cuMemAlloc_v2", ctypes.byref(ctypes.c_uint64()), 64) == ILLEGAL_ADDRESS
    assert driver.code("cuStreamSynchronize", 0) == ILLEGAL_ADDRESS
    assert "kernel stores, block (0,0,0), thread (0,0,0): illegal memory access" in capfd.readouterr().err


def test_the_diagnostic_names_the_thread_that_ran_over_the_end(driver, context, handmade, capfd):
    size = 64 << 10  # allocations of that size are followed by a page that nothing may touch
    address = driver.out("cuMemAlloc_v2", size)
    inside = size // 4
    start(driver, handmade, kernels.STORES, ctypes.c_uint64(address), grid=inside // 64 + 1, block=64)
    assert driver.code("cuCtxSynchronize") == ILLEGAL_ADDRESS
    said = capfd.readouterr().err
    assert f"block ({inside // 64},0,0), thread (0,0,0): illegal memory access at {address + size:#x}" in said


def test_the_lane_whose_address_it_was_is_named(driver, context, handmade, capfd):
    """The address of thread 20 is the first behind the allocation; its neighbours' lie in the same cache line."""
    size = 128 << 10
    address = driver.out("cuMemAlloc_v2", size)
    start(driver, handmade, kernels.STORES_WARP, ctypes.c_uint64(address + size - 4 * 20))
    assert driver.code("cuCtxSynchronize") == ILLEGAL_ADDRESS
    assert f"thread (20,0,0): illegal memory access at {address + size:#x}" in capfd.readouterr().err


def test_a_misaligned_vector_access_is_told_apart(driver, context, handmade, capfd):
    address = driver.out("cuMemAlloc_v2", 256)
    start(driver, handmade, kernels.MISALIGNED, ctypes.c_uint64(address + 4))
    assert driver.code("cuCtxSynchronize") == MISALIGNED_ADDRESS
    assert (
        "kernel misaligned, block (0,0,0), in the warp of thread (0,0,0): misaligned address" in capfd.readouterr().err
    )


def test_another_context_goes_on_after_a_fault(driver, context, handmade):
    start(driver, handmade, kernels.STORES, ctypes.c_uint64(0))
    assert driver.code("cuCtxSynchronize") == ILLEGAL_ADDRESS
    fresh = driver.out("cuCtxCreate_v2", 0, 0)
    try:
        address = driver.out("cuMemAlloc_v2", 4 * 32)
        start(driver, handmade, kernels.STORES, ctypes.c_uint64(address))
        got = (ctypes.c_uint32 * 32)()
        driver.cuMemcpyDtoH_v2(got, address, 4 * 32)
        assert list(got) == list(range(32))
    finally:
        driver.cuCtxDestroy_v2(fresh)


def test_resetting_the_primary_context_clears_the_error(driver, handmade):
    driver.cuCtxSetCurrent(driver.out("cuDevicePrimaryCtxRetain", 0))
    start(driver, handmade, kernels.STORES, ctypes.c_uint64(8))
    assert driver.code("cuCtxSynchronize") == ILLEGAL_ADDRESS
    driver.cuDevicePrimaryCtxReset_v2(0)
    assert driver.code("cuCtxSynchronize") == CONTEXT_IS_DESTROYED
    driver.cuCtxSetCurrent(driver.out("cuDevicePrimaryCtxRetain", 0))
    driver.cuCtxSynchronize()
    driver.cuCtxSetCurrent(0)
    driver.cuDevicePrimaryCtxRelease_v2(0)
    driver.cuDevicePrimaryCtxRelease_v2(0)
    assert driver.code("cuDevicePrimaryCtxRelease_v2", 0) == 201


@pytest.mark.parametrize(
    ("kernel", "code", "words"),
    [
        (kernels.TRAPS, LAUNCH_FAILED, "kernel traps, block (0,0,0), thread (5,0,0): trap"),
        (kernels.DEADLOCKS, LAUNCH_FAILED, "wait at barrier 3 that the others never reach"),
        (kernels.ASSERTS, ASSERT, "file.cu:42: asserts: block: [0,0,0], Assertion `i < n` failed."),
    ],
    ids=["trap", "deadlock", "assert"],
)
def test_what_a_kernel_reports_becomes_an_error(driver, context, handmade, kernel, code, words, capfd):
    start(driver, handmade, kernel)
    assert driver.code("cuCtxSynchronize") == code
    assert words in capfd.readouterr().err


def test_an_arithmetic_fault_is_a_launch_failure(driver, context, handmade):
    address = driver.out("cuMemAlloc_v2", 64)
    start(driver, handmade, kernels.DIVIDES, ctypes.c_uint64(address))
    assert driver.code("cuCtxSynchronize") == LAUNCH_FAILED


def test_work_behind_a_fault_is_not_done(driver, context, handmade):
    address = driver.out("cuMemAlloc_v2", 64)
    driver.cuMemsetD8_v2(address, 1, 64)
    start(driver, handmade, kernels.STORES, ctypes.c_uint64(0))
    try:
        driver.cuMemsetD8Async(address, 2, 64, 0)
    except CudaError as error:
        assert error.code == ILLEGAL_ADDRESS
    driver.code("cuCtxSynchronize")
    assert ctypes.string_at(address, 64) == b"\1" * 64


def test_a_fault_of_the_program_itself_still_ends_it(handmade):
    """Our handler passes on what is not a kernel's: the program dies by the signal, as without us."""
    program = (
        "import ctypes, sys; sys.path.insert(0, sys.argv[1])\n"
        "from native.by_hand import Driver\n"
        "d = Driver(); d.cuInit(0); d.out('cuCtxCreate_v2', 0, 0)\n"
        "import os; from pathlib import Path\n"
        "from native.by_hand import Handmade; from native import kernels\n"
        "h = Handmade(Path(os.environ['ANYWARP_CACHE_DIR']))\n"
        "m = d.out('cuModuleLoadData', h.module(kernels.STORES)); f = d.out('cuModuleGetFunction', m, b'stores')\n"
        "d.launch(f, 1, 32, [ctypes.c_uint64(d.out('cuMemAlloc_v2', 256))]); d.cuCtxSynchronize()\n"
        "ctypes.string_at(16)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, "tests"], capture_output=True, timeout=60)
    assert done.returncode == -11, done.stderr
