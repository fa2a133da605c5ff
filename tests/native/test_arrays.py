"""CUDA arrays: which may be created, what they say of themselves, and that every copy puts bytes where the manual says.

Expected contents come from NumPy slices of what was put in; expected codes from the CUDA Driver API manual.
"""

import ctypes

import numpy as np
import pytest

from native.test_memory import Copy2D, Copy3D, fetch, fill

pytestmark = pytest.mark.native

INVALID_VALUE, OUT_OF_MEMORY, INVALID_HANDLE, NOT_SUPPORTED = 1, 2, 400, 801
HOST, DEVICE, ARRAY, UNIFIED = 1, 2, 3, 4
U8, U16, U32, S8, HALF, FLOAT, NV12, UNORM8X2, SNORM16X4 = 1, 2, 3, 8, 0x10, 0x20, 0xB0, 0xC1, 0xCB
LAYERED, SURFACE, CUBEMAP, GATHER, SPARSE, DEFERRED = 1, 2, 4, 8, 0x40, 0x80


class Shape2D(ctypes.Structure):
    _fields_ = [("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("format", ctypes.c_int), ("channels", ctypes.c_uint)]  # fmt: skip


class Shape3D(ctypes.Structure):
    _fields_ = [("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("depth", ctypes.c_size_t),
                ("format", ctypes.c_int), ("channels", ctypes.c_uint), ("flags", ctypes.c_uint)]  # fmt: skip


def shape(width, height=0, depth=0, kind=U8, channels=1, flags=0):
    return ctypes.byref(Shape3D(width, height, depth, kind, channels, flags))


def create(driver, *args, **more):
    return driver.out("cuArray3DCreate_v2", shape(*args, **more))


def creation_code(driver, *args, **more):
    return driver.code("cuArray3DCreate_v2", ctypes.byref(ctypes.c_void_p()), shape(*args, **more))


def numbers(extents, kind, seed=1):
    return np.random.default_rng(seed).integers(0, np.iinfo(kind).max, extents, kind)


@pytest.mark.parametrize(
    ("width", "height", "depth", "flags"),
    [(7, 0, 0, 0), (7, 5, 0, 0), (7, 5, 3, 0), (7, 0, 3, LAYERED), (7, 5, 3, LAYERED), (5, 5, 6, CUBEMAP),
     (5, 5, 12, CUBEMAP | LAYERED), (7, 5, 0, GATHER), (7, 5, 3, SURFACE)],
)  # fmt: skip
def test_an_array_of_every_type_says_what_it_was_made_of(driver, context, width, height, depth, flags):
    array = create(driver, width, height, depth, kind=HALF, channels=4, flags=flags)
    told, flat = Shape3D(), Shape2D()
    driver.cuArray3DGetDescriptor_v2(ctypes.byref(told), array)
    assert (told.width, told.height, told.depth, told.format, told.channels, told.flags) == (
        width, height, depth, HALF, 4, flags,
    )  # fmt: skip
    driver.cuArrayGetDescriptor_v2(ctypes.byref(flat), array)
    assert (flat.width, flat.height, flat.format, flat.channels) == (width, height, HALF, 4)
    driver.cuArrayDestroy(array)
    assert driver.code("cuArrayDestroy", array) == INVALID_HANDLE
    assert driver.code("cuArray3DGetDescriptor_v2", ctypes.byref(told), array) == INVALID_HANDLE


@pytest.mark.parametrize(
    ("width", "height", "depth", "flags"),
    [(0, 0, 0, 0), (0, 5, 0, 0), (7, 0, 3, 0), (7, 5, 0, LAYERED), (7, 0, 0, LAYERED), (7, 5, 6, CUBEMAP),
     (5, 5, 5, CUBEMAP), (5, 5, 12, CUBEMAP), (5, 5, 9, CUBEMAP | LAYERED), (0, 0, 6, CUBEMAP), (7, 0, 0, GATHER),
     (7, 5, 3, GATHER), (7, 5, 3, GATHER | LAYERED), (7, 5, 0, 0x200), (1 << 40, 0, 0, 0), (2**64 - 1, 2**64 - 1, 0, 0)],
)  # fmt: skip
def test_extents_and_flags_that_name_no_type_are_refused(driver, context, width, height, depth, flags):
    assert creation_code(driver, width, height, depth, flags=flags) == INVALID_VALUE


@pytest.mark.parametrize("attribute", [21, 22, 23, 24, 42, 43, 55, 56, 57, 61, 62])
def test_extents_end_at_the_devices_attributes(driver, context, attribute):
    most = driver.out("cuDeviceGetAttribute", attribute, 0, kind=ctypes.c_int)
    assert most > 0
    extents, flags = {
        21: (lambda n: (n, 0, 0), 0), 22: (lambda n: (n, 1, 0), 0), 23: (lambda n: (1, n, 0), 0),
        24: (lambda n: (n, 1, 1), 0), 42: (lambda n: (n, 0, 1), LAYERED), 43: (lambda n: (1, 0, n), LAYERED),
        55: (lambda n: (n, 0, 0), SURFACE), 56: (lambda n: (n, 1, 0), SURFACE), 57: (lambda n: (1, n, 0), SURFACE),
        61: (lambda n: (n, 0, 1), SURFACE | LAYERED), 62: (lambda n: (1, 0, n), SURFACE | LAYERED),
    }[attribute]  # fmt: skip
    driver.cuArrayDestroy(create(driver, *extents(most), flags=flags))
    assert creation_code(driver, *extents(most + 1), flags=flags) == INVALID_VALUE


def test_formats_and_channel_counts_are_checked(driver, context):
    for channels in (0, 3, 5):
        assert creation_code(driver, 7, kind=U8, channels=channels) == INVALID_VALUE
    assert creation_code(driver, 7, kind=4) == INVALID_VALUE
    assert creation_code(driver, 7, kind=UNORM8X2, channels=4) == INVALID_VALUE
    driver.cuArrayDestroy(create(driver, 7, kind=UNORM8X2, channels=2))
    assert creation_code(driver, 8, 8, kind=NV12) == NOT_SUPPORTED
    assert creation_code(driver, 8, 8, flags=SPARSE) == NOT_SUPPORTED
    assert creation_code(driver, 8, 8, flags=DEFERRED) == NOT_SUPPORTED
    assert driver.code("cuArray3DCreate_v2", None, shape(7)) == INVALID_VALUE
    assert driver.code("cuArrayCreate_v2", ctypes.byref(ctypes.c_void_p()), None) == INVALID_VALUE


def test_what_only_other_kinds_of_array_have_is_refused(driver, context):
    array, out = create(driver, 7, 5), ctypes.create_string_buffer(64)
    for name, *rest in (("cuArrayGetPlane", 0), ("cuArrayGetMemoryRequirements", 0), ("cuArrayGetSparseProperties",)):
        assert driver.code(name, out, array, *rest) == INVALID_VALUE
    assert driver.code("cuArrayGetPlane", out, 12345, 0) == INVALID_HANDLE


def test_arrays_count_as_memory_in_use_until_destroyed_or_their_context_is(driver, context):
    def available():
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        driver.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    _, total = available()
    array = create(driver, 4096, 4096, 2, kind=FLOAT)
    assert available()[0] <= total - 4096 * 4096 * 2 * 4
    inner = driver.out("cuCtxCreate_v2", 0, 0)
    lost = create(driver, 8)
    driver.cuCtxDestroy_v2(inner)
    assert driver.code("cuArrayDestroy", lost) == INVALID_HANDLE
    driver.cuArrayDestroy(array)
    assert creation_code(driver, 16384, 16384, 16384, kind=FLOAT, channels=4) == OUT_OF_MEMORY


@pytest.mark.parametrize(("kind", "number"), [(U8, np.uint8), (U16, np.uint16), (U32, np.uint32)])
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_bytes_go_into_a_line_and_out_again(driver, context, kind, number, channels):
    data = numbers((13, channels), number)
    element = data.itemsize * channels
    array = driver.out("cuArrayCreate_v2", ctypes.byref(Shape2D(13, 0, kind, channels)))
    driver.cuMemcpyHtoA_v2(array, 0, data.ctypes.data, data.nbytes)
    back = np.zeros((4, channels), number)
    driver.cuMemcpyAtoH_v2(back.ctypes.data, array, 3 * element, back.nbytes)
    np.testing.assert_array_equal(back, data[3:7])
    memory = driver.out("cuMemAlloc_v2", data.nbytes)
    driver.cuMemcpyAtoD_v2(memory, array, element, 12 * element)
    np.testing.assert_array_equal(fetch(driver, memory, (12, channels), number), data[1:])
    other = create(driver, 9, kind=kind, channels=channels)
    driver.cuMemcpyDtoA_v2(other, 2 * element, memory, 5 * element)
    driver.cuMemcpyAtoA_v2(array, 8 * element, other, 3 * element, 3 * element)
    expected = data.copy()
    expected[8:11] = data[2:5]
    everything = np.zeros_like(data)
    driver.cuMemcpyAtoHAsync_v2(everything.ctypes.data, array, 0, data.nbytes, 0)
    driver.cuStreamSynchronize(0)
    np.testing.assert_array_equal(everything, expected)


def test_copies_that_leave_a_line_or_split_elements_are_refused(driver, context):
    line, plane, wide = create(driver, 10, kind=U16), create(driver, 10, 3, kind=U16), create(driver, 10, kind=U32)
    host, memory = ctypes.create_string_buffer(64), driver.out("cuMemAlloc_v2", 64)
    assert driver.code("cuMemcpyHtoA_v2", line, 0, host, 21) == INVALID_VALUE
    assert driver.code("cuMemcpyHtoA_v2", line, 18, host, 4) == INVALID_VALUE
    assert driver.code("cuMemcpyHtoA_v2", line, 2**64 - 2, host, 4) == INVALID_VALUE
    assert driver.code("cuMemcpyAtoH_v2", host, line, 1, 2) == INVALID_VALUE
    assert driver.code("cuMemcpyHtoA_v2", plane, 0, host, 4) == INVALID_VALUE
    assert driver.code("cuMemcpyAtoD_v2", memory, line, 0, 3) == INVALID_VALUE
    assert driver.code("cuMemcpyAtoD_v2", memory + 1, line, 0, 2) == INVALID_VALUE
    assert driver.code("cuMemcpyAtoA_v2", wide, 0, line, 0, 4) == INVALID_VALUE
    assert driver.code("cuMemcpyDtoA_v2", wide, 0, memory + 60, 8) == INVALID_VALUE
    assert driver.code("cuMemcpyHtoA_v2", 12345, 0, host, 4) == INVALID_HANDLE
    driver.cuMemcpyHtoA_v2(line, 20, host, 0)


def test_host_memory_may_change_once_an_asynchronous_copy_returned(driver, context):
    stream, array = driver.out("cuStreamCreate", 0), create(driver, 1000, kind=U32)
    data = numbers(1000, np.uint32)
    source, back = data.copy(), np.zeros_like(data)
    driver.cuMemcpyHtoAAsync_v2(array, 0, source.ctypes.data, source.nbytes, stream)
    source[:] = 0
    driver.cuMemcpyAtoHAsync_v2_ptsz(back.ctypes.data, array, 0, back.nbytes, stream)
    driver.cuStreamSynchronize(stream)
    np.testing.assert_array_equal(back, data)


@pytest.mark.parametrize(("kind", "number"), [(U8, np.uint8), (U16, np.uint16), (U32, np.uint32)])
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_a_rectangle_goes_through_an_array(driver, context, kind, number, channels):
    source, element = numbers((9, 16, channels), number), channels * np.dtype(number).itemsize
    array = create(driver, 11, 7, kind=kind, channels=channels)
    whole = Copy2D(srcType=HOST, srcHost=source.ctypes.data, srcPitch=16 * element, dstType=ARRAY, dstArray=array,
                   width=11 * element, height=7)  # fmt: skip
    driver.cuMemcpy2D_v2(ctypes.byref(whole))
    part = Copy2D(srcType=HOST, srcHost=source.ctypes.data, srcPitch=16 * element, srcX=2 * element, srcY=5, dstType=ARRAY,
                  dstArray=array, dstX=6 * element, dstY=3, dstPitch=1, width=5 * element, height=4)  # fmt: skip
    driver.cuMemcpy2DUnaligned_v2(ctypes.byref(part))
    expected = source[:7, :11].copy()
    expected[3:7, 6:11] = source[5:9, 2:7]
    memory = driver.out("cuMemAlloc_v2", 8 * 20 * element)
    fill(driver, memory, np.zeros((8, 20, channels), number))
    down = Copy2D(srcType=ARRAY, srcArray=array, srcX=element, srcY=2, dstType=DEVICE, dstDevice=memory, dstX=3 * element,
                  dstY=1, dstPitch=20 * element, width=10 * element, height=5)  # fmt: skip
    driver.cuMemcpy2DAsync_v2(ctypes.byref(down), 0)
    grid = np.zeros((8, 20, channels), number)
    grid[1:6, 3:13] = expected[2:7, 1:11]
    np.testing.assert_array_equal(fetch(driver, memory, grid.shape, number), grid)


@pytest.mark.parametrize("change", [{"dstX": 4}, {"dstY": 1}, {"width": 48}, {"height": 8}, {"dstX": 2, "width": 4}])
def test_rectangles_that_leave_an_array_are_refused(driver, context, change):
    array, host = create(driver, 11, 7, kind=FLOAT), ctypes.create_string_buffer(4096)
    request = Copy2D(srcType=HOST, srcHost=ctypes.addressof(host), srcPitch=48, dstType=ARRAY, dstArray=array, width=44, height=7)  # fmt: skip
    driver.cuMemcpy2D_v2(ctypes.byref(request))
    for name, value in change.items():
        setattr(request, name, value)
    assert driver.code("cuMemcpy2D_v2", ctypes.byref(request)) == INVALID_VALUE


@pytest.mark.parametrize("flags", [0, LAYERED])
@pytest.mark.parametrize("peer", [False, True])
def test_a_box_goes_between_arrays(driver, context, flags, peer):
    source = numbers((6, 5, 7, 2), np.uint16)  # depth, height, width, channels
    first, second = (
        create(driver, 7, 5, 6, kind=U16, channels=2, flags=flags),
        create(driver, 8, 9, 4, kind=HALF, channels=2),
    )
    copy = (
        (lambda box: driver.cuMemcpy3DPeer(ctypes.byref(box)))
        if peer
        else (lambda box: driver.cuMemcpy3D_v2(ctypes.byref(box)))
    )
    copy(Copy3D(srcType=HOST, srcHost=source.ctypes.data, srcPitch=28, srcHeight=5, dstType=ARRAY, dstArray=first,
                width=28, height=5, depth=6))  # fmt: skip
    zero = np.zeros((4, 9, 8, 2), np.uint16)
    copy(Copy3D(srcType=HOST, srcHost=zero.ctypes.data, srcPitch=32, srcHeight=9, dstType=ARRAY, dstArray=second,
                width=32, height=9, depth=4))  # fmt: skip
    copy(Copy3D(srcType=ARRAY, srcArray=first, srcX=4 * 2, srcY=1, srcZ=3, dstType=ARRAY, dstArray=second, dstX=4 * 3,
                dstY=5, dstZ=1, width=4 * 5, height=4, depth=3))  # fmt: skip
    expected = zero.copy()
    expected[1:4, 5:9, 3:8] = source[3:6, 1:5, 2:7]
    back = np.ones_like(zero)
    driver.cuMemcpy3DAsync_v2(ctypes.byref(Copy3D(srcType=ARRAY, srcArray=second, dstType=HOST, dstHost=back.ctypes.data,
                              dstPitch=32, dstHeight=9, width=32, height=9, depth=4)), 0)  # fmt: skip
    driver.cuStreamSynchronize(0)
    np.testing.assert_array_equal(back, expected)


def test_layers_of_lines_are_copied_as_depth(driver, context):
    source = numbers((3, 10), np.uint8)
    array = create(driver, 10, 0, 3, kind=S8, flags=LAYERED)
    driver.cuMemcpy3D_v2(ctypes.byref(Copy3D(srcType=HOST, srcHost=source.ctypes.data, srcPitch=10, srcHeight=1,
                         dstType=ARRAY, dstArray=array, width=10, height=1, depth=3)))  # fmt: skip
    back = np.zeros((2, 4), np.uint8)
    driver.cuMemcpy3D_v2(ctypes.byref(Copy3D(srcType=ARRAY, srcArray=array, srcX=5, srcZ=1, dstType=HOST,
                         dstHost=back.ctypes.data, dstPitch=4, dstHeight=1, width=4, height=1, depth=2)))  # fmt: skip
    np.testing.assert_array_equal(back, source[1:3, 5:9])


def test_boxes_that_leave_an_array_or_change_the_element_are_refused(driver, context):
    array, other = create(driver, 7, 5, 3, kind=U32), create(driver, 14, 5, 3, kind=U16)
    memory = driver.out("cuMemAlloc_v2", 4096)
    good = {"srcType": DEVICE, "srcDevice": memory, "srcPitch": 28, "srcHeight": 5, "dstType": ARRAY, "dstArray": array,
            "width": 28, "height": 5, "depth": 3}  # fmt: skip
    driver.cuMemcpy3D_v2(ctypes.byref(Copy3D(**good)))
    for bad in ({"dstZ": 1}, {"dstY": 1}, {"dstX": 4}, {"depth": 4}, {"dstLOD": 1}, {"dstZ": 2**64 - 1},
                {"srcType": ARRAY, "srcArray": other}):  # fmt: skip
        assert driver.code("cuMemcpy3D_v2", ctypes.byref(Copy3D(**(good | bad)))) == INVALID_VALUE
    for bad in ({"dstArray": 0}, {"dstArray": memory}):
        assert driver.code("cuMemcpy3D_v2", ctypes.byref(Copy3D(**(good | bad)))) == INVALID_HANDLE


def test_memory_of_a_destroyed_array_outlives_the_graph_that_copies_to_it(driver, context):
    array, source = create(driver, 1000, kind=U8), ctypes.create_string_buffer(1000)
    graph = driver.out("cuGraphCreate", 0)
    box = Copy3D(
        srcType=HOST, srcHost=ctypes.addressof(source), dstType=ARRAY, dstArray=array, width=1000, height=1, depth=1
    )
    driver.out("cuGraphAddMemcpyNode", graph, None, 0, ctypes.byref(box), context)
    ready = driver.out("cuGraphInstantiateWithFlags", graph, 0)
    driver.cuArrayDestroy(array)
    driver.cuGraphLaunch(ready, 0)
    driver.cuStreamSynchronize(0)
    driver.cuGraphExecDestroy(ready)
    driver.cuGraphDestroy(graph)
