"""Tells a name that the user declares in a class or name space of their own from CUDA's of the same spelling.

The text shows which occurrences look like declarations; only then is the tree asked what is around them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from anywarp.migrate.translate.brackets import call, closing, previous, word_before
from anywarp.migrate.translate.unit import Unit

if TYPE_CHECKING:
    from tree_sitter import Node

NO_TYPE = frozenset(
    b"return else case do throw co_return co_yield co_await goto new delete not and or typedef using sizeof defined define if".split()
)
_MOST = 64
"""Declarations that are looked at; a file with more of CUDA's names declared is a copy of CUDA's header."""
_BODY = re.compile(rb"\s*(?:(?:const|noexcept|override|final)\s*)*(?::[^;{}]{0,400})?\{")
_LINE = 1000
"""Bytes before a name that are looked at for what its line is."""
_SCOPES = ("namespace_definition", "class_specifier", "struct_specifier", "union_specifier")


def is_anothers(unit: Unit, place: int) -> bool:
    """Say whether the name at `place` is a member, or qualified with a name space or class."""
    code = unit.code
    at = place - 1
    while at >= 0 and code[at] in b" \t\r\n\\":
        at -= 1
    if at < 0:
        return False
    before = code[at : at + 1]
    if before == b"." and code[at - 1 : at] != b".":
        return True
    if before == b">" and code[at - 1 : at] == b"-":
        return True
    if before == b":" and code[at - 1 : at] == b":":
        qualifier = word_before(code, at - 1)
        if not qualifier or qualifier in (b"return", b"else", b"case", b"throw", b"in"):
            return False
        return not _ends_directive(code, at - 1)
    return code[place - 1] >= 0x80 if place else False


def _ends_directive(code: bytes, place: int) -> bool:
    """Say whether the last text before `place` is a directive's, on a line of its own."""
    end = place
    while end > 0 and code[end - 1] in b" \t\r\n":
        end -= 1
    if b"\n" not in code[end:place]:
        return False
    low = max(0, end - 1000)
    return code[max(low, code.rfind(b"\n", low, end) + 1) : end].lstrip().startswith(b"#")


def own_scopes(unit: Unit, matches: Iterable[re.Match[bytes]]) -> dict[bytes, list[tuple[int, int]]]:
    """Return the ranges in which names of CUDA's spelling are the user's own, by name."""
    found = dict[bytes, list[tuple[int, int]]]()
    matches = list(matches)
    for match in matches:
        owner = _owner(unit.code, match)
        if owner:
            found.setdefault(match.group(), []).extend(_bodies(unit.code, owner))
    declared = [match for match in matches if _declares(unit.code, match, b"enum" in unit.words)]
    if not declared or len(declared) > _MOST or unit.tree is None:
        return found
    root = unit.tree.root_node
    for match in declared:
        scope = _scope(root.descendant_for_byte_range(match.start(), match.end()))
        if scope is not None:
            found.setdefault(match.group(), []).append((scope.start_byte, scope.end_byte))
    return found


def _owner(code: bytes, match: re.Match[bytes]) -> bytes:
    """Return the class or name space of which the name is defined here as a function (`Pool::cudaFree(...) {`), or nothing."""
    if code[match.start() - 2 : match.start()] != b"::":
        return b""
    places = call(code, match.end())
    if places is None or _BODY.match(code, places[1] + 1) is None:
        return b""
    return word_before(code, match.start() - 2)


def _bodies(code: bytes, owner: bytes) -> list[tuple[int, int]]:
    """Return the ranges of the functions of a class or name space that are defined outside of it."""
    found = list[tuple[int, int]]()
    for match in re.finditer(rb"\b" + owner + rb"::~?\w+\s*(?=\()", code):
        places = call(code, match.end())
        body = _BODY.match(code, places[1] + 1) if places is not None else None
        end = closing(code, body.end() - 1) if body is not None else -1
        if body is not None and end >= 0:
            found.append((body.start(), end))
    return found


def _declares(code: bytes, match: re.Match[bytes], enums: bool) -> bool:
    """Say whether a function or an enumerator of that name might be declared there."""
    at = previous(code, match.start())
    low = max(0, match.start() - _LINE)
    if at < 0 or code.rfind(b"#", max(low, code.rfind(b"\n", low, match.start()) + 1), match.start()) >= 0:
        return False
    before = code[at : at + 1]
    if before in (b"{", b","):
        return enums and re.match(rb"\s*[,=}]", code[match.end() : match.end() + 64]) is not None
    if not (before.isalnum() or before in (b"_", b"*", b"&", b">")):
        return False
    word = word_before(code, match.start())
    if word in NO_TYPE or word.isdigit():
        return False
    if (
        before not in (b"*", b"&", b">")
        and re.match(rb"\s*(?:[;,\[]|=(?!=))", code[match.end() : match.end() + 64]) is not None
    ):
        return True  # a field
    places = call(code, match.end())
    if places is None:
        return False
    after = code[places[1] + 1 : places[1] + 65].lstrip()
    if before in (b"*", b"&", b">") and not after.startswith((b"{", b"const", b"noexcept", b"override", b";")):
        return False
    return after.startswith((b"{", b";", b"const", b"noexcept", b"override", b"=", b":", b"->"))


def _scope(node: Node | None) -> Node | None:
    """Return the innermost class or name space around a declaration, or the scoped enumeration, or None (it is global)."""
    for _ in range(500):
        if node is None:
            return None
        if (
            node.type in ("compound_statement", "argument_list")
            and node.parent is not None
            and node.parent.type != "namespace_definition"
        ):
            return None  # inside a function: a call, or a local declaration
        if node.type == "enum_specifier" and any(each.type in ("class", "struct") for each in node.children):
            return node
        if node.type in _SCOPES:
            return node
        node = node.parent
    return None
