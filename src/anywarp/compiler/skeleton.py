"""A kernel before SSA: blocks of PTX instructions whose names are resolved, with every device function expanded in place.

Control flow is known from the text alone, so the graph is built (and made reducible) first; SSA construction then knows its
dominators and loops from the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, NoReturn, Protocol, TypeAlias

from anywarp.compiler import codes
from anywarp.compiler.layout import LOCAL_LIMIT, SHARED_LIMIT, Global, parameters, size_and_alignment
from anywarp.diagnostics import Source, Span
from anywarp.ptx.isa.barriers import BarrierForm, barrier_of
from anywarp.ptx.isa.ops import Type
from anywarp.ptx.tree import (
    Address,
    Function,
    Group,
    Instruction,
    Label,
    Name,
    Negated,
    Offset,
    Operand,
    Pair,
    Registers,
    Scope,
    Sink,
    Statement,
    Targets,
    Variable,
    Vector,
)

STEP_LIMIT = 300_000
"""Instructions of a kernel with all calls expanded beyond which we refuse."""

REGISTER_TYPES: dict[str, Type] = {"pred": "i1", "f16": "f16", "bf16": "bf16", "f32": "f32", "f64": "f64"}
"""IR types of registers by declared type; every other type is its bits (an integer of its width)."""

_BITS_TYPES: dict[int, Type] = {8: "i8", 16: "i16", 32: "i32", 64: "i64", 128: "i128"}

HOST_FUNCTIONS: dict[str, str] = {
    "vprintf": "vprintf", "malloc": "malloc", "free": "free", "__assertfail": "assertfail",
}  # fmt: skip
"""Functions of CUDA's device run time that the runtime supplies, by the name of the service."""

CONVERGENT = frozenset({"shfl", "vote", "match", "redux", "activemask", "elect"})
"""Opcodes whose meaning depends on who is active: under a guard they are branched around, not blended."""

# --- what a name can mean ---------------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class Register:
    """One scalar register of one expansion of a function: an SSA variable."""

    name: str
    type: Type


@dataclass(eq=False, slots=True)
class VectorRegister:
    """A register declared with `.v2` or `.v4`."""

    name: str
    elements: tuple[Register, ...]


@dataclass(eq=False, slots=True)
class Place:
    """A variable in shared or local memory; its offset is given when everything has been expanded.

    Parameters of device functions live in local memory until they are promoted to SSA values.
    """

    name: str
    space: Literal["shared", "local"]
    size: int
    align: int
    dynamic: bool = False
    parameter: bool = False


@dataclass(frozen=True, slots=True)
class ParamPlace:
    """A kernel parameter by its offset."""

    name: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class FunctionName:
    """A function, named."""

    name: str


@dataclass(frozen=True, slots=True)
class Missing:
    """A variable declared extern and defined nowhere."""

    name: str


@dataclass(eq=False, slots=True)
class Node:
    """A block of the skeleton. Terminators are those of the kernel IR, their operands still PTX."""

    steps: list[Step] = field(default_factory=list["Step"])
    kind: Literal["open", "jump", "branch", "switch", "exit", "trap", "barrier"] = "open"
    targets: list[int] = field(default_factory=list[int])
    step: Step | None = None
    barrier: BarrierForm | None = None
    arrival: BarrierForm | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class LabelName:
    """A label by its node."""

    node: int


Entity: TypeAlias = (
    "Register | VectorRegister | Place | ParamPlace | Global | FunctionName | Missing | LabelName | Targets"
)


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = source`: an argument or result of a call, or the state of a dispatcher (source an index)."""

    target: Register | Place
    source: Operand | Register | Place | int
    type: Type


@dataclass(frozen=True, slots=True)
class HostCall:
    """A call of a runtime service: arguments as operands or places with their types."""

    name: str
    arguments: tuple[tuple[Operand | Place, Type], ...]
    result: Register | Place | None
    type: Type | None


@dataclass(eq=False, slots=True)
class Step:
    """One thing to lower, with what its names mean and the registers it touches; a register alone is a switch's index."""

    what: Instruction | Assign | HostCall | Register
    names: dict[str, Entity]
    reads: list[Register]
    writes: list[Register]
    span: Span


class ModuleView(Protocol):
    """What lowering asks of a module."""

    @property
    def source(self) -> Source | None:
        """The text, for carets."""
        ...

    def function(self, name: str) -> Function | None:
        """A function with its body, or its declaration, or None; aliases are followed."""
        ...

    def variable(self, name: str) -> Variable | None:
        """A variable of module level, its definition if there is one."""
        ...

    def placed(self, name: str) -> Global | None:
        """Where a `.global` or `.const` variable lies in the module's data."""
        ...


@dataclass(slots=True)
class Skeleton:
    """The graph (node 0 the entry), and the variables in shared and local memory in order of first use."""

    nodes: list[Node]
    places: list[Place]

    def graph(self) -> list[list[int]]:
        """Return the successors of each node."""
        return [list(dict.fromkeys(node.targets)) for node in self.nodes]


@dataclass(eq=False, slots=True)
class _Family:
    """`%r<100>`: registers made when first named."""

    type: str
    count: int
    vector: int
    made: dict[int, Register | VectorRegister] = field(default_factory=dict[int, "Register | VectorRegister"])


@dataclass(eq=False, slots=True)
class _Frame:
    """One expansion of a function."""

    function: Function
    after: int | None
    caller: _Frame | None
    resume: int | None = None
    names: dict[str, tuple[int, Entity]] = field(default_factory=dict[str, "tuple[int, Entity]"])
    families: dict[str, tuple[int, _Family]] = field(default_factory=dict[str, "tuple[int, _Family]"])
    depth: int = 0


@dataclass(eq=False, slots=True)
class _Walk:
    """A scope being walked, and what its declarations hid."""

    frame: _Frame
    statements: Iterator[Statement]
    hidden_names: list[tuple[str, tuple[int, Entity] | None]] = field(
        default_factory=list["tuple[str, tuple[int, Entity] | None]"]
    )
    hidden_families: list[tuple[str, tuple[int, _Family] | None]] = field(
        default_factory=list["tuple[str, tuple[int, _Family] | None]"]
    )
    outermost: bool = False


def build_skeleton(module: ModuleView, kernel: Function) -> Skeleton:
    """Expand `kernel` (a definition) into a skeleton. Raises AnywarpError with a place in the PTX."""
    return _Expander(module).run(kernel)


def register_type(declared: str) -> Type:
    """Return the IR type of a register declared with a PTX type."""
    from anywarp.ptx.tree import WIDTHS

    known = REGISTER_TYPES.get(declared)
    return known if known is not None else _BITS_TYPES[max(8, WIDTHS[declared])]


class _Expander:
    def __init__(self, module: ModuleView) -> None:
        self.module = module
        self.nodes: list[Node] = [Node()]
        self.current: int | None = 0
        self.stack: list[_Walk] = []
        self.places: list[Place] = []
        self.shared: dict[str, Place] = {}
        self.count = 0

    # --- walking ----------------------------------------------------------------------------------------------------

    def run(self, kernel: Function) -> Skeleton:
        frame = _Frame(kernel, None, None)
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
        self.nodes[0].span = kernel.span
        return Skeleton(self.nodes, self.places)

    def _enter(self, function: Function, frame: _Frame) -> None:
        assert function.body is not None
        walk = _Walk(frame, iter(function.body.statements), outermost=True)
        self.stack.append(walk)
        self._declare(walk, function.body.statements)

    def _leave(self, walk: _Walk) -> None:
        self.stack.pop()
        frame = walk.frame
        for name, old in reversed(walk.hidden_names):
            if old is None:
                frame.names.pop(name, None)
            else:
                frame.names[name] = old
        for prefix, old in reversed(walk.hidden_families):
            if old is None:
                frame.families.pop(prefix, None)
            else:
                frame.families[prefix] = old
        frame.depth -= 1
        if walk.outermost:
            self._return(frame)
            self.current = frame.resume

    def _return(self, frame: _Frame) -> None:
        """End the current block as `ret` does."""
        if self.current is None:
            return
        if frame.after is None:
            self._end("exit", [])
        else:
            self._end("jump", [frame.after])

    def _declare(self, walk: _Walk, statements: tuple[Statement, ...]) -> None:
        """Enter a scope's declarations before its instructions, so that jumps forward find their labels."""
        walk.frame.depth += 1
        for statement in statements:
            if isinstance(statement, Label):
                self._hide(walk, statement.name, LabelName(self._node()))
            elif isinstance(statement, Registers):
                self._registers(walk, statement)
            elif isinstance(statement, Variable):
                self._variable(walk, statement)
            elif isinstance(statement, Targets):
                self._hide(walk, statement.label, statement)

    def _hide(self, walk: _Walk, name: str, entity: Entity) -> None:
        frame = walk.frame
        walk.hidden_names.append((name, frame.names.get(name)))
        frame.names[name] = (frame.depth, entity)

    def _registers(self, walk: _Walk, statement: Registers) -> None:
        frame = walk.frame
        for name, count in statement.names:
            if count is None:
                self._hide(walk, name, _make_register(name, statement.type, statement.vector))
            else:
                walk.hidden_families.append((name, frame.families.get(name)))
                frame.families[name] = (frame.depth, _Family(statement.type, count, statement.vector))

    def _variable(self, walk: _Walk, variable: Variable) -> None:
        if variable.space == "reg":
            self._hide(walk, variable.name, _make_register(variable.name, variable.type, variable.vector))
        elif variable.space in ("local", "param"):
            self._hide(walk, variable.name, self._local(variable))
        elif variable.space == "shared":
            self._hide(walk, variable.name, self._shared(variable, walk.frame.function.name))
        else:
            self._fail(
                codes.MISPLACED_DECLARATION,
                f"a .{variable.space} variable (`{variable.name[:200]}`) inside a function",
                variable.span,
            )

    def _local(self, variable: Variable) -> Place:
        size, align = size_and_alignment(variable, self.module.source)
        place = Place(variable.name, "local", size, align, parameter=variable.space == "param")
        self._remember(place, variable.span)
        return place

    def _shared(self, variable: Variable, owner: str) -> Place:
        """A shared variable of a function is one variable, however often the function is expanded."""
        key = f"{owner}\0{variable.name}\0{variable.span.start}"
        if key not in self.shared:
            size, align = size_and_alignment(variable, self.module.source)
            dynamic = variable.linkage == "extern" or (size == 0 and bool(variable.dims))
            self.shared[key] = Place(variable.name, "shared", size, align, dynamic)
            self._remember(self.shared[key], variable.span)
        return self.shared[key]

    def _remember(self, place: Place, span: Span) -> None:
        self.places.append(place)
        limit = SHARED_LIMIT if place.space == "shared" else LOCAL_LIMIT
        if place.size > limit:
            self._fail(codes.TOO_MUCH_DATA, f"`{place.name[:200]}` needs more than {limit} bytes", span)

    def _statement(self, walk: _Walk, statement: Statement) -> None:
        if isinstance(statement, Instruction):
            if self.current is not None:
                self._instruction(walk.frame, statement)
        elif isinstance(statement, Label):
            entity = walk.frame.names[statement.name][1]
            assert isinstance(entity, LabelName)
            self._continue_at(entity.node)
        elif isinstance(statement, Scope):
            inner = _Walk(walk.frame, iter(statement.statements))
            self.stack.append(inner)
            self._declare(inner, statement.statements)

    # --- blocks -------------------------------------------------------------------------------------------------------

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

    def _guarded(self, frame: _Frame, instruction: Instruction) -> tuple[Instruction, int | None]:
        """Branch around a guarded instruction; returns it without its guard, and the block to continue at."""
        if instruction.guard is None:
            return instruction, None
        inside, after = self._node(), self._node()
        self._branch(frame, instruction, inside, after)
        self.current = inside
        return replace(instruction, guard=None), after

    def _branch(self, frame: _Frame, instruction: Instruction, taken: int, other: int) -> None:
        guard = instruction.guard
        assert guard is not None
        step = self._resolve(frame, replace(instruction, operands=(), opcode="bra", modifiers=()))
        self._end("branch", [other, taken] if guard.negated else [taken, other], step, span=instruction.span)

    # --- instructions -------------------------------------------------------------------------------------------------

    def _instruction(self, frame: _Frame, instruction: Instruction) -> None:
        self.count += 1
        if self.count > STEP_LIMIT:
            self._fail(
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
            self.nodes[self.current].steps.append(self._resolve(frame, plain))
            self._continue_at(after)
        else:
            assert self.current is not None
            self.nodes[self.current].steps.append(self._resolve(frame, instruction))

    def _bra(self, frame: _Frame, instruction: Instruction) -> None:
        target = self._label(frame, instruction)
        if instruction.guard is None:
            self._end("jump", [target], span=instruction.span)
        else:
            after = self._node()
            self._branch(frame, instruction, target, after)
            self.current = after

    def _label(self, frame: _Frame, instruction: Instruction) -> int:
        operand = instruction.operands[0] if instruction.operands else None
        entity = self._find(frame, operand.name) if isinstance(operand, Name) else None
        if not isinstance(entity, LabelName):
            shown = operand.name if isinstance(operand, Name) else "?"
            self._fail(codes.UNKNOWN_LABEL, f"no label `{shown[:200]}` can be reached from here", instruction.span)
        return entity.node

    def _brx(self, frame: _Frame, instruction: Instruction) -> None:
        plain, after = self._guarded(frame, instruction)
        if len(plain.operands) != 2 or not isinstance(plain.operands[1], Name):
            self._fail(codes.WRONG_OPERAND, "brx.idx needs an index and a list of targets", instruction.span)
        table = self._find(frame, plain.operands[1].name)
        if not isinstance(table, Targets):
            self._fail(codes.UNKNOWN_LABEL, f"no list of targets `{plain.operands[1].name[:200]}`", instruction.span)
        targets: list[int] = []
        for name in table.names:
            entity = self._find(frame, name)
            if not isinstance(entity, LabelName):
                self._fail(codes.UNKNOWN_LABEL, f"no label `{name[:200]}` can be reached from here", instruction.span)
            targets.append(entity.node)
        step = self._resolve(frame, replace(plain, operands=plain.operands[:1]))
        self._end("switch", targets, step, span=instruction.span)
        self.current = after

    def _leaving(self, frame: _Frame, instruction: Instruction) -> None:
        plain, after = self._guarded(frame, instruction)
        if plain.opcode == "ret":
            self._return(frame)
        elif plain.opcode in ("exit", "trap", "brkpt"):
            self._end("exit" if plain.opcode == "exit" else "trap", [], span=plain.span)
        else:
            self._call(frame, plain, after)
            return
        self.current = after

    def _barrier(self, frame: _Frame, instruction: Instruction, barrier: BarrierForm) -> None:
        plain, after = self._guarded(frame, instruction)
        target = self._node()
        self._end("barrier", [target], self._resolve(frame, plain), barrier, instruction.span)
        self.current = target
        if barrier.destination is not None:
            self.nodes[target].arrival = barrier
            self.nodes[target].steps.append(self._resolve(frame, plain))
        if after is not None:
            self._continue_at(after)

    # --- calls --------------------------------------------------------------------------------------------------------

    def _call(self, frame: _Frame, instruction: Instruction, after: int | None) -> None:
        results, name, arguments = _call_parts(instruction)
        if name is None:
            self._fail(codes.WRONG_CALL, "a call without a function", instruction.span)
        entity = self._find(frame, name.name)
        if isinstance(entity, Register):
            self._fail(
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
        frame: _Frame,
        instruction: Instruction,
        callee: Function,
        results: tuple[Operand, ...],
        arguments: tuple[Operand, ...],
        after: int,
    ) -> None:
        self._check_recursion(frame, callee, instruction.span)
        if len(arguments) != len(callee.params) or len(results) != len(callee.returns):
            self._fail(
                codes.WRONG_CALL,
                f"`{callee.name[:200]}` takes {len(callee.params)} arguments and returns {len(callee.returns)} values",
                instruction.span,
            )
        inner = _Frame(callee, self._node(), frame)
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

    def _check_recursion(self, frame: _Frame, callee: Function, span: Span) -> None:
        chain = [callee.name]
        walk: _Frame | None = frame
        while walk is not None:
            chain.append(walk.function.name)
            if walk.function.name == callee.name:
                cycle = " calls ".join(f"`{name[:100]}`" for name in reversed(chain[:50]))
                self._fail(codes.RECURSION, f"recursive device functions are not supported: {cycle}", span)
            walk = walk.caller

    def _place(self, frame: _Frame, operand: Operand) -> Place | None:
        entity = self._find(frame, operand.name) if isinstance(operand, Name) else None
        return entity if isinstance(entity, Place) else None

    def _formal(self, frame: _Frame, formal: Variable, actual: Operand, span: Span) -> Register | Place:
        """What a parameter's name means inside: a register, the caller's `.param` variable, or memory of its own."""
        if formal.space == "reg":
            return Register(formal.name, register_type(formal.type))
        size, _ = size_and_alignment(formal, self.module.source)
        place = self._place(frame, actual)
        if place is None:
            return self._local(formal)
        if place.size < size:
            message = f"`{place.name[:200]}` has {place.size} bytes, the parameter `{formal.name[:200]}` {size}"
            self._fail(codes.WRONG_CALL, message, span)
        return place

    def _source(self, frame: _Frame, operand: Operand) -> Operand | Register | Place:
        place = self._place(frame, operand)
        return operand if place is None else place

    def _target(self, frame: _Frame, operand: Operand, span: Span) -> Register | Place | None:
        if isinstance(operand, Sink):
            return None
        entity = self._find(frame, operand.name) if isinstance(operand, Name) else None
        if not isinstance(entity, Register | Place):
            self._fail(codes.WRONG_CALL, "the result of a call goes to a register or a .param variable", span)
        return entity

    def _assign(
        self,
        frame: _Frame,
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
            self._scan(frame, source, names, reads)
        writes = [target] if isinstance(target, Register) else []
        return Step(Assign(target, source, register_type(declared)), names, reads, writes, span)

    def _host(
        self,
        frame: _Frame,
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
            self._fail(
                codes.UNDEFINED_FUNCTION,
                f"the function `{name[:200]}` is called, but not defined in this module",
                instruction.span,
                "link the device code that defines it",
                function=name,
            )
        if len(arguments) != len(declared.params):
            self._fail(codes.WRONG_CALL, f"`{name[:200]}` takes {len(declared.params)} arguments", instruction.span)
        names: dict[str, Entity] = {}
        reads: list[Register] = []
        passed: list[tuple[Operand | Place, Type]] = []
        for formal, actual in zip(declared.params, arguments, strict=True):
            place = self._place(frame, actual)
            if place is None:
                self._scan(frame, actual, names, reads)
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

    # --- names --------------------------------------------------------------------------------------------------------

    def _resolve(self, frame: _Frame, instruction: Instruction) -> Step:
        """Look up every name of an instruction and note which registers it reads and writes.

        Operand 0 is the destination, where it is not an address; a lone operand may be a source. Reading more than is noted
        here is an error later, so a wrong guess cannot make a wrong program.
        """
        names: dict[str, Entity] = {}
        reads: list[Register] = []
        writes: list[Register] = []
        operands = instruction.operands
        for position, operand in enumerate(operands):
            first = position == 0 and not isinstance(operand, Address)
            self._scan(frame, operand, names, writes if first else reads)
        if instruction.guard is not None:
            self._scan(frame, instruction.guard.register, names, reads)
        if instruction.guard is not None or len(operands) == 1 or _only_sources(instruction):
            reads += writes
        carry = self._carry(frame, instruction)
        if carry is not None:
            names["%cc"] = carry
            reads.append(carry)
            writes.append(carry)
        if any(isinstance(e, VectorRegister) for e in names.values()):
            instruction = replace(instruction, operands=tuple(_spread(o, names) for o in operands))
        return Step(instruction, names, reads, writes, instruction.span)

    def _carry(self, frame: _Frame, instruction: Instruction) -> Register | None:
        """The condition-code register of extended-precision arithmetic (section 9.7.2), one per expansion."""
        if instruction.opcode not in ("addc", "subc", "madc") and "cc" not in instruction.modifiers:
            return None
        found = frame.names.get("%cc")
        if found is None:
            found = (0, Register("%cc", "i1"))
            frame.names["%cc"] = found
        entity = found[1]
        assert isinstance(entity, Register)
        return entity

    def _scan(self, frame: _Frame, operand: Operand, names: dict[str, Entity], registers: list[Register]) -> None:
        work: list[Operand] = [operand]
        while work:
            one = work.pop()
            if isinstance(one, Name):
                entity = self._find(frame, one.name)
                if entity is None:
                    continue
                names[one.name] = entity
                if isinstance(entity, Register):
                    registers.append(entity)
                elif isinstance(entity, VectorRegister):
                    registers += entity.elements
            elif isinstance(one, Vector | Group):
                work += one.elements
            elif isinstance(one, Address):
                work += [one.base, *one.extra]
            elif isinstance(one, Offset):
                work.append(one.base)
            elif isinstance(one, Negated):
                work.append(one.operand)
            elif isinstance(one, Pair):
                work += [one.first, one.second]

    def _find(self, frame: _Frame, name: str) -> Entity | None:
        """Return what a name means here: the innermost declaration, else the module's."""
        known = frame.names.get(name)
        if known is not None and (known[0] == frame.depth or not frame.families):
            return known[1]
        member = self._in_family(frame, name)
        if member is not None and (known is None or member[0] > known[0]):
            return member[1]
        if known is not None:
            return known[1]
        return self._of_module(name)

    def _in_family(self, frame: _Frame, name: str) -> tuple[int, Register | VectorRegister] | None:
        digits = len(name)
        while digits > 1 and name[digits - 1].isdecimal() and name[digits - 1].isascii():
            digits -= 1
        for cut in range(digits, len(name)):
            number = name[cut:]
            if number[0] == "0" and len(number) > 1:
                continue
            found = frame.families.get(name[:cut])
            if found is None or len(number) > 9 or int(number) >= found[1].count:
                continue
            depth, family = found
            register = family.made.get(int(number))
            if register is None:
                register = family.made[int(number)] = _make_register(name, family.type, family.vector)
            return depth, register
        return None

    def _of_module(self, name: str) -> Entity | None:
        if name.startswith("%"):
            return None
        placed = self.module.placed(name)
        if placed is not None:
            return placed
        variable = self.module.variable(name)
        if variable is not None:
            return self._shared(variable, "") if variable.space == "shared" else Missing(name)
        return FunctionName(name) if self.module.function(name) is not None else None

    def _fail(self, code: str, message: str, span: Span, help: str = "", **details: str) -> NoReturn:
        raise codes.problem(code, message, self.module.source, span, help, **details)


def _only_sources(instruction: Instruction) -> bool:
    return instruction.opcode in ("bar", "barrier") and not instruction.has("red")


def _make_register(name: str, declared: str, vector: int) -> Register | VectorRegister:
    kind = register_type(declared)
    if vector == 1:
        return Register(name, kind)
    return VectorRegister(name, tuple(Register(f"{name}.{m}", kind) for m in "xyzw"[:vector]))


def _spread(operand: Operand, names: dict[str, Entity]) -> Operand:
    """Write a whole vector register as the list of its elements."""
    if isinstance(operand, Name) and operand.member is None:
        entity = names.get(operand.name)
        if isinstance(entity, VectorRegister):
            return Vector(tuple(Name(operand.name, "xyzw"[i]) for i in range(len(entity.elements))))
    return operand


def _call_parts(instruction: Instruction) -> tuple[tuple[Operand, ...], Name | None, tuple[Operand, ...]]:
    """Take `call (results), name, (arguments)` apart; results and arguments may be missing."""
    operands = list(instruction.operands)
    results: tuple[Operand, ...] = ()
    arguments: tuple[Operand, ...] = ()
    if operands and isinstance(operands[0], Group):
        results = operands.pop(0).elements  # type: ignore[union-attr]
    name = operands.pop(0) if operands and isinstance(operands[0], Name) else None
    if operands and isinstance(operands[0], Group):
        arguments = operands[0].elements
    return results, name if isinstance(name, Name) else None, arguments
