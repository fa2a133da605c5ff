"""The blocks of a kernel as plain branches: LLVM turns those that differ from lane to lane into masks."""

from __future__ import annotations

from anywarp.compiler.amdgpu.barriers import emit_barrier
from anywarp.compiler.amdgpu.emitter import Emitter
from anywarp.compiler.amdgpu.operations import Operations
from anywarp.compiler.amdgpu.services import emit_trap
from anywarp.compiler.ir import Block, Op, Phi, Terminator
from anywarp.compiler.simd.text import LLVM_TYPE


def emit_blocks(e: Emitter, operations: Operations) -> None:
    """Emit every block, then the phis, whose operands have names by now."""
    labels = {block: f"b{i}" for i, block in enumerate(e.kernel.blocks)}
    places: dict[Block, int] = {}
    for i, block in enumerate(e.kernel.blocks):
        e.block = block
        if i:
            e.t.start(labels[block])
        places[block] = len(e.t.lines)
        e.t.lines += [""] * sum(len(_copies(operations, phi)) for phi in block.phis)
        for phi in block.phis:
            _numbered(e, operations, phi)
        for op in block.ops:
            _operation(e, operations, op)
        e.ends[block] = e.t.label
        _terminator(e, block.terminator, labels)
    for block, place in places.items():
        lines = [line for phi in block.phis for line in _phi(e, operations, block, phi)]
        e.t.lines[place : place + len(lines)] = lines


def _copies(operations: Operations, phi: Phi) -> list[str]:
    """Return what a phi is: "pointer", "number" or both."""
    pointers = operations.places.pointers
    if phi not in pointers.wanted:
        return ["number"]
    return ["pointer"] if pointers.number_of_pointer(phi) else ["pointer", "number"]


def _numbered(e: Emitter, operations: Operations, phi: Phi) -> None:
    """Name a phi's pointer, and make its number of it if there is no phi of numbers."""
    copies = _copies(operations, phi)
    if "pointer" in copies:
        e.pointers[phi] = e.names[phi] + ".p"
    if "number" not in copies:
        type = operations.places.pointers.type(phi)
        e.t.do(f"{e.names[phi]} = ptrtoint {type} {e.pointers[phi]} to {LLVM_TYPE[phi.type]}")


def _phi(e: Emitter, operations: Operations, block: Block, phi: Phi) -> list[str]:
    edges = [(b, v) for b, v in phi.incoming.items() for _ in range(_edges(b.terminator, block))]
    out: list[str] = []
    for what in _copies(operations, phi):
        pointer = what == "pointer"
        type = operations.places.pointers.type(phi) if pointer else LLVM_TYPE[phi.type]
        values = [operations.places.pointers.incoming(v, type) if pointer else e.value(v) for _, v in edges]
        incoming = ", ".join(f"[ {v}, %{e.ends[b]} ]" for v, (b, _) in zip(values, edges, strict=True))
        out.append(f"  {e.pointers[phi] if pointer else e.names[phi]} = phi {type} {incoming}")
    return out


def _edges(end: Terminator, target: Block) -> int:
    """How many edges LLVM sees from a block to a target: one per case of a switch that leads there, and its default."""
    if end.name != "switch" or len(set(end.targets)) == 1:
        return 1
    return end.targets.count(target) if target is not end.targets[-1] else 1


def _operation(e: Emitter, operations: Operations, op: Op) -> None:
    if op.span is not None:
        e.t.at(op.span.start)
    if op.name == "barrier_result":
        e.define(op, e.barrier_results[e.block])
    else:
        operations.emit(op)


def _terminator(e: Emitter, end: Terminator, labels: dict[Block, str]) -> None:
    t = e.t
    if end.span is not None:
        t.at(end.span.start)
    targets = [labels[b] for b in end.targets]
    if end.name == "barrier":
        emit_barrier(e, end)
        e.ends[e.block] = t.label
    if end.name in ("jump", "barrier") or (end.name in ("branch", "switch") and len(set(targets)) == 1):
        t.do(f"br label %{targets[0]}")
    elif end.name == "branch":
        assert end.args[0] is not None
        t.do(f"br i1 {e.value(end.args[0])}, label %{targets[0]}, label %{targets[1]}")
    elif end.name == "switch":
        assert end.args[0] is not None
        cases = " ".join(f"i32 {i}, label %{b}" for i, b in enumerate(targets[:-1]) if b != targets[-1])
        t.do(f"switch i32 {e.value(end.args[0])}, label %{targets[-1]} [ {cases} ]")
    elif end.name == "exit":
        t.do("ret void")
    else:
        emit_trap(e, end)
        t.do("unreachable")
