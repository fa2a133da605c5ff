"""Allocations, copies, fills, managed memory, pointers."""

import ctypes

from native.cudart.library import Extent, MemLocation, PitchedPtr, Pos, Runtime

H2H, H2D, D2H, D2D, DEFAULT = range(5)
KINDS = (H2H, H2D, D2H, D2D, DEFAULT)


def allocate(rt: Runtime, size: int) -> int:
    return rt.out("cudaMalloc", ctypes.c_void_p, after=(size,))


def read(rt: Runtime, address: int, size: int) -> bytes:
    got = ctypes.create_string_buffer(size)
    rt.cudaDeviceSynchronize()
    rt.cudaMemcpy(got, address, size, D2H)
    return got.raw


def check_allocations(rt: Runtime) -> None:
    address = allocate(rt, 1000)
    assert address % 256 == 0
    assert allocate(rt, 0) is None
    rt.cudaFree(address)
    assert rt.code.cudaFree(address) == 1
    assert rt.code.cudaMalloc(ctypes.byref(ctypes.c_void_p()), 1 << 60) == 2
    pointer, pitch = ctypes.c_void_p(), ctypes.c_size_t()
    rt.cudaMallocPitch(ctypes.byref(pointer), ctypes.byref(pitch), 100, 7)
    assert pitch.value >= 100 and pitch.value % 32 == 0
    rt.cudaFree(pointer)
    box = PitchedPtr()
    rt.cudaMalloc3D(ctypes.byref(box), Extent(100, 5, 3))
    assert (box.xsize, box.ysize) == (100, 5) and box.pitch >= 100
    rt.cudaFree(box.ptr)
    available, total = ctypes.c_size_t(), ctypes.c_size_t()
    rt.cudaMemGetInfo(ctypes.byref(available), ctypes.byref(total))
    assert 0 < available.value <= total.value


def check_host_memory(rt: Runtime) -> None:
    page = rt.out("cudaHostAlloc", ctypes.c_void_p, after=(8192, 2))
    ctypes.memset(page, 0x5A, 8192)
    flags = ctypes.c_uint()
    rt.cudaHostGetFlags(ctypes.byref(flags), page)
    assert flags.value & 2
    mapped = rt.out("cudaHostGetDevicePointer", ctypes.c_void_p, after=(page, 0))
    assert read(rt, mapped, 10) == b"\x5a" * 10
    rt.cudaFreeHost(page)
    page = rt.out("cudaMallocHost", ctypes.c_void_p, after=(100,))
    rt.cudaFreeHost(page)
    assert rt.code.cudaFreeHost(page) == 1
    mine = ctypes.create_string_buffer(8192)
    rt.cudaHostRegister(mine, 8192, 0)
    assert rt.code.cudaHostRegister(mine, 8192, 0) == 712
    rt.cudaHostUnregister(mine)
    assert rt.code.cudaHostUnregister(mine) == 713


def each_copy(rt: Runtime) -> None:
    a, b = allocate(rt, 4096), allocate(rt, 4096)
    data = bytes(i * 7 % 251 for i in range(4096))
    rt.cudaMemcpy(a, data, 4096, H2D)
    rt.cudaMemcpy(b, a, 4096, D2D)
    assert read(rt, b, 4096) == data
    got = ctypes.create_string_buffer(4096)
    rt.cudaMemcpy(got, b, 4096, DEFAULT)
    assert got.raw == data
    rt.cudaMemcpy(got, data[::-1], 4096, H2H)
    assert got.raw == data[::-1]
    stream = rt.out("cudaStreamCreate", ctypes.c_void_p)
    for target in (None, stream):
        rt.cudaMemcpyAsync(a, data[::-1], 4096, H2D, target)
        rt.cudaMemcpyAsync(b, a, 4096, D2D, target)
        rt.cudaMemcpyAsync(got, b, 4096, D2H, target)
        rt.cudaStreamSynchronize(target)
        assert got.raw == data[::-1]
        rt.cudaMemcpyPeerAsync(a, 0, b, 0, 4096, target)
        rt.cudaMemsetAsync(b, 0x33, 100, target)
        rt.cudaMemset2DAsync(b + 200, 20, 0x44, 10, 3, target)
        rt.cudaStreamSynchronize(target)
        assert read(rt, a, 4096) == data[::-1]
        assert read(rt, b, 200) == b"\x33" * 100 + data[::-1][100:200]
        assert read(rt, b + 200, 40) == b"\x44" * 10 + data[::-1][210:220] + b"\x44" * 10 + data[::-1][230:240]
        rt.cudaMemcpy(b, a, 4096, D2D)
    rt.cudaStreamDestroy(stream)
    rt.cudaMemcpyPeer(b, 0, a, 0, 100)
    rt.cudaMemset(a, 0x177, 50)
    assert read(rt, a, 51) == b"\x77" * 50 + data[::-1][50:51]
    rt.cudaMemset2D(a, 16, 1, 8, 4)
    assert read(rt, a, 32) == (b"\x01" * 8 + b"\x77" * 8) * 2
    assert rt.code.cudaMemset2D(a, 4, 1, 8, 4) == 12
    assert rt.code.cudaMemcpy(a, b, 4, 9) == 21
    rt.cudaMemcpy(None, None, 0, H2D)
    rt.cudaFree(a)
    rt.cudaFree(b)


def each_shape(rt: Runtime) -> None:
    data = bytes(range(200))
    a, b = allocate(rt, 1024), allocate(rt, 1024)
    rt.cudaMemset(a, 0, 1024)
    rt.cudaMemcpy2D(a, 64, data, 20, 12, 5, H2D)
    rows = [data[20 * r : 20 * r + 12] for r in range(5)]
    assert read(rt, a, 64 * 5) == b"".join(row + bytes(52) for row in rows)
    rt.cudaMemcpy2DAsync(b, 12, a, 64, 12, 5, D2D, None)
    assert read(rt, b, 60) == b"".join(rows)
    got = ctypes.create_string_buffer(60)
    rt.cudaMemcpy2D(got, 12, a, 64, 12, 5, D2H)
    assert got.raw == b"".join(rows)
    assert rt.code.cudaMemcpy2D(a, 8, data, 20, 12, 5, H2D) == 12
    # a box of 3 x 2 x 2 bytes from position (1, 1, 0) of one of 5 x 4 x 2
    source = ctypes.create_string_buffer(bytes(range(40)), 40)
    wanted = b"".join(bytes(source.raw[z * 20 + y * 5 + 1 : z * 20 + y * 5 + 4]) for z in (0, 1) for y in (1, 2))
    for name in ("cudaMemcpy3D", "cudaMemcpy3DAsync"):
        rt.cudaMemset(b, 0, 100)
        box = Box(None, Pos(1, 1, 0), PitchedPtr(ctypes.addressof(source), 5, 5, 4), None, Pos(0, 0, 0))
        box.to, box.extent, box.kind = PitchedPtr(b, 3, 3, 2), Extent(3, 2, 2), H2D
        getattr(rt, name)(ctypes.byref(box), *([None] if name.endswith("Async") else []))
        assert read(rt, b, 12) == wanted
    for name in ("cudaMemcpy3DPeer", "cudaMemcpy3DPeerAsync"):
        peer = PeerBox(None, Pos(0, 0, 0), PitchedPtr(b, 3, 3, 2), 0, None, Pos(0, 0, 0), PitchedPtr(a, 3, 3, 2), 0)
        peer.extent = Extent(3, 2, 2)
        rt.cudaMemset(a, 0, 100)
        getattr(rt, name)(ctypes.byref(peer), *([None] if name.endswith("Async") else []))
        assert read(rt, a, 12) == wanted
    rt.cudaMemset(a, 0, 1024)
    rt.cudaMemset3D(PitchedPtr(a, 8, 8, 3), 5, Extent(4, 2, 2))
    slices = (b"\x05" * 4 + bytes(4)) * 2 + bytes(8)
    assert read(rt, a, 48) == slices * 2
    rt.cudaMemset3DAsync(PitchedPtr(a, 8, 8, 3), 6, Extent(8, 3, 2), None)
    assert read(rt, a, 48) == b"\x06" * 48
    rt.cudaFree(a)
    rt.cudaFree(b)


class Box(ctypes.Structure):
    _fields_ = [
        ("from_array", ctypes.c_void_p),
        ("from_pos", Pos),
        ("origin", PitchedPtr),
        ("to_array", ctypes.c_void_p),
        ("to_pos", Pos),
        ("to", PitchedPtr),
        ("extent", Extent),
        ("kind", ctypes.c_int),
    ]


class PeerBox(ctypes.Structure):
    _fields_ = [
        ("from_array", ctypes.c_void_p),
        ("from_pos", Pos),
        ("origin", PitchedPtr),
        ("from_device", ctypes.c_int),
        ("to_array", ctypes.c_void_p),
        ("to_pos", Pos),
        ("to", PitchedPtr),
        ("to_device", ctypes.c_int),
        ("extent", Extent),
    ]


def check_copies(rt: Runtime) -> None:
    each_copy(rt)
    each_shape(rt)
    with rt.per_thread():
        each_copy(rt)
        each_shape(rt)


class CopyAttributes(ctypes.Structure):
    _fields_ = [("order", ctypes.c_int), ("origin", MemLocation), ("to", MemLocation), ("flags", ctypes.c_uint)]


class Operand(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("ptr", ctypes.c_void_p),
        ("row", ctypes.c_size_t),
        ("layer", ctypes.c_size_t),
        ("location", MemLocation),
    ]


class BatchOp(ctypes.Structure):
    _fields_ = [
        ("origin", Operand),
        ("to", Operand),
        ("extent", Extent),
        ("order", ctypes.c_int),
        ("flags", ctypes.c_uint),
    ]


def each_batch(rt: Runtime) -> None:
    data = bytes(range(100))
    a, b = allocate(rt, 100), allocate(rt, 100)
    rt.cudaMemcpy(a, data, 100, H2D)
    rt.cudaMemset(b, 0, 100)
    stream = rt.out("cudaStreamCreate", ctypes.c_void_p)
    attributes = CopyAttributes(1)
    failed = [ctypes.byref(ctypes.c_size_t())] if rt.major == 12 else []
    to, origin, sizes = (
        (ctypes.c_void_p * 2)(b, b + 50),
        (ctypes.c_void_p * 2)(a + 50, a),
        (ctypes.c_size_t * 2)(20, 30),
    )
    rt.cudaMemcpyBatchAsync(
        to, origin, sizes, 2, ctypes.byref(attributes), (ctypes.c_size_t * 1)(0), 1, *failed, stream
    )
    rt.cudaStreamSynchronize(stream)
    assert read(rt, b, 100) == data[50:70] + bytes(30) + data[:30] + bytes(20)
    operation = BatchOp(
        Operand(1, a, 0, 0, MemLocation(1, 0)), Operand(1, b, 0, 0, MemLocation(1, 0)), Extent(100, 1, 1), 1
    )
    rt.cudaMemcpy3DBatchAsync(1, ctypes.byref(operation), *failed, 0, stream)
    rt.cudaStreamSynchronize(stream)
    assert read(rt, b, 100) == data
    if rt.has("cudaMemcpyWithAttributesAsync"):
        rt.cudaMemcpyWithAttributesAsync(b, a + 1, 99, ctypes.byref(attributes), stream)
        rt.cudaStreamSynchronize(stream)
        assert read(rt, b, 99) == data[1:]
        rt.cudaMemcpy3DWithAttributesAsync(ctypes.byref(operation), 0, stream)
        rt.cudaStreamSynchronize(stream)
        assert read(rt, b, 100) == data
    rt.cudaStreamDestroy(stream)
    rt.cudaFree(a)
    rt.cudaFree(b)


def check_batches(rt: Runtime) -> None:
    each_batch(rt)
    with rt.per_thread():
        each_batch(rt)


def each_stream_ordered(rt: Runtime) -> None:
    stream = rt.out("cudaStreamCreate", ctypes.c_void_p)
    pointer = rt.out("cudaMallocAsync", ctypes.c_void_p, after=(1000, stream))
    rt.cudaMemsetAsync(pointer, 9, 1000, stream)
    got = ctypes.create_string_buffer(1000)
    rt.cudaMemcpyAsync(got, pointer, 1000, D2H, stream)
    rt.cudaFreeAsync(pointer, stream)
    rt.cudaStreamSynchronize(stream)
    assert got.raw == b"\x09" * 1000
    managed = rt.out("cudaMallocManaged", ctypes.c_void_p, after=(4096, 1))
    rt.cudaStreamAttachMemAsync(stream, managed, 0, 4)
    prefetch(rt, managed, stream)
    rt.cudaStreamDestroy(stream)
    rt.cudaFree(managed)


def prefetch(rt: Runtime, managed: int, stream: int) -> None:
    device = MemLocation(1, 0)
    if rt.major == 12:
        rt.cudaMemPrefetchAsync(managed, 4096, 0, stream)
        rt.cudaMemPrefetchAsync(managed, 4096, -1, stream)
        rt.cudaMemPrefetchAsync_v2(managed, 4096, device, 0, stream)
        rt.cudaMemAdvise(managed, 4096, 3, 0)
        rt.cudaMemAdvise_v2(managed, 4096, 1, device)
    else:
        rt.cudaMemPrefetchAsync(managed, 4096, device, 0, stream)
        rt.cudaMemAdvise(managed, 4096, 3, device)
        rt.cudaMemAdvise(managed, 4096, 1, device)
        lists = (ctypes.c_void_p * 1)(managed), (ctypes.c_size_t * 1)(4096), 1
        where = ctypes.byref(device), (ctypes.c_size_t * 1)(0), 1, 0, stream
        rt.cudaMemPrefetchBatchAsync(*lists, *where)
        assert rt.code.cudaMemDiscardBatchAsync(*lists, 0, stream) in (0, 801)
        assert rt.code.cudaMemDiscardAndPrefetchBatchAsync(*lists, *where) in (0, 801)
    rt.cudaStreamSynchronize(stream)
    mostly_read, preferred, size = ctypes.c_int(), ctypes.c_int(), (ctypes.c_size_t * 2)(4, 4)
    rt.cudaMemRangeGetAttribute(ctypes.byref(mostly_read), 4, 1, managed, 4096)
    assert mostly_read.value == 1
    places = (ctypes.c_void_p * 2)(ctypes.addressof(mostly_read), ctypes.addressof(preferred))
    rt.cudaMemRangeGetAttributes(places, size, (ctypes.c_int * 2)(1, 2), 2, managed, 4096)
    assert (mostly_read.value, preferred.value) == (1, 0)


def check_stream_ordered_and_managed(rt: Runtime) -> None:
    each_stream_ordered(rt)
    with rt.per_thread():
        each_stream_ordered(rt)
    assert rt.code.cudaMallocManaged(ctypes.byref(ctypes.c_void_p()), 0, 1) == 1
    assert rt.code.cudaMallocManaged(ctypes.byref(ctypes.c_void_p()), 16, 4) == 1


class PointerAttributes(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("device", ctypes.c_int),
        ("on_device", ctypes.c_void_p),
        ("on_host", ctypes.c_void_p),
        ("rest", ctypes.c_long * 8),
    ]


def check_pointers(rt: Runtime) -> None:
    def of(pointer: object) -> tuple[int, int, object, object]:
        got = PointerAttributes()
        rt.cudaPointerGetAttributes(ctypes.byref(got), pointer)
        return got.type, got.device, got.on_device, got.on_host

    device, managed = allocate(rt, 100), rt.out("cudaMallocManaged", ctypes.c_void_p, after=(100, 1))
    host = rt.out("cudaMallocHost", ctypes.c_void_p, after=(100,))
    mine = ctypes.create_string_buffer(100)
    assert of(device) == (2, 0, device, None)
    assert of(device + 50)[:3] == (2, 0, device + 50)
    assert of(managed) == (3, 0, managed, managed)
    assert of(host)[0::3] == (1, host)
    assert of(mine) == (0, -2, None, ctypes.addressof(mine))
    rt.cudaFree(device)
    rt.cudaFree(managed)
    rt.cudaFreeHost(host)
