"""`matrix` and `matrix_load` at their places in a kernel: matrix instructions where the architecture has one for the type.

A matrix instruction takes all lanes of a wave, and the other warp of the wave may be elsewhere or not exist: what belongs to it
runs in whole-wave mode, in which lanes that are off hold zeros and nothing of theirs is overwritten.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anywarp.compiler.amdgpu.emitter import Emitter
from anywarp.compiler.amdgpu.matrix_accumulators import is_native, is_whole
from anywarp.compiler.amdgpu.matrix_convert import expand_sparse
from anywarp.compiler.amdgpu.matrix_moves import Mover
from anywarp.compiler.amdgpu.matrix_products import Fragment, Multiply
from anywarp.compiler.amdgpu.matrix_software import SoftwareProduct, Where
from anywarp.compiler.amdgpu.matrix_units import Choice, choose
from anywarp.compiler.attributes import MatrixLayout, MatrixProduct
from anywarp.compiler.ir import Op
from anywarp.compiler.simd.text import Text
from anywarp.ptx.isa.matrix_forms import (
    WARP,
    Product,
    element,
    metadata_place,
    pair,
    per_register,
    place_a,
    place_b,
)


def emit_matrix(e: Emitter, op: Op) -> None:
    """Emit a product: D = A B + C."""
    p: Product = MatrixProduct.of(op).product
    _Product(e, op, p).emit()


class _Product:
    def __init__(self, e: Emitter, op: Op, p: Product) -> None:
        self.e, self.t, self.op, self.p = e, e.t, op, p
        self.mover = Mover(e.t, e.wave, WARP, e.lane, e.half)
        a, b, c = p.distinct("a"), p.distinct("b"), p.distinct("c")
        self.names = {
            "a": [self._word(n) for n in range(a)],
            "b": [self._word(n) for n in range(a, a + b)],
            "c": [self._word(n) for n in range(a + b, a + b + c)],
            "e": [e.value(x) for x in op.args[a + b + c :]],
        }
        if p.sparse:
            self.names["a"] = self._dense()

    def _word(self, index: int) -> str:
        """Return an argument as an i32, or as a double."""
        value = self.op.args[index]
        name = self.e.value(value)
        return self.t.cast("bitcast", "float", name, "i32") if value.type == "f32" else name

    def emit(self) -> None:
        if is_native(self.op):
            self.e.define_all(self.op, self._in_place())
            return
        p = self.p
        choice = None if p.layout == "quad" else choose(self.e.arch, p.a, p.b)
        software = SoftwareProduct(self.t, p, self.mover, self.names, {"a": self._where("a"), "b": self._where("b")})
        count, scalar = p.distinct("d") * per_register(p.d), software.scalar
        added = self._addends(software)
        zero = ["0" if scalar == "i32" else "0.0"] * count
        clamped = p.saturate and p.integer
        if choice is None:
            sums = software.run(zero if clamped else added)
        else:
            sums = [self._plus(scalar, x, c) for x, c in zip(self._by_unit(choice, scalar), added, strict=True)]
        if clamped:
            sums = [
                self.t.call("i32", "llvm.sadd.sat.i32", ("i32", c), ("i32", x))
                for x, c in zip(sums, added, strict=True)
            ]
        self.e.define_all(self.op, self._results(sums))

    def _plus(self, scalar: str, product: str, addend: str) -> str:
        if scalar == "i32":
            return product if self.p.saturate else self.t.two("add", "i32", product, addend)
        return self.t.two("fadd", scalar, product, addend)

    # --- where elements are ----------------------------------------------------------------------------------------------

    def _where(self, side: str) -> Where:
        p = self.p
        if side == "b":
            return lambda which, column, k: place_b(p, which, k, column)
        if not p.sparse:
            return lambda which, row, k: place_a(p, which, row, k)
        packed = per_register(p.a)

        def dense(which: int, row: int, k: int) -> tuple[int, int, int]:
            unit, part = divmod(k, packed)
            register, lane, _ = place_a(p, which, row, unit // 2 * packed)
            return 2 * register + unit % 2, lane, part

        return dense

    def _fragment(self, side: str, registers: Sequence[str]) -> Fragment:
        p, where, packed = self.p, self._where(side), per_register(self.p.kind(side))

        def place(index: int, unit: int) -> tuple[int, int]:
            register, lane, _ = where(0, index, unit * packed)
            return register, lane

        return Fragment(tuple(registers), place, p.k // packed, p.kind(side))

    def _dense(self) -> list[str]:
        """Fill a sparse A up with zeros: each of its registers becomes two."""
        p, out = self.p, list[str]()
        packed = per_register(p.a)
        home: dict[tuple[int, int], tuple[int, int]] = {}
        for row in range(p.m):
            for k in range(0, p.stored_k, packed):
                register, lane, _ = place_a(p, 0, row, k)
                source, shift = metadata_place(p, row, k // pair(p.a))
                home[register, lane] = source, shift - (2 if p.a == "tf32" else 0)
        for register, word in enumerate(self.names["a"]):
            found = [home[register, lane] for lane in range(WARP)]
            indices = self.mover.read_lane(tuple(lane for lane, _ in found), self.names["e"][0])
            shift = self.mover.number(tuple(shift for _, shift in found))
            indices = self.t.two("lshr", "i32", indices, shift)
            out += expand_sparse(self.t, p.a, word, indices)
        return out

    # --- sums ------------------------------------------------------------------------------------------------------------

    def _addends(self, software: SoftwareProduct) -> list[str]:
        """Return C in the places of D's elements, as f32, f64 or i32."""
        p = self.p
        if p.c == "f64":
            return list(self.names["c"])
        home: dict[tuple[int, int, int], tuple[int, int, int]] = {}
        for r in range(p.distinct("c")):
            for lane in range(WARP):
                for part in range(per_register(p.c)):
                    home[element(p, p.c, r, lane, part)] = r, lane, part
        out: list[str] = []
        for n in range(p.distinct("d") * per_register(p.d)):
            r, part = divmod(n, per_register(p.d))
            out.append(software.value("c", [home[element(p, p.d, r, lane, part)] for lane in range(WARP)]))
        return out

    def _results(self, sums: list[str]) -> list[str]:
        if self.p.d != "f16":
            return sums
        t = self.t
        halves = [t.cast("fptrunc", "float", x, "half") for x in sums]
        out: list[str] = []
        for low, high in zip(halves[::2], halves[1::2], strict=True):
            pair = t.let(f"insertelement <2 x half> poison, half {low}, i32 0")
            pair = t.let(f"insertelement <2 x half> {pair}, half {high}, i32 1")
            out.append(t.cast("bitcast", "<2 x half>", pair, "i32"))
        return out

    # --- matrix instructions -------------------------------------------------------------------------------------------------

    def _by_unit(self, choice: Choice, scalar: str) -> list[str]:
        """Return the products of all elements of D, by instructions of the whole wave."""
        e, t = self.e, self.t
        factors = {side: [x for name in self.names[side] for x in self._words(name, side)] for side in "ab"}
        apart = e.wave == 64 and not is_whole(self.op)
        if apart:
            factors = {side: [whole_wave(t, x) for x in names] for side, names in factors.items()}
            lane = _any_lane(e)
        else:
            lane = e.wave_lane
        multiply = Multiply(t, self.p, choice, lane)
        words = multiply.run(self._fragment("a", factors["a"]), self._fragment("b", factors["b"]))
        if apart:
            words = [t.call("i32", "llvm.amdgcn.strict.wwm.i32", ("i32", x)) for x in words]
        if scalar == "i32":
            return words
        if scalar == "float":
            return [t.cast("bitcast", "i32", x, "float") for x in words]
        return [self._double(low, high) for low, high in zip(words[::2], words[1::2], strict=True)]

    def _in_place(self) -> list[str]:
        """Emit a product whose sums stay where the instruction leaves them; the whole wave is here."""
        e, p = self.e, self.p
        choice = choose(e.arch, p.a, p.b)
        if choice is None:
            raise AssertionError("a product by ordinary instructions")
        sums = [e.value(x) for x in self.op.args[p.distinct("a") + p.distinct("b") :][: p.distinct("c")]]
        multiply = Multiply(self.t, p, choice, e.wave_lane)
        return multiply.accumulate(self._fragment("a", self.names["a"]), self._fragment("b", self.names["b"]), sums)

    def _words(self, name: str, side: str) -> list[str]:
        if self.p.kind(side) != "f64":
            return [name]
        pair = self.t.cast("bitcast", "double", name, "<2 x i32>")
        return [self.t.let(f"extractelement <2 x i32> {pair}, i32 {w}") for w in (0, 1)]

    def _double(self, low: str, high: str) -> str:
        pair = self.t.let(f"insertelement <2 x i32> poison, i32 {low}, i32 0")
        pair = self.t.let(f"insertelement <2 x i32> {pair}, i32 {high}, i32 1")
        return self.t.cast("bitcast", "<2 x i32>", pair, "double")


def _any_lane(e: Emitter) -> str:
    """Return the lane's number in the wave, also in lanes that no thread has.

    Counted from a number of the block's own. What starts at 0 LLVM takes for the thread's number, which is not set in idle lanes; and
    what two branches share it computes before them, in a register that the whole-wave code of the first branch may then reuse:
    its pass for live ranges of if and else (SIOptimizeVGPRLiveRange) takes it that a branch leaves the other one's lanes alone.
    """
    t, start = e.t, str(1 + e.kernel.blocks.index(e.block))
    low = t.call("i32", "llvm.amdgcn.mbcnt.lo", ("i32", "-1"), ("i32", start))
    return t.two("sub", "i32", t.call("i32", "llvm.amdgcn.mbcnt.hi", ("i32", "-1"), ("i32", low)), start)


def whole_wave(t: Text, word: str) -> str:
    """Return an i32 for code in whole-wave mode: zero in lanes that are off."""
    return t.call("i32", "llvm.amdgcn.set.inactive.i32", ("i32", word), ("i32", "0"))


def emit_layout(e: Emitter, op: Op) -> None:
    """Emit `matrix_layout`: sums of 16 x 8 elements into an instruction's places or out of them; the whole wave is here."""
    t, real = e.t, op.type == "f32"
    p = Product(16, 8, 8, "f16", "f16", "f32", "f32") if real else Product(16, 8, 16, "s8", "s8", "s32", "s32")
    choice = choose(e.arch, p.a, p.b)
    if choice is None:
        raise AssertionError("sums of no instruction")
    multiply = Multiply(t, p, choice, e.wave_lane)
    words = [t.cast("bitcast", "float", e.value(x), "i32") if real else e.value(x) for x in op.args]
    words = (multiply.to_places if MatrixLayout.of(op).into else multiply.from_places)(words)
    e.define_all(op, [t.cast("bitcast", "i32", x, "float") if real else x for x in words])


OPERATIONS: dict[str, Callable[[Emitter, Op], None]] = {"matrix": emit_matrix, "matrix_layout": emit_layout}
