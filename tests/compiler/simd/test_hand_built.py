"""The back end alone: kernels built by hand, run in this process."""

import numpy as np
import pytest

from compiler.simd.hand_built import STEPS, Build, i32, uniform

POINTERS = [(0, 8), (8, 8), (16, 8), (24, 4)]


def vecadd(block, known):
    b = Build("vecadd", POINTERS)
    shape = STEPS if known else None
    a, x, c = (b.param("i64", o) for o in (0, 8, 16))
    n = b.param("i32", 24)
    if shape is None:
        from anywarp.compiler.shapes import VARYING

        cta, width = b.special("ctaid.x", uniform(32)), b.special("ntid.x", uniform(32))
        i = b.op("add", "i32", b.op("mul", "i32", cta, width, shape=uniform(32)), b.special("tid.x"))
        shape = VARYING
    else:
        i = b.thread(block)
    inside = b.op("icmp", "i1", i, n, predicate="slt")
    entry = b.block
    body, done = b.new("body"), b.new("done")
    b.branch(inside, body, done)
    b.at(body)
    left = b.load("f32", b.place(a, i, 4, shape))
    right = b.load("f32", b.place(x, i, 4, shape))
    b.store(b.place(c, i, 4, shape), b.op("fadd", "f32", left, right))
    b.jump(done)
    b.at(done)
    b.end("exit")
    assert entry.terminator.targets == [body, done]
    return b, {body}


@pytest.mark.parametrize("block", [1, 31, 32, 33, 48, 64, 127, 256, 1024])
@pytest.mark.parametrize("known", [True, False])
def test_vecadd_at_any_block_shape_and_length(block, known):
    r = np.random.default_rng(1)
    for n in (1, 31, 32, 77, 1000):
        x, y = r.random(n, np.float32), r.random(n, np.float32)
        z = np.full(n + 8, -1, np.float32)
        b, divergent = vecadd(block, known)
        b.run(-(-n // block), block, [x, y, z, n], divergent, known)
        assert (z[:n] == x + y).all()
        assert (z[n:] == -1).all()


def collatz(limit=10000):
    """steps[i] until 1 is reached, by a loop that each lane leaves at its own trip."""
    b = Build("collatz", [(0, 8), (8, 8)])
    src, dst = b.param("i64", 0), b.param("i64", 8)
    i = b.thread(64)
    first = b.load("i32", b.place(src, i, 4, STEPS))
    entry = b.block
    head, odd, even, latch, out = (b.new(n) for n in ("head", "odd", "even", "latch", "out"))
    b.jump(head)
    b.at(head)
    x, steps = b.phi("i32", {entry: first}), b.phi("i32", {entry: i32(0)}, uniform(32))
    b.temporal.add(steps)
    bit = b.op("and", "i32", x, i32(1))
    one = b.op("icmp", "i1", x, i32(1), predicate="ule")
    b.branch(one, out, latch_choice := b.new("choice"))
    b.at(latch_choice)
    b.branch(b.op("icmp", "i1", bit, i32(1), predicate="eq"), odd, even)
    b.at(odd)
    up = b.op("add", "i32", b.op("mul", "i32", x, i32(3)), i32(1))
    b.jump(latch)
    b.at(even)
    down = b.op("lshr", "i32", x, i32(1))
    b.jump(latch)
    b.at(latch)
    following = b.phi("i32", {odd: up, even: down})
    more = b.op("add", "i32", steps, i32(1), shape=uniform(32))
    x.incoming[latch], steps.incoming[latch] = following, more
    b.jump(head)
    b.at(out)
    b.store(b.place(dst, i, 4, STEPS), b.op("add", "i32", steps, i32(0)))
    b.end("exit")
    return b, {head, odd, even, latch, latch_choice}


def expected_collatz(x):
    steps = 0
    while x > 1:
        x, steps = (3 * x + 1) & 0xFFFFFFFF if x & 1 else x >> 1, steps + 1
    return steps


@pytest.mark.parametrize("block", [64, 32, 33, 1])
def test_lanes_leave_a_loop_at_different_trips(block):
    x = np.arange(1, 64 * 3 + 1, dtype=np.uint32)
    out = np.zeros_like(x)
    b, divergent = collatz()
    b.run(3, block, [x, out], divergent)
    for cta in range(3):
        for lane in range(block):
            if lane < 64:
                assert out[cta * 64 + lane] == expected_collatz(int(x[cta * 64 + lane]))


def reverse_through_shared():
    """out[t] = in[255 - t] through shared memory and a barrier."""
    b = Build("reverse", [(0, 8), (8, 8)])
    src, dst = b.param("i64", 0), b.param("i64", 8)
    t = b.special("tid.x", STEPS)
    from anywarp.compiler.shapes import Shape

    four = Shape(tuple(4 * i for i in range(32)))
    offset = b.op("shl", "i32", t, i32(2), shape=four)
    b.store(offset, b.load("f32", b.place(src, t, 4, STEPS)), space="shared")
    after = b.new("after")
    b.end("barrier", after, args=[i32(0), None, None], kind="sync", warp=False)
    b.at(after)
    back = Shape(tuple(-4 * i for i in range(32)))
    other = b.op("sub", "i32", i32(1020), offset, shape=back)
    b.store(b.place(dst, t, 4, STEPS), b.load("f32", other, space="shared"))
    b.end("exit")
    return b


def test_barrier_makes_stores_of_all_warps_visible():
    x = np.arange(256, dtype=np.float32)
    out = np.zeros_like(x)
    reverse_through_shared().run(1, 256, [x, out], shared=1024)
    assert (out == x[::-1]).all()
