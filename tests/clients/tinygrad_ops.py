"""Compare tinygrad's operators on its CUDA device with numpy, as a user would to trust a new device.

    anywarp run -- python tests/clients/tinygrad_ops.py [--only WORD] [--family NAME] [--list]

The device is CUDA with the PTX renderer unless DEV says otherwise. One line per failure; the last line counts.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("DEV", "CUDA:PTX")
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from ops import CASES
from ops.case import TOLERANCES, Case, draw, to_array, to_tensor
from tinygrad import Device, Tensor


def check(case: Case, dtype: str) -> str | None:
    """Run one case in one type and say what is wrong, or None."""
    arrays = [draw(spec, dtype, f"{case.name}/{place}") for place, spec in enumerate(case.inputs)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = case.expected(*arrays)
    tensors = [to_tensor(array, spec.dtype or dtype) for array, spec in zip(arrays, case.inputs)]
    got = case.tiny(*tensors)
    pairs = list(zip(got, expected)) if isinstance(expected, tuple) else [(got, expected)]
    if isinstance(expected, tuple) and len(got) != len(expected):
        return f"{len(got)} results, expected {len(expected)}"
    return next((wrong for tensor, array in pairs if (wrong := compare(case, tensor, np.asarray(array)))), None)


def compare(case: Case, tensor: Tensor, expected: np.ndarray) -> str | None:
    name = str(tensor.dtype).removeprefix("dtypes.")
    name = {"float": "float32", "half": "float16", "double": "float64"}.get(name, name)
    got = to_array(tensor)
    if got.shape != expected.shape:
        return f"shape {got.shape}, expected {expected.shape}"
    if got.size == 0:
        return None
    if name not in TOLERANCES or case.exact:
        return difference(got, expected, same(got, expected))
    error = TOLERANCES[name] * case.factor
    return difference(
        got, expected, np.isclose(got.astype(np.float64), expected, rtol=error, atol=error, equal_nan=True)
    )


def same(got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    equal = got == expected
    if got.dtype.kind == "f":
        equal |= np.isnan(got) & np.isnan(expected.astype(np.float64))
    return equal


def difference(got: np.ndarray, expected: np.ndarray, fine: Any) -> str | None:
    if np.all(fine):
        return None
    place = np.unravel_index(int(np.argmin(fine)), got.shape)
    wrong = int(np.size(fine) - np.count_nonzero(fine))
    where = f"[{', '.join(map(str, place))}]"
    return f"{wrong} of {got.size} differ, first at {where}: got {got[place]}, expected {expected[place]}"


def run(case: Case, dtype: str) -> str | None:
    try:
        return check(case, dtype)
    except Exception as error:  # a failing operator must not end the run
        text = str(error).strip().splitlines() or [""]
        return f"{type(error).__name__}: {text[0][:200]}"


def operator(case: Case) -> str:
    """Return what to count a case under: all pairs of types are one cast."""
    return case.name.split("_")[0] if case.name.startswith(("cast_", "bitcast_")) else case.name


def selected(only: str | None, families: list[str]) -> list[Case]:
    cases = list(CASES)
    if families:
        import ops

        cases = [case for name in families for case in getattr(ops, name).CASES]
    return [case for case in cases if only is None or only in case.name]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="run the operators whose name contains this")
    parser.add_argument(
        "--family", action="append", default=[], help="elementwise, reduction, movement, indexing, linear, network"
    )
    parser.add_argument("--first-type", action="store_true", help="check each case in its first type only")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="run every N-th of these cases, from the K-th on")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--verbose", action="store_true", help="print each check before it runs")
    args = parser.parse_args()
    first, _, parts = args.part.partition("/")
    cases = selected(args.only, args.family)[int(first) - 1 :: int(parts)]
    names = {operator(case) for case in cases}
    if args.list:
        print("\n".join(sorted(names)))
        return 0
    checks, failed, start = 0, 0, time.monotonic()
    print(f"device {Device.DEFAULT}, renderer {type(Device[Device.DEFAULT].renderer).__name__}", flush=True)
    for case in cases:
        for dtype in case.types[:1] if args.first_type else case.types:
            shapes = "x".join(str(spec.shape) for spec in case.inputs)
            if args.verbose:
                print(f"  {case.name} {dtype} {shapes}", flush=True)
            checks += 1
            if (wrong := run(case, dtype)) is not None:
                failed += 1
                print(f"FAILED {case.name} {dtype} {shapes}: {wrong}", flush=True)
    print(f"{len(names)} operators, {checks} checks, {failed} failed in {time.monotonic() - start:.0f} s")
    return 1 if failed or not checks else 0


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
    sys.exit(130)
