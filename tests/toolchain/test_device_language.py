"""What the device's headers declare beside mathematics computes what CUDA's manuals say, here by numpy and plain Python."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anywarp.toolchain import nvrtc
from toolchain.device_code import HERE, compiled

RNG = np.random.default_rng(11)
Array = np.ndarray[Any, Any]


def program() -> Any:
    """Return the program of this file."""
    return compiled("device_language.cu")


def test_groups_reduce_scan_shuffle_and_part() -> None:
    values = RNG.integers(-50, 50, 64).astype(np.int32)
    out = np.zeros(15 * 64, np.int32)
    program().run("groups", 1, 64, [values, out])
    got = out.reshape(15, 64)
    eights, warps = values.reshape(8, 8), values.reshape(2, 32)
    np.testing.assert_array_equal(got[0], np.repeat(eights.sum(1), 8))
    np.testing.assert_array_equal(got[1], np.repeat(warps.max(1), 32))
    np.testing.assert_array_equal(got[2], warps.cumsum(1).ravel())
    np.testing.assert_array_equal(got[3], (eights.cumsum(1) - eights).ravel())
    np.testing.assert_array_equal(got[4], np.concatenate([eights[:, :1], eights[:, :-1]], 1).ravel())
    np.testing.assert_array_equal(got[5], np.repeat(((eights & 1) << np.arange(8)).sum(1), 8))
    np.testing.assert_array_equal(got[6], values.sum())
    for k, warp in enumerate(warps):
        part = slice(32 * k, 32 * k + 32)
        odd = (warp & 1) == 1
        ranks = np.cumsum(odd) - odd
        np.testing.assert_array_equal(got[7][part], np.where(odd, odd.sum() * 10001 + ranks * 100, 0))
        np.testing.assert_array_equal(got[8][part], np.where(odd, warp[odd][0], -1))
        up = warp > 0
        same = [np.flatnonzero(up == u).tolist() for u in up]
        np.testing.assert_array_equal(got[9][part], [len(s) * 100 + s.index(t) for t, s in enumerate(same)])
        labels = warp & 3
        sizes = [(labels == label).sum() * 100 + len(set(labels.tolist())) for label in labels]
        np.testing.assert_array_equal(got[10][part], sizes)
        np.testing.assert_array_equal(got[11][part], warp[0])
    np.testing.assert_array_equal(got[12], values[::-1])
    below = np.concatenate([np.full((8, 1), 2**31 - 1), np.minimum.accumulate(eights, 1)[:, :-1]], 1)
    above = np.concatenate([np.full((8, 1), -(2**31)), np.maximum.accumulate(eights, 1)[:, :-1]], 1)
    np.testing.assert_array_equal(got[13], below.ravel())
    np.testing.assert_array_equal(got[14], above.ravel())


def test_a_grid_meets_at_its_barrier() -> None:
    counts, seen = np.zeros(256, np.int32), np.zeros(256, np.int32)
    program().run("grid_barrier", 4, 64, [counts, seen], cooperative=True)
    np.testing.assert_array_equal(seen, np.arange(256, 0, -1))


def test_lanes_exchange_vote_and_match() -> None:
    values = RNG.integers(1, 1 << 30, 32)
    x, y, out = RNG.normal(size=32), np.zeros(32), np.zeros(256, np.int64)
    program().run("lanes", 1, 32, [values, out, x, y])
    got, lane = out.reshape(8, 32), np.arange(32)
    np.testing.assert_array_equal(got[0], values[lane ^ 5])
    np.testing.assert_array_equal(got[1], values[np.where(lane % 8 < 5, lane + 3, lane)])
    np.testing.assert_array_equal(y, x[(lane & 16) + (lane + 1) % 16])
    masks = [sum(1 << j for j in lane.tolist() if values[j] % 3 == v % 3) for v in values]
    np.testing.assert_array_equal(got[2], masks)
    np.testing.assert_array_equal(got[3], 0)
    np.testing.assert_array_equal(got[4], ((values & 1) << lane).sum())
    np.testing.assert_array_equal(got[5], np.int64(np.int32(values.sum() & 0x7FFFFFFF) - (values.sum() & 0x80000000)))
    np.testing.assert_array_equal(got[6], values.min())
    np.testing.assert_array_equal(got[7], int((values == 7).any()) + 2)


def test_atomics_of_all_types_and_scopes() -> None:
    i = np.array([5, 5, 5, 5, -1, 0, 9, 0, 0], np.int32)
    u, wide = np.array([0, 0, 1], np.uint32), np.array([1, 1], np.uint64)
    f, d = np.array([1.5], np.float32), np.array([1.5])
    half, brain = np.zeros(2, np.float16), np.zeros(2, np.uint16)
    short = np.array([40, 7], np.uint16)
    program().run("atomics", 1, 32, [i, u, wide, f, d, half, brain, short])
    np.testing.assert_array_equal(i, [5 + 496, 5 - 496, -31, 31, 0, -1, 9, 64, 96])
    # Counting up to 10 and on from 0, and down from 10: 32 steps of a cycle of 11.
    np.testing.assert_array_equal(u, [32 % 11, -32 % 11, 0x8000001F])
    np.testing.assert_array_equal(wide, [1 + (32 << 40), 31 << 33])
    assert (f[0], d[0]) == (17.5, 9.5)
    np.testing.assert_array_equal(half, [32, 64])
    np.testing.assert_array_equal(brain, [0x4200, 0x4280])
    np.testing.assert_array_equal(short, [72, 7])


def rounded(x: Fraction | float, digits: int, lowest: int, how: str = "nearest") -> float:
    """Return the number of `digits` binary digits, at least 2**lowest fine, that x rounds to."""
    x = Fraction(x)
    if x == 0:
        return 0.0
    e = lowest
    while abs(x) >= Fraction(2) ** (e + digits):
        e += 1
    units = x / Fraction(2) ** e
    floor = units.numerator // units.denominator
    choice = {
        "nearest": round(units), "down": floor, "up": -(-units.numerator // units.denominator),
        "zero": floor if units > 0 else -(-units.numerator // units.denominator),
    }  # fmt: skip
    return float(choice[how] * Fraction(2) ** e)


@pytest.mark.parametrize(("kernel", "digits", "lowest"), [("halves", 11, -24), ("brains", 8, -133)])
def test_sixteen_bit_floats_round_once(kernel: str, digits: int, lowest: int) -> None:
    n = 64
    a, b = RNG.normal(size=(2, n)).astype(np.float32) * np.float32(3)
    out = np.zeros(19 * n, np.float32)
    program().run(kernel, 1, n, [a, b, out, n])
    got = out.reshape(19, n)

    def once(x: Any, how: str = "nearest") -> float:
        return rounded(x, digits, lowest, how)

    for t in range(n):
        x, y = Fraction(once(float(a[t]))), Fraction(once(float(b[t])))
        total = x + y
        expected: list[float] = [
            once(total), once(x - y), once(x * y), once(x / y), once(x * y + x), -float(x), once(float(a[t]), "zero"),
            once(float(a[t]), "up"), once(float(a[t]), "down"), once(float(np.exp(np.float64(x)))),
            once(float(np.sqrt(np.float64(abs(x))))), float(max(x, y)), float(min(x, y)), once(int(a[t])),
            once(min(max(total, Fraction(0)), Fraction(1))), once(x * y + x), once(y * y + y), round(x), float(x < y),
        ]  # fmt: skip
        np.testing.assert_array_equal(got[:, t], np.array(expected, np.float32), err_msg=f"lane {t}: {a[t]} {b[t]}")


def test_comparisons_of_halves_know_order_from_its_absence() -> None:
    values = np.array([1.0, 2.0, np.nan, 1.0, -0.0, 0.0, np.inf, np.nan], np.float16)
    a, b = (g.ravel().copy() for g in np.meshgrid(values, values))
    out = np.zeros(32, np.uint32)
    program().run("comparisons", 1, 32, [a, b, out])
    for t in range(32):
        (p, r), (q, s) = a[2 * t : 2 * t + 2].tolist(), b[2 * t : 2 * t + 2].tolist()
        lost, both_lost = p != p or q != q, r != r or s != s
        expected = [
            p == q, p < q or p > q, p < q, p >= q, p == q or lost, p != q, p < q or lost, p >= q or lost, p == q and r == s,
            (p < q or p > q) and (r < s or r > s), p != q and r != s, (p < q or lost) and (r < s or both_lost), p == q, p != q,
            p == q and r == s, p == q and r == s,
        ]  # fmt: skip
        assert [bool(out[t] >> k & 1) for k in range(16)] == expected, (p, q, r, s)


def lanes_of(x: int, bits: int, signed: bool) -> list[int]:
    """Return the numbers in a word, lowest first."""
    parts = [x >> k & ((1 << bits) - 1) for k in range(0, 32, bits)]
    return [p - (1 << bits) if signed and p >> (bits - 1) else p for p in parts]


def word_of(parts: list[int], bits: int) -> int:
    """Return the word with these numbers in it, lowest first."""
    return sum((p & ((1 << bits) - 1)) << (bits * k) for k, p in enumerate(parts))


def test_packed_and_long_integers() -> None:
    n = 48
    a, b = RNG.integers(0, 1 << 32, (2, n), dtype=np.uint32)
    a[:3], b[:3] = [0x80FF7F00, 0x80008000, 0], [0x7F80FF01, 0x8000FFFF, 0]
    out = np.zeros(24 * n, np.uint32)
    program().run("packed", 1, n, [a, b, out, n])

    def each(x: int, y: int, bits: int, signed: bool, f: Any) -> int:
        return word_of(
            [f(p, q) for p, q in zip(lanes_of(x, bits, signed), lanes_of(y, bits, signed), strict=True)], bits
        )

    def between(v: int, low: int, high: int) -> int:
        return min(max(v, low), high)

    def signed(x: int) -> int:
        return x - (1 << 32) if x >> 31 else x

    def average(p: int, q: int) -> int:
        return (p + q + (p + q >= 0)) >> 1  # as PTX rounds in vavrg

    for t in range(n):
        x, y = int(a[t]), int(b[t])
        both = y << 32 | x
        selected = [both >> 8 * s & 255 for s in (5, 1, 7, 3)]
        expected = [
            each(x, y, 8, False, lambda p, q: p + q), each(x, y, 8, True, lambda p, q: between(p + q, -128, 127)),
            each(x, y, 8, False, lambda p, q: min(p + q, 255)), each(x, y, 16, False, lambda p, q: p - q),
            each(x, y, 16, True, lambda p, q: between(p - q, -32768, 32767)), each(x, y, 8, False, lambda p, q: abs(p - q)),
            sum(abs(p - q) for p, q in zip(lanes_of(x, 8, False), lanes_of(y, 8, False), strict=True)),
            each(x, y, 8, True, lambda p, q: -1 if p > q else 0), each(x, y, 16, False, lambda p, q: int(p <= q)),
            each(x, y, 16, True, average), each(x, y, 8, False, max), each(x, y, 16, True, min),
            each(x, x, 8, True, lambda p, q: between(abs(p), -128, 127)), each(x, x, 16, True, lambda p, q: -p),
            each(x, y, 8, False, lambda p, q: (p + q) >> 1),
            7 + sum(p * q for p, q in zip(lanes_of(x, 8, True), lanes_of(y, 8, True), strict=True)),
            word_of(selected, 8), (both & ~0) << 13 >> 32, both >> 32, int(f"{x:032b}"[::-1], 2),
            signed(x) * signed(y) >> 32, x * y >> 32, 32 - x.bit_length(), 5 + abs(x - y),
        ]  # fmt: skip
        got = out.reshape(24, n)[:, t].tolist()
        assert got == [e & 0xFFFFFFFF for e in expected], f"lane {t}: {x:#x} {y:#x}"


def test_warp_matrices() -> None:
    a, b = RNG.integers(-8, 8, (2, 16, 16)).astype(np.float16)
    c, r = np.zeros((16, 16), np.float32), np.zeros((32, 8), np.int32)
    p, q = RNG.integers(-128, 128, (32, 16)).astype(np.int8), RNG.integers(-128, 128, (16, 8)).astype(np.int8)
    program().run("matrices", 1, 32, [a, b, c, p, q, r])
    np.testing.assert_array_equal(c, 2 * (a.astype(np.float32) @ b.T.astype(np.float32) + 0.5))
    np.testing.assert_array_equal(r, p.astype(np.int32) @ q.astype(np.int32) + 1)


def test_warp_matrices_of_four_bits_and_of_one() -> None:
    c, d = RNG.integers(-1000, 1000, (8, 8)).astype(np.int32), np.zeros((6, 8, 8), np.int32)
    c[0] = 2**31 - 1  # sums beyond it wrap, or are clamped
    wide = RNG.integers(0, 256, (2, 8, 16)).astype(np.uint8)
    program().run("narrow_matrices", 1, 32, [wide[0], wide[1], c, d])
    for k, signed in enumerate((False, True)):
        # 4 bits: the first 128 bytes are 8 x 32 elements, the lower half of each byte first
        x, y = (np.stack([m & 15, m >> 4], -1).reshape(8, 32).astype(np.int64) for m in wide)
        x, y = ((m ^ 8) - 8 if signed else m for m in (x, y))
        exact = x @ y.T + c
        np.testing.assert_array_equal(d[2 * k], exact.astype(np.int32))
        np.testing.assert_array_equal(d[2 * k + 1].T, np.clip(exact, -(2**31), 2**31 - 1))
    x, y = (np.unpackbits(m, axis=1, bitorder="little") for m in wide)
    np.testing.assert_array_equal(d[4], ((x[:, None] ^ y[None]).sum(-1, dtype=np.int64) + c).astype(np.int32))
    np.testing.assert_array_equal(d[5], ((x[:, None] & y[None]).sum(-1, dtype=np.int64) + c).astype(np.int32))


def test_pipelines_bring_what_was_committed_and_zeros_for_the_rest() -> None:
    data, out = RNG.normal(size=(64, 4)).astype(np.float32), np.zeros((64, 4), np.float32)
    program().run("pipelines", 1, 32, [data, out])
    expected = data.copy()
    expected[32:, 2:] = 0
    np.testing.assert_array_equal(out, np.concatenate([expected[31::-1], expected[:31:-1]]))


def test_the_heap_serves_new_and_delete() -> None:
    out = np.zeros(32, np.int32)
    program().run("heap", 1, 32, [out])
    np.testing.assert_array_equal(out, np.arange(32) * np.arange(1, 33) // 2)


@pytest.mark.parametrize("standard", ["c++14", pytest.param("c++20", marks=pytest.mark.long)])
def test_common_names_compile_on_both_sides(standard: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "anywarp.toolchain", f"-std={standard}", "-c", str(HERE / "device_names.cu"), "-o"]
    done = subprocess.run([*command, str(tmp_path / "names.o")], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr


HEADERS = (
    "cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cooperative_groups.h", "cooperative_groups/reduce.h", "cooperative_groups/scan.h",
    "cooperative_groups/memcpy_async.h", "mma.h", "cuda_pipeline.h", "cuda_awbarrier.h", "cuda/atomic", "cuda/barrier",
    "cuda/pipeline", "cuda/std/type_traits", "cuda/std/limits", "cuda/std/array", "cuda/std/utility", "cuda/std/complex",
    "curand_kernel.h", "cuComplex.h", "math_constants.h", "device_launch_parameters.h", "sm_35_intrinsics.h",
)  # fmt: skip


def test_the_headers_serve_runtime_compilation_too() -> None:
    body = """
    extern "C" __global__ void k(float *f) {
      cuda::std::array<int, 3> a{1, 2, 3};
      cuda::std::complex<float> z(f[1], f[2]);
      static_assert(cuda::std::is_integral_v<cuda::std::remove_cv_t<const int>>, "");
      f[0] = sinf(f[0]) + a[threadIdx.x] + cuda::std::numeric_limits<short>::max() + cuda::std::exp(z).real();
    }
    """
    text = "".join(f"#include <{name}>\n" for name in HEADERS) + body
    translation = nvrtc.translate(nvrtc.Source("a.cu", text, {}, [], [], str(HERE)))
    assert ".entry k(" in translation.ptx
    assert "warning" not in translation.log


def test_cooperative_groups_are_those_that_core_libraries_declare() -> None:
    """CCCL 3.5 declares them, in a namespace of theirs (cuda/__memcpy_async/group_traits.h)."""
    text = """
    namespace cooperative_groups {
    namespace __v1 { class thread_block; template <unsigned int Size, typename Parent> class thread_block_tile; }
    using namespace __v1;
    }
    template <class Group> constexpr bool is_block = false;
    template <> constexpr bool is_block<cooperative_groups::thread_block> = true;
    #include <cooperative_groups.h>
    #include <cooperative_groups/reduce.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(int *f) {
      auto block = cg::this_thread_block();
      static_assert(is_block<decltype(block)>, "");
      auto tile = cg::tiled_partition<32>(block);
      f[0] = reduce(tile, f[tile.thread_rank()], cg::plus<int>());
    }
    """
    translation = nvrtc.translate(nvrtc.Source("a.cu", text, {}, [], [], str(HERE)))
    assert ".entry k(" in translation.ptx
