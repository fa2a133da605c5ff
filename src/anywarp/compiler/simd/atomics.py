"""Atomic operations, fences and calls into the runtime as LLVM IR, lane by lane.

How lanes with one address, or all of them, are made one operation is in `combine`; what one lane does in `lane_by_lane`.
"""

from __future__ import annotations

from anywarp.compiler.attributes import AtomicAccess, Fence, InSpace, Service
from anywarp.compiler.host_functions import HOST_FUNCTIONS
from anywarp.compiler.ir import Op, Value
from anywarp.compiler.simd import combine
from anywarp.compiler.simd.addresses import Address
from anywarp.compiler.simd.bulk import emit_bulk
from anywarp.compiler.simd.lane_by_lane import RMW, LaneByLane
from anywarp.compiler.simd.memory import Memory
from anywarp.compiler.simd.special import Launch
from anywarp.compiler.simd.text import LLVM_TYPE, vector_type
from anywarp.compiler.simd.values import Values


class Atomics(LaneByLane):
    """Emits operations that lanes do one after the other."""

    def __init__(self, values: Values, memory: Memory, at: Launch) -> None:
        super().__init__(values, memory)
        self.at = at

    def fence(self, op: Op) -> None:
        """Emit a fence; among the threads of a block one machine thread needs only the compiler to keep order."""
        scope = ' syncscope("singlethread")' if Fence.of(op).scope == "cta" else ""
        order = Fence.of(op).order
        name = "seq_cst" if order == "sc" else "acq_rel" if order in ("acq_rel", "relaxed", "weak") else order
        self.t.do(f"fence{scope} {name}")

    # --- atomics --------------------------------------------------------------------------------------------------

    def atomic(self, op: Op) -> None:
        """Emit an atomic read-modify-write of every active lane."""
        v, t = self.v, self.t
        address = self.memory.resolve(InSpace.of(op).space, op.args[0])
        self.memory.record(InSpace.of(op).space, address, op.guard)
        used = AtomicAccess.of(op).returns and op in v.used
        if v.single:
            self._alone(op, address, used)
            return
        bits = v.active_bits(op.guard)
        type = op.args[1].type
        element = LLVM_TYPE[type]
        if address.uniform and self._at_one_place(op, address, bits, used):
            return
        operands = [self._operand(element, a) for a in op.args[1:]]
        places = self._places(address)
        after = ""
        if not used and InSpace.of(op).space != "shared" and address.offsets is None and combine.combines(op):
            after = combine.combine_if_same(self, op, address, places, bits)
        elif not used and InSpace.of(op).space == "shared" and bits is not None and places and combine.combines(op):
            after = combine.many_in_turn(self, op, address, places, operands, bits)
        if (
            not used
            and InSpace.of(op).space != "shared"
            and AtomicAccess.of(op).op == "fadd"
            and type in combine.FLOATS
        ):
            combine.in_runs(self, op, places, operands[0], bits)
        elif not used and bits is None and not self._exchanges(op):
            combine.all_in_turn(self, op, address, places, operands)
        else:
            self._in_turn(op, address, places, operands, bits, used)
        if after:
            t.do(f"br label %{after}")
            t.start(after)

    def _alone(self, op: Op, address: Address, used: bool) -> None:
        """Emit an operation of a single lane."""
        v, t, element = self.v, self.t, LLVM_TYPE[op.args[1].type]
        values, on = [v.scalar(a) for a in op.args[1:]], "" if op.guard is None else v.scalar(op.guard)
        before, inside, after = t.label, t.fresh("on"), t.fresh("after")
        if on:
            t.do(f"br i1 {on}, label %{inside}, label %{after}")
            t.start(inside)
        old = self.one(op, element, self.memory.lane_pointer(address, 0), values)
        if on:
            inside = t.label
            t.do(f"br label %{after}")
            t.start(after)
            zero = "0" if element.startswith("i") else "0.0"
            old = t.let(f"phi {element} [ {zero}, %{before} ], [ {old}, %{inside} ]") if used else ""
        if used:
            v.define(op, old)

    def _operand(self, element: str, value: Value) -> tuple[str, bool]:
        """Return where lanes find an operand: the pointer to all of theirs and True, or the one value of all and False."""
        v = self.v
        if v.is_scalar(value):
            return v.scalar(value), False
        return self.memory.spill(element, v.vector(value)), True

    def _at_one_place(self, op: Op, address: Address, bits: str | None, used: bool) -> bool:
        """Emit an operation of all lanes on one address, if they can be made one."""
        if not used and combine.combines(op):
            combine.combine_at_one_place(self, op, address, bits)
        elif used and AtomicAccess.of(op).op == "add" and combine.combines(op):
            combine.count_up(self, op, address, bits)
        elif not used and AtomicAccess.of(op).op == "fadd" and op.args[1].type in combine.FLOATS:
            combine.fold(self, op, address, bits)
        else:
            return False
        return True

    def _exchanges(self, op: Op) -> bool:
        """Tell whether an operation is a loop that tries until nobody interfered."""
        element, name = LLVM_TYPE[op.args[1].type], AtomicAccess.of(op).op
        if InSpace.of(op).space == "shared" or name == "cas" or (name == "fadd" and element in ("float", "double")):
            return False
        return not (name in RMW and (element.startswith("i") or name == "exch"))

    def _in_turn(
        self, op: Op, address: Address, places: str, operands: list[tuple[str, bool]], bits: str | None, used: bool
    ) -> None:
        """Emit a loop over the active lanes."""
        v, t, element = self.v, self.t, LLVM_TYPE[op.args[1].type]
        result = self.memory.room(element) if used else ""
        index = self.begin_lanes(bits)
        values = [self.operand_of(element, operand, index) for operand in operands]
        pointer = self.place(address, places, index)
        old = self.one(op, element, pointer, values)
        if used:
            t.do(f"store {element} {old}, ptr {t.let(f'getelementptr {element}, ptr {result}, i32 {index}')}")
        self.end_lanes()
        if used:
            chunks: list[str] = []
            for first in range(0, v.lanes, v.chunk):
                place = t.let(f"getelementptr {element}, ptr {result}, i32 {first}")
                chunks.append(t.let(f"load {vector_type(element, v.chunk)}, ptr {place}, align 16"))
            v.define(op, None, chunks)

    def _places(self, address: Address) -> str:
        """Write the lanes' addresses to the stack, unless all are one."""
        if address.uniform:
            return ""
        v, t, n = self.v, self.t, self.v.chunk
        chunks = [
            t.cast("ptrtoint", f"<{n} x ptr>", self.memory.pointers(address, i), f"<{n} x i64>")
            for i in range(v.chunks)
        ]
        return self.memory.spill("i64", chunks)

    # --- the runtime ----------------------------------------------------------------------------------------------

    def host_call(self, op: Op) -> None:
        """Call a service of the runtime once per active lane."""
        v, t, name = self.v, self.t, Service.of(op).name
        if name.startswith("bulk_"):
            emit_bulk(self, op)
            return
        function = HOST_FUNCTIONS.get(f"aw_{name}")
        if function is None:
            raise NotImplementedError(f"runtime service {name!r}")
        result, first = function.llvm_result, [self.at.worker] if function.takes_worker else []
        bits = v.active_bits(op.guard)
        rooms = [self.memory.spill(LLVM_TYPE[a.type], v.vector(a)) for a in op.args]
        out = self.memory.room(result) if result != "void" else ""
        index = self.begin_lanes(bits)
        arguments: list[str] = []
        # The call in PTX may have more arguments than the function takes (calls.py).
        for room, a, want in zip(rooms, op.args, function.llvm_parameters[len(first) :]):
            have = LLVM_TYPE[a.type]
            value = t.let(f"load {have}, ptr {t.let(f'getelementptr {have}, ptr {room}, i32 {index}')}")
            if have != want:
                value = t.cast("zext" if int(have[1:]) < int(want[1:]) else "trunc", have, value, want)
            arguments.append(value)
        value = t.call_host(function.name, *first, *arguments)
        if out:
            t.do(f"store {result} {value}, ptr {t.let(f'getelementptr {result}, ptr {out}, i32 {index}')}")
        self.end_lanes()
        if out and op in v.used:
            chunks: list[str] = []
            for lane in range(0, v.lanes, v.chunk):
                place = t.let(f"getelementptr {result}, ptr {out}, i32 {lane}")
                chunks.append(t.let(f"load {vector_type(result, v.chunk)}, ptr {place}, align 16"))
            v.define(op, None, chunks)
