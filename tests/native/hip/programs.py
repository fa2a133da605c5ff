"""Run the CUDA sample programs over the fake HIP runtime: launches recorded, or executed in the instruction emulator.

python tests/native/hip/programs.py [NAME...] [--emulate gfx942] [--table docs/hip-programs.md]

Recorded, a program's own check of its numbers cannot hold, since no kernel runs; what is seen is that every call is taken and which
launches come out. Emulated (a checkout of tinygrad, in TINYGRAD) the numbers must be right.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "examples" / "cuda")]

import run as examples  # noqa: E402

from native.hip.rig import environment  # noqa: E402

EXECUTE = ROOT / "tests" / "fakes" / "rocm" / "execute.py"
REFUSED = re.compile(r"is not supported|are not supported|NotSupported|NOT_SUPPORTED")


@dataclass(frozen=True)
class Outcome:
    """What became of a program: what it said, what the fake wrote down, and whether the program was content."""

    name: str
    right: bool
    code: int
    words: str
    launches: int
    kernels: int
    faults: tuple[str, ...]
    seconds: float

    @property
    def through(self) -> bool:
        """Whether every call was taken: none refused, none misused, and the program came to its end."""
        return (
            not self.faults
            and not REFUSED.search(self.words)
            and self.code in (0, 1)
            and not CALL_FAILED.search(self.words)
        )


CALL_FAILED = re.compile(r"\.cu:\d+: .*: (cuda|CUDA_)Error", re.IGNORECASE)


def run(program: examples.Program, target: Path, devices: str, emulate: bool, limit: float = 200) -> Outcome:
    """Run a built program under `anywarp run --device hip`."""
    with tempfile.TemporaryDirectory() as folder:
        env = environment(Path(folder), FAKE_HIP_DEVICES=devices, **program.environment)
        if emulate:
            env |= {"FAKE_HIP_EXECUTE": str(EXECUTE), "FAKE_HIP_PYTHON": sys.executable}
        else:
            env["FAKE_HIP_FILL"] = "0"  # counts that no kernel writes are used as they are
        command = [sys.executable, "-m", "anywarp", "run", "--device", "hip", "--", str(target)]
        started = time.perf_counter()
        try:
            done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=limit, errors="replace")
            code, words = done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            code, words = -1, f"more than {limit:.0f} s"
        seconds = time.perf_counter() - started
        path = Path(folder) / "records"
        records = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    launches = [each["launch"] for each in records if "launch" in each]
    right = code == 0 and all(re.search(wanted, words, re.M) for wanted in program.expected)
    faults = tuple(each["fault"] for each in records if "fault" in each)
    return Outcome(program.name, right, code, words, len(launches), len(set(launches)), faults, seconds)


NOT_EMULATED = {"thread_streams": "not emulated: its kernels wait for each other, and the emulator runs one at a time"}
"""Programs that the emulator cannot run, and why."""


def devices_of(program: examples.Program, arch: str) -> str:
    """Return the devices that a program needs."""
    return f"{arch},{arch}" if program.name == "peer_copies" else arch


def table(rows: list[tuple[dict[str, Outcome], str]], archs: list[str]) -> str:
    """Return the page: outcomes of each program and what it shows."""
    lines = [
        "# CUDA C++ programs over HIP, without a card",
        "",
        "Made by `python tests/native/hip/programs.py --table docs/hip-programs.md`. Each program of `examples/cuda/`, built by nvcc with",
        "`-cudart shared`, ran under `anywarp run --device hip` over the fake HIP runtime of the tests, which checks arguments, lifetimes and",
        "order. *Recorded*: kernels are compiled for the MI300X, loaded and written down, not executed; a number is how many launches came",
        "out (of how many kernels). *Emulated*: launches are executed by an emulator of AMD's instructions, and the program checks its own",
        "numbers. Nothing here ran on an AMD GPU.",
        "",
        "| program | what it shows | recorded | " + " | ".join(f"emulated {arch}" for arch in archs) + " |",
        "| --- | --- | --- |" + " --- |" * len(archs),
    ]
    for outcomes, shows in rows:
        recorded = outcomes["recorded"]
        first = f"{recorded.launches} ({recorded.kernels})" if recorded.through else f"refused: {_reason(recorded)}"
        cells = [
            NOT_EMULATED.get(recorded.name, "not tried")
            if arch not in outcomes
            else "right"
            if outcomes[arch].right
            else f"no: {_reason(outcomes[arch])}"
            for arch in archs
        ]
        lines.append(f"| `{recorded.name}` | {shows} | {first} | {' | '.join(cells)} |")
    through = sum(outcomes["recorded"].through for outcomes, _ in rows)
    lines += ["", f"Recorded: {through} of {len(rows)} came through without a refused call.  "]
    for arch in archs:
        right = sum(arch in outcomes and outcomes[arch].right for outcomes, _ in rows)
        lines.append(f"Emulated on {arch}: {right} of {len(rows)} right.  ")
    return "\n".join(lines).rstrip() + "\n"


def _reason(outcome: Outcome) -> str:
    if outcome.code == -1:
        return outcome.words
    for line in (*outcome.faults, *outcome.words.splitlines()):
        if re.search(r"not supported|NotSupported|error\[|fake rocm|CUDA_ERROR|cudaError", line):
            return re.sub(r"^.*?(anywarp: |examples/cuda/)", "", line.replace("|", "/"))[:110]
    return (outcome.words.strip().splitlines() or ["nothing said"])[-1].replace("|", "/")[:110]


def main() -> None:
    """Build and run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--emulate", action="append", default=[], metavar="ARCH")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="build here and keep what was built")
    parser.add_argument(
        "--results",
        type=Path,
        metavar="FILE",
        help="keep outcomes in this file: a later run replaces those that it repeats",
    )
    parser.add_argument("--table", type=Path, metavar="PAGE")
    arguments = parser.parse_args()
    known, found = examples.programs(), _read(arguments.results)
    with tempfile.TemporaryDirectory() as temporary:
        for name in arguments.names or known:
            program, way = known[name], examples.WAYS["shared"]
            folder = (arguments.keep or Path(temporary)) / way.name
            target = folder / program.name
            if not target.exists():
                examples.build(program, way, folder)
            outcomes = found.setdefault(name, {})
            outcomes["recorded"] = run(program, target, devices_of(program, "gfx942"), emulate=False)
            _say("recorded", outcomes["recorded"], outcomes["recorded"].through)
            for arch in () if name in NOT_EMULATED else arguments.emulate:
                outcomes[arch] = run(program, target, devices_of(program, arch), emulate=True)
                _say(arch, outcomes[arch], outcomes[arch].right)
            if arguments.results:
                kept = {name: {what: asdict(o) for what, o in each.items()} for name, each in found.items()}
                arguments.results.write_text(json.dumps(kept), encoding="utf-8")
    rows = [(found[name], known[name].shows) for name in known if name in found]
    if arguments.table:
        archs = arguments.emulate or sorted({arch for each, _ in rows for arch in each} - {"recorded"}, reverse=True)
        arguments.table.write_text(table(rows, archs), encoding="utf-8")
    sys.exit(not all(outcomes["recorded"].through for outcomes, _ in rows))


def _read(path: Path | None) -> dict[str, dict[str, Outcome]]:
    if path is None or not path.exists():
        return {}
    kept = json.loads(path.read_text())
    return {
        name: {what: Outcome(**{**o, "faults": tuple(o["faults"])}) for what, o in each.items()}
        for name, each in kept.items()
    }


def _say(what: str, outcome: Outcome, good: bool) -> None:
    print(
        f"{outcome.name:22} {what:9} {'fine' if good else 'NO'} {outcome.launches:4} launches {outcome.seconds:6.1f} s",
        flush=True,
    )
    if not good:
        print(f"    {_reason(outcome)}", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
