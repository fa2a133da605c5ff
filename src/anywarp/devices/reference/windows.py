"""Where each state space lies among the interpreter's generic addresses.

Buffers keep their own addresses; the rest lies above 2**48, where no buffer of a user process can be.
"""

from __future__ import annotations

SIZE = 1 << 40
SHARED, LOCAL, PARAM, GLOBAL_DATA, CONST_DATA, HEAP, FUNCTIONS = ((1 << 48) + i * SIZE for i in range(7))

FRAME_PARAMS = 1 << 30
"""Addresses of `.param` variables of functions and calls begin here within the space param; a kernel's begin at 0.
They fit 32 bits, because a module of 32-bit addresses has them too."""
