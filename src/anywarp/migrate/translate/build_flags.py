"""Turning a list of nvcc's options into hipcc's, word by word, from the tables of options and libraries.

CMake, make, setup.py and the rest write such lists in their own ways; what an option becomes is the same in all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anywarp.catalogue import migration
from anywarp.toolchain.option_table import JOINED, SPELLINGS, Option

_TELLING = re.compile(
    r"-{1,2}(?:gencode|generate-code|gpu-architecture|gpu-code|expt-relaxed-constexpr|expt-extended-lambda|extended-lambda"
    r"|use_fast_math|maxrregcount|ptxas-options|compiler-options|nvlink-options|cudafe-options|relocatable-device-code"
    r"|generate-line-info|device-debug|device-c|lineinfo|Xcompiler|Xptxas|Xcudafe|Xnvlink|cudart|rdc"
    r"|compiler-bindir|ccbin|diag-suppress|default-stream|forward-unknown-to-host-compiler)(?:=|$)"
    r"|-Werror=(?:all-warnings|cross-execution-space-call)|-arch=(?:sm_|compute_|native$|all)|-{1,2}(?:ftz|prec-div|prec-sqrt|fmad)=(?:true|false)"
)
"""Options that no compiler but nvcc has, so that a list with one of them is nvcc's wherever it stands."""

_KINDS_OF_WARNINGS = frozenset(
    "all-warnings cross-execution-space-call reorder default-stream-launch missing-launch-bounds ext-lambda-captures-this"
    " deprecated-declarations".split()
)
CUDA_FOLDER = re.compile(r"/(?:usr/local|opt)/cuda(?:-\d+(?:\.\d+)*)?(?![\w.-])(?P<lib>(?:/lib64(?:/stubs)?(?!\w))?)")
"""The usual folder of a CUDA toolkit in a text, with that of its libraries; `rocm_path` says what takes its place."""
_WORD = re.compile(
    r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|\$\((?:[^()]|\([^()]*\))*\)|\$\{[^}]*\}|\\.|[^\s"'\\])+""", re.DOTALL
)
_AMBIGUOUS = frozenset({"-t", "-e", "-m", "-h", "-V", "-r", "-x"})
"""One-letter options, of which other programs have their own."""
_QUOTES = "\"'"


@dataclass(frozen=True)
class Change:
    """Words `[first, last)` of a list become `words`; where `refused` says why, they stay as they are."""

    first: int
    last: int
    words: tuple[str, ...]
    reason: str
    refused: str = ""
    library: bool = False


@dataclass(frozen=True)
class _Read:
    """One option found in a list: how it is spelled, its value (None for none), and where its last word ends."""

    option: Option
    spelling: str
    value: str | None
    last: int


def split_words(text: str, at: int = 0) -> list[tuple[int, int, str]]:
    """Return (start, end, word) of the words of a command line, quotes kept; offsets count from `at`."""
    return [(at + m.start(), at + m.end(), m.group()) for m in _WORD.finditer(text)]


def is_nvcc(words: Sequence[str]) -> bool:
    """Tell whether a list of words holds an option that only nvcc has."""
    return any(_TELLING.match(word.strip(_QUOTES)) for word in words)


def rocm_path(text: str) -> str:
    """Return a text with the usual folders of a CUDA toolkit replaced by ROCm's."""
    return CUDA_FOLDER.sub(lambda m: "/opt/rocm" + ("/lib" if m["lib"] else ""), text)


def library(name: str) -> migration.Row | None:
    """Return the row of a library of CUDA's by the name that -l takes; None for one that is not CUDA's."""
    row = migration.by("link_libraries", "library").get(name)
    return row if row is None or row["conversion"] != "rename" or row["target"] != name else None


def translate_words(words: Sequence[str], architecture: str) -> list[Change]:
    """Return the changes that make a list of nvcc's options one of hipcc's; what needs none is not mentioned.

    The first option that names architectures becomes the one of the target, further ones are dropped.
    """
    changes: list[Change] = []
    named = any("--offload-arch" in word for word in words)
    index = 0
    while index < len(words):
        read = _read(words, index)
        change = _option_change(words, index, read, architecture, named) if read else _other_change(words, index)
        if change is not None:
            changes.append(change)
            named = named or change.words[:1] == (f"--offload-arch={architecture}",)
        index = max(index + 1, read.last if read else 0)
    return changes


def _read(words: Sequence[str], index: int) -> _Read | None:
    word = words[index].strip(_QUOTES)
    if word == "-t" and index + 1 < len(words) and words[index + 1].isdecimal():
        return _Read(SPELLINGS["-t"], word, words[index + 1], index + 2)
    if not word.startswith("-") or word in _AMBIGUOUS - {"-x"}:
        return None
    name, equals, value = word.partition("=")
    option = SPELLINGS.get(word) or (SPELLINGS.get(name) if equals else None)
    if option is None:
        joined = next((j for j in JOINED if word.startswith(j) and len(word) > len(j)), "")
        if not joined or joined in _AMBIGUOUS:
            return None
        return _Read(SPELLINGS[joined], joined, word[len(joined) :], index + 1)
    if equals and word not in SPELLINGS:
        return _Read(option, name, value, index + 1)
    follows = words[index + 1].strip(_QUOTES) if index + 1 < len(words) else None
    if option.kind == "flag" or follows is None:
        return _Read(option, word, None, index + 1)
    if option.kind == "bool" and follows not in ("true", "false"):
        return _Read(option, word, None, index + 1)
    if option.name == "Werror" and not set(follows.split(",")) <= _KINDS_OF_WARNINGS:
        return _Read(option, word, None, index + 1)
    return _Read(option, word, follows, index + 2)


def _option_change(words: Sequence[str], index: int, read: _Read, architecture: str, named: bool) -> Change | None:
    row = migration.by("nvcc_options", "option")[read.option.name]
    kind, target, reason = row["conversion"], row["target"], row["reason"]
    if kind == "refuse":
        return Change(index, read.last, (), f"{read.spelling}: {reason}", refused=reason)
    if kind == "same":
        return _same_change(words, index, read, target)
    if kind == "architecture":
        if read.spelling == "-code" and read.value is None:
            return None
        new = () if named else (target.format(_architecture(read.value, architecture)),)
    elif kind == "drop":
        new = ()
    else:
        new = _converted(kind, target, read)
    if new is None or list(new) == list(words[index : read.last]):
        return None
    new = tuple(map(rocm_path, new))
    return Change(index, read.last, new, f"{read.spelling} of nvcc" + (f": {reason}" if reason else ""))


def _converted(kind: str, target: str, read: _Read) -> tuple[str, ...] | None:
    value = read.value or ""
    if kind == "flag":
        return tuple(target.split())
    if kind == "bool":
        return (target.split("|")[value == "false"],)
    if kind == "value":
        return (target.format(value),)
    if kind == "language":
        return ("-x", "hip") if value == "cu" else None
    if kind == "host":
        return tuple(_list(value))
    if kind == "linker":
        return tuple(target.format(part) for part in _list(value))
    if kind == "ptxas":
        return (target,) if set(_list(value)) & {"-v", "--verbose"} else ()
    if kind == "werror":
        return None if read.value is None else ((target,) if "all-warnings" in value else ())
    raise ValueError(kind)


def _list(value: str) -> list[str]:
    """Return the options in the value of -Xcompiler: separated by commas or blanks, unless one bracket holds them."""
    if "$" in value and re.fullmatch(r"\$[({].*[)}]", value, re.DOTALL):
        return [value]
    joined: list[str] = []
    for part in re.split(r"[,\s]+", value.strip(_QUOTES)):
        if joined and joined[-1].startswith("-Wl") and not part.startswith("-"):
            joined[-1] += "," + part  # -Wl,-rpath,/x: what follows belongs to it
        elif joined and joined[-1].startswith("-Wl") and joined[-1].count(",") == 0:
            joined[-1] += "," + part
        elif part:
            joined.append(part)
    return joined


def _architecture(value: str | None, architecture: str) -> str:
    return "native" if value == "native" else architecture


def _same_change(words: Sequence[str], index: int, read: _Read, target: str) -> Change | None:
    if read.option.name == "library":
        return _library_change(index, read)
    value = read.value
    new_value = rocm_path(value) if value is not None else None
    long_form = read.spelling.startswith("--") and read.spelling != target
    if not long_form and new_value == value:
        return None
    if value is None or new_value is None:
        return Change(index, read.last, (target,), f"{read.spelling} is nvcc's own spelling")
    if not long_form:
        new = tuple(rocm_path(word) for word in words[index : read.last])
        return Change(index, read.last, new, "ROCm's folder instead of the toolkit's")
    spaced = target in ("-o", "-include", "-isystem", "-MF", "-MT")
    new = (target, new_value) if spaced else (target + new_value,)
    return Change(index, read.last, new, f"{read.spelling} is nvcc's own spelling")


def _library_change(index: int, read: _Read) -> Change | None:
    row = library(read.value or "")
    if row is None:
        return None
    if row["conversion"] == "none":
        return Change(index, read.last, (), row["reason"], refused=row["reason"], library=True)
    new = (f"-l{row['target']}",) if row["conversion"] == "rename" else ()
    return Change(index, read.last, new, row["reason"] or f"ROCm's counterpart of {read.value} is {row['target']}")


def _other_change(words: Sequence[str], index: int) -> Change | None:
    word = words[index]
    new = rocm_path(word)
    return None if new == word else Change(index, index + 1, (new,), "ROCm's folder instead of the toolkit's")


def library_variables() -> Mapping[str, migration.Row]:
    """Return the variables by which CMake's find modules name libraries of CUDA, and the rows of these."""
    return {name: row for row in migration.rows("link_libraries") for name in row["variables"].split()}
