"""The benchmark kernels with their inputs, launch shapes and expected results, the same for every runner.

Expected values are computed with numpy from the definition of each computation, so that a fast wrong kernel is shown as wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Arrays = list[np.ndarray[Any, Any]]
RNG = np.random.default_rng(7)
N, ROWS, COLS, MATRIX, IMAGE, SIDE = 1 << 24, 2048, 1024, 512, 4096, 2048
BODIES, HEADS, SEQUENCE, HEAD = 8192, 8, 512, 64
CELLS, OPTIONS, WORDS, SUMS, BINS = 1 << 22, 1 << 21, 1 << 23, 512, 256


@dataclass(frozen=True)
class Workload:
    """One kernel on one problem.

    Arguments are pointers to `make()`'s arrays, then `ints` (all to native code, the first `kernel_ints` to the kernel), then
    `floats`. `verify` maps inputs and outputs to the largest relative error. `bytes` and `flops` are the least that must move.
    The kernel lies in `folder`, beside the C file that has it as native code.
    """

    name: str
    kernel: str
    make: Callable[[], Arrays]
    ints: tuple[int, ...]
    floats: tuple[float, ...]
    grid: tuple[int, int]
    block: tuple[int, int]
    verify: Callable[[Arrays, Arrays], float]
    bytes: int
    flops: int
    kernel_ints: int = 1
    tolerance: float = 2e-4
    folder: str = ""


def uniform(*shape: int) -> np.ndarray[Any, Any]:
    return RNG.random(shape, dtype=np.float32)


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return RNG.standard_normal(shape, dtype=np.float32)


def zeros(*shape: int) -> np.ndarray[Any, Any]:
    return np.zeros(shape, np.float32)


def compare(expected: dict[int, Any]) -> Callable[[Arrays], float]:
    """Return the largest error relative to the largest expected magnitude over the named outputs."""

    def worst(outputs: Arrays) -> float:
        errors = [0.0]
        for index, want in expected.items():
            want = np.asarray(want, np.float64)
            got = np.asarray(outputs[index], np.float64).reshape(want.shape)
            errors.append(float(np.abs(got - want).max() / max(1e-30, np.abs(want).max())))
        return max(errors)

    return worst


def outputs(make: Callable[[Arrays], dict[int, Any]]) -> Callable[[Arrays, Arrays], float]:
    return lambda inputs, got: compare(make(inputs))(got)


def total(inputs: Arrays, got: Arrays) -> float:
    want = inputs[0].sum(dtype=np.float64)
    return abs(float(got[1].sum(dtype=np.float64)) - want) / abs(want)


def softmax(a: Arrays) -> dict[int, Any]:
    x = a[0].astype(np.float64)
    e = np.exp(x - x.max(1, keepdims=True))
    return {1: e / e.sum(1, keepdims=True)}


def layernorm(a: Arrays) -> dict[int, Any]:
    x = a[0].astype(np.float64)
    return {3: (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * a[1] + a[2]}


def rmsnorm(a: Arrays) -> dict[int, Any]:
    x = a[0].astype(np.float64)
    return {2: x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-5) * a[1]}


def gelu(a: Arrays) -> dict[int, Any]:
    x = a[0].astype(np.float64)
    return {1: 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))}


def stencil(a: Arrays) -> dict[int, Any]:
    i = a[0].astype(np.float64)
    out = np.zeros_like(i)
    neighbours = i[1:-1, :-2] + i[1:-1, 2:] + i[:-2, 1:-1] + i[2:, 1:-1]
    out[1:-1, 1:-1] = 0.5 * i[1:-1, 1:-1] + 0.125 * neighbours
    return {1: out}


def black_scholes(a: Arrays) -> dict[int, Any]:
    spot, strike, years = (v.astype(np.float64) for v in a[:3])
    rate, volatility = 0.02, 0.3

    def cumulative(d: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        k = 1 / (1 + 0.2316419 * np.abs(d))
        poly = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        tail = 0.39894228040143267794 * np.exp(-0.5 * d * d) * poly
        return np.where(d > 0, 1 - tail, tail)

    root = np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / (volatility * root)
    d2 = d1 - volatility * root
    discount = np.exp(-rate * years)
    call = spot * cumulative(d1) - strike * discount * cumulative(d2)
    return {3: call, 4: strike * discount * (1 - cumulative(d2)) - spot * (1 - cumulative(d1))}


def nbody(inputs: Arrays, got: Arrays) -> float:
    position, mass, some = inputs[0][:, :3].astype(np.float64), inputs[0][:, 3], 64
    delta = position[None, :, :] - position[:some, None, :]
    weight = ((delta**2).sum(-1) + 1e-2) ** -1.5 * mass[None]
    want = (delta * weight[..., None]).sum(1)
    return float(np.abs(got[1][:some, :3] - want).max() / np.abs(want).max())


def attention(a: Arrays) -> dict[int, Any]:
    q, k, v = (x.astype(np.float64) for x in a[:3])
    s = q @ k.transpose(0, 2, 1) * 0.125
    e = np.exp(s - s.max(-1, keepdims=True))
    return {3: e / e.sum(-1, keepdims=True) @ v}


def workloads() -> list[Workload]:
    """Return all workloads, in the order of the table."""
    small, cells, options, words = 1 << 16, CELLS, OPTIONS, WORDS
    saxpy_factor = 1e-6  # in-place: small, so that repeated launches stay in range
    add = outputs(lambda a: {2: a[0] + a[1]})
    gemm = outputs(lambda a: {2: a[0].astype(np.float64) @ a[1].astype(np.float64)})
    rows, tile = (ROWS, 1), (256, 1)

    def matrices() -> Arrays:
        return [uniform(MATRIX, MATRIX), uniform(MATRIX, MATRIX), zeros(MATRIX, MATRIX)]

    def heads() -> Arrays:
        return [normal(HEADS, SEQUENCE, HEAD) for _ in range(3)] + [zeros(HEADS, SEQUENCE, HEAD)]

    def market() -> Arrays:
        inputs = [5 + 25 * uniform(options), 1 + 99 * uniform(options), 0.25 + 9.75 * uniform(options)]
        return [*inputs, zeros(options), zeros(options)]

    def image() -> Arrays:
        return [uniform(IMAGE, IMAGE), zeros(IMAGE, IMAGE)]

    def integers() -> Arrays:
        return [RNG.integers(0, 1 << 30, words, dtype=np.uint32), np.zeros(256, np.uint32)]

    counts = outputs(lambda a: {1: np.bincount(a[0] & 255, minlength=256)})
    n, g, m2 = N, cells, 3 * 4 * MATRIX**2
    return [
        Workload("vecadd", "vecadd", lambda: [uniform(n), uniform(n), zeros(n)], (n,), (), (n // 256, 1), tile, add, 12 * n, n),
        Workload(
            "vecadd_64k", "vecadd", lambda: [uniform(small), uniform(small), zeros(small)], (small,), (),
            (small // 256, 1), tile, add, 12 * small, small,
        ),
        Workload(
            "saxpy", "saxpy", lambda: [uniform(n), uniform(n)], (n,), (saxpy_factor,), (n // 256, 1), tile,
            outputs(lambda a: {1: saxpy_factor * a[0] + a[1]}), 12 * n, 2 * n,
        ),
        *(
            Workload(
                f"sgemm{t}", f"sgemm{t}", matrices, (MATRIX,), (), (MATRIX // t, MATRIX // t), (t, t), gemm, m2,
                2 * MATRIX**3,
            )
            for t in (16, 32)
        ),
        *(
            Workload(k, k, lambda: [uniform(n), zeros(SUMS)], (n,), (), (SUMS, 1), tile, total, 4 * n, n)
            for k in ("reduce_shared", "reduce_shfl")
        ),
        Workload(
            "softmax", "softmax", lambda: [normal(ROWS, COLS), zeros(ROWS, COLS)], (COLS, ROWS), (), rows, tile,
            outputs(softmax), 8 * ROWS * COLS, 5 * ROWS * COLS,
        ),
        Workload(
            "layernorm", "layernorm", lambda: [normal(ROWS, COLS), uniform(COLS), uniform(COLS), zeros(ROWS, COLS)],
            (COLS, ROWS), (1e-5,), rows, tile, outputs(layernorm), 8 * ROWS * COLS, 7 * ROWS * COLS,
        ),
        Workload(
            "rmsnorm", "rmsnorm", lambda: [normal(ROWS, COLS), uniform(COLS), zeros(ROWS, COLS)], (COLS, ROWS), (1e-5,),
            (ROWS // 4, 1), (32, 4), outputs(rmsnorm), 8 * ROWS * COLS, 4 * ROWS * COLS,
        ),
        Workload("gelu", "gelu", lambda: [normal(g), zeros(g)], (g,), (), (g // 256, 1), tile, outputs(gelu), 8 * g, 10 * g),
        Workload(
            "transpose", "transpose", lambda: [uniform(SIDE, SIDE), zeros(SIDE, SIDE)], (SIDE, SIDE), (), (SIDE // 32, SIDE // 32), (32, 8),
            outputs(lambda a: {1: a[0].T}), 8 * SIDE**2, 0, kernel_ints=2,
        ),
        Workload(
            "stencil5", "stencil5", image, (IMAGE, IMAGE), (0.5, 0.125), (IMAGE // 32, IMAGE // 8), (32, 8),
            outputs(stencil), 8 * IMAGE**2, 6 * IMAGE**2, kernel_ints=2,
        ),
        Workload("histogram", "histogram", integers, (words,), (), (BINS, 1), tile, counts, 4 * words, 0),
        Workload(
            "blackscholes", "blackscholes", market, (options,), (0.02, 0.3), (options // 256, 1), tile,
            outputs(black_scholes), 20 * options, 60 * options,
        ),
        Workload(
            "nbody", "nbody", lambda: [uniform(BODIES, 4), zeros(BODIES, 4)], (BODIES,), (1e-2,), (BODIES // 256, 1), tile,
            nbody, 0, 20 * BODIES**2, tolerance=1e-3,
        ),
        Workload(
            "attention", "attention", heads, (SEQUENCE, HEAD, HEADS), (0.125,), (SEQUENCE, HEADS), (128, 1),
            outputs(attention), 0, 4 * HEADS * SEQUENCE**2 * HEAD, kernel_ints=2,
        ),
    ]  # fmt: skip
