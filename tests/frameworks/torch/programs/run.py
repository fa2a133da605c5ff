"""Run every program on plain CPU torch and on `cuda` under anywarp, compare what they print, and show a table.

Usage: python run.py --source FOLDER [--python PYTHON] [--only NAME ...] [--json FILE]. FOLDER holds the programs, each fetched by
the user into a folder of its own name; nothing of them is part of this project.
"""

# pyright: basic
from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MARK = "RESULT "
CASES: tuple[tuple[str, str], ...] = (
    ("nanogpt", ""), ("nanogpt_compile", ""), ("nanogpt_bench", ""),
    ("transformers_models", "llama"), ("transformers_models", "qwen2"), ("transformers_models", "qwen3"),
    ("transformers_models", "mixtral"), ("transformers_models", "bert"), ("transformers_models", "vit"),
    ("transformers_models", "whisper"), ("transformers_models", "t5"),
    ("transformers_models", "llama-compile"), ("transformers_models", "bert-compile"), ("transformers_models", "t5-compile"),
    ("mingpt", ""), ("llmc", ""), ("gptfast", "plain"), ("gptfast", "compile"), ("dcgan", ""), ("imagenet", ""),
    ("diffusion", ""), ("dit", ""), ("whisper_transcribe", ""), ("sam", ""),
    ("distributed", "equal"), ("distributed", "examples"), ("distributed", "nanogpt"), ("distributed", "dit"),
)  # fmt: skip


@dataclass
class Row:
    """One line of the table. `difference` is the largest relative difference of compared numbers; None when none compares."""

    program: str
    cpu: str = ""
    cuda: str = ""
    difference: float | None = None
    seconds_cpu: float = 0.0
    seconds_cuda: float = 0.0
    verdict: str = ""
    details: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


def start(command: list[str], limit: int, **more: str) -> tuple[dict[str, Any], float]:
    """Run a driver, with `more` in its environment; return its result line, or an error with its last words, and the seconds that it took."""
    began = time.monotonic()
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, cwd=HERE, env={**os.environ, **more}
        )
    except subprocess.TimeoutExpired:
        return {"error": f"no end within {limit} s"}, time.monotonic() - began
    took = time.monotonic() - began
    lines = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if not lines:
        return {"error": f"exit code {done.returncode}: {(done.stdout + done.stderr)[-3000:]}"}, took
    return json.loads(lines[-1][len(MARK) :]), took


def numbers_of(value: Any) -> list[float] | None:
    """Return the numbers in a nested list, or None when something else is in it."""
    if isinstance(value, (bool, str)):
        return None
    if isinstance(value, (int, float)):
        return [float(value)]
    if isinstance(value, list):
        parts = [numbers_of(each) for each in value]
        return None if any(part is None for part in parts) else [each for part in parts for each in part or []]
    return None


def compare(name: str, cpu: Any, cuda: Any) -> tuple[float | None, str]:
    """Return the largest relative difference and what is wrong ("" when nothing is).

    A name ending in `?` is not compared (its random numbers are the device's); `~` has 5 %, others 0.1 %; text must be equal.
    """
    mine = numbers_of(cuda)
    if mine is not None and (not mine or not all(math.isfinite(each) for each in mine)):
        return None, f"{name}: not finite or empty: {cuda}"
    if name.endswith("?"):
        return None, ""
    other = numbers_of(cpu)
    if mine is None or other is None:
        return (0.0, "") if cpu == cuda else (None, f"{name}: {cpu!r} on cpu, {cuda!r} on cuda")
    if len(mine) != len(other):
        return None, f"{name}: {len(other)} numbers on cpu, {len(mine)} on cuda"
    worst = max((abs(left - right) / max(1.0, abs(left)) for left, right in zip(other, mine, strict=True)), default=0.0)
    return worst, "" if worst <= (0.05 if name.endswith("~") else 0.001) else f"{name}: {cpu} on cpu, {cuda} on cuda"


def judge(row: Row, cpu: dict[str, Any], cuda: dict[str, Any]) -> None:
    """Fill in the verdict: same, runs (nothing to compare), differs, fails."""
    row.cpu = "failed" if "error" in cpu else "ran" if cpu["values"] else "has no cpu form"
    row.cuda = "failed" if "error" in cuda else "ran"
    row.commands = cuda.get("commands", [])
    row.details = [f"{side}: {result['error']}" for side, result in (("cpu", cpu), ("cuda", cuda)) if "error" in result]
    if "error" in cuda:
        row.verdict = "fails"
        return
    expected = cpu.get("values", {})
    for name, value in cuda["values"].items():
        against = name if name in expected else f"{name} ?" if not name.endswith("?") and not expected else name
        difference, wrong = compare(against, expected.get(name), value)
        if not name.endswith("~") and difference is not None:
            row.difference = max(row.difference or 0.0, difference)
        if wrong:
            row.details.append(wrong)
    row.verdict = "differs" if row.details and "error" not in cpu else "same" if row.difference is not None else "runs"


def table(rows: list[Row]) -> str:
    """Return the rows as a table in Markdown."""
    lines = [
        "| program | cpu | cuda | largest difference | cpu s | cuda s | verdict |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        difference = "none compared" if row.difference is None else f"{row.difference:.1e}"
        lines.append(
            f"| {row.program} | {row.cpu} | {row.cuda} | {difference} | {row.seconds_cpu:.0f} | {row.seconds_cuda:.0f} | {row.verdict} |"
        )
    return "\n".join(lines)


def main() -> int:
    """Run what is asked; exit code 1 when a program fails or differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--python", default=sys.executable, help="the Python that has torch and the programs' packages")
    parser.add_argument("--anywarp", default="anywarp", help="the anywarp command")
    parser.add_argument("--only", nargs="*", default=[], help="names as in the table, or the part before the blank")
    parser.add_argument(
        "--json", type=Path, default=None, help="read earlier rows from, and write all rows to, this file"
    )
    parser.add_argument(
        "--keep-cpu", type=Path, default=None, help="folder in which results of plain CPU torch are kept"
    )
    parser.add_argument("--limit", type=int, default=300, help="seconds that one program may take")
    chosen = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    rows: dict[str, Row] = {}
    if chosen.json and chosen.json.exists():
        rows = {each["program"]: Row(**each) for each in json.loads(chosen.json.read_text())}
    for driver, case in CASES:
        name = f"{driver} {case}".strip()
        if chosen.only and name not in chosen.only and driver not in chosen.only:
            continue
        row = Row(name)
        command = [chosen.python, f"{driver}.py", "--source", str(chosen.source.resolve()), "--case", case, "--device"]
        kept = chosen.keep_cpu / f"{name.replace(' ', '-')}.json" if chosen.keep_cpu else None
        if kept and kept.exists():
            cpu, row.seconds_cpu = json.loads(kept.read_text())
        else:
            # Programs that take `cuda` whenever it is there: a build for CUDA must see no card.
            cpu, row.seconds_cpu = start([*command, "cpu"], chosen.limit, CUDA_VISIBLE_DEVICES="")
            if kept and "error" not in cpu:
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_text(json.dumps([cpu, row.seconds_cpu]))
        cuda, row.seconds_cuda = start([chosen.anywarp, "run", "--", *command, "cuda"], chosen.limit)
        judge(row, cpu, cuda)
        rows[name] = row
        print(f"{row.verdict:8} {name}  ({row.seconds_cpu:.0f} s, {row.seconds_cuda:.0f} s)", flush=True)
        for each in row.details:
            print(f"         {each[-1500:]}", flush=True)
        if chosen.json:
            chosen.json.write_text(json.dumps([asdict(each) for each in rows.values()], indent=1))
    print(table(list(rows.values())))
    return 1 if any(row.verdict in ("fails", "differs") for row in rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
