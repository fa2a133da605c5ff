"""Translate examples/cuda, or any tree, and compile every program for AMD GPUs: which compile, and what the rest say.

python benchmarks/translate_examples.py                                print a table
python benchmarks/translate_examples.py --page docs/translate-examples.md
python benchmarks/translate_examples.py TREE --arch gfx942 --arch gfx1100
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from anywarp.migrate.translate import hip_compiler

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "cuda"

SAID = 4
"""So many of the translator's own errors are listed per program."""


@dataclass(frozen=True)
class Outcome:
    """One program on one architecture: what the compiler said, and which errors the translator had reported before."""

    program: str
    architecture: str
    state: str
    result: str
    told: tuple[str, ...]

    def cell(self) -> str:
        """What the table says."""
        if self.state == "compiles":
            return "compiles, with remarks" if self.told else "compiles"
        if self.state == "unchecked":
            return "not checked"
        return "refused" if self.told else "**errors**"


def run(tree: Path, architecture: str, rocm: str) -> list[Outcome]:
    """Translate a tree into a folder of its own and compile all its programs, as a user would."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable, "-m", "anywarp", "translate", str(tree), "-o", folder, "--target", f"hip:{architecture}",
            "--rocm", rocm, "--check", "--format", "json",
        ]  # fmt: skip
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    answer = json.loads(done.stdout)
    told: dict[str, list[str]] = {}
    for diagnostic in answer["diagnostics"]:
        if diagnostic["severity"] == "error" and diagnostic["code"] not in ("M160", "M161", "M162"):
            line = f"{diagnostic['code']}, line {diagnostic.get('line', '?')}: {diagnostic['message']}"
            told.setdefault(diagnostic.get("file", ""), []).append(line)
    return [
        Outcome(c["file"], architecture, c["state"], c["result"], tuple(told.get(c["file"], ())))
        for c in answer["checked"]
    ]


def page(outcomes: list[Outcome], tree: str, rocm: str) -> str:
    """Render the table, and below it each program that does not compile with the reasons."""
    architectures = list(dict.fromkeys(outcome.architecture for outcome in outcomes))
    by_program: dict[str, dict[str, Outcome]] = {}
    for outcome in outcomes:
        by_program.setdefault(outcome.program, {})[outcome.architecture] = outcome
    compiler = hip_compiler.find()
    counts = Counter((o.architecture, o.state) for o in outcomes)
    sums = "; ".join(f"{a}: {counts[a, 'compiles']} of {len(by_program)}" for a in architectures)
    lines = [
        f"# {tree}, translated to HIP and compiled",
        "",
        f"`anywarp translate --rocm {rocm}` translated every program of `{tree}`; {compiler.name} with HIP {compiler.hip}'s headers compiled",
        "the device side and the host side of each to object code (`-O1`; nothing was linked or run, there was no AMD GPU). Kernels of",
        "seven of them were executed in an emulator of AMD's instructions, and computed what they should (`tests/migrate/translate/test_examples_emulated.py`).",
        f"Compiled: {sums}. *refused*: the translator itself said that something in the file needs a person, so the compiler's",
        "errors were foretold; *with remarks*: it said so, and the rest compiles.",
        "",
        "This page is made by `benchmarks/translate_examples.py`.",
        "",
        "| program | " + " | ".join(architectures) + " |",
        "| --- |" + " --- |" * len(architectures),
    ]
    for program, cells in by_program.items():
        lines.append(f"| {program} | " + " | ".join(cells[a].cell() for a in architectures) + " |")
    lines += ["", "## What the rest say", ""]
    for program, cells in by_program.items():
        lines += _reasons(program, [outcome for outcome in cells.values() if outcome.state != "compiles"])
    return "\n".join(lines) + "\n"


def _reasons(program: str, outcomes: list[Outcome]) -> list[str]:
    results: dict[str, list[str]] = {}
    for outcome in outcomes:
        results.setdefault(outcome.result, []).append(outcome.architecture)
    lines = [f"- `{program}`, {' and '.join(where)}: {result}" for result, where in results.items()]
    said = list(dict.fromkeys(words for outcome in outcomes for words in outcome.told))
    lines += [f"  - the translator said: {words}" for words in said[:SAID]]
    return lines + ([f"  - and {len(said) - SAID} more of that kind"] if len(said) > SAID else [])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", nargs="?", type=Path, default=EXAMPLES)
    parser.add_argument("--arch", action="append", help="gfx90a and gfx942 by default")
    parser.add_argument("--rocm", default="7.1")
    parser.add_argument("--page", type=Path, help="write the page here instead of printing it")
    options = parser.parse_args()
    outcomes = [o for arch in options.arch or ["gfx90a", "gfx942"] for o in run(options.tree, arch, options.rocm)]
    name = "examples/cuda" if options.tree == EXAMPLES else options.tree.name
    text = page(outcomes, name, options.rocm)
    if options.page:
        options.page.write_text(text)
        print(f"{sum(o.state == 'compiles' for o in outcomes)} of {len(outcomes)} compile", file=sys.stderr)
    else:
        print(text)
    return 0 if all(o.state == "compiles" or o.told for o in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
