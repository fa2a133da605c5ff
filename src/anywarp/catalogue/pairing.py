"""Pair what CUDA declares with what ROCm declares: the name of the counterpart, and whether two declarations take the same arguments.

A forward is only claimed where every parameter has a known conversion; what differs is named, so that a person can decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from anywarp.catalogue.c_facts import Facts, Function
from anywarp.catalogue.library_sources import POINTERS, SAME_BYTES

Pairs = Mapping[str, str]


def counterpart_names(name: str, rules: tuple[tuple[str, str], ...]) -> list[str]:
    r"""Return the candidates for the counterpart's name, in order; in a rule \\1 is a group and \\U1 the group with a capital."""
    found: list[str] = []
    for pattern, replacement in rules:
        match = re.fullmatch(pattern, name)
        if match:
            text = replacement
            for number, group in enumerate(match.groups(default=""), start=1):
                text = text.replace(f"\\U{number}", group[:1].upper() + group[1:]).replace(f"\\{number}", group)
            found.append(text)
    return found


def base_of(text: str) -> tuple[str, int]:
    """Return a type without qualifiers, and how many pointers (or arrays) it is away."""
    if "(" in text:
        return "(*)", 0
    stars = text.count("*") + len(re.findall(r"\[\w*\]", text))
    words = re.findall(r"\w+", re.sub(r"\[\w*\]", "", text))
    return " ".join(w for w in words if w not in ("const", "struct", "enum", "union", "restrict", "__restrict")), stars


def settled(base: str, facts: Facts) -> tuple[str, int]:
    """Follow aliases to a name that `SAME_BYTES`, an enumeration, a struct or C itself knows; with pointers on the way."""
    stars = 0
    for _ in range(6):
        if base in POINTERS:
            return POINTERS[base][0], stars + POINTERS[base][1]
        if base in SAME_BYTES:
            return SAME_BYTES[base], stars
        entry = facts.types.get(base)
        under = (
            entry.definition if entry and entry.kind == "alias" else facts.resolved.get(base, "") if not entry else ""
        )
        if not under or under == base:
            return base, stars
        base, more = base_of(under)
        stars += more
    return base, stars


def differences(
    ours: Function, mine: Facts, theirs: Function, their_facts: Facts, pairs: Pairs, *, strict: bool = True
) -> str:
    """Say how two declarations differ, empty where every argument converts; not `strict`: counts and enumerations only."""
    if len(ours.parameters) != len(theirs.parameters):
        return f"takes {len(ours.parameters)} parameters, {theirs.name} {len(theirs.parameters)}"
    for (kind, name), (their_kind, _) in zip(ours.parameters, theirs.parameters, strict=True):
        if not _same(kind, their_kind, mine, their_facts, pairs, strict=strict):
            return f"{name}: {kind} against {their_kind}"
    if not _same(ours.result, theirs.result, mine, their_facts, pairs, strict=strict):
        return f"returns {ours.result}, {theirs.name} {theirs.result}"
    return ""


def _same(kind: str, their_kind: str, mine: Facts, theirs: Facts, pairs: Pairs, *, strict: bool) -> bool:
    base, stars = base_of(kind)
    their_base, their_stars = base_of(their_kind)
    if not strict and their_base == "(*)":
        return True
    counterpart = pairs.get(base)
    if counterpart is not None and (
        counterpart == their_base
        or theirs.resolved.get(their_base) == counterpart
        or theirs.resolved.get(counterpart) == their_base
    ):
        return stars == their_stars
    if counterpart is not None and theirs.resolved.get(counterpart, counterpart) == theirs.resolved.get(
        their_base, "?"
    ):
        return stars == their_stars
    if counterpart is not None and settled(counterpart, theirs) == settled(their_base, theirs):
        return stars == their_stars
    first, more = settled(base, mine)
    second, their_more = settled(their_base, theirs)
    stars, their_stars = stars + more, their_stars + their_more
    handle = base in mine.types and mine.types[base].kind == "handle"
    if handle and (their_base == "void" or not strict):
        return True
    if first == second:
        return stars == their_stars
    if "void" in (first, second):
        return stars == their_stars > 0
    words = {first, second}
    if stars == their_stars and words in ({"int64", "uint64"}, {"int", "unsigned"}, {"char", "byte"}):
        return True
    return pairs.get(first) == second and stars == their_stars


def alike(name: str, own: list[str], theirs: list[str]) -> list[str]:
    """Return the constants of a paired enumeration that differ in spelling only: CU_LIMIT_STACK_SIZE, hipLimitStackSize."""
    mine = _remainders(name, _shared(own))
    prefix = _shared(theirs)
    found: list[tuple[int, str]] = []
    for other in theirs:
        both = mine & _remainders(other, prefix)
        if both:
            found.append((-max(map(len, both)), other))
    return [other for _, other in sorted(found)]


def _shared(names: list[str]) -> str:
    first, last = (min(names), max(names)) if len(names) > 1 else ("", "")
    size = next((i for i, (a, b) in enumerate(zip(first, last)) if a != b), min(len(first), len(last)))
    return first[:size]


def _remainders(name: str, shared: str) -> set[str]:
    # what is left after each word of what all constants begin with, spelled in one way
    cuts = [
        i
        for i in range(2, len(shared) + 1)
        if shared[i - 1 : i] == "_" or name[i : i + 1].isupper() or name[i : i + 1].isdigit()
    ]
    return {name[i:].replace("_", "").lower().replace("maximum", "max") for i in cuts} - {""}


def first_of(names: list[str], there: Callable[[str], bool]) -> str:
    """Return the first name that is there, or nothing."""
    return next((name for name in names if there(name)), "")
