"""Kernels that run many rows of the instruction table at once, and the comparison of what they leave.

Every thread has its own sources, so all lanes differ. A *straight* kernel runs the rows one after another in all threads. A
*divergent* one runs them inside a loop that each lane leaves at its own time, in one side of a branch or the other, under guard
predicates; a lane that does not run a row must keep what the destination held.
"""

# pyright: basic, reportOptionalSubscript=false
from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from anywarp.check.conformance.rows import Row, inputs, matches
from anywarp.check.conformance.warp_inputs import warp_inputs

THREADS = 128
"""Threads for which buffers have room; a launch may use fewer."""
ROUNDS = 2
"""Rounds of the loop of a divergent kernel; each has sources of its own."""
KEPT = 0x5A5A5A5A5A5A5A5A
"""What a destination holds before."""
UNTOUCHED = 0xEEEEEEEEEEEEEEEE
"""What the output buffer holds before."""

HEAD = """.version 8.6
.target sm_100
.address_size 64
.visible .entry rows(.param .u64 in, .param .u64 out, .param .u64 control) {
  .reg .b32 %x<8>; .reg .b64 %in, %out, %control, %y; .reg .pred %guard, %side, %over, %odd;
  mov.u32 %x0, %tid.x; mov.u32 %x1, %ctaid.x; mov.u32 %x2, %ntid.x; mad.lo.u32 %x0, %x1, %x2, %x0;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u64 %control, [control];
  mul.wide.u32 %y, %x0, 16; add.s64 %in, %in, %y; add.s64 %out, %out, %y; add.s64 %control, %control, %y;
"""

_LOADED_AS = {"b8": "b8", "b16": "b16", "b32": "b32", "b64": "b64", "f32": "f32", "f64": "f64"}


@dataclass(frozen=True)
class Placed:
    """A row with its first slots in the input and output buffers."""

    row: Row
    source: int
    result: int


def place(rows: Sequence[Row]) -> list[Placed]:
    source = result = 0
    placed = []
    for row in rows:
        placed.append(Placed(row, source, result))
        source, result = source + len(row.sources), result + len(row.results)
    return placed


def slots(rows: Sequence[Row]) -> tuple[int, int]:
    return sum(len(r.sources) for r in rows), sum(len(r.results) for r in rows)


def _load(register: str, kind: str, slot: int) -> str:
    at = f"[%in+{slot * THREADS * 16}]"
    if kind == "pred":
        return f"ld.global.u32 %t, {at}; setp.ne.u32 {register}, %t, 0;"
    if kind == "b128":
        return f"ld.global.v2.b64 {{%l, %h}}, {at}; mov.b128 {register}, {{%l, %h}};"
    return f"ld.global.{_LOADED_AS[kind]} {register}, {at};"


def _store(register: str, kind: str, slot: int) -> str:
    at = f"[%out+{slot * THREADS * 16}]"
    if kind == "pred":
        return f"selp.u32 %t, 1, 0, {register}; st.global.u32 {at}, %t;"
    if kind == "b128":
        return f"mov.b128 {{%l, %h}}, {register}; st.global.v2.b64 {at}, {{%l, %h}};"
    return f"st.global.{_LOADED_AS[kind]} {at}, {register};"


def _keep(register: str, kind: str) -> str:
    if kind == "pred":
        return f"mov.pred {register}, {KEPT & 1};"
    if kind == "b128":
        return f"mov.b64 %l, {KEPT}; mov.b128 {register}, {{%l, %l}};"
    width = int(kind[1:])
    value = KEPT & ((1 << width) - 1)
    if kind == "b8":
        return f"cvt.u8.u32 {register}, {value};"
    constant = f"0{'f' if width == 32 else 'd'}{value:0{width // 4}X}" if kind[0] == "f" else str(value)
    return f"mov.{kind} {register}, {constant};"


def _guarded(text: str) -> str:
    """Put the guard on every instruction of a row's text."""
    return " ".join(f"@%guard {part.strip()};" for part in text.split(";") if part.strip())


def _row(placed: Placed, guarded: bool) -> str:
    row = placed.row
    names = {f"s{n}": f"%s{n}" for n in range(len(row.sources))} | {f"r{n}": f"%r{n}" for n in range(len(row.results))}
    registers = [(f"%s{n}", kind) for n, kind in enumerate(row.source_registers)]
    results = [(f"%r{n}", kind) for n, kind in enumerate(row.result_registers)]
    lines = [f".reg .{kind} {name};" for name, kind in registers + results]
    lines.append(".reg .b32 %t; .reg .b64 %l, %h;")
    lines += [_load(name, kind, placed.source + n) for n, (name, kind) in enumerate(registers)]
    text = row.text.format(**names)
    if guarded:
        lines += [_keep(name, kind) for name, kind in results]
        text = _guarded(text)
    lines.append(text)
    lines += [_store(name, kind, placed.result + n) for n, (name, kind) in enumerate(results)]
    return "{ " + " ".join(lines) + " }"


def straight(rows: Sequence[Row]) -> str:
    """A kernel that runs every row in every thread."""
    return HEAD + "\n".join(_row(p, False) for p in place(rows)) + "\n ret;\n}\n"


def divergent(rows: Sequence[Row]) -> str:
    """A kernel that runs even rows in one side of a branch and odd rows in the other, within a loop, under a guard.

    The control buffer has, for each thread, words: rounds, then for each round bit 0 the side, bit 1 the guard.
    """
    placed = place(rows)
    sources, results = slots(rows)
    then = "\n".join(_row(p, True) for p in placed[0::2])
    otherwise = "\n".join(_row(p, True) for p in placed[1::2])
    return f"""{HEAD}
  ld.global.u32 %x3, [%control]; mov.u32 %x4, 0;
ROUND: setp.ge.u32 %over, %x4, %x3; @%over bra END;
  ld.global.u32 %x5, [%control+4]; and.b32 %x6, %x5, 1; setp.ne.u32 %side, %x6, 0; and.b32 %x6, %x5, 2; setp.ne.u32 %guard, %x6, 0;
  @!%side bra OTHERWISE;
{then}
  bra JOIN;
OTHERWISE:
{otherwise}
JOIN: add.s64 %in, %in, {sources * THREADS * 16}; add.s64 %out, %out, {results * THREADS * 16}; add.s64 %control, %control, 4;
  add.u32 %x4, %x4, 1; bra ROUND;
END: ret;
}}
"""


Run = Callable[..., object]


Values = list[list[list[tuple[int, ...]]]]
"""Sources by [round][row][thread]."""


def _random(rows: Sequence[Row], seed: int, rounds: int) -> Values:
    return [[inputs(row, THREADS, seed * rounds + r) for row in rows] for r in range(rounds)]


def _buffer(rows: Sequence[Row], values: Values) -> np.ndarray:
    rounds = len(values)
    buffer = np.zeros((rounds, slots(rows)[0], THREADS, 2), np.uint64)
    for r in range(rounds):
        for p, lanes in zip(place(rows), values[r], strict=True):
            for n in range(len(p.row.sources)):
                for half in range(2):
                    bits = [(lane[n] >> (64 * half)) & 0xFFFFFFFFFFFFFFFF for lane in lanes]
                    buffer[r, p.source + n, :, half] = np.array(bits, np.uint64)
    return buffer


def _found(out: np.ndarray, round: int, slot: int, thread: int, kind: str) -> int:
    width = {"pred": 32, "b8": 8, "b16": 16, "b32": 32, "f32": 32, "b64": 64, "f64": 64, "b128": 128}[kind]
    low, high = (int(x) for x in out[round, slot, thread])
    return (low | high << 64) & ((1 << width) - 1)


def _kept(kind: str) -> int:
    return {"pred": 0, "b8": 0x5A, "b16": 0x5A5A, "b32": 0x5A5A5A5A, "f32": 0x5A5A5A5A, "b128": KEPT | KEPT << 64}.get(
        kind, KEPT
    )


def _judge(p: Placed, sources: tuple[int, ...], out: np.ndarray, round: int, thread: int, runs: bool) -> str:
    """Say what is wrong with a row's results in a thread, or nothing."""
    row = p.row
    wanted = row.expected(*sources) if runs else tuple(_kept(k) for k in row.result_registers)
    for n, (kind, expected) in enumerate(zip(row.result_registers, wanted, strict=True)):
        got = _found(out, round, p.result + n, thread, kind)
        if not matches(int(expected) if isinstance(expected, bool) else expected, got):
            given = ", ".join(f"0x{s:x}" for s in sources)
            want = f"0x{expected:x}" if isinstance(expected, int) else str(expected)
            how = "" if runs else " (guarded off)"
            return f"{row.text} of ({given}): result {n} is 0x{got:x}, expected {want}, thread {thread}{how}"
    return ""


def check_straight(
    run: Run, rows: Sequence[Row], seed: int = 0, threads: int = 64, blocks: int = 1, values: Values | None = None
) -> list[str]:
    """Run the rows in every thread, with `values` or random ones; returns one complaint for each wrong row."""
    values = values or _random(rows, seed, 1)
    buffer = _buffer(rows, values)
    out = np.full((1, slots(rows)[1], THREADS, 2), UNTOUCHED, np.uint64)
    run(straight(rows), "rows", blocks, threads, [buffer, out, np.zeros(4, np.uint32)])
    wrong = []
    for p, lanes in zip(place(rows), values[0], strict=True):
        complaints = (_judge(p, lanes[t], out, 0, t, True) for t in range(threads * blocks))
        wrong += [c for c in complaints if c][:1]
    assert (out[0, :, threads * blocks :] == UNTOUCHED).all(), "a thread that does not exist has written"
    return wrong


def check_divergent(run: Run, rows: Sequence[Row], seed: int = 0, threads: int = 45) -> list[str]:
    """Run the rows in a divergent loop, in both sides of a branch, under guards; returns complaints."""
    values = _random(rows, seed, ROUNDS)
    buffer = _buffer(rows, values)
    rng = random.Random(seed)
    control = np.zeros((THREADS, 4), np.uint32)
    control[:, 0] = [rng.randint(0, ROUNDS) for _ in range(THREADS)]
    control[:, 1 : 1 + ROUNDS] = [[rng.choice([0, 1, 2, 2, 3, 3]) for _ in range(ROUNDS)] for _ in range(THREADS)]
    out = np.full((ROUNDS, slots(rows)[1], THREADS, 2), UNTOUCHED, np.uint64)
    run(divergent(rows), "rows", 1, threads, [buffer, out, control])
    wrong = []
    for index, p in enumerate(place(rows)):
        complaints = []
        for r in range(ROUNDS):
            for t in range(THREADS):
                here = t < threads and r < control[t, 0] and int(control[t, 1 + r]) & 1 == 1 - index % 2
                if here:
                    guard = int(control[t, 1 + r]) & 2 != 0
                    complaints.append(_judge(p, values[r][index][t], out, r, t, guard))
                elif (out[r, p.result : p.result + len(p.row.results), t] != UNTOUCHED).any():
                    complaints.append(f"{p.row.text}: thread {t} wrote in a round in which it is not there")
        wrong += [c for c in complaints if c][:1]
    return wrong


# --- instructions that look at other lanes ------------------------------------------------------------------------------


def across(rows: Sequence, how: str) -> str:
    """A kernel for rows of `warp_rows`: `how` their lanes are chosen by the control word: "all" of them, "branch", "guard"."""
    body = "\n".join(_row(p, how == "guard") for p in place(rows))
    choose = "ld.global.u32 %x3, [%control]; setp.ne.u32 %guard, %x3, 0;"
    skip = "@!%guard bra END;" if how == "branch" else ""
    return f"{HEAD}\n{choose if how != 'all' else ''} {skip}\n{body}\nEND: ret;\n}}\n"


def check_across(run: Run, rows: Sequence, how: str, masks: Sequence[int], seed: int, threads: int) -> list[str]:
    """Run warp rows with a mask for each warp; returns one complaint for each wrong row."""
    exist = [min(32, threads - 32 * w) for w in range(-(-threads // 32))]
    active = [(m if how != "all" else -1) & ((1 << n) - 1) for m, n in zip(masks, exist, strict=True)]
    # Each warp has numbers of its own (of the same style): what comes from another warp is seen.
    lanes = [[x for w, mask in enumerate(active) for x in warp_inputs(row, mask, seed + 3 * w)] for row in rows]
    lanes = [(x * THREADS)[:THREADS] for x in lanes]
    control = np.zeros((THREADS, 4), np.uint32)
    control[: 32 * len(active), 0] = [mask >> lane & 1 for mask in active for lane in range(32)]
    out = np.full((1, slots(rows)[1], THREADS, 2), UNTOUCHED, np.uint64)
    run(across(rows, how), "rows", 1, threads, [_buffer(rows, [lanes]), out, control])
    wrong = []
    for p, sources in zip(place(rows), lanes, strict=True):
        complaints = []
        for w, mask in enumerate(active):
            expected = p.row.expected(sources[32 * w : 32 * w + 32], mask) if mask else [None] * 32
            for n in range(exist[w]):
                complaints += _judge_lane(p, expected[n], out, 32 * w + n, how)
        wrong += complaints[:1]
    return wrong


def _judge_lane(p: Placed, expected: tuple | None, out: np.ndarray, thread: int, how: str) -> list[str]:
    wrong = []
    for n, kind in enumerate(p.row.result_registers):
        got = _found(out, 0, p.result + n, thread, kind)
        if expected is None:
            untouched = UNTOUCHED & ((1 << (32 if kind == "pred" else int(kind[1:]))) - 1)
            wanted = untouched if how == "branch" else _kept(kind)
        else:
            wanted = expected[n]
        if not matches(wanted, got):
            wrong.append(f"{p.row.text} ({how}): thread {thread}, result {n} is 0x{got:x}, expected {wanted}")
    return wrong
