"""Simulate how threads share the blocks of a grid: time until the last one ends over the least possible, for grids of unlike blocks.

Builds `block_sharing.cpp`, which draws the pieces that `native/devices/claims.h` gives, and prints a row per kind of grid: with pieces of one
size, and with those that are used. No thread runs: a claim is taken to cost 20 ns and 5 more for each thread.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent


def rows() -> list[list[str]]:
    """Return threads, blocks for each, the kind of grid, and both ratios."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "block_sharing"
        command = ["g++", "-std=c++20", "-O1", f"-I{HERE.parent / 'native'}", str(HERE / "block_sharing.cpp")]
        subprocess.run([*command, "-o", str(program)], check=True)
        ran = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in ran.stdout.splitlines()]


def main() -> None:
    table = Table("threads", "blocks for each", "blocks", "pieces of one size", "pieces that shrink")
    for row in rows():
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
