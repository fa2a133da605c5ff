"""`.ftz` by the processor's mode: a kernel whose f32 arithmetic all flushes subnormal numbers runs with MXCSR's FTZ and DAZ set.

Written out, a flush is a test and a masked operation for each operand that was read and each result; in that mode it is free.
"""

from __future__ import annotations

from anywarp.compiler.attributes import Approximated, Converted, Rounded
from anywarp.compiler.ir import Block, Const, Kernel, Op, Phi, Value
from anywarp.compiler.passes.drop_flushes import subnormal_values
from anywarp.compiler.uses import substitute, users_of

_ARITHMETIC = frozenset({"fadd", "fsub", "fmul", "fma", "fdiv", "fsqrt"})
_ON_BITS = frozenset({"flush", "fneg", "fabs", "select", "shuffle", "load", "store", "bitcast", "element", "param"})
"""Operations on floats that the mode does not touch."""
_ELSEWHERE = frozenset({"atomic", "host_call", "texture", "reduce"})
"""Operations whose code may compute with floats in ways that are not seen here."""
_UNKNOWN = frozenset({"load", "param", "element", "atomic", "symbol"})
"""What LLVM knows nothing of; lanes' numbers are constants to it."""
_ZEROS, _ONES = (0, 1 << 31), (0x3F800000, 0xBF800000)


def flush_by_mode(kernel: Kernel, converts_halves: bool, rounds_in_place: bool) -> None:
    """Set `kernel.flushes` where the mode changes no result of the kernel, and drop the flushes that it does.

    `converts_halves`: there are instructions between f16 and f32, which the mode does not touch; `rounds_in_place`: all roundings of f32 are one
    instruction. Source: Intel's manual, volume 1, 10.2.3.3 (FTZ) and 10.2.3.4 (DAZ). Legality: a result below the normal numbers becomes a zero of its
    sign, as does an operand. Such a result is found after rounding to 24 bits however small, that of a written flush after rounding to a multiple of
    2**-149; the two differ between 2**-126 (1 - 2**-24) and 2**-126, of which PTX does not say which it is.
    """
    values: list[Op | Phi] = [value for block in kernel.blocks for value in (*block.phis, *block.ops)]
    if not any(isinstance(value, Op) and value.name == "flush" for value in values):
        return
    users, subnormal = users_of(kernel), subnormal_values(kernel)
    ops = [value for value in values if isinstance(value, Op)]
    if not all(_is_untouched(op, users, subnormal, converts_halves) for op in ops):
        return
    mapping: dict[Value, Value] = {}
    for op in ops:
        if op.name == "flush" and op.type == "f32":
            source = op.args[0]
            by_result = isinstance(source, Op) and _flushes(source, rounds_in_place)
            if by_result or all(_reads_flushed(user, op, users, rounds_in_place) for user in users.get(op, ())):
                mapping[op] = source
    if mapping:
        substitute(kernel, mapping)
        for block in kernel.blocks:
            block.ops = [op for op in block.ops if op not in mapping]
        kernel.flushes = True


def _is_untouched(
    op: Op, users: dict[Value, list[Op | Phi | Block]], subnormal: set[Value], converts_halves: bool
) -> bool:
    """Tell whether an operation gives the same in the mode, flushes around it included."""
    types = {op.type, *(arg.type for arg in op.args)}
    name = op.name
    if name in _ELSEWHERE or name.startswith("matrix"):
        return False
    if name in _ON_BITS or not types & {"f16", "bf16", "f32", "f64"}:
        return True
    if "f64" in types:
        return False
    if name == "fconvert":
        if "f16" in types and not converts_halves:
            return False
        return op.type != "f16" or Rounded.of(op).rounding == "rn" or op.args[0] not in subnormal
    if types == {"f16"} or name == "int_to_float":
        return converts_halves or "f16" not in types  # sums and products of f16 are normal numbers of f32
    if "bf16" in types:
        return False
    if name == "float_to_int" and Converted.of(op).rounding in ("rn", "rz"):
        return True
    if name == "approximate" and Approximated.of(op).function == "ex2":
        return _all_flushed(op, users)
    if any(arg in subnormal for arg in op.args):
        return False
    return name not in (*_ARITHMETIC, "approximate") or _all_flushed(op, users)


def _all_flushed(value: Value, users: dict[Value, list[Op | Phi | Block]]) -> bool:
    return all(isinstance(user, Op) and user.name == "flush" for user in users.get(value, ()))


def _flushes(op: Op, rounds_in_place: bool) -> bool:
    """Tell whether an operation is one instruction that flushes its operands and its result."""
    if op.name not in _ARITHMETIC or op.type != "f32" or not (rounds_in_place or Rounded.of(op).rounding == "rn"):
        return False
    return not _may_be_operand(op) and not all(_may_be_constant(arg) for arg in op.args)


def _may_be_operand(op: Op) -> bool:
    """Tell whether LLVM may find that the result is an operand, and leave the instruction out."""
    a = op.args
    if op.name == "fmul":
        return _may_be(a[0], _ONES) or _may_be(a[1], _ONES)
    if op.name == "fma":
        return (_may_be(a[0], _ONES) or _may_be(a[1], _ONES)) and _may_be(a[2], _ZEROS)
    if op.name == "fdiv":
        return _may_be(a[1], _ONES)
    if op.name == "fadd":
        return _may_be(a[0], _ZEROS[1:]) or _may_be(a[1], _ZEROS[1:]) or any(_may_be_size(x) for x in a)
    if op.name == "fsub":
        return _may_be(a[0], _ZEROS[1:]) or _may_be(a[1], _ZEROS)
    return False


def _may_be_constant(value: Value, seen: frozenset[Value] = frozenset()) -> bool:
    """Tell whether LLVM may know a value once loops are unrolled; it computes with constants itself, and keeps subnormal results."""
    if isinstance(value, Const):
        return True
    if value in seen:
        return False
    seen |= {value}
    if isinstance(value, Phi):
        return any(_may_be_constant(source, seen) for source in value.incoming.values())
    return isinstance(value, Op) and (
        value.name == "int_to_float"
        or (value.name not in _UNKNOWN and all(_may_be_constant(x, seen) for x in value.args))
    )


def _may_be_size(value: Value, seen: frozenset[Value] = frozenset()) -> bool:
    """Tell whether a value may be seen to be no -0, so that 0 added to it goes."""
    if value in seen:
        return False
    seen |= {value}
    if isinstance(value, Phi):
        return any(_may_be_size(source, seen) for source in value.incoming.values())
    if not isinstance(value, Op) or value.name not in ("flush", "select", "fmin", "fmax"):
        return isinstance(value, Op) and value.name == "fabs"
    return any(_may_be_size(source, seen) for source in value.args)


def _may_be(value: Value, bits: tuple[int, ...], seen: frozenset[Value] = frozenset()) -> bool:
    """Tell whether a value may turn out to be one of these constants, once loops are unrolled."""
    if isinstance(value, Const):
        return value.bits in bits
    if value in seen:
        return False
    seen |= {value}
    if isinstance(value, Phi):
        return any(_may_be(source, bits, seen) for source in value.incoming.values())
    if isinstance(value, Op) and value.name in ("select", "fneg", "fabs", "flush", "fmin", "fmax", "bitcast"):
        return any(_may_be(source, bits if value.name not in ("fneg", "fabs") else (*bits, *(b ^ 1 << 31 for b in bits)), seen)
                   for source in value.args)  # fmt: skip
    return False


def _reads_flushed(
    user: Op | Phi | Block, value: Value, users: dict[Value, list[Op | Phi | Block]], rounds_in_place: bool
) -> bool:
    """Tell whether a user of a flush takes what was flushed as zero, too."""
    if not isinstance(user, Op):
        return False
    if user.name in ("fneg", "fabs"):
        return all(_reads_flushed(one, user, users, rounds_in_place) for one in users.get(user, ()))
    return _flushes(user, rounds_in_place)
