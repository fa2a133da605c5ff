"""Says where a header that the translation needs is included.

An include belongs before the first that is there, outside conditions and linkage blocks, and only once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anywarp.migrate.translate.edits import Edit, Need
from anywarp.migrate.translate.includes import guard_of
from anywarp.migrate.translate.unit import Unit


@dataclass(frozen=True)
class Wanted:
    """The edits that include the headers needed, and the names of the support files among them."""

    edits: tuple[Edit, ...]
    support: tuple[str, ...]


def needed(unit: Unit, needs: Sequence[Need], edits: Sequence[Edit]) -> Wanted:
    """Return the edits that include what is needed and not there yet, neither before nor after `edits`."""
    if not needs:
        return Wanted((), ())
    there = _there(unit, edits)
    texts, support = list[bytes](), list[str]()
    for each in {need.header: need for need in needs}.values():
        name = each.header[1:-1].decode()
        header = each.header
        if header.startswith(b'"'):
            support.append(name)
            header = b'"' + b"../" * (len(unit.path.parts) - 1) + header[1:]
        if header not in there:
            texts.append(b"#include " + header)
    if not texts:
        return Wanted((), tuple(support))
    line_end = b"\r\n" if b"\r\n" in unit.data else b"\n"
    place = place_of_include(unit)
    text = b"".join(each + line_end for each in texts)
    reason = "; ".join(dict.fromkeys(need.reason for need in needs))
    return Wanted((Edit(place, place, text, "needs", reason),), tuple(support))


def _there(unit: Unit, edits: Sequence[Edit]) -> set[bytes]:
    """Return the headers included outside conditions once the edits are applied, with quotes or brackets."""
    replaced = {(each.start, each.end): each.replacement for each in edits}
    found = set[bytes]()
    for include in unit.includes:
        if include.directive.conditions:
            continue
        new = replaced.get((include.start, include.end), unit.data[include.start : include.end])
        if isinstance(new, bytes):
            found.add(new)
    return found


def place_of_include(unit: Unit) -> int:
    """Return where includes are inserted: the start of a line, before the first include and what is around it."""
    code = unit.code
    first = len(code) - len(code.lstrip(b" \t\r\n\xef\xbb\xbf"))
    top = 3 if code.startswith(b"\xef\xbb\xbf") else 0
    earliest = max(top, code.rfind(b"\n", 0, first) + 1) if first < len(code) else top
    outer: int | None = None
    guard = guard_of(code)
    for index, each in enumerate(unit.directives):
        guards = each.start == guard or (index > 0 and unit.directives[index - 1].start == guard)
        once = each.word == b"pragma" and code[each.text : each.end].strip() == b"once" and outer is None
        if guards or once:
            earliest = min(each.end + 1, len(code))
        elif each.word.startswith(b"if") and not each.conditions:
            outer = each.start
        elif each.word == b"include":
            place = each.start if not each.conditions or outer is None else outer
            place = max(top, place)
            return place if b"{" not in code[:place] else earliest
    return earliest
