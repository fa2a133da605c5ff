"""Warp-wide instructions: shuffles, votes, matches, reductions.

The `.sync` forms name their lanes in a mask; lanes outside it are not waited for here, because whoever runs the control flow
brings the named lanes together first.
"""

from __future__ import annotations

from typing import Any

from anywarp.ptx.isa.operands import pair, read, take, value_type, write
from anywarp.ptx.isa.ops import Ops, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Instruction, Integer, Operand


def _members(ops: Ops, i: Instruction, mask: Operand | None) -> V:
    return read(ops, Integer(-1) if mask is None else mask, "i32")


def exchanged_types(i: Instruction) -> tuple[list[str], list[str]]:
    """Return the types of what a `.sync` instruction that names lanes writes, and of what it reads, the mask last."""
    if i.opcode == "vote":
        return [i.types[-1]], ["pred", "b32"]
    if i.opcode == "redux":
        return [i.types[0]], [i.types[0], "b32"]
    if i.opcode == "match":
        return (["b32", "pred"] if i.has("all") else ["b32"]), [i.types[0], "b32"]
    return ["b32", "pred"], ["b32"] * (4 if i.opcode == "shfl" else 1)


@meaning("shfl.sync.up/down/bfly/idx.b32", "shfl.up/down/bfly/idx.b32")
def shfl(ops: Ops, i: Instruction) -> None:
    """`shfl`: read a register of another lane within a segment; p tells whether that lane was in range."""
    destination, a, b, c = take(i, 5 if i.has("sync") else 4)[:4]
    d, p = pair(destination)
    low5 = ops.const("i32", 31)
    value, amount, control = (read(ops, x, "i32") for x in (a, b, c))
    lane = ops.special("laneid")
    amount = ops.and_(amount, low5)
    clamp = ops.and_(control, low5)
    segment = ops.and_(ops.lshr(control, ops.const("i32", 8)), low5)
    inside = ops.not_(segment)
    last = ops.or_(ops.and_(lane, segment), ops.and_(clamp, inside))
    if i.has("up"):
        source = ops.sub(lane, amount)
        valid = ops.icmp("sge", source, last)
    else:
        if i.has("down"):
            source = ops.add(lane, amount)
        elif i.has("bfly"):
            source = ops.xor(lane, amount)
        else:
            source = ops.or_(ops.and_(lane, segment), ops.and_(amount, inside))
        valid = ops.icmp("sle", source, last)
    found = ops.shuffle(value, ops.select(valid, source, lane))
    write(ops, d, found)
    write(ops, p, valid)


@meaning("vote{.sync}.all/any/uni.pred")
def vote(ops: Ops, i: Instruction) -> None:
    """`vote`: whether a predicate holds in all, in any, or equally in all lanes."""
    d, a, *rest = take(i, 3 if i.has("sync") else 2)
    members = _members(ops, i, rest[0] if rest else None)
    predicate, none = read(ops, a, "i1"), ops.const("i32", 0)

    def nobody(condition: V) -> V:
        return ops.icmp("eq", ops.and_(ops.ballot(condition), members), none)

    if i.has("any"):
        write(ops, d, ops.not_(nobody(predicate)))
    elif i.has("all"):
        write(ops, d, nobody(ops.not_(predicate)))
    else:
        write(ops, d, ops.or_(nobody(predicate), nobody(ops.not_(predicate))))


@meaning("vote{.sync}.ballot.b32")
def ballot(ops: Ops, i: Instruction) -> None:
    """`vote.ballot`: the mask of lanes whose predicate holds."""
    d, a, *rest = take(i, 3 if i.has("sync") else 2)
    mask = ops.ballot(read(ops, a, "i1"))
    write(ops, d, ops.and_(mask, read(ops, rest[0], "i32")) if rest else mask)


@meaning("match.any.sync.b32/b64")
def match_any(ops: Ops, i: Instruction) -> None:
    """`match.any`: the mask of lanes that hold the same value."""
    d, a, mask = take(i, 3)
    write(ops, d, ops.and_(ops.match_any(read(ops, a, value_type(i.types[0]))), read(ops, mask, "i32")))


@meaning("match.all.sync.b32/b64")
def match_all(ops: Ops, i: Instruction) -> None:
    """`match.all`: the mask of all lanes if all hold the same value, else 0."""
    destination, a, mask = take(i, 3)
    d, p = pair(destination)
    members = read(ops, mask, "i32")
    same = ops.and_(ops.match_any(read(ops, a, value_type(i.types[0]))), members)
    everyone = ops.and_(ops.ballot(ops.const("i1", 1)), members)
    agree = ops.icmp("eq", same, everyone)
    write(ops, d, ops.select(agree, everyone, ops.const("i32", 0)))
    write(ops, p, agree)


@meaning("redux.sync.add/min/max.u32/s32", "redux.sync.and/or/xor.b32")
def redux(ops: Ops, i: Instruction) -> None:
    """`redux`: reduce a register over the named lanes."""
    d, a, mask = take(i, 3)
    name: Any = next(m for m in i.modifiers if m in ("add", "min", "max", "and", "or", "xor"))
    if name in ("min", "max") and i.types[0] == "u32":
        name = "u" + name
    write(ops, d, ops.reduce(name, read(ops, a, "i32"), read(ops, mask, "i32")))


@meaning("redux.sync.min/max{.abs}{.NaN}.f32")
def redux_float(ops: Ops, i: Instruction) -> None:
    """`redux` of f32: numbers are ordered as integers, NaNs put where they lose (or win, under `.NaN`)."""
    d, a, mask = take(i, 3)
    value = read(ops, a, "f32")
    if i.has("abs"):
        value = ops.fabs(value)
    name: Any = "min" if i.has("min") else "max"
    key = _flip(ops, ops.bitcast(value, "i32"))
    wins = i.has("NaN") == (name == "max")
    extreme = ops.const("i32", 0x7FFFFFFF if wins else 0x80000000)
    key = ops.select(ops.fcmp("uno", value, value), extreme, key)
    found = ops.reduce(name, key, read(ops, mask, "i32"))
    number = ops.select(ops.icmp("eq", found, extreme), ops.const("i32", 0x7FFFFFFF), _flip(ops, found))
    write(ops, d, ops.bitcast(number, "f32"))


def _flip(ops: Ops, bits: V) -> V:
    """Exchange float bits with integers of the same order: negative numbers have their lower bits inverted."""
    return ops.xor(bits, ops.lshr(ops.ashr(bits, ops.const("i32", 31)), ops.const("i32", 1)))


@meaning("activemask.b32")
def activemask(ops: Ops, i: Instruction) -> None:
    """`activemask`."""
    (d,) = take(i, 1)
    write(ops, d, ops.ballot(ops.const("i1", 1)))


@meaning("elect.sync")
def elect(ops: Ops, i: Instruction) -> None:
    """`elect`: one of the named lanes, here the lowest."""
    destination, mask = take(i, 2)
    d, p = pair(destination)
    leader = ops.cttz(ops.and_(ops.ballot(ops.const("i1", 1)), read(ops, mask, "i32")))
    write(ops, d, leader)
    write(ops, p, ops.icmp("eq", leader, ops.special("laneid")))
