"""CUDA arrays and mipmapped arrays, copies of every shape to and from them, texture and surface objects."""

import ctypes

from native.cudart.library import ChannelFormat, Extent, Runtime

INVALID_VALUE, INVALID_CHANNEL, INVALID_DIRECTION, INVALID_HANDLE = 1, 20, 21, 400
H2D, D2H, D2D = 1, 2, 3
SIGNED, UNSIGNED, FLOAT = 0, 1, 2
ptr, u32, u64, size_t = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t


class Linear(ctypes.Structure):
    _fields_ = [("address", ptr), ("format", ChannelFormat), ("bytes", size_t)]


class Pitched(ctypes.Structure):
    _fields_ = [("address", ptr), ("format", ChannelFormat), ("width", size_t), ("height", size_t), ("pitch", size_t)]


class Resource(ctypes.Structure):
    class Of(ctypes.Union):
        _fields_ = [("array", ptr), ("linear", Linear), ("pitched", Pitched), ("all", u32 * 32)]

    _fields_ = [("type", u32), ("of", Of), ("flags", u32)]


class Texture(ctypes.Structure):
    _fields_ = [
        ("address", u32 * 3), ("filter", u32), ("read", u32), ("srgb", u32), ("border", ctypes.c_float * 4), ("normalized", u32),
        ("anisotropy", u32), ("mip_filter", u32), ("bias", ctypes.c_float), ("least", ctypes.c_float), ("most", ctypes.c_float),
        ("no_trilinear", u32), ("seamless", u32),
    ]  # fmt: skip


class View(ctypes.Structure):
    _fields_ = [
        ("format", u32), ("width", size_t), ("height", size_t), ("depth", size_t), ("first_level", u32), ("last_level", u32),
        ("first_layer", u32), ("last_layer", u32), ("reserved", u32 * 16),
    ]  # fmt: skip


def words(*values: int) -> ctypes.Array:
    return (u32 * len(values))(*values)


def channel(rt: Runtime, bits: int = 32, kind: int = UNSIGNED, channels: int = 1) -> ChannelFormat:
    return rt.raw("cudaCreateChannelDesc")(*[bits if i < channels else 0 for i in range(4)], kind)


def make(rt: Runtime, width: int, height: int, flags: int = 0, desc: ChannelFormat | None = None) -> int:
    desc = desc or channel(rt)
    return rt.out("cudaMallocArray", ptr, after=(ctypes.byref(desc), width, height, flags))


def content(rt: Runtime, array: int, width: int, height: int) -> list[int]:
    got = (u32 * (width * height))()
    rt.cudaMemcpy2DFromArray(got, 4 * width, array, 0, 0, 4 * width, height, D2H)
    return list(got)


def check_descriptions(rt: Runtime) -> None:
    desc = channel(rt, 16, FLOAT, 4)
    assert [desc.x, desc.y, desc.z, desc.w, desc.f] == [16, 16, 16, 16, FLOAT]
    for bits, kind, channels in (
        (8, SIGNED, 1),
        (8, UNSIGNED, 4),
        (16, SIGNED, 2),
        (16, FLOAT, 1),
        (32, FLOAT, 4),
        (8, 7, 4),
    ):
        desc = channel(rt, bits, kind, channels)
        array = make(rt, 10, 3, 0, desc)
        got, extent, flags = ChannelFormat(), Extent(), u32(9)
        rt.cudaGetChannelDesc(ctypes.byref(got), array)
        assert bytes(got) == bytes(desc)
        rt.cudaArrayGetInfo(ctypes.byref(got), ctypes.byref(extent), ctypes.byref(flags), array)
        assert (bytes(got), extent.width, extent.height, extent.depth, flags.value) == (bytes(desc), 10, 3, 0, 0)
        rt.cudaFreeArray(array)
    wrong = ChannelFormat(32, 16, 0, 0, FLOAT)
    assert rt.code.cudaMallocArray(ctypes.byref(ptr()), ctypes.byref(wrong), 4, 4, 0) == INVALID_CHANNEL
    assert rt.code.cudaFreeArray(array) == INVALID_HANDLE
    rt.cudaFreeArray(None)
    width = size_t()
    rt.cudaDeviceGetTexture1DLinearMaxWidth(ctypes.byref(width), ctypes.byref(channel(rt)), 0)
    assert width.value >= 1 << 27


def check_requirements(rt: Runtime) -> None:
    array = make(rt, 16, 4)
    needs = (u64 * 4)()
    assert rt.code.cudaArrayGetMemoryRequirements(needs, array, 0) in (0, INVALID_VALUE)  # of arrays mapped later only
    assert rt.code.cudaArrayGetSparseProperties((u32 * 12)(), array) == INVALID_VALUE
    assert rt.code.cudaArrayGetPlane(ctypes.byref(ptr()), array, 0) == INVALID_VALUE  # it has one plane
    rt.cudaFreeArray(array)


def check_rows(rt: Runtime) -> None:
    def each() -> None:
        stream = rt.out("cudaStreamCreate", ptr)
        a, b = make(rt, 4, 3), make(rt, 4, 3)
        data = words(*range(1, 13))
        rt.cudaMemcpy2DToArray(a, 0, 0, data, 16, 16, 3, H2D)
        assert content(rt, a, 4, 3) == list(data)
        rt.cudaMemcpy2DArrayToArray(b, 4, 1, a, 0, 0, 8, 2, D2D)
        assert content(rt, b, 4, 3)[4:] == [0, 1, 2, 0, 0, 5, 6, 0]
        memory = rt.out("cudaMalloc", ptr, after=(64,))
        rt.cudaMemcpy2DFromArrayAsync(memory, 12, a, 4, 1, 12, 2, D2D, stream)
        rt.cudaMemcpy2DToArrayAsync(b, 0, 0, memory, 12, 12, 2, D2D, stream)
        rt.cudaStreamSynchronize(stream)
        got = (u32 * 6)()
        rt.cudaMemcpy(got, memory, 24, D2H)
        assert list(got) == [6, 7, 8, 10, 11, 12]
        assert content(rt, b, 4, 3)[:7] == [6, 7, 8, 0, 10, 11, 12]
        assert rt.code.cudaMemcpy2DToArray(a, 0, 0, data, 16, 16, 3, D2H) == INVALID_DIRECTION
        assert rt.code.cudaMemcpy2DToArray(a, 4, 0, data, 16, 16, 3, H2D) == INVALID_VALUE  # beyond the row
        for thing in (a, b):
            rt.cudaFreeArray(thing)
        rt.cudaFree(memory)
        rt.cudaStreamDestroy(stream)

    each()
    with rt.per_thread():
        each()


def check_bytes_that_run_on_in_the_next_row(rt: Runtime) -> None:
    def each() -> None:
        a, b = make(rt, 4, 3), make(rt, 3, 4)
        stream = rt.out("cudaStreamCreate", ptr)
        data = words(*range(20, 32))
        rt.cudaMemcpyToArray(a, 0, 0, data, 48, H2D)
        assert content(rt, a, 4, 3) == list(data)
        rt.cudaMemcpyArrayToArray(b, 0, 0, a, 8, 0, 40, D2D)  # rows of other lengths
        assert content(rt, b, 3, 4)[:10] == list(range(22, 32))
        got = (u32 * 6)()
        rt.cudaMemcpyFromArray(got, a, 12, 0, 24, D2H)
        assert list(got) == [23, 24, 25, 26, 27, 28]
        rt.cudaMemcpyToArrayAsync(a, 8, 1, words(1, 2, 3), 12, H2D, stream)
        rt.cudaMemcpyFromArrayAsync(got, a, 4, 1, 20, D2H, stream)
        rt.cudaStreamSynchronize(stream)
        assert list(got)[:5] == [25, 1, 2, 3, 29]
        for thing in (a, b):
            rt.cudaFreeArray(thing)
        rt.cudaStreamDestroy(stream)

    each()
    with rt.per_thread():
        each()


def check_boxes_and_levels(rt: Runtime) -> None:
    desc = channel(rt)
    box = rt.out("cudaMalloc3DArray", ptr, after=(ctypes.byref(desc), Extent(8, 4, 2), 0))
    extent = Extent()
    rt.cudaArrayGetInfo(None, ctypes.byref(extent), None, box)
    assert (extent.width, extent.height, extent.depth) == (8, 4, 2)
    rt.cudaFreeArray(box)
    mipmap = rt.out("cudaMallocMipmappedArray", ptr, after=(ctypes.byref(desc), Extent(8, 4, 0), 3, 0))
    sizes = []
    for level in range(3):
        array = rt.out("cudaGetMipmappedArrayLevel", ptr, after=(mipmap, level))
        rt.cudaArrayGetInfo(None, ctypes.byref(extent), None, array)
        sizes.append((extent.width, extent.height))
    assert sizes == [(8, 4), (4, 2), (2, 1)]
    assert rt.code.cudaGetMipmappedArrayLevel(ctypes.byref(ptr()), mipmap, 3) == INVALID_VALUE
    assert rt.code.cudaMipmappedArrayGetMemoryRequirements((u64 * 4)(), mipmap, 0) in (0, INVALID_VALUE)
    assert rt.code.cudaMipmappedArrayGetSparseProperties((u32 * 12)(), mipmap) == INVALID_VALUE
    rt.cudaFreeMipmappedArray(mipmap)
    rt.cudaFreeMipmappedArray(None)


def round_trip(rt: Runtime, resource: Resource, sampling: Texture) -> None:
    texture = rt.out("cudaCreateTextureObject", u64, after=(ctypes.byref(resource), ctypes.byref(sampling), None))
    got, how = Resource(), Texture()
    rt.cudaGetTextureObjectResourceDesc(ctypes.byref(got), texture)
    assert bytes(got)[: Resource.flags.offset] == bytes(resource)[: Resource.flags.offset]
    rt.cudaGetTextureObjectTextureDesc(ctypes.byref(how), texture)
    assert bytes(how) == bytes(sampling)
    rt.cudaDestroyTextureObject(texture)


def check_textures(rt: Runtime) -> None:
    memory, array = rt.out("cudaMalloc", ptr, after=(4096,)), make(rt, 16, 8, 0, channel(rt, 32, FLOAT))
    sampling = Texture(
        address=(u32 * 3)(1, 3, 0), filter=1, read=0, normalized=1, border=(0.5, 1, 2, 3), most=2.5, bias=0.25
    )
    linear = Resource(2)
    linear.of.linear = Linear(memory, channel(rt, 32, FLOAT), 1024)
    round_trip(rt, linear, Texture(read=0))
    pitched = Resource(3)
    pitched.of.pitched = Pitched(memory, channel(rt, 8, UNSIGNED, 4), 16, 8, 512)
    round_trip(rt, pitched, Texture(filter=1, read=1, address=(u32 * 3)(1, 1, 0)))
    whole = Resource(0)
    whole.of.array = array
    round_trip(rt, whole, sampling)
    view, seen = View(format=0x16, width=16, height=8), View()  # one channel of 32-bit floating point
    texture = rt.out(
        "cudaCreateTextureObject", u64, after=(ctypes.byref(whole), ctypes.byref(sampling), ctypes.byref(view))
    )
    rt.cudaGetTextureObjectResourceViewDesc(ctypes.byref(seen), texture)
    assert (seen.format, seen.width, seen.height) == (0x16, 16, 8)
    rt.cudaDestroyTextureObject(texture)
    for thing in (array,):
        rt.cudaFreeArray(thing)
    rt.cudaFree(memory)


def check_surfaces(rt: Runtime) -> None:
    array = make(rt, 16, 8, 2)  # surface load and store
    resource, got = Resource(0), Resource()
    resource.of.array = array
    surface = rt.out("cudaCreateSurfaceObject", u64, after=(ctypes.byref(resource),))
    rt.cudaGetSurfaceObjectResourceDesc(ctypes.byref(got), surface)
    assert (got.type, got.of.array) == (0, array)
    rt.cudaDestroySurfaceObject(surface)
    plain = make(rt, 16, 8)
    resource.of.array = plain
    assert rt.code.cudaCreateSurfaceObject(ctypes.byref(u64()), ctypes.byref(resource)) == INVALID_VALUE
    for thing in (array, plain):
        rt.cudaFreeArray(thing)
