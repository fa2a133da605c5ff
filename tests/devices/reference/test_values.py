"""The plain operations: what the contract says of them beyond what the instruction table reaches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anywarp.devices.reference.values import plain
from semantics.warp import LANES, Warp

WIDTHS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "i128": 128}


def lanes(width):
    edge = [0, 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1]
    return st.lists(st.sampled_from(edge) | st.integers(0, (1 << width) - 1), min_size=LANES, max_size=LANES)


@pytest.mark.parametrize("type", WIDTHS)
def test_division_is_total(type):
    width = WIDTHS[type]
    top, ones = 1 << (width - 1), (1 << width) - 1

    @given(lanes(width))
    def check(values):
        ops = Warp()
        a, zero, minus = plain(type, values), plain(type, [0] * LANES), plain(type, [-1] * LANES)
        for signed in (False, True):
            assert ops.div(a, zero, signed).lanes == (ones,) * LANES
            assert ops.rem(a, zero, signed).lanes == a.lanes
        assert ops.div(plain(type, [top] * LANES), minus, True).lanes == (top,) * LANES
        assert ops.rem(a, minus, True).lanes == (0,) * LANES

    check()


@pytest.mark.parametrize("type", WIDTHS)
def test_shifts_are_total(type):
    width = WIDTHS[type]

    @given(lanes(width), st.integers(0, (1 << width) - 1) | st.integers(width - 2, width + 2))
    def check(values, n):
        ops = Warp()
        a, amount = plain(type, values), plain(type, [n] * LANES)
        n %= 1 << width
        assert ops.shl(a, amount).lanes == tuple((x << n) % (1 << width) if n < width else 0 for x in values)
        assert ops.lshr(a, amount).lanes == tuple(x // (1 << n) if n < width else 0 for x in values)
        signs = [(1 << width) - 1 if x >> (width - 1) else 0 for x in values]
        wide = [x | s << width for x, s in zip(values, signs, strict=True)]
        expected = tuple((w >> n if n < width else s) % (1 << width) for w, s in zip(wide, signs, strict=True))
        assert ops.ashr(a, amount).lanes == expected

    check()


def test_warp_operations_see_only_lanes_that_are_active_and_guarded_on():
    ops = Warp()
    ops.active, ops.guarded = 0x0000FFFF, 0xF0F0F0F0
    on = 0x0000F0F0
    a = plain("i32", range(LANES))
    assert ops.ballot(plain("i1", [1] * LANES)).lanes == (on,) * LANES
    assert ops.guard().lanes == tuple(0xF0F0F0F0 >> n & 1 for n in range(LANES))
    members = plain("i32", [0xFFFFFFFF] * LANES)
    assert ops.reduce("add", a, members).lanes == (sum(n for n in range(LANES) if on >> n & 1),) * LANES
    assert ops.match_any(plain("i32", [n // 8 for n in range(LANES)])).lanes[8] == 0xF000
    shuffled = ops.shuffle(a, plain("i32", [4] * 16 + [3] * 16)).lanes
    assert shuffled[0] == 4 and shuffled[31] != 3  # lane 3 is off: its value is undefined


def test_constants_and_conversions_wrap_to_their_width():
    ops = Warp()
    assert ops.const("i8", -1).lanes == (0xFF,) * LANES
    assert ops.const("f32", 0x13F800000).lanes == (0x3F800000,) * LANES
    assert ops.sext(ops.const("i8", 0x80), "i32").lanes == (0xFFFFFF80,) * LANES
    assert ops.zext(ops.const("i1", 1), "i128").lanes == (1,) * LANES
    assert ops.sext(ops.const("i1", 1), "i16").lanes == (0xFFFF,) * LANES
