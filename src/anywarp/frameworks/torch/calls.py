"""Calling the stand-in's C functions: what they throw is raised again as the class that torch would raise.

ctypes knows numbers only; the functions return the class of the exception as one and keep its words (native/torch/exported.h).
"""

# pyright: basic
from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

_RUNTIME, _ACCELERATOR, _MEMORY, _VALUE, _INDEX, _MISSING, _TYPE = range(1, 8)

_BUILTIN = {_VALUE: ValueError, _INDEX: IndexError, _MISSING: NotImplementedError, _TYPE: TypeError}


def _raise(library: ctypes.CDLL, raised: int) -> None:
    import torch

    library.awt_error_words.restype = ctypes.c_char_p
    words = library.awt_error_words().decode("utf-8", "replace")
    if raised == _MEMORY:
        raise torch.OutOfMemoryError(words)
    if raised == _ACCELERATOR and hasattr(torch, "AcceleratorError"):
        error = torch.AcceleratorError(words)
        setattr(error, "error_code", library.awt_error_code())  # noqa: B010  (torch's stubs do not know it)
        raise error
    raise _BUILTIN.get(raised, RuntimeError)(words)


def checked(library: ctypes.CDLL, name: str, *argument_types: Any) -> Callable[..., None]:
    """Return the C function `name` as one that raises what the C++ side threw."""
    function = library[name]
    function.argtypes = argument_types
    function.restype = ctypes.c_int

    def call(*arguments: Any) -> None:
        raised = function(*arguments)
        if raised:
            _raise(library, raised)

    return call


def returning(library: ctypes.CDLL, name: str, kind: Any, *argument_types: Any) -> Callable[..., Any]:
    """Return the C function `name`, whose last parameter is a pointer to a `kind`, as one that returns what is put there."""
    call = checked(library, name, *argument_types, ctypes.POINTER(kind))

    def get(*arguments: Any) -> Any:
        value = kind()
        call(*arguments, ctypes.byref(value))
        return value.value

    return get


class Owner:
    """What an object of ours holds so that `end(*arguments)` is called when it goes.

    Classes of torch derive from ours and may have a `__del__` that does not call that of its base, as none of a CUDA build's has one.
    """

    __slots__ = ("_arguments", "_end")

    def __init__(self, end: Callable[..., object], *arguments: Any) -> None:
        self._end, self._arguments = end, arguments

    def __del__(self) -> None:
        self._end(*self._arguments)
