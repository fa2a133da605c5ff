"""Run the programs of examples/cuda over AMD's real HIP on emulated cards, and write the table of what became of each.

python tests/amd_stack/programs.py [NAME...] [--card gfx942]... [--keep FOLDER] [--results FILE] [--table docs/hip-stack-programs.md]

Programs are built by nvcc with `-cudart shared`. Results of an earlier run that FILE has are kept but for those that are repeated.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from amd_stack import stack
from amd_stack.cards import CARDS
from native.hip.programs import REFUSED, examples

RESULTS = Path(__file__).with_name("results.json")
LIMIT = 250
TWO_CARDS = {"peer_copies"}


@dataclass(frozen=True)
class Outcome:
    """How a program ended on a card: right, wrong, refused (a call was, by name), died (by a signal) or did not end; and what it said last."""

    how: str
    said: str
    seconds: float


def outcome(program: examples.Program, target: Path, card: str, limit: float = LIMIT, **more: str) -> Outcome:
    """Run a built program under `anywarp run --device hip` over an emulated card."""
    command = [sys.executable, "-m", "anywarp", "run", "--device", "hip", "--", target]
    started = time.perf_counter()
    try:
        done = stack.run(
            command, card, 2 if program.name in TWO_CARDS else 1, limit=limit, **program.environment, **more
        )
    except subprocess.TimeoutExpired:
        return Outcome("did not end", f"more than {limit:.0f} s", limit)
    words, seconds = done.stdout + done.stderr, round(time.perf_counter() - started, 1)
    if done.returncode == 0 and all(re.search(wanted, words, re.M) for wanted in program.expected):
        return Outcome("right", "", seconds)
    how = "refused" if REFUSED.search(words) else "died" if done.returncode < 0 or done.returncode > 128 else "wrong"
    return Outcome(how, reason(words, done.returncode), seconds)


def reason(words: str, code: int) -> str:
    """Return the line of a program's words that says most about why it failed."""
    own = re.compile(
        r"Resource leak detected|\[rj warn\]|" + re.escape(f"{stack.PLACE}/run: ")
    )  # the stack's, not the program's
    lines = [line for line in words.splitlines() if line.strip() and not own.search(line)]
    lines = [re.sub(r"^.*?(anywarp: |examples/cuda/|/sources/)", "", line) for line in lines]
    telling = [line for line in lines if re.search(r"not supported|error\[|CUDA_ERROR|cudaError|Error", line)]
    return f"{(telling or lines or ['nothing said'])[-1][:150]} (exit code {code})"


def page(found: dict[str, dict[str, Outcome]], why: dict[str, str]) -> str:
    """Return the table of programs by card, and the reasons of those that are not right."""
    cards = [card for card in CARDS if any(card in each for each in found.values())]
    lines = [
        "# CUDA C++ programs over AMD's real HIP, on emulated cards",
        "",
        "Made by `python tests/amd_stack/programs.py --table docs/hip-stack-programs.md`. Each program of `examples/cuda/`, built by nvcc with `-cudart shared`,",
        "ran under `anywarp run --device hip` over Debian's HIP 6.4.3 and AMD's emulator of a card ([hip-stack.md](hip-stack.md)), and checked its own numbers.",
        "Nothing here ran on an AMD GPU. *Refused*: a call said that it is not supported, by name.",
        "",
        "| | " + " | ".join(cards) + " |",
        "| --- |" + " --- |" * len(cards),
    ]
    for how in ("right", "wrong", "refused", "died", "did not end"):
        counts = [sum(card in each and each[card].how == how for each in found.values()) for card in cards]
        lines.append(f"| {how} | " + " | ".join(map(str, counts)) + " |")
    lines += ["", "| program | " + " | ".join(cards) + " |", "| --- |" + " --- |" * len(cards)]
    for name, each in sorted(found.items()):
        lines.append(
            f"| `{name}` | " + " | ".join(each[card].how if card in each else "not run" for card in cards) + " |"
        )
    lines += [
        "",
        "## What is not right, and whose it is",
        "",
        "| program | card | | seen | why |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, each in sorted(found.items()):
        for card in cards:
            if card in each and each[card].how != "right":
                said = each[card].said.replace("|", "/")
                cause = why.get(name, "not found out")
                lines.append(f"| `{name}` | {card} | {each[card].how} | {said} | {cause} |")
    return "\n".join(lines).rstrip() + "\n"


def read(path: Path) -> dict[str, dict[str, Outcome]]:
    """Read results that an earlier run kept."""
    if not path.exists():
        return {}
    kept = json.loads(path.read_text())
    return {name: {card: Outcome(**each) for card, each in cards.items()} for name, cards in kept.items()}


def write(path: Path, found: dict[str, dict[str, Outcome]]) -> None:
    """Write results, a line for each program."""
    rows = (
        f" {json.dumps(name)}: {json.dumps({card: asdict(o) for card, o in each.items()})}"
        for name, each in sorted(found.items())
    )
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n")


def main() -> None:
    """Run what the command line asks for, and write results and table."""
    from amd_stack.test_programs import WRONG

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--card", action="append", choices=list(CARDS), help="all that the emulator has, unless named")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="build here and keep what was built")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE")
    parser.add_argument("--table", type=Path, metavar="PAGE")
    parser.add_argument("--only-table", action="store_true", help="run nothing")
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="SECONDS")
    arguments = parser.parse_args()
    known, found = examples.programs(), read(arguments.results)
    cards = arguments.card or [card for card in CARDS if stack.emulated(card)]
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        for name in [] if arguments.only_table else arguments.names or known:
            target = folder / name
            if not target.exists():
                examples.build(known[name], examples.WAYS["shared"], folder)
            for card in cards:
                each = outcome(known[name], target, card, arguments.limit)
                found.setdefault(name, {})[card] = each
                print(f"{name:22} {card:8} {each.how:12} {each.seconds:6.1f} s {each.said}", flush=True)
                write(arguments.results, found)
    if arguments.table:
        arguments.table.write_text(page(found, WRONG))


if __name__ == "__main__":
    main()
