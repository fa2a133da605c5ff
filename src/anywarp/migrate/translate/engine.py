"""Translates the bytes of one file: asks the rules, resolves their edits, adds the headers they need, tells the problems.

Everything is a function of bytes, path and options, so that files can be translated in any process and in any order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from anywarp.diagnostics import Diagnostic, Source, Span
from anywarp.migrate.translate import dual, resolve, rules_unknown, support_files
from anywarp.migrate.translate.edits import Edit, Need, Outcome, Problem
from anywarp.migrate.translate.needs import needed
from anywarp.migrate.translate.registry import rewriters, rules
from anywarp.migrate.translate.rules import Rewriter
from anywarp.migrate.translate.unit import Options, Unit

SOURCES = frozenset((
    ".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".inc", ".ipp", ".tpp", ".ixx",
    ".cppm", ".impl",
))  # fmt: skip
"""Suffixes of CUDA C++ sources and headers, in lower case."""
MOST_TOLD = 500
"""Problems of one code that are told one by one for one file."""
LARGEST = 16 << 20
"""Bytes of the largest file that is translated: larger ones are data, or a trap."""


@dataclass(frozen=True)
class Translation:
    """The translated text, the flat edits that made it (in order, none overlapping), what a person should know of it,
    the names of the support files that it includes, and, where one text serves both vendors, the names and headers of
    CUDA for which it needs counterparts."""

    text: bytes
    edits: tuple[Edit, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    support: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    """Names like CUDA's that the file declares itself, which are then nobody else's in the tree."""


def is_source(path: PurePath) -> bool:
    """Say by the name whether a file is a source or header of CUDA C++."""
    return path.suffix.lower() in SOURCES


def rewriter_of(path: PurePath) -> Rewriter | None:
    """Return what rewrites files of that name that are no sources."""
    return next((each for each in rewriters() if each.wants(path)), None)


def translate(data: bytes, path: PurePath, options: Options) -> Translation:
    """Translate one file; `path` is relative to the root of the tree, and its name decides who translates.

    A file that cannot be translated comes back unchanged, with a diagnostic that says why.
    """
    refused = _refused(data, path)
    if refused is not None:
        return Translation(data, diagnostics=(refused,))
    unit = Unit(data, path, options)
    if path.name == dual.HEADER or (path.name.startswith("anywarp_") and support_files.exists(path.name)):
        return Translation(data, names=dual.names_of(unit) if options.keep_cuda else frozenset())
    if is_source(path):
        own = frozenset(name.decode() for name in rules_unknown.own_names(unit))
        done = replace(_settled(unit, _asked(unit)), own=own)
        return replace(done, names=dual.names_of(unit)) if options.keep_cuda else done
    rewriter = rewriter_of(path)
    return Translation(data) if rewriter is None else _settled(unit, [tuple(rewriter.apply(unit))])


def _refused(data: bytes, path: PurePath) -> Diagnostic | None:
    if len(data) > LARGEST:
        size = f"{len(data) >> 20} MiB, more than {LARGEST >> 20}"
        help = "split the file, or translate without it if it is data"
        return Diagnostic("M101", f"{path} is too large to be a source: {size}", help=help)
    if b"\0" in data:
        return Diagnostic(
            "M102", f"{path} is no text: it holds bytes of zero", help="sources are read as UTF-8 or Latin-1"
        )
    return None


def _asked(unit: Unit) -> list[Sequence[Outcome]]:
    """Return what each rule whose words occur yields, in the order of the rules."""
    return [tuple(rule.apply(unit)) for rule in rules() if not rule.words or not rule.words.isdisjoint(unit.words)]


def _settled(unit: Unit, outcomes: Iterable[Sequence[Outcome]]) -> Translation:
    accepted = resolve.Accepted()
    problems, needs = list[Problem](), list[Need]()
    for yielded in outcomes:
        groups = defaultdict[int, list[Edit]](list)
        for each in yielded:
            if not isinstance(each, Need) and _is_unseen(unit, each.start, each.end):
                continue
            if isinstance(each, Problem):
                problems.append(each)
            elif isinstance(each, Need):
                needs.append(each)
            elif each.group:
                groups[each.group].append(each)
            else:
                accepted.offer((each,))
        for group in groups.values():
            accepted.offer(group)
    edits = accepted.in_order()
    wanted = needed(unit, needs, edits)
    for edit in wanted.edits:
        accepted.offer((edit,))
    problems = [
        each
        for each in problems
        if each.code not in ("M110", "M111", rules_unknown.CODE) or not accepted.covers(each.start, each.end)
    ]
    flat = resolve.flatten(unit.data, accepted.in_order())
    return Translation(resolve.apply(unit.data, flat), tuple(flat), tuple(_told(unit, problems)), wanted.support)


def _is_unseen(unit: Unit, start: int, end: int) -> bool:
    """Say whether a range lies in what no compiler for HIP sees."""
    ranges = unit.unseen
    index = bisect_right(ranges, (start, len(unit.data))) - 1
    return index >= 0 and ranges[index][0] <= start and end <= ranges[index][1]


def _told(unit: Unit, problems: list[Problem]) -> Iterable[Diagnostic]:
    """Yield the problems as diagnostics, in the order of their places, each once."""
    if not problems:
        return
    source = Source(str(unit.path), unit.data.decode("utf-8", "replace"))
    plain = unit.data.isascii()
    at = characters = 0
    counts = Counter[str]()
    for each in sorted(dict.fromkeys(problems), key=lambda problem: (problem.start, problem.code)):
        counts[each.code] += 1
        if counts[each.code] > MOST_TOLD:
            continue
        start, end = each.start, each.end
        if not plain:  # diagnostics count characters
            characters += len(unit.data[at:start].decode("utf-8", "replace"))
            at, start = start, characters
            end = start + len(unit.data[each.start : each.end].decode("utf-8", "replace"))
        yield Diagnostic(each.code, each.message, each.severity, source, Span(start, end), each.help)
    for code, count in counts.items():
        if count > MOST_TOLD:
            message = f"{unit.path} has {count - MOST_TOLD} more places with {code} than the {MOST_TOLD} that are told"
            yield Diagnostic(
                "M117", message, "warning", help="mend those, or leave the file out, and translate it again"
            )
