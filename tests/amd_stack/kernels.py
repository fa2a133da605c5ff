"""Run the kernels of benchmarks/kernels over an emulated card, small, while the emulator counts instructions and looks for races.

python tests/amd_stack/kernels.py [NAME...] [--card gfx942]...

Each kernel runs through anywarp's driver and HIP, its numbers are checked, and the emulator's own detector (RJ_RACE) says which registers and shared memory were
read before a wait or a barrier made them sure. `--inside NAME` is what runs over the card.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.append(str(ROOT / "benchmarks"))  # behind: both have a module `clients`

LIMIT = 400


@dataclass(frozen=True)
class Seen:
    """What was seen of a kernel: whether its numbers are right, its waves' instructions by mnemonic (nothing where its launch was not told from HIP's own,
    for the emulator has no names), and the detector's words about each race."""

    right: bool
    said: str
    executed: dict[str, int]
    races: tuple[str, ...]


def names() -> list[str]:
    """Return the kernels that there are."""
    import amd_counts

    return [work.name for work in amd_counts.workloads("main")]


def inside(name: str) -> None:
    """Run a kernel by the driver of this process, and print whether it is right."""
    import amd_counts
    from runners import Cuda

    [work] = [each for each in amd_counts.workloads("main") if each.name == name]
    runner, arrays = Cuda(), work.make()
    state = runner.prepare(work, arrays)
    runner.launch(state, work)
    print(
        json.dumps({"groups": work.grid[0] * work.grid[1], **amd_counts.judged(work, arrays, runner.fetch(state))}),
        flush=True,
    )


def seen(name: str, card: str, limit: float = LIMIT) -> Seen:
    """Run a kernel over a card with the emulator's detector of races and our counts."""
    from amd_stack import stack

    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "anywarp", "run", "--device", "hip", "--", sys.executable, __file__]
        try:
            done = stack.run(
                [*command, "--inside", name], card, limit=limit, RJ_RACE="1", RJ_COUNTS="1", RJ_SINKS="file", RJ_SINK_DIR=folder
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Seen(False, f"more than {limit:.0f} s", {}, ())
        counted = [json.loads(line) for path in Path(folder).glob("counts*") for line in path.read_text().splitlines()]
        races = [path.read_text(errors="replace") for path in Path(folder).glob("race*")]
    found = re.findall(r"^RACE .*?^END_RACE", "\n".join(races), re.M | re.S)
    words = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    right = bool(words) and words[-1]["right"]
    executed = launch_of(counted, words[-1]["groups"]) if words else {}
    return Seen(right, "" if right else (done.stderr or done.stdout)[-300:], executed, tuple(found))


def launch_of(counted: list[dict[str, Any]], groups: int) -> dict[str, int]:
    """Return what the only launch of so many groups executed that is not one of HIP's copies, which read by FLAT instructions; without waits."""
    import amd_counts

    launches = [
        each["instructions"]
        for each in counted
        if each["groups"] == groups and not any(name.startswith("flat_") for name in each["instructions"])
    ]
    if len(launches) != 1:
        return {}
    return {name: numbers[0] for name, numbers in launches[0].items() if amd_counts.class_of(name) != "waits"}


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--card", action="append")
    parser.add_argument("--inside", metavar="NAME")
    arguments = parser.parse_args()
    if arguments.inside:
        return inside(arguments.inside)
    for card in arguments.card or ["gfx942"]:
        for name in arguments.names or names():
            each = seen(name, card)
            print(
                f"{name:16} {card:8} {'right' if each.right else 'NOT RIGHT'} {sum(each.executed.values()):8} instructions {len(each.races)} races {each.said}",
                flush=True,
            )
            for race in each.races[:3]:
                print("    " + race.replace("\n", "\n    "), flush=True)
    return None


if __name__ == "__main__":
    main()
