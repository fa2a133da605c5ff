"""The sample inputs: `x:f32[batch=4,3,224,224]`, `tokens:i64[batch,length]<30000`, or the arrays of an .npz file.

A size with a name is an axis that may vary; axes of one name have one size. Where a file gives the values, other sizes repeat or cut them.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anywarp.frameworks.export.problems import INPUTS, problem

TYPES = {
    "f16": "float16", "f32": "float32", "f64": "float64", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "bool": "bool",
}  # fmt: skip
SAMPLE = 2
"""The size of an axis that is given none: the least that does not stand for itself (PyTorch takes 0 and 1 for constants)."""
MOST = 1 << 31
"""The most elements of one input."""
GRAMMAR = "such as x:f32[batch=4,3,224,224], tokens:i64[batch,length]<30000 or samples.npz"
_INPUT = re.compile(r"([A-Za-z_]\w*):(\w+)\[([^\[\]]*)\](?:<(\d{1,18}))?")
_SIZE = re.compile(r"(\d{1,10})|([A-Za-z_]\w*)(?:=(\d{1,10}))?")

Array = Any
"""An array of numpy's, of any type."""


@dataclass(frozen=True)
class Input:
    """One input: the name of a parameter, its type, per dimension a size or the name of an axis; `values` where a file gives them."""

    name: str
    dtype: str
    dims: tuple[int | str, ...]
    below: int = 2
    values: Array | None = None


@dataclass(frozen=True)
class Request:
    """All inputs, and the size of each axis in the samples."""

    inputs: tuple[Input, ...]
    axes: Mapping[str, int]


def read(texts: Iterable[str], dynamic: Iterable[str] = ()) -> Request:
    """Read the options --input and --dynamic (`x.0=batch`: dimension 0 of the array x varies); AnywarpError (F014)."""
    inputs: list[Input] = []
    axes: dict[str, int] = {}
    for text in texts:
        inputs += _from_file(Path(text)) if text.endswith(".npz") else [_from_text(text, axes)]
    names = [each.name for each in inputs]
    if twice := {name for name in names if names.count(name) > 1}:
        raise problem(INPUTS, f"the input {min(twice)} is given twice")
    for text in dynamic:
        inputs = _made_dynamic(inputs, text, axes)
    for axis, size in axes.items():
        axes[axis] = size or SAMPLE
    return Request(tuple(inputs), axes)


def _from_text(text: str, axes: dict[str, int]) -> Input:
    found = _INPUT.fullmatch(text.strip())
    if found is None or found[2] not in TYPES:
        kinds = f"; types are {', '.join(TYPES)}" if found else ""
        raise problem(INPUTS, f"{text[:200]!r} is no description of an input{kinds}", f"give one {GRAMMAR}")
    dims = tuple(_size(part.strip(), text, axes) for part in found[3].split(",")) if found[3].strip() else ()
    return Input(found[1], TYPES[found[2]], dims, int(found[4] or 2))


def _size(part: str, text: str, axes: dict[str, int]) -> int | str:
    found = _SIZE.fullmatch(part)
    if found is None:
        raise problem(
            INPUTS, f"{part[:50]!r} in {text[:200]!r} is no size and no name of an axis", f"give one {GRAMMAR}"
        )
    if found[1]:
        return int(found[1])
    _agree(found[2], int(found[3] or 0), axes)
    return found[2]


def _agree(axis: str, size: int, axes: dict[str, int]) -> None:
    if size and axes.get(axis) and axes[axis] != size:
        raise problem(INPUTS, f"the axis {axis} has the sizes {axes[axis]} and {size}")
    axes[axis] = axes.get(axis) or size


def _from_file(path: Path) -> list[Input]:
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (
        OSError,
        ValueError,
        zipfile.BadZipFile,
        EOFError,
        KeyError,
        AttributeError,
        TypeError,
        MemoryError,
    ) as error:
        raise problem(INPUTS, f"{path} cannot be read as arrays: {error}", "write it with numpy.savez") from error
    for name, array in arrays.items():
        if array.dtype.name not in TYPES.values():
            raise problem(INPUTS, f"{name} in {path} has the type {array.dtype}; types are {', '.join(TYPES.values())}")
    return [Input(name, array.dtype.name, array.shape, values=array) for name, array in arrays.items()]


def _made_dynamic(inputs: list[Input], text: str, axes: dict[str, int]) -> list[Input]:
    found = re.fullmatch(r"([A-Za-z_]\w*)\.(\d{1,2})=([A-Za-z_]\w*)", text.strip())
    if found is None:
        raise problem(INPUTS, f"{text[:200]!r} names no axis", "give one such as --dynamic x.0=batch")
    name, number, axis = found[1], int(found[2]), found[3]
    for place, each in enumerate(inputs):
        if each.name == name and number < len(each.dims):
            size = each.dims[number]
            if isinstance(size, int):
                _agree(axis, size, axes)
                dims = (*each.dims[:number], axis, *each.dims[number + 1 :])
                inputs[place] = Input(each.name, each.dtype, dims, each.below, each.values)
            return inputs
    raise problem(INPUTS, f"there is no input {name} with a dimension {number}, which --dynamic {text} wants")


def samples(request: Request, sizes: Mapping[str, int], seed: int) -> dict[str, Array]:
    """Return an array per input, with these sizes of the axes: random ones, or those of the file. AnywarpError (F014) if one is too large."""
    random = np.random.default_rng(seed)
    return {each.name: _sample(each, sizes, random) for each in request.inputs}


def _sample(given: Input, sizes: Mapping[str, int], random: np.random.Generator) -> Array:
    shape = tuple(sizes[dim] if isinstance(dim, str) else dim for dim in given.dims)
    count = 1
    for size in shape:
        count *= size
    if count > MOST:
        raise problem(INPUTS, f"the input {given.name} would have {count} elements")
    if given.values is not None:
        array = given.values
        for number, size in enumerate(shape):
            array = np.take(array, np.arange(size) % max(1, array.shape[number]), axis=number)
        return np.ascontiguousarray(array)
    if given.dtype.startswith("float"):
        return random.standard_normal(shape).astype(given.dtype)
    highest = min(given.below, 2) if given.dtype == "bool" else given.below
    return random.integers(0, highest, shape).astype(given.dtype)


def other_sizes(request: Request, wanted: Iterable[Mapping[str, int]] = ()) -> list[dict[str, int]]:
    """Return the sizes to compare at: the samples', each axis alone one larger, all of them larger, and what is wanted besides."""
    own = dict(request.axes)
    cases = [own, *({**own, axis: size + 1} for axis, size in own.items())]
    if len(own) > 1:
        cases.append({axis: size + number + 2 for number, (axis, size) in enumerate(own.items())})
    cases += [{**own, **each} for each in wanted]
    return [case for number, case in enumerate(cases) if case not in cases[:number]]
