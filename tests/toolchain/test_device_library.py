"""cuda::atomic, cuda::barrier and cuda::pipeline keep order and lose nothing."""

from __future__ import annotations

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
