"""Blocks of products as programs write them: many fragments of A with many of B over several steps along k, in every code for this processor.

Values are whole numbers of which all sums are exact, so results are compared bit by bit.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anywarp.compiler.simd.machine_code import host_cpu
from anywarp.compiler.simd.target import make_target
from anywarp.compiler.simd.tuning import Tuning
from anywarp.devices.cpu.execute import Program
from anywarp.devices.cpu.tiles import ask_for_tiles

AVX2 = "+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+sse4.2,+popcnt,+lzcnt,+movbe"
AVX512 = AVX2 + ",+avx512f,+avx512bw,+avx512dq,+avx512vl"
PROCESSORS = {
    "tiles": ("sapphirerapids", AVX512 + ",+avx512vnni,+avx512bf16,+amx-tile,+amx-bf16,+amx-int8", Tuning(tiles=1)),
    "pairs": ("znver4", AVX512 + ",+avx512vnni,+avx512bf16", Tuning()),
    "AVX-512": ("skylake-avx512", AVX512, Tuning()),
    "fours in 256 bits": ("alderlake", AVX2 + ",+avxvnni", Tuning()),
    "AVX2": ("haswell", AVX2, Tuning()),
}
FEATURES = set(host_cpu()[2].split(","))


def lacking(name):
    missing = sorted(set(PROCESSORS[name][1].split(",")) - FEATURES)
    if missing:
        return f"the processor has not {', '.join(missing)}"
    return "Linux does not let this process use tiles" if name == "tiles" and not ask_for_tiles() else ""


RUNNABLE = [
    pytest.param(name, marks=pytest.mark.skipif(bool(lacking(name)), reason=lacking(name))) for name in PROCESSORS
]


@lru_cache(maxsize=64)
def program(text, processor):
    return Program(text, make_target("x86_64-unknown-linux-gnu", *PROCESSORS[processor]))


KINDS = {
    "bf16": ("m16n8k16", "bf16", "bf16", "f32"),
    "f16": ("m16n8k16", "f16", "f16", "f32"),
    **{a + b: ("m16n8k32", a, b, "s32") for a, b in itertools.product(("s8", "u8"), repeat=2)},
}


@dataclass(frozen=True)
class Block:
    """A kernel: sums of 16 `rows` x 8 `columns` over `steps` along k, `trips` times round a loop with a barrier in it.

    `loads`: how fragments come: "lanes", "ldmatrix" (B by columns), or "trans" (B by rows, of 16 bits). `order`: the steps
    outside ("steps") or inside ("sums") of the loops over sums. `read`: every trip stores what the sums are in its middle.
    """

    kind: str = "bf16"
    rows: int = 2
    columns: int = 4
    steps: int = 2
    trips: int = 2
    loads: str = "ldmatrix"
    order: str = "steps"
    read: bool = False
    warps: int = 2
    saturate: bool = False

    @property
    def depth(self):
        return 16 if self.kind in ("bf16", "f16") else 32


def text_of(p: Block) -> str:
    """A in memory by rows, B by columns (rows for "trans"), each trip's behind the last's; sums [warp][row][column] are added to."""
    shape, a, b, c = KINDS[p.kind]
    form = f"mma.sync.aligned.{shape}.row.col{'.satfinite' if p.saturate else ''}.{c}.{a}.{b}.{c}"
    m, n, k = 16 * p.rows, 8 * p.columns, p.depth * p.steps
    size = 2 if p.depth == 16 else 1
    a_bytes, b_bytes = m * k * size, n * k * size
    type = "f32" if c == "f32" else "b32"
    lines = [
        ".version 8.6\n.target sm_90\n.address_size 64",
        f".shared .align 16 .b8 room[{p.warps * (a_bytes + b_bytes)}];",
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 mid) {",
        f".reg .{type} %c<{4 * p.rows * p.columns}>;",
        f".reg .b32 %a<{4 * p.rows * p.steps}>, %b<{2 * p.columns * p.steps}>, %t<16>; .reg .b64 %p<16>; .reg .pred %q<4>;",
        "ld.param.u64 %p0, [a]; ld.param.u64 %p1, [b]; ld.param.u64 %p2, [c]; ld.param.u64 %p3, [mid];",
        "mov.u32 %t0, %tid.x; and.b32 %t1, %t0, 31; shr.u32 %t2, %t0, 5; shr.u32 %t3, %t1, 2; and.b32 %t4, %t1, 3;",
        f"mul.wide.u32 %p4, %t2, {p.trips * a_bytes}; add.u64 %p0, %p0, %p4;",
        f"mul.wide.u32 %p4, %t2, {p.trips * b_bytes}; add.u64 %p1, %p1, %p4;",
        f"mul.wide.u32 %p4, %t2, {m * n * 4}; add.u64 %p2, %p2, %p4;",
        f"mul.wide.u32 %p4, %t2, {m * n * 4 * p.trips}; add.u64 %p3, %p3, %p4;",
        # where the lane's elements are: (t3, 2 t4) of sums, row t3 and word t4 of fragments
        f"mad.lo.u32 %t5, %t3, {n * 4}, 0; mad.lo.u32 %t5, %t4, 8, %t5; cvt.u64.u32 %p5, %t5; add.u64 %p2, %p2, %p5; add.u64 %p3, %p3, %p5;",
        f"mad.lo.u32 %t6, %t3, {k * size}, 0; mad.lo.u32 %t6, %t4, 4, %t6;",
        f"mov.u32 %t7, room; mad.lo.u32 %t7, %t2, {a_bytes + b_bytes}, %t7; add.u32 %t8, %t7, {a_bytes};",
    ]
    sums = [(i, j, r) for i in range(p.rows) for j in range(p.columns) for r in range(4)]

    def at(i, j, r):
        return (16 * i + 8 * (r // 2)) * n * 4 + (8 * j + r % 2) * 4

    def number(i, j, r):
        return 4 * (i * p.columns + j) + r

    lines += [f"ld.global.{type} %c{number(*x)}, [%p2+{at(*x)}];" for x in sums]
    lines += ["mov.u32 %t9, 0;", "again:"]
    # each warp copies its own A and B into shared memory
    lines += [
        f"mov.u32 %t10, %t1;\ncopy_a: setp.ge.u32 %q0, %t10, {a_bytes // 4}; @%q0 bra copied_a;",
        "mul.wide.u32 %p6, %t10, 4; add.u64 %p6, %p6, %p0; ld.global.u32 %t11, [%p6]; mad.lo.u32 %t12, %t10, 4, %t7;",
        "st.shared.u32 [%t12], %t11; add.u32 %t10, %t10, 32; bra copy_a;\ncopied_a: mov.u32 %t10, %t1;",
        f"copy_b: setp.ge.u32 %q0, %t10, {b_bytes // 4}; @%q0 bra copied_b;",
        "mul.wide.u32 %p6, %t10, 4; add.u64 %p6, %p6, %p1; ld.global.u32 %t11, [%p6]; mad.lo.u32 %t12, %t10, 4, %t8;",
        "st.shared.u32 [%t12], %t11; add.u32 %t10, %t10, 32; bra copy_b;\ncopied_b: bar.sync 0;",
    ]
    for s in range(p.steps):
        along = 32 * s
        for i in range(p.rows):
            names = [f"%a{4 * (s * p.rows + i) + r}" for r in range(4)]
            if p.loads == "lanes":
                lines.append("add.u32 %t13, %t7, %t6;")
                lines += [
                    f"ld.shared.u32 {x}, [%t13+{(16 * i + 8 * (r % 2)) * k * size + along + 16 * (r // 2)}];"
                    for r, x in enumerate(names)
                ]
            else:
                lines += [
                    f"and.b32 %t13, %t1, 15; mad.lo.u32 %t13, %t13, {k * size}, %t7; shr.u32 %t14, %t1, 4; mad.lo.u32 %t13, %t14, 16, %t13;",
                    f"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{{', '.join(names)}}}, [%t13+{16 * i * k * size + along}];",
                ]
        for j in range(p.columns):
            names = [f"%b{2 * (s * p.columns + j) + r}" for r in range(2)]
            if p.loads == "lanes":
                lines.append("add.u32 %t13, %t8, %t6;")
                lines += [
                    f"ld.shared.u32 {x}, [%t13+{8 * j * k * size + along + 16 * r}];" for r, x in enumerate(names)
                ]
            elif p.loads == "ldmatrix":
                lines += [
                    f"and.b32 %t13, %t1, 7; mad.lo.u32 %t13, %t13, {k * size}, %t8; shr.u32 %t14, %t1, 3; and.b32 %t14, %t14, 1; mad.lo.u32 %t13, %t14, 16, %t13;",
                    f"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {{{', '.join(names)}}}, [%t13+{8 * j * k * size + along}];",
                ]
            else:
                lines += [
                    f"and.b32 %t13, %t1, 15; mad.lo.u32 %t13, %t13, {n * 2}, %t8;",
                    f"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {{{', '.join(names)}}}, [%t13+{16 * s * n * 2 + 16 * j}];",
                ]
    loops = [(s, i, j) for s in range(p.steps) for i in range(p.rows) for j in range(p.columns)]
    if p.order == "sums":
        loops.sort(key=lambda x: (x[1], x[2], x[0]))
    for count, (s, i, j) in enumerate(loops):
        d = ", ".join(f"%c{number(i, j, r)}" for r in range(4))
        x = ", ".join(f"%a{4 * (s * p.rows + i) + r}" for r in range(4))
        y = ", ".join(f"%b{2 * (s * p.columns + j) + r}" for r in range(2))
        lines.append(f"{form} {{{d}}}, {{{x}}}, {{{y}}}, {{{d}}};")
        if p.read and count == len(loops) // 2:
            lines += [f"st.global.{type} [%p3+{at(*x)}], %c{number(*x)};" for x in sums]
    lines += [
        f"bar.sync 0; add.u64 %p0, %p0, {a_bytes}; add.u64 %p1, %p1, {b_bytes}; add.u64 %p3, %p3, {m * n * 4};",
        f"add.u32 %t9, %t9, 1; setp.lt.u32 %q1, %t9, {p.trips}; @%q1 bra again;",
    ]
    lines += [f"st.global.{type} [%p2+{at(*x)}], %c{number(*x)};" for x in sums]
    return "\n".join([*lines, "ret;", "}"])


def encode(kind, values):
    if kind == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype({"f16": np.float16, "s8": np.int8, "u8": np.uint8}[kind])


def draw(kind, shape, rng):
    low, high = {"s8": (-128, 128), "u8": (0, 256)}.get(kind, (-8, 9))
    return rng.integers(low, high, shape)


def limited(total, p):
    """Sums as registers of 32 bits hold them."""
    if p.depth == 16:
        return total
    if p.saturate:
        return np.clip(total, -(1 << 31), (1 << 31) - 1)
    return (total + (1 << 31)) % (1 << 32) - (1 << 31)


def check(p: Block, processor: str, seed: int, extreme: bool = False, options: str = "") -> None:
    _, kind_a, kind_b, kind_c = KINDS[p.kind]
    rng = np.random.default_rng(seed)
    m, n, k = 16 * p.rows, 8 * p.columns, p.depth * p.steps
    a, b = draw(kind_a, (p.warps, p.trips, m, k), rng), draw(kind_b, (p.warps, p.trips, k, n), rng)
    c = rng.integers(-1000, 1000, (p.warps, m, n))
    if extreme:
        c = np.where(rng.integers(0, 2, c.shape) == 0, (1 << 31) - 1000, -(1 << 31) + 1000) + c
    by_rows = p.loads == "trans"
    out = c.astype(np.float32 if kind_c == "f32" else np.int32)
    mid = np.zeros((p.warps, p.trips, m, n), out.dtype)
    buffers = (
        encode(kind_a, np.ascontiguousarray(a)),
        encode(kind_b, np.ascontiguousarray(b if by_rows else b.transpose(0, 1, 3, 2))),
        out,
        mid,
    )
    program(text_of(p), processor).run("k", 1, 32 * p.warps, buffers, options=options)
    want, first_half = c.astype(np.int64), p.rows * p.columns * p.steps // 2 + 1
    loops = [(s, i, j) for s in range(p.steps) for i in range(p.rows) for j in range(p.columns)]
    if p.order == "sums":
        loops.sort(key=lambda x: (x[1], x[2], x[0]))
    for trip in range(p.trips):
        for count, (s, i, j) in enumerate(loops):
            rows, columns, along = (
                slice(16 * i, 16 * i + 16),
                slice(8 * j, 8 * j + 8),
                slice(p.depth * s, p.depth * s + p.depth),
            )
            more = np.einsum("wmk,wkn->wmn", a[:, trip, rows, along], b[:, trip, along, columns])
            want[:, rows, columns] = limited(want[:, rows, columns] + more, p)
            if p.read and count + 1 == first_half:
                np.testing.assert_array_equal(mid[:, trip].astype(np.int64), want)
    np.testing.assert_array_equal(out.astype(np.int64), want)


CASES = [
    Block(),
    Block(loads="lanes", order="sums"),
    Block(loads="trans", columns=8),
    Block(steps=3, columns=5, order="sums"),
    Block(steps=1, columns=4, rows=1, trips=3),
    Block(steps=4, columns=4, loads="trans", read=True),
    Block(kind="s8s8"),
    Block(kind="s8s8", columns=5, steps=1),
    Block(kind="s8u8", loads="lanes"),
    Block(kind="u8s8", order="sums", steps=3),
    Block(kind="u8u8", columns=6, read=True),
    Block(kind="f16", columns=4),
]


@pytest.mark.parametrize("processor", RUNNABLE)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_sums_of_many_products(case, processor):
    check(case, processor, 1)


@pytest.mark.parametrize("processor", RUNNABLE)
@pytest.mark.parametrize("saturate", [False, True])
def test_sums_of_bytes_wrap_or_saturate(processor, saturate):
    check(Block(kind="s8s8", saturate=saturate), processor, 3, extreme=True)


@pytest.mark.parametrize("processor", RUNNABLE[:2])
@pytest.mark.parametrize("options", ["gang=32 tier=quick", "gang=64", "gang=128"])
def test_sums_in_other_gangs(processor, options):
    check(Block(columns=5, warps=4), processor, 4, options=options)
    check(Block(kind="s8s8", trips=1, warps=4), processor, 5, options=options)


blocks = st.builds(
    Block,
    kind=st.sampled_from(["bf16", "s8s8", "s8u8", "u8u8"]),
    rows=st.integers(1, 3),
    columns=st.integers(3, 6),
    steps=st.integers(1, 4),
    trips=st.integers(1, 2),
    loads=st.sampled_from(["lanes", "ldmatrix"]),
    order=st.sampled_from(["steps", "sums"]),
    read=st.booleans(),
    warps=st.integers(1, 2),
)


@pytest.mark.parametrize("processor", RUNNABLE[:2])
@settings(max_examples=12, deadline=None)
@given(block=blocks, seed=st.integers(0, 1 << 16))
def test_sums_of_any_block_of_products(processor, block, seed):
    check(block, processor, seed)
