"""CMake files for CUDA become CMake files for HIP: language, packages, targets, properties, options of nvcc.

Everything is edited in place in the text, so comments and layout stay; what CMake's HIP support lacks is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath

from anywarp.migrate.target import USUAL_ARCHITECTURE
from anywarp.migrate.translate import build_cmake_names as names
from anywarp.migrate.translate import build_codes as codes
from anywarp.migrate.translate.build_cmake_commands import BOTH, COMMANDS
from anywarp.migrate.translate.build_cmake_draft import Draft, general
from anywarp.migrate.translate.build_cmake_text import Command, commands, indentation
from anywarp.migrate.translate.edits import Edit, Outcome, Problem
from anywarp.migrate.translate.unit import Unit

_BLOCKS = {"if": "endif", "foreach": "endforeach", "while": "endwhile", "function": "endfunction", "macro": "endmacro"}
_CONTROL = frozenset({*_BLOCKS, *_BLOCKS.values(), "elseif", "else", "return"})
_HINT = re.compile(rb"cuda|nvcc|cublas|cudnn|nccl|\bcub\b|thrust|nv(?:rtc|ml|tx|ToolsExt|infer)", re.IGNORECASE)


@dataclass
class _File:
    """What is gathered over one file before edits are made of it."""

    text: str
    drafts: list[tuple[Command, Draft]] = field(default_factory=list[tuple[Command, Draft]])
    problems: list[Problem] = field(default_factory=list[Problem])


class CMakeRewriter:
    """CMakeLists.txt and *.cmake."""

    name = "cmake"

    def wants(self, path: PurePath) -> bool:
        return path.name == "CMakeLists.txt" or path.suffix == ".cmake"

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        text = unit.data.decode("latin-1")  # a character for a byte: places are the same
        found, unread = commands(text)
        if unread is not None:
            yield Problem(
                unread, min(unread + 1, len(text)), codes.UNREADABLE,
                "from here on this is no CMake: what follows is left as it is", "mend the text and translate again", "warning",
            )  # fmt: skip
        if re.fullmatch(r"Find\w+\.cmake", unit.path.name):
            if not _HINT.search(unit.data):
                return
            yield Problem(
                0, 0, codes.NO_COUNTERPART, f"{unit.path.name} finds NVIDIA's software: it is left as it is",
                "packages of ROCm are found by find_package itself; delete the module when nothing uses it", "warning",
            )  # fmt: skip
            return
        file = _File(text)
        _visit(file, found, unit)
        _add_packages(file, found)
        yield from file.problems
        for command, draft in file.drafts:
            yield from _edits(text, command, draft, unit.options.keep_cuda)


def _visit(file: _File, found: list[Command], unit: Unit) -> None:
    architecture = unit.target.architecture or USUAL_ARCHITECTURE
    marked = {
        word for c in found if c.name == "set_source_files_properties" and "HIP" in c.words() for word in c.words()
    }
    told_apart: list[bool] = []
    for command in found:
        if command.name == "if":
            told_apart.append(any(names.OTHER_VENDOR.search(word) for word in command.words()))
        elif command.name == "endif" and told_apart:
            told_apart.pop()
        elif not any(told_apart):
            draft = Draft(command, file.text, architecture, unit.options.renamed.get(".cu", ".cu"), marked)
            COMMANDS.get(command.name, general)(draft)
            if unit.options.keep_cuda and command.name in BOTH and draft.edits:
                BOTH[command.name](draft)
            _keep_draft(file, command, draft, unit.options.keep_cuda)
            continue
        if command.name == "if" and not any(told_apart):
            draft = Draft(command, file.text, architecture, ".cu", marked)
            general(draft)
            _keep_draft(file, command, draft, unit.options.keep_cuda)


def _keep_draft(file: _File, command: Command, draft: Draft, keep_cuda: bool) -> None:
    file.problems += draft.problems
    if not draft:
        return
    if keep_cuda and command.name in _CONTROL and draft.edits:
        file.problems.append(
            Problem(
                command.start,
                command.name_end,
                codes.NOT_BOTH,
                f"{command.name}() asks for CUDA and cannot ask for both vendors here",
                "write the condition for both by hand",
                "warning",
            )
        )
        return
    file.drafts.append((command, draft))


def _add_packages(file: _File, found: list[Command]) -> None:
    """Have the packages of all targets that are named now found: behind the toolkit's, or before the first use."""
    present = {c.arguments[0].text for c in found if c.name == "find_package" and c.arguments}
    needed: dict[str, Draft] = {}
    for _, draft in file.drafts:
        for package in draft.packages:
            needed.setdefault(package, draft)
    present |= {package for _, draft in file.drafts for package in draft.finds}
    missing = {package: draft for package, draft in needed.items() if package not in present}
    toolkit = next((d for c, d in file.drafts if c.name == "find_package" and "hip" in d.finds), None)
    for package, draft in missing.items():
        tail = toolkit.find_tail if toolkit else " REQUIRED"
        line = f"find_package({package}{tail})"
        (toolkit.after if toolkit else draft.before).append(line)


def _edits(text: str, command: Command, draft: Draft, keep_cuda: bool) -> Iterator[Edit]:
    indent = indentation(text, command.start)
    newline = "\r\n" if "\r\n" in text else "\n"
    reason = "; ".join(dict.fromkeys(draft.reasons))
    if keep_cuda and not draft.for_both:
        yield Edit(
            command.start,
            command.end,
            _both(text, command, draft, indent or "", newline).encode("latin-1"),
            "cmake",
            reason,
        )
        return
    if draft.removed:
        start, end = _whole_line(text, command, indent)
        yield Edit(
            start,
            end,
            "".join(f"{indent or ''}{line}{newline}" for line in draft.before + draft.after).encode("latin-1"),
            "cmake",
            reason,
        )
        return
    for start, end, new, why in draft.edits:
        yield Edit(start, end, new.encode("latin-1"), "cmake", why)
    if draft.before:
        lines = "".join(f"{line}{newline}{indent or ''}" for line in draft.before)
        yield Edit(command.start, command.start, lines.encode("latin-1"), "cmake", reason)
    if draft.after:
        lines = "".join(f"{newline}{indent or ''}{line}" for line in draft.after)
        yield Edit(command.end, command.end, lines.encode("latin-1"), "cmake", reason)


def _whole_line(text: str, command: Command, indent: str | None) -> tuple[int, int]:
    line_end = text.find("\n", command.end)
    line_end = len(text) if line_end < 0 else line_end
    if indent is None or text[command.end : line_end].strip():
        return command.start, command.end
    return command.start - len(indent), min(line_end + 1, len(text))


def _both(text: str, command: Command, draft: Draft, indent: str, newline: str) -> str:
    old = text[command.start : command.end]
    new = "" if draft.removed else draft.changed()
    deep = indent + "  "
    hip = [*draft.before, *([new] if new and new != old else []), *draft.after]
    if new == old and not draft.removed:  # nothing but additions
        first = _block("if(USE_HIP)", draft.before, indent, newline) if draft.before else ""
        last = _block("if(USE_HIP)", draft.after, indent, newline) if draft.after else ""
        return (first + newline + indent if first else "") + old + (newline + indent + last if last else "")
    if not hip:
        return _block("if(NOT USE_HIP)", [old], indent, newline)
    lines = ["if(USE_HIP)", *(f"{deep}{line}" for line in hip), f"{indent}else()", f"{deep}{old}", f"{indent}endif()"]
    return newline.join(lines)


def _block(head: str, lines: list[str], indent: str, newline: str) -> str:
    return newline.join([head, *(f"{indent}  {line}" for line in lines), f"{indent}endif()"])
