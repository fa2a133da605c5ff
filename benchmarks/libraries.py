"""Calls of our cuBLAS against OpenBLAS called directly, interleaved, our own product of narrow types against its f32, and products with few columns.

    taskset -c 1 python benchmarks/libraries.py [--rounds N]

Both sides are called through ctypes, whose cost (about 0.5 us a call) is in both. Best of the rounds; GF/s are 2 n^3 over the time.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tests/libraries")]
from loading import Library  # noqa: E402

SIZES = (16, 64, 128, 256, 512, 1024)
# As numpy holds it, its cudaDataType, that of the result.
NAMED = {"f16": (np.float16, 2, 2), "bf16": (np.uint16, 14, 14), "e4m3": (np.uint8, 28, 14), "s8": (np.int8, 3, 10)}
F32, COMPUTE_32F, COMPUTE_32I = 0, 68, 72


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def engine() -> ctypes.CDLL:
    """OpenBLAS as its package has it, on one thread."""
    spec = find_spec("scipy_openblas32")
    assert spec is not None and spec.origin is not None
    made = ctypes.CDLL(str(Path(spec.origin).parent / "lib/libscipy_openblas.so"))
    made.scipy_openblas_set_num_threads(1)
    return made


def best(calls, rounds: int, repeats: int) -> list[float]:
    """Seconds of a call each, taken in turns."""
    least = [float("inf")] * len(calls)
    for _ in range(rounds):
        for at, call in enumerate(calls):
            begin = time.perf_counter()
            for _ in range(repeats):
                call()
            least[at] = min(least[at], (time.perf_counter() - begin) / repeats)
    return least


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    os.environ.setdefault("ANYWARP_THREADS", "1")
    cublas, direct = Library("cublas", "libcublas.so.13"), engine()
    handle = ctypes.c_void_p(cublas.out("cublasCreate_v2"))
    print("product        n   ours, us  direct, us   ratio    more, us    GF/s")
    for letter, kind in (("S", np.float32), ("D", np.float64)):
        ours, theirs = cublas.file[f"cublas{letter}gemm_v2"], direct[f"scipy_{letter.lower()}gemm_"]
        for n in SIZES:
            a, b, c = (np.ones((n, n), kind) for _ in range(3))
            one, zero, size, no = (
                np.ones(1, kind),
                np.zeros(1, kind),
                ctypes.c_int(n),
                ctypes.byref(ctypes.c_char(b"N")),
            )
            by = ctypes.byref(size)
            left = (
                handle,
                0,
                0,
                size,
                size,
                size,
                pointer(one),
                pointer(a),
                size,
                pointer(b),
                size,
                pointer(zero),
                pointer(c),
                size,
            )
            right = (no, no, by, by, by, pointer(one), pointer(a), by, pointer(b), by, pointer(zero), pointer(c), by)
            calls = (partial(ours, *left), partial(theirs, *right))
            mine, engines = best(calls, rounds, max(1, min(5000, 20_000_000 // n**3)))
            print(
                f"{letter.lower()}gemm     {n:6} {mine * 1e6:10.2f} {engines * 1e6:11.2f} {mine / engines:7.3f} {(mine - engines) * 1e6:11.2f} {2 * n**3 / mine / 1e9:7.0f}"
            )
    narrow_types(cublas, handle, rounds)
    few_columns(cublas, direct, handle, rounds)
    few_columns_of_many(cublas, direct, handle, rounds)


FEW = ((4096, (1, 4, 8, 16, 64)), (1024, (1, 4, 8, 16, 64)))
"""Rows and depth of the long factor, and columns that it is multiplied with."""


def few_columns(cublas: Library, direct: ctypes.CDLL, handle: ctypes.c_void_p, rounds: int) -> None:
    """Products with a few columns: how much of the long factor is read in a second, and how long OpenBLAS takes for it in f32."""
    print("\nfew columns  size  columns   k along memory: ours, GB/s  (OpenBLAS over ours)   rows along memory")
    gemm_ex, random = cublas.file["cublasGemmEx"], np.random.default_rng(2)
    for name in ("f32", *NAMED):
        kind, number, _ = NAMED.get(name, (np.float32, F32, F32))
        integer = name == "s8"
        kept = np.array([1, 0], np.int32 if integer else np.float32)
        alpha, beta = (ctypes.c_void_p(kept.ctypes.data + at) for at in (0, 4))
        into, compute = (10, COMPUTE_32I) if integer else (F32, COMPUTE_32F)
        for size, every in FEW:
            a = aligned(operand(random, name, size).astype(kind))
            for columns in every:
                b, c, said = a[:columns], np.zeros((columns, size), np.float32), ""
                for turned in (1, 0):
                    shape = (handle, turned, 0, size, columns, size)
                    left, right = (pointer(a), number, size), (pointer(b), number, size)
                    calls = [partial(gemm_ex, *shape, alpha, *left, *right, beta, pointer(c), into, size, compute, -1)]
                    if name == "f32":
                        letter = ctypes.byref(ctypes.c_char(b"T" if turned else b"N"))
                        no, by = ctypes.byref(ctypes.c_char(b"N")), ctypes.byref(ctypes.c_int(size))
                        few = ctypes.byref(ctypes.c_int(columns))
                        words = (letter, no, by, few, by, alpha, pointer(a), by, pointer(b), by, beta, pointer(c), by)
                        calls.append(partial(direct.scipy_sgemm_, *words))
                    mine, *engines = best(calls, rounds, max(1, 8_000_000 // size**2))
                    said += f"{a.nbytes / mine / 1e9:18.1f} " + (f"({engines[0] / mine:.1f})" if engines else "")
                print(f"{name:10} {size:6} {columns:8}  {said}")


def few_columns_of_many(cublas: Library, direct: ctypes.CDLL, handle: ctypes.c_void_p, rounds: int) -> None:
    """The same of f32 by arrays of pointers to matrices; OpenBLAS multiplies one after the other."""
    print(
        "\nfew columns of many matrices   size   matrices   columns   k along memory: ours, us   (OpenBLAS over ours)   rows along memory"
    )
    random, kept = np.random.default_rng(3), np.array([1, 0], np.float32)
    alpha, beta = (ctypes.c_void_p(kept.ctypes.data + at) for at in (0, 4))
    for size, count in ((128, 64), (512, 16), (1024, 8), (2048, 4)):
        factors = [aligned(random.standard_normal((size, size), np.float32)) for _ in range(count)]
        for columns in (1, 4, 8):
            said, others = "", [random.standard_normal((columns, size), np.float32) for _ in range(count)]
            sums = [np.zeros((columns, size), np.float32) for _ in range(count)]
            lists = [np.array([x.ctypes.data for x in group], np.uint64) for group in (factors, others, sums)]
            for turned in (1, 0):
                batched = partial(cublas.file["cublasSgemmBatched"], handle, turned, 0, size, columns, size, alpha, pointer(lists[0]), size, pointer(lists[1]), size,
                                  beta, pointer(lists[2]), size, count)  # fmt: skip
                letter, no = ctypes.byref(ctypes.c_char(b"T" if turned else b"N")), ctypes.byref(ctypes.c_char(b"N"))
                by, few = ctypes.byref(ctypes.c_int(size)), ctypes.byref(ctypes.c_int(columns))
                singles = [partial(direct.scipy_sgemm_, letter, no, by, few, by, alpha, pointer(a), by, pointer(b), by, beta, pointer(c), by)
                           for a, b, c in zip(factors, others, sums, strict=True)]  # fmt: skip

                def engine(singles=singles):
                    for single in singles:
                        single()

                mine, theirs = best([batched, engine], rounds, max(1, 8_000_000 // (size**2 * count)))
                said += f"{mine * 1e6:18.0f} ({theirs / mine:.1f})"
            print(f"{size:35} {count:10} {columns:9}  {said}")


def narrow_types(cublas: Library, handle: ctypes.c_void_p, rounds: int) -> None:
    """Our own product against our f32, and against PyTorch's (oneDNN) on one thread where there is PyTorch."""
    print("\nnarrow types   n   ours, us   f32, us   rate to f32    GF/s   oneDNN, us   ratio")
    gemm_ex, random = cublas.file["cublasGemmEx"], np.random.default_rng(1)
    for name, (kind, number, into) in NAMED.items():
        for n in (64, 128, 256, 512, 1024):
            a, b = (aligned(operand(random, name, n).astype(kind)) for _ in range(2))
            f, g = (aligned(random.standard_normal((n, n), np.float32)) for _ in range(2))
            c, size, integer = aligned(np.zeros((n, n), np.float32)), ctypes.c_int(n), name == "s8"
            shape = (handle, 0, 0, size, size, size)
            kept = [np.array([1, 0], np.float32), np.array([1, 0], np.int32)]

            def call(x, y, kind, into, compute, c=c, size=size, shape=shape, kept=kept):
                one = kept[compute == COMPUTE_32I].ctypes.data
                alpha, beta = ctypes.c_void_p(one), ctypes.c_void_p(one + 4)
                left, right, sums = pointer(x), pointer(y), pointer(c)
                return partial(
                    gemm_ex, *shape, alpha, left, kind, size, right, kind, size, beta, sums, into, size, compute, -1
                )

            calls = [
                call(a, b, number, into, COMPUTE_32I if integer else COMPUTE_32F),
                call(f, g, F32, F32, COMPUTE_32F),
                *by_torch(name, a, b),
            ]
            narrow, wide, *engines = best(calls, rounds, max(8, min(5000, 20_000_000 // n**3)))
            beside = "".join(f"{it * 1e6:13.1f} {narrow / it:7.2f}" for it in engines)
            print(
                f"{name:8} {n:8} {narrow * 1e6:10.1f} {wide * 1e6:9.1f} {wide / narrow:13.2f} {2 * n**3 / narrow / 1e9:7.0f}{beside}"
            )


def aligned(array: np.ndarray) -> np.ndarray:
    """A copy where a line of the cache begins, as memory of a device does."""
    room = np.empty(array.nbytes + 64, np.uint8)
    begin = -room.ctypes.data % 64
    made = room[begin : begin + array.nbytes].view(array.dtype).reshape(array.shape)
    made[:] = array
    return made


def operand(random: np.random.Generator, name: str, n: int) -> np.ndarray:
    """Numbers of about one as bits of a type: tiles of zeros would be quicker."""
    if name == "s8":
        return random.integers(-128, 128, (n, n))
    if name == "e4m3":
        return random.integers(0x30, 0x48, (n, n))
    numbers = random.standard_normal((n, n), np.float32)
    return numbers.view(np.uint32) >> 16 if name == "bf16" else numbers


def by_torch(name: str, a: np.ndarray, b: np.ndarray) -> list:
    """The same product by PyTorch's CPU operator, where oneDNN has one."""
    if find_spec("torch") is None or name not in ("bf16", "s8"):
        return []
    import torch

    torch.set_num_threads(1)
    x, y = (torch.from_numpy(it) for it in (a, b))
    if name == "s8":
        return [partial(torch._int_mm, x, y, out=torch.empty(x.shape, dtype=torch.int32))]
    x, y = x.view(torch.bfloat16), y.view(torch.bfloat16)
    return [partial(torch.mm, x, y, out=torch.empty_like(x))]


if __name__ == "__main__":
    main()
