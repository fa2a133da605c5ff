"""Mipmapped arrays, and texture and surface objects: what may be made of what, and that each gives back its description.

Expected sizes, codes and limits come from the CUDA Driver API manual (cuMipmappedArrayCreate, cuTexObjectCreate).
"""

import ctypes

import numpy as np
import pytest

from native.test_arrays import (
    ARRAY,
    CUBEMAP,
    FLOAT,
    GATHER,
    HALF,
    HOST,
    INVALID_HANDLE,
    INVALID_VALUE,
    LAYERED,
    NOT_SUPPORTED,
    SURFACE,
    U8,
    U16,
    U32,
    Shape3D,
    create,
    numbers,
    shape,
)  # fmt: skip
from native.test_memory import Copy3D

pytestmark = pytest.mark.native

IN_ARRAY, MIPMAPPED, LINEAR, PITCHED = 0, 1, 2, 3
AS_INTEGER, NORMALIZED, SEAMLESS = 1, 2, 0x40
UINT_1X8, FLOAT_1X32, UINT_1X32, BC1, BC2, BC7 = 1, 0x16, 0x0D, 0x19, 0x1A, 0x22


class OfArray(ctypes.Structure):
    _fields_ = [("handle", ctypes.c_void_p)]


class OfLine(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("format", ctypes.c_int), ("channels", ctypes.c_uint), ("bytes", ctypes.c_size_t)]  # fmt: skip


class OfRows(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("format", ctypes.c_int), ("channels", ctypes.c_uint),
                ("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("pitch", ctypes.c_size_t)]  # fmt: skip


class What(ctypes.Union):
    _fields_ = [("array", OfArray), ("line", OfLine), ("rows", OfRows), ("reserved", ctypes.c_int * 32)]


class Resource(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("what", What), ("flags", ctypes.c_uint)]


class Sampling(ctypes.Structure):
    _fields_ = [("address", ctypes.c_int * 3), ("filter", ctypes.c_int), ("flags", ctypes.c_uint), ("anisotropy", ctypes.c_uint),
                ("between", ctypes.c_int), ("bias", ctypes.c_float), ("least", ctypes.c_float), ("most", ctypes.c_float),
                ("border", ctypes.c_float * 4), ("reserved", ctypes.c_int * 12)]  # fmt: skip


class View(ctypes.Structure):
    _fields_ = [("format", ctypes.c_int), ("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("depth", ctypes.c_size_t),
                ("first_level", ctypes.c_uint), ("last_level", ctypes.c_uint), ("first_layer", ctypes.c_uint),
                ("last_layer", ctypes.c_uint), ("reserved", ctypes.c_uint * 16)]  # fmt: skip


def test_structures_have_the_sizes_of_the_public_headers():
    assert [ctypes.sizeof(x) for x in (Resource, Sampling, View)] == [144, 104, 112]


def of_array(array, kind=IN_ARRAY, flags=0):
    return Resource(kind, What(array=OfArray(array)), flags)


def mipmapped(driver, *args, levels=99, **more):
    return driver.out("cuMipmappedArrayCreate", shape(*args, **more), levels)


def make(driver, resource, sampling=None, view=None):
    """Create a texture; returns the code and the handle."""
    out = ctypes.c_uint64()
    view = None if view is None else ctypes.byref(view)
    code = driver.code(
        "cuTexObjectCreate", ctypes.byref(out), ctypes.byref(resource), ctypes.byref(sampling or Sampling()), view
    )
    return code, out.value


def level_shape(driver, array, level):
    told = Shape3D()
    driver.cuArray3DGetDescriptor_v2(ctypes.byref(told), driver.out("cuMipmappedArrayGetLevel", array, level))
    return told.width, told.height, told.depth


@pytest.mark.parametrize(
    ("extents", "flags", "levels"),
    [((13, 0, 0), 0, [(13, 0, 0), (6, 0, 0), (3, 0, 0), (1, 0, 0)]),
     ((5, 9, 0), 0, [(5, 9, 0), (2, 4, 0), (1, 2, 0), (1, 1, 0)]),
     ((7, 2, 4), 0, [(7, 2, 4), (3, 1, 2), (1, 1, 1)]),
     ((8, 4, 3), LAYERED, [(8, 4, 3), (4, 2, 3), (2, 1, 3), (1, 1, 3)]),
     ((8, 0, 3), LAYERED, [(8, 0, 3), (4, 0, 3), (2, 0, 3), (1, 0, 3)]),
     ((6, 6, 6), CUBEMAP, [(6, 6, 6), (3, 3, 6), (1, 1, 6)])],
)  # fmt: skip
def test_each_level_is_half_as_large(driver, context, extents, flags, levels):
    array = mipmapped(driver, *extents, flags=flags)
    assert [level_shape(driver, array, n) for n in range(len(levels))] == levels
    assert driver.code("cuMipmappedArrayGetLevel", ctypes.byref(ctypes.c_void_p()), array, len(levels)) == INVALID_VALUE
    driver.cuMipmappedArrayDestroy(array)
    assert driver.code("cuMipmappedArrayDestroy", array) == INVALID_HANDLE


@pytest.mark.parametrize(("asked", "made"), [(0, 1), (1, 1), (3, 3), (4, 4), (5, 4), (2**32 - 1, 4)])
def test_the_number_of_levels_is_clamped(driver, context, asked, made):
    array = mipmapped(driver, 8, 8, levels=asked)
    driver.out("cuMipmappedArrayGetLevel", array, made - 1)
    assert driver.code("cuMipmappedArrayGetLevel", ctypes.byref(ctypes.c_void_p()), array, made) == INVALID_VALUE


def test_levels_hold_different_contents_and_go_with_the_whole(driver, context):
    array = mipmapped(driver, 9, 6, kind=U16, channels=2, levels=3)
    level = [driver.out("cuMipmappedArrayGetLevel", array, n) for n in range(3)]
    assert driver.out("cuMipmappedArrayGetLevel", array, 1) == level[1]
    extents = [(6, 9, 2), (3, 4, 2), (1, 2, 2)]
    data = [numbers(e, np.uint16, seed) for seed, e in enumerate(extents)]
    for handle, piece in zip(level, data, strict=True):
        height, width, _ = piece.shape
        driver.cuMemcpy3D_v2(ctypes.byref(Copy3D(srcType=HOST, srcHost=piece.ctypes.data, srcPitch=width * 4, dstType=ARRAY,
                             dstArray=handle, width=width * 4, height=height, depth=1)))  # fmt: skip
    for handle, piece in zip(level, data, strict=True):
        height, width, _ = piece.shape
        back = np.zeros_like(piece)
        driver.cuMemcpy3D_v2(ctypes.byref(Copy3D(srcType=ARRAY, srcArray=handle, dstType=HOST, dstHost=back.ctypes.data,
                             dstPitch=width * 4, width=width * 4, height=height, depth=1)))  # fmt: skip
        np.testing.assert_array_equal(back, piece)
    assert driver.code("cuArrayDestroy", level[1]) == INVALID_HANDLE  # its owner destroys it
    driver.cuMipmappedArrayDestroy(array)
    assert driver.code("cuArray3DGetDescriptor_v2", ctypes.byref(Shape3D()), level[0]) == INVALID_HANDLE


def test_mipmapped_arrays_are_checked_like_arrays(driver, context):
    out = ctypes.byref(ctypes.c_void_p())
    most = driver.out("cuDeviceGetAttribute", 77, 0, kind=ctypes.c_int)
    for bad in (shape(0), shape(7, 0, 3), shape(4, 5, 6, flags=CUBEMAP), shape(7, 0, 0, flags=GATHER), shape(most + 1),
                shape(7, channels=3)):  # fmt: skip
        assert driver.code("cuMipmappedArrayCreate", out, bad, 1) == INVALID_VALUE
    good, room = mipmapped(driver, 8), ctypes.create_string_buffer(64)
    assert driver.code("cuMipmappedArrayGetMemoryRequirements", room, good, 0) == INVALID_VALUE
    assert driver.code("cuMipmappedArrayGetSparseProperties", room, good) == INVALID_VALUE


def test_a_texture_gives_back_its_descriptions(driver, context):
    array = create(driver, 7, 5, 4, kind=FLOAT, flags=LAYERED)
    sampling = Sampling((1, 2, 3), 1, NORMALIZED, 4, 1, 0.5, 0.25, 2.5, (1, 2, 3, 4))
    view = View(FLOAT_1X32, 7, 5, 4, first_layer=1, last_layer=3)
    code, texture = make(driver, of_array(array), sampling, view)
    assert code == 0 and texture
    for name, given in (("Resource", of_array(array)), ("Texture", sampling), ("ResourceView", view)):
        told = type(given)()
        getattr(driver, f"cuTexObjectGet{name}Desc")(ctypes.byref(told), texture)
        if name == "Resource":
            assert (told.kind, told.what.array.handle, told.flags) == (IN_ARRAY, array, 0)
        else:
            assert bytes(told) == bytes(given)
    _, plain = make(driver, of_array(array))
    assert plain != texture
    assert driver.code("cuTexObjectGetResourceViewDesc", ctypes.byref(View()), plain) == INVALID_VALUE
    driver.cuTexObjectDestroy(texture)
    assert driver.code("cuTexObjectDestroy", texture) == INVALID_VALUE
    assert driver.code("cuTexObjectGetTextureDesc", ctypes.byref(Sampling()), texture) == INVALID_VALUE
    assert driver.code("cuTexObjectGetTextureDesc", None, plain) == INVALID_VALUE


def test_arrays_of_textures_must_exist(driver, context):
    array = create(driver, 7, 5)
    assert make(driver, of_array(array, flags=1))[0] == INVALID_VALUE
    assert make(driver, of_array(array, kind=4))[0] == INVALID_VALUE
    assert make(driver, of_array(array, kind=MIPMAPPED), Sampling(flags=NORMALIZED))[0] == INVALID_VALUE
    driver.cuArrayDestroy(array)
    assert make(driver, of_array(array))[0] == INVALID_VALUE


def test_linear_memory_of_textures_is_checked(driver, context):
    memory, align = driver.out("cuMemAlloc_v2", 8192), driver.out("cuDeviceGetAttribute", 14, 0, kind=ctypes.c_int)
    most = driver.out("cuDeviceGetAttribute", 69, 0, kind=ctypes.c_int)

    def code(address=memory, kind=FLOAT, channels=4, size=8192):
        return make(driver, Resource(LINEAR, What(line=OfLine(address, kind, channels, size))))[0]

    aligned = -memory % align
    assert code(memory + aligned, size=4096) == 0
    assert code(memory + aligned, size=8193) == INVALID_VALUE
    assert code(memory + aligned + 16, size=16) == INVALID_VALUE
    assert code(0) == code(4096, size=16) == INVALID_VALUE
    assert code(memory + aligned, channels=3, size=48) == INVALID_VALUE
    assert code(memory + aligned, kind=5, size=48) == INVALID_VALUE
    assert code(memory + aligned, size=15) == INVALID_VALUE
    assert code(memory + aligned, kind=U8, channels=1, size=most + 1) == INVALID_VALUE


def test_pitched_memory_of_textures_is_checked(driver, context):
    address, pitch = ctypes.c_uint64(), ctypes.c_size_t()
    driver.cuMemAllocPitch_v2(ctypes.byref(address), ctypes.byref(pitch), 300, 10, 4)

    def code(width=100, height=10, step=pitch.value, start=address.value):
        return make(driver, Resource(PITCHED, What(rows=OfRows(start, HALF, 1, width, height, step))))[0]

    assert code() == 0
    bad = ({"height": 11}, {"step": pitch.value - 1}, {"step": 32, "width": 17}, {"width": 0}, {"height": 0},
           {"start": address.value + 2}, {"height": 65001}, {"step": 2**62})  # fmt: skip
    assert [code(**change) for change in bad] == [INVALID_VALUE] * len(bad)


def test_the_width_of_linear_textures_is_the_devices_attribute(driver, context):
    most = driver.out("cuDeviceGetAttribute", 69, 0, kind=ctypes.c_int)
    name = "cuDeviceGetTexture1DLinearMaxWidth"
    assert most > 0 and driver.out(name, FLOAT, 4, 0, kind=ctypes.c_size_t) == most
    out = ctypes.byref(ctypes.c_size_t())
    assert driver.code(name, out, FLOAT, 3, 0) == driver.code(name, out, 5, 1, 0) == INVALID_VALUE
    assert driver.code(name, out, FLOAT, 4, 1) == 101


def test_how_a_texture_samples_is_checked(driver, context):
    flat, cube = of_array(create(driver, 7, 5)), of_array(create(driver, 6, 6, 6, flags=CUBEMAP))
    mips = of_array(mipmapped(driver, 8, 8), MIPMAPPED)
    for bad in (Sampling((0, 4, 0)), Sampling((-1, 0, 0)), Sampling(filter=2), Sampling(between=2), Sampling(flags=4),
                Sampling(flags=SEAMLESS)):  # fmt: skip
        assert make(driver, flat, bad)[0] == INVALID_VALUE
    assert make(driver, cube, Sampling(flags=SEAMLESS))[0] == 0
    assert make(driver, mips)[0] == INVALID_VALUE
    assert make(driver, mips, Sampling(flags=NORMALIZED | AS_INTEGER))[0] == 0
    out = ctypes.byref(ctypes.c_uint64())
    assert driver.code("cuTexObjectCreate", out, ctypes.byref(flat), None, None) == INVALID_VALUE
    assert driver.code("cuTexObjectCreate", out, None, ctypes.byref(Sampling()), None) == INVALID_VALUE
    assert driver.code("cuTexObjectCreate", None, ctypes.byref(flat), ctypes.byref(Sampling()), None) == INVALID_VALUE


def test_views_fit_what_they_show(driver, context):
    flat, layered = create(driver, 7, 5, kind=FLOAT), create(driver, 7, 5, 4, kind=U32, channels=2, flags=LAYERED)
    mips, good = mipmapped(driver, 8, 4, levels=3), Sampling(flags=NORMALIZED)

    def code(resource, *args, **more):
        return make(driver, resource, good, View(*args, **more))[0]

    assert code(of_array(flat), FLOAT_1X32, 7, 5, 0) == code(of_array(flat), UINT_1X32, 7, 5, 0) == 0
    assert code(of_array(flat), 0, 7, 5, 0) == 0
    for bad in (
        (FLOAT_1X32, 6, 5, 0),
        (FLOAT_1X32, 7, 5, 1),
        (UINT_1X8, 7, 5, 0),
        (BC7 + 1, 7, 5, 0),
        (BC1, 28, 20, 0),
    ):
        assert code(of_array(flat), *bad) == INVALID_VALUE
    assert code(of_array(flat), FLOAT_1X32, 7, 5, 0, last_layer=1) == INVALID_VALUE
    assert code(of_array(flat), FLOAT_1X32, 7, 5, 0, last_level=1) == INVALID_VALUE
    assert code(of_array(layered), BC1, 28, 20, 4, last_layer=3) == NOT_SUPPORTED
    assert code(of_array(layered), BC1, 7, 5, 4) == code(of_array(layered), BC2, 28, 20, 4) == INVALID_VALUE
    assert code(of_array(layered), BC1, 28, 20, 4, last_layer=4) == INVALID_VALUE
    assert code(of_array(layered), BC1, 28, 20, 4, first_layer=2, last_layer=1) == INVALID_VALUE
    assert code(of_array(mips, MIPMAPPED), UINT_1X8, 8, 4, 0, first_level=1, last_level=2) == 0
    assert code(of_array(mips, MIPMAPPED), UINT_1X8, 8, 4, 0, last_level=3) == INVALID_VALUE
    memory = driver.out("cuMemAllocManaged", 4096, 1)
    line = Resource(LINEAR, What(line=OfLine(memory, FLOAT, 1, 64)))
    assert make(driver, line)[0] == 0
    assert code(line, FLOAT_1X32, 16, 0, 0) == INVALID_VALUE


def test_surfaces_are_made_of_arrays_that_allow_them(driver, context):
    array, other = create(driver, 7, 5, flags=SURFACE), create(driver, 7, 5)
    surface = driver.out("cuSurfObjectCreate", ctypes.byref(of_array(array)), kind=ctypes.c_uint64)
    told = Resource()
    driver.cuSurfObjectGetResourceDesc(ctypes.byref(told), surface)
    assert (told.kind, told.what.array.handle) == (IN_ARRAY, array)
    out = ctypes.byref(ctypes.c_uint64())
    for bad in (
        of_array(other),
        of_array(array, flags=1),
        of_array(array, MIPMAPPED),
        of_array(12345),
        of_array(0, LINEAR),
    ):
        assert driver.code("cuSurfObjectCreate", out, ctypes.byref(bad)) == INVALID_VALUE
    assert driver.code("cuTexObjectDestroy", surface) == INVALID_VALUE
    driver.cuSurfObjectDestroy(surface)
    assert driver.code("cuSurfObjectDestroy", surface) == INVALID_VALUE


def test_objects_end_with_their_context(driver, context):
    inner = driver.out("cuCtxCreate_v2", 0, 0)
    array = create(driver, 7, 5, flags=SURFACE)
    _, texture = make(driver, of_array(array))
    surface = driver.out("cuSurfObjectCreate", ctypes.byref(of_array(array)), kind=ctypes.c_uint64)
    mips = mipmapped(driver, 8)
    driver.cuCtxDestroy_v2(inner)
    assert driver.code("cuTexObjectDestroy", texture) == INVALID_VALUE
    assert driver.code("cuSurfObjectDestroy", surface) == INVALID_VALUE
    assert driver.code("cuMipmappedArrayDestroy", mips) == INVALID_HANDLE
