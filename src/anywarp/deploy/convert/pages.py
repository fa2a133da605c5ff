"""The page docs/coverage/convert.md: every row by which `anywarp convert` goes, made from the tables.

What a table promises and what the docs say must be the same, so nobody writes it twice.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from anywarp.catalogue.migration import Row, rows
from anywarp.catalogue.partitions import Part, cards, fit, parts

_TABLES: tuple[tuple[str, str, str, tuple[tuple[str, str], ...]], ...] = (
    ("resources", "Resources of Kubernetes", "What containers ask for.", (("name", "name"),)),
    ("node_labels", "Labels of nodes", "Values: `old=new`; `=` keeps any.", (("name", "name"), ("values", "values"))),
    ("kinds", "Kinds, charts, classes and more", "What else NVIDIA brings to a cluster.", (("what", "what"), ("name", "name"))),
    ("environment", "Environment variables", "", (("name", "name"), ("values", "values"))),
    ("images", "Images", "The tag is a regular expression.", (("image", "image"), ("tag", "tag"))),
    ("packages", "Python packages", "", (("name", "name"), ("channel", "channel"))),
    ("channels", "Channels of conda", "", (("pattern", "channel"),)),
    ("metrics", "Metrics of exporters", "Value of the new one, times factor, is the value of the old one.", (("name", "name"), ("factor", "factor"))),
    ("metric_labels", "Labels of metrics", "", (("name", "name"),)),
    ("smi", "nvidia-smi", "", (("kind", "kind"), ("name", "name"))),
    ("slurm", "Slurm and clusters", "", (("kind", "kind"), ("name", "name"))),
)  # fmt: skip
_CARDS = ("Instinct MI300X", "Instinct MI325X", "Instinct MI355X")


def as_markdown() -> str:
    """Return the page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield from (
        "# What `anywarp convert` goes by",
        "",
        "Made by `scripts/docs` from `src/anywarp/catalogue/data/migration/`; do not edit.",
    )
    yield "[convert.md](../convert.md) says how it is used. `unchecked` marks what is known from experience and was not looked up."
    for table, title, words, columns in _TABLES:
        yield from ("", f"## {title}", "", *([words, ""] if words else []))
        yield from _table(table, columns)
    yield from _partitions()
    yield from _profiles()


def _table(table: str, columns: Sequence[tuple[str, str]]) -> Iterator[str]:
    heads = [head for _, head in columns]
    yield from _heads([*heads, "becomes", "how", "why", "source"])
    for row in rows(table):
        keys = [_code(row[column]) for column, _ in columns]
        yield _line([*keys, _code(row["target"]), row["conversion"], _cell(row["reason"]), _source(row)])


def _partitions() -> Iterator[str]:
    yield from (
        "",
        "## Partitions of AMD GPUs",
        "",
        "Sizes of one part; who sets it up: AMD's operator, or the driver by itself.",
        "",
    )
    yield from _heads(["card", "resource", "parts", "compute units", "GiB", "TFLOPS (FP16)", "set up by"])
    for card in cards():
        for part in parts(card):
            who = "operator" if part.managed else "driver"
            cells = [
                card,
                f"`{part.resource}`",
                part.per_gpu,
                part.compute_units,
                f"{part.memory:g}",
                f"{part.peak:.0f}",
                who,
            ]
            yield _line([str(cell) for cell in cells])


def _profiles() -> Iterator[str]:
    yield from ("", "## MIG profiles and the partitions that take their place", "")
    yield "Where there is none, a person chooses (Y013)."
    yield ""
    yield from _heads(["profile", "of", "GB", "TFLOPS (FP16) at most", *_CARDS])
    for row in rows("mig_profiles"):
        name = f"nvidia.com/mig-{row['profile']}"
        found = [fit(name, card).part for card in _CARDS]
        cells = [f"`{name}`", row["cards"], row["memory_gb"], row["fp16_tflops"] or "unknown"]
        yield _line([*cells, *(_taken(part) for part in found)])


def _taken(part: Part | None) -> str:
    if part is None:
        return "none"
    return f"`{part.resource}`" if part.per_gpu > 1 else "a whole GPU"


def _heads(names: Sequence[str]) -> Iterator[str]:
    yield f"| {' | '.join(names)} |"
    yield "| --- " * len(names) + "|"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    return f"`{text.replace('|', chr(92) + '|')}`" if text else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _source(row: Row) -> str:
    return _cell(row["source"]) + (" (unchecked)" if row["confidence"] == "unchecked" else "")


if __name__ == "__main__":
    sys.stdout.write(as_markdown())
