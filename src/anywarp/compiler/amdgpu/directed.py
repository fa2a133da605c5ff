"""Sums, products, quotients and roots rounded toward zero, up or down.

f32 sets the hardware's mode around one instruction. LLVM lets nobody set the mode for f64, so there the nearest result is made, and one
step is taken if it lies on the wrong side of the true value. The side is known exactly: what the nearest result is off by has the sign
of a remainder, which one fused multiply-add or a sum without error gives.
"""

from __future__ import annotations

import re

from anywarp.compiler.amdgpu.code import Code
from anywarp.compiler.simd.text import splat

_MODE = {"rp": 1, "rm": 2, "rz": 3}  # MODE.round of f32: bits 0 and 1 of hardware register 1
_FIELD = str(1 | 0 << 6 | 1 << 11)
_FAR = -900
"""How many binary places apart a number only says on which side of another a sum lies."""


# --- f32: the hardware's mode -----------------------------------------------------------------------------------------


def by_mode(t: Code, name: str, args: list[str], rounding: str) -> str:
    """Emit an f32 operation in a mode of its own.

    Nothing else may stand between the two settings. LLVM keeps the operation there but does not promise to keep others out, so the
    machine code is looked at (`only_directed`); where something came in, the operation is a function of its own.
    """
    stem = {"fma": "fma", "fsqrt": "sqrt"}.get(name, name)
    intrinsic = f"llvm.experimental.constrained.{stem}.f32"
    t.declarations[intrinsic] = f"declare float @{intrinsic}({', '.join(['float'] * len(args))}, metadata, metadata)"
    t.declarations["llvm.amdgcn.s.setreg"] = "declare void @llvm.amdgcn.s.setreg(i32 immarg, i32)"

    def lines(values: list[str]) -> list[str]:
        given = ", ".join(f"float {a}" for a in values)
        return [
            f"call void @llvm.amdgcn.s.setreg(i32 {_FIELD}, i32 {_MODE[rounding]})",
            f'call float @{intrinsic}({given}, metadata !"round.dynamic", metadata !"fpexcept.ignore")',
            f"call void @llvm.amdgcn.s.setreg(i32 {_FIELD}, i32 0)",
        ]

    if not t.apart:
        before, operation, after = lines(args)
        t.do(before)
        found = t.let(operation)
        t.do(after)
        return found
    function = f"aw.{name}.{rounding}"
    names = [f"%x{i}" for i in range(len(args))]
    before, operation, after = lines(names)
    t.declarations[function] = "\n".join([
        f"define internal float @{function}({', '.join(f'float {x}' for x in names)}) noinline strictfp {{",
        f"  {before}", f"  %r = {operation} strictfp", f"  {after}", "  ret float %r", "}",
    ])  # fmt: skip
    return t.let(f"call float @{function}({', '.join(f'float {a}' for a in args)})")


_SET = re.compile(r"\s*s_setreg_imm32_b32 hwreg\(HW_REG_MODE, 0, 2\), (\d)")
_ROUNDS = re.compile(r"\bv_(?!cmp|max|min|cndmask|frexp|med3|mov|readf)\w*_f32")
_LEAVES = re.compile(r"\S+:|\s*s_(cbranch|branch|setpc|swappc)")


def only_directed(assembly: str) -> bool:
    """Tell whether exactly one instruction that rounds f32 stands between each setting of the mode and the setting back."""
    inside, count = False, 0
    for line in assembly.splitlines():
        found = _SET.match(line)
        if found:
            if (inside and count != 1) or inside == (found[1] != "0"):
                return False
            inside, count = found[1] != "0", 0
        elif inside:
            if _LEAVES.match(line):
                return False
            count += len(_ROUNDS.findall(line))
    return not inside


# --- f64: nearest, then perhaps a step ----------------------------------------------------------------------------------


def stepped(t: Code, name: str, args: list[str], rounding: str) -> str:
    """Emit an f64 operation (fadd, fsub, fmul, fma), or a quotient or root of f32 or f64 values, in a directed rounding."""
    if name == "fsub":
        args = [args[0], t.let(f"fneg double {args[1]}")]
    how = {"fadd": _sum, "fsub": _sum, "fmul": _product, "fma": _fused}[name]
    value, error = how(t, args)
    value = _step(t, "double", value, _inward(t, "double", value, error, args), rounding)
    if rounding != "rm" or name == "fmul":
        return value
    return _negative_zero(t, name, args, value, error)


def quotient(t: Code, element: str, args: list[str], rounding: str) -> str:
    """Emit a quotient."""
    suffix = t.mangle(element, 0)
    q = t.let(f"fdiv {element} {args[0]}, {args[1]}")
    (a, ea), (b, eb) = (_parts(t, element, x) for x in args)
    same = _scaled(t, element, q, t.two("sub", "i32", eb, ea))
    minus = t.let(f"fneg {element} {same}")
    rest = t.call(element, f"llvm.fma.{suffix}", (element, minus), (element, b), (element, a))
    # What is left over has the sign of the error times the divisor's.
    sign = t.call(element, f"llvm.copysign.{suffix}", (element, _one(element)), (element, b))
    error = t.let(f"fmul {element} {rest}, {sign}")
    divides = t.let(f"fcmp one {element} {args[1]}, 0.0")
    error = t.pick(0, divides, element, error, "0.0")
    return _step(t, element, q, _inward(t, element, q, error, args, divides), rounding)


def root(t: Code, element: str, a: str, rounding: str) -> str:
    """Emit a square root; small numbers are scaled, so that the remainder is not lost."""
    suffix = t.mangle(element, 0)
    q = t.call(element, f"llvm.sqrt.{suffix}", (element, a))
    small, up = ("0x3A00000000000000", 64) if element == "float" else ("0x0200000000000000", 512)
    tiny = t.let(f"fcmp olt {element} {a}, {small}")
    x = _scaled(t, element, a, t.pick(0, tiny, "i32", str(up), "0"))
    y = _scaled(t, element, q, t.pick(0, tiny, "i32", str(up // 2), "0"))
    error = t.call(element, f"llvm.fma.{suffix}", (element, t.let(f"fneg {element} {y}")), (element, y), (element, x))
    return _step(t, element, q, error, rounding)


def _sum(t: Code, args: list[str]) -> tuple[str, str]:
    a, b = args
    s = t.let(f"fadd double {a}, {b}")
    return s, _sum_error(t, a, b, s)


def _sum_error(t: Code, a: str, b: str, s: str) -> str:
    """Return what a sum is off by, exactly (Knuth's two-sum)."""
    part = t.let(f"fsub double {s}, {a}")
    first = t.let(f"fsub double {a}, {t.let(f'fsub double {s}, {part}')}")
    return t.let(f"fadd double {first}, {t.let(f'fsub double {b}, {part}')}")


def _product(t: Code, args: list[str]) -> tuple[str, str]:
    p = t.let(f"fmul double {args[0]}, {args[1]}")
    (a, ea), (b, eb) = (_parts(t, "double", x) for x in args)
    same = _scaled(t, "double", p, t.two("sub", "i32", "0", t.two("add", "i32", ea, eb)))
    return p, t.call("double", "llvm.fma.f64", ("double", a), ("double", b), ("double", t.let(f"fneg double {same}")))


def _fused(t: Code, args: list[str]) -> tuple[str, str]:
    """Boldo and Muller's error of a fused multiply-add, on numbers scaled so that nothing overflows or is lost."""
    r = t.call("double", "llvm.fma.f64", *(("double", x) for x in args))
    (a, ea), (b, eb), (c, ec) = (_parts(t, "double", x) for x in args)
    high = t.let(f"fmul double {a}, {b}")
    low = t.call("double", "llvm.fma.f64", ("double", a), ("double", b), ("double", t.let(f"fneg double {high}")))
    least = "-100000"
    no_product, no_sum = (t.let(f"fcmp oeq double {x}, 0.0") for x in (high, c))
    ep = t.pick(0, no_product, "i32", least, t.two("add", "i32", ea, eb))
    ec = t.pick(0, no_sum, "i32", least, ec)
    top = t.call("i32", "llvm.smax.i32", ("i32", ep), ("i32", ec))

    def placed(x: str, exponent: str) -> str:
        by = t.call("i32", "llvm.smax.i32", ("i32", t.two("sub", "i32", exponent, top)), ("i32", str(_FAR)))
        return _scaled(t, "double", x, by)

    high, low, c = placed(high, ep), placed(low, ep), placed(c, ec)
    same = _scaled(t, "double", r, t.two("sub", "i32", "0", top))
    alpha = t.let(f"fadd double {c}, {low}")
    alpha_error = _sum_error(t, c, low, alpha)
    beta = t.let(f"fadd double {high}, {alpha}")
    beta_error = _sum_error(t, high, alpha, beta)
    gamma = t.let(f"fadd double {t.let(f'fsub double {beta}, {same}')}, {beta_error}")
    return r, t.let(f"fadd double {gamma}, {alpha_error}")


def _negative_zero(t: Code, name: str, args: list[str], value: str, error: str) -> str:
    """Rounded down, a sum that is exactly zero is -0 unless both terms are +0 (IEEE 754, 6.3)."""
    bits = t.cast("bitcast", "double", value, "i64")
    terms = args if name != "fma" else [t.let(f"fmul double {args[0]}, {args[1]}"), args[2]]
    signs = [t.cast("bitcast", "double", x, "i64") for x in terms]
    some = t.two("icmp ne", "i64", t.two("or", "i64", signs[0], signs[1]), "0")
    exact = t.let(f"fcmp oeq double {error}, 0.0")
    flip = t.two("and", "i1", t.two("icmp eq", "i64", bits, "0"), t.two("and", "i1", some, exact))
    return t.cast("bitcast", "i64", t.pick(0, flip, "i64", str(-(1 << 63)), bits), "double")


def _inward(t: Code, element: str, value: str, error: str, args: list[str], also: str = "true") -> str:
    """Return the side of the true value; where finite numbers (and `also`) gave infinity, it is nearer to zero."""
    suffix = t.mangle(element, 0)
    infinity = splat("f32" if element == "float" else "f64", 0x7F800000 if element == "float" else 0x7FF << 52, 0)

    def size(x: str) -> str:
        return t.call(element, f"llvm.fabs.{suffix}", (element, x))

    finite = also
    for x in args:
        finite = t.two("and", "i1", finite, t.let(f"fcmp olt {element} {size(x)}, {infinity}"))
    infinite = t.let(f"fcmp oeq {element} {size(value)}, {infinity}")
    back = t.let(
        f"fneg {element} {t.call(element, f'llvm.copysign.{suffix}', (element, _one(element)), (element, value))}"
    )
    error = t.pick(0, finite, element, error, "0.0")  # infinity and what it gives are exact
    return t.pick(0, t.two("and", "i1", infinite, finite), element, back, error)


def _parts(t: Code, element: str, a: str) -> tuple[str, str]:
    """Return a number's digits, in [1/2, 1), and its exponent."""
    suffix = t.mangle(element, 0)
    digits = t.call(element, f"llvm.amdgcn.frexp.mant.{suffix}", (element, a))
    return digits, t.call("i32", f"llvm.amdgcn.frexp.exp.i32.{suffix}", (element, a))


def _scaled(t: Code, element: str, a: str, by: str) -> str:
    return t.call(element, f"llvm.ldexp.{t.mangle(element, 0)}.i32", (element, a), ("i32", by))


def _one(element: str) -> str:
    return splat("f32", 0x3F800000, 0) if element == "float" else splat("f64", 0x3FF << 52, 0)


def _step(t: Code, element: str, value: str, error: str, rounding: str) -> str:
    """Step from the nearest result, given a number with the sign of (true value - result)."""
    word, top = ("i32", 1 << 31) if element == "float" else ("i64", 1 << 63)
    bits = t.cast("bitcast", element, value, word)
    above, below = (t.let(f"fcmp {how} {element} {error}, 0.0") for how in ("ogt", "olt"))
    negative = t.two("icmp slt", word, bits, "0")
    up, down = t.two("add", word, bits, "1"), t.two("sub", word, bits, "1")
    zero = t.two("icmp eq", word, t.two("and", word, bits, str(top - 1)), "0")
    if rounding == "rp":  # from a zero of either sign the step up is the least positive number
        wrong, fixed = above, t.pick(0, zero, word, "1", t.pick(0, negative, word, down, up))
    elif rounding == "rm":
        wrong, fixed = below, t.pick(0, zero, word, str(1 - top), t.pick(0, negative, word, up, down))
    else:
        inward = t.pick(0, negative, "i1", above, below)
        wrong, fixed = t.two("and", "i1", inward, t.two("xor", "i1", zero, "true")), down
    return t.cast("bitcast", word, t.pick(0, wrong, word, fixed, bits), element)
