"""Texture fetches: values by the formulas of the CUDA guide written out here, on the device `cpu` and on the reference device.

`cpu` runs in this process with the driver's own objects; the formulas work on small arrays whose sums are exact.
"""

import numpy as np
import pytest

from native.texture_objects import F32, as_words, fetch, floats, kernel, pitched, run, texture

pytestmark = pytest.mark.native
DEVICES = ["cpu", "reference"]


def line(width=13, channels=1, seed=3, dtype=F32):
    """Texels that are small multiples of 1/8, different in every place."""
    values = np.random.default_rng(seed).permutation(width * channels * 8)[: width * channels] / 8 - width / 2
    return values.reshape(1, 1, width, channels).astype(dtype)


def block(*shape, seed=5, dtype=F32):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return (rng.integers(-2000, 2000, shape) / 16).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def spread(low, high, count=100, seed=7):
    """Coordinates across a range, and just the interesting ones."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.uniform(low, high, count), [low, high, 0, 0.5, 1, 1.5, -0.5, 2.498, 2.502]]).astype(F32)


def weight(x):
    """i and a of the guide's linear filtering: xB = x - 0.5, a in 9-bit fixed point with 8 fractional bits."""
    fixed = np.floor((np.asarray(x, np.float64) - 0.5) * 256 + 0.5).astype(np.int64)
    return fixed // 256, (fixed % 256) / 256


def clamped(i, n):
    return np.clip(i, 0, n - 1)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.int32, np.float16, F32])
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_integer_coordinates_name_a_texel_of_plain_memory_and_zero_beyond(driver, context, device, dtype, channels):
    texels = block(1, 1, 37, channels, dtype=dtype)
    counterpart = texture(driver, texels, linear=True, dimensions=1, filter="linear" if dtype == F32 else "point")
    i = np.array([*range(37), -1, 37, 1000, -(2**31), 2**31 - 1])
    got = run(device, kernel(fetch("1d.v4.u32.s32", 1), 1, 4), [counterpart], as_words([i]), 4)
    wanted = np.zeros((4, len(i)), np.uint32)
    if texels.dtype.kind == "f":
        wanted[:channels, :37] = texels[0, 0].T.astype(F32).view(np.uint32)
    else:
        wanted[:channels, :37] = texels[0, 0].T.astype(np.int64).astype(np.uint32)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
def test_integers_are_read_as_fractions(driver, context, device, dtype):
    texels = block(1, 1, 64, 4, dtype=dtype)
    texels[0, 0, 0] = [np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1]
    counterpart = texture(driver, texels, linear=True, dimensions=1, as_float=True)
    got = floats(run(device, kernel(fetch("1d.v4.f32.s32", 1), 1, 4), [counterpart], as_words([np.arange(64)]), 4))
    wanted = np.maximum(texels[0, 0].T.astype(np.float64) / np.iinfo(dtype).max, -1).astype(F32)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("device", DEVICES)
def test_a_line_is_filtered_linearly(driver, context, device):
    texels = line()
    counterpart = texture(driver, texels, dimensions=1, filter="linear")
    x = spread(-3, 16)
    i, a = weight(np.clip(x, -100, 100))
    t = texels[0, 0, :, 0].astype(np.float64)
    wanted = ((1 - a) * t[clamped(i, 13)] + a * t[clamped(i + 1, 13)]).astype(F32)
    got = floats(run(device, kernel(fetch("1d.v4.f32.f32", 1), 1, 4), [counterpart], as_words([x]), 4))
    np.testing.assert_array_equal(got[0], wanted)
    assert not got[1:].any()  # channels that the format lacks


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("channels", [1, 4])
def test_a_picture_is_filtered_linearly(driver, context, device, channels):
    texels = block(1, 9, 11, channels)
    counterpart = texture(driver, texels, filter="linear")
    x, y = spread(-2, 13, seed=1), spread(-2, 11, seed=2)
    (i, a), (j, b) = weight(x), weight(y)
    t = texels[0].astype(np.float64)

    def at(i, j):
        return t[clamped(j, 9), clamped(i, 11)].T

    wanted = (
        (1 - a) * (1 - b) * at(i, j)
        + a * (1 - b) * at(i + 1, j)
        + (1 - a) * b * at(i, j + 1)
        + a * b * at(i + 1, j + 1)
    )
    got = floats(run(device, kernel(fetch("2d.v4.f32.f32", 2), 2, 4), [counterpart], as_words([x, y]), 4))
    np.testing.assert_array_equal(got[:channels], wanted.astype(F32))


@pytest.mark.parametrize("device", DEVICES)
def test_a_solid_is_filtered_linearly(driver, context, device):
    texels = block(5, 6, 7, 1)
    counterpart = texture(driver, texels, dimensions=3, filter="linear")
    x, y, z = spread(-1, 8, 60, 1), spread(-1, 7, 60, 2), spread(-1, 6, 60, 3)
    axes = [weight(c) for c in (x, y, z)]
    t = texels[..., 0].astype(np.float64)
    wanted = np.zeros(len(x))
    for corner in np.ndindex(2, 2, 2):
        index, share = [], np.ones(len(x))
        for (i, a), second, n in zip(axes, corner, (7, 6, 5), strict=True):
            index.append(clamped(i + second, n))
            share = share * (a if second else 1 - a)
        wanted += share * t[index[2], index[1], index[0]]
    got = floats(run(device, kernel(fetch("3d.v4.f32.f32", 3), 3, 4), [counterpart], as_words([x, y, z]), 4))
    np.testing.assert_array_equal(got[0], wanted.astype(F32))


def nearest(x, n, mode):
    """The guide's point sampling of a normalised coordinate; -1 is the border."""
    x = np.asarray(x, np.float64)
    if mode == "wrap":
        x = x - np.floor(x)
    elif mode == "mirror":
        x = np.where(np.floor(x) % 2 == 0, x - np.floor(x), 1 - (x - np.floor(x)))
    i = np.floor(x * n).astype(np.int64)
    return np.where((i < 0) | (i >= n), -1, i) if mode == "border" else np.clip(i, 0, n - 1)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mode", ["wrap", "mirror", "clamp", "border"])
def test_address_modes_of_normalised_coordinates(driver, context, device, mode):
    texels = block(1, 5, 8, 2)
    other = "clamp" if mode == "border" else mode
    counterpart = texture(driver, texels, normalized=True, address=(mode, other, mode), border=(7.5, -2.25, 1, 1))
    x, y = spread(-3.3, 4.4, seed=1), spread(-2.5, 2.6, seed=2)
    i, j = nearest(x, 8, mode), nearest(y, 5, other)
    wanted = np.where(i < 0, np.array([[7.5], [-2.25]]), texels[0][np.clip(j, 0, 4), np.clip(i, 0, 7)].T)
    got = floats(run(device, kernel(fetch("2d.v4.f32.f32", 2), 2, 4), [counterpart], as_words([x, y]), 4))
    np.testing.assert_array_equal(got[:2], wanted.astype(F32))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mode", ["wrap", "mirror"])
def test_filtering_goes_on_across_the_edge(driver, context, device, mode):
    texels = line(8)
    counterpart = texture(driver, texels, dimensions=1, normalized=True, filter="linear", address=(mode,) * 3)
    x = spread(-2, 3) * F32(1)
    u = x.astype(np.float64) * 8
    u = u % 8 if mode == "wrap" else np.where(np.floor(u / 8) % 2 == 0, u % 8, 8 - u % 8)
    i, a = weight(u)
    near = (lambda k: k % 8) if mode == "wrap" else (lambda k: np.clip(k, 0, 7))
    t = texels[0, 0, :, 0].astype(np.float64)
    wanted = ((1 - a) * t[near(i)] + a * t[near(i + 1)]).astype(F32)
    got = floats(run(device, kernel(fetch("1d.v4.f32.f32", 1), 1, 4), [counterpart], as_words([x]), 4))
    np.testing.assert_array_equal(got[0], wanted)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mode", ["wrap", "mirror"])
def test_coordinates_in_texels_never_wrap_around(driver, context, device, mode):
    texels = line(8)
    counterpart = texture(driver, texels, dimensions=1, address=(mode,) * 3)
    x = np.array([-9, -0.5, 0, 3.7, 7.99, 8, 11.2], F32)
    got = floats(run(device, kernel(fetch("1d.v4.f32.f32", 1), 1, 4), [counterpart], as_words([x]), 4))
    np.testing.assert_array_equal(got[0], texels[0, 0, [0, 0, 0, 3, 7, 7, 7], 0])


@pytest.mark.parametrize("device", DEVICES)
def test_a_border_is_blended_in(driver, context, device):
    texels = np.full((1, 4, 4, 1), 8, F32)
    counterpart = texture(driver, texels, filter="linear", address=("border",) * 3, border=(-4, 0, 0, 0))
    x = np.array([0, 0.25, 2, 4, 5, -3, np.inf, np.nan], F32)
    got = floats(
        run(device, kernel(fetch("2d.v4.f32.f32", 2), 2, 4), [counterpart], as_words([x, np.full(8, 2, F32)]), 4)
    )
    np.testing.assert_array_equal(got[0], np.array([2, 5, 8, 2, -4, -4, -4, 2], F32))


@pytest.mark.parametrize("device", DEVICES)
def test_fractions_are_filtered_before_they_are_rounded(driver, context, device):
    texels = block(1, 6, 6, 4, dtype=np.uint8)
    counterpart = texture(driver, texels, as_float=True, filter="linear")
    x, y = spread(0, 6, seed=1), spread(0, 6, seed=2)
    (i, a), (j, b) = weight(x), weight(y)
    t = texels[0].astype(np.float64)

    def at(i, j):
        return t[clamped(j, 6), clamped(i, 6)].T

    total = (
        (1 - a) * (1 - b) * at(i, j)
        + a * (1 - b) * at(i + 1, j)
        + (1 - a) * b * at(i, j + 1)
        + a * b * at(i + 1, j + 1)
    )
    got = floats(run(device, kernel(fetch("2d.v4.f32.f32", 2), 2, 4), [counterpart], as_words([x, y]), 4))
    np.testing.assert_array_equal(got, (total / 255).astype(F32))


@pytest.mark.parametrize("device", DEVICES)
def test_rows_of_memory_may_lie_apart(driver, context, device):
    texels = block(1, 7, 9, 2)
    counterpart = pitched(driver, texels, 96)
    x, y = np.meshgrid(np.arange(9), np.arange(7))
    got = floats(run(device, kernel(fetch("2d.v4.f32.f32", 2), 2, 4), [counterpart], as_words([x.ravel() + F32(0.5), y.ravel() + F32(0.5)]), 4))  # fmt: skip
    np.testing.assert_array_equal(got[:2], texels[0].reshape(-1, 2).T)


@pytest.mark.parametrize("device", DEVICES)
def test_layers_are_chosen_and_never_blended(driver, context, device):
    texels = block(4, 5, 6, 1)
    counterpart = texture(driver, texels, kind="layered", filter="linear")
    layer = np.array([0, 1, 2, 3, 4, 100, -1, 2])
    x = np.array([0.5, 1.5, 2, 3.5, 4.5, 5.5, 0.5, 2.25], F32)
    got = floats(
        run(
            device,
            kernel(fetch("a2d.v4.f32.f32", 3), 3, 4),
            [counterpart],
            as_words([layer, x, np.full(8, 2.5, F32)]),
            4,
        )
    )
    chosen = np.array([0, 1, 2, 3, 3, 3, 3, 2])  # past the last one is the last one; indices are unsigned
    i, a = weight(x)
    rows = texels[chosen, 2, :, 0].astype(np.float64)
    number = np.arange(8)
    wanted = (1 - a) * rows[number, clamped(i, 6)] + a * rows[number, clamped(i + 1, 6)]
    np.testing.assert_array_equal(got[0], wanted.astype(F32))


FACES = [
    # direction, face, and where on it (CUDA guide, table "Cubemap Fetch")
    ((1, 0.25, 0.5), 0, (-0.5, -0.25)), ((-1, 0.25, 0.5), 1, (0.5, -0.25)), ((0.25, 1, 0.5), 2, (0.25, 0.5)),
    ((0.25, -1, 0.5), 3, (0.25, -0.5)), ((0.25, 0.5, 1), 4, (0.25, -0.5)), ((0.25, 0.5, -1), 5, (-0.25, -0.5)),
    ((-2, -1, 0.5), 1, (0.25, 0.5)), ((0.1, -4, -1), 3, (0.025, 0.25)),
]  # fmt: skip


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("cubes", [1, 2])
def test_a_direction_finds_its_face(driver, context, device, cubes):
    texels = block(6 * cubes, 8, 8, 1)
    counterpart = texture(driver, texels, kind="cube")
    d = np.array([row[0] for row in FACES], F32).T
    number = np.arange(len(FACES)) % cubes
    columns = [number, *d] if cubes > 1 else [*d]
    form = fetch("acube.v4.f32.f32" if cubes > 1 else "cube.v4.f32.f32", len(columns))
    got = floats(run(device, kernel(form, len(columns), 4), [counterpart], as_words(columns), 4))
    wanted = [
        texels[6 * n + face, int((t + 1) / 2 * 8), int((s + 1) / 2 * 8), 0]
        for n, (_, face, (s, t)) in zip(number, FACES, strict=True)
    ]
    np.testing.assert_array_equal(got[0], np.array(wanted))


def pyramid(count, make):
    return [make(n) for n in range(count)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("between", "bias"), [("point", 0), ("linear", 0), ("linear", 0.75), ("point", -1.25)])
def test_levels_of_detail(driver, context, device, between, bias):
    levels = pyramid(4, lambda n: np.full((1, 16 >> n, 16 >> n, 1), 2.0**n, F32))
    counterpart = texture(driver, *levels, normalized=True, mip_filter=between, bias=bias, least=0.25, most=2.5)
    lod = np.array([-1, 0, 0.25, 0.49, 0.5, 1, 1.5, 1.75, 2.25, 2.75, 3, 9], F32)
    half = np.full(12, 0.5, F32)
    form = fetch("level.2d.v4.f32.f32", 2, ", %w2")
    got = floats(run(device, kernel(form, 3, 4), [counterpart], as_words([half, half, lod]), 4))
    level = np.clip(lod.astype(np.float64) + bias, 0.25, 2.5)
    if between == "point":
        wanted = 2 ** np.floor(level + 0.5)
    else:
        part = np.floor(level * 256) % 256 / 256
        wanted = 2 ** np.floor(level) * (1 - part) + 2 ** (np.floor(level) + 1) * part
    np.testing.assert_array_equal(got[0], wanted.astype(F32))
    plain = floats(run(device, kernel(fetch("2d.v4.f32.f32", 2), 2, 4), [counterpart], as_words([half, half]), 4))
    np.testing.assert_array_equal(plain[0], np.ones(12))  # the base level


@pytest.mark.parametrize("device", DEVICES)
def test_gradients_choose_the_level(driver, context, device):
    levels = pyramid(5, lambda n: np.full((1, 16 >> n, 16 >> n, 1), 2.0**n, F32))
    counterpart = texture(driver, *levels, normalized=True, most=10)
    steps = np.array([[1 / 16, 0, 0, 0], [0, 0, 4 / 16, 0], [3 / 32, 4 / 32, 0, 0], [0, 0, 0, 8 / 16], [0, 0, 0, 0], [2, 0, 0, 2]], F32).T  # fmt: skip
    half = np.full(6, 0.5, F32)
    form = fetch("grad.2d.v4.f32.f32", 2, ", {%w2, %w3}, {%w4, %w5}")
    got = floats(run(device, kernel(form, 6, 4), [counterpart], as_words([half, half, *steps]), 4))
    np.testing.assert_array_equal(got[0], [1, 4, 2, 8, 1, 16])  # steps of 1, 4, 2.5 (log2 1.32), 8, 0, 32 texels


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("component", "rgba")
def test_gather_goes_around_from_the_lower_left(driver, context, device, component):
    texels = block(1, 6, 7, 4, dtype=np.uint8)
    counterpart = texture(driver, texels)
    x, y = spread(0.6, 6.4, seed=1), spread(0.6, 5.4, seed=2)
    (i, _), (j, _) = weight(x), weight(y)
    t = texels[0, :, :, "rgba".index(component)]
    wanted = [t[clamped(j + b, 6), clamped(i + a, 7)] for a, b in ((0, 1), (1, 1), (1, 0), (0, 0))]
    form = f"tld4.{component}.2d.v4.u32.f32 {{%o0, %o1, %o2, %o3}}, [%t0, {{%w0, %w1}}];"
    got = run(device, kernel(form, 2, 4), [counterpart], as_words([x, y]), 4)
    np.testing.assert_array_equal(got, np.array(wanted))


@pytest.mark.parametrize("device", DEVICES)
def test_offsets_are_whole_texels_from_minus_8_to_7(driver, context, device):
    texels = block(1, 20, 20, 1)
    counterpart = texture(driver, texels, normalized=True, address=("wrap",) * 3)
    dx, dy = np.array([0, 1, 7, -8, 8, -9, 3]), np.array([0, -1, 5, -8, 23, 2, 9])
    at = np.full(7, 10.5 / 20, F32)
    form = fetch("2d.v4.f32.f32", 2, ", {%w2, %w3}")
    got = floats(run(device, kernel(form, 4, 4), [counterpart], as_words([at, at, dx, dy]), 4))
    shift = lambda d: (d + 8) % 16 - 8  # four bits  # noqa: E731
    np.testing.assert_array_equal(got[0], texels[0, (10 + shift(dy)) % 20, (10 + shift(dx)) % 20, 0])


@pytest.mark.parametrize("device", DEVICES)
def test_halves_and_the_resident_predicate(driver, context, device):
    texels = block(1, 4, 4, 4)
    counterpart = texture(driver, texels)
    text = """tex.2d.v2.f16x2.f32 {%o0, %o1}|%q, [%t0, {%w0, %w1}];
  selp.b32 %o2, 1, 0, %q;
  tex.2d.v4.f16.f32 {%h0, %h1, %h2, %h3}, [%t0, {%w0, %w1}], 0f3F000000;
  mov.b32 %o3, {%h2, %h3};"""
    x, y = np.meshgrid(np.arange(4), np.arange(4))
    got = run(device, kernel(text, 2, 4), [counterpart], as_words([x.ravel() + F32(0.5), y.ravel() + F32(0.5)]), 4)
    halves = texels[0].reshape(-1, 4).astype(np.float16).view(np.uint16).astype(np.uint32)
    np.testing.assert_array_equal(got[0], halves[:, 0] | halves[:, 1] << 16)
    np.testing.assert_array_equal(got[1], halves[:, 2] | halves[:, 3] << 16)
    np.testing.assert_array_equal(got[2], np.ones(16))
    np.testing.assert_array_equal(got[3], got[1])


@pytest.mark.parametrize("device", DEVICES)
def test_srgb_is_made_linear_but_not_alpha(driver, context, device):
    texels = np.arange(256, dtype=np.uint8).repeat(4).reshape(1, 1, 256, 4)
    counterpart = texture(driver, texels, dimensions=1, as_float=True, srgb=True)
    got = floats(
        run(device, kernel(fetch("1d.v4.f32.f32", 1), 1, 4), [counterpart], as_words([np.arange(256) + F32(0.5)]), 4)
    )
    c = np.arange(256) / 255
    wanted = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    np.testing.assert_allclose(got[0], wanted, rtol=2e-7)
    np.testing.assert_array_equal(got[3], c.astype(F32))


@pytest.mark.parametrize("device", DEVICES)
def test_only_active_lanes_fetch(driver, context, device):
    texels = line(64)
    counterpart = texture(driver, texels, linear=True, dimensions=1)
    text = """mov.b32 %o0, 5; mov.b32 %o1, 6; mov.b32 %o2, 7; mov.b32 %o3, 8;
  and.b32 %x, %i, 1;
  setp.eq.u32 %q, %x, 1;
  @%q tex.1d.v4.f32.s32 {%o0, %o1, %o2, %o3}, [%t0, {%w0}];
  setp.gt.u32 %q, %i, 40;
  @%q bra skip;
  tex.1d.v4.f32.s32 {%o1, %o2, %o3, %r0}, [%t0, {%i}];
skip:"""
    i = np.arange(64)
    got = run(device, kernel(text, 1, 4), [counterpart], as_words([63 - i]), 4)
    t = texels[0, 0, :, 0].view(np.uint32)
    np.testing.assert_array_equal(got[0], np.where(i % 2 == 1, t[63 - i], 5))
    np.testing.assert_array_equal(got[1], np.where(i <= 40, t, np.where(i % 2 == 1, 0, 6)))
