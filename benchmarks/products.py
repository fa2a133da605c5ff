"""Products of matrices by mma.sync (kernels/matrix), small, with numpy's values; HIP has no source that says the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from workloads import RNG, Arrays, Workload, normal, outputs

FOLDER, TILE, DEPTH = "matrix", 128, 128


def bf16(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the upper halves of numbers, which are bfloat16."""
    return (values.view(np.uint32) >> 16).astype(np.uint16)


def widened(halves: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return (halves.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def of_bf16(inputs: Arrays, got: Arrays) -> float:
    wanted = widened(inputs[0]) @ widened(inputs[1])
    return float(np.abs(widened(got[2]) - wanted).max() / np.abs(wanted).max())


def small_integers(*shape: int) -> np.ndarray[Any, Any]:
    return RNG.integers(-128, 128, shape, dtype=np.int8)


def workloads() -> list[Workload]:
    """Return the products; the second factor of 8-bit integers lies by columns."""
    n, k = TILE, DEPTH
    common = ((n, k), (), (1, 1), (128, 1))
    return [
        Workload(
            "matrix_product", "matrix_product", lambda: [bf16(normal(n, k)), bf16(normal(k, n)), np.zeros((n, n), np.uint16)], *common,
            of_bf16, 6 * n * k, 2 * n * n * k, 2, 2**-8, FOLDER,
        ),
        Workload(
            "matrix_product_s8", "matrix_product_s8", lambda: [small_integers(n, k), small_integers(n, k), np.zeros((n, n), np.int32)],
            *common, outputs(lambda a: {2: a[0].astype(np.int64) @ a[1].astype(np.int64).T}), 6 * n * k, 2 * n * n * k, 2, 0, FOLDER,
        ),
    ]  # fmt: skip
