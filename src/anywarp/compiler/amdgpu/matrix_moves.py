"""Moving registers between the lanes of a wave: which value each lane gets from which lane, in as few moves as possible.

A move lets every lane read one register of one other lane, but each lane offers only one register per move. What offers conflict
is spread over moves by colours that are linear in the lane's bits: fragments of matrices are permutations of such bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from anywarp.compiler.simd.text import Text

Target: TypeAlias = "tuple[tuple[int, int], ...]"
"""For each lane the (register, lane) whose value it gets."""


@dataclass(frozen=True, slots=True)
class Move:
    """Lane l offers its register `offered[l]` and reads what lane `lanes[l]` offers."""

    offered: tuple[int, ...]
    lanes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Moves, and for each target which of them each lane keeps."""

    moves: tuple[Move, ...]
    kept: tuple[tuple[int, ...], ...]


@cache
def plan(targets: tuple[Target, ...]) -> Plan:
    """Return moves that give all targets their values. All targets name the same number of lanes, a power of two."""
    moves: list[Move] = []
    kept: list[tuple[int, ...]] = []
    simple = [all(r == target[0][0] for r, _ in target) for target in targets]
    rest = [t for t, plain in zip(targets, simple, strict=True) if not plain]
    colours = _colours(rest) if rest else None
    if colours is None:
        for target in targets:
            kept.append(_one_per_register(target, moves))
        return Plan(tuple(moves), tuple(kept))
    made = [_coloured(rest, colours, c) for c in range(_power(len(rest)))]
    first = len(moves)
    moves += [m for m in made if m is not None]
    number = {c: first + n for n, c in enumerate(c for c, m in enumerate(made) if m is not None)}
    place = 0
    for target, plain in zip(targets, simple, strict=True):
        if plain:
            kept.append(_one_per_register(target, moves))
        else:
            kept.append(tuple(number[place ^ f] for f in colours))
            place += 1
    return Plan(tuple(moves), tuple(kept))


def _power(count: int) -> int:
    return 1 << (count - 1).bit_length() if count > 1 else 1


def _one_per_register(target: Target, moves: list[Move]) -> tuple[int, ...]:
    """One move for each register that the target reads: always possible."""
    number: dict[int, int] = {}
    for register in dict.fromkeys(r for r, _ in target):
        number[register] = len(moves)
        moves.append(Move((register,) * len(target), tuple(lane for _, lane in target)))
    return tuple(number[r] for r, _ in target)


def _colours(targets: Sequence[Target]) -> tuple[int, ...] | None:
    """Find for each lane a number f so that colour (target ^ f) lets no lane offer two registers; linear in the lane's bits."""
    lanes, most = len(targets[0]), _power(len(targets))
    offers: dict[tuple[int, int], int] = {}

    def enter(first: int, last: int, f: list[int]) -> list[tuple[int, int]] | None:
        made: list[tuple[int, int]] = []
        for lane in range(first, last):
            for number, target in enumerate(targets):
                register, source = target[lane]
                key = (number ^ f[lane], source)
                if key not in offers:
                    offers[key] = register
                    made.append(key)
                elif offers[key] != register:
                    for one in made:
                        del offers[one]
                    return None
        return made

    def search(done: int, f: list[int]) -> list[int] | None:
        if done == lanes:
            return f
        for mask in range(most):
            longer = f + [x ^ mask for x in f]
            made = enter(done, 2 * done, longer)
            if made is None:
                continue
            found = search(2 * done, longer)
            if found is not None:
                return found
            for one in made:
                del offers[one]
        return None

    if enter(0, 1, [0]) is None:
        return None
    found = search(1, [0])
    return None if found is None else tuple(found)


def _coloured(targets: Sequence[Target], colours: Sequence[int], colour: int) -> Move | None:
    lanes = len(colours)
    offered: dict[int, int] = {}
    read: dict[int, int] = {}
    for lane in range(lanes):
        number = colour ^ colours[lane]
        if number < len(targets):
            register, source = targets[number][lane]
            offered[source] = register
            read[lane] = source
    if not read:
        return None
    return Move(_filled(offered, lanes), _filled(read, lanes))


def _filled(known: dict[int, int], lanes: int) -> tuple[int, ...]:
    """Give lanes that do not matter the number that a lane differing in one bit has, so that patterns stay simple."""
    out = dict(known)
    while len(out) < lanes:
        for lane in range(lanes):
            near = [lane ^ 1 << b for b in reversed(range(lanes.bit_length() - 1))]
            if lane not in out:
                found = next((out[n] for n in near if n in out), None)
                if found is not None:
                    out[lane] = found
    return tuple(out[lane] for lane in range(lanes))


# --- the code of a plan -------------------------------------------------------------------------------------------------


class Mover:
    """Emits plans into `t` for groups of `lanes` lanes of a wave of `wave`.

    `lane` is the number of a lane within its group, and `base` that of the group's first lane in the wave ("0" for the whole wave).
    """

    def __init__(self, t: Text, wave: int, lanes: int, lane: str, base: str = "0") -> None:
        self.t, self.wave, self.lanes, self.lane, self.base = t, wave, lanes, lane, base
        self._known: dict[object, str] = {}

    def _once(self, key: object, make: Callable[[], str]) -> str:
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def move(self, targets: Sequence[Target], registers: Sequence[str]) -> list[str]:
        """Return i32 names of the targets' values, given the names of i32 registers."""
        found = plan(tuple(targets))
        moved = [self._moved(m, registers) for m in found.moves]
        return [self.choose(kept, moved) for kept in found.kept]

    def _moved(self, move: Move, registers: Sequence[str]) -> str:
        value = self.choose(move.offered, registers)
        if move.lanes == tuple(range(self.lanes)):
            return value
        return self.read_lane(move.lanes, value)

    def read_lane(self, lanes: Sequence[int], value: str) -> str:
        """Return what lane `lanes[l]` of the group has in `value`."""
        address = self.address(tuple(lanes))
        make = lambda: self.t.call("i32", "llvm.amdgcn.ds.bpermute", ("i32", address), ("i32", value))  # noqa: E731
        return self._once(("moved", address, value), make)

    def address(self, lanes: tuple[int, ...]) -> str:
        """Return four times the lane to read, as `ds_bpermute_b32` wants it."""

        def make() -> str:
            inside = self.number(tuple(4 * lane for lane in lanes))
            if self.base == "0":
                return inside
            base = self._once("base", lambda: self.t.two("shl", "i32", self.base, "2"))
            return self.t.two("or", "i32", base, inside)

        return self._once(("address", lanes), make)

    def number(self, table: tuple[int, ...]) -> str:
        """Return `table[lane]`: an exclusive or of shifted parts of the lane's number, as fragments are laid out."""
        return self._once(("number", table), lambda: self._number(table))

    def _number(self, table: tuple[int, ...]) -> str:
        t = self.t
        bits = range(self.lanes.bit_length() - 1)
        basis = [table[1 << b] ^ table[0] for b in bits]
        shifts: dict[int, int] = {}
        for b, image in zip(bits, basis, strict=True):
            for place in range(image.bit_length()):
                if image >> place & 1:
                    shifts[place - b] = shifts.get(place - b, 0) | 1 << b
        total = str(table[0]) if table[0] else ""
        for shift, mask in sorted(shifts.items()):
            part = t.two("and", "i32", self.lane, str(mask))
            if shift:
                part = t.two("shl" if shift > 0 else "lshr", "i32", part, str(abs(shift)))
            total = part if not total else t.two("xor", "i32", total, part)
        for lane, wanted in enumerate(table):
            image = table[0]
            for b in bits:
                image ^= basis[b] if lane >> b & 1 else 0
            if image != wanted:
                raise ValueError("a table that is not linear in the lane's bits")
        return total or "0"

    def choose(self, which: Sequence[int], values: Sequence[str], type: str = "i32") -> str:
        """Return in lane l `values[which[l]]`, by selects on constant masks."""
        table: list[int | None] = list(which)
        return self._choose(table, values, type)

    def _choose(self, table: list[int | None], values: Sequence[str], type: str) -> str:
        names = list(dict.fromkeys(x for x in table if x is not None))
        if len(names) == 1:
            return values[names[0]]
        mask, low, high = _split(tuple(table))
        a, b = self._choose(list(low), values, type), self._choose(list(high), values, type)
        return a if a == b else self._select(mask, type, b, a)

    def _select(self, mask: int, type: str, a: str, b: str) -> str:
        """Return `a` in the lanes of the mask, else `b`."""
        whole = mask | mask << self.lanes if self.lanes < self.wave else mask
        return self._once(("select", mask, a, b), lambda: self.t.pick(0, self.condition(whole), type, a, b))

    def condition(self, mask: int) -> str:
        """Return an i1 that holds in the wave's lanes whose bit is set."""
        word = f"i{self.wave}"
        bits = mask - (1 << self.wave) if mask >> (self.wave - 1) else mask
        name = f"llvm.amdgcn.inverse.ballot.{word}"
        return self._once(("mask", mask), lambda: self.t.call("i1", name, (word, str(bits))))


Table: TypeAlias = "tuple[int | None, ...]"


@cache
def _parities(lanes: int) -> tuple[int, ...]:
    """Masks of lanes in which some bits of the lane's number have an odd sum; single bits first."""
    order = sorted(range(1, lanes), key=lambda x: (x.bit_count(), -x))
    return tuple(sum(1 << lane for lane in range(lanes) if (lane & bits).bit_count() % 2) for bits in order)


@cache
def _split(table: Table) -> tuple[int, Table, Table]:
    """Split a table by a mask into two with fewer values, as evenly as can be: (mask, lanes outside it, lanes in it)."""
    best: tuple[int, int] | None = None
    total = len({x for x in table if x is not None})
    for mask in _parities(len(table)):
        counts = [len({x for x in part if x is not None}) for part in _parts(table, mask)]
        if 0 not in counts and (best is None or max(counts) + sum(counts) < best[0]):
            best = (max(counts) + sum(counts), mask)
    if best is not None and best[0] < 3 * total:
        return best[1], *_parts(table, best[1])
    one = next(x for x in table if x is not None)
    mask = sum(1 << lane for lane, x in enumerate(table) if x == one)
    return mask, *_parts(table, mask)


def _parts(table: Table, mask: int) -> tuple[Table, Table]:
    low = tuple(None if mask >> lane & 1 else x for lane, x in enumerate(table))
    return low, tuple(x if mask >> lane & 1 else None for lane, x in enumerate(table))
