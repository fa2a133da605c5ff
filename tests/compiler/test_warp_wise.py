"""Conditions that part the warps of a gang, and those that part the lanes of one."""

import pytest

from anywarp.compiler.attributes import Compare, Special
from anywarp.compiler.ir import Const, Op
from anywarp.compiler.shapes import Shape
from anywarp.compiler.warp_wise import agreed_by_warps

LANES = 64
TID = Shape(tuple(range(LANES)), (), LANES, 0)
WARP = Shape(tuple(lane // 32 for lane in range(LANES)), (), 2, 0)
HALF = Shape(tuple(lane // 16 for lane in range(LANES)), (), 4, 0)


def agreed(predicate, shape, number):
    value = Op("special", "i32", [], Special("tid.x"))
    condition = Op("icmp", "i1", [value, Const("i32", number)], Compare(predicate))
    return agreed_by_warps(condition, lambda asked: shape if asked is value else None)


@pytest.mark.parametrize("predicate", ["eq", "ne", "ult", "sge"])
def test_the_number_of_a_warp_is_the_same_in_its_lanes(predicate):
    assert agreed(predicate, WARP, 1)
    assert not agreed(predicate, HALF, 1)


@pytest.mark.parametrize(
    ("predicate", "number", "whole"),
    [
        ("ult", 32, True), ("ult", 33, False), ("uge", 96, True), ("ugt", 31, True), ("ugt", 32, False), ("sle", 63, True),
        ("eq", 32, False), ("ne", 0, False),
    ],
)  # fmt: skip
def test_a_thread_index_parts_warps_where_they_begin(predicate, number, whole):
    assert agreed(predicate, TID, number) == whole
    numbers = [base + lane for base in (0, 64, 128) for lane in range(LANES)]
    compare = {
        "ult": int.__lt__, "uge": int.__ge__, "ugt": int.__gt__, "sle": int.__le__, "eq": int.__eq__, "ne": int.__ne__
    }  # fmt: skip
    truth = [compare[predicate](n, number) for n in numbers]
    assert whole == all(len(set(truth[k : k + 32])) == 1 for k in range(0, len(truth), 32))


def test_a_start_that_is_no_multiple_of_a_warp_parts_lanes():
    assert not agreed("ult", Shape(TID.offsets, (), 64, 8), 32)
    assert not agreed("ult", Shape(TID.offsets), 32)


def test_a_varying_value_parts_lanes():
    assert not agreed("ult", Shape(None), 32)
