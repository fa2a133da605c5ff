"""One captured value: what it is called, where it was in the program, and what is known of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, cast

from anywarp.check.bundle import limits
from anywarp.check.bundle.blob import SIZES, size_of
from anywarp.check.bundle.problems import damaged, excessive

ROLES = ("input", "output", "parameter", "logits", "tokens", "buffer")
RUNS = ("propagated", "isolated", "again", "precise", "magnitude", "norm")
"""How a value came about: in the program's own run, or, in a replay, by running one module once more on the recorded inputs: as it is, a second
time with other random numbers, in float64, with absolute values (sum of |a||b|), with squares (square root of the sum of a^2 b^2)."""
DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Entry:
    """A line of entries.jsonl; `call` counts calls of the outermost module, `visit` those of this module within one."""

    index: int
    call: int
    name: str
    role: str
    slot: str
    dtype: str
    shape: tuple[int, ...]
    visit: int = 0
    run: str = "propagated"
    layout: tuple[int, ...] | None = None
    """Strides, in values, where the tensor is not contiguous; the blob is contiguous always."""
    statistics: dict[str, Any] = field(default_factory=dict[str, Any])
    blob: str | None = None
    dropped: str = ""
    """Why there is no blob where one was wanted."""
    operation: dict[str, Any] | None = None
    placement: dict[str, Any] | None = None
    """How the tensor is part of a larger one, where the program knows (DTensor)."""

    @property
    def key(self) -> tuple[str, int, int, str, str]:
        """Return what identifies the value in any run of the same program."""
        return (self.name, self.call, self.visit, self.role, self.slot)

    @property
    def size(self) -> int:
        """Return the bytes of the values."""
        return size_of(self.dtype, self.shape)

    def as_json(self) -> dict[str, Any]:
        """Return the line's content; what has its usual value is left out."""
        out: dict[str, Any] = {"index": self.index, "call": self.call, "name": self.name, "role": self.role}
        out |= {"slot": self.slot, "dtype": self.dtype, "shape": list(self.shape), "blob": self.blob}
        usual: dict[str, Any] = {
            "visit": 0,
            "run": "propagated",
            "statistics": {},
            "dropped": "",
            "operation": None,
            "placement": None,
        }
        out |= {name: getattr(self, name) for name, value in usual.items() if getattr(self, name) != value}
        return out | ({"layout": list(self.layout)} if self.layout is not None else {})


def read_entry(found: dict[str, Any], where: str) -> Entry:
    """Return the entry that a line describes; AnywarpError: V002 where it is none, V003 where it demands too much."""
    shape = _extents(found.get("shape"), "shape", where)
    layout = found.get("layout")
    entry = Entry(
        _number(found, "index", where),
        _number(found, "call", where),
        _text(found, "name", where),
        _text(found, "role", where),
        _text(found, "slot", where),
        _text(found, "dtype", where),
        shape,
        _number(found, "visit", where) if "visit" in found else 0,
        _text(found, "run", where) if "run" in found else "propagated",
        None if layout is None else _extents(layout, "layout", where),
        _mapping(found, "statistics", where) or {},
        _text(found, "blob", where) if found.get("blob") is not None else None,
        _text(found, "dropped", where) if "dropped" in found else "",
        _mapping(found, "operation", where),
        _mapping(found, "placement", where),
    )
    if entry.role not in ROLES or entry.run not in RUNS or entry.dtype not in SIZES:
        raise damaged(where, "it names a role, a run or a dtype that there is not")
    if entry.layout is not None and len(entry.layout) != len(shape):
        raise damaged(where, "its layout is of another shape")
    if entry.blob is not None and not DIGEST.fullmatch(entry.blob):
        raise damaged(where, "its blob is no digest")
    if entry.size > limits.TENSOR_BYTES:
        raise excessive(where, f"it claims a tensor of {entry.size:,} bytes")
    return entry


def _number(found: dict[str, Any], name: str, where: str) -> int:
    value = found.get(name)
    if type(value) is not int or not 0 <= value < 1 << 48:
        raise damaged(where, f"its {name} is no count")
    return value


def _text(found: dict[str, Any], name: str, where: str) -> str:
    value = found.get(name)
    if not isinstance(value, str) or len(value) > limits.NAME:
        raise damaged(where, f"its {name} is no text of ordinary length")
    return value


def _mapping(found: dict[str, Any], name: str, where: str) -> dict[str, Any] | None:
    value = found.get(name)
    if value is not None and not isinstance(value, dict):
        raise damaged(where, f"its {name} is no object")
    return cast("dict[str, Any] | None", value)


def _extents(value: object, name: str, where: str) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise damaged(where, f"its {name} is no list")
    items = cast("list[object]", value)
    if len(items) > limits.DIMENSIONS:
        raise excessive(where, f"its {name} has {len(items):,} dimensions")
    if not all(type(item) is int and 0 <= item < 1 << 48 for item in items):
        raise damaged(where, f"its {name} has something else than counts")
    return tuple(cast("list[int]", items))
