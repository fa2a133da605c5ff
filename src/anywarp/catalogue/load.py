"""Load a table of functions and check it.

The tables are the single list of what a replaced library exports, so a row that contradicts itself must not reach the build.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

Route = Literal["custom", "absent", "alias"]

COLUMNS = ("name", "base", "route", "target", "since", "per_thread", "parameters", "reason")
DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Row:
    """One exported function.

    `base` is the name without its version and stream suffix, under which programs ask for it at run time; `since` the CUDA
    version (1000 * major + 10 * minor) that brought this variant; `per_thread` marks the variant for per-thread default
    streams. `target` is the function an alias stands for; `reason` says why an absent one is.
    """

    name: str
    base: str
    route: Route
    target: str
    since: int
    per_thread: bool
    parameters: int
    reason: str

    def as_line(self) -> str:
        """Return the row as a line of its table, without the line end."""
        cells = (self.name, self.base, self.route, self.target, self.since, int(self.per_thread), self.parameters)
        return "\t".join((*map(str, cells), self.reason))


@dataclass(frozen=True, slots=True)
class Table:
    """The functions of one library, by name in order, and where the facts come from."""

    source: str
    rows: tuple[Row, ...]

    def as_text(self) -> str:
        """Return the table as the content of its file."""
        lines = [f"# {self.source}", "\t".join(COLUMNS), *(row.as_line() for row in self.rows)]
        return "\n".join(lines) + "\n"


class TableError(ValueError):
    """Raised for a table that contradicts itself; names the file and the line."""


def load(path: Path = DATA / "cuda.tsv") -> Table:
    """Read the table at `path`; TableError on the first line that is wrong."""
    return parse(path.read_text(encoding="utf-8"), path.name)


def parse(text: str, name: str) -> Table:
    """Read a table from its text; `name` is what errors call it."""
    lines = text.split("\n")
    if len(lines) < 3 or not lines[0].startswith("# ") or lines[1] != "\t".join(COLUMNS) or lines[-1]:
        raise TableError(f"{name}: a table begins with its source and its columns and ends with a line end")
    rows: list[Row] = []
    for number, line in enumerate(lines[2:-1], start=3):
        rows.append(_row(line, f"{name}:{number}"))
        if len(rows) > 1 and rows[-1].name <= rows[-2].name:
            raise TableError(f"{name}:{number}: {rows[-1].name} is out of order or there twice")
    custom = {row.name for row in rows if row.route == "custom"}
    for row in rows:
        if row.route == "alias" and row.target not in custom:
            raise TableError(f"{name}: {row.name} stands for {row.target}, which is no custom function")
    return Table(lines[0][2:], tuple(rows))


def _row(line: str, place: str) -> Row:
    cells = line.split("\t")
    if len(cells) != len(COLUMNS):
        raise TableError(f"{place}: expected {len(COLUMNS)} cells, found {len(cells)}")
    name, base, route, target, since, per_thread, parameters, reason = cells
    if not re.fullmatch(r"\w+", name) or not base or not name.startswith(base):
        raise TableError(f"{place}: {name!r} is not a variant of {base!r}")
    if route not in get_args(Route):
        raise TableError(f"{place}: unknown route {route!r}")
    if (route == "alias") != bool(target) or (route == "absent") != bool(reason):
        raise TableError(f"{place}: an alias has a target, an absent function a reason, others neither")
    if not (since.isdecimal() and parameters.isdecimal() and per_thread in ("0", "1")):
        raise TableError(f"{place}: version, per-thread mark and parameter count are numbers")
    return Row(name, base, cast(Route, route), target, int(since), per_thread == "1", int(parameters), reason)
