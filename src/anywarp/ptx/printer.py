"""The typed tree back to PTX text, so that parsing what is printed gives the same tree.

Tests, bug reports and passes that hand PTX to another tool need text; the layout follows what nvcc writes.
"""

from __future__ import annotations

from collections.abc import Iterator

from anywarp.ptx.tree import (
    Address,
    Alias,
    CallPrototype,
    Directive,
    File,
    Float,
    Function,
    GenericAddress,
    Group,
    Initial,
    InitialList,
    Instruction,
    Integer,
    Item,
    Label,
    Location,
    Masked,
    Member,
    Module,
    Name,
    Negated,
    Offset,
    Operand,
    Pair,
    Pragma,
    Registers,
    Scope,
    Section,
    Sink,
    Statement,
    Targets,
    Variable,
    Vector,
)


def print_module(module: Module) -> str:
    """Return the text of a whole module."""
    major, minor = module.version
    head = [f".version {major}.{minor}", f".target {', '.join(module.target)}", f".address_size {module.address_size}"]
    return "\n".join([*head, "", *(print_item(i) for i in module.items)]) + "\n"


def print_item(item: Item) -> str:
    """Return the text of one thing at module level."""
    if isinstance(item, Function):
        return print_function(item)
    if isinstance(item, Variable):
        return _linkage(item.linkage) + print_variable(item) + ";"
    if isinstance(item, Alias):
        return f".alias {item.name}, {item.target};"
    if isinstance(item, File):
        return ", ".join([f'.file {item.index} "{item.path}"', *map(str, item.rest)])
    if isinstance(item, Section):
        return f".section {item.name} {{{item.text}}}"
    return "\n".join(_statement(item, ""))


def print_function(function: Function) -> str:
    """Return the text of a function, or of its declaration where it has no body."""
    parts = [_linkage(function.linkage) + f".{function.kind} "]
    parts += [f".attribute({a if a[:1] == '.' else '.' + a}) " for a in function.attributes]
    if function.returns:
        parts.append(f"({_parameters(function.returns)}) ")
    parts.append(f"{function.name}({_parameters(function.params)})")
    parts += ["\n" + _directive(d) + (";" if d.name == "pragma" else "") for d in function.directives]
    if function.body is None:
        return "".join(parts) + ";"
    return "".join(parts) + "\n" + "\n".join(_statement(function.body, ""))


def print_variable(v: Variable) -> str:
    """Return the text of a variable or parameter without linkage and `;`."""
    parts = [f".{v.space}", *(f".attribute(.{a})" for a in v.attributes)]
    parts += [f".align {v.align}"] if v.align is not None and v.pointer is None else []
    parts += [f".v{v.vector}"] if v.vector != 1 else []
    parts.append(f".{v.type}")
    if v.pointer is not None:
        parts += [f".align {v.align}"] if v.align is not None else []
        parts += [".ptr", *([f".{v.pointer[0]}"] if v.pointer[0] else [])]
        parts += [f".align {v.pointer[1]}"] if v.pointer[1] else []
    dims = "".join(f"[{'' if d is None else d}]" for d in v.dims)
    text = " ".join([*parts, v.name]) + dims if v.name or dims else " ".join(parts)
    return text if v.initial is None else f"{text} = {print_initial(v.initial)}"


def print_initial(value: Initial) -> str:
    """Return the text of an initial value."""
    if isinstance(value, InitialList):
        return "{" + ", ".join(map(print_initial, value.elements)) + "}"
    if isinstance(value, Masked):
        return f"0x{value.mask:X}({print_initial(value.operand)})"
    if isinstance(value, Member):
        return f"{value.name} = {value.value}"
    if isinstance(value, GenericAddress):
        return f"generic({value.name})" + (f"+{value.value}" if value.value else "")
    return print_operand(value)


def print_instruction(instruction: Instruction) -> str:
    """Return the text of one instruction, `;` included."""
    text = instruction.form
    if instruction.operands:
        text += " " + ", ".join(map(print_operand, instruction.operands))
    if instruction.guard is None:
        return text + ";"
    return f"@{'!' if instruction.guard.negated else ''}{print_operand(instruction.guard.register)} {text};"


def print_operand(operand: Operand) -> str:
    """Return the text of one operand."""
    if isinstance(operand, Name):
        return operand.name if operand.member is None else f"{operand.name}.{operand.member}"
    if isinstance(operand, Integer):
        return f"{operand.value}U" if operand.unsigned else str(operand.value)
    if isinstance(operand, Float):
        return f"0f{operand.bits:08X}" if operand.width == 32 else f"0d{operand.bits:016X}"
    if isinstance(operand, Offset) and operand.indexed:
        return f"{print_operand(operand.base)}[{operand.value}]"
    if isinstance(operand, Offset):
        return f"{print_operand(operand.base)}+{operand.value}"
    return _compound(operand)


def _compound(operand: Address | Vector | Negated | Pair | Sink | Group) -> str:
    """Return the text of an operand made of others."""
    if isinstance(operand, Address):
        base = print_operand(operand.base) + (f"+{operand.offset}" if operand.offset else "")
        return "[" + ", ".join([base, *map(print_operand, operand.extra)]) + ("].unified" if operand.unified else "]")
    if isinstance(operand, Vector):
        return "{" + ", ".join(map(print_operand, operand.elements)) + "}"
    if isinstance(operand, Negated):
        return operand.sign + print_operand(operand.operand)
    if isinstance(operand, Pair):
        return print_operand(operand.first) + "|" + print_operand(operand.second)
    if isinstance(operand, Group):
        return "(" + ", ".join(map(print_operand, operand.elements)) + ")"
    return "_"


def _statement(statement: Statement, indent: str) -> Iterator[str]:
    """Yield the lines of a statement."""
    if isinstance(statement, Scope):
        yield indent + "{"
        for inner in statement.statements:
            yield from _statement(inner, indent + "\t")
        yield indent + "}"
    else:
        yield indent + _line(statement)


def _line(
    s: Instruction | Label | Registers | Variable | Pragma | Location | Targets | CallPrototype | Directive,
) -> str:
    """Return the text of a statement that holds no others."""
    if isinstance(s, Instruction):
        return print_instruction(s)
    if isinstance(s, Label):
        return f"{s.name}:"
    if isinstance(s, Registers):
        vector = f".v{s.vector} " if s.vector != 1 else ""
        return f".reg {vector}.{s.type} " + ", ".join(n if k is None else f"{n}<{k}>" for n, k in s.names) + ";"
    if isinstance(s, Variable):
        return print_variable(s) + ";"
    if isinstance(s, Pragma):
        return ".pragma " + ", ".join(f'"{t}"' for t in s.texts) + ";"
    if isinstance(s, Location):
        return f".loc {s.file} {s.line} {s.column}" + (f", {s.rest}" if s.rest else "")
    if isinstance(s, Targets):
        return f"{s.label}: .{s.kind} {', '.join(s.names)};"
    if isinstance(s, Directive):
        return _directive(s) + ";"
    return _prototype(s)


def _prototype(p: CallPrototype) -> str:
    returns = f"({_parameters(p.returns)}) " if p.returns else ""
    text = f"{p.label}: .callprototype {returns}_ ({_parameters(p.params)})"
    return " ".join([text, *map(_directive, p.directives)]) + ";"


def _directive(directive: Directive) -> str:
    arguments = (f'"{a}"' if isinstance(a, str) else str(a) for a in directive.arguments)
    return f".{directive.name} " + ", ".join(arguments) if directive.arguments else f".{directive.name}"


def _parameters(variables: tuple[Variable, ...]) -> str:
    return ", ".join(map(print_variable, variables))


def _linkage(linkage: str) -> str:
    return f".{linkage} " if linkage else ""
