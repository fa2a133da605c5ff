"""Which power of two surely divides an address, by the variable that it begins with.

LLVM finds this by itself but where an address goes round a loop; what lies in shared memory side by side is then read by an instruction for every 8 bytes.
"""

from __future__ import annotations

from anywarp.compiler.amdgpu.pointers import is_dynamic
from anywarp.compiler.attributes import InSpace, Symbol
from anywarp.compiler.ir import Const, Kernel, Op, Phi, Undefined, Value

MOST = 16
"""Bytes of the widest access; that variables of these spaces are laid out by at least as much is seen to in pointers.py."""
_SPACES = ("shared", "local")
_LEAST = frozenset("add sub or xor".split())
_SAME = frozenset("zext sext trunc to_generic from_generic".split())


def alignments(kernel: Kernel) -> dict[Value, int]:
    """Return for all values of 32 and 64 bits which power of two, MOST at most, divides them."""
    values = [v for b in kernel.blocks for v in (*b.phis, *b.ops) if v.type in ("i32", "i64")]
    found: dict[Value, int] = dict.fromkeys(values, MOST)
    changed = True
    while changed:  # downwards from MOST: sums wrap at a power of two, which changes nothing of what divides them
        changed = False
        for value in values:
            now = _divisor(value, found, kernel)
            changed |= now != found[value]
            found[value] = now
    return found


def _divisor(value: Value, found: dict[Value, int], kernel: Kernel) -> int:
    if isinstance(value, Phi):
        return min((_of(v, found) for v in value.incoming.values()), default=1)
    assert isinstance(value, Op)
    if value.name == "symbol":
        offset = Symbol.of(value).offset - (kernel.shared_bytes if is_dynamic(value) else 0)
        return _power(offset) if InSpace.of(value).space in _SPACES else 1
    each = [_of(a, found) for a in value.args]
    if value.name in _LEAST:
        return min(each)
    if value.name in _SAME:
        return each[0]
    if value.name == "select":
        return min(each[1:])
    if value.name == "and":
        return max(each)
    if value.name == "mul":
        return min(each[0] * each[1], MOST)
    if value.name == "shl" and isinstance(value.args[1], Const):
        return min(each[0] << min(value.args[1].bits, 4), MOST)
    return 1


def _of(value: Value, found: dict[Value, int]) -> int:
    if isinstance(value, Const):
        return _power(value.bits)
    return MOST if isinstance(value, Undefined) else found.get(value, 1)


def _power(number: int) -> int:
    return min(number & -number, MOST) if number else MOST
