"""PTX text to tokens: one compiled expression and a cursor that holds the token looked at.

Every alternative of the expression consumes something or is the end, so matching never backtracks into the skipped part and
stays linear in the text, whatever the text is.
"""

from __future__ import annotations

import re
from typing import NoReturn

from anywarp.diagnostics import Source, Span
from anywarp.ptx import codes

NESTING_LIMIT = 128
"""Most scopes, lists or parentheses inside one another; compilers stay below ten."""

SKIP = r"(?:[ \t\r\n\f\v]+|//[^\n]*|/\*[\s\S]*?\*/|#(?:line\b|[ \t]+(?=\d))[^\n]*)*"
"""Space, comments, and what a C preprocessor leaves: `#line 3 "a.cu"`, `# 3 "a.cu"` (section 4.2)."""
IDENTIFIER = r"(?:[A-Za-z][\w$]*|[_$%][\w$]+|_)"

TOKEN = re.compile(
    SKIP
    + r"(?:(?P<float>0[fF][0-9a-fA-F]{8}(?!\w)|0[dD][0-9a-fA-F]{16}(?!\w)"
    + r"|(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?(?!\w)|\d+[eE][+-]?\d+(?!\w))"
    + r"|(?P<integer>(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\d*)U?(?!\w))"
    + rf"|(?P<word>{IDENTIFIER})"
    + r"|(?P<dot>\.\w+(?:::\w+)*)"
    + r"|(?P<mark><<|>>|<=|>=|==|!=|&&|\|\||(?!/\*)[-+*/%&|^~!<>=?:;,(){}\[\]@])"
    + r'|(?P<string>"[^"\n]*")'
    + r"|(?P<number>\d\w*)"
    + r"|(?P<open>/\*[\s\S]*|\"[^\n]*)"
    + r"|(?P<end>\Z)"
    + r"|(?P<bad>[\s\S]))",
    re.ASCII,
)


_MATCH = TOKEN.match
_REFUSED = frozenset(("number", "open", "bad"))


class Cursor:
    """A place in a text: `kind`, `value` and `start` describe the token there, `stop` is the end of the one before."""

    __slots__ = ("closing", "depth", "end", "kind", "pos", "source", "start", "stop", "text", "value")

    def __init__(self, source: Source, start: int, end: int, closing: dict[int, int] | None = None) -> None:
        self.source = source
        self.text = source.text
        self.end = end
        self.closing = closing or {}
        self.depth = 0
        self.kind = ""
        self.value = ""
        self.start = self.stop = self.pos = start
        self.advance()

    def advance(self) -> str:
        """Move to the next token and return the value of the one left."""
        left = self.value
        self.stop = self.pos
        match = _MATCH(self.text, self.pos, self.end)
        assert match is not None and match.lastgroup is not None  # the last two alternatives match anything
        self.kind = kind = match.lastgroup
        self.value = value = match[kind]
        self.pos = match.end()
        self.start = self.pos - len(value)
        if kind in _REFUSED:
            self._refuse()
        return left

    def seek(self, pos: int) -> None:
        """Go to the first token at or after `pos`."""
        self.pos = pos
        self.advance()

    def at(self, *values: str) -> bool:
        """Tell whether the token is one of `values`."""
        return self.value in values

    def take(self, value: str) -> bool:
        """Step over `value` if it is there."""
        if self.value != value:
            return False
        self.advance()
        return True

    def expect(self, value: str, where: str) -> None:
        """Step over `value` or report that it is missing `where`."""
        if self.value != value:
            self.unexpected(f"`{value}` {where}")
        self.advance()

    def word(self, what: str) -> str:
        """Step over an identifier and return it."""
        if self.kind != "word":
            self.unexpected(what)
        return self.advance()

    def span(self) -> Span:
        """Return the range of the token looked at."""
        return Span(self.start, max(self.pos, self.start + 1))

    def fail(self, code: str, message: str, help: str = "", span: Span | None = None) -> NoReturn:
        """Raise a diagnostic at the token looked at, or at `span`."""
        raise codes.problem(code, message, self.source, span or self.span(), help)

    def unexpected(self, wanted: str) -> NoReturn:
        """Report that something else than `wanted` is here."""
        if self.kind == "end":
            self.fail(codes.ENDS_EARLY, f"the text ends where {wanted} is expected", "the PTX seems to be cut off")
        shown = self.value if len(self.value) <= 40 else self.value[:37] + "..."
        self.fail(codes.UNEXPECTED, f"expected {wanted}, found `{shown}`")

    def enter(self) -> None:
        """Count one more level of nesting, refusing more than NESTING_LIMIT; `leave` takes it back."""
        self.depth += 1
        if self.depth > NESTING_LIMIT:
            self.fail(codes.TOO_DEEP, f"nested more than {NESTING_LIMIT} deep")

    def leave(self) -> None:
        """Count one level of nesting less."""
        self.depth -= 1

    def _refuse(self) -> NoReturn:
        """Report a piece of text that is no token."""
        if self.kind == "number":
            help = "0f takes 8 hexadecimal digits, 0d takes 16, octal digits go up to 7"
            self.fail(codes.BAD_CONSTANT, f"`{self.value[:40]}` is not a number", help)
        if self.kind == "open":
            what = "comment" if self.value.startswith("/*") else "string"
            self.fail(codes.NOT_CLOSED, f"this {what} is never closed", span=Span(self.start, self.start + 2))
        help = "" if " " < self.value < "\x7f" else "PTX is ASCII text; the file may be damaged or compressed"
        self.fail(codes.BAD_CHARACTER, f"the character {self.value!r} has no meaning in PTX", help)
