"""CUDA's own barriers, pipelines, bulk copies and small floats (`cases/barriers.cu`, compiled for sm_100a) on every device."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anywarp.check.conformance import exact
from anywarp.check.conformance.small_float_rows import E2M1, E3M2, E4M3, F16, F32, down, exponent
from semantics.devices import DEVICES

PTX = (Path(__file__).parent / "cases" / "barriers.ptx").read_text()


@pytest.mark.parametrize("device", DEVICES)
def test_a_block_wide_barrier_orders_rounds(device):
    threads, rounds = 96, 5
    given = np.random.default_rng(1).integers(-99, 99, (2, threads), np.int32)
    found = np.zeros_like(given)
    DEVICES[device](PTX, "ring", 2, threads, (given, found, rounds))
    assert (found == np.roll(given, -rounds, axis=1) + sum(range(rounds))).all()


@pytest.mark.parametrize("device", DEVICES)
def test_tiles_come_and_go_by_bulk_copies(device):
    given = aligned(np.random.default_rng(2).normal(size=(5, 64)).astype(np.float32))
    found = aligned(np.zeros_like(given))
    DEVICES[device](PTX, "tiles", 2, 48, (given, found, 5))
    assert (found == given * 2 + 1).all()


@pytest.mark.parametrize("device", DEVICES)
def test_a_pipeline_of_two_stages_brings_every_tile(device):
    given = np.random.default_rng(3).integers(-99, 99, (2, 5, 64)).astype(np.int32)
    found = np.zeros((2, 64), np.int32)
    DEVICES[device](PTX, "staged", 2, 64, (given, found, 5))
    assert (found == given.sum(axis=1)).all()


@pytest.mark.parametrize("device", DEVICES)
def test_small_floats_are_those_of_the_manual(device):
    rng = np.random.default_rng(4)
    numbers = (rng.normal(size=(90, 2)) * 2.0 ** rng.integers(-12, 12, (90, 2))).astype(np.float32)
    out, back = np.zeros((90, 4), np.uint32), np.zeros((90, 2), np.float32)
    DEVICES[device](PTX, "small_floats", 3, 32, (numbers, out, back, 90))
    finite = ("satfinite",)
    for pair, words, halves in zip(numbers.view(np.uint32), out, back.view(np.uint32), strict=True):
        x, y = (int(v) for v in pair)
        packed = [down(f, finite, y, F32) << 8 | down(f, finite, x, F32) for f in (E4M3, E3M2)]
        fours = [down(E2M1, finite, v, F32) for v in (x, y)]
        scale = exponent(F32, y, "rp", True) << 8 | exponent(F32, x, "rp", True)
        assert words.tolist() == [*packed, fours[1] << 4 | fours[0], scale]
        assert halves.tolist() == [exact.convert(F16, F32, exact.convert(E2M1, F16, v)) for v in fours]


def aligned(array):
    """A copy at a multiple of 128 bytes, as device memory is."""
    room = np.zeros(array.nbytes + 128, np.uint8)
    start = -room.ctypes.data % 128
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
