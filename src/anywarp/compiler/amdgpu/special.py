"""Special registers: what the hardware tells a lane, and what the launch says in the argument buffer. PTX manual, chapter 10."""

from __future__ import annotations

from anywarp.compiler.amdgpu.emitter import Emitter
from anywarp.compiler.attributes import Special
from anywarp.compiler.ir import CLOCKS, Op
from anywarp.compiler.simd.text import LLVM_TYPE, Text
from anywarp.ptx.isa.ops import BITS

AXES = "xyz"
_ZERO = (
    "cluster_ctaid.",
    "envreg",
    "pm",
    "cluster_ctarank",
    "is_explicit_cluster",
    "current_graph_exec",
    "reserved_smem_offset",
)
_ONE = ("cluster_nctaid.", "cluster_nctarank")
_FIELD = {"dynamic_smem_size": "dynamic_shared", "total_smem_size": "shared_total", "aggr_smem_size": "shared_total"}
_NANOSECONDS = 10
"""Of a tick of the constant clock, which runs at 100 MHz."""


def emit_special(e: Emitter, op: Op) -> None:
    """Define a special register's value; a cluster is one block."""
    name = Special.of(op).name
    value, width = _value(e, name)
    want = BITS[op.type]
    if want == width or value in ("0", "1"):
        e.define(op, {"0": "false", "1": "true"}.get(value, value) if op.type == "i1" else value)
        return
    e.define(op, e.t.cast("zext" if want > width else "trunc", f"i{width}", value, LLVM_TYPE[op.type]))


def _value(e: Emitter, name: str) -> tuple[str, int]:
    stem, _, axis = name.partition(".")
    stem = {"clusterid": "ctaid", "nclusterid": "nctaid"}.get(stem, stem)
    if stem in ("tid", "ntid", "ctaid", "nctaid"):
        return {"tid": thread, "ntid": block_size, "ctaid": block_index, "nctaid": grid_size}[stem](e, axis), 32
    if name == "envreg1" or name == "envreg2":
        workspace = e.hidden("grid_workspace", "i64")
        half = e.t.two("lshr", "i64", workspace, "32") if name == "envreg1" else workspace
        return e.t.cast("trunc", "i64", half, "i32"), 32
    if name.startswith((*_ZERO, *_ONE)):
        return str(int(name.startswith(_ONE))), 32
    if name in _FIELD:
        return e.hidden(_FIELD[name]), 32
    if name == "gridid":
        return e.hidden("grid_id", "i64"), 64
    if name in CLOCKS:
        return _clock(e, name), 64
    if name.startswith("lanemask_"):
        return e.once(name, lambda t: _lanemask(t, e.lane, name[9:])), 32
    if name == "laneid":
        return e.lane, 32
    if name == "warpid":
        return e.once("warpid", lambda t: t.two("lshr", "i32", linear_thread(e), "5")), 32
    if name == "nwarpid":
        return e.once("nwarpid", lambda t: _warps(e, t)), 32
    if name in ("smid", "nsmid"):
        return (_compute_unit(e), 32) if name == "smid" else (str(1 << _UNIT_BITS[e.arch.generation]), 32)
    raise NotImplementedError(f"special register %{name}")


# --- threads and blocks -----------------------------------------------------------------------------------------------


def block_size(e: Emitter, axis: str) -> str:
    """Return the number of threads of a block along an axis."""
    shape = e.specialisation.block
    return str(shape[AXES.index(axis)]) if shape else e.hidden(f"block.{axis}")


def grid_size(e: Emitter, axis: str) -> str:
    """Return the number of blocks of the grid along an axis."""
    return e.hidden(f"grid.{axis}")


def block_index(e: Emitter, axis: str) -> str:
    """Return the block's place along an axis."""

    def make(t: Text) -> str:
        number = t.call("i32", f"llvm.amdgcn.workgroup.id.{axis}")
        return t.two("add", "i32", number, e.hidden(f"first_block.{axis}"))

    return e.once(f"ctaid.{axis}", make)


def thread(e: Emitter, axis: str) -> str:
    """Return the thread's place in its block along an axis."""
    shape = e.specialisation.block
    if shape and shape[AXES.index(axis)] == 1:
        return "0"
    if e.wave == 32 or e.warps_per_wave == 2:
        return e.once(f"tid.{axis}", lambda t: _item(t, axis, shape[AXES.index(axis)] if shape else 1024))
    return e.once(f"tid.{axis}", lambda t: _coordinate(e, t, axis))


def _item(t: Text, axis: str, size: int) -> str:
    name = f"llvm.amdgcn.workitem.id.{axis}"
    t.declare("i32", name, [])
    return t.let(f"call range(i32 0, {size}) i32 @{name}()")


def _coordinate(e: Emitter, t: Text, axis: str) -> str:
    """From the linear number: the workgroup is flat where half of each wave is idle."""
    number = linear_thread(e)
    for before in AXES[: AXES.index(axis)]:
        number = t.two("udiv", "i32", number, block_size(e, before))
    return number if axis == "z" else t.two("urem", "i32", number, block_size(e, axis))


def linear_thread(e: Emitter) -> str:
    """Return the thread's number in its block, x fastest."""

    def make(t: Text) -> str:
        if e.wave == 64 and e.warps_per_wave == 1:
            item = _item(t, "x", 1024)
            warp = t.two("shl", "i32", t.two("lshr", "i32", item, "6"), "5")
            return t.two("or disjoint", "i32", warp, t.two("and", "i32", item, "31"))
        x, y, z = (thread(e, axis) for axis in AXES)
        if z != "0":
            y = t.two("add", "i32", t.two("mul", "i32", z, block_size(e, "y")), y)
        return x if y == "0" else t.two("add", "i32", t.two("mul", "i32", y, block_size(e, "x")), x)

    return e.once("thread", make)


def threads(e: Emitter) -> str:
    """Return the number of threads of a block."""
    shape = e.specialisation.block
    if shape:
        return str(shape[0] * shape[1] * shape[2])

    def make(t: Text) -> str:
        x, y, z = (block_size(e, axis) for axis in AXES)
        return t.two("mul", "i32", t.two("mul", "i32", x, y), z)

    return e.once("threads", make)


def _warps(e: Emitter, t: Text) -> str:
    return t.two("lshr", "i32", t.two("add", "i32", threads(e), "31"), "5")


def _lanemask(t: Text, lane: str, which: str) -> str:
    own = t.two("shl", "i32", "1", lane)
    below = t.two("sub", "i32", own, "1")
    if which in ("eq", "lt"):
        return own if which == "eq" else below
    if which == "ge":
        return t.two("xor", "i32", below, "-1")
    upto = t.two("or", "i32", below, own)
    return upto if which == "le" else t.two("xor", "i32", upto, "-1")


# --- clocks and places ------------------------------------------------------------------------------------------------


def _clock(e: Emitter, name: str) -> str:
    t = e.t
    if name.startswith("globaltimer"):
        ticks = t.call("i64", "llvm.readsteadycounter")
        value = t.two("mul", "i64", ticks, str(_NANOSECONDS))
    else:  # of generation 11 the cycle counter has 20 bits only
        value = t.call("i64", "llvm.readsteadycounter" if e.arch.generation == 11 else "llvm.readcyclecounter")
    return t.two("lshr", "i64", value, "32") if name.endswith("_hi") else value


_UNIT_BITS = {9: 12, 10: 9, 11: 9, 12: 9}
_HWREG_9 = ((4, 8, 8), (20, 0, 4))
"""Pieces of a compute unit's number as (hardware register, first bit, bits): HW_ID has cu, sh and se, XCC_ID the die."""
_HWREG_10 = ((23, 10, 4), (23, 16, 5))
"""HW_ID1: the pair of units, the shader array and engine."""


def _compute_unit(e: Emitter) -> str:
    """Return a number of the unit that runs the block. PTX allows gaps: %nsmid bounds the numbers and may exceed the units."""
    t = e.t
    pieces = _HWREG_9 if e.arch.generation == 9 else _HWREG_10
    if e.arch.generation == 9 and e.arch.family not in ("CDNA3", "CDNA4"):
        pieces = _HWREG_9[:1]
    total, at = "", 0
    for register, first, bits in pieces:
        part = t.call("i32", "llvm.amdgcn.s.getreg", ("i32", str(register | first << 6 | (bits - 1) << 11)))
        part = t.two("shl", "i32", part, str(at)) if at else part
        total = t.two("or", "i32", total, part) if total else part
        at += bits
    return total
