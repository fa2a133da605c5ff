"""Load the table of the runtime library's functions and check it.

One table serves both major versions: it says which of them exports a function, and the parameters in each.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"
COLUMNS = ("name", "majors", "route", "reason", "result", "parameters_12", "parameters_13")
ROUTES = ("custom", "absent")
"""Implemented in `native/cudart`; or reported as not supported, with the reason."""


class RuntimeTableError(ValueError):
    """A row that contradicts itself."""


@dataclass(frozen=True)
class RuntimeRow:
    """An exported function; `parameters_13` is `=` where version 13 takes what version 12 takes."""

    name: str
    majors: tuple[int, ...]
    route: str
    reason: str
    result: str
    parameters_12: str
    parameters_13: str

    def parameters(self, major: int) -> str:
        """Return the parameter list of one major version as C text."""
        return self.parameters_12 if major == 12 or self.parameters_13 == "=" else self.parameters_13


@dataclass(frozen=True)
class RuntimeTable:
    """All rows in order of name, and where they come from."""

    source: str
    rows: tuple[RuntimeRow, ...]

    def as_text(self) -> str:
        """Return the table as the text of its file."""
        lines = [f"# {self.source}", "\t".join(COLUMNS)]
        for row in self.rows:
            cells = (row.name, " ".join(map(str, row.majors)), row.route, row.reason)
            lines.append("\t".join((*cells, row.result, row.parameters_12, row.parameters_13)))
        return "\n".join(lines) + "\n"


def load(path: Path = DATA / "cudart.tsv") -> RuntimeTable:
    """Read a table from its file; raises RuntimeTableError, naming the line."""
    return parse(path.read_text(encoding="utf-8"), path.name)


def parse(text: str, label: str) -> RuntimeTable:
    """Read a table from text; `label` names it in errors."""
    lines = text.split("\n")
    if len(lines) < 3 or lines[-1] or not lines[0].startswith("# ") or lines[1] != "\t".join(COLUMNS):
        raise RuntimeTableError(f"{label}: it has a source, a line of columns, and ends with a line end")
    rows: list[RuntimeRow] = []
    for number, line in enumerate(lines[2:-1], 3):
        row = _row(line, f"{label}:{number}")
        if rows and rows[-1].name >= row.name:
            raise RuntimeTableError(f"{label}:{number}: {row.name} is there twice or out of order")
        rows.append(row)
    return RuntimeTable(lines[0][2:], tuple(rows))


def _row(line: str, place: str) -> RuntimeRow:
    cells = line.split("\t")
    if len(cells) != len(COLUMNS):
        raise RuntimeTableError(f"{place}: expected {len(COLUMNS)} cells, found {len(cells)}")
    name, majors, route, reason, result, first, second = cells
    if majors not in ("12", "13", "12 13"):
        raise RuntimeTableError(f"{place}: majors are 12, 13 or both")
    if route not in ROUTES:
        raise RuntimeTableError(f"{place}: unknown route {route}")
    if (route == "absent") != bool(reason):
        raise RuntimeTableError(f"{place}: an absent function has a reason, and only that")
    return RuntimeRow(name, tuple(map(int, majors.split())), route, reason, result, first, second)
