"""How fast `anywarp translate` is on one core, beside PyTorch's own translator on the same files in the same run.

python benchmarks/translate_speed.py [TREE]     a tree of CUDA sources; examples/cuda by default

Both translate the same copies of the same files, in one process each time, in turn, several times; times are of the
translation alone, tables loaded, and of the processor, so that other work on the machine counts little. PyTorch's translator (torch.utils.hipify) is called as its users call it, on the tree.
Every claim is a ratio: figures in MB/s are this machine's.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path, PurePath

from anywarp.migrate.target import parse_target
from anywarp.migrate.translate import Options, translate

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "cuda"
SUFFIXES = (".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc", ".inl")
LARGE = 500_000
"""Bytes of the one large file."""


FILES: dict[Path, list[Path]] = {}
"""The sources of each tree, listed once."""


def sources(tree: Path) -> list[Path]:
    """Return the sources below a tree, in order, without those that are no UTF-8: PyTorch's translator ends at such a file."""
    found: list[Path] = []
    for path in sorted(tree.rglob("*")):
        if path.suffix in SUFFIXES and path.is_file():
            with contextlib.suppress(UnicodeDecodeError):
                path.read_bytes().decode()
                found.append(path)
    return found


def ours(tree: Path, options: Options) -> float:
    """Translate every source and return the seconds of processor time it took, reading included."""
    files = FILES[tree]
    begin = time.process_time()
    for path in files:
        translate(path.read_bytes(), PurePath(path.relative_to(tree)), options)
    return time.process_time() - begin


def torchs(tree: Path) -> float:
    """Have PyTorch's translator translate a fresh copy of the tree, and return the seconds of processor time it took."""
    from torch.utils.hipify import hipify_python

    with tempfile.TemporaryDirectory() as folder:
        copy, output = Path(folder) / "in", Path(folder) / "out"
        copy.mkdir()
        for path in FILES[tree]:
            target = copy / path.relative_to(tree)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            begin = time.process_time()
            hipify_python.hipify(
                project_directory=str(copy), output_directory=str(output), includes=["*"], extensions=SUFFIXES,
                show_detailed=False, is_pytorch_extension=True, hipify_extra_files_only=False,
            )  # fmt: skip
            return time.process_time() - begin


def large(tree: Path) -> bytes:
    """Make one file of half a megabyte of the tree's sources."""
    text, files = b"", FILES[tree]
    while len(text) < LARGE:
        for path in files:
            text += path.read_bytes()
    return text[:LARGE].rsplit(b"\n", 1)[0] + b"\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", nargs="?", type=Path, default=EXAMPLES)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    options = Options(parse_target("hip:gfx942"))
    FILES[arguments.tree] = sources(arguments.tree)
    size = sum(path.stat().st_size for path in FILES[arguments.tree]) / 1e6
    ours(arguments.tree, options)  # tables are loaded, regular expressions compiled
    torchs(arguments.tree)
    pairs = [(ours(arguments.tree, options), torchs(arguments.tree)) for _ in range(arguments.rounds)]
    mine, theirs = (statistics.median(times) for times in zip(*pairs))
    ratios = sorted(b / a for a, b in pairs)
    print(f"{len(FILES[arguments.tree])} files, {size:.2f} MB, {arguments.rounds} rounds, medians")
    print(f"anywarp  {size / mine:6.2f} MB/s")
    print(f"torch    {size / theirs:6.2f} MB/s")
    print(f"ratio    {statistics.median(ratios):6.2f}  ({ratios[0]:.2f} to {ratios[-1]:.2f})")
    text = large(arguments.tree)
    times: list[float] = []
    for _ in range(arguments.rounds):
        begin = time.process_time()
        translate(text, PurePath("large.cu"), options)
        times.append(time.process_time() - begin)
    print(f"one file of {len(text) / 1e3:.0f} KB: {statistics.median(times):.3f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
