"""What the driver offers beside work: error logs, coredump settings, notifications, decompression, tensor maps; several devices at once."""

import ctypes
import random
import zlib

import numpy as np
import pytest

from native import kernels
from native.test_devices import run

pytestmark = pytest.mark.native

INVALID_VALUE, INVALID_HANDLE, NOT_FOUND, NOT_SUPPORTED = 1, 400, 500, 801
u32, u64, ptr, size_t = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t
LOG_CALLBACK = ctypes.CFUNCTYPE(None, ptr, ctypes.c_int, ctypes.c_char_p, size_t)
ANY_CALLBACK = ctypes.CFUNCTYPE(None, ptr, ctypes.c_int, ctypes.c_int)


def test_errors_are_told_and_kept(driver, context, tmp_path):
    told = []
    callback = LOG_CALLBACK(lambda data, level, text, length: told.append((data, level, text, length)))
    registered = ptr()
    driver.cuLogsRegisterCallback(callback, 5, ctypes.byref(registered))
    where = u32()
    driver.cuLogsCurrent(ctypes.byref(where), 0)
    assert driver.code("cuEventQuery", 12345) == INVALID_HANDLE
    (data, level, text, length) = told[-1]
    assert (data, level, length) == (5, 0, len(text))
    assert b"cuEventQuery" in text
    driver.cuLogsUnregisterCallback(registered)
    driver.code("cuEventQuery", 12345)
    assert len(told) == 1
    assert driver.code("cuLogsUnregisterCallback", registered) == INVALID_VALUE
    buffer, size = ctypes.create_string_buffer(4096), size_t(4096)
    driver.cuLogsDumpToMemory(ctypes.byref(where), buffer, ctypes.byref(size), 0)
    lines = [line for line in buffer.value.decode().splitlines() if "cuEventQuery" in line]
    assert len(lines) == 2
    assert size.value == len(buffer.value)
    size.value = 4096
    driver.cuLogsDumpToMemory(ctypes.byref(where), buffer, ctypes.byref(size), 0)  # the iterator stands behind them
    assert "cuEventQuery" not in buffer.value.decode()
    driver.cuLogsDumpToFile(None, str(tmp_path / "log").encode(), 0)
    assert "cuEventQuery" in (tmp_path / "log").read_text()


def test_settings_of_coredumps_are_kept_and_dumps_refused(driver, context):
    FILE, ON_EXCEPTION, FLAGS = 5, 1, 7
    size = size_t(9)
    driver.cuCoredumpSetAttributeGlobal(FILE, b"dump.%p\0", ctypes.byref(size))
    inner = driver.out("cuCtxCreate_v2", 0, 0)  # which begins with what was set for all
    got = ctypes.create_string_buffer(1024)
    size.value = 1024
    driver.cuCoredumpGetAttribute(FILE, got, ctypes.byref(size))
    assert (got.value, size.value) == (b"dump.%p", 8)
    size.value = 4
    driver.cuCoredumpSetAttribute(FLAGS, ctypes.byref(u32(6)), ctypes.byref(size))
    flags = u32()
    driver.cuCoredumpGetAttribute(FLAGS, ctypes.byref(flags), ctypes.byref(size))
    assert flags.value == 6
    driver.cuCoredumpGetAttributeGlobal(FLAGS, ctypes.byref(flags), ctypes.byref(size))
    assert flags.value == 0
    on, one = ctypes.c_bool(True), size_t(1)
    assert driver.code("cuCoredumpSetAttribute", ON_EXCEPTION, ctypes.byref(on), ctypes.byref(one)) == NOT_SUPPORTED
    never = ANY_CALLBACK(lambda *_: None)
    for which in ("Start", "Complete"):
        handle = ptr()
        driver.code(f"cuCoredumpRegister{which}Callback", never, None, ctypes.byref(handle))
        assert driver.code(f"cuCoredumpDeregister{which}Callback", handle) == 0
        assert driver.code(f"cuCoredumpDeregister{which}Callback", handle) == INVALID_VALUE
    driver.cuCtxDestroy_v2(inner)


def test_notifications_are_registered_by_device(driver, context):
    never, handle = ANY_CALLBACK(lambda *_: None), ptr()
    driver.cuDeviceRegisterAsyncNotification(0, never, None, ctypes.byref(handle))
    driver.cuDeviceUnregisterAsyncNotification(0, handle)
    assert driver.code("cuDeviceUnregisterAsyncNotification", 0, handle) == INVALID_VALUE


def test_atomics_and_multiprocessors(driver, context):
    capabilities, operations = (u32 * 3)(), (u32 * 3)(0, 9, 10)  # add, compare and swap, add of floating point
    driver.cuDeviceGetHostAtomicCapabilities(capabilities, operations, 3, 0)
    assert capabilities[0] & 0x1F == 0x1F
    assert capabilities[1] & 0x18 == 0x18
    assert capabilities[2] & 0x18 == 0x18
    assert driver.code("cuDeviceGetHostAtomicCapabilities", capabilities, (u32 * 1)(13), 1, 0) == INVALID_VALUE
    affinity = (u32 * 2)()
    driver.cuCtxGetExecAffinity(affinity, 0)
    count = driver.out("cuDeviceGetAttribute", 16, 0, kind=ctypes.c_int)
    assert list(affinity) == [0, count]
    driver.cuFlushGPUDirectRDMAWrites(0, 100)
    assert driver.code("cuFlushGPUDirectRDMAWrites", 0, 7) == INVALID_VALUE


def test_host_functions_with_a_way_of_waiting(driver, context):
    seen = []
    note = ctypes.CFUNCTYPE(None, ptr)(seen.append)
    for mode in (0, 1):
        driver.cuLaunchHostFunc_v2(0, note, 40 + mode, mode)
    driver.cuCtxSynchronize()
    assert seen == [40, 41]
    assert driver.code("cuLaunchHostFunc_v2", 0, note, 1, 2) == INVALID_VALUE


def test_managed_memory_is_discarded_and_told_where_it_is(driver, context):
    size = 4 << 20
    memory = driver.out("cuMemAllocManaged", size, 1)
    addresses, sizes = (u64 * 1)(memory + size // 2), (size_t * 1)(size // 2)
    driver.cuMemDiscardBatchAsync(addresses, sizes, 1, 0, 0)
    place, indices = (u32 * 2)(1, 0), (size_t * 1)(0)
    driver.cuMemDiscardAndPrefetchBatchAsync(addresses, sizes, 1, place, indices, 1, 0, 0)
    places = (u32 * 4)()
    driver.cuMemGetLocationInfo(memory, size, size // 2, 0, places)
    assert list(places) == [2, 0, 1, 0]  # the host, and device 0
    device = driver.out("cuMemAlloc_v2", 4096)
    assert driver.code("cuMemDiscardBatchAsync", (u64 * 1)(device), sizes, 1, 0, 0) == INVALID_VALUE
    assert driver.code("cuMemGetLocationInfo", device, 4096, 4096, 0, places) == INVALID_VALUE


class Decompress(ctypes.Structure):
    _fields_ = [
        ("from_bytes", size_t),
        ("to_bytes", size_t),
        ("actual", ptr),
        ("source", ptr),
        ("to", ptr),
        ("algorithm", u32),
        ("pad", u32 * 5),
    ]


def snappy(data: bytes) -> bytes:
    """Literals and copies of the text's own pieces, as the format's description has them."""
    out, at, size = bytearray(), 0, len(data)
    while True:
        out.append(size & 0x7F | (0x80 if size > 0x7F else 0))
        size >>= 7
        if not size:
            break
    while at < len(data):
        piece = data[at : at + 8]
        before = data.rfind(piece, max(0, at - 2000), at) if len(piece) == 8 else -1
        if before >= 0:
            out += bytes([(8 - 1) << 2 | 2]) + (at - before).to_bytes(2, "little")
        else:
            out += bytes([(len(piece) - 1) << 2]) + piece
        at += len(piece)
    return bytes(out)


def lz4(data: bytes) -> bytes:
    """One block: runs of literals, and matches of 8 bytes where there are some."""
    out, at, literals = bytearray(), 0, bytearray()

    def sequence(match: int | None) -> None:
        count = len(literals)
        out.append(min(count, 15) << 4 | (0 if match is None else 4))
        if count >= 15:
            out.extend([255] * ((count - 15) // 255) + [(count - 15) % 255])
        out.extend(literals)
        literals.clear()
        if match is not None:
            out.extend(match.to_bytes(2, "little"))

    while at < len(data):
        piece = data[at : at + 8]
        before = data.rfind(piece, max(0, at - 60000), at) if at + 20 < len(data) else -1
        if before >= 0:
            sequence(at - before)
            at += 8
        else:
            literals.append(data[at])
            at += 1
    sequence(None)
    return bytes(out)


def deflate(data: bytes, level: int, strategy: int = 0) -> bytes:
    made = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
    return made.compress(data) + made.flush()


def texts():
    rng = random.Random(3)
    words = [bytes(rng.randrange(97, 123) for _ in range(rng.randrange(1, 9))) for _ in range(60)]
    return {
        "words": b" ".join(rng.choice(words) for _ in range(4000)),
        "noise": rng.randbytes(20_000),
        "one": b"\x07",
        "run": b"a" * 70_000,
    }


PACKERS = {
    "stored": (1, lambda d: deflate(d, 0)), "fixed": (1, lambda d: deflate(d, 6, zlib.Z_FIXED)),
    "dynamic": (1, lambda d: deflate(d, 9)), "snappy": (2, snappy), "lz4": (4, lz4),
}  # fmt: skip


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("text", ["words", "noise", "one", "run"])
def test_buffers_are_decompressed_in_a_stream(driver, context, packer, text):
    algorithm, pack = PACKERS[packer]
    data = texts()[text]
    packed = np.frombuffer(pack(data), np.uint8)
    source, to = driver.out("cuMemAlloc_v2", packed.size), driver.out("cuMemAlloc_v2", len(data) + 64)
    driver.cuMemcpyHtoD_v2(source, packed.ctypes.data, packed.size)
    actual, failed = u32(), size_t()
    one = Decompress(packed.size, len(data) + 64, ctypes.addressof(actual), source, to, algorithm)
    driver.cuMemBatchDecompressAsync(ctypes.byref(one), 1, 0, ctypes.byref(failed), 0)
    driver.cuCtxSynchronize()
    out = np.zeros(len(data), np.uint8)
    driver.cuMemcpyDtoH_v2(out.ctypes.data, to, out.size)
    assert actual.value == len(data)
    assert out.tobytes() == data


@pytest.mark.parametrize("packer", ["dynamic", "snappy", "lz4"])
def test_damaged_buffers_are_an_error_and_touch_nothing_outside(driver, packer):
    algorithm, pack = PACKERS[packer]
    packed, rng = pack(texts()["words"][:3000]), random.Random(5)
    codes = set()
    for _ in range(60):
        made = driver.out("cuCtxCreate_v2", 0, 0)
        damaged = bytearray(packed[: rng.randrange(1, len(packed))])
        for _ in range(4):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        source = (ctypes.c_ubyte * len(damaged)).from_buffer(damaged)
        to = (ctypes.c_ubyte * 4000)(*[0xAA] * 4000)
        one = Decompress(len(damaged), 3000, None, ctypes.addressof(source), ctypes.addressof(to), algorithm)
        driver.cuMemBatchDecompressAsync(ctypes.byref(one), 1, 0, None, 0)
        codes.add(driver.code("cuCtxSynchronize"))
        assert bytes(to[3000:]) == b"\xaa" * 1000
        driver.code("cuCtxDestroy_v2", made)
    assert INVALID_VALUE in codes
    assert driver.code("cuMemBatchDecompressAsync", ctypes.byref(Decompress(algorithm=3)), 1, 0, None, 0) != 0


class Aligned:
    """128 bytes at a multiple of 64."""

    def __init__(self) -> None:
        self.room = ctypes.create_string_buffer(192)
        self.at = (ctypes.addressof(self.room) + 63) // 64 * 64


def tiled(driver, out, **changes):
    tensor = {
        "type": 7, "rank": 2, "address": 1 << 20, "dims": (u64 * 2)(64, 32), "strides": (u64 * 1)(256), "box": (u32 * 2)(16, 8),
        "steps": (u32 * 2)(1, 1), "interleave": 0, "swizzle": 0, "promotion": 0, "fill": 0,
    } | changes  # fmt: skip
    return driver.code("cuTensorMapEncodeTiled", out, *tensor.values())


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, 0),
        ({"swizzle": 2}, 0),
        ({"swizzle": 1}, INVALID_VALUE),  # the row has 64 bytes
        ({"fill": 1}, 0),
        ({"fill": 1, "type": 2}, INVALID_VALUE),  # integers have no NaN
        ({"address": (1 << 20) + 8}, INVALID_VALUE),
        ({"strides": (u64 * 1)(264)}, INVALID_VALUE),
        ({"strides": (u64 * 1)(1 << 40)}, INVALID_VALUE),
        ({"box": (u32 * 2)(257, 1)}, INVALID_VALUE),
        ({"box": (u32 * 2)(3, 8)}, INVALID_VALUE),  # 12 bytes are no multiple of 16
        ({"dims": (u64 * 2)(0, 1)}, INVALID_VALUE),
        ({"steps": (u32 * 2)(1, 9)}, INVALID_VALUE),
        ({"rank": 6}, INVALID_VALUE),
        ({"interleave": 1}, INVALID_VALUE),  # of three dimensions and more
        ({"type": 13}, NOT_SUPPORTED),
    ],
)
def test_tensor_maps_are_checked(driver, context, changes, code):
    """CUDA Driver API, cuTensorMapEncodeTiled: what each parameter may be."""
    assert tiled(driver, Aligned().at, **changes) == code


def test_tensor_maps_differ_by_what_they_describe(driver, context):
    made = [Aligned() for _ in range(4)]
    assert tiled(driver, made[0].at) == tiled(driver, made[1].at, address=1 << 21) == 0
    dims, strides = (u64 * 4)(64, 9, 9, 2), (u64 * 3)(256, 2304, 20736)
    steps, corner = (u32 * 4)(1, 1, 1, 1), (ctypes.c_int * 2)(-1, -1)
    column = (7, 4, 1 << 20, dims, strides, corner, corner, 16, 8, steps, 0, 0, 0, 0)
    assert driver.code("cuTensorMapEncodeIm2col", made[2].at, *column) == 0
    far = (ctypes.c_int * 2)(-129, 0)
    assert driver.code("cuTensorMapEncodeIm2col", made[2].at, *column[:5], far, *column[6:]) == INVALID_VALUE
    wide = (7, 4, 1 << 20, dims, strides, -300, 300, 16, 8, steps, 0, 0, 0, 0, 0)
    assert driver.code("cuTensorMapEncodeIm2colWide", made[3].at, *wide) == 0
    bits = [ctypes.string_at(m.at, 128) for m in made]
    assert len(set(bits)) == 4
    driver.cuTensorMapReplaceAddress(made[0].at, 1 << 21)
    assert ctypes.string_at(made[0].at, 128) == bits[1]
    assert driver.code("cuTensorMapReplaceAddress", made[0].at, 8) == INVALID_VALUE
    assert driver.code("cuTensorMapReplaceAddress", Aligned().at, 1 << 21) == INVALID_VALUE  # nothing was encoded there
    assert driver.code("cuTensorMapEncodeTiled", made[0].at + 16, *[0] * 11) == INVALID_VALUE


def test_libraries_have_no_functions_that_host_and_device_share(driver, context, handmade):
    library = driver.out("cuLibraryLoadData", handmade.module(kernels.VECADD), None, None, 0, None, None, 0)
    assert driver.code("cuLibraryGetUnifiedFunction", ctypes.byref(ptr()), library, b"vecadd") == NOT_FOUND
    driver.cuLibraryUnload(library)


def test_a_kernel_on_several_devices_at_once():
    """A launch waits for all the streams, and what follows in each for the launch in all."""
    program = """
from pathlib import Path
from native import kernels
from native.by_hand import Handmade
made = Handmade(Path(os.environ['ANYWARP_CACHE_DIR']))
d.cuInit(0)
class Params(ctypes.Structure):
    _fields_ = [('f', ctypes.c_void_p), ('shape', ctypes.c_uint * 6), ('shared', ctypes.c_uint), ('stream', ctypes.c_void_p), ('args', ctypes.c_void_p)]
list_, kept, words = (Params * 2)(), [], []
for i in range(2):
    d.out('cuCtxCreate_v2', 0, i)
    module = d.out('cuModuleLoadData', made.module(kernels.SLEEPS))
    function = d.out('cuModuleGetFunction', module, b'sleeps')
    memory, stream = d.out('cuMemAlloc_v2', 64), d.out('cuStreamCreate', 1)
    d.cuMemsetD32_v2(memory, 10 + i, 16)
    values = [ctypes.c_uint64(memory), ctypes.c_uint32(1), ctypes.c_uint32(20000 * (1 - i))]
    pointers = (ctypes.c_void_p * 3)(*map(ctypes.addressof, values))
    kept.append((values, pointers, stream)); words.append(memory)
    list_[i] = Params(function, (ctypes.c_uint * 6)(1, 1, 1, 1, 1, 1), 0, stream, ctypes.addressof(pointers))
d.cuLaunchCooperativeKernelMultiDevice(list_, 2, 0)
d.cuStreamSynchronize(kept[1][2])  # the second device's stream comes behind the first's kernel, which takes longer
got = [ctypes.c_uint32.from_address(a).value for a in words]
list_[1].stream = list_[0].stream
show(got, d.code('cuLaunchCooperativeKernelMultiDevice', list_, 2, 0))
"""
    assert run(program) == [[11, 12], INVALID_VALUE]
