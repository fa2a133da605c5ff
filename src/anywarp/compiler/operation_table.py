"""Every operation and terminator of the kernel IR, declared once: operands, attributes, result, effects, and whether it may trap.

The verifier, the sets by which passes tell operations apart, the printer and docs/ir.md come from this table. What an operation
computes is written in `anywarp.ptx.isa.ops`; what is said here is what only the IR has, or how it differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from anywarp.compiler import attributes as a
from anywarp.compiler.signatures import Signature, signature
from anywarp.ptx.isa.ops import BITS
from anywarp.ptx.isa.special_registers import SPECIAL

Effect: TypeAlias = Literal["pure", "warp", "ordered", "acting"]
"""pure: depends on nothing but operands and launch constants. warp: also on which lanes are active, so it stays where it is in control flow.
ordered: kept in place and order, but nobody misses it when its result is unused. acting: kept in any case."""

Trap: TypeAlias = Literal["never", "faults", "ends"]
"""never: there is a result for all operands, so a lane may run it for nothing (`div` by zero and `float_to_int` of a NaN, too, which LLVM leaves
undefined). faults: it accesses memory at an address that it is given. ends: it may end the grid, or wait for ever for other lanes."""

Memory: TypeAlias = Literal["none", "read", "readwrite"]
"""LLVM's words (LangRef, `memory`): what it does to memory, that of other lanes and threads included that it lets go on."""

Relation: TypeAlias = Callable[[Sequence[str], str, a.Attributes], bool]
"""What must hold beside the signature, of the types of operands and result and the attributes."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation.

    `makes`: whether it has a result, `more`: how many there are where it may have several (the others come through `element`).
    `guarded`: lanes whose guard is false take no part.
    """

    name: str
    signature: Signature
    effect: Effect
    trap: Trap
    memory: Memory
    attributes: type[a.Attributes]
    makes: bool
    guarded: bool
    relation: Relation | None
    more: Callable[[a.Attributes], int] | None
    note: str


@dataclass(frozen=True, slots=True)
class Ending:
    """One terminator. `targets`: how many at least, and at most (None: any number)."""

    name: str
    signature: Signature
    targets: tuple[int, int | None]
    attributes: type[a.Attributes]
    relation: Relation | None
    note: str


OPERATIONS: dict[str, Operation] = {}
"""By name."""
ENDINGS: dict[str, Ending] = {}
"""By name."""


def _declare(
    names: str, text: str, effect: Effect, attributes: type[a.Attributes] = a.Attributes, note: str = "", *, trap: Trap = "never",
    memory: Memory = "none", makes: bool = True, guarded: bool = False, relation: Relation | None = None,
    more: Callable[[a.Attributes], int] | None = None,
) -> None:  # fmt: skip
    for name in names.split():
        OPERATIONS[name] = Operation(
            name, signature(text), effect, trap, memory, attributes, makes, guarded, relation, more, note
        )


def _narrower(operands: Sequence[str], result: str, attrs: a.Attributes) -> bool:
    return BITS[operands[0]] > BITS[result]


def _wider(operands: Sequence[str], result: str, attrs: a.Attributes) -> bool:
    return BITS[operands[0]] < BITS[result]


def _as_wide(operands: Sequence[str], result: str, attrs: a.Attributes) -> bool:
    return BITS[operands[0]] == BITS[result]


def _to_integral(operands: Sequence[str], result: str, attrs: a.Attributes) -> bool:
    return cast(a.Rounded, attrs).rounding != "rna"


def _changes(operands: Sequence[str], result: str, attrs: a.Attributes) -> bool:
    return operands[0] != result


def _approximates(operands: Sequence[str], result: str, attrs: a.Attributes) -> bool:
    return result == "f32" or cast(a.Approximated, attrs).function in ("rcp", "rsqrt")


def _register(operands: Sequence[str], result: str, attrs: a.Attributes) -> bool:
    return SPECIAL.get(cast(a.Special, attrs).name) == result


def _loads(operands: Sequence[str], result: str, attrs: a.Attributes) -> bool:
    return cast(a.MemoryAccess, attrs).count >= 1


def _stores(operands: Sequence[str], result: str, attrs: a.Attributes) -> bool:
    return cast(a.MemoryAccess, attrs).count == len(operands) - 1


def _updates(operands: Sequence[str], result: str, attrs: a.Attributes) -> bool:
    access = cast(a.AtomicAccess, attrs)
    op = access.op
    return access.strong and len(operands) == (3 if op == "cas" else 2) and (result[0] != "i") == op.startswith("f")


_HELD = {"f32": "f32", "f64": "f64"}
"""Types of registers of matrices, by their elements; i32 holds all others."""


def _orders(operands: Sequence[str], result: str, attrs: a.Attributes) -> bool:
    return cast(a.Fence, attrs).order not in ("weak", "relaxed")


def _multiplies(operands: Sequence[str], result: str, attrs: a.Attributes) -> bool:
    """The registers of A, B and C, each in the type that holds it; behind them words, a sparse A's indices."""
    p = cast(a.MatrixProduct, attrs).product
    held = [_HELD.get(p.kind(which), "i32") for which in "abc" for _ in range(p.registers(which))]
    words = operands[len(held) :]
    return list(operands[: len(held)]) == held and all(t == "i32" for t in words) and result == _HELD.get(p.d, "i32")


def _answers(operands: Sequence[str], result: str, attrs: a.Attributes) -> bool:
    return result == (cast(a.Service, attrs).returns or "i1")


def _samples(operands: Sequence[str], result: str, attrs: a.Attributes) -> bool:
    objects = cast(a.TextureAccess, attrs).objects
    return all(t == ("i64" if i < objects else "i32") for i, t in enumerate(operands)) and objects <= len(operands)


_declare("add sub mul", "T:int T -> T", "pure")
_declare("mulhi min max", "T:int T -> T", "pure", a.Signed)
_declare("div rem", "T:int T -> T", "pure", a.Signed, "by zero, too: all ones, or the dividend")
_declare("and or xor", "T:bits T -> T", "pure")
_declare("not", "T:bits -> T", "pure")
_declare("shl lshr ashr", "T:int T -> T", "pure")
_declare("dot4", "i32 i32 i32 -> i32", "pure", a.Factors, "the third operand, and the products of the others' bytes")
_declare("ctpop ctlz cttz bitreverse", "T:int -> T", "pure")
_declare("icmp", "T:int T -> i1", "pure", a.Compare)
_declare("select", "i1 T:any T -> T", "pure")
_declare("trunc", "A:bits -> B:bits", "pure", note="to fewer bits", relation=_narrower)
_declare("zext sext", "A:bits -> B:bits", "pure", note="to more bits", relation=_wider)
_declare("bitcast", "A:any -> B:any", "pure", note="to as many bits", relation=_as_wide)
_declare("fadd fsub fmul fdiv", "T:float T -> T", "pure", a.Rounded)
_declare("fma", "T:float T T -> T", "pure", a.Rounded)
_declare("fsqrt", "T:float -> T", "pure", a.Rounded)
_declare("fneg fabs flush", "T:float -> T", "pure")
_declare("fmin fmax", "T:float T -> T", "pure")
_declare("fcmp", "T:float T -> i1", "pure", a.FloatCompare)
_declare("fround", "T:float -> T", "pure", a.Rounded, "to an integral value; not `rna`", relation=_to_integral)
_declare("fconvert", "A:float -> B:float", "pure", a.Rounded, "to another type", relation=_changes)
_declare("int_to_float", "A:int -> B:float", "pure", a.Converted)
_declare("float_to_int", "A:float -> B:int", "pure", a.Converted)
_declare("approximate", "T:f32|f64 -> T", "pure", a.Approximated, "of an f64: `rcp`, `rsqrt`", relation=_approximates)
_declare("to_generic from_generic", "i64 -> i64", "pure", a.Space)
_declare("is_space", "i64 -> i1", "pure", a.Space)
_declare("param", "-> T:memory", "pure", a.Parameter, "what the parameter buffer holds")
_declare("symbol", "-> T:address", "pure", a.Symbol, "the address of a variable within its state space")
_declare("special", "-> T:any", "pure", a.Special, "pure but for clocks, which stay in place", relation=_register)
_declare("element", "T:any -> T", "pure", a.Element, "one of several results of its operand")
_declare("shuffle", "T:any i32 -> T", "warp")
_declare("ballot", "i1 -> i32", "warp")
_declare("match_any", "T:i32|i64 -> i32", "warp")
_declare("reduce", "i32 i32 -> i32", "warp", a.Reduction)
_declare(
    "matrix", "any* -> T:i32|f32|f64", "warp", a.MatrixProduct, "the registers of A, B, C and what else the product needs; the first of D",
    relation=_multiplies, more=lambda attrs: cast(a.MatrixProduct, attrs).product.registers("d"),
)  # fmt: skip
_declare(
    "load", "address -> T:memory", "ordered", a.MemoryAccess, "a volatile one acts", trap="faults", memory="read",
    guarded=True, relation=_loads, more=lambda attrs: cast(a.MemoryAccess, attrs).count,
)  # fmt: skip
_declare(
    "matrix_load",
    "address -> i32",
    "ordered",
    a.MatrixLoad,
    trap="faults",
    memory="read",
    guarded=True,
    more=lambda attrs: cast(a.MatrixLoad, attrs).count,
)
_declare(
    "store", "address T:memory T* -> T", "acting", a.MemoryAccess, trap="faults", memory="readwrite",
    makes=False, guarded=True, relation=_stores,
)  # fmt: skip
_declare(
    "atomic",
    "address T:memory T* -> T",
    "acting",
    a.AtomicAccess,
    "`cas`: compare, new",
    trap="faults",
    memory="readwrite",
    guarded=True,
    relation=_updates,
)
_declare("fence", "-> i1", "acting", a.Fence, memory="readwrite", makes=False, relation=_orders)
_declare(
    "host_call", "any* -> T:any", "acting", a.Service, "i1 where nothing is returned", trap="ends", memory="readwrite",
    guarded=True, relation=_answers,
)  # fmt: skip
_declare(
    "texture", "any* -> i32", "acting", a.TextureAccess, "objects (i64), then words (i32)", trap="faults", memory="readwrite",
    guarded=True, relation=_samples, more=lambda attrs: cast(a.TextureAccess, attrs).results,
)  # fmt: skip
_declare("barrier_result", "-> T:i1|i32", "ordered", note="what the reducing barrier before this block computed")
_declare(
    "converge",
    "i32 i32? -> i1",
    "acting",
    a.Converge,
    "waits until the lanes of a mask that have not ended are there; no result. The second operand says which of `lines` a lane came from",
    trap="ends",
    memory="readwrite",
)
_declare(
    "check", "any* -> i1", "acting", a.Checked, "whether the lane may go on, in checked compilations", guarded=True
)
_declare(
    "wave_all",
    "i1 -> i1",
    "warp",
    note="whether all active lanes of the hardware's wave agree; `amdgpu.turns` makes it",
)
_declare(
    "barrier_arrive",
    "i32 i32? -> i32",
    "ordered",
    note="barrier, threads: the phase that the warp arrives in; `amdgpu.turns` makes it",
    memory="readwrite",
)
_declare(
    "barrier_passed", "i32 i32 -> i1", "ordered", note="barrier, phase: whether it is over; `amdgpu.turns` makes it",
    memory="readwrite",
)  # fmt: skip
_declare(
    "matrix_layout", "T:i32|f32 T* -> T", "warp", a.MatrixLayout, "sums into the places of a matrix instruction, or out of them; `amdgpu` makes it",
    more=lambda attrs: cast(a.MatrixLayout, attrs).count,
)  # fmt: skip


def _waits(operands: Sequence[str], result: str, attrs: a.Attributes) -> bool:
    """Barriers: `operands` are "" where there is none."""
    b = cast(a.Barrier, attrs)
    if b.kind == "yield":
        return not operands and not b.warp
    if b.warp:
        return list(operands) == ["i32"] and b.kind in ("sync", "meet")
    return (
        len(operands) == 3
        and operands[0] == "i32"
        and b.kind != "meet"
        and bool(operands[2]) == b.kind.startswith("red")
    )


def _end(
    name: str, text: str, targets: tuple[int, int | None], attributes: type[a.Attributes] = a.Attributes, note: str = "",
    relation: Relation | None = None,
) -> None:  # fmt: skip
    ENDINGS[name] = Ending(name, signature(text), targets, attributes, relation, note)


_end("jump", "", (1, 1))
_end("branch", "i1", (2, 2), note="taken, not taken")
_end("switch", "i32", (1, None), note="targets by index; an index out of range is undefined")
_end("exit", "", (0, 0), note="the lane ends")
_end("trap", "", (0, 0), a.Trapped, "the grid is aborted")
_end(
    "barrier", "i32? i32? i1?", (1, 1), a.Barrier,
    "of the block: barrier, threads or none, predicate where it reduces; of the warp: member mask; `yield`: none", relation=_waits,
)  # fmt: skip


def with_effect(*effects: Effect) -> frozenset[str]:
    """Return the names of the operations with one of these effects."""
    return frozenset(o.name for o in OPERATIONS.values() if o.effect in effects)


def with_trap(*traps: Trap) -> frozenset[str]:
    """Return the names of the operations that trap in one of these ways."""
    return frozenset(o.name for o in OPERATIONS.values() if o.trap in traps)


def with_memory(*kinds: Memory) -> frozenset[str]:
    """Return the names of the operations that do one of these things to memory."""
    return frozenset(o.name for o in OPERATIONS.values() if o.memory in kinds)
