"""Make a fake of a library of ROCm out of the catalogue: every function that CUDA's libraries are answered with, recorded.

A function does nothing: it writes its arguments down (and what they point to on the host), writes new handles through
pointers to handles, and returns 0 or what the test set. The entries are assembly, so that a thousand functions build in a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from anywarp.catalogue import rocm

NUMBERS = {
    "char": ("c", 1), "signed char": ("i", 1), "unsigned char": ("u", 1), "int8_t": ("i", 1), "uint8_t": ("u", 1),
    "short": ("i", 2), "unsigned short": ("u", 2), "int16_t": ("i", 2), "uint16_t": ("u", 2), "bool": ("u", 1), "_Bool": ("u", 1),
    "int": ("i", 4), "unsigned": ("u", 4), "unsigned int": ("u", 4), "int32_t": ("i", 4), "uint32_t": ("u", 4),
    "long": ("i", 8), "unsigned long": ("u", 8), "long long": ("i", 8), "unsigned long long": ("u", 8),
    "long int": ("i", 8), "long long int": ("i", 8), "unsigned long int": ("u", 8), "unsigned long long int": ("u", 8),
    "int64_t": ("i", 8), "uint64_t": ("u", 8), "size_t": ("u", 8), "ssize_t": ("i", 8), "float": ("f", 4), "double": ("f", 8),
    "float2": ("x", 8), "double2": ("x", 16), "hipFloatComplex": ("x", 8), "hipDoubleComplex": ("x", 16), "hipComplex": ("x", 8),
    "hipblasHalf": ("u", 2), "__half": ("u", 2), "hipblasBfloat16": ("u", 2), "void": ("v", 0),
    "hipblasStride": ("i", 8), "hipfftReal": ("f", 4), "hipfftDoubleReal": ("f", 8), "hipfftComplex": ("x", 8), "hipfftDoubleComplex": ("x", 16),
    "rocblas_stride": ("i", 8), "rocblas_int": ("i", 4),
}  # fmt: skip
"""The kind (see FakeType in recorder.h) and size of what needs no table."""

HANDLES = {"hipStream_t", "hipEvent_t", "hipfftHandle", "hipArray_t"}


@dataclass(frozen=True)
class Kind:
    """A C type as the recorder knows it: a kind, a depth of pointers, a size and, of structures, fields."""

    kind: str
    depth: int
    size: int
    struct: str = ""


@dataclass(frozen=True)
class Field:
    """A field of a structure with its place."""

    name: str
    offset: int
    count: int
    kind: Kind


class Types:
    """What the tables say of types on ROCm's side, by name; types that nobody describes are addresses or int."""

    def __init__(self, entries: Iterable[rocm.Type]) -> None:
        self.entries: dict[str, rocm.Type] = {}
        for entry in entries:
            if entry.target:
                self.entries.setdefault(entry.target, entry)
        self.structs: dict[str, tuple[int, int, list[Field]]] = {}

    def kind(self, base: str, depth: int) -> Kind:
        """Return what a type with that many pointers around it is."""
        if base in NUMBERS:
            kind, size = NUMBERS[base]
            return Kind(kind, depth, size)
        if base in HANDLES or base == "(*)":
            return Kind("h" if base in HANDLES else "p", depth, 8)
        entry = self.entries.get(base)
        if entry is None:
            return Kind("p" if depth else "i", depth, 8 if depth else 4)
        definition = re.sub(r"\b(const|struct|enum|union)\b", "", entry.target_definition).strip()
        if entry.kind == "handle" or definition.endswith("*"):
            return Kind("h", depth, 8)
        if entry.kind == "enum":
            return Kind("i", depth, 4)
        if entry.kind == "callback" or "(" in definition:
            return Kind("p", depth, 8)
        if ";" in definition:
            size = self.struct(base, definition)[0]
            return Kind("s", depth, size, base)
        if definition in ("", base):
            return Kind("p" if depth else "i", depth, 8 if depth else 4)
        return self.kind(definition, depth)

    def struct(self, name: str, definition: str) -> tuple[int, int, list[Field]]:
        """Lay out a structure as the System V ABI does; return size, alignment and fields."""
        if name in self.structs:
            return self.structs[name]
        self.structs[name] = (8, 8, [])  # a structure that points to its own kind
        at, most, fields = 0, 1, list[Field]()
        for part in filter(None, (each.strip() for each in definition.split(";"))):
            counts = [int(number) for number in re.findall(r"\[(\d+)\]", part)]
            [parameter] = rocm.parameters_of(re.sub(r"\[\w*\]", " ", part))
            kind = self.kind(parameter.base, parameter.pointers)
            size = 8 if kind.depth else max(kind.size, 1)
            align = min(size, 8) if kind.kind != "s" or kind.depth else self.structs[kind.struct][1]
            align = align // 2 if kind.kind == "x" and not kind.depth else align
            count = 1
            for each in counts:
                count *= each
            at = -(-at // align) * align
            fields.append(Field(parameter.name, at, count, kind))
            at += size * count
            most = max(most, align)
        self.structs[name] = (-(-at // most) * most, most, fields)
        return self.structs[name]


def functions(
    library: str, runtime: int, stems: Iterable[str], folder: Path = rocm.DATA
) -> tuple[dict[str, str], Types]:
    """Return parameters by name of what `library` (hipblas ...) has under that HIP runtime (6 or 7), and the types they use."""
    found: dict[str, str] = {}
    entries: list[rocm.Type] = []
    for stem in stems:
        tables = rocm.load(stem, folder)
        entries += tables.types.values()
        for function in tables.functions:
            for answer in function.answers:
                if answer.library == library and answer.first <= runtime <= answer.last:
                    found.setdefault(answer.symbol, answer.parameters)
    return dict(sorted(found.items())), Types(entries)


def source(those: Mapping[str, str], types: Types) -> str:
    """Return the table of functions as C++."""
    rows, parameters = list[str](), list[str]()
    for number, (name, text) in enumerate(those.items()):
        inside = [
            f'{{"{each.name}", {_type(types.kind(each.base, each.pointers), each.const)}}}'
            for each in rocm.parameters_of(text)
        ]
        if inside:
            parameters.append(f"static const FakeParameter p{number}[] = {{{', '.join(inside)}}};")
        rows.append(f'{{"{name}", {f"p{number}" if inside else "nullptr"}, {len(inside)}, nullptr}},')
    layouts = [f"extern const FakeStruct l_{name};" for name in types.structs]
    for name, (_, _, fields) in types.structs.items():
        inside = ", ".join(
            f'{{"{each.name}", {each.offset}, {each.count}, {_type(each.kind, True)}}}' for each in fields
        )
        layouts.append(f"static const FakeField f_{name}[] = {{{inside}}};" if fields else "")
        layouts.append(
            f'const FakeStruct l_{name} = {{"{name}", {len(fields)}, {f"f_{name}" if fields else "nullptr"}}};'
        )
    head = [
        '#include "recorder.h"',
        *layouts,
        *parameters,
        'extern "C" {',
        "extern const FakeFunction fake_functions[] = {",
    ]
    tail = [
        "};",
        f"extern const uint32_t fake_function_count = {len(rows)};",
        "extern const int fake_default_result = 0;",
    ]
    return "\n".join([*head, *rows, *tail, f"void* fake_slots[{max(len(rows), 1)}];", "}", ""])


def _type(kind: Kind, const: bool) -> str:
    layout = f"&l_{kind.struct}" if kind.struct else "nullptr"
    return f"{{'{kind.kind}', {kind.depth}, {'false' if const else 'true'}, {kind.size}, {layout}}}"
