"""Blanks comments, literals and header names in a source, so that what is left can be searched without knowing them.

Every byte keeps its place. Each comment or literal is found by its beginning and jumped over: that costs the same for
a comment of any length, and no text makes it slower or larger than in proportion.
"""

from __future__ import annotations

import re

_BEGIN = re.compile(rb"//|/\*|[\"']")
_STRING = re.compile(rb'"[^"\\\n]*(?:\\(?:\r\n|[\s\S])[^"\\\n]*){0,10000}"?')
_CHARACTER = re.compile(rb"'(?:\\[^\n][0-7a-fA-F{}]*|[^'\\\n]){1,12}'")
_RAW_PREFIX = re.compile(rb"(?:\A|\W)(?:u8|[uUL])?R\Z")
_RAW = re.compile(rb'"([^ ()\\\t\v\f\n"]{0,16})\(')
_HEADER_NAME = re.compile(rb"#[ \t]*(?:(?:include|include_next|import)[ \t]*<([^>\n]*)>|(?:error|warning)\b([^\n]*))")
_HAS_INCLUDE = re.compile(rb"__has_include(?:_next)?\s*\(\s*<([^>\n]*)>")
_SPACES = bytes(sign if sign == 0x0A else 0x20 for sign in range(256))


def blanked(data: bytes) -> bytes:
    """Return the text with spaces for comments, the inside of literals, header names and the words of #error; line ends stay."""
    parts, at = list[bytes](), 0
    begin = _BEGIN.search(data)
    while begin is not None:
        start, end = begin.start(), _end(data, begin)
        if end <= start:  # an apostrophe that opens nothing
            begin = _BEGIN.search(data, start + 1)
            continue
        parts += (data[at:start], _blank(data[start:end]))
        at = end
        begin = _BEGIN.search(data, end)
    code = b"".join((*parts, data[at:])) if parts else data
    if b"#" in code:
        code = _HEADER_NAME.sub(_blank_inside, code)
    return _HAS_INCLUDE.sub(_blank_inside, code) if b"__has_include" in code else code


def _end(data: bytes, begin: re.Match[bytes]) -> int:
    """Return where what begins there ends; at its start, where it is nothing."""
    start, sign = begin.start(), begin.group()
    if sign == b"//":
        return _line_end(data, start)
    if sign == b"/*":
        end = data.find(b"*/", start + 2)
        return len(data) if end < 0 else end + 2
    if sign == b"'":
        before = data[start - 1 : start]
        if before.isalnum() and before in b"0123456789abcdefABCDEF" and data[max(0, start - 2) : start] != b"u8":
            return start  # it separates digits (C++14)
        match = _CHARACTER.match(data, start)
        return start if match is None else match.end()  # one alone, as in `#error don't`, is nothing
    if data[start - 1 : start] == b"R" and _RAW_PREFIX.search(data[max(0, start - 4) : start]) is not None:
        raw = _RAW.match(data, start)
        if raw is not None:
            close = b")" + raw.group(1) + b'"'
            end = data.find(close, raw.end())
            return len(data) if end < 0 else end + len(close)
    match = _STRING.match(data, start)
    assert match is not None
    return match.end()


def _line_end(data: bytes, start: int) -> int:
    """Return the end of a comment to the end of the line, which a backslash continues."""
    end = data.find(b"\n", start)
    while end >= 0 and (data[end - 1 : end] == b"\\" or data[end - 2 : end] == b"\\\r"):
        end = data.find(b"\n", end + 1)
    return len(data) if end < 0 else end


def _blank(text: bytes) -> bytes:
    quote, spaces = text[:1], text.translate(_SPACES)
    if quote == b"/":
        return spaces
    return quote + spaces[1:-1] + quote if len(text) > 1 and text.endswith(quote) else quote + spaces[1:]


def _blank_inside(match: re.Match[bytes]) -> bytes:
    text, index = match.group(), match.lastindex
    if index is None:
        return text
    start, end = match.start(index) - match.start(), match.end(index) - match.start()
    return text[:start] + b" " * (end - start) + text[end:]
