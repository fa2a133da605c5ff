"""Small structured programs: made at random, printed as PTX, and computed by numpy without any of our code.

A program is a tree of statements over a few 32-bit variables per thread. `emit` writes PTX; `run` computes the same with masks over
all threads of a block. Only programs whose result the CUDA model fixes are made: data cross threads at barriers, in shuffles among
lanes known to be there, and through atomics whose order does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

VARIABLES = 5
WIDTH = 8  # counters for each atomic operation
FACTOR = np.float32(0.37)

BINARY = {
    "add.u32": lambda a, b: a + b,
    "sub.s32": lambda a, b: a - b,
    "mul.lo.u32": lambda a, b: a * b,
    "mul.hi.u32": lambda a, b: ((a.astype(np.uint64) * b.astype(np.uint64)) >> np.uint64(32)).astype(np.uint32),
    "and.b32": lambda a, b: a & b,
    "or.b32": lambda a, b: a | b,
    "xor.b32": lambda a, b: a ^ b,
    "min.u32": np.minimum,
    "max.s32": lambda a, b: np.maximum(a.view(np.int32), b.view(np.int32)).view(np.uint32),
    "div.u32": lambda a, b: a // (b | np.uint32(1)),  # emitted with the same `or`
    "shl.b32": lambda a, b: np.where(b > 31, np.uint32(0), a << (b & np.uint32(31))),
    "shr.s32": lambda a, b: (a.view(np.int32) >> np.minimum(b, np.uint32(31)).astype(np.int32)).view(np.uint32),
}
COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
ATOMIC = {"add": np.add, "max": np.maximum, "min": np.minimum, "xor": np.bitwise_xor, "or": np.bitwise_or}
COUNTERS = WIDTH * len(ATOMIC)
INITIAL = 0x40000000


@dataclass(frozen=True)
class Where:
    """What is known at a statement: `sync`, the lanes here are known by mask; `block`, all living threads of the block are here."""

    sync: bool = True
    block: bool = True
    loop: bool = False


# --- printing -----------------------------------------------------------------------------------------------------------


@dataclass
class Printer:
    lines: list[str] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)
    count: int = 0
    mask: str = ""
    loops: list[tuple[str, str]] = field(default_factory=list)  # labels of continue and break

    def new(self, kind: str) -> str:
        self.count += 1
        name = f"%{kind}{self.count}"
        if kind != "L":
            types = {"t": "b32", "m": "b32", "p": "pred", "f": "f32", "d": "b64"}
            self.declared.append(f".reg .{types[kind]} {name};")
        return name.replace("%L", "L")

    def put(self, *lines: str) -> None:
        self.lines += lines

    def value(self, operand) -> str:
        return f"%v{operand[1]}" if operand[0] == "v" else str(operand[1])

    def compare(self, condition) -> str:
        p = self.new("p")
        kind, op, a, b = condition
        left = "%ctaid.x" if kind == "block" else f"%v{a}"
        if kind == "block":
            t = self.new("t")
            self.put(f"mov.u32 {t}, {left};")
            left = t
        self.put(f"setp.{op}.{'s32' if kind == 's' else 'u32'} {p}, {left}, {self.value(b)};")
        return p

    def ballot(self, p: str) -> str:
        m = self.new("m")
        self.put(f"vote.sync.ballot.b32 {m}, {p}, {self.mask};")
        return m

    def block(self, statements, mask: str) -> None:
        outer, self.mask = self.mask, mask
        for s in statements:
            s.emit(self)
        self.mask = outer


# --- computing ----------------------------------------------------------------------------------------------------------


class Model:
    """One block: variables by number, all as arrays over threads; masks are boolean arrays."""

    def __init__(self, threads: int, block_index: int, variables, total):
        self.n, self.block_index = threads, block_index
        self.v = [np.array(x) for x in variables]
        self.slots = np.zeros(threads, np.uint32)
        self.local = np.zeros((threads, 4), np.uint32)
        self.counters = INITIAL + np.arange(COUNTERS, dtype=np.uint32)
        self.total = total
        self.ended = np.zeros(threads, bool)
        self.left: list[dict[str, np.ndarray]] = []
        self.lane = np.arange(threads) % 32

    def value(self, operand):
        return self.v[operand[1]] if operand[0] == "v" else np.full(self.n, operand[1] & 0xFFFFFFFF, np.uint32)

    def holds(self, condition):
        kind, op, a, b = condition
        left = np.full(self.n, self.block_index, np.uint32) if kind == "block" else self.v[a]
        right = self.value(b)
        if kind == "s":
            left, right = left.view(np.int32), right.view(np.int32)
        return COMPARE[op](left, right)

    def assign(self, d, value, active):
        self.v[d] = np.where(active, value, self.v[d]).astype(np.uint32)

    def run(self, statements, active):
        for s in statements:
            active = s.run(self, active)
        return active

    def warps(self, active):
        """The masks of lanes, warp by warp."""
        return [
            (first, sum(1 << lane for lane, on in enumerate(active[first : first + 32]) if on))
            for first in range(0, self.n, 32)
        ]


# --- statements ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Assign:
    op: str
    d: int
    a: tuple
    b: tuple

    def legal(self, where):
        return [self]

    def emit(self, p):
        a, b = p.value(self.a), p.value(self.b)
        if self.op == "div.u32":
            t = p.new("t")
            p.put(f"or.b32 {t}, {b}, 1;")
            b = t
        p.put(f"{self.op} %v{self.d}, {a}, {b};")

    def run(self, m, active):
        m.assign(self.d, BINARY[self.op](m.value(self.a), m.value(self.b)), active)
        return active


@dataclass(frozen=True)
class Scale:
    """Through f32: convert, multiply, convert back."""

    d: int
    a: int

    def legal(self, where):
        return [self]

    def emit(self, p):
        t, f = p.new("t"), p.new("f")
        p.put(f"and.b32 {t}, %v{self.a}, 0xFFFFF;", f"cvt.rn.f32.u32 {f}, {t};")
        p.put(f"mul.rn.f32 {f}, {f}, 0f{FACTOR.view(np.uint32):08X};", f"cvt.rzi.u32.f32 %v{self.d}, {f};")

    def run(self, m, active):
        number = (m.v[self.a] & np.uint32(0xFFFFF)).astype(np.float32) * FACTOR
        m.assign(self.d, np.trunc(number).astype(np.uint32), active)
        return active


@dataclass(frozen=True)
class If:
    condition: tuple
    then: tuple
    otherwise: tuple

    def legal(self, where):
        inside = Where(where.sync, where.block and self.condition[0] == "block", where.loop)
        return [If(self.condition, legal(self.then, inside), legal(self.otherwise, inside))]

    def emit(self, p):
        q, other, end = p.compare(self.condition), p.new("L"), p.new("L")
        then = otherwise = ""
        if p.mask:
            then, otherwise = p.ballot(q), p.new("m")
            p.put(f"not.b32 {otherwise}, {then};", f"and.b32 {otherwise}, {otherwise}, {p.mask};")
        p.put(f"@!{q} bra {other};")
        p.block(self.then, then)
        p.put(f"bra {end};", f"{other}:")
        p.block(self.otherwise, otherwise)
        p.put(f"{end}:")

    def run(self, m, active):
        holds = m.holds(self.condition)
        return m.run(self.then, active & holds) | m.run(self.otherwise, active & ~holds)


@dataclass(frozen=True)
class Switch:
    """Four ways by a variable's lowest bits; no masks are known inside."""

    a: int
    cases: tuple

    def legal(self, where):
        inside = Where(False, False, where.loop)
        return [Switch(self.a, tuple(legal(case, inside) for case in self.cases))]

    def emit(self, p):
        labels, end, targets, t = [p.new("L") for _ in self.cases], p.new("L"), p.new("L"), p.new("t")
        p.put(
            f"and.b32 {t}, %v{self.a}, 3;",
            f"{targets}: .branchtargets {', '.join(labels)};",
            f"brx.idx {t}, {targets};",
        )
        for label, case in zip(labels, self.cases, strict=True):
            p.put(f"{label}:")
            p.block(case, "")
            p.put(f"bra {end};")
        p.put(f"{end}:")

    def run(self, m, active):
        which = m.v[self.a] & np.uint32(3)
        masks = [active & (which == n) for n in range(4)]
        return np.logical_or.reduce([m.run(c, mask) for c, mask in zip(self.cases, masks, strict=True)])


@dataclass(frozen=True)
class Loop:
    """Up to seven times: a constant, or a variable's lowest bits."""

    trips: tuple
    body: tuple

    def legal(self, where):
        leaves = leaving(self.body)
        top = [type(s) for s in self.body if isinstance(s, (Break, Continue))]
        known = len(leaves) == len(top) and len(set(leaves)) <= 1
        uniform = where.block and self.trips[0] == "c" and not leaves
        return [Loop(self.trips, legal(self.body, Where(where.sync and known, uniform, True)))]

    def emit(self, p):
        t, q = p.new("t"), p.new("p")
        head, again, end = p.new("L"), p.new("L"), p.new("L")
        mask = ""
        known = len(leaving(self.body)) == sum(isinstance(s, (Break, Continue)) for s in self.body)
        if p.mask and known and len(set(leaving(self.body))) <= 1:
            mask = p.new("m")
            p.put(f"mov.b32 {mask}, {p.mask};")
        p.put(f"and.b32 {t}, {p.value(self.trips)}, 7;" if self.trips[0] == "v" else f"mov.u32 {t}, {self.trips[1]};")
        p.put(f"{head}:", f"setp.ne.u32 {q}, {t}, 0;")
        if mask:
            p.put(f"vote.sync.ballot.b32 {mask}, {q}, {mask};")
        p.put(f"@!{q} bra {end};", f"sub.u32 {t}, {t}, 1;")
        p.loops.append((again, end))
        inside = p.new("m") if mask else ""
        if mask:
            p.put(f"mov.b32 {inside}, {mask};")
        outer, p.mask = p.mask, inside
        for s in self.body:
            s.emit(p)
            if mask and isinstance(s, Break) and s.kind == "break":
                p.put(f"mov.b32 {mask}, {inside};")
        p.mask = outer
        p.loops.pop()
        p.put(f"{again}:", f"bra {head};", f"{end}:")

    def run(self, m, active):
        trips = m.value(self.trips) & np.uint32(7) if self.trips[0] == "v" else m.value(self.trips)
        trips = np.array(trips)
        inside = active & (trips != 0)
        entered = active
        m.left.append({"break": np.zeros(m.n, bool), "continue": np.zeros(m.n, bool)})
        for _ in range(8):
            trips = trips - np.uint32(1)
            after = m.run(self.body, inside) | m.left[-1]["continue"]
            m.left[-1]["continue"][:] = False
            inside = after & (trips != 0)
            if not inside.any():
                break
        m.left.pop()
        return entered & ~m.ended


@dataclass(frozen=True)
class Break:
    condition: tuple
    kind = "break"

    def legal(self, where):
        return [self] if where.loop else []

    def emit(self, p):
        q = p.compare(self.condition)
        if p.mask:
            p.put(f"not.pred {q}, {q};", f"vote.sync.ballot.b32 {p.mask}, {q}, {p.mask};", f"not.pred {q}, {q};")
        p.put(f"@{q} bra {p.loops[-1][self.kind == 'break']};")

    def run(self, m, active):
        goes = active & m.holds(self.condition)
        m.left[-1][self.kind] |= goes
        return active & ~goes


@dataclass(frozen=True)
class Continue(Break):
    kind = "continue"


@dataclass(frozen=True)
class Leave:
    """`exit` (or `ret`) of the threads for which a condition holds."""

    condition: tuple
    how: str

    def legal(self, where):
        return [self]

    def emit(self, p):
        p.put(f"@{p.compare(self.condition)} {self.how};")

    def run(self, m, active):
        goes = active & m.holds(self.condition)
        m.ended |= goes
        return active & ~goes


@dataclass(frozen=True)
class Exchange:
    """Through shared memory with the thread `distance` further on; `divergent` puts a barrier into both sides of a branch."""

    a: int
    d: int
    distance: int
    divergent: bool

    def legal(self, where):
        return [self] if where.block else []

    def emit(self, p):
        t, own, q = p.new("t"), p.new("t"), p.new("p")
        p.put(f"shl.b32 {own}, %linear, 2;", f"mov.u32 {t}, slots;", f"add.u32 {own}, {own}, {t};")
        if self.divergent:
            other, end = p.new("L"), p.new("L")
            p.put(f"setp.gt.u32 {q}, %v{self.a}, 0x7fffffff;", f"@{q} bra {other};")
            p.put(f"st.shared.u32 [{own}], %v{self.a};", "barrier.sync 0;", f"bra {end};")
            p.put(f"{other}:", f"st.shared.u32 [{own}], %v{self.a};", "barrier.sync 0;", f"{end}:")
        else:
            p.put(f"st.shared.u32 [{own}], %v{self.a};", "bar.sync 0;")
        p.put(f"add.u32 {t}, %linear, {self.distance};", f"rem.u32 {t}, {t}, %threads;", f"shl.b32 {t}, {t}, 2;")
        p.put(f"mov.u32 {own}, slots;", f"add.u32 {t}, {t}, {own};", f"ld.shared.u32 %v{self.d}, [{t}];", "bar.sync 0;")

    def run(self, m, active):
        m.slots = np.where(active, m.v[self.a], m.slots)
        m.assign(self.d, m.slots[(np.arange(m.n) + self.distance) % m.n], active)
        return active


@dataclass(frozen=True)
class Count:
    """`bar.red.popc` of a condition over the block."""

    d: int
    condition: tuple

    def legal(self, where):
        return [self] if where.block else []

    def emit(self, p):
        p.put(f"bar.red.popc.u32 %v{self.d}, 0, {p.compare(self.condition)};")

    def run(self, m, active):
        m.assign(self.d, np.uint32((m.holds(self.condition) & active).sum()), active)
        return active


@dataclass(frozen=True)
class Shuffle:
    """Read a variable of another lane where that lane is here, else one's own."""

    mode: str
    d: int
    a: int
    b: tuple

    def legal(self, where):
        return [self] if where.sync else []

    def emit(self, p):
        there, got, source, t, q = p.new("m"), p.new("t"), p.new("t"), p.new("t"), p.new("p")
        b = p.value(self.b)
        p.put(f"setp.eq.u32 {q}, 0, 0;", f"vote.sync.ballot.b32 {there}, {q}, {p.mask};")
        p.put(f"shfl.sync.{self.mode}.b32 {got}|{q}, %v{self.a}, {b}, {0 if self.mode == 'up' else 31}, {p.mask};")
        move = {"up": "sub.u32", "down": "add.u32", "bfly": "xor.b32"}.get(self.mode)
        p.put(f"and.b32 {t}, {b}, 31;", f"mov.u32 {source}, %laneid;")
        p.put(f"{move} {source}, {source}, {t};" if move else f"mov.u32 {source}, {t};")
        p.put(f"and.b32 {source}, {source}, 31;", f"shr.u32 {t}, {there}, {source};", f"and.b32 {t}, {t}, 1;")
        also = p.new("p")
        p.put(f"setp.ne.and.u32 {also}, {t}, 0, {q};", f"selp.b32 %v{self.d}, {got}, %v{self.a}, {also};")

    def run(self, m, active):
        amount = (m.value(self.b) & np.uint32(31)).astype(int)
        lane = m.lane
        source = {"up": lane - amount, "down": lane + amount, "bfly": lane ^ amount, "idx": amount}[self.mode]
        thread = np.arange(m.n) - lane + source
        good = (source >= 0) & (source < 32) & (thread < m.n)
        thread = np.where(good, thread, np.arange(m.n))
        good &= active[thread]
        m.assign(self.d, np.where(good, m.v[self.a][thread], m.v[self.a]), active)
        return active


@dataclass(frozen=True)
class Vote:
    """One of ballot, any, all, match, sum, largest over the lanes that are here."""

    what: str
    d: int
    condition: tuple
    a: int

    def legal(self, where):
        return [self] if where.sync else []

    def emit(self, p):
        q = p.compare(self.condition)
        if self.what == "ballot":
            p.put(f"vote.sync.ballot.b32 %v{self.d}, {q}, {p.mask};")
        elif self.what in ("any", "all", "uni"):
            p.put(f"vote.sync.{self.what}.pred {q}, {q}, {p.mask};", f"selp.u32 %v{self.d}, 77, 5, {q};")
        elif self.what == "match":
            p.put(f"and.b32 %v{self.d}, %v{self.a}, 3;", f"match.any.sync.b32 %v{self.d}, %v{self.d}, {p.mask};")
        else:
            p.put(f"redux.sync.{self.what} %v{self.d}, %v{self.a}, {p.mask};")

    def run(self, m, active):
        holds = m.holds(self.condition)
        result = np.zeros(m.n, np.uint32)
        for first, mask in m.warps(active):
            here = [first + n for n in range(32) if mask >> n & 1]
            yes = [n for n in here if holds[n]]
            for n in here:
                result[n] = self._one(m, n, here, yes)
        m.assign(self.d, result, active)
        return active

    def _one(self, m, n, here, yes):
        if self.what == "ballot":
            return sum(1 << (k % 32) for k in yes)
        if self.what in ("any", "all", "uni"):
            return 77 if {"any": bool(yes), "all": yes == here, "uni": yes in ([], here)}[self.what] else 5
        values = m.v[self.a]
        if self.what == "match":
            return sum(1 << (k % 32) for k in here if values[k] & 3 == values[n] & 3)
        if self.what == "add.u32":
            return sum(int(values[k]) for k in here) & 0xFFFFFFFF
        return max(int(values[k].view(np.int32)) for k in here) & 0xFFFFFFFF


@dataclass(frozen=True)
class Atomic:
    op: str
    space: str
    index: int
    a: int

    def _first(self):
        """Each operation has counters of its own, because different ones do not commute."""
        return WIDTH * sorted(ATOMIC).index(self.op)

    def legal(self, where):
        return [self]

    def emit(self, p):
        t = p.new("t")
        p.put(
            f"and.b32 {t}, %v{self.index}, {WIDTH - 1};", f"add.u32 {t}, {t}, {self._first()};", f"shl.b32 {t}, {t}, 2;"
        )
        kind = "b32" if self.op in ("xor", "or") else "u32"
        if self.space == "shared":
            base = p.new("t")
            p.put(
                f"mov.u32 {base}, counters;",
                f"add.u32 {t}, {t}, {base};",
                f"red.shared.{self.op}.{kind} [{t}], %v{self.a};",
            )
        else:
            d, unused = p.new("d"), p.new("t")
            p.put(f"cvt.u64.u32 {d}, {t};", f"add.s64 {d}, {d}, %total;")
            p.put(f"atom.global.{self.op}.{kind} {unused}, [{d}], %v{self.a};")

    def run(self, m, active):
        where = m.counters if self.space == "shared" else m.total
        index = (m.v[self.index] & np.uint32(WIDTH - 1)).astype(int) + self._first()
        ATOMIC[self.op].at(where, index[active], m.v[self.a][active])
        return active


@dataclass(frozen=True)
class Local:
    """Write an element of the thread's local array, read another."""

    d: int
    a: int
    b: int

    def legal(self, where):
        return [self]

    def emit(self, p):
        for register, access in ((self.a, "st"), (self.b, "ld")):
            d, t, base = p.new("d"), p.new("t"), p.new("d")
            p.put(f"and.b32 {t}, %v{register}, 3;", f"mul.wide.u32 {d}, {t}, 4;", f"mov.u64 {base}, array;")
            p.put(f"add.s64 {d}, {d}, {base};")
            p.put(f"st.local.u32 [{d}], %v{self.b};" if access == "st" else f"ld.local.u32 %v{self.d}, [{d}];")

    def run(self, m, active):
        threads = np.arange(m.n)
        at = (m.v[self.a] & np.uint32(3)).astype(int)
        m.local[threads, at] = np.where(active, m.v[self.b], m.local[threads, at])
        m.assign(self.d, m.local[threads, (m.v[self.b] & np.uint32(3)).astype(int)], active)
        return active


@dataclass(frozen=True)
class Call:
    """Call a function that loops and branches by its argument."""

    d: int
    a: int

    def legal(self, where):
        return [self]

    def emit(self, p):
        p.put("{ .param .b32 given; .param .b32 taken;", f"st.param.b32 [given], %v{self.a};")
        p.put("call.uni (taken), collatz, (given);", f"ld.param.b32 %v{self.d}, [taken]; }}")

    def run(self, m, active):
        x = m.v[self.a].copy()
        for _ in range(5):
            odd = (x & np.uint32(1)) == 1
            x = np.where(x == 0, x, np.where(odd, x * np.uint32(3) + np.uint32(1), x >> np.uint32(1)))
        m.assign(self.d, x, active)
        return active


COLLATZ = """
.func (.param .b32 result) collatz(.param .b32 x) {
  .reg .b32 %r<6>; .reg .pred %p<4>;
  ld.param.b32 %r1, [x]; mov.u32 %r2, 5;
  AGAIN: setp.eq.u32 %p1, %r2, 0; @%p1 bra DONE; setp.eq.u32 %p2, %r1, 0; @%p2 bra DONE;
  sub.u32 %r2, %r2, 1; and.b32 %r3, %r1, 1; setp.ne.u32 %p3, %r3, 0; @%p3 bra ODD;
  shr.u32 %r1, %r1, 1; bra AGAIN;
  ODD: mad.lo.u32 %r1, %r1, 3, 1; bra AGAIN;
  DONE: st.param.b32 [result], %r1; ret;
}
"""


def leaving(statements) -> list[type]:
    """The breaks and continues that leave or restart the loop around `statements`."""
    found: list[type] = []
    for s in statements:
        if isinstance(s, Break):
            found.append(type(s))
        elif isinstance(s, If):
            found += leaving(s.then) + leaving(s.otherwise)
        elif isinstance(s, Switch):
            found += [k for case in s.cases for k in leaving(case)]
    return found


def legal(statements, where=None) -> tuple:
    """Drop what is not defined where it stands: barriers in divergent flow, masks that nobody knows."""
    where = where or Where()
    kept: list = []
    for s in statements:
        kept += s.legal(where)
        if not isinstance(s, Break) and leaving([s]):
            where = Where(False, False, where.loop)  # some lanes have left unseen
    return tuple(kept)


@dataclass(frozen=True)
class Program:
    statements: tuple

    def ptx(self) -> str:
        p = Printer(mask="%here")
        p.put("setp.eq.u32 %true, 0, 0;", "vote.sync.ballot.b32 %here, %true, -1;")
        for s in self.statements:
            s.emit(p)
        body = "\n  ".join(p.declared + p.lines)
        loads = "\n".join(f"  ld.global.u32 %v{n}, [%mine+{4 * n}];" for n in range(VARIABLES))
        stores = "\n".join(f"  st.global.u32 [%out+{4 * n}], %v{n};" for n in range(VARIABLES))
        clear = "\n".join(f"  @%first st.shared.u32 [counters+{4 * n}], {INITIAL + n};" for n in range(COUNTERS))
        report = "\n".join(
            f"  @%first ld.shared.u32 %linear, [counters+{4 * n}]; @%first st.global.u32 [%perblock+{4 * n}], %linear;"
            for n in range(COUNTERS)
        )
        return f""".version 8.0
.target sm_80
.address_size 64
{COLLATZ}
.visible .entry program(.param .u64 in, .param .u64 out, .param .u64 blocks, .param .u64 total) {{
  .reg .b32 %v<{VARIABLES}>; .reg .b32 %x<9>; .reg .b32 %linear, %threads, %here; .reg .b64 %mine, %out, %perblock, %total, %y;
  .reg .pred %first, %true; .shared .align 4 .b32 slots[1024]; .shared .align 4 .b32 counters[{COUNTERS}];
  .local .align 4 .b32 array[4];
  mov.u32 %x0, %tid.x; mov.u32 %x1, %tid.y; mov.u32 %x2, %tid.z; mov.u32 %x3, %ntid.x; mov.u32 %x4, %ntid.y;
  mov.u32 %x5, %ntid.z; mad.lo.u32 %linear, %x2, %x4, %x1; mad.lo.u32 %linear, %linear, %x3, %x0;
  mul.lo.u32 %threads, %x3, %x4; mul.lo.u32 %threads, %threads, %x5;
  mov.u32 %x6, %ctaid.x; mad.lo.u32 %x7, %x6, %threads, %linear;
  ld.param.u64 %mine, [in]; ld.param.u64 %out, [out]; ld.param.u64 %perblock, [blocks]; ld.param.u64 %total, [total];
  mul.wide.u32 %y, %x7, {4 * VARIABLES}; add.s64 %mine, %mine, %y; add.s64 %out, %out, %y;
  mul.wide.u32 %y, %x6, {4 * COUNTERS}; add.s64 %perblock, %perblock, %y;
{loads}
  setp.eq.u32 %first, %linear, 0;
{clear}
  shl.b32 %x8, %linear, 2; mov.u32 %x0, slots; add.u32 %x8, %x8, %x0; st.shared.u32 [%x8], 0;
  st.local.u32 [array], 0; st.local.u32 [array+4], 0; st.local.u32 [array+8], 0; st.local.u32 [array+12], 0;
  bar.sync 0;
  {body}
{stores}
  bar.sync 0;
{report}
  ret;
}}
"""

    def compute(self, blocks: int, threads: int, inputs):
        """Return what the buffers out, blocks and total hold at the end."""
        out = np.zeros((blocks, threads, VARIABLES), np.uint32)
        per_block = np.zeros((blocks, COUNTERS), np.uint32)
        total = INITIAL + np.arange(COUNTERS, dtype=np.uint32)
        for b in range(blocks):
            m = Model(threads, b, inputs[b].T, total)
            m.run(self.statements, np.ones(threads, bool))
            out[b] = np.where(m.ended[:, None], out[b], np.stack(m.v, axis=1))
            if not m.ended[0]:
                per_block[b] = m.counters
        return out, per_block, total


# --- making them at random ----------------------------------------------------------------------------------------------

variable = st.integers(0, VARIABLES - 1)
constant = st.one_of(st.integers(0, 8), st.sampled_from([31, 32, 255, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 12345]))
operand = st.one_of(st.tuples(st.just("v"), variable), st.tuples(st.just("c"), constant))
condition = st.one_of(
    st.tuples(st.sampled_from("us"), st.sampled_from(sorted(COMPARE)), variable, operand),
    st.tuples(st.just("block"), st.sampled_from(["eq", "ne"]), st.just(0), st.tuples(st.just("c"), st.integers(0, 1))),
)
assign = st.builds(Assign, st.sampled_from(sorted(BINARY)), variable, st.tuples(st.just("v"), variable), operand)
shuffle_amount = st.one_of(st.tuples(st.just("c"), st.integers(0, 31)), st.tuples(st.just("v"), variable))


def _shuffles():
    # up, down and bfly by a variable amount would have each lane look elsewhere, which is fine for them too
    return st.builds(Shuffle, st.sampled_from(["up", "down", "bfly", "idx"]), variable, variable, shuffle_amount)


simple = st.one_of(
    assign,
    assign,
    st.builds(Scale, variable, variable),
    st.builds(Break, condition),
    st.builds(Continue, condition),
    st.builds(Leave, condition, st.sampled_from(["exit", "ret"])),
    st.builds(Exchange, variable, variable, st.integers(0, 70), st.booleans()),
    st.builds(Count, variable, condition),
    _shuffles(),
    st.builds(
        Vote,
        st.sampled_from(["ballot", "any", "all", "uni", "match", "add.u32", "max.s32"]),
        variable,
        condition,
        variable,
    ),
    st.builds(Atomic, st.sampled_from(sorted(ATOMIC)), st.sampled_from(["shared", "global"]), variable, variable),
    st.builds(Local, variable, variable, variable),
    st.builds(Call, variable, variable),
)


trips = st.one_of(st.tuples(st.just("c"), st.integers(0, 4)), st.tuples(st.just("v"), variable))
KINDS = st.sampled_from(["simple"] * 5 + ["if", "if", "loop", "loop", "switch"])


@st.composite
def bodies(draw, depth: int, least: int, most: int):
    """A list of statements nested at most `depth` deep."""
    return tuple(draw(statements(depth)) for _ in range(draw(st.integers(least, most))))


@st.composite
def statements(draw, depth: int):
    kind = draw(KINDS) if depth else "simple"
    if kind == "if":
        return If(draw(condition), draw(bodies(depth - 1, 1, 3)), draw(bodies(depth - 1, 0, 2)))
    if kind == "loop":
        return Loop(draw(trips), draw(bodies(depth - 1, 1, 4)))
    if kind == "switch":
        return Switch(draw(variable), tuple(draw(bodies(depth - 1, 0, 2)) for _ in range(4)))
    return draw(simple)


programs = bodies(3, 2, 6).map(lambda s: Program(legal(s)))
