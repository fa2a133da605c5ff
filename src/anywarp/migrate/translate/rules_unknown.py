"""Names that look like CUDA's, and that neither the catalogue nor the source itself knows: told, for nothing was done about them.

A name of a release of CUDA that the catalogue does not have, or of nobody, would otherwise stay in the output without a word.
What another file of the tree declares is known only when all of it was read: whoever translates the tree leaves that out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from anywarp.catalogue.identifiers import SUBJECTS, identifiers
from anywarp.migrate.translate.brackets import previous, word_before
from anywarp.migrate.translate.edits import Outcome, Problem
from anywarp.migrate.translate.rules_names import DECORATIONS
from anywarp.migrate.translate.scopes import NO_TYPE, is_anothers
from anywarp.migrate.translate.unit import Unit
from anywarp.migrate.translate.written import written

CODE = "M119"
_OTHERS = (
    "cuda",
    "cusolverDn",
    "cusolverSp",
    "cusolverMg",
    "cusolverRf",
    "cublasXt",
    "cupti",
    "nvjpeg",
    "cutensor",
    "cudss",
    "nvshmem",
)
"""Prefixes of NVIDIA's libraries that are no names of tables."""
_TYPE = re.compile(rb"(?:const|auto|void|bool|char|short|int|long|unsigned|signed|float|double|dim3|\w+_t|\w+[1-4])\Z")
_ENUM = re.compile(rb"\benum\b[^;{}()]*\{([^{}]*)\}")
_LINE = 1000


class Unknown:
    """Tells of each name with one of CUDA's prefixes that nobody is known to declare, once per file."""

    name = "unknown"
    words = frozenset[bytes]()

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        suspects = _suspects(unit)
        if not suspects:
            return
        told = own_names(unit)
        for match in unit.occurrences(suspects):
            name, place = match.group(), match.start()
            if (
                name in told
                or unit.code[match.end() : match.end() + 2] == b"##"
                or place in unit.apart
                or is_anothers(unit, place)
                or _is_asked(unit, place)
            ):
                continue
            if any(each.first <= place < each.last for each in unit.untaken):
                continue
            told.add(name)
            text = name.decode()
            message = f"{text} has a name like CUDA's, and neither the catalogue nor what was translated declares it: it is left as it is"
            hint = (
                "write this for HIP by hand if it is CUDA's; translate it with the files that declare it if it is not"
            )
            yield Problem(place, match.end(), CODE, message, hint)


def own_names(unit: Unit) -> set[bytes]:
    """Return those of the unit's names with a prefix of CUDA's, unknown to the catalogue, that it declares itself."""
    suspects = _suspects(unit)
    found = (
        {match.group() for match in unit.occurrences(suspects) if _declares(unit.code, match)}
        if suspects
        else set[bytes]()
    )
    if b"enum" in unit.words and suspects:
        for match in _ENUM.finditer(unit.code):
            parts = (re.match(rb"\s*(\w+)", part) for part in match[1].split(b","))
            found |= {part[1] for part in parts if part is not None} & suspects
    return found


def _suspects(unit: Unit) -> set[bytes]:
    looks = _prefixed()
    known = _known(unit.target.rocm)
    return {word for word in unit.words if word[:1] in b"cnC" and looks.match(word) and word not in known}


@cache
def _prefixed() -> re.Pattern[bytes]:
    """Return what a name with a prefix of CUDA's begins with, by the libraries that the catalogue has tables of."""
    stems = sorted({*SUBJECTS, *_OTHERS} - {"runtime", "driver", "cublaslt"})
    lower = "|".join(stems)
    upper = "|".join(stem.upper() for stem in stems if stem.islower())
    return re.compile(rf"(?:(?:{lower}|cu)[A-Z]|(?:{lower})_?[A-Z]|CU[a-z]\w|(?:{upper}|CUBLASLT|CU)_[A-Z])".encode())


@cache
def _known(rocm: str) -> frozenset[bytes]:
    return frozenset(name.encode() for name in (*identifiers(rocm), *written())) | DECORATIONS


def _is_asked(unit: Unit, place: int) -> bool:
    """Say whether a directive asks whether there is such a macro, which may well be given on a command line."""
    low = max(0, place - _LINE)
    line = unit.code[max(low, unit.code.rfind(b"\n", low, place) + 1) : place]
    return re.match(rb"\s*#\s*(?:if|ifdef|ifndef|elif|undef|elifdef|elifndef|pragma|error|warning)\b", line) is not None


def _declares(code: bytes, match: re.Match[bytes]) -> bool:
    """Say whether a macro, type, function, variable or parameter of that name is declared there, as far as the text around it tells."""
    at = previous(code, match.start())
    if at < 0:
        return False
    if code[max(0, at - 2) : at + 1] == b"...":
        return True  # a pack
    low = max(0, match.start() - _LINE)
    line = code[max(low, code.rfind(b"\n", low, match.start()) + 1) : match.start()]
    if re.match(rb"\s*#\s*define\s+\Z", line):
        return True
    after = code[match.end() : match.end() + 64].lstrip()[:2]
    before = code[at : at + 1]
    if before.isalnum() or before == b"_":
        word = word_before(code, match.start())
        if word in (b"struct", b"class", b"enum", b"union", b"namespace", b"typename", b"using"):
            return word not in (b"struct", b"enum", b"union", b"class") or after[:1] in (
                b"{",
                b":",
                b";",
                b",",
                b">",
                b"=",
            )
        return word not in NO_TYPE and not word.isdigit() and after[:1] in b";,=[({):<" and after != b"=="
    if before in (b"*", b"&"):
        if code[max(0, at - 1) : at] == b"(" and after[:1] == b")":
            return True  # a pointer to a function
        start = at
        while start > 0 and code[start - 1 : start] in (b"*", b"&", b" "):
            start -= 1
        apart = code[at + 1 : at + 2] == b" " and code[at - 1 : at] == b" "
        word = word_before(code, start)
        if not word or word in NO_TYPE or word.isdigit() or after[:1] not in b";,=[({)" or after == b"==":
            return False
        return _TYPE.match(word) is not None or not apart
    return before == b">" and code[at - 1 : at] not in (b"-", b" ", b">") and after[:1] in b";,=[({)" and after != b"=="


RULES = (Unknown(),)
