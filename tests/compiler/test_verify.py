"""The verifier: what each operation of real kernels may not be, and one malformed operation for each rule."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from anywarp.compiler import attributes as a
from anywarp.compiler.ir import ACTING, EFFECTS, PURE, WARP, Block, Const, Op, Specialisation, Terminator
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.operation_table import ENDINGS, OPERATIONS
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.verify import verify
from anywarp.compiler.verify_operations import problem_of, problem_of_end
from anywarp.ptx.index import index_module

CASES = Path(__file__).parents[1]
FILES = ["semantics/cases/barriers.ptx", "semantics/cases/progress.ptx", "compiler/cases/divergence.ptx"]
TYPES = ("i1", "i8", "i16", "i32", "i64", "i128", "f16", "bf16", "f32", "f64")
ANYTHING = {"host_call", "check"}
"""Operations that take whatever operands there are."""


def i32(bits=0):
    return Const("i32", bits)


def f32(bits=0):
    return Const("f32", bits)


SELECT = [Const("i1", 1), i32(), i32()]
LOADED = Op("load", "i32", [Const("i64", 0)], a.MemoryAccess("global", 2))
MALFORMED = {
    "an operation that does not exist": Op("frobnicate", "i32", [i32()]),
    "an operand missing": Op("add", "i32", [i32()]),
    "an operand too many": Op("add", "i32", [i32(), i32(), i32()]),
    "operands of two types": Op("add", "i32", [i32(), Const("i64", 0)]),
    "floats where integers belong": Op("add", "f32", [f32(), f32()]),
    "a predicate where a number belongs": Op("add", "i1", [Const("i1", 0), Const("i1", 0)]),
    "a result of another type": Op("add", "i64", [i32(), i32()]),
    "no attributes": Op("icmp", "i1", [i32(), i32()]),
    "attributes of another family": Op("icmp", "i1", [i32(), i32()], a.Signed(True)),
    "attributes where there are none": Op("add", "i32", [i32(), i32()], a.Signed(True)),
    "a predicate of floats": Op("icmp", "i1", [i32(), i32()], a.Compare("olt")),
    "a rounding that does not exist": Op("fadd", "f32", [f32(), f32()], a.Rounded("up")),
    "a rounding to no integral value": Op("fround", "f32", [f32()], a.Rounded("rna")),
    "a sign that is no truth": Op("min", "i32", [i32(), i32()], a.Signed(1)),
    "a wider truncation": Op("trunc", "i64", [i32()]),
    "a narrower extension": Op("zext", "i16", [i32()]),
    "a bitcast that changes width": Op("bitcast", "f64", [i32()]),
    "a conversion to the same type": Op("fconvert", "f32", [f32()], a.Rounded()),
    "a float from a float": Op("int_to_float", "f32", [f32()], a.Converted(True)),
    "an approximation that f64 does not have": Op("approximate", "f64", [Const("f64", 0)], a.Approximated("sin")),
    "a choice by a number": Op("select", "i32", [i32(), i32(), i32()]),
    "a space that does not exist": Op("to_generic", "i64", [Const("i64", 0)], a.Space("texture")),
    "an order that does not exist": Op("fence", "i1", [], a.Fence("seq", "gpu")),
    "a fence that orders nothing": Op("fence", "i1", [], a.Fence("weak", "gpu")),
    "a weak update": Op("atomic", "i32", [Const("i64", 0), i32()], a.AtomicAccess("add", "global", "weak", returns=True)),
    "a scope that does not exist": Op("fence", "i1", [], a.Fence("sc", "world")),
    "a special register that does not exist": Op("special", "i32", [], a.Special("tid.q")),
    "a special register of another type": Op("special", "i32", [], a.Special("clock64")),
    "predicates in memory": Op("load", "i1", [Const("i64", 0)], a.MemoryAccess("global")),
    "an address of 16 bits": Op("load", "i32", [Const("i16", 0)], a.MemoryAccess("global")),
    "a load of nothing": Op("load", "i32", [Const("i64", 0)], a.MemoryAccess("global", 0)),
    "a store of fewer values than it says": Op("store", "i32", [Const("i64", 0), i32()], a.MemoryAccess("global", 2)),
    "a comparison without what to store": Op(
        "atomic", "i32", [Const("i64", 0), i32()], a.AtomicAccess("cas", "global", "relaxed", returns=True)
    ),
    "a sum of floats in integers": Op(
        "atomic", "i32", [Const("i64", 0), i32()], a.AtomicAccess("fadd", "global", "relaxed", returns=True)
    ),
    "an answer of another type": Op("host_call", "i64", [], a.Service("malloc", "i32")),
    "an element beyond the last": Op("element", "i32", [LOADED], a.Element(2)),
    "an element of what has one result": Op("element", "i32", [Op("add", "i32", [i32(), i32()])], a.Element(1)),
    "a guard where it is not obeyed": Op("add", "i32", [i32(), i32()], guard=Const("i1", 1)),
    "a guard that is a number": Op("load", "i32", [Const("i64", 0)], a.MemoryAccess("global"), guard=i32()),
    "objects of a texture that are words": Op("texture", "i32", [i32()], a.TextureAccess(0, 1, 4)),
}  # fmt: skip
ONE = [Block("target")]
ENDS = {
    "a terminator that does not exist": Terminator("return"),
    "a jump to nowhere": Terminator("jump"),
    "a branch without a condition": Terminator("branch", [], ONE * 2),
    "a branch on a number": Terminator("branch", [i32()], ONE * 2),
    "a branch on nothing": Terminator("branch", [None], ONE * 2),
    "a switch on a predicate": Terminator("switch", [Const("i1", 0)], ONE),
    "a switch to nowhere": Terminator("switch", [i32()]),
    "an exit to somewhere": Terminator("exit", [], ONE),
    "a trap without a reason": Terminator("trap"),
    "a barrier without its kind": Terminator("barrier", [i32(), None, None], ONE),
    "a barrier of a kind that does not exist": Terminator("barrier", [i32(), None, None], ONE, a.Barrier("red", False)),
    "a barrier without a number": Terminator("barrier", [None, None, None], ONE, a.Barrier("sync", False)),
    "a reduction of nothing": Terminator("barrier", [i32(), None, None], ONE, a.Barrier("red_or", False)),
    "a barrier of the warp without members": Terminator("barrier", [], ONE, a.Barrier("sync", True)),
    "a yield with a number": Terminator("barrier", [i32(), None, None], ONE, a.Barrier("yield", False)),
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_operation_is_refused(name):
    assert problem_of(MALFORMED[name])


@pytest.mark.parametrize("name", ENDS)
def test_a_malformed_end_is_refused(name):
    assert problem_of_end(ENDS[name])


def operations():
    """All operations and ends of some kernels, checked ones too."""
    for file in FILES:
        index = index_module((CASES / file).read_text())
        for name in index.entries:
            for checks in (frozenset(), frozenset({"memory", "race", "sync"})):
                kernel = prepare_kernel(IndexedModule(index), name, Specialisation((64, 1, 1), checks=checks))
                assert verify(kernel) == []
                yield from ((op, block.terminator) for block in kernel.blocks for op in block.ops)


def other(type, allowed):
    """A type that may not stand where one of `allowed` does (None: where only `type` may)."""
    return next((t for t in reversed(TYPES) if t != type and (allowed is None or t not in allowed)), None)


def changed(op):
    """The operation, with one thing changed that must not be."""
    declared = OPERATIONS[op.name]

    def again(*, name=op.name, type=op.type, args=op.args, attrs=op.attrs, guard=op.guard):
        return Op(name, type, list(args), attrs, guard)

    yield again(name=f"{op.name}s")
    yield again(attrs=a.Special("laneid") if declared.attributes is not a.Special else a.Parameter(0))
    if declared.attributes is not a.Attributes:
        yield again(attrs=a.NONE)
        for field in fields(op.attrs):
            yield again(attrs=replace(op.attrs, **{field.name: b"no"}))
    if not declared.guarded:
        yield again(guard=Const("i1", 1))
    elif op.guard is not None:
        yield again(guard=i32())
    if op.name in ANYTHING:
        return
    yield again(args=[*op.args, Const("i128", 0)])
    result = declared.signature.result.types
    wrong = other(op.type, None if op.name in ("shuffle", "select", "special", "element") else result)
    if wrong is not None:
        yield again(type=wrong)
    for i, (part, arg) in enumerate(zip(declared.signature.operands, op.args, strict=False)):
        if part.least:
            yield again(args=op.args[:i] + op.args[i + 1 :])
        wrong = other(arg.type, part.types if part.types != OPERATIONS["bitcast"].signature.operands[0].types else None)
        if wrong is not None:
            yield again(args=[*op.args[:i], Const(wrong, 0), *op.args[i + 1 :]])


def test_whatever_is_changed_in_a_sound_operation_is_seen():
    seen = set()
    for op, end in operations():
        assert problem_of(op) is None and problem_of_end(end) is None
        key = (op.name, op.type, tuple(x.type for x in op.args), type(op.guard), op.attrs)
        if key in seen:
            continue
        seen.add(key)
        for one in changed(op):
            assert problem_of(one), (op.name, op.attrs, one.name, one.type, [x.type for x in one.args], one.attrs)
    assert len({key[0] for key in seen}) > 35


def test_every_operation_has_one_effect():
    assert set(OPERATIONS) == PURE | WARP | EFFECTS and not PURE & WARP and not EFFECTS & (PURE | WARP)
    assert ACTING < EFFECTS and all(o.effect in ("ordered", "acting") for o in OPERATIONS.values() if o.guarded)
    assert set(ENDINGS) == {"jump", "branch", "switch", "exit", "trap", "barrier"}
