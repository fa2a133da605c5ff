"""Expansion of a kernel into its skeleton: walks the statements, splits blocks, and puts called functions in place.

Everything is a walk over an explicit stack: how deep scopes and calls nest is the program's choice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from anywarp.compiler import codes
from anywarp.compiler.layout import parameters, size_and_alignment
from anywarp.compiler.scopes import Frame, Scopes, Walk
from anywarp.compiler.skeleton import (
    Assign,
    Entity,
    HostCall,
    LabelName,
    ModuleView,
    Node,
    ParamPlace,
    Place,
    Register,
    Skeleton,
    Step,
    register_type,
)
from anywarp.diagnostics import Span
from anywarp.ptx.isa.barriers import BarrierForm, barrier_of
from anywarp.ptx.isa.ops import Type
from anywarp.ptx.tree import (
    Function,
    Group,
    Instruction,
    Label,
    Name,
    Operand,
    Scope,
    Sink,
    Statement,
    Targets,
    Variable,
)

STEP_LIMIT = 300_000
"""Instructions of a kernel with all calls expanded beyond which we refuse."""

HOST_FUNCTIONS: dict[str, str] = {
    "vprintf": "vprintf", "malloc": "malloc", "free": "free", "__assertfail": "assertfail",
}  # fmt: skip
"""Functions of CUDA's device run time that the runtime supplies, by the name of the service."""

CONVERGENT = frozenset({"shfl", "vote", "match", "redux", "activemask", "elect"})
"""Opcodes whose meaning depends on who is active: under a guard they are branched around, not blended."""


def build_skeleton(module: ModuleView, kernel: Function) -> Skeleton:
    """Expand `kernel` (a definition) into a skeleton. Raises AnywarpError with a place in the PTX."""
    return _Expander(module).run(kernel)


class _Expander:
    def __init__(self, module: ModuleView) -> None:
        self.scopes = Scopes(module, self._node)
        self.module = module
        self.nodes: list[Node] = [Node()]
        self.current: int | None = 0
        self.stack: list[Walk] = []
        self.count = 0

    def run(self, kernel: Function) -> Skeleton:
        frame = Frame(kernel, None, None)
        for param in parameters(kernel.params, self.module.source)[0]:
            frame.names[param.name] = (0, ParamPlace(param.name, param.offset, param.size))
        self._enter(kernel, frame)
        while self.stack:
            walk = self.stack[-1]
            statement = next(walk.statements, None)
            if statement is None:
                self._leave(walk)
            else:
                self._statement(walk, statement)
        self.nodes[0].span = self.nodes[0].span or kernel.span
        return Skeleton(self.nodes, self.scopes.places)

    def _enter(self, function: Function, frame: Frame) -> None:
        assert function.body is not None
        walk = Walk(frame, iter(function.body.statements), outermost=True)
        self.stack.append(walk)
        self.scopes.declare(walk, function.body.statements)

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
            self._end("exit", [])
        else:
            self._end("jump", [frame.after])

    def _statement(self, walk: Walk, statement: Statement) -> None:
        if isinstance(statement, Instruction):
            if self.current is not None:
                self._instruction(walk.frame, statement)
        elif isinstance(statement, Label):
            entity = walk.frame.names[statement.name][1]
            assert isinstance(entity, LabelName)
            self._continue_at(entity.node)
        elif isinstance(statement, Scope):
            inner = Walk(walk.frame, iter(statement.statements))
            self.stack.append(inner)
            self.scopes.declare(inner, statement.statements)

    def _node(self) -> int:
        self.nodes.append(Node())
        return len(self.nodes) - 1

    def _continue_at(self, node: int) -> None:
        if self.current is not None:
            self._end("jump", [node])
        self.current = node

    def _end(
        self,
        kind: Literal["jump", "branch", "switch", "exit", "trap", "barrier"],
        targets: list[int],
        step: Step | None = None,
        barrier: BarrierForm | None = None,
        span: Span | None = None,
    ) -> None:
        assert self.current is not None
        node = self.nodes[self.current]
        node.kind, node.targets, node.step, node.barrier, node.span = kind, targets, step, barrier, span
        self.current = None

    def _guarded(self, frame: Frame, instruction: Instruction) -> tuple[Instruction, int | None]:
        """Branch around a guarded instruction; returns it without its guard, and the block to continue at."""
        if instruction.guard is None:
            return instruction, None
        inside, after = self._node(), self._node()
        self._branch(frame, instruction, inside, after)
        self.current = inside
        return replace(instruction, guard=None), after

    def _branch(self, frame: Frame, instruction: Instruction, taken: int, other: int) -> None:
        guard = instruction.guard
        assert guard is not None
        step = self.scopes.resolve(frame, replace(instruction, operands=(), opcode="bra", modifiers=()))
        self._end("branch", [other, taken] if guard.negated else [taken, other], step, span=instruction.span)

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
        elif opcode in ("bar", "barrier"):
            self._barrier(frame, instruction, barrier_of(instruction))
        elif opcode in CONVERGENT and instruction.guard is not None:
            plain, after = self._guarded(frame, instruction)
            assert self.current is not None and after is not None
            self.nodes[self.current].steps.append(self.scopes.resolve(frame, plain))
            self._continue_at(after)
        else:
            assert self.current is not None
            self.nodes[self.current].steps.append(self.scopes.resolve(frame, instruction))

    def _bra(self, frame: Frame, instruction: Instruction) -> None:
        target = self._label(frame, instruction)
        if instruction.guard is None:
            self._end("jump", [target], span=instruction.span)
        else:
            after = self._node()
            self._branch(frame, instruction, target, after)
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
        plain, after = self._guarded(frame, instruction)
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
        self._end("switch", targets, step, span=instruction.span)
        self.current = after

    def _leaving(self, frame: Frame, instruction: Instruction) -> None:
        plain, after = self._guarded(frame, instruction)
        if plain.opcode == "ret":
            self._return(frame)
        elif plain.opcode in ("exit", "trap", "brkpt"):
            self._end("exit" if plain.opcode == "exit" else "trap", [], span=plain.span)
        else:
            self._call(frame, plain, after)
            return
        self.current = after

    def _barrier(self, frame: Frame, instruction: Instruction, barrier: BarrierForm) -> None:
        plain, after = self._guarded(frame, instruction)
        target = self._node()
        self._end("barrier", [target], self.scopes.resolve(frame, plain), barrier, instruction.span)
        self.current = target
        if barrier.destination is not None:
            self.nodes[target].arrival = barrier
            self.nodes[target].steps.append(self.scopes.resolve(frame, plain))
        if after is not None:
            self._continue_at(after)

    def _call(self, frame: Frame, instruction: Instruction, after: int | None) -> None:
        results, name, arguments = _call_parts(instruction)
        if name is None:
            self.scopes.fail(codes.WRONG_CALL, "a call without a function", instruction.span)
        entity = self.scopes.find(frame, name.name)
        if isinstance(entity, Register):
            self.scopes.fail(
                codes.INDIRECT_CALL,
                f"`{instruction.form}` through `{name.name}`: calls through function pointers are not supported yet",
                instruction.span,
            )
        callee = self.module.function(name.name)
        after = self._node() if after is None else after
        if callee is not None and callee.body is not None:
            self._inline(frame, instruction, callee, results, arguments, after)
        else:
            self._host(frame, instruction, name.name, callee, results, arguments, after)

    def _inline(
        self,
        frame: Frame,
        instruction: Instruction,
        callee: Function,
        results: tuple[Operand, ...],
        arguments: tuple[Operand, ...],
        after: int,
    ) -> None:
        self._check_recursion(frame, callee, instruction.span)
        if len(arguments) != len(callee.params) or len(results) != len(callee.returns):
            self.scopes.fail(
                codes.WRONG_CALL,
                f"`{callee.name[:200]}` takes {len(callee.params)} arguments and returns {len(callee.returns)} values",
                instruction.span,
            )
        inner = Frame(callee, self._node(), frame)
        assert self.current is not None
        steps = self.nodes[self.current].steps
        for formal, actual in zip(callee.params, arguments, strict=True):
            entity = self._formal(frame, formal, actual, instruction.span)
            inner.names[formal.name] = (0, entity)
            if entity is not self._place(frame, actual):
                steps.append(self._assign(frame, entity, self._source(frame, actual), formal.type, instruction.span))
        assert inner.after is not None
        done = self.nodes[inner.after]
        for formal, actual in zip(callee.returns, results, strict=True):
            entity = self._formal(frame, formal, actual, instruction.span)
            inner.names[formal.name] = (0, entity)
            target = self._target(frame, actual, instruction.span)
            if target is not None and target is not entity:
                done.steps.append(self._assign(frame, target, entity, formal.type, instruction.span))
        done.kind, done.targets = "jump", [after]
        inner.resume = after
        start = self._node()
        self._end("jump", [start])
        self.current = start
        self._enter(callee, inner)

    def _check_recursion(self, frame: Frame, callee: Function, span: Span) -> None:
        chain = [callee.name]
        walk: Frame | None = frame
        while walk is not None:
            chain.append(walk.function.name)
            if walk.function.name == callee.name:
                cycle = " calls ".join(f"`{name[:100]}`" for name in reversed(chain[:50]))
                self.scopes.fail(codes.RECURSION, f"recursive device functions are not supported: {cycle}", span)
            walk = walk.caller

    def _place(self, frame: Frame, operand: Operand) -> Place | None:
        entity = self.scopes.find(frame, operand.name) if isinstance(operand, Name) else None
        return entity if isinstance(entity, Place) else None

    def _formal(self, frame: Frame, formal: Variable, actual: Operand, span: Span) -> Register | Place:
        """What a parameter's name means inside: a register, the caller's `.param` variable, or memory of its own."""
        if formal.space == "reg":
            return Register(formal.name, register_type(formal.type))
        size, _ = size_and_alignment(formal, self.module.source)
        place = self._place(frame, actual)
        if place is None:
            return self.scopes.local(formal)
        if place.size < size:
            message = f"`{place.name[:200]}` has {place.size} bytes, the parameter `{formal.name[:200]}` {size}"
            self.scopes.fail(codes.WRONG_CALL, message, span)
        return place

    def _source(self, frame: Frame, operand: Operand) -> Operand | Register | Place:
        place = self._place(frame, operand)
        return operand if place is None else place

    def _target(self, frame: Frame, operand: Operand, span: Span) -> Register | Place | None:
        if isinstance(operand, Sink):
            return None
        entity = self.scopes.find(frame, operand.name) if isinstance(operand, Name) else None
        if not isinstance(entity, Register | Place):
            self.scopes.fail(codes.WRONG_CALL, "the result of a call goes to a register or a .param variable", span)
        return entity

    def _assign(
        self,
        frame: Frame,
        target: Register | Place,
        source: Operand | Register | Place,
        declared: str,
        span: Span,
    ) -> Step:
        names: dict[str, Entity] = {}
        reads: list[Register] = []
        if isinstance(source, Register):
            reads.append(source)
        elif not isinstance(source, Place):
            self.scopes.scan(frame, source, names, reads)
        writes = [target] if isinstance(target, Register) else []
        return Step(Assign(target, source, register_type(declared)), names, reads, writes, span)

    def _host(
        self,
        frame: Frame,
        instruction: Instruction,
        name: str,
        declared: Function | None,
        results: tuple[Operand, ...],
        arguments: tuple[Operand, ...],
        after: int,
    ) -> None:
        """Call a service of the runtime; each argument has the type of the declared parameter."""
        service = HOST_FUNCTIONS.get(name)
        if service is None or declared is None or len(results) > 1 or len(results) != len(declared.returns):
            self.scopes.fail(
                codes.UNDEFINED_FUNCTION,
                f"the function `{name[:200]}` is called, but not defined in this module",
                instruction.span,
                "link the device code that defines it",
                function=name,
            )
        if len(arguments) != len(declared.params):
            self.scopes.fail(
                codes.WRONG_CALL, f"`{name[:200]}` takes {len(declared.params)} arguments", instruction.span
            )
        names: dict[str, Entity] = {}
        reads: list[Register] = []
        passed: list[tuple[Operand | Place, Type]] = []
        for formal, actual in zip(declared.params, arguments, strict=True):
            place = self._place(frame, actual)
            if place is None:
                self.scopes.scan(frame, actual, names, reads)
            passed.append((actual if place is None else place, register_type(formal.type)))
        result = self._target(frame, results[0], instruction.span) if results else None
        kind = register_type(declared.returns[0].type) if results else None
        writes = [result] if isinstance(result, Register) else []
        assert self.current is not None
        call = HostCall(service, tuple(passed), result, kind)
        self.nodes[self.current].steps.append(Step(call, names, reads, writes, instruction.span))
        if service == "assertfail":
            self._end("trap", [], span=instruction.span)
            self.current = after
        else:
            self._continue_at(after)


def _call_parts(instruction: Instruction) -> tuple[tuple[Operand, ...], Name | None, tuple[Operand, ...]]:
    """Take `call (results), name, (arguments)` apart; results and arguments may be missing."""
    operands = list(instruction.operands)
    results: tuple[Operand, ...] = ()
    arguments: tuple[Operand, ...] = ()
    first = operands[0] if operands else None
    if isinstance(first, Group):
        results = first.elements
        operands = operands[1:]
    name = operands[0] if operands else None
    last = operands[1] if len(operands) > 1 else None
    if isinstance(last, Group):
        arguments = last.elements
    return results, name if isinstance(name, Name) else None, arguments
