"""Write the pages that say which name of CUDA's answers to which of ROCm's: docs/coverage/rocm.md and a page per library.

People who port a program, or wonder why something is missing on an AMD GPU, look a name up there.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from anywarp.catalogue.deriving.inputs import load as load_inputs
from anywarp.catalogue.rocm import DATA, read
from anywarp.catalogue.rocm_checks import STEMS, Row, Symbols, Tables, demanded, load_symbols, load_tables, number

TITLES = {
    "cublas": ("cuBLAS", "hipBLAS"),
    "cublaslt": ("cuBLASLt", "hipBLASLt"),
    "cufft": ("cuFFT", "hipFFT"),
    "curand": ("cuRAND", "hipRAND"),
    "cusparse": ("cuSPARSE", "hipSPARSE"),
    "cusolver": ("cuSOLVER", "hipSOLVER"),
    "nccl": ("NCCL", "RCCL"),
    "runtime": ("the CUDA runtime", "HIP"),
    "driver": ("the CUDA driver interface", "HIP"),
    "nvrtc": ("NVRTC", "hipRTC"),
    "nvml": ("NVML", "AMD SMI"),
    "nvtx": ("NVTX", "roctx"),
}
UNDOCUMENTED = "exported, and declared in no public header"
MANY = 24  # names in one line

_INTRODUCTION = """# Names of CUDA and what answers them in ROCm

Made from the tables in `src/anywarp/catalogue/data/rocm` by `scripts/docs`. The tables are made by scripts from public headers,
bindings and the exports of the libraries themselves, and tests compare every row with what each version of ROCm exports. They say
what the two sides declare, and nothing about hardware: none of this was run on an AMD GPU.

What of it is implemented on the device `hip` is on other pages: [the libraries](rocm_libraries.md), [libcuda](libcuda.md),
[libcudart](libcudart.md), [NVML](nvml.md).

- *same call*: the counterpart takes the same parameters; enumerations, handles and streams are converted one by one.
- *converted*: there is a counterpart, and it takes something else, or the function is answered in another way; the page says what.
- *none*: no counterpart, with the reason.

A version stands for what a source shows: a counterpart *since 7.2* is in 7.2 and was not in the version looked at before. Bindings (10.0)
leave functions out, so they show what is there and never that something is gone.
"""

_MADE = """How the tables are made again, and what of that needs which inputs: [a new release](../new-release.md).

What no rule finds is decided by hand in `data/rocm/LIBRARY_choices.tsv`: the kind of name, a pattern, a route or conversion, a counterpart and
a reason; the first line that matches counts. How many measured programs import a function stands in `data/derive/demand.tsv`.
"""


def summary(tables: dict[str, Tables], symbols: dict[str, dict[str, Symbols]]) -> str:
    """Return docs/coverage/rocm.md."""
    lines = [_INTRODUCTION]
    lines += [
        "| | ROCm | versions seen | functions | same call | converted | none | imported by measured programs | of these without a counterpart |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for stem in STEMS:
        ours, theirs = TITLES[stem]
        rows = tables[stem].functions
        counts = Counter(row["route"] for row in rows)
        wanted = demanded(tables[stem])
        libraries = sorted({row["library"] for row in rows if row["library"]})
        versions = ", ".join(v for name in libraries for v in symbols.get(name, {}))
        missing = sum(row["route"] == "absent" for row in wanted)
        cells = [
            f"[{ours}](rocm-{stem}.md)",
            theirs,
            versions,
            len(rows),
            counts["forward"],
            counts["custom"],
            counts["absent"],
        ]
        lines.append("| " + " | ".join(map(str, [*cells, len(wanted), missing])) + " |")
    lines += ["", *_errors(), "", *_headers(), "", *_sources(), "", _MADE.rstrip()]
    return "\n".join(lines) + "\n"


def _errors() -> list[str]:
    rows = [row for row, _ in read(DATA / "errors_from_hip.tsv", ("hip_value", "hip_name"))]
    differ = [
        r for r in rows if r["hip_value"] != r["driver_value"] or r["hip_value"] != r["runtime_value"] or r["reason"]
    ]
    lines = [
        "## Error codes",
        "",
        f"HIP has {len(rows)} codes; most have CUDA's number for the same thing. These have not, or mean it to one of CUDA's two interfaces only:",
        "",
        "| HIP | in ROCm | driver | runtime | |",
        "| --- | --- | --- | --- | --- |",
    ]
    for r in differ:
        driver, runtime = f"{r['driver_value']} `{r['driver_name']}`", f"{r['runtime_value']} `{r['runtime_name']}`"
        lines.append(f"| {r['hip_value']} `{r['hip_name']}` | {r['rocm']} | {driver} | {runtime} | {r['reason']} |")
    return lines


def _headers() -> list[str]:
    rows = [row for row, _ in read(DATA / "headers.tsv", ("name", "kind", "target", "since", "reason"))]
    lines = ["## Headers and name spaces", "", "| CUDA | ROCm | since | |", "| --- | --- | --- | --- |"]
    for r in rows:
        target = f"`{r['target']}`" if r["target"] else ""
        note = r["reason"] if r["kind"] == "header" else f"name space, in `{r['reason']}`"
        lines.append(f"| `{r['name']}` | {target} | {r['since']} | {note} |")
    names = [row for row, _ in read(DATA / "device.tsv", ("header", "kind", "name", "target", "since", "reason"))]
    lines += [
        "",
        "Names of device code, by header (`data/rocm/device.tsv` has each):",
        "",
        "| header | names | with a counterpart |",
        "| --- | --- | --- |",
    ]
    for header in dict.fromkeys(r["header"] for r in names):
        mine = [r for r in names if r["header"] == header]
        lines.append(f"| `{header}` | {len(mine)} | {sum(bool(r['target']) for r in mine)} |")
    return lines


def _sources() -> list[str]:
    """Return what each release was read from, as `inputs.tsv` names it."""
    lines = ["## Sources", "", "| release | read from |", "| --- | --- |"]
    groups: dict[str, list[str]] = {}
    for each in load_inputs():
        groups.setdefault(each.folder, []).append(f"{each.package} {each.version}")
    for folder, packages in groups.items():
        if folder not in ("tools", "torch"):
            name, _, version = folder.partition("-")
            lines.append(f"| {f'ROCm {version}' if name == 'rocm' else folder} | {', '.join(packages)} |")
    return lines


def page(stem: str, tables: Tables) -> str:
    """Return the page of one library."""
    ours, theirs = TITLES[stem]
    lines = [
        f"# {ours.replace('the ', 'The ')} and {theirs}",
        "",
        "What the words mean and where the facts come from: [the summary](rocm.md).",
        "",
    ]
    lines += ["## Functions", "", "| CUDA | in | ROCm | since | until | |", "| --- | --- | --- | --- | --- | --- |"]
    lines += [_function(row) for row in tables.functions if row["route"] != "absent"]
    lines += [
        "",
        "## Without a counterpart",
        "",
        *_by_reason((r["name"], r["reason"]) for r in tables.functions if r["route"] == "absent"),
    ]
    lines += ["", "## Types", "", "| CUDA | kind | ROCm | conversion | |", "| --- | --- | --- | --- | --- |"]
    lines += [_type(row) for row in tables.types if row["conversion"] != "none"]
    none = [(r["name"], r["reason"]) for r in tables.types if r["conversion"] == "none"]
    if none:
        lines += ["", "Without a counterpart:", "", *_by_reason(none)]
    lines += ["", "## Constants", "", *_constants(tables)]
    return "\n".join(lines).rstrip() + "\n"


def _function(row: Row) -> str:
    earlier = "; ".join("`{1}` in {0}".format(*part.split("=")) for part in row["earlier"].split())
    notes = [row["reason"], earlier]
    target = f"`{row['target']}`" if row["target"] else "converted"
    kind = "" if row["route"] == "forward" else "converted: " if row["target"] else ""
    text = kind + "; ".join(note for note in notes if note)
    return f"| `{row['name']}` | {row['majors'].replace(' ', ', ')} | {target} | {row['since']} | {row['removed']} | {_cell(text)} |"


def _type(row: Row) -> str:
    target = f"`{row['target']}`" if row["target"] else ""
    return f"| `{row['name']}` | {row['kind']} | {target} | {row['conversion']} | {_cell(row['reason'])} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _by_reason(pairs: Iterable[tuple[str, str]]) -> list[str]:
    groups: dict[str, list[str]] = {}
    for name, reason in pairs:
        groups.setdefault(reason, []).append(name)
    lines: list[str] = []
    for reason, names in sorted(groups.items(), key=lambda item: (item[0] == UNDOCUMENTED, -len(item[1]))):
        shown = ", ".join(f"`{n}`" for n in names[:MANY])
        rest = f" and {len(names) - MANY} more" if len(names) > MANY else ""
        lines.append(f"- {reason}: {shown}{rest}")
    return lines


def _constants(tables: Tables) -> list[str]:
    lines: list[str] = []
    rows = [r for r in tables.constants if r["type"] != "#define"]
    differ = [r for r in rows if r["target"] and (r["earlier"] or not _equal(r))]
    same = sum(bool(r["target"]) for r in rows) - len(differ)
    lines += [
        f"{same} constants of enumerations have a counterpart of the same number. These have one of another number:",
        "",
    ]
    lines += ["| CUDA | 12 | 13 | ROCm | | since | |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for r in differ:
        notes = "; ".join(n for n in (r["reason"], r["earlier"] and f"in {r['earlier'].replace('=', ': ')}") if n)
        second = r["value_12"] if r["value_13"] == "=" else r["value_13"]
        cells = [
            f"`{r['name']}`",
            r["value_12"],
            second,
            f"`{r['target']}`",
            r["target_value"],
            r["since"],
            _cell(notes),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    if not differ:
        lines = [f"{same} constants of enumerations have a counterpart, all of the same number."]
    none = [(r["name"], r["reason"]) for r in rows if not r["target"]]
    if none:
        lines += ["", "Without a counterpart:", "", *_by_reason(none)]
    macros = [
        r
        for r in tables.constants
        if r["type"] == "#define" and r["target"] and not re.fullmatch(r"\w*_v\d+(_64)?|__CUDA_API\w*.*", r["value_12"])
    ]
    if macros:
        lines += [
            "",
            "Macros with a counterpart: " + ", ".join(f"`{r['name']}` → `{r['target']}`" for r in macros) + ".",
        ]
    back = [r for r in tables.back if r["cuda_name"] and r["reason"]]
    if back:
        lines += ["", "On the way back:", "", "| ROCm | CUDA | |", "| --- | --- | --- |"]
        lines += [f"| `{r['name']}` | `{r['cuda_name']}` | {_cell(r['reason'])} |" for r in back]
    return lines


def _equal(row: Row) -> bool:
    return all(cell in ("", "=", row["target_value"]) for cell in (row["value_12"], row["value_13"]))


def pages() -> dict[str, str]:
    """Return every page by its file's name."""
    tables = {stem: load_tables(stem) for stem in STEMS}
    symbols = {
        name: dict(sorted(versions.items(), key=lambda v: number(v[0]))) for name, versions in load_symbols().items()
    }
    return {"rocm.md": summary(tables, symbols), **{f"rocm-{stem}.md": page(stem, tables[stem]) for stem in STEMS}}


def main(arguments: Sequence[str]) -> int:
    """Write the pages into a folder; returns the exit code."""
    if len(arguments) != 1:
        print("usage: python -m anywarp.catalogue.rocm_pages FOLDER", file=sys.stderr)
        return 2
    for name, text in pages().items():
        (Path(arguments[0]) / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
