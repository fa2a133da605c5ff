"""Straight code put in the order of chunks computes what it computed before, and each chunk's lines follow each other."""

import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from anywarp.compiler.simd.chunk_order import TOGETHER, order_by_chunks
from anywarp.compiler.simd.text import Text

CHUNKS = 2 * TOGETHER
ARRAYS = 3


def place(array, chunk):
    return f"%p{array}.{chunk}"


def write(steps):
    """Emit steps as a gang does, each for all chunks; values are named after the array or step that they come from."""
    t = Text()
    t.start("F1")
    values = [[f"%x{i}"] * CHUNKS for i in range(2)]
    for what, *operands in steps:
        if what == "load":
            out = []
            for c in range(CHUNKS):
                with t.chunk(c):
                    out.append(t.let(f"load <8 x float>, ptr {place(operands[0], c)}, align 4"))
            values.append(out)
        elif what == "store":
            for c in range(CHUNKS):
                with t.chunk(c):
                    value = values[operands[1] % len(values)][c]
                    t.do(f"store <8 x float> {value}, ptr {place(operands[0], c)}, align 4")
        elif what == "add":
            a, b = (values[x % len(values)] for x in operands)
            values.append([t.let(f"fadd <8 x float> {x}, {y}") for x, y in zip(a, b, strict=True)])
        elif what == "turn":  # each chunk takes its neighbour's
            a = values[operands[0] % len(values)]
            kind = "<8 x float>"
            values.append(
                [t.let(f"shufflevector {kind} {x}, {kind} {x}, <8 x i32> zeroinitializer") for x in (*a[1:], a[0])]
            )
        elif what == "shared load":
            values.append([t.let(f"load <8 x float>, ptr {place(operands[0], 0)}, align 4")] * CHUNKS)
        elif what == "shared store":
            t.do(f"store <8 x float> {values[operands[1] % len(values)][-1]}, ptr {place(operands[0], 1)}, align 4")
        else:
            t.wall()
    return t


def run(lines, same):
    """What the lines leave in memory and in names; `same`: arrays that are one array."""
    memory, names = {}, {}

    def where(pointer):
        array, chunk = re.fullmatch(r"%p(\d+)\.(\d+)", pointer).groups()
        return same[int(array)], chunk

    for line in lines:
        words = re.findall(r"%[\w.]+", line)
        if " = load" in line:
            at = where(words[1])
            names[words[0]] = memory.get(at, ("at first", at))
        elif line.startswith("  store"):
            memory[where(words[1])] = names.get(words[0], words[0])
        elif " = " in line:
            for word in words[1:]:
                assert word in names or word.startswith("%x"), f"{word} is used before it is made"
            names[words[0]] = (line.split(" = ")[1].split()[0], *(names.get(w, w) for w in words[1:]))
    return memory, names


numbers = st.integers(0, 20)
arrays = st.integers(0, ARRAYS - 1)
steps = st.one_of(
    st.tuples(st.just("load"), arrays),
    st.tuples(st.just("load"), arrays),
    st.tuples(st.just("store"), arrays, numbers),
    st.tuples(st.just("add"), numbers, numbers),
    st.tuples(st.just("turn"), numbers),
    st.tuples(st.just("shared load"), arrays),
    st.tuples(st.just("shared store"), arrays, numbers),
    st.tuples(st.just("wall")),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(steps, max_size=14), st.lists(arrays, min_size=ARRAYS, max_size=ARRAYS))
def test_memory_and_values_are_what_they_were(program, same):
    """Whichever arrays are one: each chunk's lanes see their own accesses in order, and what serves all chunks keeps its place."""
    t = write(program)
    before = list(t.lines)
    order_by_chunks(t)
    assert sorted(t.lines) == sorted(before)
    assert run(t.lines, same) == run(before, same)


def accesses(lines):
    return [tuple(map(int, re.search(r"%p(\d+)\.(\d+)", line).groups())) for line in lines if "%p" in line]


def test_some_chunks_of_all_arrays_come_before_the_next_ones():
    t = write([("load", 0), ("load", 1), ("add", 2, 3), ("store", 2, 4)])
    order_by_chunks(t)
    parts = [chunk // TOGETHER for _, chunk in accesses(t.lines)]
    assert parts == sorted(parts) and len(set(parts)) == 2


def test_nothing_crosses_what_is_not_of_each_lane_alone():
    t = write([("load", 0), ("store", 1, 2), ("wall",), ("load", 1), ("store", 2, 3)])
    order_by_chunks(t)
    first = [n for n, (array, _) in enumerate(accesses(t.lines)) if array == 0]
    last = [n for n, (array, _) in enumerate(accesses(t.lines)) if array == 2]
    assert max(first) < min(last)


def test_lines_keep_their_places_in_the_source():
    t = Text()
    t.start("F1")
    out = []
    for array in range(2):
        t.at(100 + array)
        for c in range(CHUNKS):
            with t.chunk(c):
                out.append(t.let(f"load <8 x float>, ptr {place(array, c)}, align 4"))
    order_by_chunks(t)
    offsets = {n: offset for (n, offset), (end, _) in pairwise([*t.places, (len(t.lines), 0)]) for n in range(n, end)}
    assert {(accesses([t.lines[n]])[0][0], offset) for n, offset in offsets.items()} == {(0, 100), (1, 101)}
    assert len(t.places) == 4  # both arrays, in two parts
