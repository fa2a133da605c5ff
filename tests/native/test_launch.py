"""Launches: both argument conventions, configurations that CUDA refuses, shared memory, local memory, order."""

import ctypes

import numpy as np
import pytest

from native import kernels

pytestmark = pytest.mark.native

INVALID_VALUE, INVALID_HANDLE, TOO_LARGE = 1, 400, 720
c_u64, c_u32 = ctypes.c_uint64, ctypes.c_uint32


def load(driver, handmade, kernel):
    module = driver.out("cuModuleLoadData", handmade.module(kernel))
    return driver.out("cuModuleGetFunction", module, kernel.name.encode())


def upload(driver, array):
    address = driver.out("cuMemAlloc_v2", array.nbytes)
    driver.cuMemcpyHtoD_v2(address, array.ctypes.data, array.nbytes)
    return address


def download(driver, address, count, kind):
    out = np.zeros(count, kind)
    driver.cuMemcpyDtoH_v2(out.ctypes.data, address, out.nbytes)
    return out


@pytest.fixture
def vectors(driver, context):
    n = 100_003
    a, b = np.arange(n, dtype=np.float32), np.linspace(0, 1, n, dtype=np.float32)
    return a, b, (upload(driver, a), upload(driver, b), driver.out("cuMemAlloc_v2", 4 * n))


def test_parameters_by_pointers(driver, handmade, vectors):
    a, b, (da, db, dc) = vectors
    function = load(driver, handmade, kernels.VECADD)
    driver.launch(function, -(-a.size // 256), 256, [c_u64(da), c_u64(db), c_u64(dc), c_u32(a.size)])
    np.testing.assert_array_equal(download(driver, dc, a.size, np.float32), a + b)


def extra(buffer, size):
    """The list that names a parameter buffer; the size's owner is returned too, to be kept alive."""
    held = ctypes.c_size_t(size)
    pointers = (1, ctypes.addressof(buffer), 2, ctypes.addressof(held), 0)
    return (ctypes.c_void_p * 5)(*pointers), held


def test_parameters_in_one_buffer(driver, handmade, vectors):
    a, b, (da, db, dc) = vectors
    buffer = ctypes.create_string_buffer(
        b"".join(v.to_bytes(8, "little") for v in (da, db, dc)) + a.size.to_bytes(4, "little"), 28
    )
    listed, _held = extra(buffer, 28)
    function = load(driver, handmade, kernels.VECADD)
    driver.cuLaunchKernel(function, -(-a.size // 256), 1, 1, 256, 1, 1, 0, 0, None, listed)
    np.testing.assert_array_equal(download(driver, dc, a.size, np.float32), a + b)


def test_a_buffer_that_is_too_small_is_refused(driver, context, handmade):
    buffer = ctypes.create_string_buffer(24)
    listed, _held = extra(buffer, 24)
    function = load(driver, handmade, kernels.VECADD)
    assert driver.code("cuLaunchKernel", function, 1, 1, 1, 32, 1, 1, 0, 0, None, listed) == INVALID_VALUE


def test_parameters_are_copied_at_the_launch(driver, context, handmade):
    """What the program writes into its arguments after the call must not reach the kernel (cuLaunchKernel)."""
    counted = driver.out("cuMemAlloc_v2", 4)
    driver.cuMemsetD32_v2(counted, 0, 1)
    function = load(driver, handmade, kernels.SLEEPS)
    address, n, pause = c_u64(counted), c_u32(1), c_u32(20_000)
    driver.launch(function, 1, 1, [address, n, pause])
    driver.launch(function, 1, 1, [address, n, pause])
    address.value, n.value = 0, 1000
    driver.cuCtxSynchronize()
    assert download(driver, counted, 1, np.uint32)[0] == 2


@pytest.mark.parametrize(
    ("grid", "block", "shared"),
    [
        ((0, 1, 1), (1, 1, 1), 0),
        ((1, 1, 1), (0, 1, 1), 0),
        ((1, 65536, 1), (1, 1, 1), 0),
        ((1, 1, 65536), (1, 1, 1), 0),
        ((1, 1, 1), (1025, 1, 1), 0),
        ((1, 1, 1), (33, 32, 1), 0),
        ((1, 1, 1), (1, 1, 65), 0),
        ((1, 1, 1), (1, 1, 1), 48 * 1024 + 1),
    ],
)
def test_configurations_beyond_the_limits_are_refused(driver, context, handmade, grid, block, shared):
    function = load(driver, handmade, kernels.TRAPS)
    assert driver.code("cuLaunchKernel", function, *grid, *block, shared, 0, None, None) == INVALID_VALUE
    driver.cuCtxSynchronize()


def test_more_threads_than_the_kernel_declares_are_refused(driver, context, handmade):
    function = load(driver, handmade, kernels.LIMITED)
    driver.launch(function, 1, 64, [])
    assert driver.code("cuLaunchKernel", function, 1, 1, 1, 128, 1, 1, 0, 0, None, None) == INVALID_VALUE


def test_dynamic_shared_memory_lies_behind_the_static(driver, context, handmade):
    function = load(driver, handmade, kernels.DYNAMIC_SHARED)
    out = driver.out("cuMemAlloc_v2", 4 * 8 * 64)
    driver.launch(function, 8, 64, [c_u64(out)], shared=256)
    got = download(driver, out, 8 * 64, np.uint32).reshape(8, 64)
    np.testing.assert_array_equal(got, [[63 - t + 1000 * b for t in range(64)] for b in range(8)])


def test_dynamic_shared_memory_beyond_48_kib_must_be_asked_for(driver, context, handmade):
    function = load(driver, handmade, kernels.DYNAMIC_SHARED)
    out, size = driver.out("cuMemAlloc_v2", 4 * 64), 100 * 1024
    assert (
        driver.code("cuLaunchKernel", function, 1, 1, 1, 64, 1, 1, size, 0, (ctypes.c_void_p * 1)(), None)
        == INVALID_VALUE
    )
    driver.cuFuncSetAttribute(function, 8, size)
    driver.launch(function, 1, 64, [c_u64(out)], shared=size)
    driver.cuCtxSynchronize()
    assert driver.out("cuFuncGetAttribute", 8, function, kind=ctypes.c_int) == size
    assert driver.code("cuFuncSetAttribute", function, 8, 163 * 1024 + 1) == INVALID_VALUE


def test_every_worker_has_local_memory_and_frame_of_its_own(driver, context, handmade):
    function = load(driver, handmade, kernels.LOCALS)
    out = driver.out("cuMemAlloc_v2", 4 * 500)
    driver.launch(function, 500, 256, [c_u64(out)])
    assert set(download(driver, out, 500, np.uint32)) == {sum(t % 251 for t in range(256))}


def test_each_block_runs_once(driver, context, handmade):
    function = load(driver, handmade, kernels.ADD_INDEX)
    for grid, block in (
        ((1, 1, 1), (1, 1, 1)),
        ((7, 3, 5), (2, 3, 4)),
        ((4001, 1, 1), (32, 1, 1)),
        ((2, 1, 1), (1024, 1, 1)),
    ):
        out = driver.out("cuMemAlloc_v2", 64)
        driver.cuMemsetD8_v2(out, 0, 64)
        driver.launch(function, grid, block, [c_u64(out)])
        blocks, threads = int(np.prod(grid)), int(np.prod(block))
        expected = [sum(b * 1000 + t for b in range(blocks) for t in range(k, threads, 8)) for k in range(8)]
        assert list(download(driver, out, 8, np.uint64)) == expected


def test_wrong_handles_are_refused(driver, context, handmade):
    for wrong in (0, 1, 0x7F00_0000_1000, context):
        assert driver.code("cuLaunchKernel", wrong, 1, 1, 1, 1, 1, 1, 0, 0, None, None) == INVALID_HANDLE
    function = load(driver, handmade, kernels.LIMITED)
    assert driver.code("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, 0x1234560, None, None) == INVALID_HANDLE


def test_a_function_of_an_unloaded_module_is_no_handle(driver, context, handmade):
    module = driver.out("cuModuleLoadData", handmade.module(kernels.LIMITED))
    function = driver.out("cuModuleGetFunction", module, b"limited")
    driver.cuModuleUnload(module)
    assert driver.code("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, 0, None, None) == INVALID_HANDLE
    assert driver.code("cuModuleUnload", module) == INVALID_HANDLE


def test_a_cooperative_grid_must_be_resident_and_then_runs_at_once(driver, context, handmade, capfd):
    function = load(driver, handmade, kernels.MEETS)
    out = driver.out("cuMemAlloc_v2", 8)
    driver.cuMemsetD8_v2(out, 0, 8)
    blocks = 2 * driver.out("cuDeviceGetAttribute", 16, 0, kind=ctypes.c_int)
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(c_u64(out)))
    held = c_u64(out)
    arguments[0] = ctypes.addressof(held)
    driver.cuLaunchCooperativeKernel(function, blocks, 1, 1, 1024, 1, 1, 0, 0, arguments)
    driver.cuCtxSynchronize()
    assert download(driver, out, 2, np.uint32).tolist() == [blocks, blocks]
    assert (
        driver.code("cuLaunchCooperativeKernel", function, blocks + 1, 1, 1, 1024, 1, 1, 0, 0, arguments) == TOO_LARGE
    )
    said = (
        f"of {blocks + 1} blocks, of which the device holds {blocks} at once; with ANYWARP_THREADS={blocks // 2 + 1} "
    )
    assert said in capfd.readouterr().err


def test_kernels_print(driver, context, handmade, capfd):
    driver.launch(load(driver, handmade, kernels.PRINTS), 1, 1, [])
    driver.cuCtxSynchronize()
    assert capfd.readouterr().out == "i=-5 u=00007 d=2.50 s=text l=1099511627776 w=    12% e=1e+10\n"
