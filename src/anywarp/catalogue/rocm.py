"""Load the tables that pair CUDA's libraries with ROCm's, and work out how each argument is converted.

Forwarders, their tests and the pages about them all follow from this one reading. Standard library only: the build uses it too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

DATA = Path(__file__).parent / "data" / "rocm"

FUNCTION_COLUMNS = (
    "name", "majors", "result", "parameters_12", "parameters_13", "route", "target", "library", "since", "removed",
    "target_result", "target_parameters", "clients", "reason",
)  # fmt: skip
TYPE_COLUMNS = ("name", "kind", "majors", "definition", "target", "target_definition", "conversion", "reason")
CONSTANT_COLUMNS = (
    "type", "name", "value_12", "value_13", "target", "target_value", "since", "removed", "reason",
)  # fmt: skip
SYMBOL_COLUMNS = ("name", "kind", "version")
BACK_COLUMNS = ("type", "name", "value", "cuda_type", "cuda_name", "cuda_value_12", "cuda_value_13", "reason")


class TableError(ValueError):
    """Raised for a table that contradicts itself; names the file and the line."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a C function: its type without qualifiers, how many pointers it is away, whether what it points to is const."""

    name: str
    base: str
    pointers: int
    const: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """One function of ROCm that answers a function of CUDA, with the first and last HIP runtime (6 or 7) that has it so."""

    symbol: str
    library: str
    first: int
    last: int
    result: str
    parameters: str


@dataclass(frozen=True, slots=True)
class Function:
    """One exported function: what CUDA 12 and 13 declare and what answers it, which may differ between versions of ROCm."""

    name: str
    majors: tuple[int, ...]
    result: str
    parameters: dict[int, str]
    route: str
    answers: tuple[Answer, ...]
    clients: int
    reason: str


@dataclass(frozen=True, slots=True)
class Type:
    """One type of the library and its counterpart."""

    name: str
    kind: str
    definition: str
    target: str
    target_definition: str
    conversion: str
    reason: str


@dataclass(frozen=True, slots=True)
class Constant:
    """One constant of an enum (or a macro) and its counterpart, by HIP runtime (6 or 7), whose value is None where there is none."""

    type: str
    name: str
    values: dict[int, int]
    target: str
    target_values: dict[int, int | None]
    reason: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """One export of a library whose exports have versions of their own: a `function` or an `object`."""

    name: str
    kind: str
    version: str


@dataclass(frozen=True, slots=True)
class Back:
    """What a constant of ROCm's means in CUDA, for values that come back: by HIP runtime its value, by CUDA version ours."""

    name: str
    values: dict[int, int]
    ours: dict[int, int]


@dataclass(frozen=True)
class Library:
    """The tables of one library, with the types that it borrows from others."""

    stem: str
    functions: tuple[Function, ...]
    types: dict[str, Type]
    constants: dict[str, tuple[Constant, ...]] = field(default_factory=dict[str, tuple[Constant, ...]])
    back: dict[str, tuple[Back, ...]] = field(default_factory=dict[str, tuple["Back", ...]])

    @cached_property
    def targets(self) -> dict[str, Type]:
        """Types by the name of their counterpart, the first of several that is no other name for a type."""
        found: dict[str, Type] = {}
        for entry in sorted(self.types.values(), key=lambda entry: entry.kind == "alias"):
            if entry.target:
                found.setdefault(entry.target, entry)
        for entry in self.types.values():
            if entry.kind == "enum" and re.fullmatch(r"[a-z]\w+_t", entry.target_definition):
                found.setdefault(entry.target_definition, entry)  # a typedef of another library's enum
        return found


def load(stem: str, folder: Path = DATA) -> Library:
    """Read the tables of library `stem`; types that it does not define itself come from the other tables of the folder."""
    functions: dict[str, Function] = {}
    for row, place in read(folder / f"{stem}.tsv", FUNCTION_COLUMNS):
        if row["name"] in functions:
            raise TableError(f"{place}: {row['name']} is there twice")
        functions[row["name"]] = _function(row, place)
    types: dict[str, Type] = {}
    constants: dict[str, list[Constant]] = {}
    own = folder / f"{stem}_types.tsv"
    for path in (own, *sorted(p for p in folder.glob("*_types.tsv") if p != own)):
        if not path.exists():
            continue
        new = {row["name"]: _type(row) for row, _ in read(path, TYPE_COLUMNS) if row["name"] not in types}
        types |= new
        values = path.with_name(path.name.replace("_types", "_constants"))
        for row, place in read(values, CONSTANT_COLUMNS) if values.exists() else ():
            if row["type"] in new or (path == own and row["type"] not in types):
                constants.setdefault(row["type"], []).append(_constant(row, place))
    back: dict[str, list[Back]] = {}
    if (path := folder / f"{stem}_back.tsv").exists():
        for row, _ in read(path, BACK_COLUMNS):
            back.setdefault(row["cuda_type"], []).append(_back(row))
    return Library(
        stem,
        tuple(functions.values()),
        types,
        {name: tuple(group) for name, group in constants.items()},
        {name: tuple(group) for name, group in back.items()},
    )


def symbols_of(stem: str, folder: Path = DATA) -> tuple[Symbol, ...]:
    """Read the exports of a library with their versions; none for those of one version or without objects."""
    path = folder / f"{stem}_symbols.tsv"
    return tuple(Symbol(**row) for row, _ in read(path, SYMBOL_COLUMNS)) if path.exists() else ()


def read(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[dict[str, str], str]]:
    """Yield the rows of a table with their place, for messages; TableError where a line has not the columns asked for."""
    header: list[str] | None = None
    name = path.name
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if (not line or line.startswith("#")) and (header is None or not line or line.startswith("# ")):
            continue
        cells = line.split("\t")
        if header is None:
            header = cells
            if missing := set(columns) - set(header):
                raise TableError(f"{name}:{number}: no column {', '.join(sorted(missing))}")
            continue
        if len(cells) != len(header):
            raise TableError(f"{name}:{number}: expected {len(header)} cells, found {len(cells)}")
        yield dict(zip(header, cells, strict=True)), f"{name}:{number}"


def _function(row: dict[str, str], place: str) -> Function:
    if row["route"] not in ("forward", "custom", "absent"):
        raise TableError(f"{place}: unknown route {row['route']!r}")
    if row["route"] == "forward" and not row["target"]:
        raise TableError(f"{place}: {row['name']} is forwarded to nothing")
    if row["route"] == "absent" and not row["reason"]:
        raise TableError(f"{place}: {row['name']} is absent without a reason")
    majors = tuple(int(major) for major in row["majors"].split())
    p12, p13 = row["parameters_12"], row["parameters_13"]
    parameters = {12: p12, 13: p12 if p13 == "=" else p13}
    return Function(
        row["name"], majors, row["result"], {major: parameters[major] for major in majors}, row["route"],
        _answers(row), int(row["clients"] or 0), row["reason"],
    )  # fmt: skip


def _answers(row: dict[str, str]) -> tuple[Answer, ...]:
    """Return the counterpart of a row, and the one that older versions of ROCm have instead (column `earlier`: `6.4=NAME`)."""
    if not row["target"]:
        return ()
    since, removed, older = _version(row["since"]), _version(row["removed"]), _earlier(row)
    # Versions are those that the table's sources show: 7.1 is the first of 7. A bound within a HIP runtime leaves the
    # decision to whether the symbol is there.
    first = 7 if (since and since[0] > 6) or any(version[0] == 6 for version in older) else 6
    last = 6 if removed and removed <= (7, 1) else 7
    kind = (row["target_result"], row["target_parameters"])
    old = (Answer(name, row["library"], 6, min(version[0], 7), *kind) for version, name in older.items())
    return (Answer(row["target"], row["library"], first, last, *kind), *old)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")) if text else ()


def _earlier(row: dict[str, str]) -> dict[tuple[int, ...], str]:
    parts = (part.split("=", 1) for part in row.get("earlier", "").split())
    return {_version(version): value for version, value in parts}


def _type(row: dict[str, str]) -> Type:
    return Type(
        row["name"], row["kind"], row["definition"], row["target"], row["target_definition"], row["conversion"],
        row["reason"],
    )  # fmt: skip


def _constant(row: dict[str, str], place: str) -> Constant:
    values: dict[int, int] = {}
    first = row["value_12"]
    for major, text in ((12, first), (13, first if row["value_13"] == "=" else row["value_13"])):
        number = _number(text)
        if number is not None:
            values[major] = number
        elif text and row["type"] != "#define":
            raise TableError(f"{place}: {row['name']} is {text!r}, which is no number")
    return Constant(
        row["type"], row["name"], values, row["target"], dict(_by_runtime(row, "target_value")), row["reason"]
    )


def _by_runtime(row: dict[str, str], column: str) -> Iterator[tuple[int, int | None]]:
    newest = _number(row[column])
    older = next((_number(value) for version, value in _earlier(row).items() if version[0] == 6), newest)
    yield 6, older
    yield 7, newest


def _back(row: dict[str, str]) -> Back:
    values = {runtime: value for runtime, value in _by_runtime(row, "value") if value is not None}
    first = row["cuda_value_12"]
    numbers = {12: _number(first), 13: _number(first if row["cuda_value_13"] == "=" else row["cuda_value_13"])}
    return Back(row["name"], values, {major: value for major, value in numbers.items() if value is not None})


def _number(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None


# C declarations


def parameters_of(text: str) -> tuple[Parameter, ...]:
    """Parse a parameter list of C; a function pointer has the base `(*)`."""
    text = text.strip()
    if text in ("", "void"):
        return ()
    return tuple(_parameter(part.strip(), index) for index, part in enumerate(_split(text)))


def _split(text: str) -> list[str]:
    parts, depth, start = list[str](), 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]


_BUILTIN_WORDS = {"unsigned", "signed", "long", "short", "int", "char", "float", "double", "void", "_Bool", "bool"}


def _parameter(text: str, index: int) -> Parameter:
    if "(" in text:
        match = re.search(r"\(\s*\*+\s*(\w*)", text)
        return Parameter((match[1] if match else "") or f"p{index}", "(*)", 0, False)
    pointers = text.count("*")
    brackets = re.findall(r"\[[^\]]*\]", text)
    pointers += len(brackets)
    text = re.sub(r"\[[^\]]*\]", " ", text)
    # `const T *` and `T const *` have a const pointee; `T *const` has not.
    const = bool(re.search(r"\bconst\b", text.split("*")[0])) and pointers > 0
    words = [
        w
        for w in re.findall(r"\w+", text)
        if w not in ("const", "struct", "enum", "union", "volatile", "__restrict__", "restrict")
    ]
    name = f"p{index}"
    if len(words) > 1 and words[-1] not in _BUILTIN_WORDS:
        name = words.pop()
    return Parameter(name, " ".join(words), pointers, const)
