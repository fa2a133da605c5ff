"""`anywarp.record.buffer`: names a result of a program for `anywarp record` and `anywarp verify`, where they cannot see it by themselves.

Without them it does nothing, and imports nothing.
"""

from __future__ import annotations

from typing import Any

from anywarp import settings


def buffer(name: str, array: Any, *, terms: int | None = None) -> None:
    """Record an array under a name, while the program is recorded or verified; else do nothing.

    `array`: a tensor of PyTorch, an array of NumPy, JAX, CuPy or Numba, or whatever else has `__array__`, `__cuda_array_interface__` or DLPack; device
    memory is copied when the context has done all that it was given. `terms`: how many terms the sums have that made it, which its tolerance grows with.
    ValueError: the name is empty, longer than 200 characters or not of one line, or `terms` is less than 1.
    """
    if settings.RECORD.get() is None:
        return
    if not name or len(name) > 200 or not name.isprintable():
        raise ValueError(f"a buffer needs a name of one line and at most 200 characters, not {name[:40]!r}")
    if terms is not None and terms < 1:
        raise ValueError(f"a sum has at least 1 term, not {terms}")
    from anywarp.check.record import functions, session

    functions.keep(session.of_this_process(), name, array, terms)
