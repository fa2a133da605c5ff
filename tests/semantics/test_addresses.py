"""Random address arithmetic: indices that are affine in the lane until something wraps around, in loops, narrow and wide.

A compiler that knows addresses to be adjacent must notice where 32-bit arithmetic wraps before it is extended to 64 bits. numpy
computes every index with the types of the PTX; an index that would leave the buffer is masked first, in both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantics.devices import DEVICES, run_compiled
from semantics.test_programs import some

ELEMENTS = 4096
MIDDLE = ELEMENTS // 2
"""Index 0 is the middle of the buffer, so that negative indices are used too."""
LEAVES = ["tid", "tid", "tid", "ctaid", "lane", "round", "n", "const"]
STRIDES = [1, 1, 1, 2, 3, 4, 31, 32, -1, -2, 0x7FFFFFFF, 0x80000000, 0x10000, 0x40000001]
OFFSETS = [0, 1, -1, 5, 31, 32, 64, -16, -31, 0x7FFFFFF0, -0x80000000, 0xFFFFFFF0, 0xFFFFFFE1, 0x3FFFFFFF]
WORD = 0xFFFFFFFF


@dataclass(frozen=True)
class Index:
    """`terms`: (operation, leaf or constant); a running 32-bit value starts at the first leaf. `carried` goes on from round to round."""

    first: str
    terms: tuple
    widen: str
    carried: bool
    step: int


def leaf(name, threads, blocks, n, rounds):
    thread = np.arange(threads * blocks) % threads
    return {
        "tid": thread,
        "ctaid": np.arange(threads * blocks) // threads,
        "lane": thread % 32,
        "round": np.full(threads * blocks, rounds),
        "n": np.full(threads * blocks, n),
    }[name].astype(np.uint32)


REGISTER = {"tid": "%tid0", "ctaid": "%cta", "lane": "%lane", "round": "%i", "n": "%n"}


def emit(index: Index) -> str:
    lines = [f"mov.u32 %x, {'%carried' if index.carried else REGISTER[index.first]};"]
    for op, operand in index.terms:
        value = REGISTER.get(operand, operand)
        lines.append(f"{op} %x, %x, {value};" if op != "mad" else f"mad.lo.u32 %x, %x, 1, {value};")
    return " ".join(lines)


def apply(op, x, y):
    with np.errstate(over="ignore"):
        return {
            "add.u32": lambda: x + y, "mad": lambda: x + y, "sub.s32": lambda: x - y, "mul.lo.u32": lambda: x * y, "xor.b32": lambda: x ^ y,
            "or.b32": lambda: x | y, "and.b32": lambda: x & y, "shl.b32": lambda: np.where(y > 31, np.uint32(0), x << (y & np.uint32(31))),
            "shr.u32": lambda: np.where(y > 31, np.uint32(0), x >> (y & np.uint32(31))),
        }[op]().astype(np.uint32)  # fmt: skip


def compute(index, x, leaves):
    for op, operand in index.terms:
        y = leaves(operand) if operand in REGISTER else np.full(len(x), operand & WORD, np.uint32)
        x = apply(op, x, y)
    return x


def wide(index, x):
    """The index as a 64-bit number."""
    if index.widen.startswith("s"):
        return x.view(np.int32).astype(np.int64)
    return x.astype(np.int64)


def kernel(index: Index, masked: bool, access: str) -> str:
    type = index.widen[:1] + "32"
    widen = (
        f"mul.wide.{type} %a, %x, 4;"
        if index.widen.endswith("mul")
        else f"cvt.{type[0]}64.{type} %a, %x; shl.b64 %a, %a, 2;"
    )
    mask = f"and.b32 %x, %x, {MIDDLE - 1};" if masked else ""
    use = {
        "load": "ld.global.u32 %got, [%a]; mad.lo.u32 %sum, %sum, 31, %got;",
        "store": "st.global.u32 [%a], %mine;",
        "add": "red.global.add.u32 [%a], 1;",
    }[access]
    return f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 out, .param .u64 trips, .param .u32 n) {{
  .reg .b32 %tid0, %cta, %lane, %i, %n, %x, %sum, %got, %mine, %trips, %ntid, %carried; .reg .b64 %data, %out, %a, %y; .reg .pred %p;
  mov.u32 %tid0, %tid.x; mov.u32 %cta, %ctaid.x; mov.u32 %lane, %laneid; mov.u32 %ntid, %ntid.x; ld.param.u32 %n, [n];
  mad.lo.u32 %mine, %cta, %ntid, %tid0; ld.param.u64 %data, [data]; ld.param.u64 %out, [out]; ld.param.u64 %y, [trips];
  mul.wide.u32 %a, %mine, 4; add.s64 %out, %out, %a; add.s64 %y, %y, %a; ld.global.u32 %trips, [%y]; mov.u32 %sum, 7; mov.u32 %i, 0;
  mov.u32 %carried, {REGISTER[index.first]};
LOOP: setp.ge.u32 %p, %i, %trips; @%p bra END;
  {emit(index)}
  {mask} {widen} add.s64 %a, %a, %data; add.s64 %a, %a, {4 * MIDDLE};
  {use}
  add.u32 %carried, %carried, {index.step}; add.u32 %i, %i, 1; bra LOOP;
END: st.global.u32 [%out], %sum; ret;
}}
"""


leaves = st.sampled_from(LEAVES[:-1])
constants = st.one_of(st.sampled_from(OFFSETS), st.sampled_from(STRIDES), st.integers(0, 64)).map(lambda c: c & WORD)
terms = st.one_of(
    st.tuples(st.sampled_from(["add.u32", "sub.s32", "mad"]), st.one_of(leaves, constants)),
    st.tuples(st.just("mul.lo.u32"), st.one_of(st.sampled_from(STRIDES).map(lambda c: c & WORD), st.just("n"))),
    st.tuples(st.sampled_from(["shl.b32", "shr.u32"]), st.integers(0, 5)),
    st.tuples(st.sampled_from(["xor.b32", "or.b32", "and.b32"]), constants),
)
indices = st.builds(
    Index, leaves, st.lists(terms, max_size=4).map(tuple), st.sampled_from(["u", "s", "umul", "smul"]), st.booleans(),
    st.sampled_from(STRIDES).map(lambda c: c & WORD),
)  # fmt: skip
launches = st.tuples(
    st.sampled_from([1, 32, 33, 45, 64, 128]), st.integers(1, 2), st.integers(0, 40), st.integers(0, 1000)
)


def check(run, index, launch, access):
    threads, blocks, n, seed = launch
    rng = np.random.default_rng(seed)
    count = threads * blocks
    trips = np.full(count, 3, np.uint32) if seed % 3 == 0 else rng.integers(0, 5, count).astype(np.uint32)
    if access == "store":
        trips = np.minimum(trips, 1)  # later rounds might store where an earlier one has, and which wins is open
    data = rng.integers(0, 1 << 32, ELEMENTS, dtype=np.uint32)
    each = []
    carried = leaf(index.first, threads, blocks, n, 0)
    for i in range(5):
        start = carried if index.carried else leaf(index.first, threads, blocks, n, i)
        each.append(compute(index, start, lambda name, i=i: leaf(name, threads, blocks, n, i)))
        carried = carried + np.uint32(index.step)
    used = [wide(index, x)[trips > i] for i, x in enumerate(each)]
    masked = any(((u < -MIDDLE) | (u >= MIDDLE)).any() for u in used)
    total, wanted = np.full(count, 7, np.uint32), data.copy()
    mine = np.arange(count, dtype=np.uint32)
    for i, x in enumerate(each):
        on = trips > i
        at = (wide(index, x & np.uint32(MIDDLE - 1)) if masked else wide(index, x))[on] + MIDDLE
        if access == "load":
            total[on] = total[on] * np.uint32(31) + data[at]
        elif access == "add":
            np.add.at(wanted, at, np.uint32(1))
        elif len(np.unique(at)) < len(at):
            return  # as is which of two threads wins
        else:
            wanted[at] = mine[on]
    out = np.zeros(count, np.uint32)
    run(kernel(index, masked, access), "k", blocks, threads, [data, out, trips, n])
    np.testing.assert_array_equal(out, total if access == "load" else 7, err_msg=f"{index} {launch}")
    np.testing.assert_array_equal(data, wanted, err_msg=f"{index} {launch}")


@pytest.mark.parametrize("access", ["load", "store", "add"])
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("examples", [12, pytest.param(25, marks=pytest.mark.long)])
def test_any_index(device, access, examples):
    @some(examples)
    @given(indices, launches)
    def agree(index, launch):
        check(DEVICES[device], index, launch, access)

    agree()


@pytest.mark.long
@pytest.mark.parametrize("access", ["load", "store", "add"])
def test_many_indices(access):
    @some(500)
    @given(indices, launches)
    def agree(index, launch):
        check(run_compiled, index, launch, access)

    agree()
