"""Every atomic form on the devices that run kernels: on an element per thread, and with all threads on one element."""

from __future__ import annotations

import random

import numpy as np
import pytest

from anywarp.check.conformance.rows import EDGES, draw, matches
from semantics.atomic_rows import ROWS, width
from semantics.devices import DEVICES

THREADS = 45
PER_THREAD = 16  # bytes of memory, sources and results for each thread
REGISTER = {8: "b16", 16: "b16", 32: "b32", 64: "b64"}

TEMPLATE = """.version 8.7
.target sm_100
.address_size 64
.visible .entry k(.param .u64 memory, .param .u64 first, .param .u64 second, .param .u64 results, .param .u32 stride)
{{
.reg .b16 %h<24>;
.reg .b32 %r<24>;
.reg .b64 %d<24>;
.reg .b128 %q<24>;
.reg .b64 %a<8>;
.reg .b32 %t<4>;
.shared .align 16 .b8 block[{shared}];
mov.u32 %t0, %tid.x;
mul.wide.u32 %a7, %t0, {per_thread};
ld.param.u64 %a0, [memory];
ld.param.u64 %a1, [first];
ld.param.u64 %a2, [second];
ld.param.u64 %a3, [results];
ld.param.u32 %t1, [stride];
add.u64 %a1, %a1, %a7;
add.u64 %a2, %a2, %a7;
add.u64 %a3, %a3, %a7;
mul.wide.u32 %a4, %t0, %t1;
add.u64 %a0, %a0, %a4;
{loads}
{before}
{atomic}
{stores}
{after}
ret;
}}
"""
TO_SHARED = """mov.u64 %a5, block;
add.u64 %a5, %a5, %a4;
ld.global.v2.b64 {%d20, %d21}, [%a0];
st.shared.v2.b64 [%a5], {%d20, %d21};
bar.sync 0;"""
FROM_SHARED = """bar.sync 0;
ld.shared.v2.b64 {%d20, %d21}, [%a5];
st.global.v2.b64 [%a0], {%d20, %d21};"""


def registers(row, first):
    """Names of the registers that hold a row's elements: a packed pair is one, a vector several."""
    size, count = width(row.ptx), row.count
    if "x2" in row.form:
        size, count = 2 * size, count // 2
    letter = {16: "h", 32: "r", 64: "d", 128: "q"}[size]
    return size, [f"%{letter}{first + n}" for n in range(count)]


def kernel(row, space, opcode):
    size, old = registers(row, 0)
    _, b = registers(row, 8)
    _, c = registers(row, 16)
    step = size // 8

    def lines(instruction, base, names):
        return "\n".join(instruction.format(n=n * step, a=base, r=r, t=f"b{size}") for n, r in enumerate(names))

    def operand(names):
        return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"

    address = "%a5" if space == "shared" else "%a0"
    operands = [operand(old)] if opcode == "atom" else []
    operands += [f"[{address}]", operand(b)] + ([operand(c)] if row.sources == 2 else [])
    form = ".".join(x for x in (opcode, space, row.form) if x)
    return TEMPLATE.format(
        shared=THREADS * PER_THREAD,
        per_thread=PER_THREAD,
        loads="\n".join(
            [lines("ld.global.{t} {r}, [{a}+{n}];", "%a1", b), lines("ld.global.{t} {r}, [{a}+{n}];", "%a2", c)]
        ),
        before=TO_SHARED if space == "shared" else "",
        atomic=f"{form} {', '.join(operands)};",
        stores=lines("st.global.{t} [{a}+{n}], {r};", "%a3", old) if opcode == "atom" else "",
        after=FROM_SHARED if space == "shared" else "",
    )


def elements(buffer, thread, row):
    size = width(row.ptx) // 8
    at = thread * PER_THREAD
    return [int.from_bytes(buffer[at + n * size : at + (n + 1) * size].tobytes(), "little") for n in range(row.count)]


def fill(row, seed, same=0.0):
    """Random elements for every thread."""
    rng = random.Random(f"{row.form} {seed}")
    size = width(row.ptx) // 8
    kind = row.ptx if row.ptx in EDGES else "b" + row.ptx[1:]
    data = bytearray()
    for _ in range(THREADS):
        own = b"".join(draw(kind, rng).to_bytes(size, "little") for _ in range(row.count))
        data += own.ljust(PER_THREAD, b"\0")
    return np.frombuffer(bytes(data), np.uint8).copy()


CASES = [
    (row, space, opcode) for row in ROWS for space in row.spaces for opcode in ("atom", "red") if getattr(row, opcode)
]
PARTS = [CASES[n::8] for n in range(8)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("part", range(8))
def test_each_thread_on_its_own_element(device, part):
    for row, space, opcode in PARTS[part]:
        memory, first, second = fill(row, 1), fill(row, 2), fill(row, 3)
        if row.sources == 2:  # let every other comparison hold
            for t in range(0, THREADS, 2):
                first[t * PER_THREAD : (t + 1) * PER_THREAD] = memory[t * PER_THREAD : (t + 1) * PER_THREAD]
        before, results = memory.copy(), np.zeros_like(memory)
        DEVICES[device](kernel(row, space, opcode), "k", 1, THREADS, (memory, first, second, results, PER_THREAD))
        for t in range(THREADS):
            olds, bs, cs = (elements(x, t, row) for x in (before, first, second))
            news, found = elements(memory, t, row), elements(results, t, row)
            for n in range(row.count):
                expected = row.update(olds[n], bs[n], cs[n]) if row.sources == 2 else row.update(olds[n], bs[n])
                assert matches(expected, news[n]), (
                    opcode,
                    space,
                    row.form,
                    hex(olds[n]),
                    hex(bs[n]),
                    hex(news[n]),
                    expected,
                )
                assert opcode == "red" or found[n] == olds[n], (opcode, space, row.form)


@pytest.mark.parametrize("device", DEVICES)
def test_all_threads_on_one_element_where_order_does_not_matter(device):
    for row, space, opcode in CASES:
        if not row.free or space == "":
            continue
        memory, first = fill(row, 1), fill(row, 2)
        before, results = memory.copy(), np.zeros_like(memory)
        DEVICES[device](kernel(row, space, opcode), "k", 1, THREADS, (memory, first, first, results, 0))
        expected = elements(before, 0, row)
        for t in range(THREADS):
            expected = [
                row.update(e, b) if isinstance(e, int) else e
                for e, b in zip(expected, elements(first, t, row), strict=True)
            ]
        found = elements(memory, 0, row)
        if row.ptx in ("f16", "bf16") and any(not isinstance(e, int) for e in expected):
            continue
        assert found == expected, (opcode, space, row.form)


def run_contended(device, form, ptx, start, values, second=None):
    row = next(r for r in ROWS if r.form == form)
    size = width(ptx) // 8
    memory, first, other = (np.zeros(THREADS * PER_THREAD, np.uint8) for _ in range(3))
    memory[:size] = np.frombuffer(start.to_bytes(size, "little"), np.uint8)
    for t, v in enumerate(values):
        first[t * PER_THREAD : t * PER_THREAD + size] = np.frombuffer(v.to_bytes(size, "little"), np.uint8)
    for t, v in enumerate(second or []):
        other[t * PER_THREAD : t * PER_THREAD + size] = np.frombuffer(v.to_bytes(size, "little"), np.uint8)
    results = np.zeros_like(memory)
    DEVICES[device](kernel(row, "global", "atom"), "k", 1, THREADS, (memory, first, other, results, 0))
    return elements(memory, 0, row)[0], [elements(results, t, row)[0] for t in range(THREADS)]


@pytest.mark.parametrize("device", DEVICES)
def test_contended_updates_happen_one_after_another(device):
    final, olds = run_contended(device, "add.u32", "u32", 5, [1] * THREADS)
    assert final == 5 + THREADS and sorted(olds) == list(range(5, 5 + THREADS))
    final, olds = run_contended(device, "exch.b32", "b32", 1000, range(THREADS))
    assert sorted([*olds, final]) == [*range(THREADS), 1000]
    final, olds = run_contended(device, "inc.u32", "u32", 3, [9] * THREADS)
    assert sorted(olds) == sorted((3 + n) % 10 for n in range(THREADS)) and final == (3 + THREADS) % 10
    final, olds = run_contended(device, "dec.u32", "u32", 3, [9] * THREADS)
    assert sorted(olds) == sorted((3 - n) % 10 for n in range(THREADS)) and final == (3 - THREADS) % 10
    final, olds = run_contended(device, "cas.b16", "b16", 7, [7] * THREADS, range(100, 100 + THREADS))
    assert olds.count(7) == 1 and set(olds) == {7, final} and 100 <= final < 100 + THREADS


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("form", "ptx", "one"),
    [
        ("add.f32", "f32", 0x3F800000),
        ("add.f64", "f64", 0x3FF0000000000000),
        ("add.noftz.f16", "f16", 0x3C00),
        ("add.noftz.bf16", "bf16", 0x3F80),
    ],
)
def test_contended_sums_of_floats_lose_nothing(device, form, ptx, one):
    from anywarp.check.conformance import exact

    final, olds = run_contended(device, form, ptx, 0, [one] * THREADS)
    f = exact.FORMATS[ptx]
    assert exact.value(f, final) == THREADS
    assert sorted(exact.value(f, o) for o in olds) == list(range(THREADS))
