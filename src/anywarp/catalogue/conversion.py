"""Decide how each argument of a forwarded function becomes its counterpart's argument.

A pair of types that no rule covers is a problem with a name, never a cast: the function then is absent or written by hand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from anywarp.catalogue.rocm import Answer, Function, Library, Parameter, Type, parameters_of

NUMBERS: dict[str, tuple[str, int, str]] = {
    "int": ("int", 4, "i"), "int32_t": ("int", 4, "i"), "signed": ("int", 4, "i"), "signed int": ("int", 4, "i"),
    "unsigned": ("unsigned", 4, "u"), "unsigned int": ("unsigned", 4, "u"), "uint32_t": ("unsigned", 4, "u"),
    "int64_t": ("long", 8, "i"), "long": ("long", 8, "i"), "long long": ("long", 8, "i"), "long int": ("long", 8, "i"),
    "long long int": ("long", 8, "i"), "ssize_t": ("long", 8, "i"), "ptrdiff_t": ("long", 8, "i"),
    "size_t": ("unsigned long", 8, "u"), "uint64_t": ("unsigned long", 8, "u"), "unsigned long": ("unsigned long", 8, "u"),
    "unsigned long long": ("unsigned long", 8, "u"), "unsigned long long int": ("unsigned long", 8, "u"),
    "char": ("char", 1, "i"), "signed char": ("signed char", 1, "i"), "unsigned char": ("unsigned char", 1, "u"),
    "int8_t": ("signed char", 1, "i"), "uint8_t": ("unsigned char", 1, "u"), "_Bool": ("bool", 1, "b"), "bool": ("bool", 1, "b"),
    "short": ("short", 2, "i"), "unsigned short": ("unsigned short", 2, "u"), "uint16_t": ("unsigned short", 2, "u"),
    "int16_t": ("short", 2, "i"),
    "float": ("float", 4, "f"), "double": ("double", 8, "f"), "void": ("void", 0, "v"),
    "float2": ("aw_c32", 8, "c"), "double2": ("aw_c64", 16, "c"),
    "__half": ("aw_half", 2, "h"), "half": ("aw_half", 2, "h"), "_Float16": ("aw_half", 2, "h"),
}  # fmt: skip
"""By name: the type to write in C++, its bytes (x86-64 Linux), and its sort, of which two must agree."""

COMPLEX = {
    **dict.fromkeys(
        ("cuComplex", "cuFloatComplex", "cufftComplex", "hipComplex", "hipFloatComplex", "hipblasComplex", "hipfftComplex"), "float2"
    ),
    **dict.fromkeys(
        ("cuDoubleComplex", "cufftDoubleComplex", "hipDoubleComplex", "hipblasDoubleComplex", "hipfftDoubleComplex"), "double2"
    ),
    **dict.fromkeys(("cufftReal", "hipfftReal"), "float"),
    **dict.fromkeys(("cufftDoubleReal", "hipfftDoubleReal"), "double"),
    **dict.fromkeys(("hipblasHalf", "hipsparseHalf", "rocblas_half"), "__half"),
    "hipblasStride": "int64_t", "hipblasInt8": "int8_t", "cusolver_int_t": "int",
}  # fmt: skip
"""Names for numbers, on either side."""

STREAMS = {"cudaStream_t", "hipStream_t"}

BY_VALUE = {"ncclUniqueId": "aw_id128"}
"""Structures that are the same on both sides and are passed by value: the C++ type of their size."""

OWN_HANDLES = {"cufftHandle": "hipfftHandle"}
"""Handles that are numbers in CUDA and addresses in ROCm: the forwarders keep a table."""

SAME_LAYOUT = {"cudaLibXtDesc_t": "hipLibXtDesc_t"}
"""Structures of which a table says `struct`, and which need no copy: the counterpart makes them, and programs only read what is the
same on both sides (tests compare the definitions and the values of `cufftXtSubFormat`)."""

OPEN_ENDED = {"ncclRedOp_t": "ncclNumOps"}
"""Enums to which the library adds values while it runs (the same on both sides): the constant from which on they are such."""


@dataclass(frozen=True, slots=True)
class Argument:
    """How one argument is handed over.

    `how` is pass, number, enum, enum_out, handle, stream or stream_out; `type` and `target_type` are the C++ types on both sides,
    `converter` the enum's name.
    """

    how: str
    type: str
    target_type: str
    converter: str = ""


class Unconvertible(ValueError):
    """Raised for a pair of declarations that no rule covers; says which."""


def meaning(library: Library, base: str, *, target: bool) -> tuple[str, str]:
    """Return what a type name is: its kind, and its name on its own side (the counterpart's for `target`; the one in NUMBERS for a number)."""
    for _ in range(5):
        if base in STREAMS:
            return "stream", ""
        if base in NUMBERS:
            return "number", base
        if base in COMPLEX:
            base = COMPLEX[base]
            continue
        entry = find(library, base, target=target)
        if entry is None:
            return "unknown", base
        definition = entry.target_definition if target else entry.definition
        if entry.kind == "alias":
            other = re.sub(r"\bconst\b|\bstruct\b|\benum\b", "", definition).strip()
            if "*" in other:
                return "handle", entry.target if target else entry.name
            base = other
            continue
        return entry.kind, entry.target if target else entry.name
    return "unknown", base


def find(library: Library, base: str, *, target: bool) -> Type | None:
    """Find a type by its name on one side; typedefs of ROCm differ from their tags by `_t`."""
    names = library.targets if target else library.types
    for name in (base, base.removesuffix("_t"), base + "_t", base.removeprefix("struct ")):
        if name in names:
            return names[name]
    return None


def arguments_of(library: Library, function: Function, answer: Answer, major: int) -> list[Argument]:
    """Return the conversion of each parameter of `function` as CUDA `major` declares it; Unconvertible where a rule is missing."""
    ours, theirs = parameters_of(function.parameters[major]), parameters_of(answer.parameters)
    if len(ours) != len(theirs):
        raise Unconvertible(f"takes {len(ours)} parameters, {answer.symbol} {len(theirs)}")
    return [_argument(library, a, b) for a, b in zip(ours, theirs, strict=True)]


def _argument(library: Library, ours: Parameter, theirs: Parameter) -> Argument:
    kind, name = meaning(library, ours.base, target=False)
    counterpart, counterpart_name = meaning(library, theirs.base, target=True)
    levels = (ours.pointers, theirs.pointers)
    if OWN_HANDLES.get(ours.base) == theirs.base and levels in ((0, 0), (1, 1)):
        return Argument("own_out", "int*", "void**") if levels[0] else Argument("own", "int", "void*")
    problem = Unconvertible(f"{ours.name}: {_written(ours)} has no conversion to {_written(theirs)}")
    if kind == "handle":
        # Some declarations of ROCm write an opaque handle as `void *`.
        same = counterpart == "handle" and levels[0] == levels[1]
        opaque = theirs.base in ("void", library.types[name].target.removesuffix("_t"))
        # An opaque pointer that the table has no counterpart for still has one if that bears its name.
        counterpart_named = theirs.base in (ours.base, re.sub(r"^cu", "hip", ours.base)) and levels[0] == levels[1]
        if same or counterpart_named or (opaque and levels[1] == levels[0] + 1):
            return Argument("handle", "void*", "void*")
        raise problem
    if kind == "stream" and counterpart == "stream" and levels in ((0, 0), (1, 1)):
        return Argument("stream" if levels[0] == 0 else "stream_out", "void*", "void*")
    if (
        kind == "enum"
        and counterpart == "enum"
        and library.types[name].target == counterpart_name
        and library.types[name].conversion in ("enum", "same")
    ):
        if levels == (0, 0):
            return Argument("enum", "int", "int", name)
        if levels == (1, 1) and not ours.const:
            return Argument("enum_out", "int*", "int*", name)
        raise problem
    if kind == "number" and counterpart == "number":
        return _number(name, counterpart_name, ours, theirs, problem)
    if (
        kind == counterpart == "struct"
        and library.types[name].target == counterpart_name
        and levels[0] == levels[1] > 0
    ):
        if SAME_LAYOUT.get(name) == counterpart_name or (library.types[name].conversion == "same" and levels == (1, 1)):
            return Argument("pass", "void*", "void*")
        raise problem
    if (
        kind == counterpart == "struct"
        and name in BY_VALUE
        and counterpart_name == library.types[name].target
        and levels == (0, 0)
    ):
        return Argument("pass", BY_VALUE[name], BY_VALUE[name])
    # Data that the library does not look into have any pointer's type on the other side.
    if (
        "void" in (ours.base, theirs.base)
        and levels[0] == levels[1] > 0
        and {kind, counterpart} <= {"number", "unknown"}
    ):
        return Argument("pass", "void*", "void*")
    raise problem


def _number(name: str, counterpart: str, ours: Parameter, theirs: Parameter, problem: Unconvertible) -> Argument:
    (first, size, sort), (second, counterpart_size, counterpart_sort) = NUMBERS[name], NUMBERS[counterpart]
    if ours.pointers != theirs.pointers:
        raise problem
    if ours.pointers:
        data = (
            sort == "v"
            or counterpart_sort == "v"
            or (size == counterpart_size and (sort == counterpart_sort or {sort, counterpart_sort} <= {"i", "u"}))
        )
        half = {sort, counterpart_sort} == {"h", "u"} and size == counterpart_size
        if (
            (ours.pointers, first, second) == (1, "int", "unsigned long")
            and "BufferSize" in ours.name
            and not ours.const
        ):
            return Argument("number_out", "int*", "unsigned long*")
        if not data and not half:
            raise problem
        return Argument("pass", "void*", "void*")
    if first == second:
        return Argument("pass", first, second)
    if (first, second) == ("float", "double"):
        return Argument("pass", first, second)
    if sort in "iu" and counterpart_sort in "iu":
        return Argument("number", first, second)
    raise problem


def _written(parameter: Parameter) -> str:
    return parameter.base + " " + "*" * parameter.pointers if parameter.pointers else parameter.base


def to_target(library: Library, name: str, major: int, runtime: int = 7) -> dict[int, int | None]:
    """Return CUDA's values of enum `name` with the counterpart's in a HIP runtime, None where the counterpart has none."""
    table: dict[int, int | None] = {}
    for constant in library.constants.get(name, ()):
        value = constant.values.get(major)
        if value is not None and table.get(value) is None:
            table[value] = constant.target_values[runtime]
    return table


def from_target(library: Library, name: str, major: int, runtime: int = 7) -> dict[int, int]:
    """Return the counterpart's values of enum `name` in a HIP runtime with CUDA's; the first of several."""
    table: dict[int, int] = {}
    for back in library.back.get(name, ()):
        if runtime in back.values and major in back.ours:
            table.setdefault(back.values[runtime], back.ours[major])
    for constant in library.constants.get(name, ()):
        counterpart, value = constant.target_values[runtime], constant.values.get(major)
        if counterpart is not None and value is not None:
            table.setdefault(counterpart, value)
    return table
