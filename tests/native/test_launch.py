"""Launches: both argument conventions, configurations that CUDA refuses, shared memory, order."""

import ctypes

import numpy as np
import pytest

from native.by_hand import VECADD

pytestmark = pytest.mark.native


def load(driver, image, name):
    module = driver.out("cuModuleLoadData", image)
    return driver.out("cuModuleGetFunction", module, name.encode())


def upload(driver, array):
    address = driver.out("cuMemAlloc_v2", array.nbytes)
    driver.cuMemcpyHtoD_v2(address, array.ctypes.data, array.nbytes)
    return address


def test_a_kernel_adds_vectors_over_many_blocks(driver, context, handmade):
    function = load(driver, handmade.module(VECADD), "vecadd")
    n = 100_003
    a, b = np.arange(n, dtype=np.float32), np.linspace(0, 1, n, dtype=np.float32)
    da, db, dc = upload(driver, a), upload(driver, b), driver.out("cuMemAlloc_v2", 4 * n)
    driver.launch(
        function, -(-n // 256), 256, [ctypes.c_uint64(da), ctypes.c_uint64(db), ctypes.c_uint64(dc), ctypes.c_uint32(n)]
    )
    c = np.zeros(n, np.float32)
    driver.cuMemcpyDtoH_v2(c.ctypes.data, dc, c.nbytes)
    np.testing.assert_array_equal(c, a + b)
