"""A module's declarations and the places of its bodies, found without parsing bodies.

Libraries ship megabytes of PTX of which a program runs a few kernels; so loading indexes at the speed of a scan, and a body is
parsed when it is wanted.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace

from anywarp.diagnostics import Source
from anywarp.ptx import codes
from anywarp.ptx.constants import literal
from anywarp.ptx.declarations import SPACES, function_header, inner_name, linkage, plain_variables, variables
from anywarp.ptx.lexer import Cursor
from anywarp.ptx.statements import location, lone_directive, parse_function, pragma
from anywarp.ptx.tree import Alias, Directive, File, Function, Integer, Item, Module, Section, Variable

_FORM = re.compile(
    r"(?:[;{}:]|^)\s*(?:@!?\s*[%$\w]+\s+)?([a-z]\w*(?:\.\w+(?:::\w+)*)*)(?=\s*[^\s\w:,}=.]|\s+[\w])", re.ASCII
)
_CALL = re.compile(r"\bcall(?:\.\w+)*\s*(?:\([^()]*\)\s*,\s*)?([\w$%]+)", re.ASCII)
_COMMENT = re.compile(r'//[^\n]*|"[^"\n]*"|/\*[\s\S]*?\*/')
_INNER = re.compile(r"(?<![\w:])\.(?:global|const)(?=[\s.])", re.ASCII)
_WORD = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class FunctionEntry:
    """A function's header (its `body` is None) and the character range of its body, `{` and `}` included."""

    header: Function
    body: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class ModuleIndex:
    """A module whose bodies are still text; `items` holds everything else, in order."""

    source: Source
    version: tuple[int, int]
    target: tuple[str, ...]
    address_size: int
    items: tuple[Item, ...]
    functions: dict[str, FunctionEntry] = field(compare=False)

    @property
    def entries(self) -> tuple[str, ...]:
        """The names of the kernels that have a body, in order."""
        return tuple(n for n, f in self.functions.items() if f.header.kind == "entry" and f.body is not None)

    def function(self, name: str) -> Function:
        """Parse the function `name`; its body is None for a declaration. Raises AnywarpError."""
        entry = self._entry(name)
        return entry.header if entry.body is None else parse_function(self.source, entry.header, entry.body)

    def opcodes(self, name: str) -> Counter[str]:
        """Count the instruction forms in one body by a quick scan; calls are not followed."""
        return Counter(_FORM.findall(self._plain(name)))

    def mentions(self, name: str) -> tuple[str, ...]:
        """Return the functions of this module whose names stand in the body of `name`: called or pointed to, by alias too."""
        words = set(_WORD.findall(self._plain(name)))
        words |= {i.target for i in self.items if isinstance(i, Alias) and i.name in words}
        return tuple(n for n in self.functions if n in words)

    def callees(self, name: str) -> tuple[str, ...]:
        """Return what the calls in the body of `name` name, aliases resolved: functions, or registers of indirect calls."""
        aliases = {i.name: i.target for i in self.items if isinstance(i, Alias)}
        found: list[str] = _CALL.findall(self._plain(name))
        return tuple(dict.fromkeys(aliases.get(n, n) for n in found))

    def pointed_to(self, name: str) -> tuple[str, ...]:
        """Return the functions of this module that the body of `name` names elsewhere than as what a call calls."""
        if not self.mentions(name):
            return ()
        text = self._plain(name)
        words = Counter(_WORD.findall(text))
        words.subtract(_CALL.findall(text))
        aliases = {i.name: i.target for i in self.items if isinstance(i, Alias)}
        found = {aliases.get(word, word) for word, count in words.items() if count > 0}
        return tuple(n for n in self.functions if n in found)

    def module(self) -> Module:
        """Parse every body and return the whole tree."""
        done = [self._parsed(item) for item in self.items]
        return Module(self.version, self.target, self.address_size, tuple(done))

    def _parsed(self, item: Item) -> Item:
        if not isinstance(item, Function):
            return item
        entry = self.functions[item.name]
        return self.function(item.name) if entry.header is item else item

    def _entry(self, name: str) -> FunctionEntry:
        entry = self.functions.get(name)
        if entry is None:
            message = f"the module has no function `{name[:200]}`"
            raise codes.problem(codes.NO_SUCH_FUNCTION, message, self.source, None, "", name=name)
        return entry

    def _plain(self, name: str) -> str:
        """Return a body without its comments and strings."""
        body = self._entry(name).body
        if body is None:
            return ""
        text = self.source.text[body[0] : body[1]]
        return _COMMENT.sub(" ", text) if "/" in text or '"' in text else text


def index_module(text: str | bytes, name: str = "<ptx>") -> ModuleIndex:
    """Index a module; `name` is shown in errors. Zero bytes at the end are ignored. Raises AnywarpError."""
    from anywarp.ptx.bodies import body_ranges  # it brings NumPy, which who scans a tree without PTX does without

    content = decoded(text)
    source = Source(name, content)
    closing = body_ranges(source)
    c = Cursor(source, 0, len(content), closing)
    version, target, address_size = _header(c)
    items: list[Item] = []
    functions: dict[str, FunctionEntry] = {}
    while c.kind != "end":
        _item(c, items, functions)
    return ModuleIndex(source, version, target, address_size, tuple(items), functions)


def decoded(text: str | bytes) -> str:
    """Return PTX as characters: UTF-8 if it is, else one character for each byte; zeros at the end are cut."""
    if isinstance(text, str):
        return text.rstrip("\0")
    data = text.rstrip(b"\0")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _header(c: Cursor) -> tuple[tuple[int, int], tuple[str, ...], int]:
    """Parse `.version`, `.target` and the optional `.address_size` (section 11.1)."""
    if c.kind == "end":
        c.fail(codes.NO_HEADER, "there is no PTX here")
    if not c.take(".version"):
        c.fail(codes.NO_HEADER, "PTX begins with `.version`", "is this file PTX?")
    if c.kind != "float" or not re.fullmatch(r"\d{1,4}\.\d{1,4}", c.value):
        c.unexpected("a version such as 8.0")
    major, minor = c.advance().split(".")
    if not c.take(".target"):
        c.fail(codes.NO_HEADER, "`.target` must follow `.version`")
    target = [c.word("a target such as sm_80")]
    while c.take(","):
        target.append(c.word("a target option"))
    size = 32
    if c.take(".address_size"):
        span = c.span()
        size = _whole(c, "32 or 64")
        if size not in (32, 64):
            c.fail(codes.BAD_CONSTANT, f"addresses have 32 or 64 bits, not {size}", span=span)
    return (int(major), int(minor)), tuple(target), size


def _item(c: Cursor, items: list[Item], functions: dict[str, FunctionEntry]) -> None:
    """Parse one thing at module level."""
    row = plain_variables(c)
    if row:
        items.extend(row)
        return
    start = c.start
    link = linkage(c)
    if c.at(".entry", ".func"):
        _function(c, function_header(c, link, start), items, functions)
    elif c.at(*SPACES) and c.value != ".reg":
        items.extend(variables(c, link, start))
    elif link:
        c.unexpected("a function or variable")
    elif c.at(".file"):
        items.append(_file(c))
    elif c.at(".loc"):
        items.append(location(c))
    elif c.at(".section"):
        items.append(_section(c))
    elif c.at(".alias"):
        items.append(_alias(c))
    elif c.at(".pragma"):
        items.append(pragma(c))
        c.seek(c.stop)
    elif c.at(".version", ".target", ".address_size"):
        c.fail(codes.UNEXPECTED, f"`{c.value}` belongs at the start of the module")
    elif c.kind == "dot":
        items.append(_directive(c))
    else:
        c.unexpected("a declaration")


def _function(c: Cursor, header: Function, items: list[Item], functions: dict[str, FunctionEntry]) -> None:
    """Record a function, stepping over its body; a definition takes the place of its declarations."""
    items.append(header)
    known = functions.get(header.name)
    if c.take(";"):
        functions.setdefault(header.name, FunctionEntry(header, None))
        return
    if known is not None and known.body is not None:
        c.fail(codes.DEFINED_TWICE, f"`{header.name[:200]}` is defined twice", span=header.span)
    end = c.closing[c.start]
    functions[header.name] = FunctionEntry(header, (c.start, end))
    items.extend(_inner_variables(c.source, c.start, end))
    c.seek(end)


def _inner_variables(source: Source, start: int, end: int) -> list[Variable]:
    """Return the `.global` and `.const` variables that are declared in a body, which there is one of each, under names of their own.

    The manual declares these outside functions only (section 5.4.1); ptxas takes them inside, too, and keeps them in the module.
    """
    if _INNER.search(source.text, start, end) is None:
        return []
    text = source.text[start:end]
    plain = _COMMENT.sub(lambda match: " " * len(match[0]), text)
    found: list[Variable] = []
    for match in _INNER.finditer(plain):
        if plain[: match.start()].rstrip()[-1:] not in "{};:":
            continue  # an attribute of a parameter: `.ptr .global`
        place = start + match.start()
        found += variables(Cursor(source, place, end), "", place)
    return [replace(variable, name=inner_name(variable)) for variable in found]


def _file(c: Cursor) -> File:
    """Parse `.file n "path", timestamp, size`."""
    c.advance()
    number = _whole(c, "a file number")
    if c.kind != "string":
        c.unexpected("a file name in quotes")
    path = c.advance()[1:-1]
    rest: list[int] = []
    while c.take(","):
        rest.append(_whole(c, "a number"))
    return File(number, path, tuple(rest))


def _section(c: Cursor) -> Section:
    """Parse `.section name { ... }`, keeping the content as text."""
    c.advance()
    if c.kind not in ("dot", "word"):
        c.unexpected("the name of the section")
    name = c.advance()
    if not c.at("{"):
        c.unexpected("`{` after the name of the section")
    inside = c.pos
    end = c.closing[c.start]
    c.seek(end)
    return Section(name, c.text[inside : end - 1])


def _alias(c: Cursor) -> Alias:
    """Parse `.alias name, target;`."""
    c.advance()
    name = c.word("the alias")
    c.expect(",", "after the alias")
    target = c.word("the function the alias stands for")
    c.expect(";", "after .alias")
    return Alias(name, target)


def _directive(c: Cursor) -> Directive:
    found = lone_directive(c)
    c.seek(c.stop)
    return found


def _whole(c: Cursor, what: str) -> int:
    """Parse one plain integer."""
    if c.kind != "integer":
        c.unexpected(what)
    value = literal(c)
    assert isinstance(value, Integer)
    return value.value
