"""Measure what our libraries add to each call of ROCm's math and communication libraries, in one run and on one processor.

Builds `rocm_library_overhead.cpp` twice: as libraries under ROCm's names whose functions return at once, and as the program that calls.
python benchmarks/rocm_library_overhead.py [--table docs/rocm-library-overhead.md]
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

HERE = Path(__file__).resolve().parent
TARGETS = ("libhipblas.so.3", "libhipfft.so.0", "librccl.so.1")


def measure() -> list[dict]:
    """Return the measured functions: nanoseconds through our library and of the counterpart called directly, the best of many rounds."""
    libraries = settings.LIBRARY_DIR.get().resolve()
    source = str(HERE / "rocm_library_overhead.cpp")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program"
        subprocess.run(["g++", "-std=c++20", "-O2", source, "-o", str(program), "-ldl"], check=True)
        for name in TARGETS:
            command = [
                "g++",
                "-std=c++20",
                "-O2",
                "-DTARGET",
                "-shared",
                "-fPIC",
                "-w",
                source,
                "-o",
                f"{folder}/{name}",
            ]
            subprocess.run(command, check=True)
        environment = {
            **os.environ,
            "LD_LIBRARY_PATH": f"{libraries}/hip:{libraries}:{folder}",
            "ANYWARP_ROCM_PATH": folder,
        }
        pinned = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
        done = subprocess.run([*pinned, str(program)], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def table(rows: list[dict]) -> str:
    """Return the page with the measured functions."""
    lines = [
        "# What a call costs on the way to ROCm's libraries",
        "",
        "Made by `python benchmarks/rocm_library_overhead.py --table docs/rocm-library-overhead.md`. Each function of CUDA's libraries and its",
        "counterpart were called in turns, in one process on one processor, 300 rounds of 4,000 calls each; a cell is the best round in nanoseconds per",
        "call. The counterparts return at once: the difference is what our library adds. Nothing here ran on an AMD GPU.",
        "",
        "| library | function | counterpart | called directly | through ours | added | goal |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        numbers = f"{row['direct']:.1f} | {row['ours']:.1f} | {row['ours'] - row['direct']:.1f} | {row['goal']:.0f}"
        lines.append(f"| {row['library']} | `{row['function']}` | `{row['counterpart']}` | {numbers} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the table, or write it to a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, metavar="PAGE", help="write the table to this page")
    arguments = parser.parse_args()
    page = table(measure())
    if arguments.table:
        arguments.table.write_text(page, encoding="utf-8")
    else:
        print(page, end="")


if __name__ == "__main__":
    main()
