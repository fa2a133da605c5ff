"""Accesses to several adjacent elements: vectors of PTX, and neighbours that are read one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from anywarp.devices.cpu.execute import Program

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
REGISTERS = (
    ".reg .pred %p<6>; .reg .b16 %h<30>; .reg .b32 %r<40>; .reg .b64 %d<40>; .reg .f32 %f<30>; .reg .f64 %fd<30>;"
)
KINDS = {"u8": ("h", 1), "u16": ("h", 2), "u32": ("r", 4), "u64": ("d", 8), "f32": ("f", 4), "f64": ("fd", 8)}
NUMPY = {"u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "f32": np.float32, "f64": np.float64}

# row[t] * stride elements into `in`; row[t] is t, or what a table says; copied to the same element of `out`
COPY = """
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 table, .param .u32 stride, .param .u32 limit)
{
REGISTERS
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u64 %d3, [table]; ld.param.u32 %r1, [stride]; ld.param.u32 %r9, [limit];
mov.u32 %r2, %tid.x;
setp.ge.u32 %p1, %r2, %r9;
GUARD
mul.wide.u32 %d4, %r2, 4;
add.u64 %d4, %d3, %d4;
ROW
mul.lo.u32 %r4, %r3, %r1;
mul.wide.u32 %d5, %r4, SIZE;
add.u64 %d6, %d1, %d5;
add.u64 %d7, %d2, %d5;
BODY
ret;
}
"""


def source(kind, count, table, style, guard):
    letter, size = KINDS[kind]
    registers = [f"%{letter}{20 + i}" for i in range(count)]
    on = "@!%p1 " if guard == "predicate" else ""
    if style == "vector":
        names = "{" + ", ".join(registers) + "}"
        body = f"{on}ld.global.v{count}.{kind} {names}, [%d6];\n{on}st.global.v{count}.{kind} [%d7], {names};"
    else:
        order = [2, 0, 3, 1][:count] if count == 4 else list(range(count))
        loads = [f"{on}ld.global.{kind} {registers[i]}, [%d6+{i * size}];" for i in order]
        stores = [f"{on}st.global.{kind} [%d7+{i * size}], {registers[i]};" for i in reversed(range(count))]
        pairs = (
            zip(loads, stores, strict=True)
            if style == "mixed"
            else ((a, b) for a, b in zip(loads, stores, strict=True))
        )
        body = "\n".join(loads + stores) if style == "apart" else "\n".join(x for p in pairs for x in p)
        if style == "mixed":  # the store follows the load of the same element
            body = "\n".join(
                f"{on}ld.global.{kind} {registers[i]}, [%d6+{i * size}];\n{on}st.global.{kind} [%d7+{i * size}], {registers[i]};"
                for i in order
            )
    text = COPY.replace("ROW", "ld.global.u32 %r3, [%d4];" if table else "mov.u32 %r3, %r2;")
    text = (
        text.replace("GUARD", "@%p1 ret;" if guard == "branch" else "").replace("BODY", body).replace("SIZE", str(size))
    )
    return HEAD + text.replace("REGISTERS", REGISTERS)


@pytest.mark.spread("table", "guard", count=2)
@pytest.mark.parametrize("guard", ["none", "branch", "predicate"])
@pytest.mark.parametrize("table", [False, True], ids=["rows", "table"])
@pytest.mark.parametrize("style", ["vector", "apart", "mixed"])
@pytest.mark.parametrize(
    "kind, count", [("f32", 4), ("u32", 2), ("f64", 2), ("u64", 2), ("u16", 4), ("u8", 4), ("f32", 3), ("u16", 2)]
)
def test_copies_of_rows(kind, count, style, table, guard):
    if style == "vector" and count == 3:
        return
    program = Program(source(kind, count, table, style, guard))
    threads = 70
    limit = threads if guard == "none" else 53
    r = np.random.default_rng(3)
    for stride in (count, 2 * count, 4 * count) if style == "vector" else (count, count + 1, 7, 12):
        rows = r.permutation(threads).astype(np.uint32) if table else np.arange(threads)
        data = r.integers(0, 256, threads * stride * KINDS[kind][1] + 16, np.uint8)[
            : threads * stride * KINDS[kind][1]
        ].view(NUMPY[kind])
        if kind[0] == "f":
            data = r.random(threads * stride).astype(NUMPY[kind])
        out, want = np.zeros_like(data), np.zeros_like(data)
        for t in range(limit):
            at = int(rows[t]) * stride
            want[at : at + count] = data[at : at + count]
        program.run("k", 1, threads, [data, out, rows.astype(np.uint32), np.uint32(stride), np.uint32(limit)])
        assert (out == want).all(), (stride,)


# Each lane sums its numbers t, t + 32, ... in a loop unrolled by four with a remainder, as compilers write it: the pointer
# behind the remainder's loop varies only if lanes leave that loop apart.
UNROLLED = """
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
REGISTERS
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
mov.f32 %f1, 0f00000000;
mov.u32 %r3, %r2;
setp.ge.u32 %p1, %r3, %r1;
@%p1 bra STORE;
not.b32 %r4, %r2;
add.u32 %r4, %r4, %r1;
shr.u32 %r5, %r4, 5;
add.u32 %r5, %r5, 1;
and.b32 %r6, %r5, 3;
setp.eq.u32 %p2, %r6, 0;
@%p2 bra MAIN;
FEW:
mul.wide.u32 %d4, %r3, 4;
add.u64 %d4, %d1, %d4;
ld.global.f32 %f2, [%d4];
add.f32 %f1, %f1, %f2;
add.u32 %r3, %r3, 32;
sub.u32 %r6, %r6, 1;
setp.ne.u32 %p3, %r6, 0;
@%p3 bra FEW;
MAIN:
setp.lt.u32 %p4, %r4, 96;
@%p4 bra STORE;
FOUR:
mul.wide.u32 %d4, %r3, 4;
add.u64 %d4, %d1, %d4;
ld.global.f32 %f2, [%d4];
ld.global.f32 %f3, [%d4+128];
ld.global.f32 %f4, [%d4+256];
ld.global.f32 %f5, [%d4+384];
add.f32 %f1, %f1, %f2;
add.f32 %f1, %f1, %f3;
add.f32 %f1, %f1, %f4;
add.f32 %f1, %f1, %f5;
add.u32 %r3, %r3, 128;
setp.lt.u32 %p3, %r3, %r1;
@%p3 bra FOUR;
STORE:
mul.wide.u32 %d5, %r2, 4;
add.u64 %d5, %d2, %d5;
st.global.f32 [%d5], %f1;
ret;
}
"""


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 64, 97, 128, 129, 160, 500, 512, 1000, 1024])
def test_lanes_that_leave_the_remainder_apart_or_together(n):
    data = np.random.default_rng(n).integers(0, 100, n + 1).astype(np.float32)
    out = np.zeros(32, np.float32)
    Program(HEAD + UNROLLED.replace("REGISTERS", REGISTERS)).run("k", 1, 32, [data, out, np.uint32(n)])
    assert (out == [data[t:n:32].sum() for t in range(32)]).all()
