"""Triton kernels through anywarp against Triton's own interpreter (TRITON_INTERPRET=1), on the problems of examples/triton but `libdevice`, which
the interpreter does not know.

    anywarp run -- python benchmarks/triton_kernels.py

Prints seconds of one call each way and the ratio; the interpreter runs in a child process with the same tensors.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "triton"
NAMES = ("vector_add", "fused_softmax", "matmul", "dropout", "layer_norm", "flash_attention", "grouped_gemm")


def measure(names: list[str]) -> dict[str, float]:
    """Return the shortest time of a call for each problem, in this process."""
    import checking

    times = {}
    for name in names:
        problem = importlib.import_module(name).problem()
        worst = checking.difference(problem.run(), problem.expected())
        if worst > problem.tolerance:
            raise SystemExit(f"{name}: wrong by {worst}")
        times[name] = checking.seconds(problem.run, 0.5)
    return times


def interpreted(names: list[str]) -> dict[str, float]:
    """Return the same, measured in a process that interprets."""
    command = [sys.executable, "-W", "ignore", __file__, "--json", *names]
    done = subprocess.run(command, env={**os.environ, "TRITON_INTERPRET": "1"}, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="measure in this process only, and print JSON")
    parser.add_argument("names", nargs="*", help=f"problems: {', '.join(NAMES)}")
    options = parser.parse_args()
    sys.path.insert(0, str(EXAMPLES))
    names = options.names or list(NAMES)
    times = measure(names)
    if options.json:
        print(json.dumps(times))
        return
    slow = interpreted(names)
    for name in names:
        print(
            f"{name:16} compiled {times[name] * 1e3:9.3f} ms  interpreted {slow[name] * 1e3:11.1f} ms  ratio {slow[name] / times[name]:8.0f}"
        )


if __name__ == "__main__":
    main()
