"""What names mean while a kernel is expanded: nested scopes, families of registers, shared and local variables.

Names are resolved once, at the instruction that uses them, so that nothing later needs to know PTX's scoping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NoReturn

from anywarp.compiler import codes
from anywarp.compiler.layout import LOCAL_LIMIT, SHARED_LIMIT, element_size, size_and_alignment
from anywarp.compiler.skeleton import (
    Activation,
    Entity,
    FunctionName,
    LabelName,
    Missing,
    ModuleView,
    Step,
    VectorRegister,
    register_type,
)
from anywarp.compiler.variables import Place, Register
from anywarp.diagnostics import Span
from anywarp.ptx.declarations import inner_name
from anywarp.ptx.tree import (
    Address,
    CallPrototype,
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
    Statement,
    Targets,
    Variable,
    Vector,
)


@dataclass(eq=False, slots=True)
class Family:
    """`%r<100>`: registers made when first named."""

    type: str
    count: int
    vector: int
    made: dict[int, Register | VectorRegister] = field(default_factory=dict[int, "Register | VectorRegister"])


@dataclass(eq=False, slots=True)
class Frame:
    """One expansion of a function."""

    function: Function
    after: int | None
    caller: Frame | None
    resume: int | None = None
    names: dict[str, tuple[int, Entity]] = field(default_factory=dict[str, "tuple[int, Entity]"])
    families: dict[str, tuple[int, Family]] = field(default_factory=dict[str, "tuple[int, Family]"])
    depth: int = 0
    owner: Activation | None = None
    start: int = 0
    keeps_top: bool = False


@dataclass(eq=False, slots=True)
class Walk:
    """A scope being walked, and what its declarations hid."""

    frame: Frame
    statements: Iterator[Statement]
    hidden_names: list[tuple[str, tuple[int, Entity] | None]] = field(
        default_factory=list["tuple[str, tuple[int, Entity] | None]"]
    )
    hidden_families: list[tuple[str, tuple[int, Family] | None]] = field(
        default_factory=list["tuple[str, tuple[int, Family] | None]"]
    )
    outermost: bool = False


class Scopes:
    """The declarations that are visible, and the variables seen so far. `node` makes a block for a label."""

    def __init__(self, module: ModuleView, node: Callable[[], int]) -> None:
        self.module = module
        self.places: list[Place] = []
        self._new_node = node
        self._shared_places: dict[str, Place] = {}

    def declare(self, walk: Walk, statements: tuple[Statement, ...]) -> None:
        """Enter a scope's declarations before its instructions, so that jumps forward find their labels."""
        walk.frame.depth += 1
        for statement in statements:
            if isinstance(statement, Label):
                self._hide(walk, statement.name, LabelName(self._new_node()))
            elif isinstance(statement, Registers):
                self._registers(walk, statement)
            elif isinstance(statement, Variable):
                self._variable(walk, statement)
            elif isinstance(statement, Targets | CallPrototype):
                self._hide(walk, statement.label, statement)

    def leave(self, walk: Walk) -> None:
        """Leave a scope: what its declarations hid means again what it did."""
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

    def _hide(self, walk: Walk, name: str, entity: Entity) -> None:
        frame = walk.frame
        walk.hidden_names.append((name, frame.names.get(name)))
        frame.names[name] = (frame.depth, entity)

    def _registers(self, walk: Walk, statement: Registers) -> None:
        frame = walk.frame
        for name, count in statement.names:
            if count is None:
                self._hide(walk, name, _make_register(name, statement.type, statement.vector))
            else:
                walk.hidden_families.append((name, frame.families.get(name)))
                frame.families[name] = (frame.depth, Family(statement.type, count, statement.vector))

    def _variable(self, walk: Walk, variable: Variable) -> None:
        if variable.space == "reg":
            self._hide(walk, variable.name, _make_register(variable.name, variable.type, variable.vector))
        elif variable.space in ("local", "param"):
            self._hide(walk, variable.name, self.local(variable, walk.frame.owner))
        elif variable.space == "shared":
            self._hide(walk, variable.name, self._shared(variable, walk.frame.function.name))
        elif (placed := self.module.placed(inner_name(variable))) is not None:
            self._hide(walk, variable.name, placed)
        else:
            self.fail(
                codes.MISPLACED_DECLARATION,
                f"a .{variable.space} variable (`{variable.name[:200]}`) inside a function",
                variable.span,
            )

    def local(self, variable: Variable, owner: Activation | None = None) -> Place:
        """Make a variable in local memory, in the frame of the shared function that is being expanded, if any."""
        size, align = size_and_alignment(variable, self.module.source)
        place = Place(
            variable.name, "local", size, align, parameter=variable.space == "param", element=element_size(variable)
        )
        if owner is None:
            self._remember(place, variable.span)
            return place
        place.frame, place.offset = owner.base, owner.reserve(size, align)
        if owner.size > LOCAL_LIMIT:
            self.fail(codes.TOO_MUCH_DATA, f"`{place.name[:200]}` needs more than {LOCAL_LIMIT} bytes", variable.span)
        return place

    def _shared(self, variable: Variable, owner: str) -> Place:
        """A shared variable of a function is one variable, however often the function is expanded."""
        key = f"{owner}\0{variable.name}\0{variable.span.start}"
        if key not in self._shared_places:
            size, align = size_and_alignment(variable, self.module.source)
            dynamic = variable.linkage == "extern" or (size == 0 and bool(variable.dims))
            self._shared_places[key] = Place(
                variable.name, "shared", size, align, dynamic, element=element_size(variable)
            )
            self._remember(self._shared_places[key], variable.span)
        return self._shared_places[key]

    def _remember(self, place: Place, span: Span) -> None:
        self.places.append(place)
        limit = SHARED_LIMIT if place.space == "shared" else LOCAL_LIMIT
        if place.size > limit:
            self.fail(codes.TOO_MUCH_DATA, f"`{place.name[:200]}` needs more than {limit} bytes", span)

    def resolve(self, frame: Frame, instruction: Instruction) -> Step:
        """Look up every name of an instruction and note which registers it reads and writes.

        Operand 0 is the destination, where it is not an address; a lone operand may be a source. Waits for an mbarrier may have a
        second destination before the address. Reading more than is noted here is an error later, so a wrong guess cannot make
        a wrong program.
        """
        names: dict[str, Entity] = {}
        reads: list[Register] = []
        writes: list[Register] = []
        operands = instruction.operands
        for position, operand in enumerate(operands):
            first = position == 0 and not isinstance(operand, Address)
            second = position == 1 and instruction.opcode == "mbarrier" and isinstance(operands[0], Pair)
            self.scan(
                frame, operand, names, writes if first or (second and not isinstance(operand, Address)) else reads
            )
        if instruction.guard is not None:
            self.scan(frame, instruction.guard.register, names, reads)
        if instruction.guard is not None or len(operands) == 1 or _only_sources(instruction):
            reads += writes
        reads += frames(names.values())
        carry = self._carry(frame, instruction)
        if carry is not None:
            names["%cc"] = carry
            reads.append(carry)
            writes.append(carry)
        if any(isinstance(e, VectorRegister) for e in names.values()):
            instruction = replace(instruction, operands=tuple(_spread(o, names) for o in operands))
        return Step(instruction, names, reads, writes, instruction.span)

    def _carry(self, frame: Frame, instruction: Instruction) -> Register | None:
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

    def scan(self, frame: Frame, operand: Operand, names: dict[str, Entity], registers: list[Register]) -> None:
        """Look up the names of one operand; its registers are appended to `registers`."""
        work: list[Operand] = [operand]
        while work:
            one = work.pop()
            if isinstance(one, Name):
                entity = self.find(frame, one.name)
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

    def spread(self, frame: Frame, operand: Operand) -> Operand:
        """Return a whole vector register as the list of its elements, anything else as it is."""
        names: dict[str, Entity] = {}
        self.scan(frame, operand, names, [])
        return _spread(operand, names)

    def find(self, frame: Frame, name: str) -> Entity | None:
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

    def _in_family(self, frame: Frame, name: str) -> tuple[int, Register | VectorRegister] | None:
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
        function = self.module.function(name)
        return None if function is None else FunctionName(name, self.module.address_of_function(name))

    def fail(self, code: str, message: str, span: Span, help: str = "", **details: str) -> NoReturn:
        """Raise a diagnostic at a place in the PTX."""
        raise codes.problem(code, message, self.module.source, span, help, **details)


def frames(entities: Iterable[object]) -> list[Register]:
    """Return the registers that hold the frames of the variables among `entities`."""
    found = [e.frame for e in entities if isinstance(e, Place) and e.frame is not None]
    return list(dict.fromkeys(found))


def _only_sources(instruction: Instruction) -> bool:
    return instruction.opcode in ("bar", "barrier") and not instruction.has("red")


def _make_register(name: str, declared: str, vector: int) -> Register | VectorRegister:
    if vector > 1:
        return _vector(name, declared, vector)
    return Register(name, register_type(declared))


def _vector(name: str, declared: str, vector: int) -> VectorRegister:
    kind = register_type(declared)
    return VectorRegister(name, tuple(Register(f"{name}.{m}", kind) for m in "xyzw"[:vector]))


def make_vector(variable: Variable) -> VectorRegister:
    """Return the registers of a parameter that is a vector of them."""
    return _vector(variable.name, variable.type, variable.vector)


def _spread(operand: Operand, names: dict[str, Entity]) -> Operand:
    """Write a whole vector register as the list of its elements."""
    if isinstance(operand, Name) and operand.member is None:
        entity = names.get(operand.name)
        if isinstance(entity, VectorRegister):
            return Vector(tuple(Name(operand.name, "xyzw"[i]) for i in range(len(entity.elements))))
    return operand
