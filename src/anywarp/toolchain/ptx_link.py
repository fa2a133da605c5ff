"""Joining PTX modules into one, with the linker that programs use at run time.

It is native code in our libnvJitLink, and reached through that library's public functions.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from anywarp import settings
from anywarp.toolchain import codes

LIBRARY = "libnvJitLink.so.13"
_PTX = 2


def link(inputs: Sequence[tuple[str, bytes]]) -> bytes:
    """Return the module made of texts, each with a name for messages.

    AnywarpError: T005 when they do not fit together, T006 when our library is not there.
    """
    if len(inputs) == 1:
        return inputs[0][1].rstrip(b"\0")
    library = _library()
    handle = ctypes.c_void_p()
    options = (ctypes.c_char_p * 1)(b"-arch=sm_80")
    _must(library.nvJitLinkCreate(ctypes.byref(handle), 1, options), "")
    try:
        for name, text in inputs:
            clean = text.rstrip(b"\0")
            status = library.nvJitLinkAddData(handle, _PTX, clean, ctypes.c_size_t(len(clean)), name.encode())
            _must(status, _log(library, handle))
        _must(library.nvJitLinkComplete(handle), _log(library, handle))
        size = ctypes.c_size_t()
        _must(library.nvJitLinkGetLinkedPtxSize(handle, ctypes.byref(size)), "")
        linked = ctypes.create_string_buffer(size.value)
        _must(library.nvJitLinkGetLinkedPtx(handle, linked), "")
        return linked.value
    finally:
        library.nvJitLinkDestroy(ctypes.byref(handle))


def _library() -> Any:
    path = settings.LIBRARY_DIR.get().resolve() / LIBRARY
    if not path.exists():
        raise codes.problem(
            codes.NOT_BUILT, f"{LIBRARY} is not in {path.parent}", "in a checkout, build it with scripts/build"
        )
    return ctypes.CDLL(str(path))


def _log(library: Any, handle: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    library.nvJitLinkGetErrorLogSize(handle, ctypes.byref(size))
    text = ctypes.create_string_buffer(max(1, size.value))
    library.nvJitLinkGetErrorLog(handle, text)
    return text.value.decode("utf-8", "replace").strip()


def _must(status: int, log: str) -> None:
    if status:
        text = log or f"the linker returned {status}"
        raise codes.problem(codes.DEVICE_LINK, text, "see `anywarp explain T005`")
