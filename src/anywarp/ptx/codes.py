"""The diagnostic codes of this room and the one way to raise them.

Codes are stable: users look them up with `anywarp explain`, and programs match on them, so a code is never given a new meaning.
"""

from __future__ import annotations

from typing import Any

from anywarp.diagnostics import AnywarpError, Diagnostic, Source, Span

UNEXPECTED = "P001"
BAD_CHARACTER = "P002"
ENDS_EARLY = "P003"
BAD_CONSTANT = "P004"
TOO_DEEP = "P005"
NOT_CLOSED = "P006"
NO_HEADER = "P007"
DEFINED_TWICE = "P008"
NOT_CONSTANT = "P009"
NO_SUCH_FUNCTION = "P010"
UNKNOWN_DIRECTIVE = "P011"
NOT_AN_IMAGE = "P020"
IMAGE_ENDS_EARLY = "P021"
DAMAGED_PAYLOAD = "P022"
TOO_LARGE = "P023"
UNKNOWN_COMPRESSION = "P024"
DAMAGED_ELF = "P025"
DAMAGED_ARCHIVE = "P026"
UNREADABLE = "P027"

TITLES: dict[str, str] = {
    UNEXPECTED: "unexpected text",
    BAD_CHARACTER: "a character that PTX does not have",
    ENDS_EARLY: "the text ends too early",
    BAD_CONSTANT: "a malformed or too large constant",
    TOO_DEEP: "nested too deeply",
    NOT_CLOSED: "a comment or string that is never closed",
    NO_HEADER: "no .version and .target at the start",
    DEFINED_TWICE: "a function defined twice",
    NOT_CONSTANT: "a constant expression that has no value",
    NO_SUCH_FUNCTION: "no such function in the module",
    UNKNOWN_DIRECTIVE: "an unknown directive",
    NOT_AN_IMAGE: "not a GPU image",
    IMAGE_ENDS_EARLY: "a GPU image that ends too early",
    DAMAGED_PAYLOAD: "a compressed payload that is damaged",
    TOO_LARGE: "a payload over the size limit",
    UNKNOWN_COMPRESSION: "an unknown compression",
    DAMAGED_ELF: "a damaged ELF file",
    DAMAGED_ARCHIVE: "a damaged or unsafe archive",
    UNREADABLE: "a file that cannot be read",
}
"""Every code of this room with its title; each has a page in `docs/diagnostics/`."""


def problem(
    code: str, message: str, source: Source | None = None, span: Span | None = None, help: str = "", **details: Any
) -> AnywarpError:
    """Build the error for `code`; the caller raises it."""
    return AnywarpError(Diagnostic(code, message, "error", source, span, help, details))
