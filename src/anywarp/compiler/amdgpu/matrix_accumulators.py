"""Sums that go from product to product stay as the matrix instructions leave them: no moves between lanes, no addition apart.

Only where the whole wave runs together: an instruction's sums lie across the lanes of both warps of a wave. Values go on in sets, all
registers of a fragment at once; a set that something else reads is brought into CUDA's places there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from anywarp.compiler.amdgpu.architectures import Architecture
from anywarp.compiler.amdgpu.matrix_units import choose
from anywarp.compiler.attributes import Element, MatrixLayout, MatrixProduct
from anywarp.compiler.ir import Block, Const, Kernel, Op, Phi, Specialisation, Value
from anywarp.compiler.shapes import Analysis
from anywarp.ptx.isa.matrix_forms import Product

MOST_REGISTERS = 128
"""Of the 256 of a lane, those that sums between trips of a loop may take; factors and addresses need the others."""


@dataclass(frozen=True, slots=True)
class PlacedProduct(MatrixProduct):
    """A product of which it is known whether the `whole` wave reaches it; the sums of a `native` one stay as the instruction leaves them."""

    whole: bool
    native: bool = False


def is_native(op: Op) -> bool:
    """Whether a product takes and leaves its sums in the places of a matrix instruction."""
    return isinstance(op.attrs, PlacedProduct) and op.attrs.native


def is_whole(op: Op) -> bool:
    """Whether the whole wave is known to reach a product."""
    return isinstance(op.attrs, PlacedProduct) and op.attrs.whole


Set: TypeAlias = "tuple[Value, ...]"
"""The registers of one fragment, in order."""


def keep_accumulators(kernel: Kernel, analysis: Analysis, specialisation: Specialisation, arch: Architecture) -> None:
    """Note which products the whole wave reaches, and let sums stay in place where that serves.

    Adds operations `matrix_layout`. Done once per kernel.
    """
    products = [(block, op) for block in kernel.blocks for op in block.ops if op.name == "matrix"]
    if not products or any(isinstance(op.attrs, PlacedProduct) for _, op in products):
        return
    shape = specialisation.block
    full = shape is not None and shape[0] * shape[1] * shape[2] % arch.wave == 0 and analysis.lanes == arch.wave
    whole = {block for block in kernel.blocks if full and block not in analysis.divergent_blocks}
    for block, op in products:
        op.attrs = PlacedProduct(MatrixProduct.of(op).product, block in whole)
    _Accumulators(kernel, whole, arch).run([op for block, op in products if block in whole])


def native_product(p: Product, arch: Architecture) -> bool:
    """Whether sums of a product may stay as an instruction leaves them: 16 rows, 8 columns, of f32 or wrapping integers."""
    if (p.layout, p.m, p.n) != ("mma", 16, 8) or p.c != p.d or p.d not in ("f32", "s32") or p.saturate:
        return False
    choice = choose(arch, p.a, p.b)
    unsigned = any(kind in ("u8", "u4") for kind in (p.a, p.b))  # made of several sums on some architectures
    return choice is not None and not (unsigned and choice.unit.element == "s8")


class _Accumulators:
    def __init__(self, kernel: Kernel, whole: set[Block], arch: Architecture) -> None:
        self.kernel, self.whole, self.arch = kernel, whole, arch
        self.home: dict[Value, Block] = {}
        self.elements: dict[Op, dict[int, Op]] = {}
        self.readers: dict[Value, list[Phi]] = {}
        for block in kernel.blocks:
            for phi in block.phis:
                self.home[phi] = block
                for value in phi.incoming.values():
                    self.readers.setdefault(value, []).append(phi)
            for op in block.ops:
                self.home[op] = block
                if op.name == "element" and isinstance(op.args[0], Op):
                    self.elements.setdefault(op.args[0], {})[Element.of(op).index] = op
        self.owner: dict[Value, Set] = {}
        self.sets: dict[Set, str] = {}
        """Native sets and their kind; sets of one kind lie alike."""

    def run(self, products: list[Op]) -> None:
        """Find the native sets, then rewrite."""
        good = [op for op in products if native_product(MatrixProduct.of(op).product, self.arch) and self._results(op)]
        self._spread(good)
        if self._too_many():
            self.sets = {}
            return
        taken = {self._sums(op) for op in good}
        native = [op for op in good if self._sums(op) in self.sets or self._reached(self._results(op)) & taken]
        self.sets = {}
        self._spread(native)
        for op in native:
            op.attrs = replace(PlacedProduct.of(op), native=True)
        self._bring_in(native)
        self._bring_out()

    def _too_many(self) -> bool:
        """Whether sums in place would take more registers than there are. WMMA's sums have 16 columns, of which 8 would be used:
        in a wave of 32 lanes a set takes 8 registers in place, 4 in CUDA's places."""
        beside = Counter(self.home[values[0]] for values in self.sets if isinstance(values[0], Phi))
        return self.arch.wave == 32 and bool(beside) and 8 * max(beside.values()) > MOST_REGISTERS

    def _spread(self, products: list[Op]) -> None:
        """Make the results of products native, and the sets of phis that they reach."""
        for op in products:
            for values in self._reached(self._results(op)):
                self.sets[values] = self._kind(op)

    def _reached(self, values: Set) -> set[Set]:
        """Return a set and all sets of phis behind it."""
        found, pending = {values}, [values]
        while pending:
            for phis in self._phis_behind(pending.pop()):
                owners = {self.owner.setdefault(phi, phis) for phi in phis}
                if phis not in found and owners == {phis}:  # a phi belongs to one set; others that read it convert
                    found.add(phis)
                    pending.append(phis)
        return found

    def _kind(self, op: Op) -> str:
        return str(op.type)

    def _results(self, op: Op) -> Set:
        count = MatrixProduct.of(op).product.distinct("d")
        found = self.elements.get(op, {})
        rest = [found.get(i) for i in range(1, count)]
        return (op, *(x for x in rest if x is not None)) if all(x is not None for x in rest) else ()

    def _sums(self, op: Op) -> Set:
        p: Product = MatrixProduct.of(op).product
        first = p.distinct("a") + p.distinct("b")
        return tuple(op.args[first : first + p.distinct("c")])

    # --- which sets are native ------------------------------------------------------------------------------------------

    def _is_phis(self, values: Set) -> bool:
        homes = {self.home.get(v) for v in values if isinstance(v, Phi)}
        one = len(homes) == 1 and all(isinstance(v, Phi) for v in values) and len(set(values)) == len(values)
        return one and self._joins_whole(next(iter(homes)))

    def _joins_whole(self, block: Block | None) -> bool:
        """Whether the wave runs together in a block and in all that lead to it: then its phis choose for all lanes alike."""
        sources = {s for phi in block.phis for s in phi.incoming} if block is not None else set[Block]()
        return block in self.whole and sources <= self.whole

    def _phis_behind(self, values: Set) -> Iterator[Set]:
        """Yield the sets of phis that take a set in order along an edge."""
        for first in self.readers.get(values[0], ()):
            block = self.home[first]
            for source, value in first.incoming.items():
                if value is not values[0]:
                    continue
                found: list[Value] = [first]
                for other in values[1:]:
                    near = [
                        p for p in self.readers.get(other, ()) if self.home[p] is block and p.incoming[source] is other
                    ]
                    if len(near) == 1:
                        found.append(near[0])
                if len(found) == len(values) and self._is_phis(tuple(found)):
                    yield tuple(found)

    # --- rewriting --------------------------------------------------------------------------------------------------------

    def _bring_in(self, products: list[Op]) -> None:
        """Convert what comes to native phis and products from elsewhere."""
        for values in list(self.sets):
            if isinstance(values[0], Phi):
                for source in list(values[0].incoming):
                    given = tuple(p.incoming[source] for p in values if isinstance(p, Phi))
                    made = self._converted(given, self.sets[values], source, None)
                    for phi, new in zip(values, made, strict=True):
                        assert isinstance(phi, Phi)
                        phi.incoming[source] = new
        for op in products:
            p: Product = MatrixProduct.of(op).product
            first = p.distinct("a") + p.distinct("b")
            made = self._converted(self._sums(op), self._kind(op), self.home[op], op)
            op.args[first : first + len(made)] = made

    def _converted(self, values: Set, kind: str, block: Block, before: Op | None) -> Set:
        """Return a set in the instruction's places; zeros are the same anywhere."""
        if self.sets.get(values) == kind or all(isinstance(v, Const) and v.bits == 0 for v in values):
            return values
        at = block.ops.index(before) if before is not None else len(block.ops)
        return self._layout(values, True, block, at)

    def _layout(self, values: Set, into: bool, block: Block, at: int) -> Set:
        first = Op("matrix_layout", values[0].type, list(values), MatrixLayout(into, len(values)))
        rest = [Op("element", v.type, [first], Element(i)) for i, v in enumerate(values) if i]
        block.ops[at:at] = [first, *rest]
        return (first, *rest)

    def _bring_out(self) -> None:
        """Let everything else read native sets through conversions."""
        native = {phi for values in self.sets for phi in values if isinstance(phi, Phi)}
        for values in list(self.sets):
            users = self._others(set(values), native)
            if not users:
                continue
            block = self.home[values[0]]
            at = 0 if isinstance(values[0], Phi) else max(block.ops.index(v) for v in values if isinstance(v, Op)) + 1
            made = dict(zip(values, self._layout(values, False, block, at), strict=True))
            for user in users:
                _replace(user, made)

    def _others(self, values: set[Value], native: set[Phi]) -> list[Op | Phi | Block]:
        """Return who reads values of a set otherwise than as a set: operations, phis, blocks by their ends."""
        out: list[Op | Phi | Block] = []
        for block in self.kernel.blocks:
            out += [phi for phi in block.phis if phi not in native and any(v in values for v in phi.incoming.values())]
            out += [op for op in block.ops if self._reads(op, values)]
            if any(a in values for a in block.terminator.args):
                out.append(block)
        return out

    def _reads(self, op: Op, values: set[Value]) -> bool:
        if op.name == "element" or (op.name == "matrix_layout" and not MatrixLayout.of(op).into):
            return False
        args = op.args
        if is_native(op):
            p: Product = MatrixProduct.of(op).product
            args = args[: p.distinct("a") + p.distinct("b")]
        return any(a in values for a in args) or op.guard in values


def _replace(user: Op | Phi | Block, made: dict[Value, Value]) -> None:
    if isinstance(user, Phi):
        for source, value in user.incoming.items():
            user.incoming[source] = made.get(value, value)
    elif isinstance(user, Block):
        user.terminator.args = [a if a is None else made.get(a, a) for a in user.terminator.args]
    elif is_native(user):
        p: Product = MatrixProduct.of(user).product
        count = p.distinct("a") + p.distinct("b")
        user.args[:count] = [made.get(a, a) for a in user.args[:count]]
    else:
        user.args = [made.get(a, a) for a in user.args]
        if user.guard is not None:
            user.guard = made.get(user.guard, user.guard)
