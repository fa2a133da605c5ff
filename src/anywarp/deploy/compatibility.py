"""The page docs/compatibility.md: package by version by device, from what the adapters and the tables know.

On `cpu` a row says what was run and by what it was checked; on `hip` what takes the package's place, by the row that `anywarp convert` goes by.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from anywarp.catalogue import replacements
from anywarp.catalogue.migration import Row
from anywarp.catalogue.rocm import TableError, read
from anywarp.frameworks.neighbours import registry

CLIENTS = Path(__file__).parents[1] / "catalogue" / "data" / "clients.tsv"
HOW = ("runs", "through us", "replaced by", "not yet")
_COLUMNS = ("package", "version", "how", "words", "date", "checked")

_HEAD = """# Which packages run, by version and device

Made by `scripts/docs` from the adapters (`src/anywarp/frameworks`), `catalogue/data/clients.tsv` and the tables of `anywarp convert`; do not edit.

- `runs`: as it is, over a framework that is served. `through us`: its own kernels or calls, compiled or answered by anywarp. `replaced by`: its imports are answered by ours.
  `not yet`: refused, in words.
- On `cpu` each row was run, on the date given. On `hip` no card was there: what is said is which build for ROCm exists and who says so ([convert.md](coverage/convert.md));
  `anywarp env` installs it beside the environment ([env.md](cli/env.md)). A dash: no row; what it calls is answered by our libraries ([hip.md](hip.md)).

| package | version | on `cpu` | what was run, or what answers | date | checked by | on `hip` |
| --- | --- | --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True, order=True, slots=True)
class Line:
    """One version of one package, as found on `cpu`."""

    package: str
    version: str
    how: str
    words: str
    date: str
    checked: str


def clients(table: Path = CLIENTS) -> Iterator[Line]:
    """Yield the packages without an adapter; TableError for a word that `how` does not have, or an empty cell."""
    for row, place in read(table, _COLUMNS):
        if row["how"] not in HOW or not all(row[column] for column in _COLUMNS):
            raise TableError(f"{place}: every cell is filled, and how is one of {', '.join(HOW)}")
        yield Line(*(row[column] for column in _COLUMNS))


def adapters() -> Iterator[Line]:
    """Yield what the adapters of packages beside PyTorch know of their versions."""
    for each in registry.ALL:
        for ran in each.ran:
            yield Line(each.name, ran.version, ran.how, ran.words, ran.date, ran.checked)


def on_hip(package: str) -> str:
    """Say what takes the package's place on AMD GPUs, in a few words."""
    row = replacements.package(package)
    return "—" if row is None else _said(row)


def _said(row: Row) -> str:
    target = row["target"]
    words = {
        "keep": "the same package",
        "index": "its build for ROCm, from torch's index",
        "remove": "comes with what asks for it",
        "rename": f"`{target}`",
        "extra": f"`{target}`",
        "replace": f"`{target}` instead",
        "rebuild": f"`{target}`, built from source",
    }.get(row["conversion"], f"none: {row['reason']}")
    return words if row["confidence"] == "read" else f"{words} ({row['confidence']})"


def as_markdown() -> str:
    """Return the page."""
    lines = sorted((*clients(), *adapters()), key=lambda line: (line.package.lower(), line.version))
    return _HEAD + "".join(
        f"| {each.package} | {each.version} | {each.how} | {each.words} | {each.date} | `{each.checked}` | {on_hip(each.package)} |\n"
        for each in lines
    )


if __name__ == "__main__":
    print(as_markdown(), end="")
