"""Derive the table of management (NVML) functions from NVIDIA's own Python bindings, and set routes from the functions that exist.

scripts/derive runs it (`derive_management PYNVML.PY CYNVML.PXD VERSIONS`) with the files of the packages nvidia-ml-py and cuda-bindings when
NVIDIA publishes a version; a developer runs it without arguments when `native/nvml` has gained functions.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from anywarp.catalogue.load import DATA, Row, Table, load

PATH = DATA / "nvml.tsv"
REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = REPOSITORY / "docs" / "coverage" / "nvml.md"

_ASKED = re.compile(r'_nvmlGetFunctionPointer\("(nvml\w+)"\)')
_DECLARED = re.compile(r"\bcdef (?:nvmlReturn_t|const char\*) (nvml\w+)\((.*?)\)", re.DOTALL)
_DEFINED = re.compile(r"^(?:AW_EXPORT [\w ]+\*? ?|AW_NO_LINK\()(nvml\w+)", re.MULTILINE)
_VERSION = re.compile(r"_v\d+$")

FIRST = (
    "nvmlDeviceGetComputeRunningProcesses",
    "nvmlDeviceGetCount",
    "nvmlDeviceGetGraphicsRunningProcesses",
    "nvmlDeviceGetHandleByIndex",
    "nvmlDeviceGetHandleByPciBusId",
    "nvmlDeviceGetMPSComputeRunningProcesses",
    "nvmlDeviceGetNvLinkRemotePciInfo",
    "nvmlDeviceGetPciInfo",
    "nvmlDeviceGetPciInfo_v2",
    "nvmlDeviceRemoveGpu",
    "nvmlEventSetWait",
    "nvmlInit",
)
"""First variants that old programs are linked to; the bindings know the later ones only."""

REASONS = (
    (r"nvml(GpuInstance|ComputeInstance|Device\w*(GpuInstance|ComputeInstance|Mig))", "the device is not partitioned"),
    (r"nvml(Vgpu|Device\w*(Vgpu|Grid))", "the device is not shared between virtual machines"),
    (r"nvml\w*(NvLink|Nvlink|NvLinkBw|C2C|Fabric)", "there are no links between devices"),
    (r"nvmlUnit|nvmlSystemGetHic", "there is no S-class unit"),
    (r"nvml\w*(ConfCompute|Prm|Gpm|PowerProfile|PowerSmoothing)", "hardware that the device does not have"),
    (r"nvml\w*(Ecc|Retired|Remapped|RowRemap|Sram|Dram|RepairStatus)", "errors of its memory are not counted for the device"),
    (r"nvml\w*(Fan|Cooler|Thermal|Temperature|Margin)", "the device's cooling is the machine's"),
    (r"nvml\w*(Clock|Pstate|PerformanceState|PowerManagement|Power|AutoBoost|Perf)", "clocks and power are the operating system's to set"),
    (r"nvml\w*(Pci|Pcie|Bus)", "the device is not on a bus"),
    (r"nvml\w*(Encoder|Decoder|Jpg|Ofa|FBC)", "the device has no unit for video"),
    (r"nvml\w*(Accounting)", "no account is kept of processes that ended"),
    (r"nvml\w*(Inforom|Vbios|Serial|PartNumber|Board|Gsp|Firmware|Module|Platform|Capabilities)", "the device is no board"),
    (r"nvmlDeviceSet|nvmlDeviceReset|nvmlDeviceClear|nvmlSystemSet", "nothing to set"),
)  # fmt: skip
"""Why a function is absent, by the first pattern that matches its name."""


def derive(python_binding: str, cython_binding: str, versions: str) -> Table:
    """Return the table, all absent, of the functions that the two texts name; `versions` says of what they are."""
    counts = {name: text.count(",") + 1 if text.strip() else 0 for name, text in _DECLARED.findall(cython_binding)}
    names = sorted({*_ASKED.findall(python_binding), *counts, *FIRST})
    rows = [
        Row(name, _VERSION.sub("", name), "absent", "", 0, False, counts.get(name, 0), reason(name)) for name in names
    ]
    return Table(f"functions of libnvidia-ml.so.1, from NVIDIA's {versions}", tuple(rows))


def reason(name: str) -> str:
    """Say why a function is absent."""
    return next((words for pattern, words in REASONS if re.match(pattern, name)), "the device has nothing of the kind")


def sync(table: Table, sources: Iterable[str]) -> Table:
    """Set every route from the functions that the C++ texts define."""
    there = {name for text in sources for name in _DEFINED.findall(text)}
    missing = there - {row.name for row in table.rows}
    if missing:
        raise SystemExit(f"no row for {', '.join(sorted(missing))}")
    rows: list[Row] = []
    for row in table.rows:
        route, why = ("custom", "") if row.name in there else ("absent", reason(row.name))
        rows.append(Row(row.name, row.base, route, "", row.since, row.per_thread, row.parameters, why))
    return Table(table.source, tuple(rows))


def as_markdown(table: Table) -> str:
    """Return `docs/coverage/nvml.md`."""
    there = [row.name for row in table.rows if row.route == "custom"]
    absent = [row for row in table.rows if row.route == "absent"]
    lines = [
        "# What our libnvidia-ml.so.1 implements",
        "",
        "Made from `src/anywarp/catalogue/data/nvml.tsv` by `python -m anywarp.catalogue.derive_management`.",
        "",
        f"It exports {len(table.rows)} functions: {len(there)} are implemented, {len(absent)} return `NVML_ERROR_NOT_SUPPORTED`, which",
        "NVML's clients expect of devices without the feature.",
        "",
        "## Implemented",
        "",
        *(f"- `{name}`" for name in there),
        "",
        "## Not supported",
        "",
        "| function | reason |",
        "| --- | --- |",
        *(f"| `{row.name}` | {row.reason} |" for row in absent),
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Run as a command; returns the exit code."""
    if len(arguments) not in (0, 3):
        print("usage: python -m anywarp.catalogue.derive_management [PYNVML.PY CYNVML.PXD VERSIONS]", file=sys.stderr)
        return 2
    texts = [Path(path).read_text(encoding="utf-8") for path in arguments[:2]]
    table = derive(texts[0], texts[1], arguments[2]) if arguments else load(PATH)
    table = sync(
        table, (file.read_text(encoding="utf-8") for file in sorted((REPOSITORY / "native/nvml").glob("*.cpp")))
    )
    PATH.write_text(table.as_text(), encoding="utf-8")
    PAGE.write_text(as_markdown(table), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
