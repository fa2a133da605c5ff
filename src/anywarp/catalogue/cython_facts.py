"""Read the declaration files (.pxd) of AMD's Python bindings into the same facts as C headers.

They are the only installable source of ROCm 10's interfaces: functions and types stand in the text, the values of enumerations
in the compiled modules beside it.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from anywarp.catalogue.c_facts import Facts, Function, Type

_FUNCTION = re.compile(r"^\s*cdef\s+(.+?)\b(\w+)\((.*)\)\s*(?:except\S*\s*\S*)?\s*(?:nogil|noexcept nogil)?\s*$")
_BLOCK = re.compile(r"^(\s*)(ctypedef|cdef)\s+(enum|struct|union)\s*(\w*)\s*(?:(?:\"[^\"]*\"|'\w+')\s*)?:\s*$")
_ALIAS = re.compile(r"^\s*ctypedef\s+(.+?)\b(\w+)(?:\s+'\w+'|\s+\"\w+\")?\s*$")
_CALLBACK = re.compile(r"^\s*ctypedef\s+(.+?)\(\s*\*\s*(\w+)\s*\)\s*\((.*)\)\s*(?:noexcept|except.*|nogil|\s)*$")
_MACRO = re.compile(r"^\s+cdef\s+(?:int|char \*|long|unsigned \w+|double|float)\s*(\w+)\s*$")


def read(file: Path) -> Facts:
    """Read one .pxd file; constants have the values that the compiled module beside it gives, or none."""
    facts = Facts()
    lines = [line for line in file.read_text(encoding="utf-8").split("\n") if line.strip() and line.lstrip()[0] != "#"]
    names: dict[str, list[str]] = {}
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        block = _BLOCK.match(line)
        if block:
            depth = len(block[1])
            body: list[str] = []
            while at < len(lines) and len(lines[at]) - len(lines[at].lstrip()) > depth:
                body.append(lines[at].strip())
                at += 1
            _block(block[3], block[4], body, facts, names)
        elif line.lstrip().startswith("cdef") and "(" in line and line.rstrip()[-1] != ":":
            _function(line, facts)
        elif match := _CALLBACK.match(line):
            facts.types[match[2]] = Type(match[2], "callback", f"{match[1].strip()} (*)({match[3]})", size=8)
        elif (match := _ALIAS.match(line)) and match[1].strip():
            _alias(match[2], match[1].strip(), facts)
        elif match := _MACRO.match(line):
            facts.macros[match[1]] = ""
    _values(file, names, facts)
    return facts


def _block(word: str, name: str, body: list[str], facts: Facts, names: dict[str, list[str]]) -> None:
    if word == "enum":
        names.setdefault(name, []).extend(line.split()[0] for line in body if line != "pass")
        facts.constants[name] = {**facts.constants.get(name, {}), **_written_values(body)}
        if name:
            facts.types[name] = Type(name, "enum", "", size=4)
        return
    fields: list[tuple[str, str]] = []
    for line in body:
        match = re.match(r"(.+?)\b(\w+)((?:\[\w*\])*)$", re.sub(r"^([\w ]+)((?:\[\w+\])+) (\w+)$", r"\1 \3\2", line))
        if line != "pass" and match:
            fields.append((match[1].strip() + match[3], match[2]))
    text = " ".join(f"{kind} {key};" for kind, key in fields)
    facts.types[name] = Type(name, word if fields else "handle", text, tuple(fields))


def _written_values(body: list[str]) -> dict[str, int]:
    values: dict[str, int] = {}
    if not any("=" in line for line in body):
        return values
    following = 0
    for line in body:
        name, _, text = line.partition("=")
        following = _value(ast.parse(text.strip(), mode="eval").body, values) if text.strip() else following
        values[name.split()[0]] = following
        following += 1
    return values


_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.LShift: lambda a, b: a << b, ast.BitOr: lambda a, b: a | b,
}  # fmt: skip


def _value(node: ast.expr, known: Mapping[str, int]) -> int:
    """Return the value of a constant expression over the constants before it."""
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return known[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, known)
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left, known), _value(right, known))
        case _:
            raise ValueError(f"no constant expression: {ast.unparse(node)}")


def _function(line: str, facts: Facts) -> None:
    match = _FUNCTION.match(line)
    if not match or "(*" in match[1]:
        return
    parameters: list[tuple[str, str]] = []
    for text in _split(match[3]):
        found = re.match(r"(.+?)\b(\w+)((?:\[\w*\])*)$", text)
        if "(*" in text or "( *" in text:
            name = re.search(r"\(\s*\*\s*(\w+)", text)
            parameters.append((text.replace(name[1], "", 1) if name else text, name[1] if name else ""))
        elif found and found[1].strip() not in ("const", "unsigned", "struct"):
            parameters.append((found[1].strip() + found[3], found[2]))
        else:
            parameters.append((text, ""))
    facts.functions[match[2]] = Function(match[2], match[1].strip(), tuple(parameters))


def _split(text: str) -> list[str]:
    parts, depth, current = list[str](), 0, ""
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append(current.strip())
            current = ""
        else:
            current += letter
    return [*parts, current.strip()] if current.strip() else parts


def _alias(name: str, text: str, facts: Facts) -> None:
    kind = "handle" if text.endswith("*") else "alias"
    facts.types.setdefault(name, Type(name, kind, text))
    facts.resolved[name] = text


def _values(file: Path, names: dict[str, list[str]], facts: Facts) -> None:
    root = file.parent
    while (root / "__init__.pxd").exists() or (root / "__init__.py").exists():
        root = root.parent
    parts = file.relative_to(root).with_suffix("").parts
    module = _module(root, ".".join((*parts[:-1], parts[-1].removeprefix("cy"))))
    for name, constants in names.items():
        kind: Any = getattr(module, name, None)
        known = {c: int(getattr(kind, c)) for c in constants if kind is not None and hasattr(kind, c)}
        known |= {c: int(getattr(module, c)) for c in constants if c not in known and hasattr(module, c)}
        facts.constants[name] = {**facts.constants.get(name, {}), **{c: known[c] for c in constants if c in known}}
    for name in facts.macros:
        value = getattr(module, name, None)
        if isinstance(value, (int, float, str)):
            facts.macros[name] = str(value)


def _module(root: Path, name: str) -> Any:
    sys.path.insert(0, str(root))
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
    finally:
        sys.path.remove(str(root))
