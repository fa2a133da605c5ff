"""Kernels of examples/cuda, translated and run in an emulator on waves of 64 and of 32 lanes, compute what they say they compute."""

from __future__ import annotations

import itertools
import shutil
import struct
from pathlib import Path

import pytest

from migrate.translate import device_code

pytestmark = [pytest.mark.amd_emulator, pytest.mark.hip_compiler, pytest.mark.slow]

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "cuda"
COUNT = 480  # two blocks of 256 threads, the last warp with nothing to do
DATA = [(i * 2654435761 >> 9) % 65521 for i in range(COUNT)]


class Example:
    """One translated example as a code object, and a way to launch its kernels."""

    def __init__(self, name: str, architecture: str, folder: Path):
        source = folder / "in"
        source.mkdir()
        for path in (EXAMPLES / "example.h", EXAMPLES / f"{name}.cu"):
            shutil.copy(path, source)
        done = device_code.translate(source, folder / "out", architecture)
        assert done.returncode in (0, 1), done.stderr
        self.architecture, self.told = architecture, done.stderr
        self.code = device_code.code_object_of(folder / "out" / f"{name}.cu", architecture)

    def run(self, kernel: str, threads: int, *values: bytes | int, blocks: int = 1) -> list[list[int]]:
        """Return the buffers afterwards as unsigned numbers."""
        after = device_code.launch(self.code, self.architecture, kernel, threads, list(values), blocks)
        return [list(struct.unpack(f"<{len(each) // 4}I", each)) for each in after]


@pytest.fixture(scope="module", params=["gfx942", "gfx1100"])
def example(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """A function that gives an example by name, compiled once for one architecture."""
    made: dict[str, Example] = {}

    def give(name: str) -> Example:
        if name not in made:
            made[name] = Example(name, request.param, tmp_path_factory.mktemp(name))
        return made[name]

    return give


def numbers(values: list[int]) -> bytes:
    return struct.pack(f"<{len(values)}I", *(value & 0xFFFFFFFF for value in values))


def test_reduction_by_shuffles(example):
    _, out = example("reduction").run("shuffles", 256, numbers(DATA), bytes(8), COUNT, blocks=2)
    assert out == [sum(DATA[:256]), sum(DATA[256:])]


def test_reduction_by_warps_and_atomics(example):
    _, out = example("reduction").run("atomics", 64, numbers(DATA), bytes(4), COUNT, blocks=2)
    assert out == [sum(DATA)]


def test_scan_of_blocks(example):
    _, out, totals = example("scan").run("scan_blocks", 256, numbers(DATA), bytes(4 * COUNT), bytes(8), COUNT, blocks=2)
    assert out == [*itertools.accumulate(DATA[:256]), *itertools.accumulate(DATA[256:])]
    assert totals == [sum(DATA[:256]), sum(DATA[256:])]


def test_warp_aggregated_appending(example):
    chosen = [value for value in DATA if value % 3 == 0]
    _, out, counter = example("warp_aggregate").run(
        "collect", 160, numbers(DATA), bytes(4 * COUNT), bytes(4), COUNT, blocks=3
    )
    assert counter == [len(chosen)]
    assert sorted(out[: len(chosen)]) == sorted(chosen) and not any(out[len(chosen) :])


def test_keys_counted_by_matching_lanes(example):
    _, bins = example("warp_aggregate").run("count_keys", 160, numbers(DATA), bytes(32), COUNT, blocks=4)
    assert bins[:7] == [sum(value % 7 == key for value in DATA) for key in range(7)]


def test_scatter_of_a_radix_sort_keeps_order(example):
    blocks = 4
    digits = [value & 15 for value in DATA]
    counts = [sum(digit == d for digit in digits[128 * b : 128 * b + 128]) for d in range(16) for b in range(blocks)]
    places = [0, *itertools.accumulate(counts)][:-1]
    empty = bytes(4 * COUNT)
    after = example("radix_sort").run(
        "scatter",
        128,
        numbers(DATA),
        numbers(list(range(COUNT))),
        empty,
        empty,
        numbers(places),
        COUNT,
        0,
        blocks=blocks,
    )
    order = sorted(range(COUNT), key=lambda i: digits[i])
    assert after[3] == order and after[2] == [DATA[i] for i in order]


def test_sparse_product_by_warps(example):
    rows = 6
    lengths = [0, 1, 31, 33, 70, 5]
    starts = [0, *itertools.accumulate(lengths)]
    columns = [(7 * k + 3) % 50 for k in range(starts[-1])]
    values, x = [float(k % 9 - 4) for k in range(starts[-1])], [float(k * k % 23) for k in range(50)]
    after = device_code.launch(
        example("sparse_product").code, example("sparse_product").architecture, "by_warp", 96,
        [numbers(starts), numbers(columns), struct.pack(f"<{len(values)}d", *values), struct.pack("<50d", *x), bytes(8 * rows), rows],
        blocks=2,
    )  # fmt: skip
    expected = [sum(values[k] * x[columns[k]] for k in range(starts[r], starts[r + 1])) for r in range(rows)]
    assert (
        list(struct.unpack(f"<{rows}d", after[4])) == expected
    )  # small whole numbers: every order of summing is exact


def test_tiles_of_cooperative_groups(example):
    _, out = example("tiles").run("reductions", 64, numbers(DATA[:256]), bytes(1024), blocks=4)
    warps = [DATA[i : i + 32] for i in range(0, 256, 32)]
    assert out == [(max(warp) - sum(warp)) & 0xFFFFFFFF for warp in warps for _ in range(32)]


def test_ranks_in_coalesced_groups(example):
    """HIP's group of the active threads spans a wave; CUDA's, and the translated one, the warp of 32."""
    _, out = example("tiles").run("odd_ranks", 64, numbers(DATA[:256]), bytes(1024), blocks=4)
    expected: list[int] = []
    for first in range(0, 256, 32):
        odd = [i for i in range(first, first + 32) if DATA[i] & 1]
        expected += [odd.index(i) + 100 * len(odd) if i in odd else 0xFFFFFFFF for i in range(first, first + 32)]
    assert out == expected


def test_bytes_in_words(example):
    text = bytes((37 * i + 11) % 128 for i in range(4 * COUNT))
    [out] = example("text_bytes").run("upper", 256, text, COUNT, blocks=2)
    assert struct.pack(f"<{COUNT}I", *out) == text.upper()
