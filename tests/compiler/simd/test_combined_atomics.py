"""Atomic operations of many lanes that become one: the same counts and sums, and an order that lanes could have had."""

from __future__ import annotations

import numpy as np
import pytest

from anywarp.devices.cpu.execute import Program

# key = keys[i]; if (key >= 0) old[i] = atomic OP (&table[key], values[i]); with or without the result
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 keys, .param .u64 values, .param .u64 table, .param .u64 old, .param .u32 n, .param .u32 key)
{
.reg .b32 %r<12>; .reg .b64 %d<12>; .reg .pred %p<3>; .reg .BITS %v1; .reg .BITS %v2;
ld.param.u64 %d1, [keys]; ld.param.u64 %d2, [values]; ld.param.u64 %d3, [table]; ld.param.u64 %d4, [old];
ld.param.u32 %r6, [n]; ld.param.u32 %r7, [key];
mov.u32 %r1, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
mad.lo.s32 %r2, %r1, %r3, %r4;
setp.ge.u32 %p1, %r2, %r6;
@%p1 bra DONE;
mul.wide.u32 %d5, %r2, 4;
add.u64 %d6, %d1, %d5;
KEY
setp.lt.s32 %p2, %r5, 0;
@%p2 bra DONE;
mul.wide.u32 %d7, %r2, SIZE;
add.u64 %d8, %d2, %d7;
ld.global.BITS %v1, [%d8];
mul.wide.u32 %d9, %r5, SIZE;
add.u64 %d10, %d3, %d9;
ATOMIC
DONE:
ret;
}
"""
LOADED, PARAMETER = "ld.global.u32 %r5, [%d6];", "mov.u32 %r5, %r7;"
OPERATIONS = {
    "add.u32": (np.uint32, lambda a, b: a + b),
    "add.u64": (np.uint64, lambda a, b: a + b),
    "min.s32": (np.int32, min),
    "max.u64": (np.uint64, max),
    "min.s64": (np.int64, min),
    "max.u32": (np.uint32, max),
    "or.b32": (np.uint32, lambda a, b: a | b),
    "and.b64": (np.uint64, lambda a, b: a & b),
    "xor.b64": (np.uint64, lambda a, b: a ^ b),
}


def text(operation: str, key: str, returns: bool) -> str:
    size = int(operation[-2:]) // 8
    out = TEXT.replace("SIZE", str(size)).replace("BITS", f"b{8 * size}").replace("KEY", key)
    if returns:
        ask = f"atom.global.{operation} %v2, [%d10], %v1; add.u64 %d8, %d4, %d7; st.global.b{8 * size} [%d8], %v2;"
        return out.replace("ATOMIC", ask)
    return out.replace("ATOMIC", f"red.global.{operation} [%d10], %v1;")


def keys_of(kind: str, n: int) -> np.ndarray:
    """Keys of lanes: one for all, one per warp, nearly one, some lanes left out, all left out, many."""
    rng, i = np.random.default_rng(3), np.arange(n)
    return {
        "one": np.full(n, 5),
        "one per warp": i // 32 % 7,
        "one but a few": np.where(i % 41 == 40, 2, 5),
        "one, with gaps": np.where(rng.random(n) < 0.4, -1, 6),
        "none in some warps": np.where(i // 32 % 2 == 1, -1, i % 3),
        "many": rng.integers(0, 8, n),
    }[kind].astype(np.int32)


KINDS = ["one", "one per warp", "one but a few", "one, with gaps", "none in some warps", "many"]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_is_left_is_what_all_lanes_did(operation: str) -> None:
    type, function = OPERATIONS[operation]
    program, n = Program(text(operation, LOADED, False)), 250
    info, rng = np.iinfo(type), np.random.default_rng(len(operation))
    values, start = (rng.integers(info.min, info.max, k, type, endpoint=True) for k in (n, 8))
    for kind in KINDS:
        keys = keys_of(kind, n)
        want = [int(x) for x in start]
        for key, value in zip(keys, values, strict=True):
            if key >= 0:
                want[key] = (
                    int(function(want[key], int(value))) & ((1 << info.bits) - 1)
                    if info.min == 0
                    else function(want[key], int(value))
                )
        for gang in (32, 128):
            table = start.copy()
            program.run("k", 2, 128, [keys, values, table, np.zeros(1, type), n, 0], options=f"gang={gang}")
            np.testing.assert_array_equal(table, np.array(want, type), err_msg=f"{kind}, gang of {gang}")


@pytest.mark.parametrize("gang", [32, 128])
@pytest.mark.parametrize("operation", ["add.u32", "add.u64"])
def test_what_lanes_found_is_a_count_in_some_order(operation: str, gang: int) -> None:
    type = OPERATIONS[operation][0]
    n, key = 250, 3
    values = np.random.default_rng(1).integers(1, 1000, n, type)
    keys, table, old = np.zeros(n, np.int32), np.full(8, 77, type), np.zeros(n, type)
    Program(text(operation, PARAMETER, True)).run(
        "k", 2, 128, [keys, values, table, old, n, key], options=f"gang={gang}"
    )
    assert int(table[key]) == 77 + int(values.sum()) and (np.delete(table, key) == 77).all()
    order = np.argsort(old)
    steps = 77 + np.concatenate([[0], np.cumsum(values[order])[:-1]])
    np.testing.assert_array_equal(old[order], steps)


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("key", [LOADED, PARAMETER], ids=["found", "known"])
def test_floating_point_sums_are_rounded_at_every_step(key: str, space: str) -> None:
    """2**24 + 1 is 2**24 in single precision: what each lane adds alone is lost, a sum of lanes' ones would not be."""
    n = 120
    ptx = text("add.f32", key, False)
    if space == "shared":
        ptx = ptx.replace(
            "red.global.add.f32 [%d10], %v1;",
            "mov.u32 %r8, place; ld.global.f32 %v2, [%d10]; st.shared.f32 [%r8], %v2; red.shared.add.f32 [%r8], %v1;"
            " ld.shared.f32 %v2, [%r8]; st.global.f32 [%d10], %v2;",
        ).replace(".reg .b32", ".shared .align 4 .b8 place[4]; .reg .b32", 1)  # fmt: skip
    keys, values = np.full(n, 2, np.int32), np.ones(n, np.float32)
    for options in ("gang=32", "gang=128"):
        table = np.full(4, 2.0**24, np.float32)
        Program(ptx).run("k", 1, 128, [keys, values, table, np.zeros(1, np.float32), n, 2], options=options)
        np.testing.assert_array_equal(table, np.full(4, 2.0**24, np.float32))
        table = np.zeros(4, np.float32)
        Program(ptx).run("k", 1, 32, [keys, values, table, np.zeros(1, np.float32), 32, 2], options="gang=32")
        assert table[2] == 32


@pytest.mark.parametrize("operation", ["add.f32", "add.f64"])
def test_neighbours_that_add_to_one_place_leave_what_each_would(operation: str) -> None:
    """Whole numbers, exact in any order: runs of all lengths, with lanes that are off within them."""
    type = {"add.f32": np.float32, "add.f64": np.float64}[operation]
    program, n = Program(text(operation, LOADED, False)), 250
    rng, i = np.random.default_rng(9), np.arange(n)
    values = rng.integers(-1000, 1000, n).astype(type)
    runs = {kind: keys_of(kind, n) for kind in KINDS}
    runs |= {f"runs of {k}": (i // k % 8).astype(np.int32) for k in (1, 2, 7, 33)}
    runs["runs with gaps"] = np.where(rng.random(n) < 0.3, -1, i // 5 % 8).astype(np.int32)
    for kind, keys in runs.items():
        want = np.zeros(8, type)
        np.add.at(want, keys[keys >= 0], values[keys >= 0])
        for gang in (32, 128):
            table = np.zeros(8, type)
            program.run("k", 2, 128, [keys, values, table, np.zeros(1, type), n, 0], options=f"gang={gang}")
            np.testing.assert_array_equal(table, want, err_msg=f"{kind}, gang of {gang}")


@pytest.mark.parametrize("gang", [32, 64])
def test_lanes_that_are_off_add_nothing_where_others_of_their_place_do(gang: int) -> None:
    """if (values[i] >= 0) table[keys[i]] += values[i]: also lanes that are off name the place, at both ends of a run and within it."""
    off = "setp.lt.f32 %p2, %v1, 0f00000000; @%p2 bra DONE; red.global.add.f32 [%d10], %v1;"
    program = Program(text("add.f32", LOADED, False).replace("red.global.add.f32 [%d10], %v1;", off))
    rng, n = np.random.default_rng(4), 128
    for length in (1, 3, 8, 31, 32, 40):
        keys, here = (np.arange(n) // length % 8).astype(np.int32), rng.random(n) < 0.6
        values = np.where(here, rng.integers(1, 1000, n), -5000).astype(np.float32)
        want, table = np.zeros(8, np.float32), np.zeros(8, np.float32)
        np.add.at(want, keys[here], values[here])
        program.run("k", 1, n, [keys, values, table, np.zeros(1, np.float32), n, 0], options=f"gang={gang}")
        np.testing.assert_array_equal(table, want, str(length))


# if (keys[i] < 256) atomic on shared[keys[i]]; other lanes name a place far away. Then out = shared.
SHARED = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 keys, .param .u64 values, .param .u64 out)
{
.reg .b32 %r<12>; .reg .b64 %d<12>; .reg .pred %p<3>; .reg .BITS %v1; .reg .BITS %v2;
.shared .align 8 .BITS table[256];
ld.param.u64 %d1, [keys]; ld.param.u64 %d2, [values]; ld.param.u64 %d3, [out];
mov.u32 %r2, %tid.x;
mul.wide.u32 %d5, %r2, 4;
mul.wide.u32 %d6, %r2, SIZE;
add.u64 %d7, %d1, %d5;
add.u64 %d8, %d2, %d6;
add.u64 %d9, %d3, %d6;
mov.u32 %r3, table;
mad.lo.u32 %r4, %r2, SIZE, %r3;
ld.global.u32 %r5, [%d7];
ld.global.BITS %v1, [%d8];
ld.global.BITS %v2, [%d9];
st.shared.BITS [%r4], %v2;
bar.sync 0;
setp.lt.u32 %p1, %r5, 256;
mad.lo.u32 %r6, %r5, SIZE, %r3;
@%p1 red.shared.OPERATION [%r6], %v1;
bar.sync 0;
ld.shared.BITS %v2, [%r4];
st.global.BITS [%d9], %v2;
ret;
}
"""


@pytest.mark.parametrize("gang", [32, 64])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_of_many_lanes_or_few_those_that_are_on_change_shared_memory(operation: str, gang: int) -> None:
    type, function = OPERATIONS[operation]
    size = int(operation[-2:]) // 8
    source = SHARED.replace("SIZE", str(size)).replace("BITS", f"b{8 * size}").replace("OPERATION", operation)
    program, rng = Program(source), np.random.default_rng(7)
    info = np.iinfo(type)
    for share in (0, 0.05, 0.3, 0.4, 0.9, 1):
        keys = rng.integers(0, 40, 256)
        keys[rng.random(256) >= share] = 1 << 26
        values = rng.integers(info.min, info.max, 256, type, endpoint=True)
        got = rng.integers(info.min, info.max, 256, type, endpoint=True)
        want = got.copy()
        with np.errstate(over="ignore"):
            for key, value in zip(keys, values, strict=True):
                if key < 256:
                    want[key] = function(want[key], value)
        program.run("k", 1, 256, [keys.astype(np.uint32), values, got], options=f"gang={gang}")
        np.testing.assert_array_equal(got, want)
