"""Kernels that a CUDA compiler made (`cases/kernels.cu`), on every device, against numpy."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from semantics.devices import DEVICES

FOLDER = Path(__file__).parent / "cases"
PTX = (FOLDER / "kernels.ptx").read_text()


@pytest.fixture(params=DEVICES)
def run(request):
    def run(name, grid, block, *args, shared=0):
        DEVICES[request.param](PTX, name, grid, block, args, shared)

    run.device = request.param
    return run


@pytest.fixture
def rng():
    return np.random.default_rng(20)


def test_sum_by_shuffles(run, rng):
    x, out = rng.integers(0, 100, 1000).astype(np.float32), np.zeros(1, np.float32)
    run("sum_shuffle", 3, 96, x, out, 1000)
    assert out[0] == x.sum(dtype=np.float64)


@pytest.mark.parametrize("threads", [64, 50, 127])
def test_scan(run, rng, threads):
    x = rng.integers(-9, 9, (3, 50)).astype(np.int32)
    out = np.zeros_like(x)
    run("scan", 3, threads, x, out, 50, shared=4 * threads)
    np.testing.assert_array_equal(out, np.cumsum(x, axis=1))


@pytest.mark.parametrize("threads", [32, 100, 256])
def test_histogram(run, rng, threads):
    x, out = rng.integers(0, 256, 2000).astype(np.uint8), np.zeros(256, np.uint32)
    run("histogram", 2, threads, x, out, len(x))
    np.testing.assert_array_equal(out, np.bincount(x, minlength=256))


@pytest.mark.parametrize("n", [8, 13])
def test_matrix_product_in_tiles(run, rng, n):
    a, b = rng.integers(-9, 9, (2, n, n)).astype(np.float32)
    out = np.zeros((n, n), np.float32)
    run("matmul", (-(-n // 8), -(-n // 8)), (8, 8), a.copy(), b.copy(), out, n)
    np.testing.assert_array_equal(out, a @ b)


def test_mandelbrot(run):
    width, height, limit = 23, 17, 30
    out = np.zeros((height, width), np.int32)
    run("mandelbrot", (2, 3), (16, 8), out, width, height, limit)
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    c_r, c_i = -2.0 + 3.0 * x / width, -1.5 + 3.0 * y / height
    z_r, z_i, count = np.zeros_like(c_r), np.zeros_like(c_r), np.zeros_like(out)
    for _ in range(limit):
        on = (z_r * z_r + z_i * z_i) < 4.0
        t = (z_r * z_r - z_i * z_i) + c_r
        z_i = np.where(on, 2.0 * z_r * z_i + c_i, z_i)
        z_r = np.where(on, t, z_r)
        count += on
    np.testing.assert_array_equal(out, count)


def test_bitonic_sort(run, rng):
    x = rng.integers(0, 1 << 32, (2, 128), dtype=np.uint32)
    wanted = np.sort(x, axis=1)
    run("bitonic_sort", 2, 128, x, shared=512)
    np.testing.assert_array_equal(x, wanted)


@pytest.mark.parametrize("columns", [5, 77])
def test_softmax(run, rng, columns):
    x = rng.normal(size=(4, columns)).astype(np.float32)
    out = np.zeros_like(x)
    run("softmax", 4, 32, x, out, columns)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(axis=1, keepdims=True), rtol=1e-5)


def test_compaction_by_ballots(run):
    x = (np.arange(350) * 7 % 100).astype(np.int32)
    out, count = np.full(384, -1, np.int32), np.zeros(1, np.int32)
    run("compact", 4, 96, x, out, count, 350)
    kept = x[x % 3 == 0]
    assert count[0] == len(kept) and (out[len(kept) :] == -1).all()
    np.testing.assert_array_equal(np.sort(out[: len(kept)]), np.sort(kept))


def test_structures_by_value_and_by_reference(run, rng):
    body = np.dtype([("position", np.float32, 3), ("mass", np.float32), ("energy", np.float64)], align=True)
    every = np.zeros(11, body)
    every["position"], every["mass"] = rng.normal(size=(11, 3)), rng.random(11)
    extra = every[3].copy()
    run("bodies", 1, 40, every.view(np.uint8), extra.tobytes(), 10)
    p, m = every["position"].astype(np.float64), every["mass"].astype(np.float64)
    for i in range(10):
        others = [j for j in range(10) if j != i] + [3]
        wanted = sum(m[i] * m[j] / np.sqrt(((p[i] - p[j]) ** 2).sum() + 0.01) for j in others)
        assert abs(every["energy"][i] - wanted) < 1e-5 * wanted
    assert every["energy"][10] == 0


def stack_machine(code, thread, steps):
    """What the kernel `machine` computes, in whole numbers of 32 bits."""
    table = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3]
    stack, top, at, x, length = list(range(8)), 0, thread % len(code), thread, len(code)

    def signed(v):
        return (v + (1 << 31)) % (1 << 32) - (1 << 31)

    for i in range(steps):
        op = code[at]
        if op == 0:
            x = signed(x + table[(x + i) & 15])
        elif op == 1:
            stack[top & 7] = x
            top += 1
        elif op == 2:
            top -= 1
            x ^= stack[top & 7]
        elif op == 3:
            x = signed(x * 1103515245 + 12345)
        elif op == 4:
            at = (at + 3) % length if x & 1 else at
        elif op == 5:
            if x < 0:
                break
            x = -(x // 3)
        elif op == 6:
            product = (x * 2654435761 + (1 << 63)) % (1 << 64) - (1 << 63)
            x = signed(product >> 7)
            continue
        else:
            word = x & 0xFFFFFFFF
            x = signed(int(f"{word:032b}"[::-1], 2) + 32 - word.bit_length() + (word & -word).bit_length())
        at = (at + 1) % length
    return signed(x + top)


@pytest.mark.parametrize("seed", range(4))
def test_a_stack_machine_whose_threads_all_go_their_own_way(run, seed):
    """A thread may stay at one instruction (`continue` skips the step on), others move: no two do the same for long."""
    code = np.random.default_rng(seed).integers(0, 9, 40).astype(np.uint8)
    out = np.zeros(140, np.int32)
    run("machine", 2, 70, code, out, len(code), 50)
    np.testing.assert_array_equal(out, [stack_machine(code.tolist(), t, 50) for t in range(140)])


def test_half_precision_pairs(run, rng):
    a, b = rng.normal(size=(2, 160)).astype(np.float16)
    c = (rng.normal(size=80).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    out, d = np.zeros(160, np.float16), np.zeros(80, np.uint16)
    run("halves", 2, 40, a.copy(), b.copy(), out, c, d, 80)
    x = (a.astype(np.float64) * b + (a + b)).astype(np.float16)  # exact in 64 bits, then rounded once
    low = np.repeat((x > b)[0::2], 2)
    np.testing.assert_array_equal(out, np.where(low, -x, x))
    wide = (c.astype(np.uint32) << 16).view(np.float32).astype(np.float64) * 3.0 + 1.0
    np.testing.assert_allclose((d.astype(np.uint32) << 16).view(np.float32), wide, rtol=2.0**-8)


def test_life(run, rng):
    world = rng.integers(0, 2, (11, 50)).astype(np.uint8)
    out = np.full_like(world, 9)
    run("life", (2, 3), (32, 4), world, out, 50, 11)
    around = sum(np.roll(np.pad(world, 1), (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1) if x or y)[
        1:-1, 1:-1
    ]
    np.testing.assert_array_equal(out, (around == 3) | ((around == 2) & (world == 1)))


def test_wide_integers(run, rng):
    a, b = rng.integers(0, 1 << 64, 75, dtype=np.uint64), rng.integers(0, 1 << 20, 75, dtype=np.uint64)
    b[::3], b[5], a[7] = rng.integers(0, 1 << 64, 25, dtype=np.uint64), 0, 0
    out = np.zeros((75, 4), np.uint64)
    run("wide_integers", 2, 40, a, b, out, 75)
    word = (1 << 64) - 1

    def signed(v):
        return v - (1 << 64) if v >> 63 else v

    for n, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        product = x * y + x
        divisor = signed(y | 1)
        rest = abs(signed(x)) % abs(divisor) * (-1 if signed(x) < 0 else 1)
        assert out[n].tolist() == [product & word, product >> 64, x // y if y else 1, rest & word if y else 2]


def test_primes(run):
    out = np.zeros(200, np.uint32)
    run("primes", 3, 70, out, 200)
    np.testing.assert_array_equal(out, [int(n > 1 and all(n % d for d in range(2, n))) for n in range(200)])


@pytest.mark.nvcc
def test_the_source_still_compiles(tmp_path):
    out = tmp_path / "kernels.ptx"
    subprocess.run(["nvcc", "-ptx", "-arch=sm_80", FOLDER / "kernels.cu", "-o", out], check=True)
    assert ".entry bitonic_sort" in out.read_text()
