"""A kernel as one LLVM function: blocks one after the other, in each block rounds over its warps until all have ended.

int32_t kernel(const AwLaunch*, AwWorker*, uint64_t first, uint64_t count)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anywarp.compiler.ir import Const, Kernel, Specialisation, Undefined, Value, speculatable
from anywarp.compiler.shapes import Analysis
from anywarp.compiler.simd.barriers import Barriers, needs_lane_states, without_assumptions
from anywarp.compiler.simd.chunk_order import order_by_chunks
from anywarp.compiler.simd.debug_lines import SUBPROGRAM, attach
from anywarp.compiler.simd.entering import Entering
from anywarp.compiler.simd.flow import Flow
from anywarp.compiler.simd.frame import EXITED, FIXED, GANG, LANE_STATES, READY
from anywarp.compiler.simd.known import LANES, Machine
from anywarp.compiler.simd.long_lived import keep_in_memory
from anywarp.compiler.simd.members import split_at_members
from anywarp.compiler.simd.mode import enter, leave
from anywarp.compiler.simd.operations import Operations
from anywarp.compiler.simd.special import AXES, Launch, field_at, in_launch, in_worker
from anywarp.compiler.simd.values import Values

_PER_GANG = "$per_gang$"


@dataclass(frozen=True, slots=True)
class Emitted:
    """LLVM IR of a kernel and the frame that it needs, in bytes: fixed, and per warp of the block.

    `waits`: where lanes stand that wait at a barrier, as the number in their state and the barrier's offset in the PTX.
    """

    text: str
    frame_fixed: int
    frame_per_warp: int
    waits: tuple[tuple[int, int], ...] = ()


def emit_kernel(
    kernel: Kernel,
    analysis: Analysis,
    specialisation: Specialisation,
    machine: Machine,
    symbol: str,
    attributes: str,
    line_of: Callable[[int], int] | None = None,
) -> Emitted:
    """Write the LLVM IR module of `kernel`. `attributes` go to the function (target features).

    With `line_of`, which turns offsets in the PTX into lines, every instruction carries its line.
    """
    split_at_members(kernel, analysis)
    per_lane = needs_lane_states(kernel.blocks, analysis)
    if per_lane:
        analysis = without_assumptions(analysis, launch_constants(kernel))
    v = Values(kernel, analysis, specialisation, machine)
    at = Launch()
    operations = Operations(v, at)
    shape = specialisation.block
    partial = not v.single and (shape is None or (shape[0] * shape[1] * shape[2]) % v.lanes != 0)
    if partial and v.warps > 1:
        raise NotImplementedError("gangs of several warps that do not divide the block")
    barriers = Barriers(v, operations, at, per_lane)
    flow = Flow(v, operations, barriers, at, partial)
    _write(v, at, operations, barriers, flow)
    if v.chunks > 1 and not specialisation.quick and not specialisation.checks:
        order_by_chunks(v.t)
    if operations.matrix.tiles.used:
        _release_tiles(v)
    per_gang = -(-barriers.per_warp // 64) * 64
    if per_gang and per_gang % 512 == 0:
        per_gang += 64  # gangs' states would share few sets of the cache
    body, metadata = ("\n".join(v.t.lines), "") if line_of is None else attach(v.t.lines, v.t.places, line_of)
    body = body.replace(_PER_GANG, str(per_gang))
    attributes += f" {SUBPROGRAM}" if line_of is not None else ""
    head = f"define i32 @{symbol}(ptr noalias %launch, ptr noalias %worker, i64 %first, i64 %count) {attributes} {{\nentry:\n"
    declarations = "\n".join(v.t.declarations.values())
    notes = '!0 = !{}\n!1 = !{!"branch_weights", i32 100, i32 1}\n!2 = !{i32 1}\n'
    text = f"{head}{chr(10).join(v.t.allocas)}\n{body}\n}}\n{declarations}\n{notes}{metadata}"
    per_warp = per_gang * LANES // v.lanes
    return Emitted(text, FIXED if barriers.any else 0, per_warp, barriers.places() if per_lane else ())


def _release_tiles(v: Values) -> None:
    """Give the tiles back wherever the kernel returns."""
    for i, line in enumerate(v.t.lines):
        if line.startswith("  ret "):
            v.t.lines[i] = f"  call void @llvm.x86.tilerelease()\n{line}"


def launch_constants(kernel: Kernel) -> set[Value]:
    """Return the values computed from nothing but parameters, special registers and constants."""
    out: set[Value] = set()
    changed = True
    while changed:
        changed = False
        for block in kernel.blocks:
            for op in block.ops:
                if op in out or not speculatable(op) or op.name == "element":
                    continue
                if all(isinstance(a, (Const, Undefined)) or a in out for a in op.args):
                    out.add(op)
                    changed = True
    return out


def _write(v: Values, at: Launch, operations: Operations, barriers: Barriers, flow: Flow) -> None:
    _prologue(v, at)
    flow.prepare()
    _block_head(v, at, operations, barriers)
    _warp_head(v, at, barriers, flow)
    flow.emit()
    _after_warps(v, at, barriers)
    v.variables.finish()
    barriers.declare()


def _of_launch(v: Values, at: Launch, field: str, type: str) -> str:
    return v.t.let(f"load {type}, ptr {in_launch(v, at, field)}")


def _of_worker(v: Values, at: Launch, field: str, type: str) -> str:
    return v.t.let(f"load {type}, ptr {in_worker(v, at, field)}")


def _prologue(v: Values, at: Launch) -> None:
    """Read what holds for all blocks; find the first block's place in the grid."""
    t, shape = v.t, v.specialisation.block
    enter(v)
    at.shared, at.frame, at.local = (_of_worker(v, at, field, "ptr") for field in ("shared", "frame", "local"))
    at.params, at.data = _of_launch(v, at, "params", "ptr"), _of_launch(v, at, "module_data", "ptr")
    grid = [_of_launch(v, at, f"grid.{axis}", "i32") for axis in AXES]
    at.grid = (grid[0], grid[1], grid[2])
    block = [str(shape[i]) if shape else _of_launch(v, at, f"block.{axis}", "i32") for i, axis in enumerate(AXES)]
    at.block = (block[0], block[1], block[2])
    if shape:
        threads = shape[0] * shape[1] * shape[2]
        at.threads, at.warps = str(threads), str(-(-threads // 32))
    else:
        at.threads = t.two("mul", "i32", t.two("mul", "i32", block[0], block[1]), block[2])
        at.warps = t.two("lshr", "i32", t.two("add", "i32", at.threads, "31"), "5")
    wide = [t.cast("zext", "i32", g, "i64") for g in grid]
    blocks = t.two("mul", "i64", t.two("mul", "i64", wide[0], wide[1]), wide[2])
    at.all_threads = t.two("mul", "i64", blocks, t.cast("zext", "i32", at.threads, "i64"))
    x = t.cast("trunc", "i64", t.two("urem", "i64", "%first", wide[0]), "i32")
    rest = t.two("udiv", "i64", "%first", wide[0])
    y = t.cast("trunc", "i64", t.two("urem", "i64", rest, wide[1]), "i32")
    z = t.cast("trunc", "i64", t.two("udiv", "i64", rest, wide[1]), "i32")
    t.allocas += [
        "  %place.x = alloca i32",
        "  %place.y = alloca i32",
        "  %place.z = alloca i32",
        "  %done.blocks = alloca i64",
    ]
    t.allocas += ["  %going = alloca i32", "  %warp.now = alloca i32"]
    for axis, value in zip(AXES, (x, y, z), strict=True):
        t.do(f"store i32 {value}, ptr %place.{axis}")
    t.do("store i64 0, ptr %done.blocks")
    t.do(f"br i1 {t.two('icmp eq', 'i64', '%count', '0')}, label %finished, label %block.head")


def _block_head(v: Values, at: Launch, operations: Operations, barriers: Barriers) -> None:
    """Begin a block: its place, what is one value for all its threads, its warps' states."""
    t = v.t
    t.start("block.head")
    place = [t.let(f"load i32, ptr %place.{axis}") for axis in AXES]
    at.ctaid = (place[0], place[1], place[2])
    for axis, value in zip(AXES, place, strict=True):
        t.do(f"store i32 {value}, ptr {in_worker(v, at, f'ctaid.{axis}')}")
    t.do(f"store volatile i64 0, ptr {in_worker(v, at, 'access_kind')}, align 8")  # no access recorded
    v.begin_copy(v.kernel.blocks[0], None)
    operations.hoist(v.kernel.blocks)
    if barriers.yields:
        resumed = _of_worker(v, at, "resume", "i32")
        t.do(f"br i1 {t.two('icmp ne', 'i32', resumed, '0')}, label %round, label %begin")
        t.start("begin")
    if barriers.any:
        _reset_states(v, at, barriers)
    t.do("br label %round")


def _states(v: Values, at: Launch) -> str:
    return v.t.let(f"getelementptr i8, ptr {at.frame}, i64 {FIXED}")


def _last(v: Values, at: Launch) -> str:
    """Return where numbers of gangs end, which count warps, or threads where lanes are emitted one by one."""
    return at.threads if v.single else at.warps


def _reset_states(v: Values, at: Launch, barriers: Barriers) -> None:
    t = v.t
    t.call("void", "llvm.memset.p0.i64", ("ptr", at.frame), ("i8", "0"), ("i64", str(FIXED)), ("i1", "false"))
    states = _states(v, at)
    t.do("br label %reset")
    before = t.label
    t.start("reset")
    t.do(f"%reset.warp = phi i32 [ 0, %{before} ], [ %reset.next, %reset ]")
    state = _state(v, states, "%reset.warp")
    mask = _first_mask(v, at, "%reset.warp")
    if barriers.per_lane:
        t.call(
            "void", "llvm.memset.p0.i64", ("ptr", state), ("i8", "0"), ("i64", str(LANE_STATES.size)), ("i1", "false")
        )
        t.do(f"%reset.bits = bitcast i32 {mask} to <32 x i1>")
        ready, exited = f"<32 x i32> splat (i32 {READY})", f"<32 x i32> splat (i32 {EXITED})"
        t.do(f"%reset.waits = select <32 x i1> %reset.bits, {ready}, {exited}")
        t.do(f"store <32 x i32> %reset.waits, ptr {field_at(v, state, LANE_STATES.offset('waiting'))}, align 4")
    else:
        t.do(f"store i32 0, ptr {state}")
        t.do(f"store {v.word} {mask}, ptr {field_at(v, state, GANG.offset('alive'))}, align 4")
    t.do(f"%reset.next = add i32 %reset.warp, {v.warps}")
    t.do(f"br i1 {t.two('icmp ult', 'i32', '%reset.next', _last(v, at))}, label %reset, label %reset.done")
    t.start("reset.done")


def _state(v: Values, states: str, warp: str) -> str:
    """Return the state of the gang that begins with a warp."""
    warp = v.t.two("lshr", "i32", warp, str(v.warps.bit_length() - 1)) if v.warps > 1 else warp
    offset = v.t.two("mul", "i64", v.t.cast("zext", "i32", warp, "i64"), _PER_GANG)
    return v.t.let(f"getelementptr i8, ptr {states}, i64 {offset}")


def _first_mask(v: Values, at: Launch, warp: str) -> str:
    """Return the word of lanes of a gang that are threads of the block."""
    t = v.t
    if v.warps > 1 or v.single:
        return "-1"
    rest = t.two("sub", "i32", at.threads, t.two("shl", "i32", warp, "5"))
    some = t.two("sub", "i32", t.two("shl", "i32", "1", t.two("and", "i32", rest, "31")), "1")
    return t.pick(0, t.two("icmp uge", "i32", rest, "32"), "i32", "-1", some)


def _warp_head(v: Values, at: Launch, barriers: Barriers, flow: Flow) -> None:
    t = v.t
    t.start("round")
    t.do("store i32 0, ptr %warp.now")
    if barriers.any:
        t.do("store i32 0, ptr %going")
    t.do("br label %warp.head")
    t.start("warp.head")
    number = at.warp = t.let("load i32, ptr %warp.now")
    v.variables.forget(None)
    if v.single:
        _begin_lane(v, at, number)
    t.do(f"store i32 {at.warp}, ptr {in_worker(v, at, 'warp')}")
    first = t.two("mul", "i32", number, str((1 if v.single else LANES) * v.kernel.local_bytes))
    start = t.cast("ptrtoint", "ptr", at.local, "i64")
    at.local_first = t.two("add", "i64", start, t.cast("zext", "i32", first, "i64"))
    if barriers.any:
        barriers.state = _state(v, _states(v, at), number)
    barriers.place_carried()
    keep_in_memory(v, barriers, flow)
    first = _first_mask(v, at, at.warp) if flow.partial and not barriers.any else None
    Entering(barriers, flow).emit(first)


def _begin_lane(v: Values, at: Launch, thread: str) -> None:
    """Name the lane that runs, and note it for fault reports: all its accesses are its own alone."""
    t = v.t
    at.thread, at.warp, at.lane = thread, t.two("lshr", "i32", thread, "5"), t.two("and", "i32", thread, "31")
    word = t.let(
        f"insertelement <4 x i32> <i32 1, i32 0, i32 0, i32 0>, i32 {t.two('shl', 'i32', '1', at.lane)}, i32 1"
    )
    t.do(f"store volatile <4 x i32> {word}, ptr {in_worker(v, at, 'access_kind')}, align 8")


def _after_warps(v: Values, at: Launch, barriers: Barriers) -> None:
    t = v.t
    t.start("warp.done")
    following = t.two("add", "i32", at.thread if v.single else at.warp, str(v.warps))
    t.do(f"store i32 {following}, ptr %warp.now")
    t.do(f"br i1 {t.two('icmp ult', 'i32', following, _last(v, at))}, label %warp.head, label %round.end")
    t.start("round.end")
    if barriers.per_lane:
        arguments = (
            ("ptr", at.worker),
            ("ptr", at.frame),
            ("ptr", _states(v, at)),
            ("i64", _PER_GANG),
            ("i32", at.warps),
        )
        status = t.call("i32", "aw.release", *arguments)
        t.do(
            f"switch i32 {status}, label %deadlock [ i32 0, label %block.next i32 1, label %round i32 3, label %paused ]"
        )
        t.start("paused")
        leave(v, "AW_PAUSED")
        t.start("deadlock")
        leave(v, "AW_DEADLOCK")
    elif barriers.any:
        if barriers.reduces:
            t.call("i32", "aw.finish", ("ptr", at.frame))
        going = t.let("load i32, ptr %going")
        t.do(f"br i1 {t.two('icmp ne', 'i32', going, '0')}, label %round, label %block.next")
    else:
        t.do("br label %block.next")
    _next_block(v, at, bool(barriers.ops.memory.streams))


def _next_block(v: Values, at: Launch, streams: bool) -> None:
    """Step to the next place in the grid, x fastest; at the end stores past the caches are seen by whoever sees it."""
    t = v.t
    t.start("block.next")
    carry = "1"
    for i, axis in enumerate(AXES):
        stepped = t.two("add", "i32", at.ctaid[i], carry)
        over = t.two("icmp uge", "i32", stepped, at.grid[i])
        t.do(f"store i32 {t.pick(0, over, 'i32', '0', stepped)}, ptr %place.{axis}")
        carry = t.cast("zext", "i1", over, "i32")
    done = t.two("add", "i64", t.let("load i64, ptr %done.blocks"), "1")
    t.do(f"store i64 {done}, ptr %done.blocks")
    t.do(f"br i1 {t.two('icmp ult', 'i64', done, '%count')}, label %block.head, label %finished")
    t.start("finished")
    if streams:
        t.call("void", "llvm.x86.sse.sfence")
    leave(v, "AW_OK")
