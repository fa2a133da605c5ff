"""Small programs whose lanes part and wait for each other by name, made at random, and what each lane computes in them.

Lanes go their ways by their numbers alone: they leave loops, start the next trip, return early and end, in the kernel and in functions.
Each is followed by itself, as a coroutine that stops at every instruction that waits. Who meets there is decided here, in an order in
which nobody waits in vain; so the program is legal, and a machine with another order must come to the same numbers.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

MOST_EVENTS = 40
UNTOUCHED = 0xDEAD
FULL = 0xFFFFFFFF
WORDS = (np.arange(64, dtype=np.uint64) * np.uint64(0x9E3779B1) >> np.uint64(3)).astype(np.uint32)

REDUCE = {
    "add.u32": lambda values: sum(values) & FULL,
    "min.u32": min,
    "max.u32": max,
    "and.b32": lambda values: int(np.bitwise_and.reduce(np.array(values, np.uint32))),
    "or.b32": lambda values: int(np.bitwise_or.reduce(np.array(values, np.uint32))),
    "xor.b32": lambda values: int(np.bitwise_xor.reduce(np.array(values, np.uint32))),
    "min.s32": lambda values: int(np.array(values, np.uint32).view(np.int32).min()) & FULL,
}
KINDS = [
    *("idx", "bfly", "up", "down", "ballot", "any", "all", "uni", "match.any", "match.all", "warp", "first", "elect"),
    *REDUCE,
]
NEEDS_SOURCE = ("idx", "bfly", "up", "down", "warp")
"""Kinds whose lanes read another one's value: which, the table says."""


class Blocked(Exception):
    """A statement whose mask is fixed would wait for ever: its lanes get the masks from a table instead."""


class TooLong(Exception):
    """A lane takes more steps than we want to follow."""


# --- statements ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Condition:
    """By the lane's number, the warp's and the innermost loop's trip: a bit of a sum of products; or below, equal to a number."""

    kind: str
    a: int
    b: int
    c: int

    def holds(self, lane) -> bool:
        if self.kind == "sum":
            return bool((lane.lane * self.a + lane.warp * self.b + lane.trip * self.c) >> 2 & 1)
        return {"below": lane.thread < self.a, "lane": lane.lane == self.a % 32, "warp": lane.warp == self.a % 3}[
            self.kind
        ]

    def emit(self, p) -> str:
        q, t = p.new("p"), p.new("t")
        if self.kind == "sum":
            p.put(f"mul.lo.u32 {t}, %lane, {self.a};", f"mad.lo.u32 {t}, %warp, {self.b}, {t};")
            p.put(
                f"mad.lo.u32 {t}, {p.trips[-1]}, {self.c}, {t};", f"and.b32 {t}, {t}, 4;", f"setp.ne.u32 {q}, {t}, 0;"
            )
        elif self.kind == "below":
            p.put(f"setp.lt.u32 {q}, %thread, {self.a};")
        elif self.kind == "lane":
            p.put(f"setp.eq.u32 {q}, %lane, {self.a % 32};")
        else:
            p.put(f"setp.eq.u32 {q}, %warp, {self.a % 3};")
        return q


@dataclass(frozen=True)
class Work:
    """Something of a lane's own, something all share, something read from a place that all share."""

    kind: str
    number: int

    def run(self, lane):
        if self.kind == "own":
            lane.x = (lane.x * 5 + self.number) & FULL
        elif self.kind == "shared":
            lane.u = (lane.u * 3 + self.number) & FULL
        elif self.kind == "mix":
            lane.x = (lane.x ^ lane.u) & FULL
        else:
            lane.u = (lane.u + int(WORDS[(lane.trip + self.number) & 63])) & FULL
        return
        yield

    def emit(self, p):
        if self.kind == "own":
            p.put(f"mad.lo.u32 %x, %x, 5, {self.number};")
        elif self.kind == "shared":
            p.put(f"mad.lo.u32 %u, %u, 3, {self.number};")
        elif self.kind == "mix":
            p.put("xor.b32 %x, %x, %u;")
        else:
            t, d = p.new("t"), p.new("d")
            p.put(f"add.u32 {t}, {p.trips[-1]}, {self.number};", f"and.b32 {t}, {t}, 63;", f"mul.wide.u32 {d}, {t}, 4;")
            p.put(f"add.s64 {d}, {d}, %words;", f"ld.global.u32 {t}, [{d}];", f"add.u32 %u, %u, {t};")


@dataclass(frozen=True, eq=False)
class Sync:
    """An instruction that names lanes: all, those of the same `width` as the lane, or what the table says (width 0)."""

    kind: str
    width: int

    def run(self, lane):
        value = yield self
        lane.x = (lane.x * 31 + value) & FULL

    def emit(self, p):
        width = p.widths.get(self, self.width)
        kind = self.kind_of(width)
        mask, source = p.new("m"), p.new("t")
        if width == 0 or kind in NEEDS_SOURCE:
            p.put(f"ld.global.v2.u32 {{{mask}, {source}}}, [%table];", "add.s64 %table, %table, 8;")
        if width == 32:
            mask = "0xffffffff"
        elif width:
            mask, t = p.new("m"), p.new("t")
            p.put(
                f"and.b32 {t}, %lane, {32 - width};",
                f"mov.u32 {mask}, {(1 << width) - 1};",
                f"shl.b32 {mask}, {mask}, {t};",
            )
        r = p.new("t")
        self._instruction(p, kind, mask, source, r)
        p.put(f"mad.lo.u32 %x, %x, 31, {r};")

    def kind_of(self, width: int) -> str:
        """Lane 0 is asked only where it surely is there."""
        return "idx" if self.kind == "first" and width == 0 else self.kind

    def _instruction(self, p, kind, mask, source, r) -> None:
        q, t = p.new("p"), p.new("t")
        if kind in ("idx", "bfly", "up", "down"):
            p.put(f"shfl.sync.{kind}.b32 {r}, %x, {source}, {0 if kind == 'up' else 31}, {mask};")
        elif kind == "first":
            p.put(f"shfl.sync.idx.b32 {r}, %x, 0, 31, {mask};")
        elif kind in ("ballot", "any", "all", "uni"):
            p.put(f"and.b32 {t}, %x, 1;", f"setp.ne.u32 {q}, {t}, 0;")
            if kind == "ballot":
                p.put(f"vote.sync.ballot.b32 {r}, {q}, {mask};")
            else:
                p.put(f"vote.sync.{kind}.pred {q}, {q}, {mask};", f"selp.u32 {r}, 77, 5, {q};")
        elif kind == "match.any":
            p.put(f"and.b32 {t}, %x, 3;", f"match.any.sync.b32 {r}, {t}, {mask};")
        elif kind == "match.all":
            p.put(f"and.b32 {t}, %x, 1;", f"match.all.sync.b32 {r}|{q}, {t}, {mask};", f"selp.b32 {r}, {r}, 9, {q};")
        elif kind == "elect":  # who is elected is open: one that is there, and all are told the same
            p.put(f"elect.sync {t}|{q}, {mask};", f"vote.sync.ballot.b32 {r}, {q}, {mask};")
            p.put(f"shl.b32 {t}, 1, {t};", f"setp.eq.u32 {q}, {t}, {r};", f"vote.sync.all.pred {q}, {q}, {mask};")
            p.put(f"popc.b32 {r}, {r};", f"selp.u32 {r}, {r}, 9, {q};")
        elif kind == "warp":
            p.put("st.shared.u32 [%slot], %x;", f"bar.warp.sync {mask};", f"shl.b32 {t}, {source}, 2;")
            p.put(f"add.u32 {t}, {t}, %slots;", f"ld.shared.u32 {r}, [{t}];", f"bar.warp.sync {mask};")
        else:
            p.put(f"redux.sync.{kind} {r}, %x, {mask};")

    def results(self, lanes, width, rng) -> dict:
        """Return for each lane that meets here what it gets, and the source to name for it."""
        values = {lane: lane.x for lane in lanes}
        by_lane = sorted(lanes, key=lambda lane: lane.lane)
        kind = self.kind_of(width)
        if kind in NEEDS_SOURCE:
            return {lane: self._read(kind, lane, by_lane, values, rng) for lane in lanes}
        out = {lane: self._together(lane, by_lane, values) for lane in lanes}
        return {lane: (value, 0) for lane, value in out.items()}

    def _read(self, kind, lane, by_lane, values, rng):
        usable = [
            one for one in by_lane
            if kind not in ("up", "down") or (one.lane <= lane.lane if kind == "up" else one.lane >= lane.lane)
        ]  # fmt: skip
        one = rng.choice(usable)
        steps = {
            "idx": one.lane, "warp": one.lane, "bfly": one.lane ^ lane.lane, "up": lane.lane - one.lane,
            "down": one.lane - lane.lane,
        }  # fmt: skip
        return values[one], steps[kind]

    def _together(self, lane, by_lane, values) -> int:
        odd = [one for one in by_lane if values[one] & 1]
        if self.kind == "first":
            if by_lane[0].lane != 0:
                raise Blocked(self)
            return values[by_lane[0]]
        if self.kind == "elect":
            return 1
        if self.kind == "ballot":
            return sum(1 << one.lane for one in odd)
        if self.kind in ("any", "all", "uni"):
            holds = {"any": bool(odd), "all": len(odd) == len(by_lane), "uni": len(odd) in (0, len(by_lane))}
            return 77 if holds[self.kind] else 5
        if self.kind == "match.any":
            return sum(1 << one.lane for one in by_lane if values[one] & 3 == values[lane] & 3)
        if self.kind == "match.all":
            return sum(1 << one.lane for one in by_lane) if len(odd) in (0, len(by_lane)) else 9
        return REDUCE[self.kind](list(values.values()))


@dataclass(frozen=True)
class Active:
    """`activemask` may say anything of the others, but a lane is active itself."""

    def run(self, lane):
        lane.x = (lane.x * 31 + 1) & FULL
        return
        yield

    def emit(self, p):
        t = p.new("t")
        p.put(
            f"activemask.b32 {t};", f"shr.u32 {t}, {t}, %lane;", f"and.b32 {t}, {t}, 1;", f"mad.lo.u32 %x, %x, 31, {t};"
        )


@dataclass(frozen=True)
class Barrier:
    """A barrier of the block that every thread comes to, or ends before; its neighbour's number goes across it."""

    def run(self, lane):
        lane.x = (lane.x + (yield self)) & FULL

    def emit(self, p):
        t = p.new("t")
        p.put(
            "st.shared.u32 [%slot], %x;",
            "barrier.sync 0;",
            f"ld.shared.u32 {t}, [%slot];",
            "barrier.sync 0;",
            f"add.u32 %x, %x, {t};",
        )


@dataclass(frozen=True)
class If:
    condition: Condition
    then: tuple
    otherwise: tuple

    def run(self, lane):
        return (yield from run_all(self.then if self.condition.holds(lane) else self.otherwise, lane))

    def emit(self, p):
        q, other, end = self.condition.emit(p), p.label(), p.label()
        p.put(f"@!{q} bra {other};")
        p.all(self.then)
        p.put(f"bra {end};", f"{other}:")
        p.all(self.otherwise)
        p.put(f"{end}:")


@dataclass(frozen=True)
class Loop:
    """As often as a constant or the lane's number says, at most three times."""

    a: int
    b: int
    body: tuple

    def run(self, lane):
        outer = lane.trip
        for trip in range(self._trips(lane)):
            lane.trip = trip
            how = yield from run_all(self.body, lane)
            if how == "break":
                break
            if how not in (None, "continue"):
                lane.trip = outer
                return how
        lane.trip = outer
        return None

    def _trips(self, lane) -> int:
        return (lane.lane * self.a + self.b) >> 1 & 3

    def emit(self, p):
        n, i, q = p.new("t"), p.new("t"), p.new("p")
        head, again, end = p.label(), p.label(), p.label()
        p.put(
            f"mul.lo.u32 {n}, %lane, {self.a};",
            f"add.u32 {n}, {n}, {self.b};",
            f"shr.u32 {n}, {n}, 1;",
            f"and.b32 {n}, {n}, 3;",
        )
        p.put(f"mov.u32 {i}, 0;", f"{head}:", f"setp.ge.u32 {q}, {i}, {n};", f"@{q} bra {end};")
        p.trips.append(i)
        p.loops.append((again, end))
        p.all(self.body)
        p.loops.pop()
        p.trips.pop()
        p.put(f"{again}:", f"add.u32 {i}, {i}, 1;", f"bra {head};", f"{end}:")


@dataclass(frozen=True, eq=False)
class Leave:
    """`break`, `continue`, `exit`, or a return: by `ret`, by a branch to the one `ret`, in the kernel to where it stores its result."""

    condition: Condition
    how: str

    def run(self, lane):
        return self.how if self.condition.holds(lane) else None
        yield

    def emit(self, p):
        q = self.condition.emit(p)
        if self.how in ("break", "continue"):
            if p.loops:
                p.put(f"@{q} bra {p.loops[-1][self.how == 'break']};")
        elif self.how in ("exit", "ret"):
            p.put(*(GIVE if p.function else ()), f"@{q} {self.how};")
        else:
            p.put(f"@{q} bra {'BACK' if p.function else {'back': 'RET', 'store': 'STORE'}[self.how]};")


@dataclass(frozen=True)
class Call:
    """Call the function, directly or through a pointer; lanes return from it at several places."""

    real: bool

    def run(self, lane):
        outer, lane.trip = lane.trip, 0
        how = yield from run_all(lane.function, lane)
        lane.trip = outer
        return "exit" if how == "exit" else None

    def emit(self, p):
        d = p.new("d")
        p.put("{ .param .align 8 .b8 got[16]; .param .b32 x; .param .b32 u; .param .b64 t;")
        p.put("st.param.b32 [x], %x; st.param.b32 [u], %u; st.param.b64 [t], %table;")
        if self.real:
            p.put(f"mov.u64 {d}, f; call (got), {d}, (x, u, t), PROTO;")
        else:
            p.put("call (got), f, (x, u, t);")
        p.put("ld.param.b32 %x, [got]; ld.param.b32 %u, [got+4]; ld.param.b64 %table, [got+8]; }")


def run_all(statements, lane):
    """Run statements; returns how they were left, None if at their end."""
    for s in statements:
        lane.steps += 1
        if lane.steps > 400:
            raise TooLong
        how = yield from s.run(lane)
        if how is not None and not (
            how in ("break", "continue") and s not in lane.inside_loops and isinstance(s, Leave)
        ):
            return how
    return None


# --- computing ----------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Lane:
    thread: int
    x: int
    function: tuple
    inside_loops: frozenset
    u: int = 1
    trip: int = 0
    steps: int = 0
    at: object = None  # the statement where it waits; None: it has ended
    how: str | None = None
    table: list = field(default_factory=list)
    way: object = None

    @property
    def lane(self) -> int:
        return self.thread % 32

    @property
    def warp(self) -> int:
        return self.thread // 32

    def go(self, value=None) -> None:
        try:
            self.at = self.way.send(value)
        except StopIteration as end:
            self.at, self.how = None, end.value


@dataclass
class Plan:
    """A program for a number of threads: its masks, tables and results."""

    widths: dict
    tables: np.ndarray
    out: np.ndarray


class Block:
    """All threads of a block; `widths` say which statements name the same lanes always."""

    def __init__(self, program, threads: int, inputs, widths: dict, rng) -> None:
        inside = frozenset(in_loops(program.statements) + in_loops(program.function))
        self.lanes = [Lane(t, int(inputs[t]), program.function, inside) for t in range(threads)]
        self.widths, self.rng = widths, rng
        for lane in self.lanes:
            lane.way = run_all(program.statements, lane)
            lane.go()

    def run(self) -> None:
        warps = [self.lanes[n : n + 32] for n in range(0, len(self.lanes), 32)]
        while True:
            if sum(map(bool, [self._fixed(warp) for warp in warps])):
                continue
            alive = [lane for lane in self.lanes if lane.at is not None]
            if not alive:
                return
            if all(isinstance(lane.at, Barrier) for lane in alive):
                for lane in alive:
                    lane.go(lane.x)
            elif not any(self._free(warp) for warp in warps):
                raise Blocked(next(lane.at for lane in alive if isinstance(lane.at, Sync)))

    def _fixed(self, warp) -> bool:
        """Let lanes go whose fixed masks name nobody who is missing."""
        moved = False
        for at in dict.fromkeys(lane.at for lane in warp if isinstance(lane.at, Sync)):
            width = self.widths.get(at, at.width)
            for first in range(0, 32, width) if width else ():
                named = [lane for lane in warp if first <= lane.lane < first + width and lane.at is not None]
                if named and all(self._beside(lane.at, at) for lane in named):
                    self._meet(at, named, ((1 << width) - 1) << first)
                    moved = True
        return moved

    def _beside(self, one, other) -> bool:
        """Tell whether lanes at these statements may meet: at one, or at two barriers of the warp (PTX manual, `bar.warp.sync`)."""
        if one is other or not isinstance(one, Sync) or one.kind != "warp" or other.kind != "warp":
            return one is other
        return self.widths.get(one, one.width) == self.widths.get(other, other.width)

    def _free(self, warp) -> bool:
        """Let lanes at one statement go in groups; the mask of each may name lanes that have ended, or never were."""
        places = [
            at
            for at in dict.fromkeys(lane.at for lane in warp if isinstance(lane.at, Sync))
            if not self.widths.get(at, at.width)
        ]
        if not places:
            return False
        at = self.rng.choice(places)
        here = [lane for lane in warp if self._beside(lane.at, at)]
        there = {lane.lane for lane in warp if lane.at is not None}
        parts = self.rng.choice([1, 1, 1, 2, 3])
        groups: dict[int, list] = {}
        for lane in here:
            groups.setdefault(self.rng.randrange(parts), []).append(lane)
        for group in groups.values():
            gone = self.rng.choice([0, FULL, self.rng.getrandbits(32)]) & ~sum(1 << n for n in there)
            self._meet(at, group, gone & FULL | sum(1 << lane.lane for lane in group))
        return True

    def _meet(self, at, lanes, mask) -> None:
        width = self.widths.get(at, at.width)
        found = at.results(lanes, width, self.rng)
        for lane in lanes:
            value, source = found[lane]
            if at.kind == "warp":
                source += 32 * lane.warp
            if not width or at.kind_of(width) in NEEDS_SOURCE:
                lane.table.append((mask, source))
                if len(lane.table) > MOST_EVENTS:
                    raise TooLong
        for lane in lanes:
            lane.go(found[lane][0])


def in_loops(statements, inside=False) -> list:
    """The statements that stand in a loop of their own function."""
    found: list = []
    for s in statements:
        if inside:
            found.append(s)
        if isinstance(s, If):
            found += in_loops(s.then, inside) + in_loops(s.otherwise, inside)
        elif isinstance(s, Loop):
            found += in_loops(s.body, True)
    return found


# --- printing -----------------------------------------------------------------------------------------------------------


@dataclass
class Printer:
    widths: dict
    function: bool
    lines: list = field(default_factory=list)
    declared: list = field(default_factory=list)
    trips: list = field(default_factory=lambda: ["0"])
    loops: list = field(default_factory=list)
    count: int = 0

    def new(self, kind: str) -> str:
        self.count += 1
        type = {"t": "b32", "m": "b32", "p": "pred", "d": "b64"}[kind]
        self.declared.append(f".reg .{type} %{kind}{self.count};")
        return f"%{kind}{self.count}"

    def label(self) -> str:
        self.count += 1
        return f"L{self.count}"

    def put(self, *lines: str) -> None:
        self.lines += lines

    def all(self, statements) -> None:
        for s in statements:
            s.emit(self)


GIVE = ("st.param.b32 [left], %x;", "st.param.b32 [left+4], %u;", "st.param.b64 [left+8], %table;")
COMMON = """.reg .b32 %x, %u, %thread, %lane, %warp, %slot, %slots; .reg .b64 %table, %words, %out, %y; .reg .pred %never;
  mov.u32 %thread, %tid.x; mov.u32 %lane, %laneid; shr.u32 %warp, %thread, 5; mov.u32 %slots, slots; shl.b32 %slot, %thread, 2;
  add.u32 %slot, %slot, %slots; mov.u64 %words, words;"""


@dataclass(frozen=True)
class Program:
    statements: tuple
    function: tuple

    def plan(self, threads: int, inputs, number: int, widths: dict) -> Plan:
        """Decide who meets where with `threads` in the block; what must get its masks from the table is added to `widths`."""
        while True:
            block = None
            try:
                block = Block(self, threads, inputs, widths, random.Random(number))
                block.run()
                break
            except Blocked as found:
                at = found.args[0]
                if widths.get(at, at.width) == 0:
                    raise TooLong from None  # lane 0 is asked for and is not there
                widths[at] = 0
        tables = np.zeros((threads, MOST_EVENTS, 2), np.uint32)
        out = np.zeros((threads, 2), np.uint32)
        for lane in block.lanes:
            for n, entry in enumerate(lane.table):
                tables[lane.thread, n] = entry
            gone = lane.how in ("exit", "ret", "back")
            out[lane.thread] = (UNTOUCHED, UNTOUCHED) if gone else (lane.x, lane.u)
        return Plan(dict(widths), tables, out)

    def ptx(self, plan: Plan) -> str:
        p, f = Printer(plan.widths, False), Printer(plan.widths, True)
        p.all(self.statements)
        f.all(self.function)
        body, inner = ("\n  ".join(one.declared + one.lines) for one in (p, f))
        numbers = ", ".join(str(n) for n in WORDS)
        return f""".version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 words[64] = {{{numbers}}};
.shared .align 4 .b32 slots[1024];
.func (.param .align 8 .b8 left[16]) f(.param .b32 px, .param .b32 pu, .param .b64 pt) {{
  {COMMON}
  ld.param.b32 %x, [px]; ld.param.b32 %u, [pu]; ld.param.b64 %table, [pt];
  {inner}
BACK: {" ".join(GIVE)} ret;
}}
.visible .entry apart(.param .u64 in, .param .u64 tables, .param .u64 out) {{
  {COMMON}
  PROTO: .callprototype (.param .align 8 .b8 _[16]) _ (.param .b32 _, .param .b32 _, .param .b64 _);
  ld.param.u64 %y, [in]; mul.wide.u32 %out, %thread, 4; add.s64 %y, %y, %out; ld.global.u32 %x, [%y]; mov.u32 %u, 1;
  ld.param.u64 %table, [tables]; mul.wide.u32 %y, %thread, {8 * MOST_EVENTS}; add.s64 %table, %table, %y;
  ld.param.u64 %out, [out]; mul.wide.u32 %y, %thread, 8; add.s64 %out, %out, %y;
  {body}
STORE: st.global.u32 [%out], %x; st.global.u32 [%out+4], %u;
RET: ret;
}}
"""


# --- making them at random ----------------------------------------------------------------------------------------------

small = st.integers(0, 15)
condition = st.one_of(
    st.builds(Condition, st.just("sum"), small, st.integers(0, 7), small),
    st.builds(Condition, st.just("sum"), small, st.just(0), small),
    st.builds(Condition, st.just("below"), st.sampled_from([1, 5, 16, 31, 33, 40, 50]), small, small),
    st.builds(Condition, st.just("lane"), st.integers(0, 31), small, small),
    st.builds(Condition, st.just("warp"), small, small, small),
)
sync = st.builds(Sync, st.sampled_from(KINDS), st.sampled_from([0, 0, 32, 32, 32, 16, 8, 4]))
work = st.builds(Work, st.sampled_from(["own", "shared", "mix", "read"]), st.integers(0, 99))
leave = st.builds(
    Leave, condition, st.sampled_from(["break", "continue", "exit", "ret", "back", "store", "break", "continue"])
)
KIND = st.sampled_from(["sync"] * 4 + ["work"] * 2 + ["leave"] * 2 + ["if"] * 2 + ["loop"] * 2 + ["active"])


@st.composite
def bodies(draw, depth: int, least: int, most: int, calls: bool):
    return tuple(draw(statements(depth, calls)) for _ in range(draw(st.integers(least, most))))


@st.composite
def statements(draw, depth: int, calls: bool):
    kind = draw(KIND)
    if kind == "if" and depth:
        return If(draw(condition), draw(bodies(depth - 1, 1, 2, calls)), draw(bodies(depth - 1, 0, 2, calls)))
    if kind == "loop" and depth:
        return Loop(draw(small), draw(st.integers(0, 7)), draw(bodies(depth - 1, 1, 3, calls)))
    if kind == "active" and calls:
        return draw(st.one_of(st.just(Active()), st.builds(Call, st.booleans())))
    return draw({"work": work, "leave": leave}.get(kind, sync))


@st.composite
def programs(draw):
    parts: list = []
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        parts += draw(bodies(2, 1, 2, True))
        if draw(st.integers(0, 3)) == 0:
            parts.append(Barrier())
    return Program(called_once(parts, [True]), draw(bodies(1, 1, 2, False)))


def called_once(statements, free: list) -> tuple:
    """Leave one call: elsewhere the function's instructions are others, and only barriers meet at different places."""
    out: list = []
    for s in statements:
        if isinstance(s, If):
            s = If(s.condition, called_once(s.then, free), called_once(s.otherwise, free))
        elif isinstance(s, Loop):
            s = Loop(s.a, s.b, called_once(s.body, free))
        elif isinstance(s, Call):
            s = s if free else Active()
            free.clear()
        out.append(s)
    return tuple(out)
