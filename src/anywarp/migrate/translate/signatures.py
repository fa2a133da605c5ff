"""Compares the parameters of a function of CUDA with those of its twin as a source sees them: by types' names.

The catalogue compares layouts, for libraries that stand in for others; a source needs less: after the names of types
are translated, the same list of types is the same call.
"""

from __future__ import annotations

import re
from typing import Literal

from anywarp.catalogue.identifiers import Identifier, identifiers

_WORD = re.compile(r"\w+")
_ALIASES = {"uint32_t": "unsigned int", "hipTexRef": "textureReference *", "hipArray_const_t": "hipArray_t"}
_LOOSE = {("size_t", "unsigned int"), ("float", "double")}
"""Types of values where a call converts by itself and loses nothing that the twin could take."""


def types_of(parameters: str) -> tuple[str, ...]:
    """Return the types of C parameters without the parameters' names."""
    if parameters.strip() in ("", "void"):
        return ()
    return tuple(_type(each) for each in parameters.split(","))


def _type(parameter: str) -> str:
    text = re.sub(r"\b(?:const|struct|enum)\b", " ", parameter)
    text = text.replace("[]", "*")
    words = _WORD.findall(text)
    stars = text.count("*")
    if len(words) > 1 and words[-1] not in ("int", "long", "char", "short", "unsigned", "float", "double"):
        words = words[:-1]
    return " ".join(words) + " *" * stars


def same_parameters(row: Identifier, rocm: str) -> bool:
    """Say whether every form of the function has the twin's list of types once the types are renamed."""
    theirs = types_of(row.target_parameters)
    return bool(row.parameters) and all(_same(types_of(each), theirs, rocm) for each in row.parameters.values())


def _same(ours: tuple[str, ...], theirs: tuple[str, ...], rocm: str) -> bool:
    return len(ours) == len(theirs) and all(
        _like(_renamed(a, rocm), _renamed(b, rocm)) for a, b in zip(ours, theirs, strict=True)
    )


def _like(one: str, other: str) -> bool:
    return one == other or (one, other) in _LOOSE


def _renamed(type_: str, rocm: str) -> str:
    names = identifiers(rocm)

    def new(match: re.Match[str]) -> str:
        row = names.get(match.group())
        name = row.target if row is not None and row.target else match.group()
        return _ALIASES.get(name, name)

    return re.sub(r"\s+", " ", _WORD.sub(new, type_)).strip()


def form_of(row: Identifier, count: int) -> Literal["same", "other"] | int:
    """Say which form a call with `count` arguments has: the twin's, another, or the twin's with one more at an index.

    A form of CUDA whose types are the twin's but one is told by that one's place, when only it has that many.
    """
    theirs = types_of(row.target_parameters)
    forms = {types_of(each) for each in row.parameters.values()}
    of_count = [each for each in forms if len(each) == count]
    if count == len(theirs) and len(of_count) <= 1:
        differs = not of_count or len({len(each) for each in forms}) == 1
        return "other" if differs and of_count else "same"
    if len(of_count) != 1 or count != len(theirs) + 1:
        return "other"
    names = [re.findall(r"\w+", each)[-1] for each in _parts(row, count)]
    extra = [
        index
        for index, name in enumerate(names)
        if name in ("edgeData", "dependencyData", "ctxCreateParams", "blockSizeToDynamicSMemSize")
    ]
    return extra[0] if len(extra) == 1 else "other"


def _parts(row: Identifier, count: int) -> list[str]:
    for each in row.parameters.values():
        parts = each.split(",")
        if len(parts) == count:
            return parts
    return []
