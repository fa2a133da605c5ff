"""Contexts and the device: what is current, primary contexts, limits, attributes; calls before cuInit and after fork."""

import ctypes
import os
import subprocess
import sys
import threading

import pytest

pytestmark = pytest.mark.native

INVALID_VALUE, OUT_OF_MEMORY, INVALID_DEVICE, INVALID_CONTEXT, UNSUPPORTED_LIMIT = 1, 2, 101, 201, 215


def current(driver):
    return driver.out("cuCtxGetCurrent")


def test_a_created_context_is_current_until_it_is_destroyed(driver):
    assert current(driver) is None
    outer = driver.out("cuCtxCreate_v2", 0, 0)
    inner = driver.out("cuCtxCreate_v4", None, 0, 0)
    assert current(driver) == inner
    driver.cuCtxDestroy_v2(inner)
    assert current(driver) == outer
    assert driver.out("cuCtxPopCurrent_v2") == outer
    assert current(driver) is None
    assert driver.code("cuMemAlloc_v2", ctypes.byref(ctypes.c_uint64()), 64) == INVALID_CONTEXT
    driver.cuCtxPushCurrent_v2(outer)
    driver.cuCtxDestroy_v2(outer)
    assert driver.code("cuCtxDestroy_v2", outer) == INVALID_CONTEXT


def test_contexts_are_current_per_thread(driver, context):
    seen = []
    thread = threading.Thread(target=lambda: seen.append(current(driver)))
    thread.start()
    thread.join()
    assert seen == [None] and current(driver) == context


def test_the_primary_context_is_shared_and_counted(driver):
    def state():
        flags, active = ctypes.c_uint(), ctypes.c_int()
        driver.cuDevicePrimaryCtxGetState(0, ctypes.byref(flags), ctypes.byref(active))
        return flags.value, active.value

    assert state()[1] == 0
    driver.cuDevicePrimaryCtxSetFlags_v2(0, 4)
    first, again = driver.out("cuDevicePrimaryCtxRetain", 0), driver.out("cuDevicePrimaryCtxRetain", 0)
    assert first == again and state() == (4, 1)
    driver.cuDevicePrimaryCtxRelease_v2(0)
    assert state()[1] == 1
    assert driver.code("cuCtxDestroy_v2", first) == INVALID_CONTEXT
    driver.cuDevicePrimaryCtxRelease_v2(0)
    assert state()[1] == 0
    driver.cuDevicePrimaryCtxSetFlags_v2(0, 0)


def test_destroying_a_context_frees_its_memory(driver):
    size = (
        driver.out("cuDeviceTotalMem_v2", 0, kind=ctypes.c_size_t) * 6 // 10
    )  # untouched, so it costs the machine nothing
    first = driver.out("cuCtxCreate_v2", 0, 0)
    driver.out("cuMemAlloc_v2", size)
    assert driver.code("cuMemAlloc_v2", ctypes.byref(ctypes.c_uint64()), size) == OUT_OF_MEMORY
    driver.cuCtxDestroy_v2(first)
    second = driver.out("cuCtxCreate_v2", 0, 0)
    driver.out("cuMemAlloc_v2", size)
    driver.cuCtxDestroy_v2(second)


def test_limits_are_kept_or_refused(driver, context):
    assert driver.out("cuCtxGetLimit", 2, kind=ctypes.c_size_t) == 8 << 20
    driver.cuCtxSetLimit(2, 64 << 20)
    assert driver.out("cuCtxGetLimit", 2, kind=ctypes.c_size_t) == 64 << 20
    assert driver.code("cuCtxGetLimit", ctypes.byref(ctypes.c_size_t()), 3) == UNSUPPORTED_LIMIT
    assert driver.code("cuCtxGetLimit", ctypes.byref(ctypes.c_size_t()), 99) == INVALID_VALUE


def test_the_device_has_the_limits_of_compute_capability_8_0(driver):
    """Values of the CUDA C++ Programming Guide's table of technical specifications."""
    expected = {1: 1024, 2: 1024, 3: 1024, 4: 64, 5: 2**31 - 1, 6: 65535, 7: 65535, 8: 49152, 9: 65536, 10: 32,
                39: 2048, 75: 8, 76: 0, 81: 164 << 10, 97: 163 << 10, 106: 32}  # fmt: skip
    got = {number: driver.out("cuDeviceGetAttribute", number, 0, kind=ctypes.c_int) for number in expected}
    assert got == expected
    assert driver.out("cuDeviceGetAttribute", 16, 0, kind=ctypes.c_int) == len(os.sched_getaffinity(0))
    assert driver.code("cuDeviceGetAttribute", ctypes.byref(ctypes.c_int()), 0, 0) == INVALID_VALUE
    assert driver.code("cuDeviceGetAttribute", ctypes.byref(ctypes.c_int()), 1, 1) == INVALID_DEVICE


def test_the_device_has_a_name_and_an_identity(driver):
    name = ctypes.create_string_buffer(128)
    driver.cuDeviceGetName(name, 128, 0)
    assert name.value.startswith(b"anywarp CPU (")
    driver.cuDeviceGetName(name, 5, 0)
    assert name.value == b"anyw"
    uuids = [ctypes.create_string_buffer(16), ctypes.create_string_buffer(16)]
    driver.cuDeviceGetUuid(uuids[0], 0)
    driver.cuDeviceGetUuid_v2(uuids[1], 0)
    assert uuids[0].raw == uuids[1].raw != b"\0" * 16
    assert driver.out("cuDeviceGetCount", kind=ctypes.c_int) == 1
    assert driver.code("cuDeviceGet", ctypes.byref(ctypes.c_int()), 1) == INVALID_DEVICE
    assert driver.out("cuDriverGetVersion", kind=ctypes.c_int) == 13000


def test_all_errors_have_a_name_and_words(driver):
    text = ctypes.c_char_p()
    for code, name in ((0, b"CUDA_SUCCESS"), (700, b"CUDA_ERROR_ILLEGAL_ADDRESS"), (999, b"CUDA_ERROR_UNKNOWN")):
        driver.cuGetErrorName(code, ctypes.byref(text))
        assert text.value == name
        driver.cuGetErrorString(code, ctypes.byref(text))
        assert text.value
    assert driver.code("cuGetErrorName", 12345, ctypes.byref(text)) == INVALID_VALUE and text.value is None


def run(program, **more):
    head = "import ctypes, os, sys; sys.path.insert(0, 'tests')\nfrom native.by_hand import Driver\nd = Driver()\n"
    return subprocess.run(
        [sys.executable, "-c", head + program], capture_output=True, timeout=60, text=True, env={**os.environ, **more}
    )


def test_nothing_works_before_initialisation():
    done = run(
        "n = ctypes.c_int()\nprint(d.code('cuDeviceGetCount', ctypes.byref(n)), d.code('cuCtxSynchronize'), d.code('cuInit', 1))\n"
    )
    assert done.stdout.split() == ["3", "3", "1"], done.stderr


def test_a_device_that_is_not_there_is_named():
    done = run("print(d.code('cuInit', 0))\n", ANYWARP_DEVICE="hip")
    assert done.stdout.split() == ["100"] and "no device named hip" in done.stderr


def test_a_forked_child_is_told_that_the_device_is_not_there():
    program = (
        "d.cuInit(0); d.out('cuCtxCreate_v2', 0, 0); d.cuMemsetD8Async(d.out('cuMemAlloc_v2', 64), 0, 64, 0)\n"
        "child = os.fork()\n"
        "if child == 0: os._exit(d.code('cuCtxSynchronize') * 10 + d.code('cuInit', 0))\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])); d.cuCtxSynchronize()\n"
    )
    done = run(program)
    assert done.stdout.split() == ["33"], done.stderr
