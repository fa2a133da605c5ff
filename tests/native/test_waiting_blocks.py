"""Blocks that wait for one another, through the driver: whatever the number of threads, all are started and all finish."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from native.test_launch import download, upload

PTX = (Path(__file__).parents[1] / "semantics" / "cases" / "progress.ptx").read_bytes() + b"\0"
CALLS = (Path(__file__).parents[1] / "semantics" / "cases" / "calls.ptx").read_bytes() + b"\0"


@pytest.fixture
def function(driver, context):
    def function(name, image=PTX):
        module = driver.out("cuModuleLoadData", image)
        return driver.out("cuModuleGetFunction", module, name.encode())

    return function


def pointers(*values):
    held = [ctypes.c_uint64(v) for v in values]
    packed = (ctypes.c_void_p * len(held))(*(ctypes.addressof(h) for h in held))
    packed.held = held
    return packed


@pytest.mark.parametrize("backwards", [0, 1])
def test_hundreds_of_blocks_look_back(driver, function, backwards):
    values = np.random.default_rng(3).integers(-50, 50, 700 * 64).astype(np.int32)
    source, out, state = upload(driver, values), upload(driver, values * 0), upload(driver, np.zeros(700, np.uint64))
    driver.cuLaunchKernel(function("look_back"), 700, 1, 1, 64, 1, 1, 0, 0, pointers(source, out, state, backwards), 0)
    driver.cuCtxSynchronize()
    np.testing.assert_array_equal(download(driver, out, len(values), np.int32), np.cumsum(values))


def test_a_cooperative_grid_meets_at_its_barrier_again_and_again(driver, function):
    name, block = function("grid_sums"), 96
    grid = 2 * driver.out("cuDeviceGetAttribute", 16, 0, kind=ctypes.c_int)
    values = np.random.default_rng(4).integers(0, 1000, grid * block).astype(np.int32)
    wanted = values.copy()
    for r in range(6):
        wanted = np.roll(wanted, -1) + r
    held, out = upload(driver, values), upload(driver, values * 0)
    driver.cuLaunchCooperativeKernel(name, grid, 1, 1, block, 1, 1, 0, 0, pointers(held, out, 6))
    driver.cuCtxSynchronize()
    np.testing.assert_array_equal(download(driver, out, len(values), np.int32), wanted)


def test_a_barrier_of_the_grid_in_an_ordinary_launch_traps(driver, function):
    held = upload(driver, np.zeros(64, np.int32))
    driver.cuLaunchKernel(function("grid_sums"), 1, 1, 1, 32, 1, 1, 0, 0, pointers(held, held, 2), 0)
    assert driver.code("cuCtxSynchronize") == 719


def test_a_larger_stack_limit_holds_deeper_calls(driver, function):
    deep, one = function("deep", CALLS), upload(driver, np.ones(1, np.int32))
    out = upload(driver, np.zeros(64, np.int32))
    driver.cuCtxSetLimit(0, 256 << 10)
    driver.cuLaunchKernel(deep, 1, 1, 1, 40, 1, 1, 0, 0, pointers(out, 1500, one), 0)
    driver.cuCtxSynchronize()
    assert download(driver, out, 4, np.int32)[3] == 1500 * 1501 // 2 + 1500


def test_a_full_stack_is_told_with_thread_and_line(driver, function, capfd):
    out, one = upload(driver, np.zeros(64, np.int32)), upload(driver, np.ones(1, np.int32))
    driver.cuLaunchKernel(function("deep", CALLS), 1, 1, 1, 40, 1, 1, 0, 0, pointers(out, 100_000, one), 0)
    assert driver.code("cuCtxSynchronize") == 719
    words = capfd.readouterr().err
    assert "thread (3,0,0)" in words and "stack of a thread is full" in words and "of the PTX" in words
