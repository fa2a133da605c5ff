"""From the PTX tree of one kernel to the kernel IR: expansion, then SSA, block by block.

The skeleton knows control flow and the registers of every instruction, so phis are placed before the first operation is made
and no repair is needed afterwards.
"""

from __future__ import annotations

from collections.abc import Collection

from anywarp.compiler import codes
from anywarp.compiler.attributes import Barrier, Trapped
from anywarp.compiler.build import IRBuilder
from anywarp.compiler.cfg import dominance_frontiers, dominators, linear_order, natural_loops, predecessors
from anywarp.compiler.common_places import join_crossings
from anywarp.compiler.crossings import Crossing
from anywarp.compiler.expand import STACK_BYTES, build_skeleton
from anywarp.compiler.ir import Block, Kernel, Op, Phi, Terminator, Value
from anywarp.compiler.layout import LOCAL_LIMIT, align_up, parameters
from anywarp.compiler.place_phis import place_phis
from anywarp.compiler.reducible import make_reducible
from anywarp.compiler.skeleton import (
    FRAME_ALIGN,
    Allocate,
    Assign,
    CopyPlace,
    Dispatch,
    FrameEnd,
    HostCall,
    Joined,
    ModuleView,
    Node,
    Skeleton,
    StackCheck,
    Step,
)
from anywarp.compiler.variables import Place, Register
from anywarp.diagnostics import AnywarpError, Diagnostic, Span
from anywarp.ptx.isa.barriers import is_barrier
from anywarp.ptx.isa.ops import Type
from anywarp.ptx.isa.registry import expand
from anywarp.ptx.tree import Function, Instruction, Operand

NAME_MEMBERS = frozenset({"shfl", "vote", "match", "redux", "elect"})
"""Opcodes whose `.sync` forms wait for the lanes that they name, in their last operand."""


def lower_kernel(
    module: ModuleView,
    name: str,
    *,
    members: bool = False,
    stack_bytes: int = STACK_BYTES,
    crossings: Collection[Crossing] = (),
) -> Kernel:
    """Lower the kernel `name` with all functions it calls. Raises AnywarpError with a place in the PTX.

    `members` puts a `check` of the named lanes where they have come before an instruction that names some; `stack_bytes` are there for calls that
    are made for real. The instructions of each of `crossings` get one place.
    """
    function = module.function(name)
    if function is None or function.body is None or function.kind != "entry":
        raise codes.problem(codes.NO_SUCH_KERNEL, f"the module has no kernel `{name[:200]}`", module.source)
    skeleton = build_skeleton(module, function, stack_bytes)
    if crossings:
        join_crossings(skeleton, crossings)
    if any(0 in node.targets for node in skeleton.nodes):  # the entry must have no predecessor
        skeleton.nodes.append(skeleton.nodes[0])
        moved = len(skeleton.nodes) - 1
        skeleton.nodes[0] = Node(kind="jump", targets=[0], span=function.span)
        for node in skeleton.nodes:
            node.targets = [moved if t == 0 else t for t in node.targets]
    make_reducible(skeleton)
    try:
        return _Lowering(module, function, skeleton, members).run()
    except AnywarpError as error:
        found = error.diagnostic
        if found.source is not None or module.source is None:
            raise
        placed = Diagnostic(
            found.code, found.message, found.severity, module.source, found.span, found.help, found.details
        )
        raise AnywarpError(placed) from None


class _Lowering:
    def __init__(self, module: ModuleView, function: Function, skeleton: Skeleton, members: bool = False) -> None:
        self.members = members
        self.function = function
        self.skeleton = skeleton
        self.module = module
        graph = skeleton.graph()
        self.nest = natural_loops(graph)
        self.order = linear_order(graph, self.nest)
        alive = set(self.order)
        graph = [targets if v in alive else [] for v, targets in enumerate(graph)]
        self.idom = dominators(graph)
        self.pred = predecessors(graph)
        frontiers = dominance_frontiers(graph, self.idom)
        self.phis = place_phis(self.pred, frontiers, self.nest, *self._references())
        self.blocks = {node: Block("entry" if node == 0 else f"b{node}") for node in self.order}
        self.values: dict[int, dict[Register, Value]] = {node: {} for node in self.order}
        self.made: list[tuple[int, Register, Phi]] = []
        self.here = 0
        self.counted = (0, 1)
        self.builder = IRBuilder(self._on_entry, module.source)

    def _references(self) -> tuple[dict[Register, set[int]], dict[Register, set[int]]]:
        """Return the nodes that write each register, and those that read it first."""
        written: dict[Register, set[int]] = {}
        exposed: dict[Register, set[int]] = {}
        for number in self.order:
            node = self.skeleton.nodes[number]
            mine: set[Register] = set()
            for step in [*node.steps, *([node.step] if node.step is not None else [])]:
                for register in step.reads:
                    if register not in mine:
                        exposed.setdefault(register, set()).add(number)
                if step is not node.step:
                    mine.update(step.writes)
            for register in mine:
                written.setdefault(register, set()).add(number)
        return written, exposed

    def run(self) -> Kernel:
        for number in self.order:
            block = self.blocks[number]
            values = self.values[number]
            for register in self.phis[number]:
                phi = Phi(register.type)
                block.phis.append(phi)
                values[register] = phi
                self.made.append((number, register, phi))
            self.here = number
            self.builder.enter(block, values)
            for step in self.skeleton.nodes[number].steps:
                self._lower(step)
            block.terminator = self._terminator(self.skeleton.nodes[number])
        for number, register, phi in self.made:
            for p in self.pred[number]:
                phi.incoming[self.blocks[p]] = self._at_end(p, register)
        entry = self.blocks[0]
        entry.ops[:0] = self.builder.prologue
        return self._kernel()

    # --- registers ----------------------------------------------------------------------------------------------------

    def _on_entry(self, register: Register) -> Value:
        """The value of a register on entry to the block being lowered."""
        step = self.builder.step
        if step is not None and register not in step.reads:
            self.builder.fail(codes.INTERNAL, f"the read of {register.name} was not foreseen")
        return self._at_end(self.here, register)

    def _at_end(self, number: int, register: Register) -> Value:
        """The value of a register at the end of a block that has been lowered: its own, or that of a dominator."""
        path: list[int] = []
        while True:
            found = self.values[number].get(register)
            if found is not None:
                break
            path.append(number)
            if number == 0:
                found = self.builder.undefined(register.type)
                break
            number = self.idom[number]
        for one in path:
            self.values[one][register] = found
        return found

    # --- steps --------------------------------------------------------------------------------------------------------

    def _lower(self, step: Step) -> None:
        builder = self.builder
        builder.begin(step)
        what = step.what
        if isinstance(what, Assign):
            self._assign(what)
        elif isinstance(what, HostCall):
            arguments = [self._value(a, t) for a, t in what.arguments]
            result = builder.host_call(what.name, arguments, what.type)
            if what.result is not None and result is not None:
                self._set(what.result, result)
        elif isinstance(what, CopyPlace):
            self._copy(what)
        elif isinstance(what, FrameEnd):
            self._set(what.target, self._frame_end(what))
        elif isinstance(what, Allocate):
            self._allocate(what)
        elif isinstance(what, Joined):
            self._joined(what, step)
        elif isinstance(what, Instruction):
            if is_barrier(what):
                self._barrier_result(what)
            else:
                if what.opcode in NAME_MEMBERS and what.has("sync") and what.operands:
                    builder.converge(builder.read(what.operands[-1], "i32"), self._line(step.span), what.form)
                    if self.members:
                        builder.check_members(builder.read(what.operands[-1], "i32"))
                expand(builder, what)

    def _joined(self, what: Joined, step: Step) -> None:
        """Wait at what stands for several instructions; a check names the first, as what it checks."""
        builder, one = self.builder, what.instruction
        mask = builder.read(one.operands[-1], "i32")
        if self.members:
            builder.converge(mask, self._line(step.span), one.form)
            builder.check_members(mask)
        else:
            lines = tuple(self._line(span) for span in what.spans)
            builder.converge(mask, lines[0], one.form, builder.register(what.site), lines)
        expand(builder, one)

    def _assign(self, what: Assign) -> None:
        if isinstance(what.source, int):
            self._set(what.target, self.builder.const("i32", what.source))
        else:
            self._set(what.target, self._value(what.source, what.type))

    def _value(self, source: Operand | Register | Place, type: Type) -> Value:
        builder = self.builder
        if isinstance(source, Register):
            return builder.resize(builder.register(source), type)
        if isinstance(source, Place):
            address = builder.place(source, "i32")
            if type == "i1":  # predicates are bytes in memory
                return builder.icmp("ne", builder.load(source.space, "i8", address)[0], builder.const("i8", 0))
            return builder.load(source.space, type, address)[0]
        return builder.read(source, type)

    def _set(self, target: Register | Place, value: Value) -> None:
        builder = self.builder
        if isinstance(target, Register):
            builder.assign(target, builder.resize(value, target.type))
        else:
            value = builder.zext(value, "i8") if value.type == "i1" else value
            builder.store(target.space, builder.place(target, "i32"), [value])

    def _copy(self, what: CopyPlace) -> None:
        builder = self.builder
        type: Type = {8: "i64", 4: "i32", 2: "i16", 1: "i8"}[what.chunk]  # pyright: ignore[reportAssignmentType]
        for offset in range(0, what.size, what.chunk):
            (value,) = builder.load(what.source.space, type, builder.place(what.source, "i32", offset))
            builder.store(what.target.space, builder.place(what.target, "i32", offset), [value])

    def _frame_end(self, what: FrameEnd) -> Value:
        builder, owner = self.builder, what.owner
        if owner.top is not None and not what.fixed:
            return builder.register(owner.top)
        if owner.stack is not None:
            return builder.place(owner.stack, "i32")
        return builder.add(builder.register(owner.base), builder.const("i32", align_up(owner.size, FRAME_ALIGN)))

    def _allocate(self, what: Allocate) -> None:
        """`alloca`: sizes beyond all stacks are cut, so that the check behind sees them and nothing wraps."""
        builder = self.builder
        size = builder.min(builder.read(what.size, "i64"), builder.const("i64", LOCAL_LIMIT), False)
        top = builder.register(what.top)
        start = top
        if what.align > FRAME_ALIGN:
            generic = builder.to_generic("local", top)
            past = builder.and_(generic, builder.const("i64", what.align - 1))
            missing = builder.sub(builder.const("i64", what.align), past)
            aligned = builder.icmp("eq", past, builder.const("i64", 0))
            start = builder.select(aligned, top, builder.add(top, builder.trunc(missing, "i32")))
        up = builder.add(builder.trunc(size, "i32"), builder.const("i32", FRAME_ALIGN - 1))
        builder.write(what.result, start)
        bytes = builder.and_(up, builder.const("i32", -FRAME_ALIGN))
        builder.assign(what.top, builder.add(start, bytes))

    def _barrier_result(self, instruction: Instruction) -> None:
        """Write what a reducing barrier computed; it stands at the head of the block behind the barrier."""
        predicate = instruction.types[-1:] == ("pred",)
        result = Op("barrier_result", "i1" if predicate else "i32", [], span=instruction.span)
        self.builder.block.ops.append(result)
        self.builder.write(instruction.operands[0], result)

    # --- terminators --------------------------------------------------------------------------------------------------

    def _terminator(self, node: Node) -> Terminator:
        targets = [self.blocks[t] for t in node.targets]
        kind = "exit" if node.kind == "open" else node.kind
        out = Terminator(kind, [], targets, span=node.span)
        if kind == "trap":
            out.attrs = Trapped(node.reason, self._line(node.span))
        if node.step is None:
            return out
        builder = self.builder
        builder.begin(node.step)
        if node.kind == "branch":
            out.args = [self._condition(node.step)]
        elif node.kind == "switch":
            out.args = [self._index(node.step)]
        elif node.kind == "barrier":
            self._barrier(node, out)
        return out

    def _line(self, span: Span | None) -> int:
        """Return the line of the PTX, counted from the one asked for before; 0 if it is not known."""
        if span is None or self.module.source is None:
            return 0
        text, (offset, line) = self.module.source.text, self.counted
        step = text.count("\n", offset, span.start) if span.start >= offset else -text.count("\n", span.start, offset)
        self.counted = (span.start, line + step)
        return line + step

    def _condition(self, step: Step) -> Value:
        builder, what = self.builder, step.what
        if isinstance(what, StackCheck):
            last = builder.place(what.stack, "i32", what.stack.size - what.room.bytes)
            return builder.icmp("ugt", builder.register(what.at), last)
        assert isinstance(what, Instruction) and what.guard is not None
        return builder.read(what.guard.register, "i1")

    def _index(self, step: Step) -> Value:
        builder = self.builder
        if isinstance(step.what, Register):
            return builder.register(step.what)
        if isinstance(step.what, Place):
            return builder.load("local", "i32", builder.place(step.what, "i32"))[0]
        if isinstance(step.what, Dispatch):
            pointer = builder.read(step.what.pointer, "i64")
            index = builder.const("i32", len(step.what.addresses))
            for i, address in reversed(list(enumerate(step.what.addresses))):
                same = builder.icmp("eq", pointer, builder.const("i64", address))
                index = builder.select(same, builder.const("i32", i), index)
            return index
        assert isinstance(step.what, Instruction)
        return self.builder.read(step.what.operands[0], "i32")

    def _barrier(self, node: Node, out: Terminator) -> None:
        form = node.barrier
        assert form is not None
        builder = self.builder
        count = builder.read(form.count, "i32") if form.count is not None else None
        predicate = None
        if form.predicate is not None:
            predicate = builder.read(form.predicate, "i1")
        out.args = (
            [builder.read(form.barrier, "i32")] if form.warp else [builder.read(form.barrier, "i32"), count, predicate]
        )
        line = self._line(node.span) if form.warp else None
        out.attrs = Barrier(form.kind, form.warp, line, form.aligned)

    # --- the kernel ---------------------------------------------------------------------------------------------------

    def _kernel(self) -> Kernel:
        params, size = parameters(self.function.params, self.module.source)
        return Kernel(
            self.function.name,
            [self.blocks[number] for number in self.order],
            params,
            param_bytes=size,
            directives={d.name: d.arguments for d in self.function.directives},
        )
