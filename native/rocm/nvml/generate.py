"""Write the functions of NVML that amdsmi does not answer: each says so and returns NOT_SUPPORTED.

The build runs it (`python generate.py nvml.tsv OUT.cpp SOURCES...`, with the standard library only); what a source defines is served.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

REASONS = (
    (r"\w*(Mig|GpuInstance|ComputeInstance)\w*", "partitions of AMD's cards are devices of their own, set by amd-smi"),
    (r"\w*(Vgpu|VGPU|GridLicens|Virtualization)\w*", "no virtual GPUs of NVIDIA's kind"),
    (r"\w*NvLink\w*", "XGMI has no counters and versions of NVLink's: P2P status tells of it"),
    (r"nvml\w*Set\w+|\w*Reset\w*|\w*Clear\w*", "amdsmi's settings are left to amd-smi"),
)


def served(sources: list[Path]) -> set[str]:
    """Name the functions that the sources define."""
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    names = set(re.findall(r"^AW_EXPORT [\w ]+\*? ?(nvml\w+)\(|^AW_SAYS_ZERO\((nvml\w+)\)", text, re.M))
    kinds = re.findall(r"^AW_PROCESSES\((\w+)", text, re.M)
    lists = {f"nvmlDeviceGet{kind}RunningProcesses{version}" for kind in kinds for version in ("", "_v2", "_v3")}
    return {name for pair in names for name in pair if name} | lists


def reason(name: str) -> str:
    """Say why a function is not served."""
    return next((words for pattern, words in REASONS if re.fullmatch(pattern, name)), "amdsmi is not asked for this")


def main(table: Path, out: Path, sources: list[Path]) -> None:
    """Write `out`."""
    lines = [line for line in table.read_text(encoding="utf-8").splitlines() if line and not line.startswith("# ")]
    ours = served(sources)
    names = [name for name in (line.split("\t")[0] for line in lines[1:]) if name not in ours]
    text = ["// Made by native/rocm/nvml/generate.py.", '#include "core/report.h"', ""]
    text += [f'extern "C" __attribute__((visibility("default"))) int {name}() {{ aw::count_absent("{name}", "{reason(name)}"); return 3; }}'
             for name in names]  # fmt: skip
    out.write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [Path(name) for name in sys.argv[3:]])
