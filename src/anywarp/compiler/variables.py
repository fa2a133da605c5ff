"""What holds values before they are SSA: registers, and variables in shared or local memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from anywarp.ptx.isa.ops import Type


@dataclass(eq=False, slots=True)
class Register:
    """One scalar register of one expansion of a function: an SSA variable."""

    name: str
    type: Type


@dataclass(eq=False, slots=True)
class Place:
    """A variable in shared or local memory; its offset is given when everything has been expanded.

    Parameters of device functions live in local memory until they are promoted to SSA values. With a `frame` the variable lies
    `offset` bytes behind the address in that register: on the thread's stack. `pinned` ones stay in memory.
    """

    name: str
    space: Literal["shared", "local"]
    size: int
    align: int
    dynamic: bool = False
    parameter: bool = False
    frame: Register | None = None
    offset: int = 0
    pinned: bool = False
    element: int = 0
    """The bytes of one element of a variable that the program declared."""
