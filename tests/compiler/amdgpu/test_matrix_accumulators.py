"""Sums of matrix products that stay in the instruction's places from product to product: where, at what cost, and their values."""

from __future__ import annotations

import os

import numpy as np
import pytest

from anywarp.compiler.amdgpu.matrix import emit_layout, emit_matrix
from anywarp.compiler.amdgpu.matrix_accumulators import PlacedProduct
from anywarp.compiler.amdgpu.target import make_target
from anywarp.compiler.attributes import MatrixLayout
from anywarp.compiler.ir import Op, Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.variants import analyse_for_variant
from anywarp.ptx.index import index_module
from anywarp.ptx.isa.matrix_forms import Product
from compiler.amdgpu.test_matrix import Bench, fragments, matrices, registers_of, unpacked
from semantics import matrix_layouts as layouts
from semantics.matrix_numbers import agree, encode, multiply, values

MMA = (
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, "
    "{%c0, %c1, %c2, %c3};"
)


def loop(trips, *, begin="", end="", products=1):
    """Each thread multiplies the fragments it loads in each of `trips` trips (an instruction that sets %n), into sums from memory."""
    return f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u32 times) {{
.reg .b32 %t, %n, %i, %a<4>, %b<2>; .reg .b64 %o, %p<4>; .reg .f32 %c<4>; .reg .pred %q;
mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 16;
ld.param.u64 %p0, [a]; ld.param.u64 %p1, [b]; ld.param.u64 %p2, [c]; ld.param.u64 %p3, [d];
add.u64 %p0, %p0, %o; add.u64 %p1, %p1, %o; add.u64 %p2, %p2, %o; add.u64 %p3, %p3, %o;
ld.global.v4.f32 {{%c0, %c1, %c2, %c3}}, [%p2];
{trips} mov.u32 %i, 0;
again:
ld.global.v4.u32 {{%a0, %a1, %a2, %a3}}, [%p0]; ld.global.v2.u32 {{%b0, %b1}}, [%p1];
{begin}
{MMA * products}
{end}
add.u64 %p0, %p0, 2048; add.u64 %p1, %p1, 2048;
add.u32 %i, %i, 1; setp.lt.u32 %q, %i, %n; @%q bra again;
st.global.v4.f32 [%p3], {{%c0, %c1, %c2, %c3}}; ret;
}}
"""


EVERYWHERE = "ld.param.u32 %n, [times];"
BY_WARP = "ld.param.u32 %n, [times]; shr.u32 %i, %t, 5; add.u32 %n, %n, %i;"
SCALED = " ".join(f"mul.f32 %c{i}, %c{i}, 0f3F000000;" for i in range(4))


def assembly(arch, ptx, block=128):
    shape = Specialisation((block, 1, 1), lanes=0)
    kernel = prepare_kernel(IndexedModule(index_module(ptx)), "k", shape)
    target = make_target(arch)
    shape = Specialisation((block, 1, 1), lanes=target.choose_gang(kernel, shape).lanes)
    analysis, _ = analyse_for_variant(kernel, shape)
    return target.assembly(kernel, analysis, shape)


def test_sums_in_a_loop_are_moved_before_and_after_it_only():
    code = assembly("gfx942", loop(EVERYWHERE))
    assert "s_or_saveexec_b64" not in code  # no whole-wave mode
    body = code[code.index("v_mfma") :]
    body = code[code.rindex("LBB0_", 0, code.index("v_mfma")) : code.index("s_cbranch_scc", code.index("v_mfma"))]
    assert body.count("ds_bpermute_b32") == 6 and code.count("ds_bpermute_b32") == 14  # a and b; c, d once each


def test_where_warps_go_different_ways_sums_go_with_their_warp():
    assert "s_or_saveexec_b64" in assembly("gfx942", loop(BY_WARP))
    assert "s_or_saveexec_b64" in assembly("gfx942", loop(EVERYWHERE), block=96)  # half of the last wave is empty


ARCHS = ("gfx90a", "gfx942", "gfx1100", "gfx1201")
PRODUCTS = [Product(16, 8, 16, "f16", "f16", "f32", "f32"), Product(16, 8, 8, "tf32", "tf32", "f32", "f32"),
            Product(16, 8, 32, "s8", "s8", "s32", "s32")]  # fmt: skip


@pytest.mark.parametrize("arch", ARCHS)
def test_a_product_in_place_is_the_product(arch):
    for p in PRODUCTS:
        rng = np.random.default_rng(p.k)
        wave = make_target(arch).arch.wave
        given = [matrices(p, rng) for _ in range(wave // 32)]
        held = [fragments(p, one) for one in given]
        registers = [
            r for n, kind in enumerate((p.a, p.b, p.c)) for r in registers_of(kind, [w[n] for w in held], wave)
        ]
        bench = Bench(arch, p, registers)
        if p.a == "tf32" and bench.arch.matrix == "wmma":
            continue
        type = p.d if p.d == "f32" else "i32"
        count = p.distinct("a") + p.distinct("b")

        def step(name, args, attrs, bench=bench, type=type):
            op = Op(name, type, args, attrs)
            (emit_matrix if name == "matrix" else emit_layout)(bench, op)
            out = [Op("made", type, []) for _ in bench.results]
            bench.given.update(zip(out, bench.results, strict=True))
            return out

        sums = step("matrix_layout", bench.args[count:], MatrixLayout(into=True))
        for _ in range(2):
            sums = step("matrix", [*bench.args[:count], *sums], PlacedProduct(p, whole=True, native=True))
        step("matrix_layout", sums, MatrixLayout(into=False))
        bench.machine.run(bench.t.lines)
        found = [bench.machine.names[name] for name in bench.results]
        for warp, (a, b, c) in enumerate(given):
            left, right = values(p.a, a), values(p.b, b)
            want = multiply(p.d, left, right, multiply(p.d, left, right, values(p.c, c)))
            for lane in range(32):
                got = values(p.d, np.array(unpacked(p.d, found, 32 * warp + lane), object))
                assert agree(p.d, got, [want[layouts.C_16(lane, i)] for i in range(4)], 2 * p.k), (arch, p, warp, lane)


def coarse(p, rng):
    """Multiples of 1/64: some matrix instructions take subnormal halves for zeros."""
    shapes = ((p.a, (p.m, p.k)), (p.b, (p.k, p.n)), (p.c, (p.m, p.n)))
    return [encode(kind, np.round(rng.normal(size=shape) * 64) / 64) for kind, shape in shapes]


@pytest.mark.skipif("TINYGRAD" not in os.environ, reason="TINYGRAD does not name a checkout with an emulator")
@pytest.mark.amd_emulator
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize(
    ("text", "scale", "products"),
    [(loop(EVERYWHERE), 1, 1), (loop(BY_WARP), 1, 1), (loop(EVERYWHERE, begin=SCALED), 0.5, 1), (loop(EVERYWHERE, products=3), 1, 3),
     (loop(EVERYWHERE, begin=SCALED, products=2), 0.5, 2)],
    ids=["uniform", "by_warp", "scaled", "chained", "scaled_chain"],
)  # fmt: skip
@pytest.mark.parametrize("threads", [64, 96, 128])
def test_loops_of_products(arch, text, scale, products, threads):
    from semantics.emulated import Program

    p, times, warps = PRODUCTS[0], 3, threads // 32
    rng = np.random.default_rng(threads)
    trips = times + warps
    given = [[coarse(p, rng) for _ in range(warps)] for _ in range(trips)]
    memory = [np.zeros((trips, 128, 4), np.uint32) for _ in range(3)]
    for trip, one in enumerate(given):
        held = [fragments(p, warp) for warp in one]
        for n, kind in enumerate((p.a, p.b, p.c)):
            for r, (_, words) in enumerate(registers_of(kind, [warp[n] for warp in held], threads)):
                memory[n][trip, :threads, r] = words
    out = np.zeros((threads, 4), np.uint32)
    Program(text, arch).run("k", 1, threads, (*memory[:2], memory[2][0].copy(), out, np.uint32(times)))
    for warp in range(warps):
        want = values("f32", given[0][warp][2])
        for trip in range(times + (warp if "add.u32 %n, %n, %i" in text else 0)):
            want = want * scale
            for _ in range(products):
                want = multiply("f32", values("f16", given[trip][warp][0]), values("f16", given[trip][warp][1]), want)
        for lane in range(32):
            got = values("f32", out[32 * warp + lane].astype(object))
            assert agree("f32", got, [want[layouts.C_16(lane, i)] for i in range(4)], 64), (warp, lane)


SWAPPED = " ".join(["mov.f32 %x, %c0;", "mov.f32 %c0, %c1;", "mov.f32 %c1, %x;"])


@pytest.mark.skipif("TINYGRAD" not in os.environ, reason="TINYGRAD does not name a checkout with an emulator")
@pytest.mark.amd_emulator
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_sums_whose_registers_change_places_or_that_are_read_on_the_way(arch):
    from semantics.emulated import Program

    p, rng = PRODUCTS[0], np.random.default_rng(5)
    given = [coarse(p, rng) for _ in range(2)]
    held = [fragments(p, one) for one in given]
    memory = []
    for n, kind in enumerate((p.a, p.b, p.c)):
        room = np.zeros((4, 128, 4), np.uint32)
        for r, (_, words) in enumerate(registers_of(kind, [warp[n] for warp in held], 64)):
            room[:, :64, r] = words
        memory.append(room)
    text = loop(EVERYWHERE, begin=SWAPPED, end="st.global.f32 [%p3+4096], %c2;").replace(
        ".reg .pred", ".reg .f32 %x; .reg .pred"
    )
    out = np.zeros((512, 4), np.uint32)
    Program(text, arch).run("k", 1, 64, (*memory[:2], memory[2][0].copy(), out, np.uint32(3)))
    for warp, (a, b, c) in enumerate(given):
        want = values("f32", c)
        for _ in range(3):
            for row in range(8):  # c0 and c1 of a lane: neighbours in rows 0 to 7
                want[row] = want[row].reshape(4, 2)[:, ::-1].reshape(8)
            want = multiply("f32", values("f16", a), values("f16", b), want)
        for lane in range(32):
            got = values("f32", out[32 * warp + lane].astype(object))
            assert agree("f32", got, [want[layouts.C_16(lane, i)] for i in range(4)], 64), (warp, lane)
            assert values("f32", out[256 + 32 * warp + lane].astype(object))[0] == got[2]
