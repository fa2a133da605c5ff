"""Kernels whose lanes part in every way, run as vector code and compared with plain Python.

`cases/divergence.ptx` is what nvcc makes of `cases/divergence.cu`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from anywarp.compiler.ir import Specialisation
from anywarp.compiler.layout import parameters
from anywarp.compiler.pipeline import compile_kernel
from anywarp.compiler.simd.target import this_machine
from anywarp.devices.cpu.execute import Loaded, pack_arguments
from anywarp.ptx.index import index_module

PTX = (Path(__file__).parent / "cases" / "divergence.ptx").read_text()
Data = Sequence[int]


def int32(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def collatz(data: Data, n: int, block: int) -> list[int]:
    out: list[int] = []
    for v in data[:n]:
        steps = 0
        while v != 1 and steps <= 200:
            if v & 1:
                v = 3 * v + 1
                if v % 5 == 0:
                    steps += 100
                    continue
            else:
                v >>= 1
            steps += 1
        out.append(steps)
    return out


def nested(data: Data, n: int, block: int) -> list[int]:
    def one(i: int) -> int:
        acc = 0
        for a in range(i % 7 + 1):
            for b in range(data[i % n] % 5 + 2):
                if (a * b + i) % 3 == 0:
                    continue
                if a + b > 8:
                    break
                acc += a * 10 + b
            if acc > 300 and i & 1:
                break
            acc ^= a
        return acc

    return [one(i) for i in range(n)]


def scan(data: Data, n: int, block: int) -> list[int]:
    out: list[int] = []
    for first in range(0, n, block):
        values = [data[i] if i < n else 0 for i in range(first, first + block)]
        sums = list(np.cumsum(values))
        for t in range(min(block, n - first)):
            below = [k for k in range(block) if sums[k] < t * 37 % 101]
            out.append(int(sums[t]) * 1000 + len(below))
    return out


def loopval(data: Data, n: int, block: int) -> list[int]:
    def one(value: int) -> int:
        r, x = 0, value & 63
        for k in range(100):
            if x > k:
                w = k * 2
                if x == k + 7:
                    return k * 100000 + r
            else:
                w = k + 1
                if k > x + 3:
                    return k * 100000 + r
            r += w
        return 100 * 100000 + r

    return [one(v) for v in data[:n]]


def sw(data: Data, n: int, block: int) -> list[int]:
    def one(i: int) -> int:
        kind = data[i] & 7
        if kind == 3:
            return sum(range(i & 15))
        return {0: i, 1: data[i] * 3 + 7, 2: 7, 5: -1, 6: -5}.get(kind, 99)

    return [one(i) for i in range(n)]


def calls(data: Data, n: int, block: int) -> list[int]:
    def walk(count: int, p: list[int]) -> int:
        s = 0
        for k in range(count):
            s += p[k & 3]
            if s > 50:
                return s * 2
        return s

    def one(i: int) -> int:
        p = [data[(i + k) % n] & 15 for k in range(4)]
        return walk(i & 31, p) + walk(data[i] & 7, p)

    return [one(i) for i in range(n)]


def partialbar(data: Data, n: int, block: int) -> list[int]:
    out: list[int] = []
    for first in range(0, n, block):
        values = data[first : min(first + block, n)]
        found: list[int] = []
        for t in range(len(values)):
            acc = 0
            for k in range(t + 1):
                acc += values[k]
                if acc > 5000:
                    break
            found.append(acc)
        out += [found[t // 2] for t in range(len(values))]
    return out


MODELS: list[Callable[[Data, int, int], list[int]]] = [collatz, nested, scan, loopval, sw, calls, partialbar]


@pytest.mark.spread("how", "block", count=4)
@pytest.mark.parametrize("how", ["warps", "gangs", "any shape"])
@pytest.mark.parametrize("block", [32, 100, 256])
@pytest.mark.parametrize("model", MODELS)
def test_lanes_that_part(model: Callable[[Data, int, int], list[int]], block: int, how: str) -> None:
    index = index_module(PTX)
    name = model.__name__
    n = block * 3 - 7
    data = np.random.default_rng(block).integers(1, 1000, n + 8).astype(np.int32)
    out = np.full(n + 8, -5, np.int32)
    specialisation = Specialisation(None if how == "any shape" else (block, 1, 1), 1024 if how == "gangs" else 32)
    artifact = compile_kernel(index, name, specialisation, this_machine())
    assert (artifact.lanes > 32) == (how == "gangs" and block == 256)
    places = [(p.offset, p.size) for p in parameters(index.functions[name].header.params)[0]]
    Loaded(artifact).launch(3, block, pack_arguments(places, [data, out, np.int32(n)]))
    expected = [int32(v) for v in model(data.tolist(), n, block)]
    assert out[:n].tolist() == expected
    assert (out[n:] == -5).all()
