"""CUDA C++ kernels with textures and surfaces (`tests/cases/ptx/textures.cu`) through the driver: arrays, objects, launches, faults.

Expected values come from NumPy by the rules of the CUDA guide.
"""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from native.by_hand import CudaError
from native.test_memory import fetch, fill
from native.test_texture_fetches import FACES, block
from native.test_textures import Resource
from native.texture_objects import F32, download, surface, texture

pytestmark = pytest.mark.native
PTX = (Path(__file__).parents[1] / "cases" / "ptx" / "textures.ptx").read_bytes()
LAUNCH_FAILED, ILLEGAL_ADDRESS, INVALID_VALUE, NOT_FOUND = 719, 700, 1, 500


@pytest.fixture
def module(driver, context):
    return driver.out("cuModuleLoadData", PTX)


def launch(driver, module, name, grid, block, *arguments):
    driver.launch(driver.out("cuModuleGetFunction", module, name.encode()), grid, block, arguments)
    driver.cuCtxSynchronize()


def handle(counterpart):
    return ctypes.c_uint64(counterpart.handle)


def result(driver, count, kind=F32, start=None):
    array = np.zeros(count, kind) if start is None else np.ascontiguousarray(start)
    memory = driver.out("cuMemAlloc_v2", array.nbytes)
    fill(driver, memory, array)
    return ctypes.c_uint64(memory)


def test_plain_memory_by_index(driver, module):
    texels = block(1, 1, 50, 1)
    out = result(driver, 60)
    counterpart = texture(driver, texels, linear=True, dimensions=1)
    launch(driver, module, "linear_line", 2, 32, handle(counterpart), out, ctypes.c_int(60))
    wanted = np.zeros(60, F32)
    wanted[2:52] = texels.ravel()
    np.testing.assert_array_equal(fetch(driver, out.value, 60, F32), wanted)


def test_a_turned_picture_wraps_around(driver, module):
    texels = block(1, 32, 32, 1)
    counterpart = texture(driver, texels, normalized=True, filter="linear", address=("wrap",) * 3)
    out = result(driver, 32 * 32)
    launch(driver, module, "turned", (2, 4), (16, 8), handle(counterpart), out, ctypes.c_int(32), ctypes.c_int(32), ctypes.c_float(0), ctypes.c_float(1))  # fmt: skip
    x, y = np.meshgrid(np.arange(32), np.arange(32))
    # By a quarter turn, texel corners meet texel corners: each value is the mean of four neighbours.
    u, v = (-(y / 32 - 0.5) + 0.5) * 32, (x / 32 - 0.5 + 0.5) * 32
    i, j = np.floor(u - 0.5).astype(int), np.floor(v - 0.5).astype(int)
    t = texels[0, :, :, 0].astype(np.float64)
    wanted = sum(t[(j + b) % 32, (i + a) % 32] for a in (0, 1) for b in (0, 1)) / 4
    np.testing.assert_array_equal(fetch(driver, out.value, (32, 32), F32), wanted.astype(F32))


def test_layers_of_four_channels(driver, module):
    texels = block(5, 4, 32, 4)
    out = result(driver, 5 * 32 * 4)
    launch(driver, module, "layers", 5, 32, handle(texture(driver, texels, kind="layered")), out, ctypes.c_int(32))
    np.testing.assert_array_equal(fetch(driver, out.value, (5, 32, 4), F32), texels[:, 1])


def test_directions_into_a_cubemap(driver, module):
    texels = block(6, 16, 16, 1)
    d = np.array([row[0] for row in FACES], F32)
    given, out = result(driver, d.size, start=d), result(driver, len(d))
    launch(driver, module, "sky", 1, 32, handle(texture(driver, texels, kind="cube")), given, out, ctypes.c_int(len(d)))
    wanted = [texels[face, int((t + 1) / 2 * 16), int((s + 1) / 2 * 16), 0] for _, face, (s, t) in FACES]
    np.testing.assert_array_equal(fetch(driver, out.value, len(d), F32), np.array(wanted))


def test_a_solid_between_its_texels(driver, module):
    texels = block(4, 4, 8, 1)
    out = result(driver, 128)
    counterpart = texture(driver, texels, dimensions=3, filter="linear")
    launch(driver, module, "solid", 1, (8, 4, 4), handle(counterpart), out)
    t = np.pad(texels[..., 0].astype(np.float64), ((1, 1), (1, 1), (1, 1)), "edge")
    x = t[:, 1:-1, :-2] * 0.25 + t[:, 1:-1, 1:-1] * 0.75
    wanted = x[1:-1] * 0.75 + x[2:] * 0.25
    np.testing.assert_array_equal(fetch(driver, out.value, (4, 4, 8), F32), wanted.astype(F32))


def test_levels_of_detail(driver, module):
    levels = [np.full((1, 16 >> n, 16 >> n, 1), 10 * n, F32) for n in range(5)]
    counterpart = texture(driver, *levels, normalized=True, mip_filter="linear", most=4)
    out = result(driver, 24)
    launch(driver, module, "levels", 1, 8, handle(counterpart), out)
    got = fetch(driver, out.value, (8, 3), F32)
    np.testing.assert_array_equal(got[:, 0], np.clip(np.arange(8) / 2, 0, 4) * 10)
    np.testing.assert_array_equal(got[:, 1], np.clip(np.arange(8), 0, 4) * 10)  # log2(16 * 2^(i-4))
    np.testing.assert_array_equal(got[:, 2], np.zeros(8))


def test_the_four_texels_around_a_corner(driver, module):
    texels = block(1, 6, 9, 4, dtype=np.uint16)
    out = result(driver, 64, np.uint32)
    launch(driver, module, "corners", 1, 8, handle(texture(driver, texels)), out)
    got = fetch(driver, out.value, (8, 2, 4), np.uint32)
    for n in range(8):
        for k, c in enumerate((0, 3)):
            np.testing.assert_array_equal(got[n, k], [texels[0, 2, n, c], texels[0, 2, n + 1, c], texels[0, 1, n + 1, c], texels[0, 1, n, c]])  # fmt: skip


def test_a_picture_is_written(driver, module):
    texels = block(1, 13, 21, 4, dtype=np.uint8)
    source, target = surface(driver, texels), surface(driver, np.zeros_like(texels))
    launch(
        driver, module, "inverted", (2, 2), (16, 8), handle(source), handle(target), ctypes.c_int(21), ctypes.c_int(13)
    )
    wanted = texels[:, :, ::-1].copy()
    wanted[..., :3] = 255 - wanted[..., :3]
    np.testing.assert_array_equal(download(driver, target.arrays[0], texels), wanted)
    np.testing.assert_array_equal(download(driver, source.arrays[0], texels), texels)


def test_solids_and_layers_are_changed_in_place(driver, module):
    texels = block(4, 4, 8, 2)
    counterpart = surface(driver, texels, 3)
    launch(driver, module, "solids", 1, (8, 4, 4), handle(counterpart))
    wanted = np.stack([texels[..., 1], texels[..., 0] + 1], -1)
    np.testing.assert_array_equal(download(driver, counterpart.arrays[0], texels), wanted)
    numbers = block(3, 4, 16, 1, dtype=np.int16)
    counterpart = surface(driver, numbers, layered=True)
    launch(driver, module, "stacked", 3, (16, 4), handle(counterpart))
    wanted = numbers * 2 + np.arange(3, dtype=np.int16)[:, None, None, None]
    np.testing.assert_array_equal(download(driver, counterpart.arrays[0], numbers), wanted)


def test_beyond_a_surface(driver, module):
    texels = block(1, 1, 10, 1, dtype=np.int32)
    out = result(driver, 3, np.int32)
    launch(driver, module, "beyond", 1, 1, handle(surface(driver, texels, 1)), out, ctypes.c_int(36))
    np.testing.assert_array_equal(fetch(driver, out.value, 3, np.int32), [texels[0, 0, 9, 0]] * 3)


@pytest.mark.parametrize("at", [40, -4, 2, 2**31 - 4])
def test_a_trap_beyond_a_surface_ends_the_kernel(driver, module, at):
    out, counterpart = result(driver, 3, np.int32), surface(driver, block(1, 1, 10, 1, dtype=np.int32), 1)
    with pytest.raises(CudaError) as caught:
        launch(driver, module, "beyond", 1, 1, handle(counterpart), out, ctypes.c_int(at))
    assert caught.value.code == LAUNCH_FAILED


def test_the_thread_that_left_a_surface_is_named(driver, module, capfd):
    source, target = (surface(driver, block(1, 13, 21, 4, dtype=np.uint8)) for _ in range(2))
    with pytest.raises(CudaError):
        launch(
            driver,
            module,
            "inverted",
            (2, 1),
            (16, 8),
            handle(source),
            handle(target),
            ctypes.c_int(22),
            ctypes.c_int(13),
        )
    said = capfd.readouterr().err
    assert "kernel inverted, block (0,0,0), thread (0,0,0): access outside a surface" in said or (
        "kernel inverted, block (1,0,0), thread (5,0,0): access outside a surface" in said
    )


@pytest.mark.parametrize("bad", ["nothing", "wild", "destroyed", "surface", "address"])
def test_a_handle_from_anywhere_ends_the_kernel_and_not_the_process(driver, module, bad):
    counterpart = texture(driver, block(1, 1, 50, 1), linear=True, dimensions=1)
    given = {
        "nothing": 0, "wild": 0xFFFFFFFFFFFFFFC0, "destroyed": counterpart.handle, "address": result(driver, 60).value,
        "surface": surface(driver, block(1, 4, 4, 1)).handle,
    }[bad]  # fmt: skip
    if bad == "destroyed":
        driver.cuTexObjectDestroy(counterpart.handle)
    with pytest.raises(CudaError) as caught:
        launch(driver, module, "linear_line", 2, 32, ctypes.c_uint64(given), result(driver, 60), ctypes.c_int(60))
    assert caught.value.code == LAUNCH_FAILED


def test_a_place_in_the_table_is_used_again_under_another_handle(driver, module):
    seen = set()
    for n in range(600):
        counterpart = texture(driver, np.full((1, 1, 4, 1), n, F32), linear=True, dimensions=1)
        seen.add(counterpart.handle)
        driver.cuTexObjectDestroy(counterpart.handle)
    assert len(seen) == 600
    out = result(driver, 4)
    counterpart = texture(driver, np.full((1, 1, 4, 1), 8, F32), linear=True, dimensions=1)
    launch(driver, module, "linear_line", 1, 4, handle(counterpart), out, ctypes.c_int(4))
    np.testing.assert_array_equal(fetch(driver, out.value, 4, F32), [0, 0, 8, 8])


# --- references -----------------------------------------------------------------------------------------------------------

UNIFIED = b"""
.version 8.5
.target sm_80
.address_size 64
.global .texref picture;
.visible .global .surfref paper;
.visible .entry by_name(.param .u64 out) {
  .reg .b64 %o, %t; .reg .b32 %i, %y; .reg .f32 %u, %v, %a, %b, %c, %d; .reg .pred %p; .reg .b32 %is;
  ld.param.u64 %o, [out];
  mov.u32 %i, %tid.x;
  cvt.rn.f32.u32 %u, %i;
  add.f32 %u, %u, 0f3f000000;
  tex.2d.v4.f32.f32 {%a, %b, %c, %d}, [picture, {%u, 0f40200000}];
  mov.u64 %t, picture;
  tex.2d.v4.f32.f32 {%b, %c, %d, %v}, [%t, {%u, 0f40200000}];
  add.f32 %a, %a, %b;
  istypep.texref %p, %t;
  selp.u32 %is, 1, 0, %p;
  istypep.surfref %p, %t;
  @%p mov.u32 %is, 7;
  mul.wide.u32 %t, %i, 8;
  add.u64 %o, %o, %t;
  st.global.f32 [%o], %a;
  st.global.u32 [%o+4], %is;
  shl.b32 %y, %i, 2;
  cvt.rn.f32.u32 %a, %i;
  sust.b.2d.b32.trap [paper, {%y, 1}], %a;
  ret;
}
"""

INDEPENDENT = b"""
.version 8.5
.target sm_80, texmode_independent
.address_size 64
.global .texref picture;
.global .samplerref smooth = { addr_mode_0 = clamp_to_border, addr_mode_1 = clamp_to_edge, filter_mode = linear, force_unnormalized_coords = 1 };
.global .samplerref plain = { filter_mode = nearest };
.visible .entry by_sampler(.param .u64 out, .param .texref given) {
  .reg .b64 %o; .reg .b32 %i, %q, %r; .reg .f32 %u, %a, %b, %c, %d, %e, %n;
  ld.param.u64 %o, [out];
  mov.u32 %i, %tid.x;
  cvt.rn.f32.u32 %u, %i;
  mul.f32 %n, %u, 0f3e000000;
  tex.2d.v4.f32.f32 {%a, %b, %c, %d}, [picture, smooth, {%u, 0f40200000}];
  tex.2d.v4.f32.f32 {%e, %b, %c, %d}, [given, plain, {%n, 0f3f000000}];
  txq.filter_mode.b32 %q, [smooth];
  txq.addr_mode_0.b32 %r, [smooth];
  shl.b32 %q, %q, 8;
  or.b32 %q, %q, %r;
  mad.wide.u32 %o, %i, 12, %o;
  st.global.f32 [%o], %a;
  st.global.f32 [%o+4], %e;
  st.global.u32 [%o+8], %q;
  ret;
}
"""


def test_references_are_bound_by_the_host(driver, context):
    module = driver.out("cuModuleLoadData", UNIFIED)
    picture, paper = (
        driver.out("cuModuleGetTexRef", module, b"picture"),
        driver.out("cuModuleGetSurfRef", module, b"paper"),
    )
    assert driver.out("cuModuleGetTexRef", module, b"picture") == picture
    for name, wrong in (
        ("cuModuleGetTexRef", b"paper"),
        ("cuModuleGetSurfRef", b"picture"),
        ("cuModuleGetTexRef", b"by_name"),
    ):
        assert driver.code(name, ctypes.byref(ctypes.c_void_p()), module, wrong) == NOT_FOUND
    target = surface(driver, np.zeros((1, 3, 8, 1), F32))
    driver.cuSurfRefSetArray(paper, target.arrays[0], 0)
    for seed in (1, 2):
        texels = block(1, 4, 8, 1, seed=seed)
        driver.cuTexRefSetArray(picture, texture(driver, texels).arrays[0], 1)
        out = result(driver, 16)
        launch(driver, module, "by_name", 1, 8, out)
        got = fetch(driver, out.value, (8, 2), np.uint32)
        np.testing.assert_array_equal(got[:, 0].view(F32), 2 * texels[0, 2, :, 0])
        np.testing.assert_array_equal(got[:, 1], np.ones(8))
    np.testing.assert_array_equal(
        download(driver, target.arrays[0], np.zeros((1, 3, 8, 1), F32))[0, 1, :, 0], np.arange(8)
    )
    driver.cuTexRefSetFilterMode(picture, 1)
    driver.cuTexRefSetAddressMode(picture, 1, 1)
    assert driver.out("cuTexRefGetFilterMode", picture, kind=ctypes.c_int) == 1
    assert driver.out("cuTexRefGetAddressMode", picture, 1, kind=ctypes.c_int) == 1
    assert driver.out("cuTexRefGetFlags", picture, kind=ctypes.c_uint) == 0
    assert driver.code("cuTexRefGetAddress_v2", ctypes.byref(ctypes.c_uint64()), picture) == INVALID_VALUE
    driver.cuModuleUnload(module)
    assert driver.code("cuTexRefSetFilterMode", picture, 0) == INVALID_VALUE


def test_a_surface_is_no_texture(driver, module, capfd):
    counterpart = surface(driver, block(1, 4, 4, 1))
    with pytest.raises(CudaError):
        launch(driver, module, "layers", 1, 32, handle(counterpart), result(driver, 128), ctypes.c_int(32))
    assert "kernel layers, block (0,0,0), thread (0,0,0): a surface where a texture belongs" in capfd.readouterr().err


def test_a_reference_bound_to_nothing_ends_the_kernel(driver, context, capfd):
    module = driver.out("cuModuleLoadData", UNIFIED)
    with pytest.raises(CudaError) as caught:
        launch(driver, module, "by_name", 1, 8, result(driver, 16))
    assert caught.value.code == LAUNCH_FAILED and "no texture or surface object" in capfd.readouterr().err


def test_memory_is_bound_to_a_reference(driver, context):
    module = driver.out("cuModuleLoadData", UNIFIED)
    picture, paper = (
        driver.out("cuModuleGetTexRef", module, b"picture"),
        driver.out("cuModuleGetSurfRef", module, b"paper"),
    )
    driver.cuSurfRefSetArray(paper, surface(driver, np.zeros((1, 3, 8, 1), F32)).arrays[0], 0)
    rows = np.zeros((5, 16), F32)
    rows[:, :8] = block(1, 5, 8, 1)[0, :, :, 0]
    memory = result(driver, 80, start=rows).value
    shape = (ctypes.c_size_t * 3)(8, 5, 0x20 | 1 << 32)  # width, height, format and channels
    driver.cuTexRefSetAddress2D_v3(picture, shape, memory, 64)
    out = result(driver, 16)
    launch(driver, module, "by_name", 1, 8, out)
    np.testing.assert_array_equal(fetch(driver, out.value, (8, 2), F32)[:, 0], 2 * rows[2, :8])
    assert driver.out("cuTexRefGetAddress_v2", picture, kind=ctypes.c_uint64) == memory
    offset = ctypes.c_size_t()
    assert driver.code("cuTexRefSetAddress_v2", None, picture, memory + 64, 64) == INVALID_VALUE  # not aligned
    driver.cuTexRefSetFormat(picture, 0x20, 1)
    driver.cuTexRefSetAddress_v2(ctypes.byref(offset), picture, memory + 64, 64)
    assert offset.value == 64


def test_samplers_of_their_own(driver, context):
    module = driver.out("cuModuleLoadData", INDEPENDENT)
    texels = block(1, 4, 8, 1)
    counterpart = texture(driver, texels, normalized=True)
    picture = driver.out("cuModuleGetTexRef", module, b"picture")
    driver.cuTexRefSetFlags(picture, 2)
    driver.cuTexRefSetArray(picture, counterpart.arrays[0], 1)
    out = result(driver, 30)
    launch(driver, module, "by_sampler", 1, 10, out, handle(counterpart))
    got = fetch(driver, out.value, (10, 3), np.uint32)
    row = np.concatenate([[0], texels[0, 2, :, 0], [0, 0]]).astype(np.float64)
    np.testing.assert_array_equal(got[:, 0].view(F32), ((row[:10] + row[1:]) / 2).astype(F32))
    np.testing.assert_array_equal(got[:, 1].view(F32), texels[0, 2, np.arange(10) % 8, 0])
    np.testing.assert_array_equal(got[:, 2], np.full(10, 0x104))


def test_a_texture_over_memory_that_is_gone_ends_the_kernel(driver, module):
    texels = block(1, 1, 1 << 20, 1)
    counterpart = texture(driver, texels, linear=True, dimensions=1)
    told = Resource()
    driver.cuTexObjectGetResourceDesc(ctypes.byref(told), counterpart.handle)
    driver.cuMemFree_v2(told.what.line.address)
    with pytest.raises(CudaError) as caught:
        launch(driver, module, "linear_line", 2, 32, handle(counterpart), result(driver, 60), ctypes.c_int(60))
    assert caught.value.code == ILLEGAL_ADDRESS
