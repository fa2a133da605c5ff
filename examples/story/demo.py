"""Run the story model, which knows CUDA only, on this machine's CPU: once cold, once warm, and check its numbers.

Prints the story while it is generated, then what the two runs took and how far the logits are from those that tinygrad
computes with its own CPU backend. The exit code is 1 when they differ by more than 1e-4 of the largest logit.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).parent
LIMIT = 1e-4


def generate(
    folder: pathlib.Path, name: str, arguments: list[str], env: dict[str, str], prefix: list[str], quiet: bool
) -> float:
    """Run generate.py once, its results in the folder under the name; returns the seconds it took."""
    command = [*prefix, sys.executable, str(HERE / "generate.py"), *arguments]
    command += ["--save", str(folder / f"{name}.npz"), "--stats", str(folder / f"{name}.json")]
    start = time.monotonic()
    done = subprocess.run(
        command,
        env={**os.environ, **env},
        stdout=subprocess.DEVNULL if quiet else None,
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        sys.exit(f"the {name} run ended with exit code {done.returncode}")
    return time.monotonic() - start


def on_cuda(folder: pathlib.Path, name: str, arguments: list[str], quiet: bool) -> dict[str, float]:
    """Generate under `anywarp run`; returns its times and how many kernels were compiled and found in the cache."""
    report = folder / f"{name}-report.json"
    env = {"DEV": "CUDA:PTX", "ANYWARP_CACHE_DIR": str(folder / "cache")}
    prefix = [sys.executable, "-m", "anywarp", "run", "--report", str(report), "--"]
    seconds = generate(folder, name, arguments, env, prefix, quiet)
    kernels = json.loads(report.read_text())["kernels"]
    counts = {key: sum(kernel[key] for kernel in kernels) for key in ("compiled", "cached", "launches", "compile_ms")}
    return {"wall": seconds, **counts, **json.loads((folder / f"{name}.json").read_text())}


def on_tinygrad_cpu(folder: pathlib.Path, tokens: list[int]) -> None:
    """Feed the same tokens to the model on tinygrad's CPU backend; without clang, by its assembler and gcc."""
    (folder / "tokens.json").write_text(json.dumps(tokens))
    env = {"DEV": "CPU"} if shutil.which("clang") else {"DEV": "CPU:X86", "CC": str(HERE / "cc")}
    generate(folder, "cpu", ["--replay", str(folder / "tokens.json")], env, [], quiet=True)


def difference(folder: pathlib.Path) -> float:
    """Return the largest difference of a logit, relative to the largest logit of its position."""
    got, expected = (np.load(folder / f"{name}.npz")["logits"] for name in ("cold", "cpu"))
    if got.shape != expected.shape or not np.isfinite(got).all():
        return float("inf")
    return float((np.abs(got - expected).max(1) / np.abs(expected).max(1)).max())


def show(name: str, run: dict[str, float]) -> None:
    print(
        f"{name:5} {run['wall']:6.1f} s in all, {run['overall']:6.1f} tokens/s with start and compilation, {run['steady']:6.1f} tokens/s after it; "
        f"{run['compiled']:.0f} kernels compiled in {run['compile_ms'] / 1000:.1f} s, {run['cached']:.0f} from the cache, {run['launches']:,.0f} launches"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prompt", default="Once upon a time")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--tokens", default="200")
    args = parser.parse_args()
    arguments = ["--prompt", args.prompt, "--seed", args.seed, "--tokens", args.tokens]
    with tempfile.TemporaryDirectory(prefix="story-") as place:
        folder = pathlib.Path(place)
        cold = on_cuda(folder, "cold", arguments, quiet=False)
        warm = on_cuda(folder, "warm", arguments, quiet=True)
        tokens = {name: np.load(folder / f"{name}.npz")["tokens"].tolist() for name in ("cold", "warm")}
        on_tinygrad_cpu(folder, tokens["cold"])
        error = difference(folder)
    print()
    show("cold", cold)
    show("warm", warm)
    print(
        f"logits differ from tinygrad's CPU backend by at most {error:.1e} of the largest, over {int(cold['tokens'])} positions"
    )
    if tokens["cold"] != tokens["warm"]:
        print("the two runs told different stories")
        return 1
    return 0 if error <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
