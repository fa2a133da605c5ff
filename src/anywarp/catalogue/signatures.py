"""Compare the parameters of a function of CUDA with those of its counterpart as a source sees them: by types' names.

The tables compare layouts, for libraries that stand in for others. A source needs less, and another thing: after the names of types
are translated, the same list of types is the same call, and anything else is not, whatever the bytes are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

_WORD = re.compile(r"\w+")
_COMMA = re.compile(r",(?![^()]*\))")
_QUALIFIER = re.compile(r"\b(?:const|struct|enum)\b")
_BOUNDS = re.compile(r"\[\w*\]")
_SPACES = re.compile(r"\s+")
_SAME = {
    "uint32_t": "unsigned int", "cuuint32_t": "unsigned int", "uint64_t": "unsigned long long", "cuuint64_t": "unsigned long long",
    "int64_t": "long long", "hipblasStride": "long long", "cusolver_int_t": "int", "hipDevice_t": "int",
    "hipTexRef": "textureReference *", "hipArray_const_t": "hipArray_t", "hipDeviceptr_t": "void *", "hipFloatComplex": "hipComplex",
    "hipsolverDnHandle_t": "hipsolverHandle_t", "hipDeviceProp_tR0600": "hipDeviceProp_t",
    "CUkernelNodeAttrID": "hipLaunchAttributeID", "CUkernelNodeAttrValue": "hipLaunchAttributeValue",
}  # fmt: skip
"""Names for one type, in ROCm's headers or because C says so."""
_LOOSE = {("size_t", "unsigned int"), ("float", "double"), ("unsigned int", "int")}
"""Types of values where a call converts by itself and loses nothing that the counterpart could take."""
DEFAULTS = {"hipHostMalloc": 1, "hipStreamWaitValue32": 1, "hipStreamWaitValue64": 1}
"""Functions of HIP with parameters at the end that C++ may leave out, and how many."""


@cache  # the tables have a hundred thousand parameters, of some thousand texts
def types_of(parameters: str) -> tuple[str, ...]:
    """Return the types of C parameters without the parameters' names."""
    if parameters.strip() in ("", "void"):
        return ()
    return tuple(_type(each) for each in _COMMA.split(parameters))


@cache
def _type(parameter: str) -> str:
    text = _BOUNDS.sub("*", _QUALIFIER.sub(" ", parameter))
    words = _WORD.findall(text)
    stars = text.count("*")
    if len(words) > 1 and words[-1] not in ("int", "long", "char", "short", "unsigned", "float", "double"):
        words = words[:-1]
    return " ".join(words) + " *" * stars


def same_types(ours: str, theirs: str, target: str, named: Callable[[str], str]) -> bool:
    """Say whether a call with parameters `ours` of CUDA is one with `theirs` of the function `target` in ROCm.

    `named` gives the name that a type of CUDA has in ROCm, or the name itself.
    """
    first, second = types_of(ours), types_of(theirs)
    missing = len(second) - len(first)
    if not 0 <= missing <= DEFAULTS.get(target, 0):
        return False
    return all(_like(_renamed(a, named), _renamed(b, named)) for a, b in zip(first, second, strict=False))


def difference(ours: str, theirs: str, named: Callable[[str], str]) -> str:
    """Say where two lists of parameters differ first."""
    first, second = types_of(ours), types_of(theirs)
    if len(first) != len(second):
        return f"CUDA's takes {len(first)} parameters, ROCm's {len(second)}"
    pairs = ((a, b) for a, b in zip(first, second, strict=True) if not _like(_renamed(a, named), _renamed(b, named)))
    return next((f"ROCm's takes `{b}` where CUDA's takes `{a}`" for a, b in pairs), "")


def _like(one: str, other: str) -> bool:
    return one == other or (one, other) in _LOOSE


@cache
def _renamed(type_: str, named: Callable[[str], str]) -> str:
    def new(match: re.Match[str]) -> str:
        name = named(match.group())
        return _SAME.get(name, name)

    return _SPACES.sub(" ", _WORD.sub(new, type_)).strip()
