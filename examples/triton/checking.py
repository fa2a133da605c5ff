"""What the programs here share: a problem knows how to run its kernels and what numpy says that they give."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch


@dataclass(frozen=True)
class Problem:
    """`run` starts the kernels and returns their results; `expected` computes the same with numpy, in double precision."""

    name: str
    run: Callable[[], list[torch.Tensor]]
    expected: Callable[[], list[np.ndarray]]
    tolerance: float
    """The largest difference that is fine, relative to the largest absolute value expected (at least 1)."""


def difference(got: list[torch.Tensor], expected: list[np.ndarray]) -> float:
    """Return the largest difference, each result's relative to its largest absolute value; infinite for other shapes or NaN."""
    worst = 0.0
    for one, other in zip(got, expected, strict=True):
        values = one.detach().cpu().to(torch.float64).numpy()
        if values.shape != other.shape or np.isnan(values).any():
            return float("inf")
        worst = max(worst, float(np.abs(values - other).max() / max(1.0, np.abs(other).max())))
    return worst


def seconds(run: Callable[[], object], least: float = 0.2) -> float:
    """Return the shortest time that a call takes of the processors, over calls that take `least` seconds and no fewer than one.

    Not the time on the clock: other work on the machine does not count, and a call on two processors counts twice.
    """
    best, spent = float("inf"), 0.0
    while spent < least:
        start = time.process_time()
        run()
        torch.cuda.synchronize()
        took = max(time.process_time() - start, 1e-9)
        best, spent = min(best, took), spent + took
    return best


def main(*problems: Problem) -> None:
    """Run each problem, print one line for it and end with an error where a difference is too large."""
    wrong = []
    for problem in problems:
        worst = difference(problem.run(), problem.expected())
        fine = worst <= problem.tolerance
        print(f"{problem.name}: {'as numpy' if fine else 'WRONG'}, largest difference {worst:.1e}")
        if not fine:
            wrong.append(problem.name)
    if wrong:
        raise SystemExit(f"wrong: {', '.join(wrong)}")
