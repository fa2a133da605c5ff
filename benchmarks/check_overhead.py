"""How much slower kernels are while they check themselves: ratios to the same kernels without checks, on small problems.

python benchmarks/check_overhead.py [--kernels softmax,sgemm16]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "checking"))

CHECKS = ("", "memory", "init", "race", "sync", "all")
TIMES = 5


def worker(names: list[str]) -> None:
    """Print the seconds that each kernel takes, the best of a few launches after the first."""
    import struct

    from driver import Driver
    from run_clean import CASES

    d, taken = Driver(), {}
    for name in names:
        inputs, outputs, others, grid, block = CASES[name]
        grid = (grid[0] * 16, *grid[1:]) if name in GROWS else grid
        scale = 16 if name in GROWS else 1
        function = d.function(d.module(ROOT / "benchmarks" / "kernels" / f"{name}.ptx"), name)
        arguments = [d.upload(struct.pack(f"{n}f", *([0.5] * n))) for n in (scale * n for n in inputs)]
        arguments += [d.upload(bytes(4 * scale * n)) for n in outputs] + others
        best = float("inf")
        for _ in range(TIMES):
            start = time.perf_counter()
            d.launch(function, grid, block, arguments)
            d.call("cuCtxSynchronize")
            best = min(best, time.perf_counter() - start)
        taken[name] = best
    print(json.dumps(taken))


GROWS = ("softmax", "layernorm", "rmsnorm")
"""Kernels whose rows are independent: sixteen times as many of them make the launch itself small."""


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", default="softmax,layernorm,rmsnorm,attention,sgemm32,nbody")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    names = arguments.kernels.split(",")
    if arguments.worker:
        worker(names)
        return
    results = {check: run(check, arguments.kernels) for check in CHECKS}
    print(f"{'kernel':<12}" + "".join(f"{check or 'none':>9}" for check in CHECKS))
    for name in names:
        plain = results[""][name]
        print(f"{name:<12}{1e3 * plain:>6.2f} ms" + "".join(f"{results[c][name] / plain:>8.0f}x" for c in CHECKS[1:]))


def run(check: str, kernels: str) -> dict[str, float]:
    """Run the worker under one set of checks, on one thread."""
    options = ["--check", check] if check else []
    command = [sys.executable, "-m", "anywarp", "run", *options, "--", sys.executable, __file__, "--worker"]
    environment = {**os.environ, "ANYWARP_THREADS": "1", "ANYWARP_VERSIONS": "best"}
    done = subprocess.run([*command, "--kernels", kernels], capture_output=True, text=True, env=environment, check=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
