"""Surface accesses and the rarer kinds of textures, with expected values written out from the PTX manual and the CUDA guide."""

import ctypes

import numpy as np
import pytest

from anywarp.devices.cpu.execute import KernelTrap, Program
from native.test_arrays import create
from native.test_texture_fetches import DEVICES, block, clamped, weight
from native.test_textures import MIPMAPPED, SEAMLESS, View, make, of_array
from native.texture_objects import (
    F32,
    Counterpart,
    as_words,
    described,
    download,
    fetch,
    floats,
    kernel,
    run,
    sampling,
    surface,
    texture,
    upload,
)

pytestmark = pytest.mark.native


@pytest.mark.parametrize("device", DEVICES)
def test_x_counts_bytes(driver, context, device):
    texels = block(1, 5, 8, 4, dtype=np.uint8)
    counterpart = surface(driver, texels)
    x, y = np.array([0, 4, 28, 12, 8]), np.array([0, 1, 4, 3, 2])
    text = """suld.b.2d.b32.trap %o0, [%t0, {%w0, %w1}];
  suld.b.2d.v2.b16.trap {%h0, %h1}, [%t0, {%w0, %w1}]; mov.b32 %o1, {%h0, %h1};
  add.s32 %r0, %w0, 3; suld.b.2d.b8.trap %h2, [%t0, {%r0, %w1}]; cvt.u32.u8 %o2, %h2;"""
    got = run(device, kernel(text, 2, 3), [counterpart], as_words([x, y]), 3)
    rows = texels[0].reshape(5, 32)
    wanted = np.array([rows[b, a : a + 4].view(np.uint32)[0] for a, b in zip(x, y, strict=True)])
    np.testing.assert_array_equal(got[0], wanted)
    np.testing.assert_array_equal(got[1], wanted)
    np.testing.assert_array_equal(got[2], wanted >> 24)


@pytest.mark.parametrize("device", DEVICES)
def test_loads_outside_take_the_nearest_place_or_zero(driver, context, device):
    texels = block(1, 3, 6, 1, dtype=np.int32)  # rows of 24 bytes
    counterpart = surface(driver, texels)
    x, y = np.array([-4, 24, 400, 0, 8, 16, -16]), np.array([0, 1, 2, -1, 3, 5, 1])
    text = """suld.b.2d.b32.clamp %o0, [%t0, {%w0, %w1}]; suld.b.2d.b32.zero %o1, [%t0, {%w0, %w1}];
  shr.s32 %r0, %w0, 3; shl.b32 %r0, %r0, 3;
  suld.b.2d.v2.b32.clamp {%o2, %o3}, [%t0, {%r0, %w1}];"""
    got = run(device, kernel(text, 2, 4), [counterpart], as_words([x, y]), 4).view(np.int32)
    t = texels[0, :, :, 0]
    np.testing.assert_array_equal(got[0], t[np.clip(y, 0, 2), np.clip(x // 4, 0, 5)])
    np.testing.assert_array_equal(got[1], np.zeros(7))
    first = np.clip(x // 8 * 2, 0, 4)  # the last place where 8 bytes fit
    np.testing.assert_array_equal(got[2:], [t[np.clip(y, 0, 2), first], t[np.clip(y, 0, 2), first + 1]])


@pytest.mark.parametrize("device", DEVICES)
def test_stores_outside_are_dropped_or_moved(driver, context, device):
    zero, moved = (surface(driver, np.zeros((1, 2, 4, 1), np.uint32)) for _ in range(2))
    x, y, v = np.array([0, 16, -4, 8]), np.array([0, 0, 1, 7]), np.array([11, 12, 13, 14])
    run(device, kernel("sust.b.2d.b32.zero [%t0, {%w0, %w1}], %w2; sust.b.2d.b32.clamp [%t1, {%w0, %w1}], %w2;", 3, 0, 2), [zero, moved], as_words([x, y, v]), 0)  # fmt: skip
    left = [download(driver, t.arrays[0], t.other.texels) if device == "cpu" else t.other.texels for t in (zero, moved)]
    np.testing.assert_array_equal(left[0][0, :, :, 0], [[11, 0, 0, 0], [0, 0, 0, 0]])
    np.testing.assert_array_equal(left[1][0, :, :, 0], [[11, 0, 0, 12], [13, 0, 14, 0]])


FORMATTED = [
    (np.uint8, [0, 255, 256, 0xFFFFFFFF], [0, 255, 255, 255]),
    (np.int8, [5, 0xFFFFFFFF, 200, 0x80000000], [5, -1, 127, -128]),
    (np.uint16, [65535, 65536, 7, 0], [65535, 65535, 7, 0]),
    (np.int16, [40000, 0xFFFF0000, 0xFFFF8001, 3], [32767, -32768, -32767, 3]),
    (np.uint32, [1, 0xFFFFFFFF, 5, 9], [1, 0xFFFFFFFF, 5, 9]),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("dtype", "given", "wanted"), FORMATTED)
def test_formatted_stores_clamp_integers(driver, context, device, dtype, given, wanted):
    counterpart = surface(driver, np.full((1, 1, 3, 4), 9, dtype), 1)
    run(device, kernel("sust.p.1d.v4.b32.trap [%t0, {%w0}], {%w1, %w2, %w3, %w4};", 5, 0), [counterpart], as_words([np.array([1]), *np.array(given)[:, None]]), 0)  # fmt: skip
    left = (
        download(driver, counterpart.arrays[0], counterpart.other.texels)
        if device == "cpu"
        else counterpart.other.texels
    )
    np.testing.assert_array_equal(left[0, 0], np.array([[9] * 4, wanted, [9] * 4]).astype(dtype))


@pytest.mark.parametrize("device", DEVICES)
def test_formatted_stores_of_floats(driver, context, device):
    halves, singles = (
        surface(driver, np.ones((1, 1, 9, 2), np.float16), 1),
        surface(driver, np.ones((1, 1, 9, 1), F32), 1),
    )
    v = np.array([1, 1 / 3, -1 / 3, 65519, 65520, 1e9, -1e9, 1e-7, np.inf], F32)
    text = "sust.p.1d.b32.trap [%t0, {%w0}], {%w1}; sust.p.1d.v2.b32.trap [%t1, {%w0}], {%w1, %w0};"
    run(device, kernel(text, 2, 0, 2), [halves, singles], as_words([np.arange(9), v]), 0)
    left = [
        download(driver, t.arrays[0], t.other.texels) if device == "cpu" else t.other.texels for t in (halves, singles)
    ]
    cut = [1, float.fromhex("0x1.554p-2"), -float.fromhex("0x1.554p-2"), 65504, 65504, 65504, -65504, 2**-24, np.inf]
    np.testing.assert_array_equal(left[0][0, 0, :, 0], np.array(cut, np.float16))  # toward zero
    np.testing.assert_array_equal(left[0][0, 0, :, 1], np.zeros(9))  # without a source
    np.testing.assert_array_equal(left[1][0, 0, :, 0], v)


@pytest.mark.parametrize("device", DEVICES)
def test_reductions_count_every_thread(driver, context, device):
    kinds = [("add", "u32"), ("min", "s32"), ("max", "u32"), ("and", "b32"), ("or", "b32"), ("min", "u32")]
    start = np.array([5, 100, 3, 0xFFFFFFFF, 0, 0xFFFFFFFF], np.uint32).reshape(1, 1, 6, 1)
    counterpart = surface(driver, start, 1)
    v = np.random.default_rng(4).integers(0, 2**32, 100, np.uint32)
    text = " ".join(
        f"mov.u32 %r{n}, {4 * n}; sured.b.{op}.1d.{t}.trap [%t0, {{%r{n}}}], %w0;" for n, (op, t) in enumerate(kinds)
    )
    run(device, kernel(text, 1, 0), [counterpart], as_words([v]), 0)
    left = (download(driver, counterpart.arrays[0], start) if device == "cpu" else counterpart.other.texels).ravel()
    wanted = [
        (5 + int(v.astype(np.uint64).sum())) % 2**32, int(min(v.view(np.int32).min(), 100)) % 2**32, max(int(v.max()), 3),
        int(np.bitwise_and.reduce(v)), int(np.bitwise_or.reduce(v)), int(v.min()),
    ]  # fmt: skip
    np.testing.assert_array_equal(left, np.array(wanted, np.uint32))


# --- rarer textures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
def test_a_border_of_integers_is_the_colours_bits(driver, context, device):
    colour = tuple(float(np.array(b, np.uint32).view(F32)) for b in (0x3F8012F4, 0x40000085, 0, 0))
    texels = block(1, 2, 2, 2, dtype=np.int8)
    counterpart = texture(driver, texels, address=("border",) * 3, border=colour)
    got = run(
        device,
        kernel(fetch("2d.v4.s32.f32", 2), 2, 4),
        [counterpart],
        as_words([np.array([-1, 0.5], F32), np.array([0.5, 1.5], F32)]),
        4,
    )
    inside = texels[0, 1, 0].astype(np.int64)
    np.testing.assert_array_equal(got.view(np.int32), [[-12, inside[0]], [-123, inside[1]], [0, 0], [0, 0]])


def test_formats_that_are_fractions_by_themselves(driver, context):
    raw = block(1, 4, 8, 2, dtype=np.uint8)
    array = create(driver, 8, 4, kind=0xC1, channels=2)  # CU_AD_FORMAT_UNORM_INT8X2
    upload(driver, array, raw)
    other = texture(driver, raw).other
    code, handle = make(driver, of_array(array), sampling(other))
    assert code == 0
    x, y = np.meshgrid(np.arange(8) + F32(0.5), np.arange(4) + F32(0.5))
    got = run(
        "cpu",
        kernel(fetch("2d.v4.f32.f32", 2), 2, 4),
        [Counterpart(handle, other)],
        as_words([x.ravel(), y.ravel()]),
        4,
    )
    np.testing.assert_array_equal(floats(got)[:2], (raw[0].reshape(-1, 2).T / 255).astype(F32))


def test_a_view_shows_other_types_levels_and_layers(driver, context):
    levels = [block(3, 8 >> n, 8 >> n, 1) for n in range(3)]
    array = driver.out("cuMipmappedArrayCreate", described(levels[0], 2, "layered"), 3)
    for n, level in enumerate(levels):
        upload(driver, driver.out("cuMipmappedArrayGetLevel", array, n), level)
    other = texture(driver, *levels, kind="layered", normalized=True, most=9).other
    view = View(0x0D, 8, 8, 3, 1, 2, 1, 2)  # as one 32-bit unsigned integer; levels 1 and 2, layers 1 and 2
    code, handle = make(driver, of_array(array, MIPMAPPED), sampling(other), view)
    assert code == 0
    columns = [np.array([0, 1, 2]), np.full(3, 0.9, F32), np.full(3, 0.1, F32), np.array([0, 1, 5], F32)]
    form = "tex.level.a2d.v4.u32.f32 {%o0, %o1, %o2, %o3}, [%t0, {%w0, %w1, %w2, %w2}], %w3;"
    got = run("cpu", kernel(form, 4, 4), [Counterpart(handle, other)], as_words(columns), 4)
    wanted = [levels[1][1, 0, 3, 0], levels[2][2, 0, 1, 0], levels[2][2, 0, 1, 0]]
    np.testing.assert_array_equal(got[0].view(F32), np.array(wanted))


def test_seamless_cubemaps_blend_across_edges(driver, context):
    texels = np.arange(1, 7, dtype=F32).repeat(16).reshape(6, 4, 4, 1) * 8  # each face has one value
    counterpart = texture(driver, texels, kind="cube", filter="linear")
    described_as = sampling(counterpart.other)
    described_as.flags |= SEAMLESS
    code, handle = make(driver, of_array(counterpart.arrays[0]), described_as)
    assert code == 0
    d = np.array([[1, 1, 0], [1, 0, -1], [1, 0, 0], [0, -1, 1], [1, 1, 1], [-1, -1, -1]], F32).T
    got = floats(
        run(
            "cpu",
            kernel(fetch("cube.v4.f32.f32", 3), 3, 4),
            [Counterpart(handle, counterpart.other)],
            as_words([*d]),
            4,
        )
    )
    # the middle of an edge is the mean of two faces, a corner the mean of three
    np.testing.assert_allclose(
        got[0], [(8 + 24) / 2, (8 + 48) / 2, 8, (32 + 40) / 2, (8 + 24 + 40) / 3, (16 + 32 + 48) / 3], rtol=1e-6
    )


@pytest.mark.parametrize("gang", [64, 128])
def test_gangs_of_several_warps_fetch_at_once(driver, context, gang):
    texels = block(1, 9, 11, 1)
    counterpart = texture(driver, texels, filter="linear")
    rng = np.random.default_rng(gang)
    x, y = rng.uniform(-1, 12, 250).astype(F32), rng.uniform(-1, 10, 250).astype(F32)
    ptx, words, out = kernel(fetch("2d.v4.f32.f32", 2), 2, 4), as_words([x, y]), np.zeros((4, 250), np.uint32)
    Program(ptx).run("k", 2, 128, [np.uint64(counterpart.handle), words, out, np.uint32(250)], options=f"gang={gang}")
    (i, a), (j, b) = weight(x), weight(y)
    t = texels[0, :, :, 0].astype(np.float64)

    def at(i, j):
        return t[clamped(j, 9), clamped(i, 11)]

    left, right = (at(k, j) * (1 - b) + at(k, j + 1) * b for k in (i, i + 1))
    np.testing.assert_array_equal(floats(out)[0], ((1 - a) * left + a * right).astype(F32))


TABLE = {
    # CUDA C++ Programming Guide, technical specifications, the column of compute capability 8.0
    "1D texture": ((21,), (131072,)), "2D texture": ((22, 23), (131072, 65536)), "3D texture": ((24, 25, 26), (16384,) * 3),
    "2D layered texture": ((27, 28, 29), (32768, 32768, 2048)), "1D layered texture": ((42, 43), (32768, 2048)),
    "2D texture with gather": ((45, 46), (32768, 32768)), "cubemap": ((52,), (32768,)), "layered cubemap": ((53, 54), (32768, 2046)),
    "1D surface": ((55,), (32768,)), "2D surface": ((56, 57), (131072, 65536)), "3D surface": ((58, 59, 60), (16384,) * 3),
    "1D layered surface": ((61, 62), (32768, 2048)), "2D layered surface": ((63, 64, 65), (32768, 32768, 2048)),
    "cubemap surface": ((66,), (32768,)), "layered cubemap surface": ((67, 68), (32768, 2046)),
    "1D texture over memory": ((69,), (1 << 28,)), "2D texture over memory": ((70, 71), (131072, 65000)),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_limits_are_those_of_the_guide(driver, name):
    attributes, wanted = TABLE[name]
    value = ctypes.c_int()
    for attribute, most in zip(attributes, wanted, strict=True):
        driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, 0)
        assert value.value == most


def test_an_access_without_a_word_about_the_outside_traps(driver, context):
    counterpart = surface(driver, block(1, 2, 4, 1, dtype=np.int32))
    with pytest.raises(KernelTrap, match="outside a surface"):
        run("cpu", kernel("suld.b.2d.b32 %o0, [%t0, {%w0, 0}];", 1, 1), [counterpart], as_words([np.array([16])]), 1)
