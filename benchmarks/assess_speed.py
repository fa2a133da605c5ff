"""How fast `anywarp assess` reads a tree, beside a plain read of the same files and `grep -rE` for some of the same names.

    python benchmarks/assess_speed.py [--copies N] [--jobs 2] [TREE...]

The trees are copied N times into a folder of its own (a line is added to each file, so that no two have the same content); without one, the
sources at hand are taken: this repository and what is installed beside it. Each figure is the best of three; cold means an empty cache of
facts, warm the second run. On a busy machine look at the
seconds of processors: the time itself is the others'. The files are in the system's page cache throughout, which the plain read sees to.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from anywarp.migrate.tree import walk

NAMES = r"\b(cuda[A-Z]\w*|cu[A-Z]\w+|CUDA\w*|nccl\w+|__global__|torch\.cuda|nvidia\.com/gpu|nvidia-smi|triton)"
ROUNDS = 3
TEXT = {
    ".c",
    ".cc",
    ".cpp",
    ".cu",
    ".cuh",
    ".h",
    ".hpp",
    ".py",
    ".md",
    ".txt",
    ".cmake",
    ".yml",
    ".yaml",
    ".toml",
    ".sh",
    ".in",
    ".ptx",
}


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser()
    options.add_argument("trees", nargs="*", type=Path)
    options.add_argument("--copies", type=int, default=1)
    options.add_argument("--jobs", type=int, default=2)
    chosen = options.parse_args()
    trees = chosen.trees or [Path(__file__).resolve().parents[1], Path(sys.prefix) / "lib"]
    with tempfile.TemporaryDirectory(prefix="assess-speed-") as folder:
        root = Path(folder) / "tree"
        copy(trees, root, chosen.copies, text_only=not chosen.trees)
        measure(root, Path(folder), chosen.jobs)


def copy(trees: list[Path], root: Path, copies: int, text_only: bool) -> None:
    """Copy the files of the trees, each copy with other content."""
    for number in range(copies):
        for tree in trees:
            for file in walk(tree):
                source = Path(file.place)
                if text_only and source.suffix not in TEXT:
                    continue
                place = root / f"{number}" / tree.name / file.shown
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, place)
                if number and source.suffix in TEXT:
                    with place.open("ab") as out:
                        out.write(f"\n// {number}\n".encode() if source.suffix != ".py" else f"\n# {number}\n".encode())


def measure(root: Path, folder: Path, jobs: int) -> None:
    """Time all ways in turns, so that a busy moment of the machine does not fall on one of them."""
    best: dict[str, tuple[float, float]] = {}
    size = files = 0
    for number in range(ROUNDS):
        started = now()
        files, size = read_all(root)
        note(best, "plain read", started)
        started = now()
        subprocess.run(
            ["grep", "-rcE", NAMES, str(root)],
            stdout=subprocess.DEVNULL,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
        note(best, "grep -rE", started)
        cache = {**os.environ, "ANYWARP_CACHE_DIR": str(folder / f"cache{number}")}
        for name in ("assess, cold", "assess, warm"):
            started = now()
            command = [
                sys.executable,
                "-m",
                "anywarp",
                "assess",
                str(root),
                "--target",
                "hip:gfx942",
                "--jobs",
                str(jobs),
                "-o",
                os.devnull,
            ]
            if subprocess.run(command, stderr=subprocess.DEVNULL, env=cache, check=False, cwd=folder).returncode:
                raise SystemExit("anywarp assess failed")
            note(best, name, started)
    print(f"{files:,} files, {size / 1e6:.1f} MB, {jobs} processes, best of {ROUNDS}")
    for name, (seconds, processor) in best.items():
        times = seconds / best["plain read"][0]
        speed = size / 1e6 / seconds
        print(
            f"{name:<14}{seconds:8.2f} s{speed:10.1f} MB/s{times:8.1f} times a plain read{processor:9.2f} s of processors"
        )


def read_all(root: Path) -> tuple[int, int]:
    """Read every file once; return how many and how many bytes."""
    files = size = 0
    for file in walk(root):
        with open(file.place, "rb") as stream:
            size += len(stream.read())
        files += 1
    return files, size


def now() -> tuple[float, float]:
    """Return the time, and the processor time of this process and those that it has waited for, in seconds."""
    spent = os.times()
    return time.perf_counter(), sum(spent[:4])


def note(best: dict[str, tuple[float, float]], name: str, started: tuple[float, float]) -> None:
    """Keep the best of each."""
    seconds, processor = (b - a for a, b in zip(started, now()))
    old = best.get(name, (seconds, processor))
    best[name] = (min(old[0], seconds), min(old[1], processor))


if __name__ == "__main__":
    main()
