"""Matrix products by ordinary instructions: each lane computes its elements of D from rows and columns that it reads from others.

It is the way where an architecture multiplies no matrices of a type: exact for integers, one fused step per product for floats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from anywarp.compiler.amdgpu.matrix_convert import is_unsigned, small_pair
from anywarp.compiler.amdgpu.matrix_moves import Mover
from anywarp.compiler.simd.text import Text
from anywarp.ptx.isa.matrix_forms import WARP, WIDTH, Product, element, per_register

Where = Callable[[int, int, int], "tuple[int, int, int]"]
"""(register, lane, part) of an element of A or B, given (product, row or column, k)."""


class SoftwareProduct:
    """One product. `registers` are names of i32 (f64: double) by side, `where` says how they lie; `mover` serves one warp."""

    def __init__(
        self, t: Text, p: Product, mover: Mover, registers: Mapping[str, Sequence[str]], where: Mapping[str, Where]
    ) -> None:
        self.t, self.p, self.mover, self.registers, self.where = t, p, mover, registers, where
        self._parts: dict[tuple[str, str], list[str]] = {}

    @property
    def scalar(self) -> str:
        """The LLVM type of a sum."""
        return "i32" if self.p.integer else "double" if self.p.d == "f64" else "float"

    def run(self, start: Sequence[str]) -> list[str]:
        """Return the sums of each element of D (register, part after part), added to `start`."""
        packed = per_register(self.p.d)
        return [self._sum(n // packed, n % packed, total) for n, total in enumerate(start)]

    def _sum(self, register: int, part: int, total: str) -> str:
        p, step = self.p, per_register(self.p.a) if self.p.a == "b1" else 1
        places = [element(p, p.d, register, lane, part) for lane in range(WARP)]
        for k in range(0, p.k, step):
            a = [self.where["a"](w, row, k) for w, row, _ in places]
            b = [self.where["b"](w, column, k) for w, _, column in places]
            total = self._step(total, self.value("a", a), self.value("b", b))
        return total

    def _step(self, total: str, a: str, b: str) -> str:
        t = self.t
        if self.p.a == "b1":
            both = t.two("and" if self.p.combine == "and" else "xor", "i32", a, b)
            return t.two("add", "i32", total, t.call("i32", "llvm.ctpop.i32", ("i32", both)))
        if self.scalar == "i32":
            return t.two("add", "i32", total, t.two("mul", "i32", a, b))
        type = self.scalar
        name = f"llvm.fma.{'f64' if type == 'double' else 'f32'}"
        return t.call(type, name, (type, a), (type, b), (type, total))

    def value(self, side: str, places: Sequence[tuple[int, int, int]]) -> str:
        """Return in each lane the element of a side that lies at its place, as it is computed with."""
        kind = self.p.kind(side)
        target = tuple((register, lane) for register, lane, _ in places)
        names = self.registers[side]
        if kind == "f64":
            return self._wide(names, target)
        word = self.mover.move([target], names)[0]
        parts = self.parts(kind, word)
        return self.mover.choose([part for _, _, part in places], parts, self._held(kind))

    def _held(self, kind: str) -> str:
        return "i32" if self.p.integer and kind != "f32" else "float"

    def _wide(self, names: Sequence[str], target: tuple[tuple[int, int], ...]) -> str:
        t = self.t
        halves = [self.mover.move([target], [self._word(x, w) for x in names])[0] for w in (0, 1)]
        pair = t.let(f"insertelement <2 x i32> poison, i32 {halves[0]}, i32 0")
        pair = t.let(f"insertelement <2 x i32> {pair}, i32 {halves[1]}, i32 1")
        return t.cast("bitcast", "<2 x i32>", pair, "double")

    def _word(self, name: str, which: int) -> str:
        key = ("words", name)
        if key not in self._parts:
            pair = self.t.cast("bitcast", "double", name, "<2 x i32>")
            self._parts[key] = [self.t.let(f"extractelement <2 x i32> {pair}, i32 {w}") for w in (0, 1)]
        return self._parts[key][which]

    def parts(self, kind: str, word: str) -> list[str]:
        """Return the elements of a register as numbers to compute with: i32 of integers, f32 of floats."""
        key = (kind, word)
        if key not in self._parts:
            self._parts[key] = self._take_apart(kind, word)
        return self._parts[key]

    def _take_apart(self, kind: str, word: str) -> list[str]:
        t = self.t
        if kind in ("b1", "s32"):
            return [word]
        if kind in ("f32", "tf32"):
            bits = t.two("and", "i32", word, str(-0x2000)) if kind == "tf32" else word
            return [t.cast("bitcast", "i32", bits, "float")]
        if kind == "bf16":
            low, high = t.two("shl", "i32", word, "16"), t.two("and", "i32", word, str(-0x10000))
            return [t.cast("bitcast", "i32", x, "float") for x in (low, high)]
        if kind == "f16":
            return self._halves(word)
        if kind in ("e4m3", "e5m2"):
            return [x for first in (0, 2) for x in self._halves(small_pair(t, kind, word, first))]
        width = WIDTH[kind]
        shift = "lshr" if is_unsigned(kind) else "ashr"
        out: list[str] = []
        for n in range(32 // width):
            up = 32 - width * (n + 1)
            raised = t.two("shl", "i32", word, str(up)) if up else word
            out.append(t.two(shift, "i32", raised, str(32 - width)))
        return out

    def _halves(self, word: str) -> list[str]:
        t = self.t
        pair = t.cast("bitcast", "i32", word, "<2 x half>")
        return [t.cast("fpext", "half", t.let(f"extractelement <2 x half> {pair}, i32 {n}"), "float") for n in (0, 1)]
