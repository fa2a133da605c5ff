"""Matrix products for every architecture: our conversions of fragments composed with AMD's documented layouts give the product.

The code runs in numpy (`lane_machine`), for two warps of a wave with different matrices, one of which may be elsewhere.
"""

from __future__ import annotations

import os
import re
from types import SimpleNamespace

import numpy as np
import pytest

from anywarp.compiler.amdgpu.architectures import ARCHITECTURES
from anywarp.compiler.amdgpu.matrix import emit_matrix
from anywarp.compiler.amdgpu.matrix_units import choose
from anywarp.compiler.attributes import MatrixProduct
from anywarp.compiler.ir import Block, Op
from anywarp.compiler.simd.text import Text
from anywarp.ptx.isa.matrix import HELD
from anywarp.ptx.isa.matrix_forms import Product, element, per_register, place_a, place_b
from compiler.amdgpu.lane_machine import LaneMachine
from semantics import matrix_layouts as layouts
from semantics.matrix_numbers import BITS, agree, multiply, random_bits, values

ARCHS = ("gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201", "gfx9-4-generic")
KINDS = ("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201")
"""One of each way."""


class Bench:
    """An emitter whose arguments are given arrays: registers of every lane of a wave."""

    def __init__(self, arch, product, registers, warps=2, active=None):
        self.arch = ARCHITECTURES[arch]
        self.wave = self.arch.wave
        self.t = Text()
        self.machine = LaneMachine(self.wave, active)
        lanes = np.arange(self.wave, dtype=np.uint32)
        self.lane, self.wave_lane = self._name("%lane", lanes % 32), self._name("%wave", lanes)
        self.half = self._name("%half", lanes & 32) if self.wave == 64 else "0"
        self.args = [Op("given", HELD.get(kind, "i32"), []) for kind, _ in registers]
        self.given = {
            op: self._name(f"%g{n}", data) for n, (op, (_, data)) in enumerate(zip(self.args, registers, strict=True))
        }
        self.product = product
        self.block = Block("b0")
        self.kernel = SimpleNamespace(blocks=[self.block])

    def _name(self, name, data):
        self.machine.names[name] = np.ascontiguousarray(data).view(np.uint8).reshape(self.wave, -1)
        return name

    def value(self, op):
        return self.given[op]

    def define_all(self, op, names):
        self.results = names

    def run(self):
        emit_matrix(self, Op("matrix", "i32", self.args, MatrixProduct(self.product)))
        self.machine.run(self.t.lines)
        return [self.machine.names[name] for name in self.results]


def held_as(kind):
    return {"f64": "<u8"}.get(kind, "<u4")


def registers_of(kind, fragments, wave):
    """Registers of a wave from each warp's (lane, i) -> bits, as arrays."""
    size = 64 if kind == "f64" else 32
    per = size // BITS[kind]
    out = []
    for first in range(0, len(fragments[0][0]), per):
        words = [
            sum(int(x) << n * BITS[kind] for n, x in enumerate(fragments[lane // 32][lane % 32][first : first + per]))
            for lane in range(wave)
        ]
        out.append((kind, np.array(words, held_as(kind))))
    return out


def unpacked(kind, registers, lane):
    size = 64 if kind == "f64" else 32
    out = []
    for data in registers:
        word = int.from_bytes(data[lane].tobytes(), "little")
        out += [word >> n & (1 << BITS[kind]) - 1 for n in range(0, size, BITS[kind])]
    return out


def matrices(p, rng):
    return (
        random_bits(p.a, (p.m, p.k), rng), random_bits(p.b, (p.k, p.n), rng), random_bits(p.c, (p.m, p.n), rng),
    )  # fmt: skip


def fragments(p, given):
    """What each lane of a warp holds of A, B and C, by the places of `matrix_forms`."""
    a, b, c = given
    out = []
    for which, matrix in (("a", a), ("b", b)):
        count = p.distinct(which) * per_register(p.kind(which))
        held = [[0] * count for _ in range(32)]
        for i in range(p.m if which == "a" else p.n):
            for k in range(p.k):
                register, lane, part = place_a(p, 0, i, k) if which == "a" else place_b(p, 0, k, i)
                held[lane][register * per_register(p.kind(which)) + part] = (
                    matrix[i, k] if which == "a" else matrix[k, i]
                )
        out.append(held)
    held = [
        [
            c[element(p, p.c, n // per_register(p.c), lane, n % per_register(p.c))[1:]]
            for n in range(p.distinct("c") * per_register(p.c))
        ]
        for lane in range(32)
    ]
    return [*out, held]


def check(arch, p, *, lonely=False, seed=0):
    """Run a product for both warps of a wave (`lonely`: of one, the other's lanes off and full of rubbish)."""
    rng = np.random.default_rng(seed)
    wave = ARCHITECTURES[arch].wave
    given = [matrices(p, rng) for _ in range(wave // 32)]
    held = [fragments(p, one) for one in given]
    registers = [
        r for n, kind in enumerate((p.a, p.b, p.c)) for r in registers_of(kind, [warp[n] for warp in held], wave)
    ]
    active = np.arange(wave) < 32 if lonely else None
    if lonely:
        for _, data in registers:
            data[32:] = (1 << 8 * data.dtype.itemsize) - 1  # a NaN of every type
    bench = Bench(arch, p, registers, active=active)
    found = bench.run()
    for warp, (a, b, c) in enumerate(given[: 1 if lonely else None]):
        want = multiply(p.d, values(p.a, a), values(p.b, b), values(p.c, c), p.combine, p.saturate)
        got = np.empty((p.m, p.n), object)
        for lane in range(32):
            for n, bits in enumerate(unpacked(p.d, found, 32 * warp + lane)):
                got[element(p, p.d, n // per_register(p.d), lane, n % per_register(p.d))[1:]] = bits
        assert agree(p.d, values(p.d, got), want, p.k), (arch, p, warp)
    return bench


FORMS = [
    *[Product(16, 8, k, "f16", "f16", d, c) for k in (8, 16) for d in ("f16", "f32") for c in ("f16", "f32")],
    *[Product(16, 8, k, "bf16", "bf16", "f32", "f32") for k in (8, 16)],
    *[Product(16, 8, k, "tf32", "tf32", "f32", "f32") for k in (4, 8)],
    *[Product(m, 8, k, "f64", "f64", "f64", "f64") for m, k in ((8, 4), (16, 4), (16, 8), (16, 16))],
    *[Product(m, 8, k, a, b, "s32", "s32") for m, k in ((8, 16), (16, 16), (16, 32)) for a in ("s8", "u8") for b in ("s8", "u8")],
    *[Product(m, 8, k, a, b, "s32", "s32") for m, k in ((8, 32), (16, 32), (16, 64)) for a in ("s4", "u4") for b in ("s4", "u4")],
    *[Product(16, 8, k, a, b, "f32", "f32") for k in (16, 32) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")],
    *[Product(m, 8, k, "b1", "b1", "s32", "s32", combine=how) for m, k in ((8, 128), (16, 256)) for how in ("and", "xor")],
    *[Product(m, n, 16, "f16", "f16", d, c, "wmma") for m, n in ((16, 16), (8, 32), (32, 8)) for d, c in (("f32", "f32"), ("f16", "f32"))],
    *[Product(m, n, 16, "u8", "u8", "s32", "s32", "wmma") for m, n in ((16, 16), (8, 32), (32, 8))],
    Product(16, 16, 16, "bf16", "bf16", "f32", "f32", "wmma"),
    Product(16, 16, 8, "tf32", "tf32", "f32", "f32", "wmma"),
    Product(8, 8, 4, "f64", "f64", "f64", "f64", "wmma"),
    Product(8, 8, 32, "s4", "s4", "s32", "s32", "wmma"),
]  # fmt: skip


def name(p):
    return f"{p.layout}_m{p.m}n{p.n}k{p.k}_{p.d}_{p.a}_{p.b}_{p.c}{'' if p.combine == 'mul' else '_' + p.combine}"


QUADS = [
    Product(8, 8, 4, "f16", "f16", d, c, "quad", a_order=x, b_order=y)
    for d in ("f16", "f32") for c in ("f16", "f32") for x in ("row", "col") for y in ("row", "col")
]  # fmt: skip


@pytest.mark.spread("arch", count=3)
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("form", FORMS, ids=name)
def test_products_of_two_warps_in_a_wave(form, arch):
    check(arch, form, seed=FORMS.index(form))


@pytest.mark.spread("arch")
@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950"])
@pytest.mark.parametrize("form", FORMS, ids=name)
def test_a_warp_alone_in_its_wave_does_not_see_the_other_lanes(form, arch):
    if choose(ARCHITECTURES[arch], form.a, form.b) is not None:
        check(arch, form, lonely=True, seed=FORMS.index(form))


@pytest.mark.parametrize("arch", KINDS)
@pytest.mark.parametrize("saturate", [False, True])
def test_sums_of_integers_wrap_or_saturate(arch, saturate, monkeypatch):
    edge = np.where(np.arange(128).reshape(16, 8) % 2 == 0, 0x7FFFFFF0, 0x80000010).astype(object)
    monkeypatch.setitem(globals(), "matrices", lambda p, rng, make=matrices: (*make(p, rng)[:2], edge))
    for a, b, k in (("s8", "s8", 32), ("u8", "s8", 32), ("s4", "u4", 64)):
        check(arch, Product(16, 8, k, a, b, "s32", "s32", saturate=saturate))


@pytest.mark.parametrize("arch", KINDS)
def test_infinities_and_nans_reach_the_rows_and_columns_they_stand_in(arch, monkeypatch):
    def special(p, rng, make=matrices):
        a, b, c = make(p, rng)
        infinity, nan = {"e5m2": (0x7C, 0x7E), "f16": (0x7C00, 0x7E00), "bf16": (0x7F80, 0x7FC0)}.get(
            p.a, (0x7F800000, 0x7FC00000)
        )
        a[2, 1], a[5, 3], b[2, 6] = infinity, nan, infinity
        return a, b, c

    monkeypatch.setitem(globals(), "matrices", special)
    for kind, k in (("f16", 16), ("bf16", 16), ("tf32", 8), ("e5m2", 32)):
        check(arch, Product(16, 8, k, kind, kind, "f32", "f32"))


@pytest.mark.parametrize("arch", ["gfx90a", "gfx1030"])
def test_every_e4m3_is_worth_what_it_is_as_f16(arch, monkeypatch):
    def all_values(p, rng, make=matrices):
        _, b, c = make(p, rng)
        return (np.arange(16 * 32).reshape(16, 32) & 0xFF).astype(object), b, c * 0

    monkeypatch.setitem(globals(), "matrices", all_values)
    check(arch, Product(16, 8, 32, "e4m3", "e4m3", "f32", "f32"))


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_quad_pairs_multiply_four_times(arch):
    wave = ARCHITECTURES[arch].wave
    for n, p in enumerate(QUADS):
        rng = np.random.default_rng(n)
        shapes = ((p.a, (4, 8, 4)), (p.b, (4, 4, 8)), (p.c, (4, 8, 8)))
        warps = [[random_bits(kind, shape, rng) for kind, shape in shapes] for _ in range(wave // 32)]
        places = (layouts.quad_a(p.a_order), layouts.quad_b(p.b_order), layouts.quad_c(p.c))
        registers = []
        for which, (kind, _), place, count in zip(range(3), shapes, places, (4, 4, 8), strict=True):
            held = [
                [[warp[which][(layouts.quad_pair(x), *place(x, i))] for i in range(count)] for x in range(32)]
                for warp in warps
            ]
            registers += registers_of(kind, held, wave)
        found = Bench(arch, p, registers).run()
        for warp, (a, b, c) in enumerate(warps):
            for x in range(32):
                one = layouts.quad_pair(x)
                want = multiply(p.d, values(p.a, a[one]), values(p.b, b[one]), values(p.c, c[one]))
                got = values(p.d, unpacked(p.d, found, 32 * warp + x))
                place = layouts.quad_c(p.d)
                assert agree(p.d, got, [want[place(x, i)] for i in range(8)], 4), (p, warp, x)


SPARSE = [
    ("m16n8k16", "f16", "f16", "f16"), ("m16n8k32", "f16", "f16", "f32"), ("m16n8k16", "bf16", "bf16", "f32"),
    ("m16n8k8", "tf32", "tf32", "f32"), ("m16n8k16", "tf32", "tf32", "f32"), ("m16n8k32", "s8", "u8", "s32"),
    ("m16n8k64", "u8", "s8", "s32"), ("m16n8k64", "u4", "s4", "s32"), ("m16n8k128", "s4", "s4", "s32"),
    ("m16n8k64", "e4m3", "e5m2", "f32"),
]  # fmt: skip


@pytest.mark.parametrize("arch", KINDS)
def test_sparse_products_take_the_columns_that_their_indices_name(arch):
    wave = ARCHITECTURES[arch].wave
    for shape, kind, other, d in SPARSE:
        m, n, k = (int(x) for x in re.findall(r"\d+", shape))
        holders = layouts.SPARSE[shape, BITS[kind]][1]
        selector = 4 // holders - 1
        sparse = {"tf32": 2, "u4": 8, "s4": 8}.get(kind, 4)
        p = Product(m, n, k, kind, other, d, d, sparse=sparse, selector=selector)
        rng = np.random.default_rng(k)
        warps = [sparse_warp(p, holders, rng) for _ in range(wave // 32)]
        registers = [
            r for i, one in enumerate((p.a, p.b, p.c)) for r in registers_of(one, [w["held"][i] for w in warps], wave)
        ]
        registers.append(("b32", np.concatenate([w["words"] for w in warps])))
        found = Bench(arch, p, registers).run()
        for warp, one in enumerate(warps):
            got = np.empty((m, n), object)
            for lane in range(32):
                for i, bits in enumerate(unpacked(d, found, 32 * warp + lane)):
                    got[layouts.C_16(lane, i)] = bits
            assert agree(d, values(d, got), one["want"], k), (arch, p)


def sparse_warp(p, holders, rng):
    """Fragments, indices and the product of one warp, laid out by the manual's formulas."""
    bits = BITS[p.a]
    dense = layouts.SPARSE[f"m{p.m}n{p.n}k{p.k}", bits][0]
    stored, b, c = (
        random_bits(p.a, (p.m, p.k // 2), rng),
        random_bits(p.b, (p.k, p.n), rng),
        random_bits(p.c, (p.m, p.n), rng),
    )
    if p.a == "tf32":
        index = rng.integers(0, 2, (p.m, p.k // 2))
    else:
        groups = p.k // 2 // (4 if bits == 4 else 2)
        index = np.array(
            [[sorted(rng.choice(4, 2, replace=False)) for _ in range(groups)] for _ in range(p.m)]
        ).reshape(p.m, -1)
    whole = np.zeros((p.m, p.k), object)
    words = np.full(32, 0xFFFFFFFF if holders < 4 else 0, np.uint32)
    for row in range(p.m):
        for s in range(p.k // 2):
            near = (
                s // 4 * 8 + 2 * index[row, s // 2] + s % 2
                if bits == 4
                else s // 2 * 4 + index[row, s]
                if bits < 32
                else 0
            )
            whole[row, 2 * s + index[row, s] if p.a == "tf32" else near] = stored[row, s]
        codes = [0b0100 + 0b1010 * int(x) for x in index[row]] if p.a == "tf32" else [int(x) for x in index[row]]
        line = sum(code << (4 if p.a == "tf32" else 2) * n for n, code in enumerate(codes))
        for part in range(holders):
            lane = 4 * (row % 8) + p.selector * holders + part
            keep = 0xFFFF if row >= 8 else 0xFFFF0000
            words[lane] = (int(words[lane]) & keep) | ((line >> 16 * part & 0xFFFF) << (16 if row >= 8 else 0))
    count_a, place_of_a, _, _, count_c, place_of_c = layouts.LAYOUTS[dense, bits]
    place_of_b = layouts.sparse_b(bits)
    held = [
        [[matrix[place(lane, i)] for i in range(count)] for lane in range(32)]
        for matrix, place, count in (
            (stored, place_of_a, count_a),
            (b, place_of_b, p.k * p.n // 32),
            (c, place_of_c, count_c),
        )
    ]
    want = multiply(p.d, values(p.a, whole), values(p.b, b), values(p.c, c))
    return {"held": held, "words": words, "want": want}


def test_a_product_of_halves_costs_ten_moves_and_two_instructions_for_two_warps():
    bench = check("gfx942", Product(16, 8, 16, "f16", "f16", "f32", "f32"))
    assert bench.machine.counts["llvm.amdgcn.ds.bpermute"] == 10
    assert bench.machine.counts["llvm.amdgcn.mfma.f32.16x16x16f16"] == 2


APART = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {
.reg .b32 %t, %w, %n, %i, %a<4>, %b<2>; .reg .b64 %o, %p<4>; .reg .f32 %c<4>; .reg .pred %q, %z;
mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 16;
ld.param.u64 %p0, [a]; ld.param.u64 %p1, [b]; ld.param.u64 %p2, [c]; ld.param.u64 %p3, [d];
add.u64 %p0, %p0, %o; add.u64 %p1, %p1, %o; add.u64 %p2, %p2, %o; add.u64 %p3, %p3, %o;
ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%p0]; ld.global.v2.u32 {%b0, %b1}, [%p1];
ld.global.v4.f32 {%c0, %c1, %c2, %c3}, [%p2];
shr.u32 %w, %t, 5; and.b32 %n, %w, 1; setp.eq.u32 %q, %n, 1; mov.u32 %i, 0;
@%q bra odd;
MMA
bra done;
odd:
MMA
add.u32 %i, %i, 1; setp.le.u32 %z, %i, %w; @%z bra odd;
done:
st.global.v4.f32 [%p3], {%c0, %c1, %c2, %c3}; ret;
}
""".replace(
    "MMA",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, "
    "{%c0, %c1, %c2, %c3};",
)
"""Even warps multiply once, warp w among the odd ones w + 1 times, in a branch of their own."""


@pytest.mark.skipif("TINYGRAD" not in os.environ, reason="TINYGRAD does not name a checkout with an emulator")
@pytest.mark.amd_emulator
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("warps", [1, 2, 3, 5])
def test_warps_multiply_in_branches_of_their_own(arch, warps):
    from semantics.emulated import Program

    p, rng = Product(16, 8, 16, "f16", "f16", "f32", "f32"), np.random.default_rng(warps)
    given = [matrices(p, rng) for _ in range(warps)]
    held = [fragments(p, one) for one in given]
    memory = []
    for n, kind in enumerate((p.a, p.b, p.c)):
        room = np.zeros((32 * warps, 4), np.uint32)
        for r, (_, words) in enumerate(registers_of(kind, [warp[n] for warp in held], 32 * warps)):
            room[:, r] = words
        memory.append(room)
    out = np.zeros((32 * warps, 4), np.uint32)
    Program(APART, arch).run("k", 1, 32 * warps, (*memory, out))
    for warp, (a, b, c) in enumerate(given):
        want = values("f32", c)
        for _ in range(warp + 1 if warp % 2 else 1):
            want = multiply("f32", values("f16", a), values("f16", b), want)
        got = [values("f32", out[32 * warp + lane].astype(object)) for lane in range(32)]
        assert agree("f32", got, [[want[layouts.C_16(lane, i)] for i in range(4)] for lane in range(32)], 64), warp
