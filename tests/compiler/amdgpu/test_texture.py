"""Textures and surfaces on AMD GPUs: the texture unit is what its sources say, every form compiles, and, emulated, equals the reference device."""

from __future__ import annotations

import ctypes
import importlib.util
import itertools
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from anywarp.compiler.amdgpu.target import make_target
from anywarp.compiler.amdgpu.texture import MARK, HipTexture
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.pipeline import compile_kernel
from anywarp.devices.reference.execute import run_kernel as run_on_reference
from anywarp.devices.reference.surface import Surface
from anywarp.devices.reference.texture import Texture
from anywarp.ptx.index import index_module
from native.texture_objects import as_words, fetch, kernel

ROOT = Path(__file__).parents[3]
CHANNELS = ("u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4")
MODES = ("wrap", "clamp", "mirror", "border")
emulated = pytest.mark.skipif("TINYGRAD" not in os.environ, reason="TINYGRAD does not name a checkout with an emulator")
F32 = np.float32


def test_the_header_and_its_mirror_agree():
    text = (ROOT / "native/core/hip_texture.h").read_text().replace("'", "")
    assert f"sizeof(HipTexture) == {ctypes.sizeof(HipTexture)}" in text
    assert f"{MARK:#018x}"[2:] in text.replace("0x", "").lower() or f"{MARK:x}" in text.lower()


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="the wheel ziglang is not installed")
def test_the_device_code_is_what_its_sources_say():
    made = subprocess.run(
        [sys.executable, str(ROOT / "native/hip/device/make_textures.py"), "--check"], capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr


FORMS = [
    (fetch("2d.v4.f32.f32", 2), 2, 4),
    (fetch("3d.v4.f32.f32", 3), 3, 4),
    (fetch("cube.v4.f32.f32", 3), 3, 4),
    ("tld4.r.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%t0, {%w0, %w1}];", 2, 4),
    ("txq.width.b32 %o0, [%t0];", 0, 1),
    ("suld.b.2d.b32.trap %o0, [%t0, {%w0, %w1}];", 2, 1),
    ("sust.b.2d.b32.clamp [%t0, {%w0, %w1}], %w2;", 3, 0),
    ("sured.b.add.2d.u32.trap [%t0, {%w0, %w1}], %w2;", 3, 0),
]


@pytest.mark.parametrize(
    ("arch", "forms"),
    [
        ("gfx942", FORMS[3:6]),
        *(pytest.param(a, FORMS, marks=pytest.mark.long) for a in ("gfx90a", "gfx1030", "gfx1201")),
    ],
)
def test_every_kind_of_instruction_compiles(arch, forms):
    target = make_target(arch)
    for text, inputs, outputs in forms:
        index = index_module(kernel(text, inputs, outputs))
        artifact = compile_kernel(index, "k", Specialisation((64, 1, 1)), target)
        assert artifact.amd.vgprs <= 256, text


def test_a_fetch_whose_form_is_known_leaves_out_the_others():
    sizes = {}
    for form, count in (("1d.v4.u32.s32", 1), ("cube.v4.f32.f32", 3)):
        artifact = compile_kernel(
            index_module(kernel(fetch(form, count), count, 4)), "k", Specialisation((64, 1, 1)), make_target("gfx942")
        )
        sizes[form] = len(artifact.object)
    assert sizes["1d.v4.u32.s32"] < sizes["cube.v4.f32.f32"] / 2


# --- values, emulated ---------------------------------------------------------------------------------------------------


def described(t, keep):
    """The descriptor of a texture or surface of the reference device; arrays that it needs are appended to `keep`."""
    is_surface = isinstance(t, Surface)
    levels = (t.texels,) if is_surface else t.levels
    kind = ("layered" if t.layered else "plain") if is_surface else t.kind
    first = levels[0]
    d = HipTexture(mark=MARK)
    d.surface, d.layered = is_surface, kind == "layered" or (kind == "cube" and first.shape[0] > 6)
    d.cube, d.mipmapped = kind == "cube", len(levels) > 1
    d.channel, d.channels, d.dimensions = CHANNELS.index(first.dtype.str[1:]), first.shape[-1], t.dimensions
    d.levels, d.layers = len(levels), first.shape[0] if kind != "plain" else 1
    d.pointwise = True
    if not is_surface:
        d.linear, d.pointwise, d.level_linear = t.linear, t.filter == "point", t.mip_filter == "linear"
        d.normalized, d.srgb = t.normalized, t.srgb
        d.fractions = t.as_float and first.dtype.kind != "f"
        d.address[:] = [MODES.index(m) for m in t.address]
        d.bias, d.least, d.most = t.bias, t.least, t.most
        border = np.array(t.border, F32).view(np.uint32) if t.floats else np.array(t.border).astype(np.int64)
        d.border[:] = [int(x) & 0xFFFFFFFF for x in border]
    for one, texels in zip(d.level, levels, strict=False):
        texels = texels if is_surface else np.ascontiguousarray(texels)
        keep.append(texels)
        depth, height, width, channels = texels.shape
        one.base, one.pitch = texels.ctypes.data, width * channels * texels.dtype.itemsize
        one.slice, one.width, one.height = one.pitch * height, width, height
        one.depth = 1 if kind != "plain" else depth
    data = np.zeros(ctypes.sizeof(d) + 64, np.uint8)
    start = -data.ctypes.data % 64
    data[start : start + ctypes.sizeof(d)] = np.frombuffer(bytes(d), np.uint8)
    keep.append(data)
    return data.ctypes.data + start


def run(arch, ptx, objects, words, outputs):
    """Run on the emulator and on the reference device; returns both results."""
    from semantics.emulated import Program

    n, keep = words.shape[1], []
    handles = [described(o, keep) for o in objects]
    found, wanted = (np.full((max(outputs, 1), n), 0xABABABAB, np.uint32) for _ in range(2))
    args = [*(np.uint64(h) for h in handles), words, found, np.uint32(n)]
    Program(ptx, arch).run("k", -(-n // 64), 64, args, more=keep)
    args = [*(np.uint64(h) for h in handles), words, wanted, np.uint32(n)]
    counterparts = [SimpleNamespace(handle=h, other=o) for h, o in zip(handles, objects, strict=True)]
    run_on_reference(ptx, "k", -(-n // 64), 64, args, objects={t.handle: t.other for t in counterparts})
    return found[:outputs], wanted[:outputs]


def block(*shape, dtype=F32, seed=5):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return (rng.integers(-2000, 2000, shape) / 16).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def spread(low, high, seed, count=64):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.uniform(low, high, count - 6), [low, high, 0, 0.5, 1, -0.5]]).astype(F32)


def same(found, wanted, floats=True):
    if floats:
        np.testing.assert_array_equal(found.view(F32), wanted.view(F32))
    else:
        np.testing.assert_array_equal(found, wanted)


archs = pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])


@emulated
@pytest.mark.amd_emulator
@archs
def test_point_and_linear_fetches_in_every_address_mode(arch):
    picture = block(1, 5, 8, 2)
    x, y = spread(-3, 4, 1), spread(-3, 4, 2)
    for mode, filter in itertools.product(MODES, ("point", "linear")):
        t = Texture(
            (picture,), normalized=True, filter=filter, address=(mode, mode, mode), border=(1.5, -2.0, 0.0, 0.0)
        )
        same(*run(arch, kernel(fetch("2d.v4.f32.f32", 2), 2, 4), [t], as_words([x, y]), 4))


@emulated
@pytest.mark.amd_emulator
@archs
def test_lines_solids_layers_and_cubes(arch):
    x, y, z = spread(-1, 8, 1), spread(-1, 7, 2), spread(-1, 6, 3)
    layer = np.arange(64) % 5
    line = Texture((block(1, 1, 13, 4),), dimensions=1, filter="linear")
    same(*run(arch, kernel(fetch("1d.v4.f32.f32", 1), 1, 4), [line], as_words([x]), 4))
    solid = Texture((block(5, 6, 7, 1),), dimensions=3, filter="linear")
    same(*run(arch, kernel(fetch("3d.v4.f32.f32", 3), 3, 4), [solid], as_words([x, y, z]), 4))
    layers = Texture((block(4, 6, 7, 2),), kind="layered", filter="linear")
    same(*run(arch, kernel(fetch("a2d.v4.f32.f32", 3), 3, 4), [layers], as_words([layer, x, y]), 4))
    cube = Texture((block(6, 4, 4, 1),), kind="cube", filter="linear")
    direction = [spread(-2, 2, seed) for seed in (4, 5, 6)]
    same(*run(arch, kernel(fetch("cube.v4.f32.f32", 3), 3, 4), [cube], as_words(direction), 4))


@emulated
@pytest.mark.amd_emulator
@archs
def test_formats_of_texels(arch):
    i = np.concatenate([np.arange(60), [-1, 60, 1000, -(2**31)]])
    for dtype, channels in (("u1", 4), ("i1", 2), ("u2", 1), ("i2", 4), ("u4", 2), ("i4", 4), ("f2", 4), ("f4", 1)):
        t = Texture((block(1, 1, 60, channels, dtype=dtype),), linear=True, dimensions=1)
        same(*run(arch, kernel(fetch("1d.v4.u32.s32", 1), 1, 4), [t], as_words([i]), 4), floats=False)
    for dtype, srgb in (("u1", False), ("u1", True), ("i1", False), ("u2", False), ("i2", False)):
        t = Texture((block(1, 1, 60, 4, dtype=dtype),), dimensions=1, as_float=True, srgb=srgb, filter="linear")
        found, wanted = run(arch, kernel(fetch("1d.v4.f32.f32", 1), 1, 4), [t], as_words([spread(-1, 61, 3)]), 4)
        np.testing.assert_allclose(found.view(F32), wanted.view(F32), rtol=2**-22 if srgb else 0)


@emulated
@pytest.mark.amd_emulator
@archs
def test_levels_of_detail_and_gradients(arch):
    levels = tuple(block(1, 16 >> n, 16 >> n, 1, seed=n) for n in range(4))
    t = Texture(levels, normalized=True, filter="linear", mip_filter="linear", most=3.0, bias=0.25)
    x, y, lod = spread(0, 1, 1), spread(0, 1, 2), spread(-1, 5, 3)
    same(
        *run(
            arch,
            kernel(fetch("2d.v4.f32.f32", 2, ", %w2").replace("tex.", "tex.level."), 3, 4),
            [t],
            as_words([x, y, lod]),
            4,
        )
    )
    steps = [spread(0, 0.4, seed) for seed in range(4, 8)]
    text = fetch("2d.v4.f32.f32", 2, ", {%w2, %w3}, {%w4, %w5}").replace("tex.", "tex.grad.")
    found, wanted = run(arch, kernel(text, 6, 4), [t], as_words([x, y, *steps]), 4)
    np.testing.assert_allclose(found.view(F32), wanted.view(F32), atol=2.0**-7 * 250)  # 1/256 of a level's difference


@emulated
@pytest.mark.amd_emulator
@archs
def test_gathers_and_queries(arch):
    t = Texture((block(1, 9, 11, 4),), filter="linear", address=("wrap", "mirror", "border"), normalized=True)
    x, y = spread(-1, 2, 1), spread(-1, 2, 2)
    for component in "rgba":
        text = f"tld4.{component}.2d.v4.f32.f32 {{%o0, %o1, %o2, %o3}}, [%t0, {{%w0, %w1}}];"
        same(*run(arch, kernel(text, 2, 4), [t], as_words([x, y]), 4))
    names = (
        "width",
        "height",
        "depth",
        "channel_data_type",
        "channel_order",
        "normalized_coords",
        "filter_mode",
        "addr_mode_1",
    )
    text = "\n".join(f"txq.{name}.b32 %o{n}, [%t0];" for n, name in enumerate(names))
    same(*run(arch, kernel(text, 1, len(names)), [t], as_words([np.arange(64)]), len(names)), floats=False)


@emulated
@pytest.mark.amd_emulator
@archs
def test_surfaces_are_read_written_and_added_to(arch):
    x, y = np.arange(64) % 12 - 2, np.arange(64) // 8 - 1
    texels = block(1, 6, 8, 1, dtype="u4")
    for outside in ("clamp", "zero"):
        text = f"suld.b.2d.b32.{outside} %o0, [%t0, {{%w0, %w1}}];"
        same(*run(arch, kernel(text, 2, 1), [Surface(texels.copy(), False, 2)], as_words([4 * x, y]), 1), floats=False)
    inside = as_words([4 * (np.arange(64) % 8), np.arange(64) // 8 % 6, np.arange(64) + 100])
    inside = np.ascontiguousarray(inside[:, :48])
    for text in ("sust.b.2d.b32.trap [%t0, {%w0, %w1}], %w2;", "sured.b.add.2d.u32.trap [%t0, {%w0, %w1}], %w2;"):
        mine, other = Surface(texels.copy(), False, 2), Surface(texels.copy(), False, 2)
        run_apart(arch, kernel(text, 3, 0), mine, other, inside)
        assert (mine.texels != texels).any()
        np.testing.assert_array_equal(mine.texels, other.texels)


def run_apart(arch, ptx, mine, other, words):
    """Run on both devices, each with a surface of its own."""
    from semantics.emulated import Program

    keep, n = [], words.shape[1]
    handle, out = described(mine, keep), np.zeros((1, n), np.uint32)
    Program(ptx, arch).run("k", 1, 64, [np.uint64(handle), words, out, np.uint32(n)], more=keep)
    run_on_reference(ptx, "k", 1, 64, [np.uint64(handle), words, out, np.uint32(n)], objects={handle: other})


@emulated
@pytest.mark.amd_emulator
@archs
def test_what_is_no_texture_ends_the_kernel_with_a_reason(arch):
    from anywarp.devices.cpu.execute import KernelTrap
    from semantics.emulated import Program

    keep, words, out = [], as_words([np.zeros(32), np.zeros(32)]), np.zeros((4, 32), np.uint32)
    handle = described(Surface(block(1, 6, 8, 1), False, 2), keep)
    for value, text in ((0, "no texture or surface object"), (handle, "a surface where a texture belongs")):
        args = [np.uint64(value), words, out, np.uint32(32)]
        with pytest.raises(KernelTrap, match=text):
            Program(kernel(fetch("2d.v4.f32.f32", 2), 2, 4), arch).run("k", 1, 32, args, more=keep)
