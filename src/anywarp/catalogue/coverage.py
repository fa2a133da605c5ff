"""Render the tables of functions as pages.

A user who wonders whether a program will run looks a function up there; it must say why what is missing is missing.
"""

from __future__ import annotations

from collections import Counter

from anywarp.catalogue.load import Row, Table
from anywarp.catalogue.runtime import RuntimeRow, RuntimeTable


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


GRAPHICS = "no OpenGL, EGL or VDPAU device is shared with graphics"


def runtime_as_markdown(table: RuntimeTable) -> str:
    """Return `docs/coverage/libcudart.md`: counts per major version, then one line per function."""
    lines = [
        "# What our libcudart.so.12 and libcudart.so.13 implement",
        "",
        "Made from `src/anywarp/catalogue/data/cudart.tsv` by `python -m anywarp.catalogue.derive_runtime --sync`.",
        "",
        "Both are a thin layer over our libcuda.so.1 and export what NVIDIA's libraries of CUDA 12.9 and 13.5 export, with their",
        "symbol versions. A function that is absent returns `cudaErrorNotSupported` and says so once on stderr. A function that",
        "forwards to a driver function that is absent does the same.",
        "",
        "| | exported | implemented | absent | implemented of those that have nothing to do with graphics |",
        "| --- | --- | --- | --- | --- |",
        *(_counts(table, major) for major in (12, 13)),
        "",
        "## Implemented",
        "",
        "| function | variants | in version |",
        "| --- | --- | --- |",
        *_implemented(table),
        "",
        "## Absent",
        "",
        "| function | in version | reason |",
        "| --- | --- | --- |",
        *(f"| `{r.name}` | {_majors(r)} | {r.reason} |" for r in table.rows if r.route == "absent"),
    ]
    return "\n".join(lines) + "\n"


def _counts(table: RuntimeTable, major: int) -> str:
    rows = [row for row in table.rows if major in row.majors]
    there = sum(row.route == "custom" for row in rows)
    computing = sum(row.reason != GRAPHICS for row in rows)
    share = f"{100 * there / computing:.1f} %"
    return f"| libcudart.so.{major} | {len(rows)} | {there} | {len(rows) - there} | {share} |"


def _implemented(table: RuntimeTable) -> list[str]:
    families: dict[str, list[RuntimeRow]] = {}
    for row in table.rows:
        if row.route == "custom":
            families.setdefault(row.name.removesuffix("_ptsz").removesuffix("_ptds"), []).append(row)
    return [
        f"| `{base}` | {', '.join(f'`{row.name}`' for row in rows if row.name != base)} | {_majors(rows[0])} |"
        for base, rows in families.items()
    ]


def _majors(row: RuntimeRow) -> str:
    return ", ".join(map(str, row.majors))
