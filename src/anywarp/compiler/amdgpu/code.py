"""The text of a kernel under construction, and how its operations in rounding modes of their own are made."""

from __future__ import annotations

from anywarp.compiler.simd.text import Text


class Code(Text):
    """LLVM IR of one function. `apart`: an operation in another rounding mode is a function of its own (see `directed`)."""

    def __init__(self, prefix: str = "", *, apart: bool = False) -> None:
        super().__init__(prefix)
        self.apart = apart


class Head(Code):
    """Code at the start of the kernel, whose names differ from those of the code behind it."""

    def let(self, instruction: str) -> str:
        """Append an instruction and return the name of its result."""
        self._next += 1
        name = f"%h{self._next}"
        self.lines.append(f"  {name} = {instruction}")
        return name
