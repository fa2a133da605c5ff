"""What the programs of this folder share: a line per check, and an exit code of 1 where one is wrong. No import of anywarp: they run in other environments."""

import sys
import time
import traceback

import numpy as np

failed = []


def check(name, compute, wanted, bound):
    """Print how far `compute()` is from `wanted`, relative to its largest magnitude; more than `bound` is wrong."""
    begin = time.perf_counter()
    try:
        found = np.asarray(compute())
        wanted = np.asarray(wanted)
        assert found.shape == wanted.shape, (found.shape, wanted.shape)
        kind = np.complex128 if np.iscomplexobj(wanted) else np.float64
        error = (
            float(np.abs(found.astype(kind) - wanted.astype(kind)).max() / max(1e-30, np.abs(wanted).max()))
            if wanted.size
            else 0.0
        )
        fine = error <= bound  # NaN is not
    except Exception:
        traceback.print_exc()
        error, fine = float("nan"), False
    print(
        f"{name}: {'right' if fine else 'WRONG'}, {error:.2g} of {bound:.2g}, {time.perf_counter() - begin:.2f} s",
        flush=True,
    )
    if not fine:
        failed.append(name)


def end():
    print(f"wrong: {', '.join(failed) or 'none'}")
    sys.exit(1 if failed else 0)
