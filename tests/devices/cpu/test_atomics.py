"""Atomics of every operation, type and space, with and without their results, on equal and on different addresses."""

from __future__ import annotations

import numpy as np
import pytest

from anywarp.devices.cpu.execute import run_kernel

SIGNED = {"s32": np.int32, "u32": np.uint32, "b32": np.uint32, "s64": np.int64, "u64": np.uint64, "b64": np.uint64, "f32": np.float32, "f64": np.float64}  # fmt: skip


def wrap(kind, x):
    bits = 64 if kind.endswith("64") else 32
    x &= (1 << bits) - 1
    return x - (1 << bits) if kind[0] == "s" and x >> (bits - 1) else x


def step(op, kind, old, b):
    if op == "inc":
        return 0 if old >= b else old + 1
    if op == "dec":
        return b if old == 0 or old > b else old - 1
    table = {"add": old + b, "min": min(old, b), "max": max(old, b), "exch": b}
    if kind[0] != "f":
        table |= {"and": old & b, "or": old | b, "xor": old ^ b}
        return wrap(kind, table[op])
    return SIGNED[kind](table[op])


INTEGERS = [(o, k) for o in ("add", "min", "max") for k in ("s32", "u32", "u64")] + [("min", "s64"), ("max", "s64")]
CASES = INTEGERS + [(o, k) for o in ("and", "or", "xor", "exch") for k in ("b32", "b64")]
CASES += [("inc", "u32"), ("dec", "u32"), ("add", "f32"), ("add", "f64")]


def source(op, kind, space, returns, bins):
    size = 8 if kind.endswith("64") else 4
    reg = {"f32": "f", "f64": "fd"}.get(kind, "d" if size == 8 else "r")
    first = f"%{reg}10"
    value = f"%{reg}11"
    name = "atom" if returns else "red"
    result = f"{first}, " if returns else ""
    store = f"st.global.{kind} [%d6], {first};" if returns else ""
    t = f"b{8 * size}"
    shared = f".shared .align 8 .b8 s[{8 * bins}];" if space == "shared" else ""
    body = f"""
mul.wide.u32 %d7, %r3, {size};
add.u64 %d8, %d3, %d7;
{name}.global.{op}.{kind} {result}[%d8], {value};
"""
    if space == "shared":
        body = f"""
mul.wide.u32 %d7, %r1, {size};
add.u64 %d8, %d3, %d7;
mul.lo.u32 %r7, %r1, {size};
mov.u32 %r8, s;
add.u32 %r7, %r8, %r7;
setp.lt.u32 %p1, %r1, {bins};
@%p1 ld.global.{t} {first}, [%d8];
@%p1 st.shared.{t} [%r7], {first};
bar.sync 0;
mul.lo.u32 %r9, %r3, {size};
add.u32 %r9, %r8, %r9;
{name}.shared.{op}.{kind} {result}[%r9], {value};
bar.sync 0;
{store}
@%p1 ld.shared.{t} {first}, [%r7];
@%p1 st.global.{t} [%d8], {first};
ret;
"""
    return f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 index, .param .u64 values, .param .u64 cells, .param .u64 olds)
{{
.reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %d<12>; .reg .f32 %f<12>; .reg .f64 %fd<12>;
{shared}
ld.param.u64 %d1, [index]; ld.param.u64 %d2, [values]; ld.param.u64 %d3, [cells]; ld.param.u64 %d4, [olds];
mov.u32 %r1, %tid.x;
mul.wide.u32 %d5, %r1, 4;
add.u64 %d5, %d1, %d5;
ld.global.u32 %r3, [%d5];
mul.wide.u32 %d5, %r1, {size};
add.u64 %d6, %d4, %d5;
add.u64 %d5, %d2, %d5;
ld.global.{t} {value}, [%d5];
setp.eq.u32 %p2, %r3, 999;
@%p2 bra SKIP;
{body}
{store}
SKIP:
ret;
}}
"""


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(
    "op, kind, returns",
    [(op, kind, returns) for op, kind in CASES for returns in (True, False) if returns or op != "exch"],  # no red.exch
)
def test_atomics(op, kind, returns, space):
    bins, threads = 8, 75
    r = np.random.default_rng(hash((op, kind)) % 1000)
    type = SIGNED[kind]
    index = r.integers(0, bins, threads).astype(np.uint32)
    if space == "global":
        index[r.random(threads) < 0.3] = 999  # lanes that are off
    if kind[0] == "f":  # small whole numbers: sums are exact in any order
        values, cells = r.integers(-50, 50, threads).astype(type), r.integers(-50, 50, bins).astype(type)
    else:
        info = np.iinfo(type)
        values = r.integers(info.min, info.max, threads, type, endpoint=True)
        cells = r.integers(info.min, info.max, bins, type, endpoint=True)
        if op in ("inc", "dec"):
            values, cells = (values % 5).astype(type), (cells % 5).astype(type)
    start, olds = cells.copy(), np.zeros(threads, type)
    run_kernel(source(op, kind, space, returns, bins), "k", 1, threads, [index, values, cells, olds])
    for b in range(bins):
        lanes = [i for i in range(threads) if index[i] == b]
        check_cell(
            op,
            kind,
            type,
            start[b],
            [values[i] for i in lanes],
            cells[b],
            [olds[i] for i in lanes] if returns else None,
        )


def check_cell(op, kind, type, start, values, end, olds):
    """Lanes act in ascending order here; any order is legal, so the sequence is found from what they saw."""
    old = start.item()
    for i, v in enumerate(values):
        if olds is not None:
            assert olds[i] == type(old), (op, kind)
        old = step(op, kind, old, v.item())
    assert end == type(old), (op, kind)


CAS = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 cell, .param .u64 out)
{
.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %d<9>;
ld.param.u64 %d1, [cell]; ld.param.u64 %d2, [out];
mov.u32 %r1, %tid.x;
AGAIN:
ld.volatile.global.u32 %r2, [%d1];
add.u32 %r3, %r2, 1;
atom.global.cas.b32 %r4, [%d1], %r2, %r3;
setp.ne.u32 %p1, %r4, %r2;
@%p1 bra AGAIN;
mul.wide.u32 %d3, %r2, 4;
add.u64 %d4, %d2, %d3;
st.global.u32 [%d4], %r1;
ret;
}
"""


@pytest.mark.parametrize("threads", [1, 32, 50, 96])
def test_every_lane_gets_through_a_compare_and_swap_loop(threads):
    cell, out = np.zeros(1, np.uint32), np.full(threads, 99999, np.uint32)
    run_kernel(CAS, "k", 1, threads, [cell, out])
    assert cell[0] == threads
    assert sorted(out) == list(range(threads))


HALF = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 cell, .param .u64 values)
{
.reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %d<5>;
ld.param.u64 %d1, [cell]; ld.param.u64 %d2, [values];
mov.u32 %r1, %tid.x;
mul.wide.u32 %d3, %r1, 2;
add.u64 %d3, %d2, %d3;
ld.global.b16 %h1, [%d3];
atom.global.add.noftz.f16 %h2, [%d1], %h1;
ret;
}
"""


def test_half_precision_sums():
    cell, values = np.array([0.5], np.float16), np.arange(40, dtype=np.float16)
    run_kernel(HALF, "k", 1, 40, [cell, values])
    assert cell[0] == np.float16(0.5) + 780
