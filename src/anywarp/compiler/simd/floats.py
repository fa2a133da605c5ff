"""Floating-point operations as LLVM IR, for one scalar or one chunk of lanes, in every rounding that PTX names.

f16 and bf16 are computed in f32 or f64 and rounded once: where two roundings could differ from one, the first is to odd.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from anywarp.compiler.attributes import Converted, FloatCompare, Rounded
from anywarp.compiler.ir import Const, Op, Value
from anywarp.compiler.simd.text import LLVM_TYPE, Text, splat, vector_type
from anywarp.ptx.isa.ops import BITS

_ROUND = {"rn": "roundeven", "rz": "trunc", "rm": "floor", "rp": "ceil"}
_EMBEDDED = {
    "rn": 8,
    "rm": 9,
    "rp": 10,
    "rz": 11,
}  # Intel manual volume 1, 15.6.4: rounding control with exceptions suppressed
_MODE = {"rn": 1, "rp": 2, "rm": 3, "rz": 0}  # llvm.set.rounding


class Floats:
    """Float arithmetic in a function under construction; `chunk` lanes make a vector, `avx512` allows its instructions.

    `rounds`: whether there are instructions that round to integral values; LLVM calls C's functions where there are none.
    """

    def __init__(self, text: Text, chunk: int, avx512: bool, fp16: bool, f16c: bool, rounds: bool = True) -> None:
        self.t = text
        self.chunk = chunk
        self.avx512 = avx512
        self.fp16 = fp16
        self.f16c = f16c
        self.rounds = rounds

    # --- conversions ----------------------------------------------------------------------------------------------

    def widen(self, n: int, a: str, source: str, target: str) -> str:
        """Convert exactly to a wider float type (f16 and bf16 to f32 or f64; f32 to f64)."""
        t = self.t
        if source == target:
            return a
        if source == "bf16":
            wide = t.let(f"zext {vector_type('i16', n)} {a} to {vector_type('i32', n)}")
            bits = t.let(f"shl {vector_type('i32', n)} {wide}, {splat('i32', 16, n)}")
            a, source = t.let(f"bitcast {vector_type('i32', n)} {bits} to {vector_type('float', n)}"), "f32"
        elif source == "f16":
            a, source = self._from_half(n, a), "f32"
        if source == target:
            return a
        return t.let(f"fpext {vector_type('float', n)} {a} to {vector_type('double', n)}")

    def narrow(self, n: int, a: str, source: str, target: str, rounding: str = "rn") -> str:
        """Convert to a narrower float type with one rounding."""
        if source == target:
            return a
        if source == "f64":
            if target == "f32":
                return self._truncate(n, a, rounding)
            a = self.to_odd(n, a)
        if target == "bf16":
            return self._to_bf16(n, a, rounding)
        if rounding == "rna":
            return self._to_f16_away(n, a)
        bits = self._to_half(n, a)
        return bits if rounding == "rn" else self._step(n, "float", 16, a, bits, self._from_half(n, bits), rounding)

    def _truncate(self, n: int, a: str, rounding: str) -> str:
        """Round f64 to f32."""
        t = self.t
        wide, low, word = vector_type("double", n), vector_type("float", n), vector_type("i32", n)
        r = t.cast("fptrunc", wide, a, low)
        if rounding == "rn":
            return r
        if rounding == "rna":
            raise NotImplementedError("rounding ties away from zero to f32")
        back = t.cast("fpext", low, r, wide)
        return t.cast(
            "bitcast", word, self._step(n, "double", 32, a, t.cast("bitcast", low, r, word), back, rounding), low
        )

    def _from_half(self, n: int, bits: str) -> str:
        """Widen f16 (as bits) to f32; without the instruction, by scaling a number with the same digits, which is exact."""
        t = self.t
        real, word = vector_type("float", n), vector_type("i32", n)
        if self.f16c:
            return t.cast(
                "fpext",
                vector_type("half", n),
                t.cast("bitcast", vector_type("i16", n), bits, vector_type("half", n)),
                real,
            )
        wide = t.cast("zext", vector_type("i16", n), bits, word)
        size = t.two("and", word, wide, splat("i32", 0x7FFF, n))
        sign = t.two("shl", word, t.two("and", word, wide, splat("i32", 0x8000, n)), splat("i32", 16, n))
        digits = t.cast("bitcast", word, t.two("shl", word, size, splat("i32", 13, n)), real)
        scaled = t.cast("bitcast", real, t.two("fmul", real, digits, splat("f32", 0x77800000, n)), word)  # 2**112
        special = t.two("or", word, t.two("shl", word, size, splat("i32", 13, n)), splat("i32", 0x7F800000, n))
        big = t.two("icmp uge", word, size, splat("i32", 0x7C00, n))
        return t.cast("bitcast", word, t.two("or", word, t.pick(n, big, word, special, scaled), sign), real)

    def _to_half(self, n: int, a: str) -> str:
        """Round f32 to f16 (as bits) to nearest even; without the instruction, on the bits.

        Adding 1/2 leaves a subnormal's digits, rightly rounded, at the end of the sum's; larger numbers are rounded by adding
        to the digits that go, whose carry may run up to infinity.
        """
        t = self.t
        real, word, short = vector_type("float", n), vector_type("i32", n), vector_type("i16", n)
        if self.f16c:
            return t.cast("bitcast", vector_type("half", n), t.cast("fptrunc", real, a, vector_type("half", n)), short)
        bits = t.cast("bitcast", real, a, word)
        size = t.two("and", word, bits, splat("i32", 0x7FFFFFFF, n))
        half = splat("f32", 0x3F000000, n)
        total = t.two("fadd", real, t.cast("bitcast", word, size, real), half)
        small = t.two("sub", word, t.cast("bitcast", real, total, word), splat("i32", 0x3F000000, n))
        odd = t.two("and", word, t.two("lshr", word, size, splat("i32", 13, n)), splat("i32", 1, n))
        moved = t.two("add", word, t.two("add", word, size, splat("i32", 0xC8000FFF, n)), odd)
        normal = t.two("lshr", word, moved, splat("i32", 13, n))
        out = t.pick(n, t.two("icmp ult", word, size, splat("i32", 0x38800000, n)), word, small, normal)
        out = t.pick(n, t.two("icmp uge", word, size, splat("i32", 0x47800000, n)), word, splat("i32", 0x7C00, n), out)
        out = t.pick(n, t.two("icmp ugt", word, size, splat("i32", 0x7F800000, n)), word, splat("i32", 0x7E00, n), out)
        sign = t.two("and", word, t.two("lshr", word, bits, splat("i32", 16, n)), splat("i32", 0x8000, n))
        return t.cast("trunc", word, t.two("or", word, out, sign), short)

    def _step(self, n: int, source: str, width: int, a: str, bits: str, back: str, rounding: str) -> str:
        """Turn the nearest result (as bits; `back`: widened) into the directed one: step back where it lies on the wrong side.

        Exact, as a narrower number widens exactly.
        """
        t = self.t
        wide, bits_type, mask = vector_type(source, n), vector_type(f"i{width}", n), vector_type("i1", n)
        one = splat(f"i{width}", 1, n)
        up = t.let(f"add {bits_type} {bits}, {one}")
        down = t.let(f"sub {bits_type} {bits}, {one}")
        if rounding == "rz":
            suffix = t.mangle(source, n)
            size = t.call(wide, f"llvm.fabs.{suffix}", (wide, a))
            got = t.call(wide, f"llvm.fabs.{suffix}", (wide, back))
            wrong, fixed = t.let(f"fcmp ogt {wide} {got}, {size}"), down
        else:
            wrong = t.let(f"fcmp {'olt' if rounding == 'rp' else 'ogt'} {wide} {back}, {a}")
            negative = t.let(f"icmp slt {bits_type} {bits}, {splat(f'i{width}', 0, n)}")
            first, second = (down, up) if rounding == "rp" else (up, down)
            fixed = t.let(f"select {mask} {negative}, {bits_type} {first}, {bits_type} {second}")
            # From a zero of the other sign the step is to the smallest number, not to its neighbour in bits.
            if rounding == "rp":
                zero = t.let(f"icmp eq {bits_type} {bits}, {splat(f'i{width}', 1 << (width - 1), n)}")
                fixed = t.let(f"select {mask} {zero}, {bits_type} {one}, {bits_type} {fixed}")
            else:
                zero = t.let(f"icmp eq {bits_type} {bits}, {splat(f'i{width}', 0, n)}")
                least = splat(f"i{width}", (1 << (width - 1)) + 1, n)
                fixed = t.let(f"select {mask} {zero}, {bits_type} {least}, {bits_type} {fixed}")
        return t.pick(n, wrong, bits_type, fixed, bits)

    def to_odd(self, n: int, a: str) -> str:
        """Round f64 to f32 to odd: toward zero, last bit set if inexact. A later rounding to fewer bits is then right."""
        t = self.t
        r = self._truncate(n, a, "rz")
        back = t.let(f"fpext {vector_type('float', n)} {r} to {vector_type('double', n)}")
        inexact = t.let(f"fcmp one {vector_type('double', n)} {back}, {a}")
        bit = t.let(f"zext {vector_type('i1', n)} {inexact} to {vector_type('i32', n)}")
        bits = t.let(f"bitcast {vector_type('float', n)} {r} to {vector_type('i32', n)}")
        word = vector_type("i32", n)
        return t.cast("bitcast", word, t.two("or", word, bits, bit), vector_type("float", n))

    def _to_bf16(self, n: int, a: str, rounding: str) -> str:
        """Round by adding to the discarded half of the bits; carries into the exponent, up to infinity, are right."""
        t = self.t
        word, mask = vector_type("i32", n), vector_type("i1", n)
        bits = t.cast("bitcast", vector_type("float", n), a, word)
        upper = t.two("lshr", word, bits, splat("i32", 16, n))
        if rounding == "rn":
            odd = t.two("and", word, upper, splat("i32", 1, n))
            extra = t.let(f"add {word} {odd}, {splat('i32', 0x7FFF, n)}")
        elif rounding == "rna":
            extra = splat("i32", 0x8000, n)
        elif rounding == "rz":
            extra = splat("i32", 0, n)
        else:
            away = "sge" if rounding == "rp" else "slt"
            side = t.let(f"icmp {away} {word} {bits}, {splat('i32', 0, n)}")
            extra = t.let(f"select {mask} {side}, {word} {splat('i32', 0xFFFF, n)}, {word} {splat('i32', 0, n)}")
        moved = t.two("lshr", word, t.two("add", word, bits, extra), splat("i32", 16, n))
        quiet = t.two("or", word, upper, splat("i32", 0x40, n))
        nan = t.let(f"fcmp uno {vector_type('float', n)} {a}, {splat('f32', 0, n)}")
        # Infinity plus 0xFFFF stays within its own upper half, so only NaN needs care.
        return t.cast("trunc", word, t.pick(n, nan, word, quiet, moved), vector_type("i16", n))

    def _to_f16_away(self, n: int, a: str) -> str:
        """Nearest, ties away: toward zero first, then up by one where the rest is half a step or more."""
        t = self.t
        real, short, mask = vector_type("float", n), vector_type("i16", n), vector_type("i1", n)
        nearest = self._to_half(n, a)
        bits = self._step(n, "float", 16, a, nearest, self._from_half(n, nearest), "rz")
        next_bits = t.two("add", short, bits, splat("i16", 1, n))
        x, y = self._from_half(n, bits), self._from_half(n, next_bits)
        # The neighbour beyond the largest finite number counts as 65536, where infinity's range begins.
        suffix = t.mangle("float", n)
        x, y, size = (t.call(real, f"llvm.fabs.{suffix}", (real, v)) for v in (x, y, a))
        infinite = t.let(f"fcmp oeq {real} {y}, {splat('f32', 0x7F800000, n)}")
        y = t.let(f"select {mask} {infinite}, {real} {splat('f32', 0x47800000, n)}, {real} {y}")
        above, below = t.let(f"fsub {real} {y}, {size}"), t.let(f"fsub {real} {size}, {x}")
        up = t.let(f"fcmp ole {real} {above}, {below}")
        inexact = t.let(f"fcmp one {real} {x}, {size}")
        return t.pick(n, t.two("and", mask, up, inexact), short, next_bits, bits)

    def convert(self, op: Op, n: int, a: str) -> str:
        """Emit fconvert between any two float types."""
        source, target = op.args[0].type, op.type
        order = {"f16": 0, "bf16": 0, "f32": 1, "f64": 2}
        if source == target:
            return a
        if order[target] > order[source]:
            return self.widen(n, a, source, target)
        if order[target] == order[source]:  # f16 and bf16: by way of f32
            a, source = self.widen(n, a, source, "f32"), "f32"
        return self.narrow(n, a, source, target, Rounded.of(op).rounding)

    def from_int(self, op: Op, n: int, a: str) -> str:
        """Emit int_to_float in any rounding."""
        t = self.t
        source, target, rounding = op.args[0].type, op.type, Converted.of(op).rounding
        s = "s" if Converted.of(op).signed else "u"
        if source == "i128":
            raise NotImplementedError("int_to_float of i128")
        if (rounding == "rn" and target in ("f32", "f64")) or (
            source in ("i8", "i16", "i1") and target in ("f32", "f64")
        ):
            return t.let(f"{s}itofp {vector_type(source, n)} {a} to {vector_type(LLVM_TYPE[target], n)}")
        if source in ("i8", "i16", "i1"):
            real = t.let(f"{s}itofp {vector_type(source, n)} {a} to {vector_type('float', n)}")
            return self.narrow(n, real, "f32", target, rounding)
        if source == "i64" and target == "f64":
            return self._directed_from_i64(n, a, s, rounding)
        if source == "i64":
            a = self._sticky(n, a, s)
        real = t.let(f"{s}itofp {vector_type(source, n)} {a} to {vector_type('double', n)}")
        return self.narrow(n, real, "f64", target, rounding)

    def _sticky(self, n: int, a: str, s: str) -> str:
        """Fold the low 11 bits of a large number into one that says they were not zero: then f64 holds it exactly,
        and every coarser rounding sees the same side of every boundary."""  # fmt: skip
        t = self.t
        type, mask = vector_type("i64", n), vector_type("i1", n)
        rest = t.let(f"and {type} {a}, {splat('i64', 0x7FF, n)}")
        some = t.let(f"icmp ne {type} {rest}, {splat('i64', 0, n)}")
        bit = t.let(f"select {mask} {some}, {type} {splat('i64', 0x800, n)}, {type} {splat('i64', 0, n)}")
        folded = t.two("or", type, t.two("and", type, a, splat("i64", -0x800, n)), bit)
        size = t.call(type, f"llvm.abs.{t.mangle('i64', n)}", (type, a), ("i1", "false")) if s == "s" else a
        large = t.let(f"icmp ugt {type} {size}, {splat('i64', 1 << 53, n)}")
        return t.let(f"select {mask} {large}, {type} {folded}, {type} {a}")

    def _directed_from_i64(self, n: int, a: str, s: str, rounding: str) -> str:
        """Upper and lower half are exact; their sum, rounded as wanted, is the only rounding."""
        t = self.t
        type, real = vector_type("i64", n), vector_type("double", n)
        high = t.let(f"{'ashr' if s == 's' else 'lshr'} {type} {a}, {splat('i64', 32, n)}")
        low = t.let(f"and {type} {a}, {splat('i64', 0xFFFFFFFF, n)}")
        x = t.let(f"{s}itofp {type} {high} to {real}")
        y = t.let(f"uitofp {type} {low} to {real}")
        x = t.let(f"fmul {real} {x}, {splat('f64', 0x41F0000000000000, n)}")
        return self._directed("fadd", "f64", n, [x, y], rounding)

    def to_int(self, op: Op, n: int, a: str) -> str:
        """Emit float_to_int: round, then clamp; NaN gives 0."""
        t = self.t
        source = op.args[0].type
        if source in ("f16", "bf16"):
            a, source = self.widen(n, a, source, "f32"), "f32"
        element = LLVM_TYPE[source]
        real, type = vector_type(element, n), vector_type(op.type, n)
        if Converted.of(op).rounding != "rz":
            a = self._integral(element, n, a, Converted.of(op).rounding)
        if n:
            return self._clamped(n, a, source, op.type, Converted.of(op).signed)
        s = "s" if Converted.of(op).signed else "u"
        return t.call(type, f"llvm.fpto{s}i.sat.{t.mangle(op.type, n)}.{t.mangle(element, n)}", (real, a))

    def _clamped(self, n: int, a: str, source: str, target: str, signed: bool) -> str:
        """Cut off the digits behind the point of a vector; what lies beyond the integers becomes the nearest one, NaN 0.

        LLVM's own saturating conversion of vectors takes them apart, lane by lane with branches.
        """
        t, width = self.t, BITS[target]
        real, held = vector_type(LLVM_TYPE[source], n), vector_type("i32" if width < 32 else target, n)
        low, above = (-(1 << (width - 1)), 1 << (width - 1)) if signed else (0, 1 << width)

        def number(value: int) -> str:
            return splat(source, int.from_bytes(struct.pack("<f" if source == "f32" else "<d", value), "little"), n)

        def choose(predicate: str, x: str, y: str, good: str, bad: str, type: str) -> str:
            return t.pick(n, t.two(f"fcmp {predicate}", real, x, y), type, good, bad)

        a = choose("ord", a, a, a, number(0), real)
        whole = width <= {"f32": 24, "f64": 53}[source]  # the greatest integer is a number of the float's type
        inside = t.two("fcmp olt", real, a, number(above - 1 if whole else above))
        x = t.pick(n, inside, real, a, number(above - 1 if whole else 0))
        x = choose("ogt", x, number(low), x, number(low), real)
        found = t.cast("fptosi" if signed or width < 32 else "fptoui", real, x, held)
        if width < 32:
            return t.cast("trunc", held, found, vector_type(target, n))
        return found if whole else t.pick(n, inside, held, found, splat(target, above - 1, n))

    # --- arithmetic -----------------------------------------------------------------------------------------------

    def arithmetic(self, op: Op, n: int, *args: str) -> str:
        """Emit fadd, fsub, fmul, fdiv, fsqrt or fma in any type and rounding."""
        rounding, type = Rounded.of(op).rounding, op.type
        if type in ("f16", "bf16"):
            return self._small(op.name, type, n, list(args), rounding)
        if rounding == "rn":
            return self._nearest(op.name, LLVM_TYPE[type], n, list(args))
        if rounding == "rm" and not self.avx512 and _sums_to_whole_number(op):
            return self._whole_below(n, *args)
        return self._directed(op.name, type, n, list(args), rounding)

    def _whole_below(self, n: int, a: str, b: str, c: str) -> str:
        """fma.rm.f32 whose result lies where numbers are whole: the nearest one, less one if it is above a * b + c.

        So CUDA's expf finds the power of two. a * b - (nearest - c) has the right sign, as all but its last rounding are exact.
        """
        t = self.t
        real, word = vector_type("float", n), vector_type("i32", n)
        near = self._nearest("fma", "float", n, [a, b, c])
        rest = self._nearest("fma", "float", n, [a, b, t.let(f"fsub {real} {c}, {near}")])
        above = t.two("ashr", word, t.cast("bitcast", real, rest, word), splat("i32", 31, n))
        return t.cast("bitcast", word, t.two("add", word, t.cast("bitcast", real, near, word), above), real)

    def _nearest(self, name: str, element: str, n: int, args: list[str]) -> str:
        t = self.t
        type = vector_type(element, n)
        if name in ("fma", "fsqrt"):
            return t.call(
                type, f"llvm.{name if name == 'fma' else 'sqrt'}.{t.mangle(element, n)}", *((type, a) for a in args)
            )
        return t.let(f"{name} {type} {args[0]}, {args[1]}")

    def _small(self, name: str, type: str, n: int, args: list[str], rounding: str) -> str:
        """f16 and bf16. One operation in f32 then rounding is right for f16 (24 >= 2 * 11 + 2 bits, and f32's range holds
        every result in full precision); bf16 shares f32's range, so products and quotients, which may be subnormal there,
        go through f64, rounded to odd on the way; so does the sum of a fused multiply-add, where f32 cannot be rounded both ways at once."""  # fmt: skip
        t = self.t
        if type == "f16" and self.fp16 and rounding == "rn":
            half = [t.let(f"bitcast {vector_type('i16', n)} {a} to {vector_type('half', n)}") for a in args]
            return t.let(
                f"bitcast {vector_type('half', n)} {self._nearest(name, 'half', n, half)} to {vector_type('i16', n)}"
            )
        if rounding == "rn" and (name in ("fadd", "fsub", "fsqrt") or (type == "f16" and name in ("fmul", "fdiv"))):
            wide = [self.widen(n, a, type, "f32") for a in args]
            return self.narrow(n, self._nearest(name, "float", n, wide), "f32", type, rounding)
        if name == "fma" and self.avx512:
            exact = self._fma_to_odd(n, [self.widen(n, a, type, "f32") for a in args])
            return self.narrow(n, exact, "f32", type, rounding)
        wide = [self.widen(n, a, type, "f64") for a in args]
        if name == "fma":
            product = self._nearest("fmul", "double", n, wide[:2])
            exact = self._sum_to_odd(n, product, wide[2])
        elif name in ("fadd", "fsub"):
            right = t.let(f"fneg {vector_type('double', n)} {wide[1]}") if name == "fsub" else wide[1]
            exact = self._sum_to_odd(n, wide[0], right)
        elif name == "fmul":
            exact = self._nearest(name, "double", n, wide)
        else:  # fdiv, fsqrt: what f64 cuts off is nonzero exactly where the remainder is
            value = self._nearest(name, "double", n, wide)
            divisor, dividend = (wide[1], wide[0]) if name == "fdiv" else (value, wide[0])
            negative = t.let(f"fneg {vector_type('double', n)} {value}")
            rest = self._nearest("fma", "double", n, [negative, divisor, dividend])
            if name == "fdiv":  # the remainder's sign is that of the error times the divisor
                rest = self._times_sign(n, rest, divisor)
            exact = self._odd(n, value, rest)
        return self.narrow(n, exact, "f64", type, rounding)

    def _times_sign(self, n: int, a: str, b: str) -> str:
        t = self.t
        word, real = vector_type("i64", n), vector_type("double", n)
        sign = t.two("and", word, t.cast("bitcast", real, b, word), splat("i64", 1 << 63, n))
        return t.cast("bitcast", word, t.two("xor", word, t.cast("bitcast", real, a, word), sign), real)

    def _fma_to_odd(self, n: int, args: list[str]) -> str:
        """a * b + c in f32 rounded to odd: of the neighbours below and above the true value, which are equal where that is an f32, the odd one.

        One of two neighbours is odd, at zero and next to infinity too. An exact zero is even in either sign and comes from above, as to nearest.
        """
        t = self.t
        word, real, mask = vector_type("i32", n), vector_type("float", n), vector_type("i1", n)
        below, above = (self._directed("fma", "f32", n, args, rounding) for rounding in ("rm", "rp"))
        last = t.two("and", word, t.cast("bitcast", real, below, word), splat("i32", 1, n))
        odd = t.let(f"icmp ne {word} {last}, {splat('i32', 0, n)}")
        return t.let(f"select {mask} {odd}, {real} {below}, {real} {above}")

    def _sum_to_odd(self, n: int, a: str, b: str) -> str:
        """a + b in f64 rounded to odd."""
        return self._odd(n, *self._two_sum(n, a, b))

    def _two_sum(self, n: int, a: str, b: str) -> tuple[str, str]:
        """a + b in f64 rounded to nearest, and the error of that, which is exact (Knuth)."""
        t = self.t
        real = vector_type("double", n)

        def sub(x: str, y: str) -> str:
            return t.let(f"fsub {real} {x}, {y}")

        s = t.let(f"fadd {real} {a}, {b}")
        bb = sub(s, a)
        return s, t.let(f"fadd {real} {sub(a, sub(s, bb))}, {sub(b, bb)}")

    def _odd(self, n: int, value: str, error: str) -> str:
        """Make an inexact nearest result odd, given a number with the sign of (true value - result)."""
        t = self.t
        word, real, mask = vector_type("i64", n), vector_type("double", n), vector_type("i1", n)
        bits = t.let(f"bitcast {real} {value} to {word}")
        inexact = t.let(f"fcmp one {real} {error}, {splat('f64', 0, n)}")
        even = t.two("icmp eq", word, t.two("and", word, bits, splat("i64", 1, n)), splat("i64", 0, n))
        below = t.let(f"fcmp olt {real} {error}, {splat('f64', 0, n)}")
        negative = t.let(f"icmp slt {word} {bits}, {splat('i64', 0, n)}")
        shrink = t.let(f"xor {mask} {below}, {negative}")
        step = t.let(f"select {mask} {shrink}, {word} {splat('i64', -1, n)}, {word} {splat('i64', 1, n)}")
        change = t.let(f"and {mask} {inexact}, {even}")
        moved = t.pick(n, change, word, t.two("add", word, bits, step), bits)
        return t.let(f"bitcast {word} {moved} to {real}")

    def _directed(self, name: str, type: str, n: int, args: list[str], rounding: str) -> str:
        """f32 and f64 in a rounding other than to nearest: AVX-512's embedded rounding, else f32 by way of f64, else the control register."""
        t = self.t
        element = LLVM_TYPE[type]
        width = self.chunk if n else 0
        if not self.avx512:
            if type == "f32" and name in ("fadd", "fsub", "fmul", "fma"):
                return self._directed_by_double(name, n, args, rounding)
            return self._by_control_register(name, element, n, args, rounding)
        native = 16 if element == "float" else 8
        if not n:
            wide = [t.let(f"insertelement <{native} x {element}> poison, {element} {a}, i32 0") for a in args]
            return t.let(
                f"extractelement <{native} x {element}> {self._embedded(name, element, wide, rounding)}, i32 0"
            )
        if width == native:
            return self._embedded(name, element, args, rounding)
        parts: list[str] = []
        for first in range(0, width, native):
            pieces = [t.shuffle(f"<{width} x {element}>", a, range(first, first + native)) for a in args]
            parts.append(self._embedded(name, element, pieces, rounding))
        return t.shuffle(f"<{native} x {element}>", parts[0], range(width), parts[1])

    def _directed_by_double(self, name: str, n: int, args: list[str], rounding: str) -> str:
        """f32 sums and products: the nearest number, one step back where it lies on the wrong side of the true value.

        A product of two f32 is exact in f64, and so is the error of a sum there; the change of the control
        register that this avoids takes 180 cycles (EPYC, family 25). Down is up with all signs turned, zeros' too.
        """
        t = self.t
        single, real = vector_type("float", n), vector_type("double", n)
        word, mask = vector_type("i32", n), vector_type("i1", n)

        def turned(x: str) -> str:
            return t.let(f"fneg {single} {x}") if rounding == "rm" else x

        if name == "fsub":
            args = [args[0], t.let(f"fneg {single} {args[1]}")]
        args = [turned(args[0]), *args[1:-1], args[-1] if name == "fmul" else turned(args[-1])]
        wide = [t.cast("fpext", single, a, real) for a in args]
        first = wide[0] if name in ("fadd", "fsub") else t.two("fmul", real, wide[0], wide[1])
        if name == "fmul":
            total, error = first, ""
        else:
            total, error = self._two_sum(n, first, wide[-1])
        near = t.cast("fptrunc", real, total, single)
        rest = t.two(
            "fsub", real, total, t.cast("fpext", single, near, real)
        )  # exact, and if not zero more than the error
        if error:
            rest = t.two("fadd", real, rest, error)
        bits, zero = t.cast("bitcast", single, near, word), splat("f64", 0, n)
        negative = t.two("icmp slt", word, bits, splat("i32", 0, n))
        if rounding == "rz":
            inward = t.two("fcmp ogt", real, rest, zero), t.two("fcmp olt", real, rest, zero)
            wrong = t.let(f"select {mask} {negative}, {mask} {inward[0]}, {mask} {inward[1]}")
            step = splat("i32", 0xFFFFFFFF, n)
        else:
            wrong = t.two("fcmp ogt", real, rest, zero)
            step = t.pick(n, negative, word, splat("i32", 0xFFFFFFFF, n), splat("i32", 1, n))
        stepped = t.pick(n, wrong, word, t.two("add", word, bits, step), bits)
        return turned(t.cast("bitcast", word, stepped, single))

    def _embedded(self, name: str, element: str, args: list[str], rounding: str) -> str:
        lanes, suffix = (16, "ps") if element == "float" else (8, "pd")
        stem = {"fadd": "add", "fsub": "sub", "fmul": "mul", "fdiv": "div", "fsqrt": "sqrt", "fma": "vfmadd"}[name]
        type = f"<{lanes} x {element}>"
        control = ("i32", str(_EMBEDDED[rounding]))
        self.t.declare(type, f"llvm.x86.avx512.{stem}.{suffix}.512", [type] * len(args) + ["i32"])
        return self.t.call(type, f"llvm.x86.avx512.{stem}.{suffix}.512", *((type, a) for a in args), control)

    def _by_control_register(self, name: str, element: str, n: int, args: list[str], rounding: str) -> str:
        """A function of its own, not inlined: no other float operation can drift between the two mode changes."""
        t = self.t
        type, suffix = vector_type(element, n), t.mangle(element, n)
        function = f"aw.{name}.{rounding}.{suffix}"
        stem = name if name == "fma" else "sqrt" if name == "fsqrt" else name
        intrinsic = f"llvm.experimental.constrained.{stem}.{suffix}"
        names = [f"%x{i}" for i in range(len(args))]
        parameters = ", ".join(f"{type} {x}" for x in names)
        t.declarations["llvm.set.rounding"] = "declare void @llvm.set.rounding(i32)"
        t.declarations[intrinsic] = f"declare {type} @{intrinsic}({', '.join([type] * len(args))}, metadata, metadata)"
        t.declarations[function] = "\n".join([
            f"define internal {type} @{function}({parameters}) noinline strictfp {{",
            f"  call void @llvm.set.rounding(i32 {_MODE[rounding]}) strictfp",
            f'  %r = call {type} @{intrinsic}({parameters}, metadata !"round.dynamic", metadata !"fpexcept.ignore") strictfp',
            "  call void @llvm.set.rounding(i32 1) strictfp",
            f"  ret {type} %r",
            "}",
        ])  # fmt: skip
        return t.let(f"call {type} @{function}({', '.join(f'{type} {a}' for a in args)})")

    # --- the rest -------------------------------------------------------------------------------------------------

    def sign(self, op: Op, n: int, a: str) -> str:
        """Emit fneg or fabs on the bits, NaN included."""
        t = self.t
        if op.type in ("f16", "bf16"):
            how, bits = ("xor", 0x8000) if op.name == "fneg" else ("and", 0x7FFF)
            return t.let(f"{how} {vector_type('i16', n)} {a}, {splat('i16', bits, n)}")
        element = LLVM_TYPE[op.type]
        type = vector_type(element, n)
        return (
            t.let(f"fneg {type} {a}")
            if op.name == "fneg"
            else t.call(type, f"llvm.fabs.{t.mangle(element, n)}", (type, a))
        )

    def _unary_wide(self, type: str, n: int, args: list[str], body: Callable[[str, list[str]], str]) -> str:
        """Apply an operation whose result needs no rounding in f32 for f16 and bf16, directly otherwise."""
        if type not in ("f16", "bf16"):
            return body(LLVM_TYPE[type], args)
        return self.narrow(n, body("float", [self.widen(n, a, type, "f32") for a in args]), "f32", type)

    def extreme(self, op: Op, n: int, a: str, b: str) -> str:
        """Emit fmin or fmax: IEEE 754-2019 minimumNumber and maximumNumber."""
        t = self.t
        name = "minimumnum" if op.name == "fmin" else "maximumnum"

        def body(element: str, args: list[str]) -> str:
            type = vector_type(element, n)
            return t.call(type, f"llvm.{name}.{t.mangle(element, n)}", *((type, x) for x in args))

        return self._unary_wide(op.type, n, [a, b], body)

    def round(self, op: Op, n: int, a: str) -> str:
        """Emit fround to an integral value."""
        rounding = Rounded.of(op).rounding
        return self._unary_wide(op.type, n, [a], lambda element, args: self._integral(element, n, args[0], rounding))

    def _integral(self, element: str, n: int, a: str, rounding: str) -> str:
        """Round an f32 or f64 to an integral value.

        By arithmetic: a size below 2^23 (f64: 2^52), plus that number, is rounded to nearest even where the numbers are whole; what
        is larger is whole already. Then one more or less where the other side is wanted, and the sign, that of zero too, is the operand's.
        """
        t, type, name = self.t, vector_type(element, n), {"float": "f32", "double": "f64"}[element]
        if self.rounds:
            return t.call(type, f"llvm.{_ROUND[rounding]}.{t.mangle(element, n)}", (type, a))
        whole, one = (0x4B000000, 0x3F800000) if name == "f32" else (0x433 << 52, 0x3FF << 52)

        def function(of: str, *args: str) -> str:
            return t.call(type, f"llvm.{of}.{t.mangle(element, n)}", *((type, x) for x in args))

        def corrected(near: str, how: str, wrong: str, than: str) -> str:
            off = t.two(f"fcmp {wrong}", type, near, than)
            return t.pick(n, off, type, t.two(how, type, near, splat(name, one, n)), near)

        size = function("fabs", a)
        near = t.two("fsub", type, t.two("fadd", type, size, splat(name, whole, n)), splat(name, whole, n))
        if rounding == "rz":
            near = corrected(near, "fsub", "ogt", size)
        elif rounding != "rn":
            near = function("copysign", near, a)
            near = corrected(near, "fsub", "ogt", a) if rounding == "rm" else corrected(near, "fadd", "olt", a)
        return t.pick(n, t.two("fcmp olt", type, size, splat(name, whole, n)), type, function("copysign", near, a), a)

    def compare(self, op: Op, n: int, a: str, b: str) -> str:
        """Emit a float comparison."""
        source = op.args[0].type
        wide = [self.widen(n, x, source, "f32") for x in (a, b)] if source in ("f16", "bf16") else [a, b]
        element = "float" if source in ("f16", "bf16") else LLVM_TYPE[source]
        return self.t.let(f"fcmp {FloatCompare.of(op).predicate} {vector_type(element, n)} {wide[0]}, {wide[1]}")

    def flush(self, op: Op, n: int, a: str) -> str:
        """Emit the replacement of subnormals by zeros of their sign, on the bits."""
        t = self.t
        width, exponent = {
            "f16": (16, 0x7C00),
            "bf16": (16, 0x7F80),
            "f32": (32, 0x7F800000),
            "f64": (64, 0x7FF << 52),
        }[op.type]
        name = f"i{width}"
        word, held = vector_type(name, n), vector_type(LLVM_TYPE[op.type], n)
        bits = a if held == word else t.let(f"bitcast {held} {a} to {word}")
        field = t.let(f"and {word} {bits}, {splat(name, exponent, n)}")
        small = t.let(f"icmp eq {word} {field}, {splat(name, 0, n)}")
        zero = t.let(f"and {word} {bits}, {splat(name, 1 << (width - 1), n)}")
        out = t.let(f"select {vector_type('i1', n)} {small}, {word} {zero}, {word} {bits}")
        return out if held == word else t.let(f"bitcast {word} {out} to {held}")


def _sums_to_whole_number(op: Op) -> bool:
    """Tell whether an f32 fma of a number in 0 ... 1 and two constants surely lies in 2^23 ... 2^24, where f32 holds whole numbers."""
    if op.name != "fma" or op.type != "f32" or not _is_saturated(op.args[0]):
        return False
    factor, base = (_number(a) for a in op.args[1:])
    if factor is None or base is None:
        return False
    return factor >= 0 and base >= 2**23 and base + factor < 2**24 and base == math.floor(base)


def _is_saturated(value: Value) -> bool:
    """Tell whether a value is one held within 0 and 1; of a NaN, fmax and fmin take the other operand."""
    ends: set[float | None] = set()
    for name in ("fmin", "fmax"):
        if not isinstance(value, Op) or value.name != name:
            return False
        ends.add(_number(value.args[1]))
        value = value.args[0]
    return ends == {0.0, 1.0}


def _number(value: Value) -> float | None:
    if not isinstance(value, Const) or value.type != "f32":
        return None
    return float(struct.unpack("<f", value.bits.to_bytes(4, "little"))[0])
