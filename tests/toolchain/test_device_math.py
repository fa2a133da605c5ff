"""The device's mathematical functions: within CUDA's error bounds of exact values, and right at the edges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from toolchain.device_code import compiled
from toolchain.math_references import FUNCTIONS, worst

SOON = ("exp", "log", "sin", "pow", "tanh", "erfcx", "lgamma", "erfcinv", "log1p", "fmod")
"""Functions measured in every run; the others take longer than they find."""


def run(name: str, *arguments: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return what the device computes for arrays of arguments of one type."""
    letter = "d" if arguments[0].dtype == np.float64 else "f"
    result = np.zeros_like(arguments[0])
    n = len(result)
    compiled("device_math.cu").run(f"{letter}_{name}", (n + 127) // 128, 128, [*arguments, result, n], any_shape=True)
    return result


@pytest.mark.parametrize("type", [np.float64, np.float32])
@pytest.mark.parametrize("name", SOON)
def test_errors_stay_within_the_bounds_of_the_guide(name: str, type: Any) -> None:
    error, where = worst(run, name, type, 24)
    assert error <= max(FUNCTIONS[name].bounds[type is np.float32], 0.5001), where


@pytest.mark.long
@pytest.mark.parametrize("type", [np.float64, np.float32])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_of_every_function_stay_within_the_bounds(name: str, type: Any) -> None:
    error, where = worst(run, name, type, 400)
    assert error <= max(FUNCTIONS[name].bounds[type is np.float32], 0.5001), where


INF, NAN = math.inf, math.nan
EDGES: dict[str, list[tuple[float, ...]]] = {
    "exp": [(INF, INF), (-INF, 0.0), (NAN, NAN), (0.0, 1.0), (1e9, INF), (-1e9, 0.0)],
    "log": [(0.0, -INF), (-0.0, -INF), (-1.0, NAN), (INF, INF), (1.0, 0.0), (NAN, NAN)],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (-2.0, NAN), (INF, INF), (NAN, NAN)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (NAN, NAN)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN)],
    "lgamma": [(1.0, 0.0), (2.0, 0.0), (0.0, INF), (-3.0, INF), (INF, INF), (-INF, INF), (NAN, NAN)],
    "erfcinv": [(0.0, INF), (2.0, -INF), (1.0, 0.0), (-0.5, NAN), (2.5, NAN), (NAN, NAN)],
    "pow": [
        (NAN, 0.0, 1.0), (1.0, NAN, 1.0), (2.0, NAN, NAN), (NAN, 2.0, NAN), (-1.0, INF, 1.0), (-1.0, -INF, 1.0),
        (0.5, INF, 0.0), (0.5, -INF, INF), (2.0, INF, INF), (2.0, -INF, 0.0), (0.0, -1.0, INF), (-0.0, -1.0, -INF),
        (-0.0, 3.0, -0.0), (-0.0, 2.0, 0.0), (INF, -1.0, 0.0), (-INF, 3.0, -INF), (-INF, 2.0, INF), (-INF, -3.0, -0.0),
        (-8.0, 0.5, NAN), (-2.0, 3.0, -8.0), (-2.0, 2.0, 4.0), (10.0, 400.0, INF), (10.0, -400.0, 0.0), (7.0, 1.0, 7.0),
    ],
    "fmod": [(5.0, 0.0, NAN), (INF, 2.0, NAN), (5.0, INF, 5.0), (-6.0, 3.0, -0.0), (NAN, 1.0, NAN), (1e30, 7.0, math.fmod(1e30, 7))],
}  # fmt: skip


@pytest.mark.parametrize("type", [np.float64, np.float32])
@pytest.mark.parametrize("name", EDGES)
def test_edges_give_what_the_c_standard_says(name: str, type: Any) -> None:
    if name == "fmod" and type is np.float32:
        edges = [*EDGES[name][:-1], (float(np.float32(1e30)), 7.0, math.fmod(float(np.float32(1e30)), 7))]
    else:
        edges = EDGES[name]
    *arguments, expected = (np.array(column, type) for column in zip(*edges, strict=True))
    got = run(name, *arguments)
    np.testing.assert_array_equal(got, expected)
    assert [math.copysign(1, x) for x in got if x == 0] == [math.copysign(1, x) for x in expected if x == 0]
