"""The statements of a PTX body to the typed tree.

Compiled kernels are mostly plain instructions, so one expression takes such a statement whole and its operands come from a
cache; anything else (vectors, calls, declarations, errors) goes through the cursor. Both build the same tree.
"""

from __future__ import annotations

import re
from dataclasses import replace

from anywarp.diagnostics import AnywarpError, Source, Span
from anywarp.ptx import codes
from anywarp.ptx.constants import literal
from anywarp.ptx.declarations import SPACES, directive, parameters, registers, variables
from anywarp.ptx.lexer import IDENTIFIER, NESTING_LIMIT, SKIP, Cursor
from anywarp.ptx.operands import operand, operands
from anywarp.ptx.tree import (
    CallPrototype,
    Directive,
    Function,
    Guard,
    Instruction,
    Integer,
    Label,
    Location,
    Name,
    Operand,
    Pragma,
    Scope,
    Statement,
    Targets,
)

_STATEMENT = re.compile(
    SKIP
    + r"(?:(@!?\s*[%$\w]+)?\s*\b([a-z]\w*(?:\.\w+(?:::\w+)*)*)(?=[\s;\[])([^;:\"/{}()@]*);"
    + rf"|({IDENTIFIER})\s*:(?!:)|)",
    re.ASCII,
)
"""Groups: guard, opcode, operands; or label; or nothing, for the cursor to look at."""


class _Operands(dict[str, Operand]):
    """Operands by their text; a text not seen before is parsed on its own."""

    def __missing__(self, text: str) -> Operand:
        c = Cursor(Source("", text), 0, len(text))
        value = operand(c)
        if c.kind != "end":
            c.unexpected("`,` or `;`")
        self[text] = value
        return value


class _Guards(dict[str, Guard]):
    def __missing__(self, text: str) -> Guard:
        value = self[text] = _guard(Cursor(Source("", text), 0, len(text)))
        return value


class _Forms(dict[str, tuple[str, tuple[str, ...]]]):
    def __missing__(self, text: str) -> tuple[str, tuple[str, ...]]:
        opcode, *modifiers = text.split(".")
        value = self[text] = (opcode, tuple(modifiers))
        return value


def parse_function(source: Source, header: Function, body: tuple[int, int]) -> Function:
    """Parse one body, the characters `[start, end)` of `source` from `{` to `}`, and join it to its header."""
    return replace(header, body=parse_body(source, *body))


def parse_body(source: Source, start: int, end: int) -> Scope:
    """Parse `{ ... }`; nested scopes are kept on a list, not on the interpreter's stack."""
    text = source.text
    match = _STATEMENT.match
    operand_of, guard_of, form_of = _Operands().__getitem__, _Guards().__getitem__, _Forms().__getitem__
    statements: list[Statement] = []
    outer: list[tuple[list[Statement], int]] = []
    opened = start
    pos = start + 1
    while True:
        m = match(text, pos, end)
        assert m is not None  # the last alternative is empty
        pos = m.end()
        if m.lastindex == 3:
            guard, form, rest = m.group(1, 2, 3)
            try:
                listed = tuple(map(operand_of, rest.split(","))) if rest and not rest.isspace() else ()
                held = guard_of(guard) if guard else None
            except AnywarpError:  # said again by the cursor, which knows the place
                statements.append(_instruction(Cursor(source, m.start(1 if guard else 2), end)))
                continue
            opcode, modifiers = form_of(form)
            span = Span(m.start(1 if guard else 2), pos)
            statements.append(Instruction(opcode, modifiers, listed, held, span))
        elif m.lastindex == 4:
            statements.append(Label(m.group(4), Span(m.start(4), m.end(4))))
        elif text[pos : pos + 1] == "{" and pos < end:
            if len(outer) >= NESTING_LIMIT:
                message = f"scopes nested more than {NESTING_LIMIT} deep"
                raise codes.problem(codes.TOO_DEEP, message, source, Span(pos, pos + 1))
            outer.append((statements, opened))
            statements, opened, pos = [], pos, pos + 1
        elif text[pos : pos + 1] == "}" and pos < end:
            scope = Scope(tuple(statements), Span(opened, pos + 1))
            pos += 1
            if not outer:
                return _closed(source, scope, pos, end)
            statements, opened = outer.pop()
            statements.append(scope)
        else:
            c = Cursor(source, pos, end)
            _statement(c, statements)
            pos = c.stop


def _closed(source: Source, scope: Scope, pos: int, end: int) -> Scope:
    """Check that nothing follows the body inside its range."""
    c = Cursor(source, pos, end)
    if c.kind != "end":
        c.unexpected("the end of the function")
    return scope


def _statement(c: Cursor, statements: list[Statement]) -> None:
    """Parse one statement that is not a plain instruction and append it."""
    if c.at(";"):
        c.stop = c.pos  # empty statements come out of inline assembly
    elif c.kind != "dot":
        statements.append(_instruction(c))
    elif c.at(".reg"):
        statements.append(registers(c))
    elif c.at(*SPACES):
        statements.extend(variables(c, "", c.start))
    elif c.at(".loc"):
        statements.append(location(c))
    elif c.at(".pragma"):
        statements.append(pragma(c))
    elif c.at(".branchtargets", ".calltargets", ".callprototype"):
        statements.append(_labelled(c, statements))
    else:
        statements.append(lone_directive(c))


def _instruction(c: Cursor) -> Instruction:
    """Parse an instruction token by token."""
    start = c.start
    guard = _guard(c) if c.at("@") else None
    if not c.value[:1].isalpha():
        c.unexpected("an instruction")
    opcode = c.word("an instruction")
    modifiers: list[str] = []
    while c.kind == "dot":
        modifiers.append(c.advance()[1:])
    listed = operands(c, groups=opcode == "call")
    if not c.at(";"):
        c.unexpected("`;`")
    end = c.pos
    c.stop = end
    return Instruction(opcode, tuple(modifiers), listed, guard, Span(start, end))


def _guard(c: Cursor) -> Guard:
    c.expect("@", "before the predicate")
    negated = c.take("!")
    return Guard(Name(c.word("a predicate register")), negated)


def location(c: Cursor) -> Location:
    """Parse `.loc file line column` and, kept as text, what follows behind commas."""
    c.advance()
    file, line, column = (_number(c, what) for what in ("a file number", "a line", "a column"))
    rest: list[str] = []
    while c.take(","):
        rest.append(_attribute(c))
    return Location(file, line, column, ", ".join(rest))


def _attribute(c: Cursor) -> str:
    """Parse `function_name label + n` or `inlined_at file line column` to its canonical text (section 11.5.3)."""
    if c.take("inlined_at"):
        return "inlined_at " + " ".join(str(_number(c, what)) for what in ("a file number", "a line", "a column"))
    if not c.take("function_name"):
        c.unexpected("function_name or inlined_at")
    label = c.word("a label")
    return f"function_name {label}" + (f" + {_number(c, 'an offset')}" if c.take("+") else "")


def pragma(c: Cursor) -> Pragma:
    """Parse `.pragma "text", ...;`."""
    found = directive(c)
    if not found.arguments or not all(isinstance(a, str) for a in found.arguments):
        c.unexpected("a string after .pragma")
    _semicolon(c)
    return Pragma(tuple(str(a) for a in found.arguments))


def lone_directive(c: Cursor) -> Directive:
    """Parse a directive this project does not know but can keep: a name, integers or strings, `;`."""
    span = c.span()
    found = directive(c)
    if not c.at(";"):
        c.fail(codes.UNKNOWN_DIRECTIVE, f"the directive `.{found.name}` is not known here", span=span)
    _semicolon(c)
    return found


def _labelled(c: Cursor, statements: list[Statement]) -> Targets | CallPrototype:
    """Parse the directives that a label names; the label has been read as a statement."""
    label = statements.pop() if statements else None
    if not isinstance(label, Label):
        c.fail(codes.UNEXPECTED, f"`{c.value}` needs a label before it")
    kind = c.advance()[1:]
    if kind == "callprototype":
        return _prototype(c, label.name)
    names = [c.word("a name")]
    while c.take(","):
        names.append(c.word("a name"))
    _semicolon(c)
    return Targets("branchtargets" if kind == "branchtargets" else "calltargets", label.name, tuple(names))


def _prototype(c: Cursor, label: str) -> CallPrototype:
    """Parse `(results) _ (parameters) directives ;`."""
    returns = parameters(c) if c.at("(") else ()
    if c.word("`_`") != "_":
        c.unexpected("`_`")
    params = parameters(c) if c.at("(") else ()
    listed: list[Directive] = []
    while c.kind == "dot":
        listed.append(directive(c))
    _semicolon(c)
    return CallPrototype(label, returns, params, tuple(listed))


def _semicolon(c: Cursor) -> None:
    """Step over `;` without looking at the token behind it, which belongs to the next statement."""
    if not c.at(";"):
        c.unexpected("`;`")
    c.stop = c.pos


def _number(c: Cursor, what: str) -> int:
    if c.kind != "integer":
        c.unexpected(what)
    value = literal(c)
    assert isinstance(value, Integer)
    return value.value
