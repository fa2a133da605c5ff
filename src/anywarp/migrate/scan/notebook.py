"""Notebooks: their code cells as Python or CUDA C++, their magics and shell lines, with cell and line as the place.

A cell is what its author sees, so a place says cell and line in it, not the line of the JSON file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import Any, cast

from anywarp.migrate.findings import Use
from anywarp.migrate.scan import cuda_source, python_source
from anywarp.migrate.scan.lines import Lines, Piece
from anywarp.migrate.scan.shell import script

_CUDA_CELL = re.compile(r"\s*%%(?:cu|cuda|nvcc|cuda_run|nvcc_plugin|writefile\s+\S+\.cuh?)\b[^\n]*")
_SHELL = re.compile(r"^[ \t]*[!%](?:\w+\s*=\s*!)?\s*(?P<line>[^\n]*)$", re.MULTILINE)
_EXTENSION = re.compile(r"load_ext\s+((?:nvcc|cuda|cudf\.pandas|cuml\.accel)\S*)")
_LANGUAGES = re.compile(r"^\s*%%(?!time|timeit|capture|prun|writefile\s+\S+\.py)\w+")


def wants(path: PurePath, head: bytes) -> bool:
    """Take notebooks by their name."""
    return path.suffix.lower() == ".ipynb"


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield the uses of CUDA in a notebook's cells."""
    try:
        notebook: Any = json.loads(data)
    except (ValueError, RecursionError):
        yield from _unreadable(data)
        return
    for number, source in _cells(notebook):
        for use in _cell(source):
            yield replace(use, details=(("cell", str(number)), *use.details))


def _cells(notebook: Any) -> Iterator[tuple[int, str]]:
    """Yield the number, from 1, and text of each code cell, in format 3 or 4; nothing of what is no notebook."""
    if not isinstance(notebook, dict):
        return
    top = cast(dict[str, Any], notebook)
    sheets = top.get("worksheets")
    holders: list[Any] = cast(list[Any], sheets) if isinstance(sheets, list) else [top]
    number = 0
    for holder in holders:
        cells = cast(dict[str, Any], holder).get("cells") if isinstance(holder, dict) else None
        for cell in cast(list[Any], cells) if isinstance(cells, list) else ():
            number += 1
            if isinstance(cell, dict) and (text := _code(cast(dict[str, Any], cell))):
                yield number, text


def _code(cell: dict[str, Any]) -> str:
    if cell.get("cell_type") != "code":
        return ""
    source: Any = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        return "".join(part for part in cast(list[Any], source) if isinstance(part, str))
    return source if isinstance(source, str) else ""


def _cell(source: str) -> Iterator[Use]:
    if found := _CUDA_CELL.match(source):
        yield Use("python.kernel", "nvcc cell", 1, 1, found[0].strip()[:160])
        rest = source[found.end() :]
        yield from cuda_source.scan(
            b"\n" * source.count("\n", 0, found.end()) + rest.encode("utf-8", "replace"), PurePath("cell.cu")
        )
        return
    if _LANGUAGES.match(source):
        if re.match(r"\s*%%(?:bash|sh|shell|script\s+(?:ba)?sh)", source):
            yield from _shell_cell(source)
        return
    row, at = 1, 0
    for found in _SHELL.finditer(source):
        row, at = row + source.count("\n", at, found.start("line")), found.start("line")
        yield from _line(found["line"], row)
    python = _SHELL.sub(
        lambda m: (
            "pass"
            if m[0].lstrip()[:1] in "!%" and m[0][:1] not in " \t"
            else m[0][: len(m[0]) - len(m[0].lstrip())] + "pass"
        ),
        source,
    )
    yield from python_source.scan(python.encode("utf-8", "replace"), PurePath("cell.py"))


def _shell_cell(source: str) -> Iterator[Use]:
    """Yield the uses in a cell for the shell, whose first line names it."""
    yield from _script(source.partition("\n")[2], 2)


def _line(line: str, number: int) -> Iterator[Use]:
    """Yield the uses in one line for the shell, or one magic."""
    if found := _EXTENSION.search(line):
        if "nvcc" in found[1]:
            yield Use("python.kernel", "nvcc cell", number, 1, line[:160])
        else:
            yield Use("python.import", found[1].partition(".")[0], number, 1, line[:160])
        return
    yield from _script(re.sub(r"^env\s+(?=\w+=)", "", line), number)


def _script(text: str, number: int) -> Iterator[Use]:
    """Yield what shell text does, whose first line has that number in its cell."""
    lines = Lines(text.encode("utf-8", "replace"))
    for use in lines.found_in(Piece(text), script(text)):
        yield replace(use, line=use.line + number - 1)


def _unreadable(data: bytes) -> Iterator[Use]:
    """Tell of a notebook that is no JSON, where it mentions CUDA at all."""
    if b"cuda" in data.lower():
        yield Use("python.unreadable", "notebook", 0, 0, "", (("why", "it is no valid JSON"),))
