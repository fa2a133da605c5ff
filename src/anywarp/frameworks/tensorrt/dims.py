"""Shapes as TensorRT hands them out: sequences of numbers, -1 for what is not known yet."""

# pyright: basic
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

MOST = 8
"""The most dimensions that a tensor has."""


class Dims(Sequence[int]):
    """A shape. Compares equal to any sequence of the same numbers; a slice of it is a shape."""

    MAX_DIMS = MOST
    __slots__ = ("_sizes",)
    __hash__ = None  # type: ignore[assignment] - it can be changed

    def __init__(self, shape: Iterable[int] = ()):
        self._sizes = [int(size) for size in shape]
        if len(self._sizes) > MOST:
            raise ValueError(f"a shape has at most {MOST} dimensions, not {len(self._sizes)}")

    def __len__(self) -> int:
        return len(self._sizes)

    def __getitem__(self, index: Any) -> Any:
        return Dims(self._sizes[index]) if isinstance(index, slice) else self._sizes[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        changed = list(self._sizes)
        changed[index] = value
        self.__init__(changed)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(other) == self._sizes

    def __repr__(self) -> str:
        return f"({', '.join(map(str, self._sizes))}{',' if len(self) == 1 else ''})"


class Unknown(Dims):
    """The shape of a tensor that does not exist: its length is negative, which Python refuses."""

    def __len__(self) -> int:
        return -1

    def __repr__(self) -> str:
        return "()"


def volume(iterable: Iterable[int]) -> int:
    """Return the product of the sizes, 1 of none."""
    return math.prod(iterable)
