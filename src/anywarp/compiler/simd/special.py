"""Special registers as LLVM IR: what depends on the launch and the block once per block, what depends on the warp per warp."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anywarp.compiler.abi import LAUNCH, WORKER
from anywarp.compiler.ir import CLOCKS, Op
from anywarp.compiler.simd.text import Text, constant_vector
from anywarp.compiler.simd.values import LANES, Values
from anywarp.ptx.isa.ops import BITS

AXES = ("x", "y", "z")


@dataclass(slots=True)
class Launch:
    """Names of the i32 scalars and pointers that the function's prologue made."""

    launch: str = "%launch"
    worker: str = "%worker"
    shared: str = ""
    local: str = ""
    params: str = ""
    data: str = ""
    frame: str = ""
    block: tuple[str, str, str] = ("", "", "")
    grid: tuple[str, str, str] = ("", "", "")
    ctaid: tuple[str, str, str] = ("", "", "")
    threads: str = ""
    all_threads: str = ""  # i64, of the whole grid
    warps: str = ""
    warp: str = ""
    thread: str = ""  # where lanes are emitted one by one: the running one's number in its block, and in its warp
    lane: str = "0"
    local_first: str = ""  # i64, where the running gang's first lane has its local memory


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
_WORKSPACE = {"envreg2": LAUNCH.offset("grid_workspace"), "envreg1": LAUNCH.offset("grid_workspace") + 4}
"""Halves of an address that the headers of cooperative groups read there, by their offset in `AwLaunch`."""
_FIELD = {
    "dynamic_smem_size": LAUNCH.offset("dynamic_shared"),
    "total_smem_size": LAUNCH.offset("shared_total"),
    "aggr_smem_size": LAUNCH.offset("shared_total"),
}
WARP_LEVEL = ("tid.", "laneid", "warpid", "lanemask_")


def per_block(name: str) -> bool:
    """Tell whether a special register has one value for all threads of a block."""
    return not name.startswith(WARP_LEVEL) and name not in CLOCKS


def emit_special(v: Values, at: Launch, op: Op) -> None:
    """Define a special register's value. PTX manual, chapter 10; a cluster is one block."""
    name: str = op.attrs["name"]
    if name.startswith("lanemask_"):
        _lanemask(v, at, op, name)
    elif name.startswith("tid."):
        _tid(v, at, op, AXES.index(name[4]))
    elif name == "laneid":
        v.define(
            op,
            at.lane,
            [constant_vector(op.type, [l % LANES for l in lanes]) for lanes in v.columns()] if v.varies(op) else None,
        )
    else:
        v.define(op, _scalar(v, at, op, name))


def _lanemask(v: Values, at: Launch, op: Op, name: str) -> None:
    if v.single:
        v.define(op, _one_lanemask(v.t, at.lane, name[9:]))
        return
    masks: dict[str, Callable[[int], int]] = {
        "eq": lambda l: 1 << l,
        "lt": lambda l: (1 << l) - 1,
        "le": lambda l: (2 << l) - 1,
        "gt": lambda l: -(2 << l),
        "ge": lambda l: -(1 << l),
    }
    bits = [masks[name[9:]](lane) & 0xFFFFFFFF for lane in range(LANES)]
    chunks = [constant_vector(op.type, [bits[lane % LANES] for lane in lanes]) for lanes in v.columns()]
    v.define(op, str(bits[0] if bits[0] < 1 << 31 else bits[0] - (1 << 32)), chunks)


def _one_lanemask(t: Text, lane: str, which: str) -> str:
    own = t.two("shl", "i32", "1", lane)
    if which == "eq":
        return own
    below = t.two("sub", "i32", own, "1")
    within = t.two("or", "i32", below, own)
    return {"lt": below, "le": within}.get(which) or t.two("xor", "i32", below if which == "ge" else within, "-1")


def _tid(v: Values, at: Launch, op: Op, axis: int) -> None:
    """Thread t of the block has x = t mod bx, y = t / bx mod by, z = t / (bx * by)."""
    t = v.t
    first = at.thread or t.two("shl", "i32", at.warp, "5")
    if not v.varies(op):
        v.define(op, _coordinate(v, at, axis, "i32", first, 0))
        return
    chunks: list[str] = []
    base = v.splat("i32", first)
    for lanes in v.columns():
        thread = t.two("add", f"<{v.chunk} x i32>", base, constant_vector("i32", lanes))
        chunks.append(_coordinate(v, at, axis, f"<{v.chunk} x i32>", thread, v.chunk))
    v.define(op, None, chunks)


def _coordinate(v: Values, at: Launch, axis: int, type: str, thread: str, n: int) -> str:
    """From linear thread numbers, for a scalar or a chunk. Block sizes are at most 1024, exact in f32 (see integers.divide)."""
    t, shape = v.t, v.specialisation.block

    def divide(name: str, a: str, b: str, known: int) -> str:
        if known == 1:
            return a if name == "udiv" else ("zeroinitializer" if n else "0")
        if not n:
            return t.two(name, type, a, b)
        if known:
            return t.two(name, type, a, f"splat (i32 {known})")
        real = f"<{n} x float>"
        divisor = v.splat("i32", b)
        q = t.let(f"fdiv {real} {t.cast('uitofp', type, a, real)}, {t.cast('uitofp', type, divisor, real)}")
        quotient = t.cast("fptoui", real, q, type)
        return quotient if name == "udiv" else t.two("sub", type, a, t.two("mul", type, quotient, divisor))

    for i in range(axis):
        thread = divide("udiv", thread, at.block[i], shape[i] if shape else 0)
    last = axis == 2 or (shape is not None and all(s == 1 for s in shape[axis + 1 :]))
    return thread if last else divide("urem", thread, at.block[axis], shape[axis] if shape else 0)


def _scalar(v: Values, at: Launch, op: Op, name: str) -> str:
    t = v.t
    stem, _, axis = name.partition(".")
    vectors = {"ntid": at.block, "nctaid": at.grid, "ctaid": at.ctaid, "clusterid": at.ctaid, "nclusterid": at.grid}
    field = {**_FIELD, **_WORKSPACE}.get(name)
    if field is None and (name.startswith(_ZERO) or name.startswith(_ONE)):
        return str(int(name.startswith(_ONE))) if op.type != "i1" else "false"
    if stem in vectors and axis in AXES:
        value, width = vectors[stem][AXES.index(axis)], 32
    elif field is not None:
        value, width = t.let(f"load i32, ptr {field_at(v, at.launch, field)}"), 32
    elif name == "gridid":
        value, width = t.let(f"load i64, ptr {in_launch(v, at, 'grid_id')}"), 64
    elif name in ("warpid", "nwarpid", "smid", "nsmid"):
        value, width = _place(v, at, name), 32
    elif name in CLOCKS:
        value, width = _clock(v, name), 64
    else:
        raise NotImplementedError(f"special register %{name}")
    want = BITS[op.type]
    if want == width:
        return value
    return t.cast("zext" if want > width else "trunc", f"i{width}", value, f"i{want}")


def _place(v: Values, at: Launch, name: str) -> str:
    if name == "warpid":
        return at.warp
    if name == "nwarpid":
        return at.warps
    number = v.t.let(f"load i32, ptr {in_worker(v, at, 'worker_id')}")
    # The number of workers is not known here; that every %smid lies below %nsmid is.
    return (
        number
        if name == "smid"
        else v.t.call("i32", "llvm.umax.i32", ("i32", v.t.two("add", "i32", number, "1")), ("i32", "256"))
    )


def _clock(v: Values, name: str) -> str:
    t = v.t
    value = t.call_host("aw_globaltimer") if name.startswith("globaltimer") else t.call("i64", "llvm.readcyclecounter")
    return t.two("lshr", "i64", value, "32") if name.endswith("_hi") else value


def in_launch(v: Values, at: Launch, field: str) -> str:
    """Return the address of a field of `AwLaunch`; "grid.y" is one of three words."""
    return field_at(v, at.launch, LAUNCH.offset(field))


def in_worker(v: Values, at: Launch, field: str, element: int = 0) -> str:
    """Return the address of a field of `AwWorker`, or of an element of an array there."""
    return field_at(v, at.worker, WORKER.offset(field, element))


def field_at(v: Values, base: str, offset: int) -> str:
    """Return the address `offset` bytes behind a pointer."""
    return v.t.let(f"getelementptr i8, ptr {base}, i64 {offset}") if offset else base
