"""The diagnostic codes of the compiler's middle and the one way to raise them.

Codes are stable: users look them up with `anywarp explain`, and programs match on them, so a code is never given a new meaning.
"""

from __future__ import annotations

from typing import Any

from anywarp.diagnostics import AnywarpError, Diagnostic, Source, Span

NO_SUCH_KERNEL = "C001"
UNKNOWN_NAME = "C002"
WRONG_OPERAND = "C003"
UNKNOWN_LABEL = "C004"
INDIRECT_CALL = "C005"
UNDEFINED_FUNCTION = "C006"
TOO_MUCH_CODE = "C008"
WRONG_CALL = "C009"
UNRESOLVED_EXTERN = "C010"
BAD_VARIABLE = "C011"
TOO_MUCH_DATA = "C012"
MISPLACED_DECLARATION = "C013"
UNKNOWN_REGISTER = "C014"
BLOCK_SHAPE = "C015"
INTERNAL = "C016"
UNSUPPORTED = "C017"
OLD_LLVM = "C018"
NO_LINKER = "C103"
TOO_MUCH_SHARED = "C104"
LINKER_FAILED = "C105"
TOO_MUCH_LOCAL = "C106"

TITLES: dict[str, str] = {
    NO_SUCH_KERNEL: "no such kernel in the module",
    UNKNOWN_NAME: "a name that is not declared",
    WRONG_OPERAND: "an operand that does not fit",
    UNKNOWN_LABEL: "a label that is not declared",
    INDIRECT_CALL: "a call through a function pointer",
    UNDEFINED_FUNCTION: "a function that is declared but not defined",
    TOO_MUCH_CODE: "a kernel that grows too large when its calls are expanded",
    WRONG_CALL: "a call that does not match the function",
    UNRESOLVED_EXTERN: "a variable that is declared but not defined",
    BAD_VARIABLE: "a variable that cannot be laid out",
    TOO_MUCH_DATA: "variables that need too much memory",
    MISPLACED_DECLARATION: "a declaration where none may be",
    UNKNOWN_REGISTER: "a special register that is not known",
    BLOCK_SHAPE: "a block shape that the kernel does not allow",
    INTERNAL: "a mistake in anywarp's compiler",
    UNSUPPORTED: "an operation that the device does not have yet",
    OLD_LLVM: "an LLVM that is too old",
    NO_LINKER: "no linker for code objects",
    TOO_MUCH_SHARED: "more static shared memory than the architecture has",
    LINKER_FAILED: "a linker that failed",
    TOO_MUCH_LOCAL: "more local memory than a thread has",
}
"""Every code of this module with its title; each has a page in `docs/diagnostics/`."""


def problem(
    code: str, message: str, source: Source | None = None, span: Span | None = None, help: str = "", **details: Any
) -> AnywarpError:
    """Build the error for `code`; the caller raises it."""
    return AnywarpError(Diagnostic(code, message, "error", source, span, help, details))
