"""Names and texts from elsewhere as they may be shown: on one line, without control characters, with every odd byte visible.

A file may be called `\\x1b]0;...` or hold such text; a terminal, a log or a report must not obey it.
"""

from __future__ import annotations

import re
import unicodedata

_PLAIN = re.compile(r"[ -~]*")
_ODD_KINDS = frozenset(
    {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
)  # control, format (bidirectional marks), surrogates, line separators


def visible(text: str) -> str:
    """Return `text` with control and format characters, lone surrogates and line ends written as escapes: `\\n`, `\\x1b`, `\\u202e`.

    A surrogate that stands for a byte that is not UTF-8 (as in `os.fsdecode`) is shown as that byte: `\\xff`.
    """
    if _PLAIN.fullmatch(text):
        return text
    return "".join(_visible(c) for c in text)


def shorten(text: str, width: int) -> str:
    """Return `text`, visible, in at most `width` characters, its middle left out where it is longer."""
    text = visible(text)
    if len(text) <= width:
        return text
    head = (width - 1) // 2
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"


def _visible(c: str) -> str:
    if unicodedata.category(c) not in _ODD_KINDS:
        return c
    code = ord(c)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return c.encode("unicode_escape").decode() if code < 0xD800 or code > 0xDFFF else f"\\u{code:04x}"
