"""Makefiles for nvcc become Makefiles for hipcc: the compiler, its options, libraries, and the toolkit's folders.

A makefile is read by logical lines, edited word by word; comments, tabs and layout stay.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath

from anywarp.migrate.target import USUAL_ARCHITECTURE
from anywarp.migrate.translate import build_codes as codes
from anywarp.migrate.translate.build_flags import (
    CUDA_FOLDER,
    Change,
    is_nvcc,
    library,
    rocm_path,
    translate_words,
)
from anywarp.migrate.translate.edits import Edit, Outcome, Problem
from anywarp.migrate.translate.unit import Unit

_LINE = re.compile(r"(?:[^\\\n]|\\(?:\r?\n|[\s\S])|\\$)*(?:\n|\Z)")
_ASSIGNMENT = re.compile(r"\s*(?:export\s+|override\s+)*(?P<name>[\w.-]+)\s*(?:::?:?=|\?=|\+=|!=|=)")
_TARGET_ASSIGNMENT = re.compile(r"[^\t#][^=#\n]*?:\s*(?P<name>[\w.-]+)\s*(?::?=|\?=|\+=)")
_FOLDERS = "CUDA_PATH|CUDA_HOME|CUDA_DIR|CUDA_ROOT|CUDA_ROOT_DIR|CUDA_INSTALL_PATH|CUDA_TOOLKIT_PATH|CUDA_PREFIX|CUDAHOME|CUDAPATH|CUDA_BASE"
_FOLDER = re.compile(rf"(?<![\w.])(?:{_FOLDERS})(?![\w.])")
_LIB = re.compile(
    rf"(?P<ref>\$[({{](?:{_FOLDERS}|ROCM_PATH)[)}}])/(?:lib64/stubs|lib64|targets/x86_64-linux/lib)(?!\w)"
)
_COMPILER = re.compile(r"(?<![\w./$({-])(?:(?P<path>(?:[\w./-]|\$\([\w]+\)|\$\{\w+\})*/))?nvcc(?![\w.-])")
_NVCC_VARIABLE = re.compile(r"\$[({](?:NVCC\w*|CUDACC|CUDA_CC|NVCC_BIN|CU_?CC)[)}]")
_ABOUT_NVCC = re.compile(
    r"^(?:NVCC\w*|CUDA_?\w*FLAGS|CU_?FLAGS|CUDAFLAGS|GENCODE\w*|CUDA_ARCH\w*|\w*NVCC\w*|SM_?FLAGS?|ARCH_?FLAGS?|GPU_ARCH\w*|CUDA_GEN\w*)$"
)
_WORD = re.compile(
    r"""(?:\$\([\w.]+\)|\$\{[\w.]+\}|\$[$@<^+*?\w]|"(?:[^"\\]|\\.)*"|'[^']*'|\\[^\s]|[^\s()$"'\\])+""", re.DOTALL
)
"""A word of a command line in make: a reference to a variable is part of it, the brackets of a function are not."""
_TOOLS = re.compile(
    r"(?<![\w./-])(?:ptxas|cuobjdump|nvprune|fatbinary|nvlink|nvdisasm|bin2c|cuda-memcheck|compute-sanitizer|nvprof)(?![\w.-])"
)
_SAID = re.compile(r"\s*(?:\$\((?:info|warning|error)\b|@?echo\b)")
_VERSION = re.compile(r"\bCUDA_?(?:VERSION|MAJOR|MINOR)\w*")
_LIBRARY_NAME = re.compile(r"\s*\w*LIB\w*\s*[:?]?=\s*(?P<name>\w+)\s*$")
_ELSEWHERE = re.compile(r"^(?:ifn?eq|ifn?def|else|endif|define|endef|-?include|sinclude|vpath|unexport|undefine)\b")


@dataclass
class _Line:
    """One logical line with the edits of it."""

    start: int
    end: int
    text: str
    edits: list[tuple[int, int, str, str]] = field(default_factory=list[tuple[int, int, str, str]])

    def changed(self) -> str:
        """Return the text with its edits applied."""
        out, at = "", self.start
        for start, end, new, _ in sorted(self.edits):
            out, at = out + self.text[at - self.start : start - self.start] + new, end
        return out + self.text[at - self.start :]


class MakeRewriter:
    """Makefile, GNUmakefile, *.mk and Makefile.* ."""

    name = "make"

    def wants(self, path: PurePath) -> bool:
        name = path.name
        return (
            name in ("Makefile", "makefile", "GNUmakefile")
            or path.suffix in (".mk", ".mak", ".make")
            or name.startswith("Makefile.")
        )

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        text = unit.data.decode("latin-1")
        architecture = unit.target.architecture or USUAL_ARCHITECTURE
        guarded = 0
        for line in _lines(text):
            guarded = _guard(line, guarded)
            if guarded:
                continue
            yield from _problems(line)
            yield from _edit(line, architecture, unit)
            yield from _applied(line, unit.options.keep_cuda)


def _lines(text: str) -> Iterator[_Line]:
    at = 0
    while at < len(text):
        match = _LINE.match(text, at)
        end = match.end() if match and match.end() > at else len(text)
        yield _Line(at, end, text[at:end])
        at = end


def _guard(line: _Line, depth: int) -> int:
    """Follow conditionals that already tell the vendors apart: what they hold is left as it is."""
    word = line.text.strip()
    if re.match(r"ifn?(?:eq|def)\b", word):
        return depth + 1 if depth or re.search(r"\bUSE_(?:HIP|ROCM)\b", word) else 0
    return depth - 1 if depth and word.startswith("endif") else depth


def _edit(line: _Line, architecture: str, unit: Unit) -> Iterator[Problem]:
    body = _without_comment(line.text)
    if not body.strip() or _SAID.match(body) or (_ELSEWHERE.match(body.strip()) and not _FOLDER.search(body)):
        return
    taken = list[tuple[int, int]]()
    for match in _COMPILER.finditer(body):
        if match["path"] and not re.search(r"cuda|CUDA", match["path"]):
            continue
        name = f"{_rocm(match['path'])}hipcc" if match["path"] else "hipcc"
        _add(line, taken, match.start(), match.end(), name, "ROCm's compiler driver")
    if _is_nvcc(body):
        yield from _edit_flags(line, body, architecture, taken)
    else:
        yield from _edit_libraries(line, body, taken)
    for match in _LIB.finditer(body):
        _add(
            line,
            taken,
            match.start(),
            match.end(),
            f"{_FOLDER.sub('ROCM_PATH', match['ref'])}/lib",
            "ROCm keeps its libraries in lib",
        )
    for match in _FOLDER.finditer(body):
        _add(line, taken, match.start(), match.end(), "ROCM_PATH", "the variable that says where ROCm lies")
    for match in CUDA_FOLDER.finditer(body):
        _add(line, taken, match.start(), match.end(), rocm_path(match[0]), "ROCm's usual folder")
    if suffix := unit.options.renamed.get(".cu"):
        for match in re.finditer(r"(?<=[\w%*)}])\.cu(?![\w.])|(?<=\s)\.cu(?=[\s:.])", body):
            _add(line, taken, match.start(), match.end(), suffix, "the sources have this name now")


def _rocm(path: str) -> str:
    return rocm_path(_FOLDER.sub("ROCM_PATH", path))


def _add(line: _Line, taken: list[tuple[int, int]], start: int, end: int, new: str, reason: str) -> None:
    index = bisect_left(taken, (start, end))
    meets = (index > 0 and taken[index - 1][1] > start) or (index < len(taken) and taken[index][0] < end)
    if meets or line.text[start:end] == new:
        return
    taken.insert(index, (start, end))
    line.edits.append((line.start + start, line.start + end, new, reason))


def _is_nvcc(body: str) -> bool:
    named = _ASSIGNMENT.match(body) or _TARGET_ASSIGNMENT.match(body)
    if named and _ABOUT_NVCC.match(named["name"]):
        return True
    words = [re.sub(r"[()]+$", "", word) for word in body.split()]
    recipe = body.startswith("\t") and (_COMPILER.search(body) or _NVCC_VARIABLE.search(body))
    return bool(recipe) or is_nvcc(words)


def _flag_words(body: str) -> list[tuple[int, int, str]]:
    """Return the words of a line; calls of make's functions fall apart into theirs."""
    return [(m.start(), m.end(), m.group()) for m in _WORD.finditer(body) if m.group().strip("\\\r\n")]


def _edit_flags(line: _Line, body: str, architecture: str, taken: list[tuple[int, int]]) -> Iterator[Problem]:
    words = _flag_words(body)
    for change in translate_words([word for *_, word in words], architecture):
        start, end = words[change.first][0], words[change.last - 1][1]
        if change.refused:
            yield _refusal(line, start, end, change)
            insort(taken, (start, end))
            continue
        new = " ".join(_FOLDER.sub("ROCM_PATH", _LIB.sub(r"\g<ref>/lib", word)) for word in change.words)
        if not new:
            start = len(body[:start].rstrip(" ")) if body[:start].strip() else start
            start = min(start + 1, words[change.first][0]) if body[:start].endswith(("=", ":", "\t", "\\\n")) else start
        _add(line, taken, start, end, new, change.reason)


def _edit_libraries(line: _Line, body: str, taken: list[tuple[int, int]]) -> Iterator[Problem]:
    """Libraries of CUDA among the options of another compiler or of the linker, or named alone in a variable."""
    named = _LIBRARY_NAME.match(body)
    row = library(named["name"]) if named else None
    if named and row is not None and row["conversion"] == "rename":
        _add(
            line, taken, named.start("name"), named.end("name"), row["target"], f"ROCm's counterpart of {named['name']}"
        )
    for match in re.finditer(r"(?<![\w-])-l(\w[\w-]*)", body):
        if library(match[1]) is None:
            continue
        for change in translate_words([match.group()], USUAL_ARCHITECTURE):
            if change.refused:
                yield _refusal(line, match.start(), match.end(), change)
                continue
            start = len(body[: match.start()].rstrip(" ")) if not change.words else match.start()
            _add(line, taken, start, match.end(), " ".join(change.words), change.reason)


def _refusal(line: _Line, start: int, end: int, change: Change) -> Problem:
    code = codes.LIBRARY if change.library else codes.OPTION
    words = line.text[start:end].strip()
    return Problem(
        line.start + start, line.start + end, code, f"{words}: {change.refused}", "take it out, or write what HIP needs"
    )


def _problems(line: _Line) -> Iterator[Problem]:
    body = _without_comment(line.text)
    if re.match(r"\s*(?:else\s+)?ifn?eq\b", body) and (compared := _VERSION.search(body)):
        yield Problem(
            line.start + compared.start(), line.start + compared.end(), codes.VERSION,
            f"{compared.group()} is compared: versions of ROCm are other numbers than CUDA's",
            "decide by hand what this condition means for HIP", "warning",
        )  # fmt: skip
    if not line.text.startswith("\t"):
        return
    for match in _TOOLS.finditer(body):
        yield Problem(
            line.start + match.start(), line.start + match.end(), codes.TOOL, f"{match.group()} is called",
            "call ROCm's tool, or take the step out", "warning",
        )  # fmt: skip


def _without_comment(text: str) -> str:
    """Return a line without its comment; a recipe's # belongs to the shell, and is left out as well."""
    match = re.search(r"(?<!\\)#", text)
    return text[: match.start()] if match else text


def _applied(line: _Line, keep_cuda: bool) -> Iterator[Outcome]:
    if not line.edits:
        return
    if not keep_cuda:
        for start, end, new, reason in line.edits:
            yield Edit(start, end, new.encode("latin-1"), "make", reason)
        return
    if _ELSEWHERE.match(line.text.strip()):
        yield Problem(
            line.start,
            line.end,
            codes.NOT_BOTH,
            "this line cannot serve both vendors",
            "write it for both by hand",
            "warning",
        )
        return
    reason = "; ".join(dict.fromkeys(why for *_, why in line.edits))
    old = line.text if line.text.endswith("\n") else line.text + "\n"
    new = line.changed()
    new = new if new.endswith("\n") else new + "\n"
    text = f"ifdef USE_HIP\n{new}else\n{old}endif\n"
    yield Edit(line.start, line.end, text.encode("latin-1"), "make", reason)
