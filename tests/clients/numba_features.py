"""Check what numba-cuda offers to a kernel against numpy, one line per check.

anywarp run -- python tests/clients/numba_features.py [NAME ...]
"""

from __future__ import annotations

import importlib
import sys
import traceback
import warnings
from pathlib import Path

HERE = Path(__file__).parent
THEMES = ("warp", "atomics", "memory", "control", "maths", "streams")


def names(theme: str) -> list[str]:
    """Return the checks of one theme without importing it, so that a machine without numba can list them."""
    lines = (HERE / "features" / f"{theme}.py").read_text().splitlines()
    return [
        line[len("def check_") : line.index("(")]
        for line in lines
        if line.startswith("def check_") and line.endswith("():")
    ]


def run(theme: str, name: str) -> bool:
    try:
        module = importlib.import_module(f"features.{theme}")
        getattr(module, f"check_{name}")()
    except Exception as error:  # one failing check must not end the run
        last = traceback.extract_tb(error.__traceback__)[-1]
        text = " | ".join(part for part in str(error).splitlines() if part.strip())
        print(
            f"FAILED {theme}.{name}: {type(error).__name__}: {text[:600]} ({Path(last.filename).name}:{last.lineno})",
            flush=True,
        )
        return False
    print(f"ok {theme}.{name}", flush=True)
    return True


def main() -> int:
    # A grid of one block is deliberate here, and numba warns about it.
    warnings.filterwarnings("ignore", message="Grid size")
    warnings.filterwarnings("ignore", message="Host array used in CUDA kernel")
    sys.path.insert(0, str(HERE))
    wanted = [(theme, name) for theme in THEMES for name in names(theme)]
    if sys.argv[1:]:
        wanted = [(theme, name) for theme, name in wanted if any(word in f"{theme}.{name}" for word in sys.argv[1:])]
    results = [run(theme, name) for theme, name in wanted]
    print(f"{len(results)} checks, {results.count(False)} failed")
    return 0 if all(results) and results else 1


if __name__ == "__main__":
    sys.exit(main())
