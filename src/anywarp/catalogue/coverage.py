"""Render the table of driver functions as a page.

A user who wonders whether a program will run looks a function up there; it must say why what is missing is missing.
"""

from __future__ import annotations

from collections import Counter

from anywarp.catalogue.load import Row, Table


def as_markdown(table: Table) -> str:
    """Return `docs/coverage/libcuda.md`: counts, then one line per function with its variants."""
    families: dict[str, list[Row]] = {}
    for row in table.rows:
        families.setdefault(row.base, []).append(row)
    there = [base for base, rows in families.items() if any(r.route != "absent" for r in rows)]
    exported = Counter("absent" if row.route == "absent" else "implemented" for row in table.rows)
    lines = [
        "# What our libcuda.so.1 implements",
        "",
        "Made from `src/anywarp/catalogue/data/cuda.tsv` by `python -m anywarp.catalogue.derive --sync`.",
        "",
        f"It exports {len(table.rows)} symbols: {exported['implemented']} are implemented, {exported['absent']} return",
        "`CUDA_ERROR_NOT_SUPPORTED` and say so once on stderr. Without versions and per-thread variants these are",
        f"{len(families)} functions, of which {len(there)} are implemented at least in one version.",
        "",
        "What textures and surfaces do, and what is open in NVIDIA's manuals, is on [a page of its own](../textures.md).",
        "",
        "## Implemented",
        "",
        "| function | symbols |",
        "| --- | --- |",
        *(f"| `{base}` | {_symbols(families[base], absent=False)} |" for base in there),
        "",
        "## Absent",
        "",
        "| function | symbols | reason |",
        "| --- | --- | --- |",
        *(
            f"| `{base}` | {_symbols(rows, absent=True)} | {_reason(rows)} |"
            for base, rows in families.items()
            if _reason(rows)
        ),
    ]
    return "\n".join(lines) + "\n"


def _symbols(rows: list[Row], *, absent: bool) -> str:
    return ", ".join(f"`{row.name}`" for row in rows if (row.route == "absent") == absent)


def _reason(rows: list[Row]) -> str:
    return "; ".join(sorted({row.reason for row in rows if row.route == "absent"}))
