"""LLVM IR as text: names, labels, types and constants.

Text is parsed by LLVM in one call, which is several times faster than building IR through bindings, and it is what one reads
when something is wrong.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from anywarp.compiler.host_functions import HOST_FUNCTIONS

LLVM_TYPE: dict[str, str] = {
    "i1": "i1", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "i128": "i128",
    "f16": "i16", "bf16": "i16", "f32": "float", "f64": "double",
}  # fmt: skip
"""How values are held. f16 and bf16 are held as bits: LLVM's own types for them are legal on few processors."""


def vector_type(element: str, lanes: int) -> str:
    """Return the LLVM type of `lanes` elements; 0 lanes is the scalar."""
    return f"<{lanes} x {element}>" if lanes else element


def constant(type: str, bits: int) -> str:
    """Write a scalar constant of an IR type given by its bits."""
    if type == "i1":
        return "true" if bits & 1 else "false"
    if type == "f64":
        return f"0x{bits:016X}"
    if type == "f32":
        return f"0x{_widen(bits):016X}"
    width = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "i128": 128, "f16": 16, "bf16": 16}[type]
    bits &= (1 << width) - 1
    return str(bits - (1 << width) if bits >> (width - 1) else bits)


def literal(bits: int, width: int) -> str:
    """Write a number of `width` bits as LLVM reads it."""
    return str(bits - (1 << width) if bits >> (width - 1) else bits)


def _widen(bits: int) -> int:
    """Return the bits of the f64 that equals the f32 with these bits: the form in which LLVM writes both."""
    sign, exponent, fraction = bits >> 31 << 63, bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF:
        return sign | 0x7FF << 52 | fraction << 29
    if exponent:
        return sign | (exponent + 896) << 52 | fraction << 29
    if not fraction:
        return sign
    shift = 24 - fraction.bit_length()
    return sign | (897 - shift) << 52 | (fraction << shift & 0x7FFFFF) << 29


def splat(type: str, bits: int, lanes: int) -> str:
    """Write a constant of `lanes` equal elements (0: a scalar) of an IR type."""
    return f"splat ({LLVM_TYPE[type]} {constant(type, bits)})" if lanes else constant(type, bits)


def constant_vector(type: str, bits: Sequence[int]) -> str:
    """Write a vector constant of an IR type from its elements' bits."""
    if len(set(bits)) == 1:
        return splat(type, bits[0], len(bits))
    element = LLVM_TYPE[type]
    return "<" + ", ".join(f"{element} {constant(type, b)}" for b in bits) + ">"


@dataclass(frozen=True, slots=True)
class Note:
    """Lines that tell a fault handler of one access whose lanes are evenly apart (`Addresses.record`)."""

    start: int
    end: int
    word: int
    step: int
    """Bytes from lane to lane."""
    mask: str
    """The lanes that take part; empty: all."""
    wide_mask: str
    """The mask's type, if it is that of a gang of several warps."""
    base: str
    """Where the first lane's access lies (i64)."""


class Text:
    """The body of a function under construction, and the declarations it turned out to need.

    What `order_by_chunks` must know of lines is kept by their numbers: of which chunk's lanes an access is (`chunk_of`), notes of
    accesses, where operations are that are not of each lane alone (`walls`), and what only keeps accesses apart (`pacing`).
    """

    def __init__(self, prefix: str = "") -> None:
        self.lines: list[str] = []
        self.allocas: list[str] = []
        self.places: list[tuple[int, int]] = []
        self.declarations: dict[str, str] = {}
        self.chunk_of: dict[int, int] = {}
        self.notes: list[Note] = []
        self.walls: set[int] = set()
        self.pacing: set[int] = set()
        self.label = "entry"
        self._chunk = -1
        self._next = 0
        self._prefix = prefix

    def fresh(self, stem: str = "v") -> str:
        """Return a new name, without sigil."""
        self._next += 1
        return f"{stem}{self._prefix}{self._next}"

    def at(self, offset: int) -> None:
        """Say from which offset in the PTX the following instructions come."""
        self.places.append((len(self.lines), offset))

    def do(self, instruction: str) -> None:
        """Append an instruction without result."""
        self._mark()
        self.lines.append("  " + instruction)

    @contextmanager
    def chunk(self, number: int) -> Generator[None, None, None]:
        """Say that accesses are those of one chunk's lanes."""
        before, self._chunk = self._chunk, number
        try:
            yield
        finally:
            self._chunk = before

    def _mark(self) -> None:
        if self._chunk >= 0:
            self.chunk_of[len(self.lines)] = self._chunk

    def wall(self) -> None:
        """Say that what follows is not of each lane alone, or what was before."""
        self.walls.add(len(self.lines))

    def let(self, instruction: str) -> str:
        """Append an instruction and return the name of its result."""
        self._next += 1
        name = f"%v{self._next}"
        self._mark()
        self.lines.append(f"  {name} = {instruction}")
        return name

    def two(self, name: str, type: str, a: str, b: str) -> str:
        """Append `name type a, b`."""
        return self.let(f"{name} {type} {a}, {b}")

    def cast(self, name: str, source: str, a: str, target: str) -> str:
        """Append a conversion instruction."""
        return self.let(f"{name} {source} {a} to {target}")

    def shuffle(self, type: str, a: str, index: Sequence[int | None], b: str = "poison") -> str:
        """Append a vector of elements of `a` and, counted on, of `b`; None: any value."""
        places = ", ".join("i32 poison" if i is None else f"i32 {i}" for i in index)
        return self.let(f"shufflevector {type} {a}, {type} {b}, <{len(index)} x i32> <{places}>")

    def spread(self, type: str, vector: str, n: int) -> str:
        """Append a vector of `n` times the first element of one."""
        return self.let(f"shufflevector {type} {vector}, {type} poison, <{n} x i32> zeroinitializer")

    def join(self, element: str, width: int, parts: Sequence[str], until: int = 0) -> list[str]:
        """Concatenate vectors of `width` elements in pairs until they have `until` (0: until one is left, of a power of two of them)."""
        joined = list(parts)
        while width < until if until else len(joined) > 1:
            pairs = zip(joined[::2], joined[1::2], strict=True)
            joined = [self.shuffle(f"<{width} x {element}>", a, range(2 * width), b) for a, b in pairs]
            width *= 2
        return joined

    def pick(self, n: int, condition: str, type: str, a: str, b: str) -> str:
        """Append a select of `n` lanes (0: scalar)."""
        return self.let(f"select {vector_type('i1', n)} {condition}, {type} {a}, {type} {b}")

    def start(self, label: str) -> None:
        """Begin a basic block."""
        self.lines.append(f"{label}:")
        self.label = label

    def alloca(self, type: str, align: int = 0) -> str:
        """Reserve a variable in the function's frame."""
        name = "%" + self.fresh("a")
        self.allocas.append(f"  {name} = alloca {type}" + (f", align {align}" if align else ""))
        return name

    def call(self, result: str, name: str, *arguments: tuple[str, str]) -> str:
        """Call a function (declared on first use) on (type, value) pairs; returns the result's name, "" for void."""
        self.declare(result, name, [type for type, _ in arguments])
        text = f"call {result} @{name}({', '.join(f'{type} {value}' for type, value in arguments)})"
        if result == "void":
            self.do(text)
            return ""
        return self.let(text)

    def call_host(self, name: str, *values: str) -> str:
        """Call a function of the runtime with operands of the types that its description says; as `call`."""
        function = HOST_FUNCTIONS[name]
        return self.call(function.llvm_result, name, *zip(function.llvm_parameters, values, strict=True))

    def declare(self, result: str, name: str, types: Sequence[str]) -> None:
        """Make an external function or intrinsic known."""
        self.declarations[name] = f"declare {result} @{name}({', '.join(types)})"

    def mangle(self, element: str, lanes: int) -> str:
        """Return the suffix of an overloaded intrinsic's name: `f32`, `v16i32`."""
        short = {"float": "f32", "double": "f64", "half": "f16"}.get(element, element)
        return f"v{lanes}{short}" if lanes else short
