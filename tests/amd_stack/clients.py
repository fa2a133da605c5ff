"""Programs of others for CUDA over AMD's real HIP on emulated cards: what numba-cuda, cuda.core, tinygrad, Triton and bitsandbytes compute, held against numpy.

python tests/amd_stack/clients.py [PART...] [--card gfx942]... [--results FILE] [--table docs/hip-stack-clients.md]

A part is one process: a client, and what of it is run. Whatever Python runs this must have the client's package.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from amd_stack import stack

TESTS = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).with_name("clients.json")
LIMIT = 900


@dataclass(frozen=True)
class Client:
    """A program of tests/clients (or one here), the package that it needs, and its parts: what is run of it, by name."""

    script: Path
    package: str
    parts: dict[str, tuple[str, ...]] = field(default_factory=lambda: {"all": ()})


def bitsandbytes_library() -> tuple[str, ...]:
    """Return the path of its library, where it is installed."""
    found = importlib.util.find_spec("bitsandbytes")
    return (str(Path(str(found.origin)).with_name("libbitsandbytes_cuda130.so")),) if found else ()


FAMILIES = ("elementwise", "reduction", "movement", "indexing", "linear", "network")
THEMES = ("warp", "atomics", "memory", "control", "maths", "streams")
CLIENTS = {
    "numba-cuda": Client(
        TESTS / "clients/numba_features.py", "numba_cuda", {theme: (f"{theme}.",) for theme in THEMES}
    ),
    "cuda.core": Client(TESTS / "clients/cuda_core_features.py", "cuda.core"),
    "tinygrad": Client(
        TESTS / "clients/tinygrad_ops.py", "tinygrad", {name: ("--family", name, "--first-type") for name in FAMILIES}
    ),
    "Triton": Client(TESTS / "amd_stack/triton_kernels.py", "triton"),
    "bitsandbytes": Client(TESTS / "clients/bitsandbytes_calls.py", "bitsandbytes", {"all": bitsandbytes_library()}),
}


@dataclass(frozen=True)
class Outcome:
    """How many checks of a part were right, the names of those that were not with what they said, and how the process ended if it did not end well."""

    right: int
    failed: dict[str, str]
    end: str
    seconds: float


def seen(name: str, part: str, card: str, limit: float = LIMIT) -> Outcome:
    """Run a part of a client over an emulated card."""
    client = CLIENTS[name]
    command = [
        sys.executable,
        "-m",
        "anywarp",
        "run",
        "--device",
        "hip",
        "--",
        sys.executable,
        "-W",
        "ignore",
        client.script,
    ]
    started = time.perf_counter()
    try:
        done = stack.run([*command, *client.parts[part]], card, limit=limit)
    except subprocess.TimeoutExpired as late:
        words, end = (late.output or b""), f"did not end within {limit:.0f} s"
        return outcome(words if isinstance(words, str) else words.decode(errors="replace"), end, limit)
    seconds = round(time.perf_counter() - started, 1)
    each = outcome(done.stdout, "", seconds)
    bad = done.returncode not in (0, 1) or (done.returncode and not each.failed)
    own = rf"(?m)^(.*\[rj warn\]|{re.escape(str(stack.PLACE))}/run: ).*\n?"  # the stack's, not the client's
    said = re.sub(own, "", done.stderr).strip().splitlines() or ["nothing said"]
    return outcome(done.stdout, f"exit code {done.returncode}: {said[-1][:200]}", seconds) if bad else each


def outcome(words: str, end: str, seconds: float) -> Outcome:
    """Read what a client says of its checks: a line for each, or how many there were and a line for each that failed."""
    failed = {}
    for line in re.findall(r"^FAILED (.*)", words, re.M):
        what, _, said = line.partition(" ")
        failed[what.removesuffix(":")] = said[:200]
    counted = re.search(r"(\d+) checks, (\d+) failed", words)
    right = int(counted[1]) - int(counted[2]) if counted else len(re.findall(r"^ok ", words, re.M))
    return Outcome(right, failed, end, seconds)


def page(found: dict[str, dict[str, Outcome]], why: dict[str, str]) -> str:
    """Return the table of clients by card."""
    cards = sorted({card for each in found.values() for card in each}, reverse=True)
    lines = [
        "# Programs of others over AMD's real HIP, on emulated cards",
        "",
        "Made by `python tests/amd_stack/clients.py --table docs/hip-stack-clients.md`: what packages for CUDA compute under `anywarp run --device hip` over Debian's",
        "HIP 6.4.3 and AMD's emulator of a card ([hip-stack.md](hip-stack.md)), held against numpy. Nothing here ran on an AMD GPU.",
        "",
        "| client | part | " + " | ".join(cards) + " |",
        "| --- | --- |" + " --- |" * len(cards),
    ]
    for name, each in found.items():
        cells = [cell(each[card]) if card in each else "not run" for card in cards]
        lines.append(f"| {' | '.join(name.split(': '))} | {' | '.join(cells)} |")
    heading = [
        "",
        "## What was not right, and whose it is",
        "",
        "| client | check | card | seen | why |",
        "| --- | --- | --- | --- | --- |",
    ]
    rows: list[str] = []
    for name, each in found.items():
        for card in cards:
            bad = dict(each[card].failed) if card in each else {}
            if card in each and each[card].end:
                bad["the process"] = each[card].end
            for what, said in bad.items():
                cause = why.get(f"{name}: {what}", why.get(name.split(": ")[0], "not found out"))
                rows.append(f"| {name.split(': ')[0]} | {what} | {card} | {said.replace('|', '/')} | {cause} |")
    return "\n".join([*lines, *(heading + rows if rows else ["", "All that ran was right."])]) + "\n"


def cell(each: Outcome) -> str:
    """Return how many of a part's checks were right."""
    return f"{each.right} of {each.right + len(each.failed)}" + (", then it ended" if each.end else "")


def main() -> None:
    """Run what the command line asks for, and write results and table."""
    from amd_stack.test_clients import WHY

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="PART", help="`tinygrad: linear`, `cuda.core: all`, or a client")
    parser.add_argument("--card", action="append")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE")
    parser.add_argument("--table", type=Path, metavar="PAGE")
    parser.add_argument("--only-table", action="store_true", help="run nothing")
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="SECONDS")
    arguments = parser.parse_args()
    kept = json.loads(arguments.results.read_text()) if arguments.results.exists() else {}
    found = {name: {card: Outcome(**each) for card, each in cards.items()} for name, cards in kept.items()}
    parts = [(name, part) for name, client in CLIENTS.items() for part in client.parts]
    for name, part in [] if arguments.only_table else parts:
        whole = f"{name}: {part}"
        if arguments.names and not {name, whole} & set(arguments.names):
            continue
        for card in arguments.card or ["gfx942"]:
            each = seen(name, part, card, arguments.limit)
            found.setdefault(whole, {})[card] = each
            print(
                f"{whole:26} {card:8} {each.right:4} right, {len(each.failed)} failed {each.seconds:6.1f} s {each.end}",
                flush=True,
            )
            for what, said in each.failed.items():
                print(f"    {what}: {said}", flush=True)
            rows = (f" {json.dumps(n)}: {json.dumps({c: asdict(o) for c, o in e.items()})}" for n, e in found.items())
            arguments.results.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    if arguments.table:
        arguments.table.write_text(page(found, WHY))


if __name__ == "__main__":
    main()
