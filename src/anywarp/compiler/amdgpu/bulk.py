"""Copies, fills and reductions of whole arrays that single lanes ask for: loops of that lane, complete when issued."""

from __future__ import annotations

from collections.abc import Callable

from anywarp.compiler.amdgpu.atomics import Atomics
from anywarp.compiler.amdgpu.emitter import SIZE, Emitter
from anywarp.compiler.amdgpu.places import Places
from anywarp.compiler.attributes import Service
from anywarp.compiler.ir import Op
from anywarp.compiler.simd.text import LLVM_TYPE
from anywarp.ptx.isa.ops import Type

_WIDE = 16
"""Bytes that a trip moves where addresses and size are multiples of it, as PTX wants them for most forms."""


class Bulk:
    """Emits the services `bulk_copy`, `bulk_zero`, `bulk_mask` and `bulk_OPERATION_TYPE`.

    Arguments: destination and source (generic addresses), size in bytes, for `bulk_mask` which bytes of each 16 are copied.
    """

    def __init__(self, e: Emitter, places: Places, atomics: Atomics) -> None:
        self.e, self.places, self.atomics = e, places, atomics

    def emit(self, op: Op) -> None:
        """Emit one for the lanes whose guard holds."""
        self.e.guarded(op, lambda: self._emit(op))
        self.e.define(op, "false")

    def _emit(self, op: Op) -> list[tuple[str, str]]:
        e = self.e
        to, source = (self.places.pointer("generic", a) for a in op.args[:2])
        size = e.value(op.args[2])
        kind, _, type = Service.of(op).name.removeprefix("bulk_").partition("_")
        if kind == "mask":
            self._each("0", size, 1, lambda at: self._masked(to, source, at, e.value(op.args[3])))
        elif kind in ("copy", "zero"):
            values = [op.args[0], *(op.args[1:2] if kind == "copy" else [])]
            wide = self._multiples([e.value(a) for a in values], size)
            self._each("0", wide, _WIDE, lambda at: self._move(kind, to, source, at, "<4 x i32>"))
            self._each(wide, size, 1, lambda at: self._move(kind, to, source, at, "i8"))
        else:
            held: Type = type  # type: ignore[assignment]
            self._each("0", size, SIZE[held], lambda at: self._update(kind, held, to, source, at))
        return []

    def _multiples(self, addresses: list[str], size: str) -> str:
        """Return the size if all are multiples of 16, else 0."""
        t, together = self.e.t, size
        for address in addresses:
            together = t.two("or", "i64", together, address)
        rest = t.two("and", "i64", together, str(_WIDE - 1))
        return t.pick(0, t.two("icmp eq", "i64", rest, "0"), "i64", size, "0")

    def _each(self, first: str, end: str, step: int, body: Callable[[str], None]) -> None:
        """Emit a loop from `first` up to `end`, which may be no trip at all."""
        e, t = self.e, self.e.t
        inside, after = t.fresh("array"), t.fresh("behind")
        t.do(f"br i1 {t.two('icmp ult', 'i64', first, end)}, label %{inside}, label %{after}")
        t.start(inside)

        def trip(carried: list[str]) -> tuple[str, list[str]]:
            body(carried[0])
            following = t.two("add", "i64", carried[0], str(step))
            return t.two("icmp ult", "i64", following, end), [following]

        e.loop([("i64", first)], trip)
        t.do(f"br label %{after}")
        t.start(after)

    def _at(self, place: tuple[str, str], at: str) -> str:
        return self.e.t.let(f"getelementptr i8, {place[0]} {place[1]}, i64 {at}")

    def _move(self, kind: str, to: tuple[str, str], source: tuple[str, str], at: str, type: str) -> None:
        t, align = self.e.t, _WIDE if type.startswith("<") else 1
        value = "zeroinitializer" if type.startswith("<") else "0"
        if kind == "copy":
            value = t.let(f"load {type}, {source[0]} {self._at(source, at)}, align {align}")
        t.do(f"store {type} {value}, {to[0]} {self._at(to, at)}, align {align}")

    def _masked(self, to: tuple[str, str], source: tuple[str, str], at: str, mask: str) -> None:
        """Copy a byte if its number modulo 16 is in the mask; the others of the destination stay as they are."""
        t = self.e.t
        bit = t.two("and", "i64", t.two("lshr", "i64", mask, t.two("and", "i64", at, "15")), "1")
        copy, after = t.fresh("byte"), t.fresh("after")
        t.do(f"br i1 {t.two('icmp ne', 'i64', bit, '0')}, label %{copy}, label %{after}")
        t.start(copy)
        self._move("copy", to, source, at, "i8")
        t.do(f"br label %{after}")
        t.start(after)

    def _update(self, kind: str, held: Type, to: tuple[str, str], source: tuple[str, str], at: str) -> None:
        """Update an element of the destination atomically with one of the source."""
        t, element = self.e.t, LLVM_TYPE[held]
        value = t.let(f"load {element}, {source[0]} {self._at(source, at)}, align {SIZE[held]}")
        self.atomics.update(kind, held, (to[0], self._at(to, at)), value)
