"""Expansion of a kernel into its skeleton: walks the statements, splits blocks, and puts called functions in place.

Everything is a walk over an explicit stack: how deep scopes and calls nest is the program's choice.
"""

from __future__ import annotations

from dataclasses import replace

from anywarp.compiler import codes
from anywarp.compiler.call_graph import shared_functions
from anywarp.compiler.calls import Calls
from anywarp.compiler.layout import align_up, parameters
from anywarp.compiler.save_registers import save_registers
from anywarp.compiler.scopes import Frame, Walk
from anywarp.compiler.skeleton import (
    FRAME_ALIGN,
    Allocate,
    Assign,
    FrameEnd,
    LabelName,
    ModuleView,
    ParamPlace,
    Skeleton,
    StackCheck,
    StackRoom,
    Step,
    StepKind,
)
from anywarp.compiler.variables import Register
from anywarp.compiler.walk import STACK_OVERFLOW, place_in
from anywarp.ptx.isa.barriers import BarrierForm, barrier_of, is_barrier
from anywarp.ptx.tree import (
    Function,
    Instruction,
    Integer,
    Label,
    Name,
    Scope,
    Statement,
    Targets,
)

STEP_LIMIT = 300_000
"""Instructions of a kernel with all calls expanded beyond which we refuse."""

STACK_BYTES = 16384
"""Stack of a thread unless more is asked for. CUDA's default is 1024; our frames hold registers that are not spilled there."""

CONVERGENT = frozenset({"shfl", "vote", "match", "redux", "activemask", "elect"})
"""Opcodes whose meaning depends on who is active: under a guard they are branched around, not blended."""


def build_skeleton(module: ModuleView, kernel: Function, stack_bytes: int = STACK_BYTES) -> Skeleton:
    """Expand `kernel` (a definition) into a skeleton. Raises AnywarpError with a place in the PTX.

    `stack_bytes` are there for calls that are made for real, if there are any.
    """
    return _Expander(module, shared_functions(module, kernel), stack_bytes).run(kernel)


class _Expander(Calls):
    def __init__(self, module: ModuleView, names: frozenset[str], stack_bytes: int) -> None:
        super().__init__(module, names, stack_bytes)
        self.count = 0

    def run(self, kernel: Function) -> Skeleton:
        frame = Frame(kernel, None, None)
        for param in parameters(kernel.params, self.module.source)[0]:
            frame.names[param.name] = (0, ParamPlace(param.name, param.offset, param.size))
        self.enter(kernel, frame)
        while self.stack or self.walk_shared():
            walk = self.stack[-1]
            statement = next(walk.statements, None)
            if statement is None:
                self._leave(walk)
            else:
                self._statement(walk, statement)
        self.nodes[0].span = self.nodes[0].span or kernel.span
        self._finish_calls()
        return Skeleton(self.nodes, self.scopes.places)

    def _finish_calls(self) -> None:
        """Fill in what is known only when all calls have been seen: places to return to, registers to keep, sizes."""
        for one in self.shared.values():
            span = one.function.span
            node = self.nodes[one.leaving]
            node.kind, node.targets = "switch" if len(one.sites) > 1 else "jump", list(one.sites)
            if len(one.sites) > 1:
                node.step = Step(place_in(self.base, 0, 4), {}, [self.base], [], span)
        owners = [self.kernel, *(one.activation for one in self.shared.values())]
        for node in self.nodes:
            for step in node.steps:
                if isinstance(step.what, FrameEnd):
                    owner = step.what.owner
                    step.reads = (
                        [owner.top] if owner.top and not step.what.fixed else [] if owner.stack else [self.base]
                    )
        if self.sites:
            save_registers(self.nodes, self.sites, self.shared.values(), {self.base, self.next})
        self.room.bytes = max(align_up(owner.size, FRAME_ALIGN) for owner in owners)
        self.stack_place.size = max(self.stack_place.size, 2 * self.room.bytes)

    # --- the stack ----------------------------------------------------------------------------------------------------

    def _on_stack(self, frame: Frame, instruction: Instruction) -> None:
        """`alloca`, `stacksave` and `stackrestore`: move the end of the stack, which returns move back."""
        plain, after = self.guarded(frame, instruction)
        wrong = f"`{plain.form}` with {len(plain.operands)} operands"
        if len(plain.operands) not in ((2, 3) if plain.opcode == "alloca" else (1,)):
            self.scopes.fail(codes.WRONG_OPERAND, wrong, plain.span)
        top = self._top(frame)
        step = self.scopes.resolve(frame, plain)
        first, *more = plain.operands
        if plain.opcode == "alloca":
            align = more[1] if len(more) > 1 else Integer(8)
            if not isinstance(align, Integer) or not 0 < align.value <= 4096 or align.value & (align.value - 1):
                self.scopes.fail(codes.WRONG_OPERAND, f"`{plain.form}` with an alignment that is none", plain.span)
            what: StepKind = Allocate(first, more[0], align.value, top)
            self.add(Step(what, step.names, [*step.reads, top], [*step.writes, top], plain.span))
            inside = self.node()
            check = Step(StackCheck(top, self.stack_place, StackRoom()), {}, [top], [], plain.span)
            self.end("branch", [self.trap(STACK_OVERFLOW, plain.span), inside], check, span=plain.span)
            self.current = inside
        elif plain.opcode == "stacksave":
            what = Instruction("mov", ("b32",), (first, Name(top.name)), None, plain.span)
            self.add(Step(what, {**step.names, top.name: top}, [top], step.writes or step.reads, plain.span))
        else:
            self.add(Step(Assign(top, first, "i32"), step.names, step.reads or step.writes, [top], plain.span))
        if after is not None:
            self.continue_at(after)

    def _top(self, frame: Frame) -> Register:
        """Return the register that holds the end of the stack in the function around; a function expanded in place restores it."""
        owner = frame.owner or self.kernel
        span = frame.function.span
        if owner.top is None:
            owner.top = Register("%top", "i32")
            entry = 0 if frame.owner is None else self.shared[owner.name].entry
            self.nodes[entry].steps.insert(0, Step(FrameEnd(owner.top, owner, True), {}, [], [owner.top], span))
        if frame.caller is not None and not frame.keeps_top:
            frame.keeps_top = True
            assert frame.after is not None
            kept = Register("%kept", "i32")
            self.nodes[frame.start].steps.insert(0, Step(Assign(kept, owner.top, "i32"), {}, [owner.top], [kept], span))
            self.nodes[frame.after].steps.insert(0, Step(Assign(owner.top, kept, "i32"), {}, [kept], [owner.top], span))
        return owner.top

    def _leave(self, walk: Walk) -> None:
        self.stack.pop()
        self.scopes.leave(walk)
        frame = walk.frame
        if walk.outermost:
            self._return(frame)
            self.current = frame.resume

    def _return(self, frame: Frame) -> None:
        """End the current block as `ret` does."""
        if self.current is None:
            return
        if frame.after is None:
            self.end("exit", [])
        else:
            self.end("jump", [frame.after])

    def _statement(self, walk: Walk, statement: Statement) -> None:
        if isinstance(statement, Instruction):
            if self.current is not None:
                self._instruction(walk.frame, statement)
        elif isinstance(statement, Label):
            entity = walk.frame.names[statement.name][1]
            assert isinstance(entity, LabelName)
            self.continue_at(entity.node)
        elif isinstance(statement, Scope):
            inner = Walk(walk.frame, iter(statement.statements))
            self.stack.append(inner)
            self.scopes.declare(inner, statement.statements)

    def _instruction(self, frame: Frame, instruction: Instruction) -> None:
        self.count += 1
        if self.count > STEP_LIMIT:
            self.scopes.fail(
                codes.TOO_MUCH_CODE,
                f"more than {STEP_LIMIT} instructions once all calls are expanded",
                instruction.span,
                "make the device functions smaller, or fewer of them inlined at many places",
            )
        opcode = instruction.opcode
        if opcode == "bra":
            self._bra(frame, instruction)
        elif opcode == "brx":
            self._brx(frame, instruction)
        elif opcode in ("ret", "exit", "trap", "brkpt", "call"):
            self._leaving(frame, instruction)
        elif opcode in ("alloca", "stacksave", "stackrestore"):
            self._on_stack(frame, instruction)
        elif is_barrier(instruction):
            self._barrier(frame, instruction, barrier_of(instruction))
        elif opcode in CONVERGENT and instruction.guard is not None:
            plain, after = self.guarded(frame, instruction)
            assert self.current is not None and after is not None
            self.nodes[self.current].steps.append(self.scopes.resolve(frame, plain))
            self.continue_at(after)
        else:
            assert self.current is not None
            self.nodes[self.current].steps.append(self.scopes.resolve(frame, instruction))

    def _bra(self, frame: Frame, instruction: Instruction) -> None:
        target = self._label(frame, instruction)
        if instruction.guard is None:
            self.end("jump", [target], span=instruction.span)
        else:
            after = self.node()
            self.branch(frame, instruction, target, after)
            self.current = after

    def _label(self, frame: Frame, instruction: Instruction) -> int:
        operand = instruction.operands[0] if instruction.operands else None
        entity = self.scopes.find(frame, operand.name) if isinstance(operand, Name) else None
        if not isinstance(entity, LabelName):
            shown = operand.name if isinstance(operand, Name) else "?"
            self.scopes.fail(
                codes.UNKNOWN_LABEL, f"no label `{shown[:200]}` can be reached from here", instruction.span
            )
        return entity.node

    def _brx(self, frame: Frame, instruction: Instruction) -> None:
        plain, after = self.guarded(frame, instruction)
        if len(plain.operands) != 2 or not isinstance(plain.operands[1], Name):
            self.scopes.fail(codes.WRONG_OPERAND, "brx.idx needs an index and a list of targets", instruction.span)
        table = self.scopes.find(frame, plain.operands[1].name)
        if not isinstance(table, Targets):
            self.scopes.fail(
                codes.UNKNOWN_LABEL, f"no list of targets `{plain.operands[1].name[:200]}`", instruction.span
            )
        targets: list[int] = []
        for name in table.names:
            entity = self.scopes.find(frame, name)
            if not isinstance(entity, LabelName):
                self.scopes.fail(
                    codes.UNKNOWN_LABEL, f"no label `{name[:200]}` can be reached from here", instruction.span
                )
            targets.append(entity.node)
        step = self.scopes.resolve(frame, replace(plain, operands=plain.operands[:1]))
        self.end("switch", targets, step, span=instruction.span)
        self.current = after

    def _leaving(self, frame: Frame, instruction: Instruction) -> None:
        plain, after = self.guarded(frame, instruction)
        if plain.opcode == "ret":
            self._return(frame)
        elif plain.opcode in ("exit", "trap", "brkpt"):
            self.end("exit" if plain.opcode == "exit" else "trap", [], span=plain.span)
        else:
            self.call(frame, plain, after)
            return
        self.current = after

    def _barrier(self, frame: Frame, instruction: Instruction, barrier: BarrierForm) -> None:
        plain, after = self.guarded(frame, instruction)
        target = self.node()
        self.end("barrier", [target], self.scopes.resolve(frame, plain), barrier, instruction.span)
        self.current = target
        if barrier.destination is not None:
            self.nodes[target].arrival = barrier
            self.nodes[target].steps.append(self.scopes.resolve(frame, plain))
        if after is not None:
            self.continue_at(after)
