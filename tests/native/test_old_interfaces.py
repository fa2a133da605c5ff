"""What programs of CUDA 2 and 3 call: 32-bit device addresses, parameters set one by one, contexts by use count."""

import ctypes

import numpy as np
import pytest

from native import kernels
from native.test_launch import load

pytestmark = pytest.mark.native

INVALID_VALUE, INVALID_CONTEXT, CONTEXT_IS_DESTROYED = 1, 201, 709
HOST, DEVICE, ARRAY = 1, 2, 3
u32 = ctypes.c_uint32


class NarrowCopy2D(ctypes.Structure):
    _fields_ = [
        ("srcX", u32), ("srcY", u32), ("srcType", u32), ("srcHost", ctypes.c_void_p), ("srcDevice", u32),
        ("srcArray", ctypes.c_void_p), ("srcPitch", u32),
        ("dstX", u32), ("dstY", u32), ("dstType", u32), ("dstHost", ctypes.c_void_p), ("dstDevice", u32),
        ("dstArray", ctypes.c_void_p), ("dstPitch", u32), ("width", u32), ("height", u32),
    ]  # fmt: skip


def _side(prefix):
    return [
        *((prefix + name, u32) for name in ("X", "Y", "Z", "LOD", "Type")),
        (prefix + "Host", ctypes.c_void_p), (prefix + "Device", u32), (prefix + "Array", ctypes.c_void_p),
        (prefix + "Reserved", ctypes.c_void_p), (prefix + "Pitch", u32), (prefix + "Height", u32),
    ]  # fmt: skip


class NarrowCopy3D(ctypes.Structure):
    _fields_ = [*_side("src"), *_side("dst"), ("width", u32), ("height", u32), ("depth", u32)]


def narrow(driver, name, *arguments):
    return driver.out(name, *arguments, kind=u32)


def fetch(driver, address, count, kind=np.uint32):
    out = np.zeros(count, kind)
    driver.cuMemcpyDtoH(out.ctypes.data, address, out.nbytes)
    return out


def test_memory_lies_where_32_bits_reach_and_is_freed(driver, context):
    class Guarded(ctypes.Structure):  # so that a write of 8 bytes would be seen
        _fields_ = [("value", u32), ("behind", u32)]

    out = Guarded(0, 0xDEAD)
    driver.cuMemAlloc(ctypes.byref(out), 3_000_000)
    assert out.value
    assert out.behind == 0xDEAD
    base, size = Guarded(0, 0xDEAD), Guarded(0, 0xDEAD)
    driver.cuMemGetAddressRange(ctypes.byref(base), ctypes.byref(size), out.value + 1000)
    assert (base.value, size.value, base.behind, size.behind) == (out.value, 3_000_000, 0xDEAD, 0xDEAD)
    driver.cuMemFree(out.value)
    assert driver.code("cuMemFree", out.value) == INVALID_VALUE


def test_sizes_that_do_not_fit_are_the_largest_that_does(driver, context):
    available, total, whole = u32(), u32(), ctypes.c_size_t()
    driver.cuMemGetInfo(ctypes.byref(available), ctypes.byref(total))
    driver.cuDeviceTotalMem_v2(ctypes.byref(whole), 0)
    assert total.value == narrow(driver, "cuDeviceTotalMem", 0) == min(whole.value, 2**32 - 1)
    assert 0 < available.value <= total.value


def test_copies_and_sets_by_narrow_addresses(driver, context):
    values = np.arange(1, 65, dtype=np.uint32) * 0x01020304
    a, b = narrow(driver, "cuMemAlloc", 256), narrow(driver, "cuMemAlloc", 256)
    driver.cuMemcpyHtoD(a, values.ctypes.data, 256)
    driver.cuMemcpyDtoD(b, a + 128, 128)
    driver.cuMemcpyDtoDAsync(b + 128, a, 128, 0)
    np.testing.assert_array_equal(fetch(driver, b, 64), np.roll(values, 32))
    driver.cuMemsetD8(a, 0xAB, 5)
    driver.cuMemsetD16(a + 8, 0xBEEF, 2)
    driver.cuMemsetD32(a + 16, 0x12345678, 1)
    expected = values.view(np.uint8).copy()
    expected[:5] = 0xAB
    expected[8:12].view(np.uint16)[:] = 0xBEEF
    expected[16:20].view(np.uint32)[:] = 0x12345678
    np.testing.assert_array_equal(fetch(driver, a, 256, np.uint8), expected)


def test_rows_with_a_pitch(driver, context):
    pitch = u32()
    address = narrow(driver, "cuMemAllocPitch", ctypes.byref(pitch), 100, 7, 4)
    assert pitch.value >= 100
    driver.cuMemsetD2D8(address, pitch.value, 1, pitch.value, 7)
    driver.cuMemsetD2D8(address, pitch.value, 9, 30, 7)
    driver.cuMemsetD2D16(address + 32, pitch.value, 0x0707, 10, 7)
    driver.cuMemsetD2D32(address + 64, pitch.value, 0x05050505, 4, 7)
    out = np.zeros((7, 100), np.uint8)
    copy = NarrowCopy2D(srcType=DEVICE, srcDevice=address, srcPitch=pitch.value, dstType=HOST,
                        dstHost=out.ctypes.data, dstPitch=100, width=100, height=7)  # fmt: skip
    driver.cuMemcpy2D(ctypes.byref(copy))
    expected = np.ones((7, 100), np.uint8)
    expected[:, :30], expected[:, 32:52], expected[:, 64:80] = 9, 7, 5
    np.testing.assert_array_equal(out, expected)
    out[:] = 0
    driver.cuMemcpy2DUnaligned(ctypes.byref(copy))
    np.testing.assert_array_equal(out, expected)


def test_arrays_and_three_dimensions(driver, context):
    class Shape(ctypes.Structure):
        _fields_ = [(name, u32) for name in ("width", "height", "depth", "format", "channels", "flags")]

    values = np.arange(4 * 3 * 2, dtype=np.float32).reshape(2, 3, 4)
    array = driver.out("cuArray3DCreate", ctypes.byref(Shape(4, 3, 2, 0x20, 1, 0)))
    put = NarrowCopy3D(srcType=HOST, srcHost=values.ctypes.data, srcPitch=16, srcHeight=3,
                       dstType=ARRAY, dstArray=array, width=16, height=3, depth=2)  # fmt: skip
    driver.cuMemcpy3D(ctypes.byref(put))
    out = np.zeros_like(values)
    got = NarrowCopy3D(srcType=ARRAY, srcArray=array, dstType=HOST, dstHost=out.ctypes.data, dstPitch=16, dstHeight=3,
                       width=16, height=3, depth=2)  # fmt: skip
    driver.cuMemcpy3DAsync(ctypes.byref(got), 0)
    driver.cuCtxSynchronize()
    np.testing.assert_array_equal(out, values)
    shape = Shape()
    driver.cuArray3DGetDescriptor(ctypes.byref(shape), array)
    assert [getattr(shape, name) for name, _ in shape._fields_] == [4, 3, 2, 0x20, 1, 0]
    driver.cuArrayDestroy(array)


def test_rows_of_an_array(driver, context):
    class Shape(ctypes.Structure):
        _fields_ = [(name, u32) for name in ("width", "height", "format", "channels")]

    values = np.arange(100, 116, dtype=np.uint32)
    a = driver.out("cuArrayCreate", ctypes.byref(Shape(16, 0, 3, 1)))
    b = driver.out("cuArrayCreate", ctypes.byref(Shape(16, 0, 3, 1)))
    memory = narrow(driver, "cuMemAlloc", 64)
    driver.cuMemcpyHtoA(a, 0, values.ctypes.data, 64)
    driver.cuMemcpyAtoA(b, 0, a, 32, 32)
    driver.cuMemcpyAtoD(memory, a, 4, 32)
    driver.cuMemcpyDtoA(b, 32, memory, 32)
    out = np.zeros(16, np.uint32)
    driver.cuMemcpyAtoH(out.ctypes.data, b, 0, 64)
    np.testing.assert_array_equal(out, np.concatenate([values[8:], values[1:9]]))
    driver.cuMemcpyHtoAAsync(b, 0, values.ctypes.data, 64, 0)
    driver.cuMemcpyAtoHAsync(out.ctypes.data, b, 0, 64, 0)
    driver.cuCtxSynchronize()
    np.testing.assert_array_equal(out, values)
    shape = Shape()
    driver.cuArrayGetDescriptor(ctypes.byref(shape), b)
    assert [getattr(shape, name) for name, _ in shape._fields_] == [16, 0, 3, 1]


def test_host_memory_and_its_device_pointer(driver, context):
    host = driver.out("cuMemAllocHost", 4096)
    device = narrow(driver, "cuMemHostGetDevicePointer", host, 0)
    driver.cuMemsetD32(device, 77, 1024)
    assert ctypes.cast(host, ctypes.POINTER(u32))[1023] == 77
    wide = driver.out("cuMemHostAlloc", 64 << 20, 2)
    if wide >= 2**32:
        assert driver.code("cuMemHostGetDevicePointer", ctypes.byref(u32()), wide, 0) == INVALID_VALUE


def test_variables_of_modules(driver, context, handmade):
    image = handmade.module(
        kernels.VECADD, data=b"\x11\x22\x33\x44" * 4, extra=(("global", "table", "global", 4, 8, 4),)
    )
    module = driver.out("cuModuleLoadData", image)
    address, size = u32(), u32()
    driver.cuModuleGetGlobal(ctypes.byref(address), ctypes.byref(size), module, b"table")
    assert size.value == 8
    np.testing.assert_array_equal(fetch(driver, address.value, 8, np.uint8), [0x11, 0x22, 0x33, 0x44] * 2)


def test_parameters_set_one_by_one(driver, context, handmade):
    n = 1000
    a, b = np.arange(n, dtype=np.float32), np.linspace(5, 6, n, dtype=np.float32)
    addresses = [narrow(driver, "cuMemAlloc", 4 * n) for _ in range(3)]
    driver.cuMemcpyHtoD(addresses[0], a.ctypes.data, a.nbytes)
    driver.cuMemcpyHtoD(addresses[1], b.ctypes.data, b.nbytes)
    function = load(driver, handmade, kernels.VECADD)
    driver.cuFuncSetBlockShape(function, 128, 1, 1)
    driver.cuFuncSetSharedSize(function, 0)
    for i, address in enumerate(addresses):
        wide = ctypes.c_uint64(address)
        driver.cuParamSetv(function, 8 * i, ctypes.byref(wide), 8)
    driver.cuParamSeti(function, 24, n)
    assert driver.code("cuParamSeti", function, 40_000, 1) == INVALID_VALUE
    driver.cuParamSetSize(function, 20)
    assert driver.code("cuLaunchGrid", function, 8, 1) == INVALID_VALUE  # the last parameter is missing
    driver.cuParamSetSize(function, 28)
    driver.cuParamSeti(function, 24, n)
    driver.cuLaunchGrid(function, 8, 1)
    np.testing.assert_array_equal(fetch(driver, addresses[2], n, np.float32), a + b)
    driver.cuMemsetD32(addresses[2], 0, n)
    driver.cuLaunch(function)
    out = fetch(driver, addresses[2], n, np.float32)
    np.testing.assert_array_equal(out[:128], (a + b)[:128])
    assert not out[128:].any()
    stream = driver.out("cuStreamCreate", 0)
    driver.cuLaunchGridAsync(function, 4, 2, stream)  # the kernel reads its x only: blocks 0 to 3, twice
    driver.cuStreamSynchronize(stream)
    out = fetch(driver, addresses[2], n, np.float32)
    np.testing.assert_array_equal(out[:512], (a + b)[:512])
    assert not out[512:].any()


def test_a_context_ends_when_it_is_detached_as_often_as_attached(driver):
    made = driver.out("cuCtxCreate", 0, 0)
    assert driver.out("cuCtxAttach", 0) == made
    driver.cuCtxDetach(made)
    driver.cuCtxSynchronize()
    driver.cuCtxDetach(made)
    assert driver.code("cuCtxSynchronize") in (INVALID_CONTEXT, CONTEXT_IS_DESTROYED)
    assert driver.code("cuCtxDetach", made) == INVALID_CONTEXT
