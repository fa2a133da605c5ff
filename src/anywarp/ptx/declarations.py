"""Variables, parameters, registers and function headers (sections 5, 7 and 11 of the manual).

The same few rules serve module level and bodies, because PTX spells a declaration alike everywhere.
"""

from __future__ import annotations

import re
from typing import Literal, cast

from anywarp.diagnostics import Span
from anywarp.ptx import codes
from anywarp.ptx.constants import TERM, constant, integer
from anywarp.ptx.lexer import Cursor
from anywarp.ptx.tree import (
    TYPES,
    Directive,
    Function,
    GenericAddress,
    Initial,
    InitialList,
    Integer,
    Linkage,
    Masked,
    Member,
    Name,
    Offset,
    Registers,
    Space,
    Variable,
)

LINKAGES = (".extern", ".visible", ".weak", ".common")
SPACES = (".reg", ".sreg", ".const", ".global", ".local", ".param", ".shared", ".tex")

_ALIGN = r"\.align\s+([1-9]\d{0,5})\s+"
_NAME = r"([A-Za-z_$][\w$]*)(?:\[([1-9]\d{0,15})\])?\s*"
_HEAD = rf"\s+(?:{_ALIGN})?\.(\w+)\s+"
_POINTER = rf"(?:(\.ptr)\s+(?:\.(const|global|local|shared)\s+)?(?:{_ALIGN})?)?"
_VALUE = r"(?:=\s*(0|[1-9]\d{0,17})\s*)?"
_PLAIN_PARAMETER = re.compile(r"\s*()\.(param)" + _HEAD + _POINTER + _NAME + r"()(?=[,)])", re.ASCII)
_LINKAGE = r"\s*((?:\.(?:extern|visible|weak|common)\s+)?)"
_PLAIN_VARIABLE = re.compile(
    _LINKAGE + r"\.(const|global|local|param|shared)" + _HEAD + "()()()" + _NAME + _VALUE + ";", re.ASCII
)
"""The declarations that make up nearly all of a module, taken in one step; the cursor reads the others."""
_FLAT_LIST = re.compile(r"\{([\s\d,]+)\}", re.ASCII)
_DECIMAL = re.compile(r"\s*(?:0|[1-9]\d{0,18})\s*", re.ASCII)


class Modifiers:
    """What stands between the space and the names of a declaration."""

    __slots__ = ("align", "attributes", "pointer", "type", "vector")

    def __init__(self) -> None:
        self.type = ""
        self.vector = 1
        self.align: int | None = None
        self.attributes: tuple[str, ...] = ()
        self.pointer: tuple[str, int] | None = None


def linkage(c: Cursor) -> Linkage:
    """Parse an optional linkage directive."""
    return cast(Linkage, c.advance()[1:]) if c.at(*LINKAGES) else ""


def variables(c: Cursor, link: Linkage, start: int) -> list[Variable]:
    """Parse a declaration from its space to `;`, one Variable for each name."""
    space = _space(c)
    modifiers = _modifiers(c)
    found: list[Variable] = []
    while not found or c.take(","):
        name = c.word("a variable name")
        dims = _dimensions(c)
        initial = _initial(c) if c.take("=") else None
        found.append(_variable(space, modifiers, name, dims, initial, link, Span(start, c.stop)))
    c.expect(";", "after the declaration")
    return found


def inner_name(variable: Variable) -> str:
    """Return the name under which the module keeps a variable that is declared inside a function."""
    return f"$__{variable.name}__{variable.span.start}"


def plain_variables(c: Cursor) -> list[Variable]:
    """Take the declarations that stand here in a row, as far as they are plain."""
    return _row(c, _PLAIN_VARIABLE, "")


def registers(c: Cursor) -> Registers:
    """Parse `.reg` to `;`."""
    start = c.start
    c.advance()
    modifiers = _modifiers(c)
    names: list[tuple[str, int | None]] = []
    while not names or c.take(","):
        name = c.word("a register name")
        count: int | None = None
        if c.take("<"):
            count = _count(c)
            c.expect(">", "after the number of registers")
        names.append((name, count))
    c.expect(";", "after the registers")
    return Registers(modifiers.type, tuple(names), modifiers.vector, Span(start, c.stop))


def parameters(c: Cursor) -> tuple[Variable, ...]:
    """Parse `( ... )`, the parameters or results of a function or prototype; names may be missing in prototypes."""
    c.expect("(", "before the parameters")
    found = _row(c, _PLAIN_PARAMETER, ",")
    while not c.at(")"):
        if found:
            c.expect(",", "or `)` after the parameter")
        found.append(_parameter(c))
    c.advance()
    return tuple(found)


def _parameter(c: Cursor) -> Variable:
    """Parse one parameter of any kind."""
    start = c.start
    if not c.at(".param", ".reg"):
        c.unexpected("`.param` or `.reg`")
    space = _space(c)
    modifiers = _modifiers(c)
    name = c.advance() if c.kind == "word" else ""
    return _variable(space, modifiers, name, _dimensions(c), None, "", Span(start, c.stop))


def _row(c: Cursor, pattern: re.Pattern[str], separator: str) -> list[Variable]:
    """Take declarations without vector, attributes or composed initial value in one step each, stopping before the first other."""
    found: list[Variable] = []
    pos = stop = c.start
    while (m := pattern.match(c.text, pos, c.end)) is not None and (variable := _plain(m)) is not None:
        found.append(variable)
        stop = m.end()
        pos = stop + len(separator) if c.text.startswith(separator, stop, c.end) else c.end
    if found:
        c.seek(stop)
    return found


def _plain(m: re.Match[str]) -> Variable | None:
    """Make the variable of a plain declaration, or None to leave a mistake in it to the cursor, which knows the place."""
    link, space, align, type_, pointer, pointed, aligned, name, bound, value = m.groups()
    to, at = int(align or 1), int(aligned or 1)
    if type_ not in TYPES or to & (to - 1) or at & (at - 1):
        return None
    return Variable(
        cast(Space, space),
        type_,
        name,
        (int(bound),) if bound else (),
        align=to if align else None,
        initial=Integer(int(value)) if value else None,
        linkage=cast(Linkage, link.strip()[1:]),
        pointer=(pointed or "", at if aligned else 0) if pointer else None,
        span=Span(m.start(1), m.end()),
    )


def function_header(c: Cursor, link: Linkage, start: int) -> Function:
    """Parse `.entry` or `.func` up to its `{` or `;`, which is left in place."""
    kind: Literal["entry", "func"] = "entry" if c.advance() == ".entry" else "func"
    given = attributes(c)
    returns = parameters(c) if kind == "func" and c.at("(") else ()
    span = c.span()
    name = c.word(f"the name of the .{kind}")
    params = parameters(c) if c.at("(") else ()
    listed: list[Directive] = []
    while c.kind == "dot":
        listed.append(directive(c))
        if listed[-1].name == "pragma":
            c.take(";")  # the manual ends this one alone with a semicolon
    if not c.at("{", ";"):
        c.unexpected(f"`{{` or `;` after the header of `{name}`")
    return Function(kind, name, params, returns, tuple(listed), link, given, None, span)


def directive(c: Cursor) -> Directive:
    """Parse `.name` with integers or strings behind it; `pragma` strings lose their quotes."""
    name = c.advance()[1:]
    arguments: list[int | str] = []
    while c.kind in ("integer", "string") or c.at("-", "(", "WARP_SZ"):
        arguments.append(c.advance()[1:-1] if c.kind == "string" else integer(c, f"behind .{name}"))
        if not c.take(","):
            break
    return Directive(name, tuple(arguments))


def attributes(c: Cursor) -> tuple[str, ...]:
    """Parse any number of `.attribute(.managed, .unified(a, b))`."""
    found: list[str] = []
    while c.take(".attribute"):
        c.expect("(", "after .attribute")
        while not c.at(")"):
            if c.kind != "dot":
                c.unexpected("an attribute")
            found.append(c.advance()[1:] + _arguments(c))
            if not c.take(","):
                break
        c.expect(")", "after the attributes")
    return tuple(found)


def _arguments(c: Cursor) -> str:
    """Parse the `(a, b)` of an attribute to its canonical text, or to nothing."""
    if not c.take("("):
        return ""
    values = [integer(c, "in the attribute")]
    while c.take(","):
        values.append(integer(c, "in the attribute"))
    c.expect(")", "after the attribute")
    return "(" + ", ".join(map(str, values)) + ")"


def _space(c: Cursor) -> Space:
    if not c.at(*SPACES):
        c.unexpected("a state space")
    return cast(Space, c.advance()[1:])


def _modifiers(c: Cursor) -> Modifiers:
    """Parse alignment, vector, type and attributes in whatever order they stand."""
    m = Modifiers()
    while c.kind == "dot":
        if c.at(".attribute"):
            m.attributes += attributes(c)
        elif c.take(".align"):
            m.align = _alignment(c)
        elif c.at(".v2", ".v4", ".v8"):
            m.vector = int(c.advance()[2:])
        elif c.take(".ptr"):
            m.pointer = _pointer(c)
        elif c.value[1:] in TYPES and not m.type:
            m.type = c.advance()[1:]
        else:
            c.fail(codes.UNKNOWN_DIRECTIVE, f"`{c.value}` is neither a type nor an attribute of a variable")
    if not m.type:
        c.unexpected("a type")
    return m


def _pointer(c: Cursor) -> tuple[str, int]:
    """Parse what follows `.ptr`: an optional space and an optional alignment."""
    space = c.advance()[1:] if c.at(".const", ".global", ".local", ".shared", ".param") else ""
    return space, _alignment(c) if c.take(".align") else 0


def _alignment(c: Cursor) -> int:
    span = c.span()
    value = integer(c, "as an alignment")
    if value <= 0 or value & (value - 1) or value > 1 << 20:
        c.fail(codes.BAD_CONSTANT, f"{value} is no alignment", "alignments are powers of two", span)
    return value


def _count(c: Cursor) -> int:
    span = c.span()
    value = _term(c)  # a whole expression would take the `>` behind it for a comparison
    if not 0 < value < 1 << 31:
        c.fail(codes.BAD_CONSTANT, f"{value} is no number of registers", span=span)
    return value


def _dimensions(c: Cursor) -> tuple[int | None, ...]:
    dims: list[int | None] = []
    while c.take("["):
        span = c.span()
        bound = None if c.at("]") else integer(c, "as an array bound")
        if bound is not None and not 0 <= bound < 1 << 62:
            c.fail(codes.BAD_CONSTANT, f"{bound} is no array bound", span=span)
        dims.append(bound)
        c.expect("]", "after the array bound")
    return tuple(dims)


def _initial(c: Cursor) -> Initial:
    """Parse one initial value: a list, an address, a masked address or a constant (section 5.4.4)."""
    if c.at("{"):
        return _initial_list(c)
    if c.kind == "word" and c.value != "WARP_SZ":
        return _initial_address(c)
    value = constant(c)
    if not isinstance(value, Integer) or not c.at("("):
        return value
    c.enter()
    c.advance()
    inner = _initial(c)
    c.expect(")", "after the masked address")
    c.leave()
    return Masked(value.value, inner)


def _initial_list(c: Cursor) -> InitialList:
    flat = _FLAT_LIST.match(c.text, c.start, c.end)
    if flat is not None and (values := _decimals(flat[1])) is not None:
        c.seek(flat.end())
        return InitialList(values)
    c.enter()
    c.advance()
    found: list[Initial] = []
    while not c.at("}"):
        if found:
            c.expect(",", "or `}` after the value")
        found.append(_initial(c))
    c.advance()
    c.leave()
    return InitialList(tuple(found))


def _decimals(text: str) -> tuple[Integer, ...] | None:
    """Return comma-separated plain decimals in one step, or None where something else is among them."""
    try:
        return tuple(map(_Decimals().__getitem__, text.split(",")))
    except KeyError:
        return None


class _Decimals(dict[str, Integer]):
    """Integers by their text, since tables of bytes repeat a few hundred values a million times."""

    def __missing__(self, text: str) -> Integer:
        if _DECIMAL.fullmatch(text) is None:
            raise KeyError(text)
        value = self[text] = Integer(int(text))
        return value


def _initial_address(c: Cursor) -> Initial:
    """Parse `name`, `name+n`, `generic(name)+n`; in an opaque variable's list `member = value`."""
    name = c.advance()
    if c.take("="):
        return Member(name, c.advance() if c.kind == "word" else integer(c, f"or a name for `{name[:40]}`"))
    generic = name == "generic" and c.take("(")
    if generic:
        name = c.word("a variable name")
        c.expect(")", "after generic(")
    offset = 0
    while c.at("+", "-"):
        sign = 1 if c.advance() == "+" else -1
        offset += sign * _term(c)
    if generic:
        return GenericAddress(name, offset)
    return Offset(Name(name), offset) if offset else Name(name)


def _term(c: Cursor) -> int:
    value = constant(c, TERM)
    if not isinstance(value, Integer):
        c.fail(codes.NOT_CONSTANT, "an integer is needed here, not a floating-point value")
    return value.value


def _variable(
    space: Space,
    m: Modifiers,
    name: str,
    dims: tuple[int | None, ...],
    initial: Initial | None,
    link: Linkage,
    span: Span,
) -> Variable:
    return Variable(space, m.type, name, dims, m.vector, m.align, initial, link, m.attributes, m.pointer, span)
