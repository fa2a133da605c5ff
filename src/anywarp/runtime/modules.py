"""From the image a program loads to the PTX module that a device compiles, and from a problem to a CUDA error code.

A program may hand over PTX text or a fat binary with several images; which one a device can use is decided here, once.
"""

from __future__ import annotations

from functools import lru_cache

from anywarp.compiler import codes as compiler
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.ptx import codes as ptx
from anywarp.ptx.index import ModuleIndex, index_module

INVALID_VALUE = 1
OUT_OF_MEMORY = 2
INVALID_IMAGE = 200
NO_BINARY_FOR_GPU = 209
INVALID_PTX = 218
NOT_FOUND = 500
NOT_SUPPORTED = 801
UNKNOWN = 999
"""Values of CUresult (CUDA Driver API manual, section Data types)."""

BY_CODE = {
    ptx.NO_SUCH_FUNCTION: NOT_FOUND,
    compiler.NO_SUCH_KERNEL: NOT_FOUND,
    **dict.fromkeys(
        (
            compiler.UNKNOWN_NAME,
            compiler.WRONG_OPERAND,
            compiler.UNKNOWN_LABEL,
            compiler.UNDEFINED_FUNCTION,
            compiler.WRONG_CALL,
            compiler.UNRESOLVED_EXTERN,
            compiler.BAD_VARIABLE,
            compiler.MISPLACED_DECLARATION,
            compiler.UNKNOWN_REGISTER,
        ),
        INVALID_PTX,
    ),
    compiler.TOO_MUCH_DATA: OUT_OF_MEMORY,
    compiler.BLOCK_SHAPE: INVALID_VALUE,
    compiler.INTERNAL: UNKNOWN,
    "C102": INVALID_PTX,
}
"""Codes whose CUDA error is not that of their room: what is wrong with the text, and what we lack, must not look alike."""

FATBIN_MAGICS = (b"\x50\xed\x55\xba", b"\xb1\x43\x62\x46", b"\x7fELF")
"""First bytes of a fat binary, of the wrapper around one, and of a cubin."""


LINKED_MAGIC = b"AWLINKED"
"""First bytes of what separate compilation made: a linked fat binary and those of its objects, each behind its length in 8 bytes."""


def open_image(image: bytes, name: str) -> ModuleIndex:
    """Index the module in an image, which is PTX text or a fat binary; AnywarpError when it holds none that can be compiled."""
    if image.startswith(LINKED_MAGIC):
        return index_module(_linked_ptx(image), name)
    return index_module(_ptx_of(image) if image.startswith(FATBIN_MAGICS) else image, name)


def cuda_code(problem: Diagnostic) -> int:
    """Return the CUresult that a problem is reported with: its `cuda` detail, else by its code, else by the room that found it."""
    stated = problem.details.get("cuda")
    if isinstance(stated, int):
        return stated
    if problem.code in BY_CODE:
        return BY_CODE[problem.code]
    if problem.code.startswith("P02"):
        return INVALID_IMAGE
    return {"P": INVALID_PTX, "C": NOT_SUPPORTED, "D": NO_BINARY_FOR_GPU}.get(problem.code[0], UNKNOWN)


def _ptx_of(image: bytes) -> bytes:
    """Return the PTX of the highest architecture in a fat binary: the most specialised text that we can read."""
    from anywarp.ptx import fatbin  # late: most programs load text, and decompressors take time to import

    best = fatbin.best_ptx(image)
    if best is None:
        raise _no_ptx(", ".join(sorted({i.target for i in fatbin.images(image)})) or "nothing")
    return best.payload()


@lru_cache(maxsize=2)  # every kernel of a module asks for the same
def _linked_ptx(image: bytes) -> bytes:
    """Return the linked image's PTX, or where it has machine code only, the PTX of its objects, linked as a driver would."""
    from anywarp.ptx import fatbin  # late, as below
    from anywarp.toolchain import ptx_link

    linked, *objects = _pieces(image)
    best = fatbin.best_ptx(linked)
    if best is not None:
        return best.payload()
    if not objects:  # machine code alone; a link of nothing would be an empty module
        raise _no_ptx(", ".join(sorted({i.target for i in fatbin.images(linked)})) or "nothing")
    return ptx_link.link([(f"object {place}", _ptx_of(piece)) for place, piece in enumerate(objects, 1)])


def _pieces(image: bytes) -> list[bytes]:
    """Take apart what the driver put together (native/cuda/module_loading.cpp)."""
    pieces: list[bytes] = []
    at = len(LINKED_MAGIC)
    while at < len(image):
        size = int.from_bytes(image[at : at + 8], "little")
        at += 8
        if size > len(image) - at:
            raise AnywarpError(
                Diagnostic("R010", "a linked image is shorter than it says", details={"cuda": INVALID_IMAGE})
            )
        pieces.append(image[at : at + size])
        at += size
    return pieces or [b""]


def _no_ptx(found: str) -> AnywarpError:
    return AnywarpError(
        Diagnostic(
            "R010",
            f"the image holds compiled code only ({found}) and no PTX",
            help="build the program with PTX included (nvcc -gencode arch=compute_80,code=compute_80)",
            details={"cuda": NO_BINARY_FOR_GPU},
        )
    )
