"""Kernels that nobody tuned the compiler for: other types, odd sizes, unusual blocks, barriers in loops, divergent loops.

Each has a plain C version in kernels/untuned/untuned.c; expected values come from numpy in double precision or whole numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from workloads import RNG, Arrays, Workload, normal, outputs, uniform, zeros

FOLDER = "untuned"
PART = 1
"""What the sizes are divided by, where the kernels are run for something else than their times."""


def up(count: int, size: int) -> int:
    """Blocks of `size` that hold `count`."""
    return -(-count // size)


def part(count: int) -> int:
    return count // PART


def half(*shape: int) -> np.ndarray[Any, Any]:
    return normal(*shape).astype(np.float16)


def double(*shape: int) -> np.ndarray[Any, Any]:
    return RNG.random(shape)


def integers(low: int, high: int, *shape: int) -> np.ndarray[Any, Any]:
    return RNG.integers(low, high, shape, dtype=np.int32)


def words(*shape: int) -> np.ndarray[Any, Any]:
    return RNG.integers(0, 1 << 32, shape, dtype=np.uint32)


def no_integers(*shape: int) -> np.ndarray[Any, Any]:
    return np.zeros(shape, np.int32)


# --- expected values --------------------------------------------------------------------------------------------------


def layernorm_half(a: Arrays) -> dict[int, Any]:
    x, gain, bias = (v.astype(np.float64) for v in a[:3])
    return {3: (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * gain + bias}


def jacobi(a: Arrays) -> dict[int, Any]:
    u, f = a[0], a[1]
    out, inner = np.zeros_like(u), u[1:-1, 1:-1]
    following = 0.25 * (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1] - f[1:-1, 1:-1])
    out[1:-1, 1:-1] = inner + 0.8 * (following - inner)
    return {2: out}


def dot(inputs: Arrays, got: Arrays) -> float:
    want = float(np.dot(inputs[0], inputs[1]))
    return abs(float(got[2].sum()) - want) / abs(want)


def conv5x5(a: Arrays) -> dict[int, Any]:
    image, weights = np.pad(a[0].astype(np.float64), 2, mode="edge"), a[1].astype(np.float64)
    h, w = a[0].shape
    return {2: sum(weights[j, i] * image[j : j + h, i : i + w] for j in range(5) for i in range(5))}


def upconv(a: Arrays) -> dict[int, Any]:
    image, weights = a[0].astype(np.float64), a[1].astype(np.float64)
    _, h, w = image.shape
    out = np.zeros((2 * h + 2, 2 * w + 2))
    for j in range(4):
        for i in range(4):
            out[j : j + 2 * h : 2, i : i + 2 * w : 2] += np.einsum("chw,c->hw", image, weights[:, j, i])
    return {2: out[1:-1, 1:-1]}


def mandelbrot(inputs: Arrays, got: Arrays) -> float:
    """In single precision with or without fused operations single pixels differ: the share of pixels that do."""
    h, w = got[0].shape
    limit, x0, y0, step = MANDELBROT
    c = np.float32(x0) + np.arange(w, dtype=np.float32) * np.float32(step)
    d = np.float32(y0) + np.arange(h, dtype=np.float32) * np.float32(step)
    z, point, count = np.zeros((h, w), complex), c[None, :] + 1j * d[:, None], np.zeros((h, w), np.int32)
    for _ in range(limit):
        inside = z.real**2 + z.imag**2 < 4
        count += inside
        z = np.where(inside, z * z + point, z)
    return float((count != got[0]).mean())


def collatz(inputs: Arrays, got: Arrays) -> float:
    steps = np.zeros(got[0].size, np.int64)
    left, value = np.arange(got[0].size), np.arange(1, got[0].size + 1, dtype=np.uint64)
    while True:
        going = value != 1
        left, value = left[going], value[going]
        if not left.size:
            return float(np.abs(steps - got[0]).max())
        steps[left] += 1
        value = np.where(value & np.uint64(1), np.uint64(3) * value + np.uint64(1), value >> np.uint64(1))


def scan(a: Arrays) -> dict[int, Any]:
    whole = np.zeros(up(a[0].size, 2048) * 2048, np.int64)
    whole[: a[0].size] = a[0]
    sums = whole.reshape(-1, 2048).cumsum(1)
    return {1: sums.reshape(-1)[: a[0].size], 2: sums[:, -1]}


def spmv(a: Arrays) -> dict[int, Any]:
    start, column, value, x = a[0], a[1], a[2].astype(np.float64), a[3].astype(np.float64)
    sums = np.concatenate([[0.0], np.cumsum(value * x[column])])
    return {4: sums[start[1:]] - sums[start[:-1]]}


def philox(a: Arrays) -> dict[int, Any]:
    n = a[0].shape[0]
    c = [np.arange(n, dtype=np.uint64), *(np.zeros(n, np.uint64) for _ in range(3))]
    key = [np.uint64(PHILOX_SEED), np.uint64(0x2468ACE1)]
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(q >> np.uint64(32)) ^ c[1] ^ key[0], q & low, (p >> np.uint64(32)) ^ c[3] ^ key[1], p & low]
        key = [(key[0] + np.uint64(0x9E3779B9)) & low, (key[1] + np.uint64(0xBB67AE85)) & low]
    return {0: np.stack([v >> np.uint64(8) for v in c], 1) / 2.0**24}


def upper(a: Arrays) -> dict[int, Any]:
    text = a[0]
    blank = (text == ord(" ")) | (text == ord("\n"))
    begins = ~blank & np.concatenate([[True], blank[:-1]])
    return {1: np.where((text >= ord("a")) & (text <= ord("z")), text - 32, text), 2: [begins.sum()]}


def stencil7(a: Arrays) -> dict[int, Any]:
    x = a[0].astype(np.float64)
    out = np.zeros_like(x)
    i = slice(1, -1)
    around = x[i, i, :-2] + x[i, i, 2:] + x[i, :-2, i] + x[i, 2:, i] + x[:-2, i, i] + x[2:, i, i]
    out[i, i, i] = 0.4 * x[i, i, i] + 0.1 * around
    return {1: out}


def softmax(a: Arrays) -> dict[int, Any]:
    e = np.exp(a[0].astype(np.float64) - a[0].max(1, keepdims=True))
    return {1: e / e.sum(1, keepdims=True)}


def kmeans(inputs: Arrays, got: Arrays) -> float:
    """How much farther than the nearest the chosen centres are."""
    points, centres = inputs[0].astype(np.float64), inputs[1].astype(np.float64)
    distance = ((points[:, None, :] - centres[None]) ** 2).sum(2)
    chosen = np.take_along_axis(distance, got[2].astype(np.int64)[:, None], 1)[:, 0]
    return float(((chosen - distance.min(1)) / distance.min(1)).max())


def batchnorm(a: Arrays) -> dict[int, Any]:
    x = a[0].astype(np.float64)
    mean, variance = x.mean((0, 2), keepdims=True), x.var((0, 2), keepdims=True)
    return {1: (x - mean) / np.sqrt(variance + 1e-5)}


def monte_carlo(a: Arrays) -> dict[int, Any]:
    points, threads = MONTE_CARLO[0], part(MONTE_CARLO[1])
    state = np.arange(threads, dtype=np.uint32) * np.uint32(2654435761) + np.uint32(12345)
    hits = 0
    for _ in range(points):
        state = state * np.uint32(1664525) + np.uint32(1013904223)
        x = (state >> 8).astype(np.float64) / 2**24
        state = state * np.uint32(1664525) + np.uint32(1013904223)
        y = (state >> 8).astype(np.float64) / 2**24
        hits += int((x * x + y * y < 1).sum())
    return {0: [hits]}


def cheapest_path(a: Arrays) -> dict[int, Any]:
    row = a[1].astype(np.int64)
    for cost in a[0]:
        padded = np.concatenate([[1 << 30], row, [1 << 30]])
        row = np.minimum(np.minimum(padded[:-2], padded[2:]), row) + cost
    return {2: row}


# --- sizes ------------------------------------------------------------------------------------------------------------

MANDELBROT = (200, -2.0, -1.25, 0.00457)
PHILOX_SEED = 20260
MONTE_CARLO = (256, 1 << 16)


def sparse(rows: int, columns: int) -> Arrays:
    """Rows of 0 to 130 entries, most of them short."""
    lengths = np.minimum(RNG.geometric(1 / 24, rows) - 1, 130)
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    entries = int(start[-1])
    return [start, integers(0, columns, entries), normal(entries), normal(columns), zeros(rows)]


def text(n: int) -> np.ndarray[Any, Any]:
    letters = np.frombuffer(b"abcdefghij klmnopqrstu vwxyz ABCDEF. XYZ\n 0123 ", np.uint8)
    return letters[RNG.integers(0, letters.size, n)]


def work(
    name: str, make: Any, ints: tuple[int, ...], grid: tuple[int, int], block: tuple[int, int], verify: Any, size: int,
    flops: int = 0, *, floats: tuple[float, ...] = (), kernel_ints: int | None = None, tolerance: float = 2e-4,
) -> Workload:  # fmt: skip
    taken = len(ints) if kernel_ints is None else kernel_ints
    return Workload(name, name, make, ints, floats, grid, block, verify, size, flops, taken, tolerance, FOLDER)


def workloads() -> list[Workload]:
    """Return the kernels of this set, in the order of the table."""
    n, m, w, h = part(4_000_001), part(2_000_003), 1021, part(1013)
    side, lines = 701, part(547)
    layers, rows, sources, numbers, looked = part(2000), part(3000), part(201), part(100_003), part(200_003)
    lists, entries, states, short, depth = part(256), part(50_001), part(500_009), part(1000), part(103)
    words_of, long_rows, channels, threads = part(7001), part(500), part(500), part(MONTE_CARLO[1])
    return [
        work(
            "half_axpby", lambda: [half(n), half(n)], (n,), (up(n, 512), 1), (256, 1),
            outputs(lambda a: {1: 1e-3 * a[0].astype(np.float64) + a[1]}), 6 * n, 3 * n, floats=(1e-3, 1.0), tolerance=2e-3,
        ),
        work(
            "layernorm_half", lambda: [half(layers, 1000), half(1000), half(1000), half(layers, 1000)], (1000, layers), (layers, 1),
            (128, 1), outputs(layernorm_half), 4000 * layers, 8000 * layers, floats=(1e-5,), kernel_ints=1, tolerance=2e-3,
        ),
        work(
            "dot_double", lambda: [double(m), double(m), np.zeros(128)], (m,), (128, 1), (256, 1), dot, 16 * m, 2 * m,
            tolerance=1e-12,
        ),
        work(
            "jacobi_double", lambda: [double(h, w), double(h, w), np.zeros((h, w))], (w, h), (up(w, 16), up(h, 8)), (16, 8),
            outputs(jacobi), 24 * w * h, 8 * w * h, tolerance=1e-12,
        ),
        work(
            "gemv_int8", lambda: [words(rows, 1025), words(1025), no_integers(rows)], (1025, rows), (up(rows, 4), 1), (128, 1),
            outputs(lambda a: {2: a[0].view(np.int8).astype(np.int64) @ a[1].view(np.int8)}), 4 * rows * 1025,
            8 * rows * 1025, tolerance=0,
        ),
        work(
            "conv5x5", lambda: [uniform(h, w), normal(5, 5), zeros(h, w)], (w, h), (up(w, 16), up(h, 16)), (16, 16),
            outputs(conv5x5), 8 * w * h, 50 * w * h,
        ),
        work(
            "upconv", lambda: [uniform(8, sources, 203), normal(8, 4, 4), zeros(2 * sources, 406)], (203, sources, 8), (up(406, 32), up(2 * sources, 4)),
            (32, 4), outputs(upconv), 4 * 12 * sources * 203, 64 * 4 * sources * 203,
        ),
        work(
            "mandelbrot", lambda: [no_integers(lines, side)], (side, lines, MANDELBROT[0]), (up(side, 16), up(lines, 16)), (16, 16),
            mandelbrot, 4 * side * lines, 0, floats=MANDELBROT[1:], tolerance=0.01,
        ),
        work("collatz", lambda: [no_integers(numbers)], (numbers,), (up(numbers, 96), 1), (96, 1), collatz, 4 * numbers, tolerance=0),
        work(
            "lower_bound", lambda: [np.sort(uniform(300_007)), uniform(looked), no_integers(looked)], (300_007, looked),
            (up(looked, 100), 1), (100, 1), outputs(lambda a: {2: np.searchsorted(a[0], a[1])}), 14 * looked, tolerance=0,
        ),
        work(
            "scan", lambda: [integers(-9, 99, m), no_integers(m), no_integers(up(m, 2048))], (m,), (up(m, 2048), 1), (512, 1),
            outputs(scan), 8 * m, m, tolerance=0,
        ),
        work(
            "bitonic", lambda: [words(lists, 1024), np.zeros((lists, 1024), np.uint32)], (lists,), (lists, 1), (512, 1),
            outputs(lambda a: {1: np.sort(a[0], 1)}), 8 * lists * 1024, kernel_ints=0, tolerance=0,
        ),
        work(
            "spmv", lambda: sparse(entries, 70_001), (entries,), (up(entries, 4), 1), (128, 1), outputs(spmv), 8 * 24 * entries,
            2 * 24 * entries,
        ),
        work(
            "digit_count", lambda: [words(m), np.zeros(64, np.uint32)], (m, 13), (64, 1), (256, 1),
            outputs(lambda a: {1: np.bincount(a[0] >> 13 & 63, minlength=64)}), 4 * m, tolerance=0,
        ),
        work(
            "philox", lambda: [zeros(states, 4)], (states, PHILOX_SEED), (up(states, 256), 1), (256, 1), outputs(philox),
            16 * states, 80 * states, tolerance=0,
        ),
        work(
            "upper", lambda: [text(n), np.zeros(n, np.uint8), np.zeros(1, np.uint32)], (n,), (up(n, 256), 1), (256, 1),
            outputs(upper), 2 * n, tolerance=0,
        ),
        work(
            "gemv", lambda: [uniform(short, 1501), uniform(1501), zeros(short)], (1501, short), (short, 1), (96, 1),
            outputs(lambda a: {2: a[0].astype(np.float64) @ a[1]}), 4 * 1501 * short, 2 * 1501 * short, kernel_ints=1,
        ),
        work(
            "stencil7", lambda: [uniform(depth, 107, 109), zeros(depth, 107, 109)], (109, 107, depth), (up(109, 32), up(107, 4)), (32, 4),
            outputs(stencil7), 8 * 109 * 107 * depth, 8 * 109 * 107 * depth,
        ),
        work(
            "softmax_odd", lambda: [normal(layers, 777), zeros(layers, 777)], (777, layers), (layers, 1), (128, 1), outputs(softmax),
            8 * layers * 777, 5 * layers * 777, kernel_ints=1,
        ),
        work(
            "embedding", lambda: [uniform(20_000, 300), integers(0, 20_000, words_of), zeros(words_of, 300)], (300, words_of), (words_of, 1),
            (100, 1), outputs(lambda a: {2: a[0][a[1]].astype(np.float64) * np.float32(17.32)}), 8 * words_of * 300,
            floats=(17.32,), kernel_ints=1,
        ),
        work(
            "argmax", lambda: [normal(long_rows, 5003), no_integers(long_rows)], (5003, long_rows), (long_rows, 1), (256, 1),
            outputs(lambda a: {1: a[0].argmax(1)}), 4 * long_rows * 5003, kernel_ints=1, tolerance=0,
        ),
        work(
            "kmeans", lambda: [normal(numbers, 16), normal(60, 16), no_integers(numbers)], (numbers, 60), (up(numbers, 192), 1),
            (192, 1), kmeans, 68 * numbers, 48 * 60 * numbers, tolerance=1e-4,
        ),
        work(
            "batchnorm", lambda: [normal(64, channels, 49), zeros(64, channels, 49)], (channels, 64), (channels, 1), (256, 1), outputs(batchnorm),
            12 * 64 * channels * 49, 6 * 64 * channels * 49, floats=(1e-5,),
        ),
        work(
            "monte_carlo", lambda: [np.zeros(1, np.uint32)], (MONTE_CARLO[0], threads), (threads // 256, 1), (256, 1),
            outputs(monte_carlo), 4, 8 * 256 * threads, kernel_ints=1, tolerance=1e-5,
        ),
        work(
            "cheapest_path", lambda: [integers(0, 10, 20, numbers), integers(0, 10, numbers), no_integers(numbers)],
            (numbers, 20), (up(numbers, 216), 1), (256, 1), outputs(cheapest_path), 4 * 22 * numbers, tolerance=0,
        ),
    ]  # fmt: skip
