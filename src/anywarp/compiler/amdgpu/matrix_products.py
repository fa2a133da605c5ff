"""One matrix product by matrix instructions: fragments to the instruction's layout, the instructions, and sums back.

An instruction of 64 lanes computes for both warps of a wave: 8 rows of A of each warp by 8 columns of B of each, of which the two
blocks that belong together are kept. B goes in as the first factor (the product is the transposed one), as then each lane's
results are neighbours in a row, as in CUDA's fragments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from anywarp.compiler.amdgpu.matrix_convert import convert, halves_of_bytes, is_unsigned
from anywarp.compiler.amdgpu.matrix_moves import Mover, Target
from anywarp.compiler.amdgpu.matrix_units import SIDE, Choice
from anywarp.compiler.simd.text import Text
from anywarp.ptx.isa.matrix_forms import WARP, Product, element, per_register

Place = Callable[[int, int], "tuple[int, int]"]
"""Where unit number u of row (column) i lies: (register, lane). A unit is what one register holds of a row of A or column of B."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """One operand in its lanes: names of i32 registers (f64: pairs, low half first), and where units lie; `units` per row."""

    registers: tuple[str, ...]
    place: Place
    units: int
    kind: str


class Multiply:
    """One product under construction. `t` receives code that every lane of the wave executes, whether it is on or not."""

    def __init__(self, t: Text, p: Product, choice: Choice, lane: str) -> None:
        self.t, self.p, self.choice, self.unit = t, p, choice, choice.unit
        self.wave = self.unit.wave
        self.mover = Mover(t, self.wave, self.wave, lane)
        self.words = 2 if self.unit.held == "f64" else 1
        self.high = 8 if self.wave == 64 else SIDE
        """Rows of a warp's A in one instruction, at most; likewise columns of B."""

    # --- which row and column of which warp an index means --------------------------------------------------------------

    def groups(self, size: int) -> int:
        """How many groups of rows or columns there are."""
        return max(1, size // self.high)

    def swapped(self, side: str, group: int) -> bool:
        """Whether the warps change places on this side: then every second instruction fills the blocks that the other leaves."""
        turns = "a" if self.p.m >= SIDE else "b"
        return self.wave == 64 and side == turns and group % 2 == 1

    def decode(self, side: str, group: int, index: int) -> tuple[int, int]:
        """Return (warp, row or column) for index 0..15 of an instruction's factor."""
        size = self.p.m if side == "a" else self.p.n
        if self.wave == 64:
            return index // 8 ^ int(self.swapped(side, group)), 8 * group + index % 8
        if side == "b":
            index = self._spread(index)
        return 0, (SIDE * group + index) % size

    def _spread(self, index: int) -> int:
        """Order the columns so that bits 0 and 1 of their number are bits of D's register, and bit 2 is the lane's."""
        if self.unit.rows == "pairs":  # row 2r + h: h is bit 2, r holds bits 0, 1, 3
            low, high = index & 1, index >> 1
        else:  # row 8h + r
            low, high = index >> 3, index & 7
        return low << 2 | high & 3 | (high >> 2) << 3

    # --- factors ----------------------------------------------------------------------------------------------------------

    def factor(self, side: str, f: Fragment, group: int) -> list[list[str]]:
        """Return the instruction's registers for a factor: for each variant (of unsigned bytes there are two) all along k."""
        unit = self.unit
        count = f.units // unit.groups
        targets: list[Target] = []
        for k in range(count):
            target: list[tuple[int, int]] = []
            for lane in range(self.wave):
                warp, index = self.decode(side, group, lane % SIDE)
                place = f.place(index, unit.groups * k + lane // SIDE % unit.groups)
                target.append((place[0], WARP * warp + place[1]))
            targets.append(tuple(target))
        moved = [self.mover.move(targets, f.registers[w :: self.words]) for w in range(self.words)]
        words = [moved[w][k] for k in range(count) for w in range(self.words)]
        parts = [part for word in words for part in convert(self.t, self.choice.split, f.kind, word)]
        if unit.element == "s8" and self.choice.split != "nibbles" and is_unsigned(f.kind):
            return [list(x) for x in zip(*(halves_of_bytes(self.t, x) for x in parts), strict=True)]
        return [parts]

    def operand(self, words: Sequence[str]) -> str:
        """Join 32-bit registers into an operand; those that lack are zero."""
        t, type = self.t, self.unit.operand
        count = self.unit.registers * self.words
        words = [*words, *["0"] * (count - len(words))]
        if count == 1:
            return words[0] if type == "i32" else t.cast("bitcast", "i32", words[0], type)
        vector = "poison"
        for n, word in enumerate(words):
            vector = t.let(f"insertelement <{count} x i32> {vector}, i32 {word}, i32 {n}")
        return vector if type == f"<{count} x i32>" else t.cast("bitcast", f"<{count} x i32>", vector, type)

    # --- the instruction ----------------------------------------------------------------------------------------------------

    @property
    def sums(self) -> str:
        """The LLVM type of D."""
        return f"<{self.unit.results} x {self.scalar}>"

    @property
    def scalar(self) -> str:
        """The LLVM type of a sum."""
        return {"f32": "float", "f64": "double"}.get(self.unit.held, "i32")

    def instruction(self, b: str, a: str, total: str) -> str:
        """Return D of one instruction: `b` is the first factor."""
        u, sums = self.unit, (self.sums, total)
        if u.form == "mfma":
            control = [("i32", "0")] * 3
            return self.t.call(self.sums, u.intrinsic, (u.operand, b), (u.operand, a), sums, *control)
        if u.form == "wmma":
            return self.t.call(self.sums, u.intrinsic, (u.operand, b), (u.operand, a), sums)
        signs = [("i1", "false" if is_unsigned(kind) else "true") for kind in (self.p.b, self.p.a)]
        last = ("i1", "false")
        return self.t.call(self.sums, u.intrinsic, signs[0], (u.operand, b), signs[1], (u.operand, a), sums, last)

    def block(
        self, a: Sequence[Sequence[str]], b: Sequence[Sequence[str]], start: str = "zeroinitializer"
    ) -> list[str]:
        """Return the registers of D for factors given by their variants, added to `start`."""
        step = self.unit.registers * self.words
        by_weight: dict[int, str] = {}
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                total = by_weight.get(i + j, start)
                for k in range(0, len(x), step):
                    total = self.instruction(self.operand(y[k : k + step]), self.operand(x[k : k + step]), total)
                by_weight[i + j] = total
        return self._weighted(by_weight)

    def _weighted(self, by_weight: dict[int, str]) -> list[str]:
        """Add up sums of the lower seven bits and of the top bit of unsigned bytes, which counts 128."""
        t, out = self.t, list[str]()
        for r in range(self.unit.results):
            whole = ""
            for weight, vector in by_weight.items():
                part = t.let(f"extractelement {self.sums} {vector}, i32 {r}")
                if weight:
                    part = t.two("shl", "i32", part, str(7 * weight))
                whole = part if not whole else t.two("add", "i32", whole, part)
            out.append(whole)
        return out

    # --- the whole ------------------------------------------------------------------------------------------------------------

    def run(self, a: Fragment, b: Fragment) -> list[str]:
        """Return A B as registers of i32 (pairs for f64), each element of D's fragment in one: register, part after part."""
        p = self.p
        left = [self.factor("a", a, g) for g in range(self.groups(p.m))]
        right = [self.factor("b", b, g) for g in range(self.groups(p.n))]
        found: list[str] = []
        number: dict[tuple[int, int], int] = {}
        for i, x in enumerate(left):
            for j, y in enumerate(right):
                number[i, j] = len(found)
                found += self.block(x, y)
        targets = [self._target(n, number) for n in range(p.distinct("d") * per_register(p.d))]
        return self._back(targets, found)

    def _back(self, targets: Sequence[Target], found: Sequence[str]) -> list[str]:
        t = self.t
        if self.words == 1:
            words = [x if self.scalar == "i32" else t.cast("bitcast", self.scalar, x, "i32") for x in found]
            return self.mover.move(targets, words)
        pairs = [t.cast("bitcast", "double", x, "<2 x i32>") for x in found]
        halves = [
            self.mover.move(targets, [t.let(f"extractelement <2 x i32> {x}, i32 {w}") for x in pairs]) for w in (0, 1)
        ]
        return [word for both in zip(*halves, strict=True) for word in both]

    def _target(self, number: int, blocks: dict[tuple[int, int], int]) -> Target:
        """Return where the lanes find element `number` of what they hold of D."""
        p, packed = self.p, per_register(self.p.d)
        out: list[tuple[int, int]] = []
        for lane in range(self.wave):
            _, row, column = element(p, p.d, number // packed, lane % WARP, number % packed)
            out.append(self._found(lane // WARP, row, column, blocks))
        return tuple(out)

    def _found(self, warp: int, row: int, column: int, blocks: dict[tuple[int, int], int]) -> tuple[int, int]:
        groups = (row // self.high % self.groups(self.p.m), column // self.high % self.groups(self.p.n))
        j = self._index("a", groups[0], warp, row)
        i = self._index("b", groups[1], warp, column)
        for group in range(self.wave // SIDE):
            for register in range(self.unit.results):
                if self.unit.row(SIDE * group, register) == i:
                    return blocks[groups] + register, SIDE * group + j
        raise AssertionError("every row is somewhere")

    def _index(self, side: str, group: int, warp: int, which: int) -> int:
        return next(n for n in range(SIDE) if self.decode(side, group, n) == (warp, which))

    # --- sums that stay where the instruction leaves them -----------------------------------------------------------------

    @cached_property
    def _held(self) -> tuple[tuple[Target, ...], tuple[int, ...], tuple[int, ...]]:
        """Where the lanes find D's elements, as (register held, lane); which registers are held; whose block counts in a lane.

        All blocks of a product hold theirs in the same registers: each lane counts in one of them only.
        """
        p = self.p
        blocks = {
            (i, j): self.unit.results * (i * self.groups(p.n) + j)
            for i in range(self.groups(p.m))
            for j in range(self.groups(p.n))
        }
        targets = [self._target(n, blocks) for n in range(p.distinct("d") * per_register(p.d))]
        used = sorted({register % self.unit.results for target in targets for register, _ in target})
        owner = [0] * self.wave
        for target in targets:
            for register, lane in target:
                owner[lane] = register // self.unit.results
        places = {register: n for n, register in enumerate(used)}
        out = tuple(tuple((places[r % self.unit.results], lane) for r, lane in target) for target in targets)
        return out, tuple(used), tuple(owner)

    def accumulate(self, a: Fragment, b: Fragment, sums: Sequence[str]) -> list[str]:
        """Return A B + C in the instruction's places; `sums` are C's registers there, of D's scalar type."""
        p = self.p
        _, used, owner = self._held
        start = "zeroinitializer" if set(sums) <= {"0", "0.0", "0x0000000000000000"} else self._vector(used, sums)
        left = [self.factor("a", a, g) for g in range(self.groups(p.m))]
        right = [self.factor("b", b, g) for g in range(self.groups(p.n))]
        found = [self.block(x, y, start) for x in left for y in right]
        return [self.mover.choose(owner, [one[r] for one in found], self.scalar) for r in used]

    def _vector(self, used: Sequence[int], sums: Sequence[str]) -> str:
        vector = "zeroinitializer" if len(used) < self.unit.results else "poison"
        for register, value in zip(used, sums, strict=True):
            vector = self.t.let(f"insertelement {self.sums} {vector}, {self.scalar} {value}, i32 {register}")
        return vector

    def from_places(self, words: Sequence[str]) -> list[str]:
        """Return D's fragment, as i32, of registers held in the instruction's places."""
        return self.mover.move(self._held[0], words)

    def to_places(self, words: Sequence[str]) -> list[str]:
        """Return the registers held in the instruction's places, as i32, of a fragment."""
        targets, used, _ = self._held
        found = {place: (n, lane) for n, target in enumerate(targets) for lane, place in enumerate(target)}
        return self.mover.move([tuple(found[r, lane] for lane in range(self.wave)) for r in range(len(used))], words)
