"""What one row of the operator table is, and how its inputs are drawn.

A row pairs a function on tinygrad tensors with a function on numpy arrays. Floating point inputs reach the numpy side
as float64 holding exactly the values that the tensors hold, so that the expected value carries no rounding of its own.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tinygrad import Tensor, dtypes

FLOATS = ("float32", "float16", "bfloat16")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS

# Relative and absolute error that the result type allows; a case multiplies it by its own factor.
TOLERANCES = {"float64": 1e-12, "float32": 1e-5, "float16": 2e-3, "bfloat16": 1.6e-2}

# Ranges of the floating point inputs.
RANGES = {
    "any": (-2.0, 2.0),
    "positive": (0.2, 3.0),
    "unit": (-0.95, 0.95),
    "probability": (0.05, 0.95),
    "above_one": (1.1, 3.0),
    "wide": (-30.0, 30.0),
    "angle": (-1.2, 1.2),
}


@dataclass(frozen=True)
class Input:
    """One input: its shape, which values it takes, and its type where that is not the case's own."""

    shape: tuple[int, ...]
    kind: str = "any"
    dtype: str | None = None
    below: int = 0


@dataclass(frozen=True)
class Case:
    """One operator on given inputs, in one or more types."""

    name: str
    tiny: Callable[..., Any]
    expected: Callable[..., Any]
    inputs: tuple[Input, ...]
    types: tuple[str, ...] = ("float32",)
    factor: float = 1.0
    exact: bool = False


def index(shape: tuple[int, ...], below: int) -> Input:
    """An int32 input of indices in [0, below)."""
    return Input(shape, "index", "int32", below)


def boolean(shape: tuple[int, ...]) -> Input:
    return Input(shape, "bool", "bool")


def shaped(case: Case, *shapes: tuple[int, ...]) -> list[Case]:
    """Repeat a one-type case over other shapes, in its first type; every input takes the shape."""
    first = case.types[:1]
    return [replace(case, types=first, inputs=tuple(replace(i, shape=s) for i in case.inputs)) for s in shapes]


def draw(spec: Input, dtype: str, seed: str) -> np.ndarray:
    """Draw one input, always the same for the same case, as float64, bool or the integer type itself."""
    rng = np.random.default_rng(zlib.crc32(f"{seed}/{dtype}/{spec}".encode()))
    dtype = spec.dtype or dtype
    if spec.kind == "index":
        return rng.integers(0, spec.below, spec.shape).astype(dtype)
    if spec.kind == "distinct":
        values = rng.permutation(int(np.prod(spec.shape))).reshape(spec.shape)
        return values.astype(dtype) if dtype in INTEGERS else round_to(values / 8.0 - 5.0, dtype)
    if dtype == "bool":
        return rng.random(spec.shape) < 0.5
    if dtype in INTEGERS:
        return draw_integers(spec, dtype, rng)
    low, high = RANGES[spec.kind]
    return round_to(rng.uniform(low, high, spec.shape), dtype)


def draw_integers(spec: Input, dtype: str, rng: np.random.Generator) -> np.ndarray:
    info = np.iinfo(dtype)
    if spec.kind == "full":
        values = rng.integers(info.min, info.max, spec.shape, dtype=dtype, endpoint=True)
        edges = np.array([info.min, info.max, 0, 1], dtype)
        flat = values.reshape(-1)
        flat[: min(4, flat.size)] = edges[: flat.size]
        return values
    low = 1 if spec.kind == "positive" else max(-11, info.min)
    if spec.kind == "shift":
        return rng.integers(0, np.dtype(dtype).itemsize * 8, spec.shape).astype(dtype)
    return rng.integers(low, 12, spec.shape).astype(dtype)


def round_to(values: np.ndarray, dtype: str) -> np.ndarray:
    """Round to what the type can hold (to nearest, ties to even) and return it as float64."""
    if dtype == "bfloat16":
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
        return bits.view(np.float32).astype(np.float64).reshape(values.shape)
    return values.astype(dtype).astype(np.float64)


def to_tensor(values: np.ndarray, dtype: str) -> Tensor:
    if dtype == "bfloat16":
        return Tensor(values.astype(np.float32)).cast(dtypes.bfloat16).realize()
    # A scalar would become a constant, which lives on no device.
    return Tensor(values.astype(dtype).reshape(-1)).realize().reshape(values.shape)


def to_array(tensor: Tensor) -> np.ndarray:
    if tensor.dtype == dtypes.bfloat16:  # realized first, or the two casts cancel
        tensor = tensor.contiguous().realize().cast(dtypes.float32)
    return tensor.numpy()
