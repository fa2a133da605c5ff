"""Launches stay `<<<>>>`, which HIP's compiler takes, or become `hipLaunchKernelGGL` where the user wants the macro.

Brackets that a formatter has taken apart, `<< <` and `>> >`, are put together: nvcc takes them, clang does not.
The macro passes its first argument on as one: a kernel with commas in its template arguments goes into HIP_KERNEL_NAME.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anywarp.migrate.translate.brackets import arguments, call, closing, previous
from anywarp.migrate.translate.edits import Edit, Outcome, Problem
from anywarp.migrate.translate.unit import Unit
from anywarp.toolchain.spaced_launches import launches

_SIGN = re.compile(rb"[()\[\]{};]|<<<|>{3,}")
_REACH = 4096


class Launches:
    """Rewrites launches as calls of the macro."""

    name = "launches"
    words = frozenset[bytes]()

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.launch == "keep" or unit.options.keep_cuda:
            return
        at = unit.code.find(b"<<<")
        while at >= 0:
            yield from self._one(unit, at)
            at = unit.code.find(b"<<<", at + 3)

    def _one(self, unit: Unit, at: int) -> Iterator[Outcome]:
        code = unit.code
        start, last = kernel_before(code, at)
        close = configuration_end(code, at)
        if start < 0 or close < 0:
            if start >= 0 and close < 0:
                yield self._left(at, "its configuration does not end")
            return
        config = arguments(code, at + 2, close)
        places = call(code, close + 3)
        if places is None or not 2 <= len(config) <= 4:
            yield self._left(at, "its configuration is not of two to four arguments, or no arguments follow")
            return
        yield from self._edits(unit, (start, last), at, close, config, places)

    def _edits(
        self,
        unit: Unit,
        kernel: tuple[int, int],
        at: int,
        close: int,
        config: list[tuple[int, int]],
        places: tuple[int, int],
    ) -> Iterator[Outcome]:
        code = unit.code

        def edit(start: int, end: int, text: bytes) -> Edit:
            return Edit(start, end, text, self.name, "a launch by hipLaunchKernelGGL", group=at + 1)

        named = b"," in code[kernel[0] : kernel[1]]
        yield edit(kernel[0], kernel[0], b"hipLaunchKernelGGL(" + b"HIP_KERNEL_NAME(" * named)
        if named:
            yield edit(kernel[1], kernel[1], b")")
        yield edit(kernel[1] if not unit.data[kernel[1] : at].strip() else at, at + 3, b", ")
        for index, (start, end) in enumerate(config):
            text = code[start:end]
            if index < 2 and not (text.startswith(b"dim3(") and closing(code, start + 4) == end - 1):
                yield edit(start, start, b"dim3(")
                yield edit(end, end, b")")
            elif index >= 2 and b"," in text and not text.startswith(b"("):
                yield edit(start, start, b"(")
                yield edit(end, end, b")")
        rest = b", 0" * (4 - len(config))
        empty = not code[places[0] + 1 : places[1]].strip()
        begin = config[-1][1] if not unit.data[config[-1][1] : close].strip() else close
        yield edit(begin, places[0] + 1, rest + (b"" if empty else b", "))

    def _left(self, at: int, why: str) -> Problem:
        hint = "write this launch as hipLaunchKernelGGL by hand, or translate with --launch keep"
        return Problem(at, at + 3, "M116", f"this launch is left as it is: {why}", hint)


class ApartLaunches:
    """Puts the brackets of launches together."""

    name = "launch-brackets"
    words = frozenset[bytes]()

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        code = unit.code
        for opens, closes in launches(code.decode("latin-1")):
            start, last = kernel_before(code, opens[0])
            if start < 0 or code[start:last].endswith(b"operator") or call(code, closes[1]) is None:
                continue
            reason = "HIP's compiler wants the brackets of a launch together"
            yield Edit(*opens, b"<<<", self.name, reason, group=opens[0] + 1)
            if code[slice(*closes)] != b">>>":
                yield Edit(*closes, b">>>", self.name, reason, group=opens[0] + 1)


def configuration_end(code: bytes, at: int) -> int:
    """Return the place of the `>>>` that belongs to the `<<<` at `at`, or -1."""
    depth = 0
    for match in _SIGN.finditer(code, at + 3, min(len(code), at + 3 + _REACH)):
        sign = match.group()
        if sign in (b"(", b"[", b"{"):
            depth += 1
        elif sign in (b")", b"]", b"}"):
            depth -= 1
        elif depth == 0 and sign.startswith(b">>>"):
            return match.end() - 3
        if depth < 0 or (depth == 0 and sign in (b";", b"<<<")):
            return -1
    return -1


def kernel_before(code: bytes, at: int) -> tuple[int, int]:
    """Return the range of the expression before `<<<`: a name with qualifiers and template arguments, a member, or `(*f)`."""
    last = previous(code, at)
    low = max(0, at - _REACH)
    place = last
    start = -1
    while place >= low:
        sign = code[place : place + 1]
        if sign == b">" and code[place - 1 : place] != b"-":
            place = previous(code, _opening(code, place, b"<", b">", low))
            continue
        if sign in (b"]", b")"):
            if sign == b")" and start >= 0:
                break
            place = _opening(code, place, b"[" if sign == b"]" else b"(", sign, low)
            start = place
            if sign == b")":
                break
            place = previous(code, place)
            continue
        if not (sign.isalnum() or sign == b"_"):
            break
        while place >= low and (code[place : place + 1].isalnum() or code[place : place + 1] == b"_"):
            place -= 1
        start = place + 1
        place = previous(code, start)
        if code[place - 1 : place + 1] in (b"::", b"->"):
            start, place = place - 1, previous(code, place - 1)
        elif code[place : place + 1] == b".":
            start, place = place, previous(code, place)
        else:
            break
    return (start, last + 1) if start >= 0 else (-1, -1)


def _opening(code: bytes, place: int, opens: bytes, closes: bytes, low: int) -> int:
    """Return the place of the bracket that opens what `place` closes, or `low`."""
    depth = 0
    for at in range(place, low - 1, -1):
        sign = code[at : at + 1]
        if sign == closes and not (closes == b">" and code[at - 1 : at] == b"-"):
            depth += 1
        elif sign == opens:
            depth -= 1
            if depth == 0:
                return at
        elif sign in (b";", b"{") and closes == b">":
            return low
    return low


RULES = (ApartLaunches(), Launches())
