"""Statistics that stand for a tensor, and what can be concluded from two of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anywarp.check.numbers.results import Comparison
from anywarp.numerics.operation import Operation

LEVELS = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
"""The quantiles of the values that statistics hold."""
LANES = 64
"""The length of a sketch."""


@dataclass(frozen=True)
class Statistics:
    """What is kept of a tensor: figures of its finite elements, counts of the others, and a sketch.

    The sketch is a linear map, so that the sketch of a difference is the difference of the sketches: `sketch[j]` is the sum over the sketched elements i with
    i % LANES == j of sign(i) * value(i), in float64 (NaN and infinity count as 0). Element i is the i-th of the flattened tensor, taken at `i * stride`;
    `sketched` of them were taken. sign(i) is +1 or -1 by `statistics.signs(sketched, seed)`. The sum of its squares estimates the sum of squares of what was sketched, with a
    relative standard deviation of sqrt(2 / LANES).
    `quantiles` are the values at LEVELS, of all elements or of an even sample. `noise`: the standard deviation of the sketch's own arithmetic per lane, 0 for float64.
    """

    count: int
    mean: float
    rms: float
    minimum: float
    maximum: float
    quantiles: tuple[float, ...]
    zeros: int
    nan: int
    infinite: int
    subnormal: int
    sketch: tuple[float, ...] = ()
    sketched: int = 0
    stride: int = 1
    seed: int = 0
    noise: float = 0.0


def signs(count: int, seed: int) -> NDArray[np.int8]:
    """Return the signs of a sketch's elements: the same on every machine.

    The sign of element i is the lowest bit of splitmix64's output (Steele, Lea and Flood, OOPSLA 2014) for the state `seed * 2^32 + i + 1`: 0 is +1, 1 is -1.
    """
    with np.errstate(over="ignore"):
        z: NDArray[np.uint64] = np.arange(1, count + 1, dtype=np.uint64) + (np.uint64(seed) << np.uint64(32))
        z *= np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return np.where(z & np.uint64(1), -1, 1).astype(np.int8)


def measure(values: NDArray[Any], dtype: str, *, seed: int = 0, most: int = 1 << 20) -> Statistics:
    """Return the statistics of a tensor; of larger ones than `most` elements an even sample is sketched. `dtype` decides what is subnormal."""
    raise NotImplementedError


def compare_statistics(
    reference: Statistics, observed: Statistics, operation: Operation, *, shape: tuple[int, ...] = ()
) -> Comparison:
    """Compare two tensors by their statistics; `estimated` is set, and figures that cannot be told are absent."""
    raise NotImplementedError
