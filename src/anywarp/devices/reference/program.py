"""Lay out a PTX module for interpretation: straight code with scopes, variables with places, data with initial values.

Nothing is optimised or resolved ahead: a step keeps its instruction as written and the scope in which its names are looked up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import NoReturn

from anywarp.devices.reference import softfloat
from anywarp.devices.reference.windows import CONST_DATA, FRAME_PARAMS, FUNCTIONS, GLOBAL_DATA
from anywarp.diagnostics import AnywarpError, Diagnostic, Source, Span
from anywarp.ptx.isa.ops import AddressSpace
from anywarp.ptx.tree import (
    OPAQUE,
    WIDTHS,
    Alias,
    Float,
    Function,
    GenericAddress,
    Initial,
    InitialList,
    Instruction,
    Integer,
    Label,
    Masked,
    Module,
    Name,
    Offset,
    Operand,
    Registers,
    Scope,
    Targets,
    Variable,
    Vector,
)

NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class Register:
    """A declared register: a key that is unique in the program, its width in bits and its number of elements."""

    key: str
    width: int
    vector: int = 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where a variable lives: its address within its space; `frame` when that is relative to the thread's frame."""

    variable: Variable
    space: AddressSpace
    address: int
    frame: bool = False


Symbol = Register | Place | Function


class Names:
    """The names declared in one scope; `outer` is looked at next."""

    def __init__(self, key: str, outer: Names | None) -> None:
        self.key, self.outer = key, outer
        self.symbols: dict[str, Symbol] = {}
        self.ranges: dict[str, tuple[int, Register]] = {}
        self.labels: dict[str, int] = {}
        self.targets: dict[str, tuple[str, ...]] = {}

    def find(self, name: str) -> Symbol | None:
        """Return what `name` stands for here, or None."""
        symbol = self.symbols.get(name) or self._numbered(name)
        return symbol if symbol or self.outer is None else self.outer.find(name)

    def _numbered(self, name: str) -> Register | None:
        match = NUMBERED.fullmatch(name)
        if match is None or match[1] not in self.ranges:
            return None
        count, register = self.ranges[match[1]]
        return Register(register.key + match[2], register.width, register.vector) if int(match[2]) < count else None

    def label(self, name: str) -> int | None:
        """Return the step that a label stands before, or None."""
        found = self.labels.get(name)
        return found if found is not None or self.outer is None else self.outer.label(name)

    def target_list(self, name: str) -> tuple[str, ...] | None:
        """Return the names of a `.branchtargets` or `.calltargets` list, or None."""
        found = self.targets.get(name)
        return found if found is not None or self.outer is None else self.outer.target_list(name)


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction with the scope of its names."""

    instruction: Instruction
    names: Names


@dataclass(slots=True)
class Code:
    """A function made ready: its first and last step in the program, the size of its frame, its parameters' places."""

    function: Function
    names: Names
    first: int = 0
    end: int = 0
    frame_bytes: int = 0
    params: list[Place | Register] = field(default_factory=list["Place | Register"])
    returns: list[Place | Register] = field(default_factory=list["Place | Register"])


class Program:
    """A module made ready. Steps of all functions stand in one list, so a step's number says where a lane is."""

    def __init__(self, module: Module, source: Source) -> None:
        self.source = source
        self.steps: list[Step] = []
        self.codes: dict[str, Code] = {}
        self.names = Names("", None)
        self.names.symbols["%cc"] = Register("%cc", 1)  # the carry flag of add.cc and its like
        self.shared_bytes = 0
        self.global_data = bytearray()
        self.const_data = bytearray()
        self.aliases = {i.name: i.target for i in module.items if isinstance(i, Alias)}
        self.functions: list[str] = []
        for item in module.items:
            if isinstance(item, Variable):
                self.names.symbols[item.name] = self._module_variable(item)
            elif isinstance(item, Function) and item.name not in self.functions:
                self.functions.append(item.name)
                found = module.function(item.name)
                assert found is not None
                self.names.symbols[item.name] = found
        for symbol in list(self.names.symbols.values()):
            if isinstance(symbol, Function) and symbol.body is not None:
                self._function(symbol, symbol.body)
            elif isinstance(symbol, Place):
                self._initialise(symbol)

    # --- variables -------------------------------------------------------------------------------------------------
    def _module_variable(self, v: Variable) -> Place:
        if v.space == "shared":
            return self._shared(v)
        if v.space not in ("global", "const"):
            self.fail(f"a .{v.space} variable at module level is not interpreted", v.span)
        if v.linkage == "extern":
            self.fail(f"the variable {v.name} is defined in another module", v.span)
        data, base = (self.global_data, GLOBAL_DATA) if v.space == "global" else (self.const_data, CONST_DATA)
        offset = _aligned(len(data), alignment(v))
        data.extend(bytes(offset + size_of(v) - len(data)))
        return Place(v, v.space, base + offset)

    def _shared(self, v: Variable) -> Place:
        if v.linkage == "extern":
            return Place(v, "shared", -1)  # dynamic: behind all static shared memory, known at launch
        offset = _aligned(self.shared_bytes, alignment(v))
        self.shared_bytes = offset + size_of(v)
        return Place(v, "shared", offset)

    def _initialise(self, place: Place) -> None:
        v = place.variable
        if v.initial is None or v.type in OPAQUE:
            return
        data, base = (self.global_data, GLOBAL_DATA) if v.space == "global" else (self.const_data, CONST_DATA)
        width = WIDTHS[v.type]
        values = [self._initial(i, width) for i in _flat(v.initial)]
        packed = b"".join((x & ((1 << width) - 1)).to_bytes(width // 8, "little") for x in values)
        if len(packed) > size_of(v):
            self.fail(f"{v.name} has more initial values than elements", v.span)
        data[place.address - base : place.address - base + len(packed)] = packed

    def _initial(self, initial: Initial, width: int) -> int:
        if isinstance(initial, Integer):
            return initial.value
        if isinstance(initial, Float):
            return float_bits(initial, width)
        if isinstance(initial, Masked):
            shift = (initial.mask & -initial.mask).bit_length() - 1
            return (self._initial(initial.operand, 64) & initial.mask) >> shift
        if isinstance(initial, GenericAddress):
            return self._address(initial.name) + initial.value
        if isinstance(initial, Offset):
            return self._address(initial.base.name) + initial.value
        assert isinstance(initial, Name)
        return self._address(initial.name)

    def _address(self, name: str) -> int:
        """Addresses of global and const variables and of functions are generic addresses already."""
        symbol = self.names.symbols.get(name)
        if isinstance(symbol, Function):
            return self.function_address(name)
        if not isinstance(symbol, Place) or symbol.space == "shared":
            self.fail(f"the address of {name} is not known before a launch", None)
        return symbol.address

    def function_address(self, name: str) -> int:
        """Return the number that stands for a function's address."""
        return FUNCTIONS + 16 * self.functions.index(name)

    def function_at(self, address: int) -> str | None:
        """Return the function that an address stands for, or None."""
        index, rest = divmod(address - FUNCTIONS, 16)
        return self.functions[index] if rest == 0 and 0 <= index < len(self.functions) else None

    # --- functions -------------------------------------------------------------------------------------------------
    def _function(self, function: Function, body: Scope) -> None:
        code = Code(function, Names(function.name, self.names), first=len(self.steps))
        self.codes[function.name] = code
        if function.kind == "entry":
            offset = 0
            for v in function.params:
                offset = _aligned(offset, alignment(v))
                code.names.symbols[v.name] = place = Place(v, "param", offset)
                code.params.append(place)
                offset += size_of(v)
        else:
            code.params = [self._formal(code, v) for v in function.params]
            code.returns = [self._formal(code, v) for v in function.returns]
        self._scope(code, body, code.names)
        code.end = len(self.steps)
        end = Instruction("ret", (), (), None, function.span)
        self.steps.append(Step(end, code.names))

    def _formal(self, code: Code, v: Variable) -> Place | Register:
        if v.space == "reg":
            found: Place | Register = Register(f"{code.names.key}:{v.name}", WIDTHS[v.type], v.vector)
        else:
            found = self._in_frame(code, v)
        code.names.symbols[v.name] = found
        return found

    def _in_frame(self, code: Code, v: Variable) -> Place:
        offset = _aligned(code.frame_bytes, alignment(v))
        code.frame_bytes = offset + size_of(v)
        if v.space == "param":
            return Place(v, "param", FRAME_PARAMS + offset, frame=True)
        return Place(v, "local", offset, frame=True)

    def _scope(self, code: Code, scope: Scope, names: Names) -> None:
        for statement in scope.statements:
            if isinstance(statement, Instruction):
                self.steps.append(Step(_spread(statement, names), names))
            elif isinstance(statement, Label):
                names.labels[statement.name] = len(self.steps)
            elif isinstance(statement, Registers):
                self._registers(statement, names)
            elif isinstance(statement, Variable):
                names.symbols[statement.name] = self._variable(code, statement)
            elif isinstance(statement, Scope):
                self._scope(code, statement, Names(f"{names.key}.{len(self.steps)}", names))
            elif isinstance(statement, Targets):
                names.targets[statement.label] = statement.names

    def _variable(self, code: Code, v: Variable) -> Place:
        if v.space == "shared":
            return self._shared(v)
        if v.space in ("local", "param"):
            return self._in_frame(code, v)
        place = self._module_variable(v)
        self._initialise(place)
        return place

    @staticmethod
    def _registers(statement: Registers, names: Names) -> None:
        width = WIDTHS[statement.type]
        for name, count in statement.names:
            register = Register(f"{names.key}:{name}", width, statement.vector)
            if count is None:
                names.symbols[name] = register
            else:
                names.ranges[name] = (count, register)

    def fail(self, message: str, span: Span | None) -> NoReturn:
        """Raise an error about the program itself."""
        raise AnywarpError(Diagnostic("D010", message, source=self.source if span else None, span=span))


def _spread(instruction: Instruction, names: Names) -> Instruction:
    """Write a vector register used as a whole as the vector of its elements."""
    operands = tuple(_elements(operand, names) for operand in instruction.operands)
    return replace(instruction, operands=operands) if operands != instruction.operands else instruction


def _elements(operand: Operand, names: Names) -> Operand:
    symbol = names.find(operand.name) if isinstance(operand, Name) and operand.member is None else None
    if not isinstance(symbol, Register) or symbol.vector == 1:
        return operand
    assert isinstance(operand, Name)
    return Vector(tuple(Name(operand.name, member) for member in "xyzw"[: symbol.vector]))


def size_of(v: Variable) -> int:
    """Return a variable's size in bytes; an array without bound is as long as its initial values."""
    count = v.vector
    for bound in v.dims:
        if bound is None:
            bound = len(_flat(v.initial)) if v.initial is not None else 0
        count *= bound
    return count * WIDTHS[v.type] // 8


def element_size(v: Variable) -> int:
    """Return the bytes of one element of a variable."""
    return v.vector * WIDTHS[v.type] // 8


def alignment(v: Variable) -> int:
    """Return a variable's alignment in bytes (section 5.4.5: naturally aligned unless stated)."""
    return v.align or max(1, WIDTHS[v.type] // 8 * v.vector)


def float_bits(value: Float, width: int) -> int:
    """Return the bits of a floating-point constant for a type of `width` bits, rounded to nearest even."""
    formats = {w: softfloat.FORMATS[f"f{w}"] for w in (16, 32, 64)}
    return softfloat.convert(formats[value.width], formats[width], value.bits, "rn")


def _flat(initial: Initial) -> list[Initial]:
    if not isinstance(initial, InitialList):
        return [initial]
    return [leaf for element in initial.elements for leaf in _flat(element)]


def _aligned(offset: int, to: int) -> int:
    return -(-offset // to) * to
