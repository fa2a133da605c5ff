"""Measure what the driver and the runtime library for AMD GPUs add to each call of HIP, in one run and on one processor.

Builds `hip_overhead.cpp` and the fake HIP runtime of the tests, whose functions return at once here: what is left is the way to them.
python benchmarks/hip_overhead.py [--table docs/hip-overhead.md]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from anywarp import settings
from anywarp.runtime.build_id import build_id

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))


def measure() -> list[dict]:
    """Return the measured functions: nanoseconds through our library and of HIP's function called directly, the best of 60 rounds."""
    from fakes.rocm import build

    libraries = settings.LIBRARY_DIR.get().resolve()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "hip_overhead"
        command = ["g++", "-std=c++20", "-O2", str(HERE / "hip_overhead.cpp"), "-o", str(program), "-ldl"]
        subprocess.run(command, check=True)
        environment = {
            **os.environ,
            "LD_LIBRARY_PATH": f"{libraries}/hip:{libraries}",
            "ANYWARP_HIP_LIBRARY": str(build.hip() / "7" / "libamdhip64.so.7"),
            "CUDART": "libcudart.so.13",
            "ANYWARP_BUILD_ID": build_id(),
            "FAKE_ROCM_FAST": "1",
            "FAKE_HIP_DEVICES": "gfx942",
        }
        done = subprocess.run([str(program)], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def table(rows: list[dict]) -> str:
    """Return the page with the measured functions."""
    lines = [
        "# What a call costs on the way to HIP",
        "",
        "Made by `python benchmarks/hip_overhead.py --table docs/hip-overhead.md`. Each function of CUDA and its counterpart in HIP were called in turns,",
        "in one process on one processor, 60 rounds of 4,000 calls each; a cell is the best round in nanoseconds per call. HIP is the fake of",
        "the tests (`tests/fakes/rocm`), whose functions return at once: the difference is what our library adds, and what ROCm itself takes",
        "comes on top, with and without us. Nothing here ran on an AMD GPU.",
        "",
        "| library | function | HIP's function | called directly | through ours | added | goal |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        added = row["ours"] - row["direct"]
        cells = (
            row["library"],
            f"`{row['function']}`",
            f"`{row['counterpart']}`",
            f"{row['direct']:.1f}",
            f"{row['ours']:.1f}",
            f"{added:.1f}",
        )
        lines.append(f"| {' | '.join(cells)} | {row['goal']:.0f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the table, or write it to a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, metavar="PAGE", help="write the table to this page")
    arguments = parser.parse_args()
    rows = measure()
    if arguments.table:
        arguments.table.write_text(table(rows), encoding="utf-8")
    for row in rows:
        added = row["ours"] - row["direct"]
        print(
            f"{row['library']:10} {row['function']:22} {row['direct']:6.1f} {row['ours']:7.1f}  +{added:.1f} ns{'' if added <= row['goal'] else '  over'}"
        )


if __name__ == "__main__":
    main()
