"""cuda::atomic, cuda::barrier and cuda::pipeline keep order and lose nothing."""

from __future__ import annotations

import itertools
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np

from toolchain.device_code import compiled

RNG = np.random.default_rng(13)


def program() -> Any:
    """Return the program of this file."""
    return compiled("device_library.cu")


def test_atomics() -> None:
    i, u, f = np.array([7, -1, 5], np.int32), np.array([1 << 40], np.uint64), np.array([1.0], np.float32)
    seen = np.zeros(64, np.int32)
    program().run("atomics", 1, 64, [i, u, f, seen])
    np.testing.assert_array_equal(i, [7 + 63 * 32, 189, 69])
    assert sorted(seen.tolist()) == list(range(5, 69))
    assert u[0] == ((1 << 64) - 1) ^ (1 << 40)
    assert f[0] == 33


def test_barriers_of_a_block() -> None:
    values, out = RNG.integers(-1000, 1000, 96).astype(np.int32), np.zeros(96, np.int32)
    program().run("barriers", 1, 96, [values, out])
    np.testing.assert_array_equal(out, 3 * np.roll(values, -40) + 3 + 2 * values[::-1])


def test_a_barrier_in_global_memory_holds_a_grid() -> None:
    n = 4 * 32
    state, room, out = np.array([n, n], np.uint64), np.zeros(n, np.int32), np.zeros(2 * n, np.int32)
    program().run("wide_barrier", 4, 32, [state, room, out])
    back = np.arange(n)[::-1]
    np.testing.assert_array_equal(out, np.concatenate([back, back + 1]))


def test_pipelines_bring_each_batch_once() -> None:
    values, out = RNG.integers(-1000, 1000, (5, 64)).astype(np.int32), np.zeros(64, np.int32)
    program().run("pipelines", 1, 64, [values, out, 5])
    np.testing.assert_array_equal(out, sum((k + 1) * values[k, ::-1] for k in range(5)))


MASK = 0xFFFFFFFF


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Ten rounds of Philox4x32 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3)."""
    a, b, c, d = counter
    k, m = key
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = q >> 32 ^ b ^ k, q & MASK, p >> 32 ^ d ^ m, p & MASK
        k, m = k + 0x9E3779B9 & MASK, m + 0xBB67AE85 & MASK
    return [a, b, c, d]


def test_philox_is_the_published_function() -> None:
    counters = np.array([[0] * 4, [MASK] * 4, [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344]], np.uint32)
    keys = np.array([[0] * 2, [MASK] * 2, [0xA4093822, 0x299F31D0]], np.uint32)
    out = np.zeros((3, 4), np.uint32)
    program().run("philox_blocks", 1, 3, [counters, keys, out])
    # The authors' known answers.
    assert [f"{x:08x}" for x in out.ravel().tolist()] == [
        "6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8", "408f276d", "41c83b0e", "a20bc7c6", "6d5451fd",
        "d16cfe09", "94fdcceb", "5001e420", "24126ea1",
    ]  # fmt: skip


def xorwow_step(v: list[int]) -> list[int]:
    """One step of Marsaglia's generator, without its counter."""
    t = v[0] ^ v[0] >> 2
    return [*v[1:], (v[4] ^ v[4] << 4 ^ t ^ t << 1) & MASK]


def applied(columns: tuple[int, ...], x: int) -> int:
    """Return a matrix over GF(2), by its columns, times a vector of bits."""
    result = 0
    for k, column in enumerate(columns):
        if x >> k & 1:
            result ^= column
    return result


def words(x: int) -> list[int]:
    """Return 160 bits as five words."""
    return [x >> 32 * k & MASK for k in range(5)]


def packed(v: list[int]) -> int:
    """Return five words as 160 bits."""
    return sum(w << 32 * k for k, w in enumerate(v))


@cache
def map_of(exponent: int) -> tuple[int, ...]:
    """Return 2**exponent steps as a matrix: the one of a step, squared and squared."""
    columns = tuple(packed(xorwow_step(words(1 << k))) for k in range(160))
    for _ in range(exponent):
        columns = tuple(applied(columns, c) for c in columns)
    return columns


def test_generators_start_where_their_numbers_say() -> None:
    seed, n = 0x123456789ABCDEF, 5
    streams, blocks = np.zeros((n, 8), np.uint32), np.zeros((n, 8), np.uint32)
    normal, uniform = np.zeros(64 * n, np.float32), np.zeros(64 * n)
    program().run("random_numbers", 1, n, [seed, streams, blocks, normal, uniform])
    t0, t1 = 1099087573 * (seed & MASK ^ 0xAAD26B49) & MASK, 2591861531 * (seed >> 32 ^ 0xF7DCEFDD) & MASK
    start = [123456789 + t0 & MASK, 362436069 ^ t0, 521288629 + t1 & MASK, 88675123 ^ t1, 5783321 + t0 & MASK]
    there = packed(start)
    for t in range(n):
        v, d = words(there), 6615241 + t1 + t0
        there = applied(map_of(67), there)
        for _ in range(3 * t):
            v, d = xorwow_step(v), d + 362437
        for k in range(8):
            v, d = xorwow_step(v), d + 362437
            assert streams[t, k] == v[4] + d & MASK
        blocks_of_t = [w for c in range(6) for w in philox([c, 0, t, 0], [seed & MASK, seed >> 32])]
        assert blocks[t].tolist() == blocks_of_t[3 * t : 3 * t + 8]
        first = blocks_of_t[:2]
        radius = np.sqrt(-2 * np.log((first[0] + 0.5) / 2**32))
        angle = 2 * np.pi * (first[1] + 0.5) / 2**32
        np.testing.assert_allclose(
            normal[64 * t : 64 * t + 2], [np.sin(angle) * radius, np.cos(angle) * radius], rtol=1e-5
        )
    assert ((uniform > 0) & (uniform <= 1)).all()


def test_poisson_numbers_have_their_mean_and_spread() -> None:
    out = np.zeros(64 * 64, np.uint32)
    for lambda_ in (0.5, 30.0, 1200.0):
        program().run("counts", 1, 64, [77, lambda_, out])
        error = np.sqrt(lambda_ / len(out))
        assert abs(out.mean() - lambda_) < 5 * error
        assert abs(out.var() / lambda_ - 1) < 0.2


MRG = (4294967087, (0, 1403580, -810728)), (4294944443, (527612, 0, -1370589))


def mrg_stream(seed: int, steps: int, count: int) -> tuple[list[int], list[list[int]]]:
    """Return numbers of L'Ecuyer's generator so many steps ahead, over whole numbers, and its six words behind them."""
    x, y = seed & MASK ^ 0x55555555, seed >> 32 ^ 0xAAAAAAAA
    halves = []
    for (m, (a, b, c)), words_ in zip(MRG, ((x, y, x), (y, x, y)), strict=True):
        v = [w * 12345 % m for w in words_]
        matrix = [[0, 1, 0], [0, 0, 1], [c, b, a]]
        n = steps
        while n:
            if n & 1:
                v = [sum(p * q for p, q in zip(row, v, strict=True)) % m for row in matrix]
            matrix = [[sum(row[k] * matrix[k][j] for k in range(3)) % m for j in range(3)] for row in matrix]
            n >>= 1
        halves.append(v)
    out = []
    for _ in range(count):
        for (m, (a, b, c)), v in zip(MRG, halves, strict=True):
            v.append((a * v[2] + b * v[1] + c * v.pop(0)) % m)
        out.append((halves[0][2] - halves[1][2]) % MRG[0][0] or MRG[0][0])
    return out, halves


def test_mrg32k3a_and_sobol() -> None:
    """Against whole numbers, and against Antonov's and Saleev's order written out: the point n is the sum of Gray's code of n."""
    seed, n = 0xFEDCBA987654321, 4
    vectors = RNG.integers(0, 2**32, 32, np.uint32)
    wide = RNG.integers(0, 2**64, 64, np.uint64)
    bits, points = np.zeros((n, 4), np.uint32), np.zeros((n, 8), np.uint32)
    uniform, quasi, normal = np.zeros((n, 2)), np.zeros((n, 2)), np.zeros((n, 2), np.float32)
    wide_points = np.zeros((n, 4), np.uint64)
    program().run("more_random_numbers", 1, n, [seed, vectors, wide, bits, uniform, normal, points, wide_points, quasi])
    norm = 2.328306549295728e-10
    for t in range(n):
        numbers, _ = mrg_stream(seed, (t << 76) + 5 * t, 5)
        assert bits[t].tolist() == [int(z * 1.000000048662) for z in numbers[:4]]
        assert uniform[t, 0] == numbers[4] * norm
        numbers, _ = mrg_stream(seed, (t << 127) + (t << 76) + 5 * t + 5, 3)
        assert uniform[t, 1] == numbers[0] * norm
        radius, angle = np.sqrt(-2 * np.log(numbers[1] * norm)), 2 * np.pi * numbers[2] * norm
        np.testing.assert_allclose(normal[t], [radius * np.sin(angle), radius * np.cos(angle)], rtol=2e-5, atol=1e-6)

        def point(table: Any, place: int) -> int:
            gray = place ^ place >> 1
            return int(
                np.bitwise_xor.reduce([v for k, v in enumerate(table) if gray >> k & 1] or [table[0] ^ table[0]])
            )

        assert points[t, :4].tolist() == [point(vectors, 7 * t + k) for k in range(4)]
        assert points[t, 4:].tolist() == [0x12345678 ^ point(vectors, 7 * t + k) for k in range(4)]
        assert wide_points[t].tolist() == [point(wide, 7 * t + k) for k in range(4)]
        np.testing.assert_allclose(quasi[t, 0], (point(vectors, 7 * t + 4) + 0.5) / 2**32, rtol=1e-6)
        below = NormalDist().inv_cdf((point(wide, 7 * t + 4) + 0.5) / 2**64)
        np.testing.assert_allclose(quasi[t, 1], below, rtol=1e-12)


def test_numbers_of_a_discrete_distribution() -> None:
    """Its table is ours; the uniform number that it inverts is that of the stream."""
    sums = np.array([0.25, 0.5, 0.5, 0.9, 1.0])
    table = np.array([sums.ctypes.data, 5 | 10 << 32], np.uint64)
    seed, n = 0x1234567, 64
    out = np.zeros((n, 2), np.uint32)
    program().run("discrete", 1, n, [seed, table, out])
    for t in range(n):
        x, y = philox([0, 0, t, 0], [seed, 0])[:2]
        assert out[t, 0] == 10 + np.searchsorted(sums, ((x ^ y << 21) + 0.5) * 2**-53)
    assert set(out[:, 1].tolist()) == {10, 11, 13, 14}


def eight_bit_numbers(exponent: int, mantissa: int, finite: bool) -> list[float]:
    """Return the value of each of the 256 codes (Micikevicius and others, FP8 formats for deep learning, 2022)."""
    bias, top, values = (1 << (exponent - 1)) - 1, (1 << exponent) - 1, []
    for code in range(256):
        e, m = code >> mantissa & top, code & ((1 << mantissa) - 1)
        value = (m + (1 << mantissa if e else 0)) * 2.0 ** (max(e, 1) - bias - mantissa)
        if finite and code & 0x7F == 0x7F:
            value = np.nan
        elif not finite and e == top:
            value = np.nan if m else np.inf
        values.append(-value if code & 0x80 else value)
    return values


def test_floats_of_eight_bits() -> None:
    tables = [eight_bit_numbers(4, 3, True), eight_bit_numbers(5, 2, False)]
    largest = [448.0, 57344.0]
    between = [np.float32((a + b) / 2) for t in tables for a, b in itertools.pairwise(t[:0x7B])]
    edges = [0.0, -0.0, np.inf, -np.inf, 1e9, 464.0, 465.0, 61440.0, 61439.0, -61441.0, 1e-9, 2.0**-10, 2.0**-17]
    x = np.concatenate(
        [np.array(edges, np.float32), np.array(between), RNG.normal(size=200) * 10.0 ** RNG.integers(-5, 6, 200)]
    )
    x = x.astype(np.float32)
    codes, back = np.zeros((6, len(x)), np.uint8), np.zeros((3, 256), np.float32)
    program().run("eights", (len(x) + 255) // 256, 256, [x, codes, back, len(x)])
    np.testing.assert_array_equal(back[:2], np.array(tables, np.float32))
    np.testing.assert_array_equal(back[2], [*(2.0 ** np.arange(-127, 128)), np.nan])
    for value, up, down in zip(np.abs(x).tolist(), codes[4].tolist(), codes[5].tolist(), strict=True):
        exponent = np.frexp(max(value, 2.0**-127))[1] - 1 if value < np.inf else 128
        exact = value <= 2.0**-127 or value == 2.0**exponent
        assert (up, down) == (min(exponent + 127 + (not exact), 254), min(exponent + 127, 255)), value
    for form, (table, most) in enumerate(zip(tables, largest, strict=True)):
        steps = [v for v in table[:128] if np.isfinite(v)]
        beyond = 2 * steps[-1] - steps[-2]  # what the next number would be decides where rounding leaves the range
        for value, kept, free in zip(x.tolist(), codes[form].tolist(), codes[2 + form].tolist(), strict=True):
            rows = [*steps, beyond]
            near = (
                min(range(len(rows)), key=lambda k: (abs(rows[k] - abs(value)), k % 2))
                if abs(value) < beyond
                else len(steps)
            )
            sign = 0x80 if np.signbit(np.float32(value)) else 0
            fits = near < len(steps)
            assert kept == sign | (near if fits else table.index(most)), value
            assert free == sign | (near if fits else 0x7F if form == 0 else 0x7C), value
