"""Random structured programs: the devices against numpy, under many shapes of blocks."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semantics.devices import DEVICES, interpret, run_compiled, run_for_any_block, run_in_gangs, run_in_pairs
from semantics.programs import COUNTERS, INITIAL, VARIABLES
from semantics.programs import programs as made
from spread import properties

SHAPES = [
    (1, 1, 1), (31, 1, 1), (32, 1, 1), (33, 1, 1), (48, 1, 1), (64, 1, 1), (127, 1, 1), (256, 1, 1), (1024, 1, 1),
    (8, 8, 1), (33, 3, 1), (1, 40, 1), (4, 4, 4), (5, 3, 7), (2, 1, 31), (16, 16, 4),
]  # fmt: skip


def numbers(seed: int, blocks: int, threads: int):
    """Inputs of all magnitudes, small ones often, so that branches go both ways."""
    rng = np.random.default_rng(seed)
    shape = (blocks, threads, VARIABLES)
    wide = rng.integers(0, 1 << 32, shape, dtype=np.uint32)
    return np.where(rng.random(shape) < 0.7, wide >> rng.integers(20, 32, shape).astype(np.uint32), wide)


def check(run_kernel, program, shape, seed, blocks=2):
    """Run a program and compare all it leaves with what numpy computes."""
    threads = int(np.prod(shape))
    inputs = numbers(seed, blocks, threads)
    out = np.zeros((blocks, threads, VARIABLES), np.uint32)
    per_block = np.zeros((blocks, COUNTERS), np.uint32)
    total = INITIAL + np.arange(COUNTERS, dtype=np.uint32)
    run_kernel(program.ptx(), "program", (blocks, 1, 1), shape, [inputs, out, per_block, total])
    expected = program.compute(blocks, threads, inputs)
    for name, found, wanted in zip(("out", "blocks", "total"), (out, per_block, total), expected, strict=True):
        np.testing.assert_array_equal(found, wanted, err_msg=f"{name}, block {shape}, seed {seed}\n{program}")


def some(count):
    quiet = list(HealthCheck)
    return settings(max_examples=count, deadline=None, derandomize=True, suppress_health_check=quiet, print_blob=False)


seeds = st.integers(0, 1000)


@pytest.mark.spread("shape", most=8)
@pytest.mark.parametrize("shape", SHAPES)
def test_compiled_for_its_block(shape):
    @some(2)
    @given(made, seeds)
    def agree(program, seed):
        check(run_compiled, program, shape, seed)

    agree()


@pytest.mark.spread("shape", "run", most=4)
@pytest.mark.parametrize("shape", [s for s in SHAPES if np.prod(s) % 64 == 0])
@pytest.mark.parametrize("run", [run_in_gangs, run_in_pairs])
def test_compiled_in_gangs(shape, run):
    @some(2)
    @given(made, seeds)
    def agree(program, seed):
        check(run, program, shape, seed)

    agree()


@properties(5, 10, made, seeds, derandomize=True)
def test_compiled_for_any_block(program, seed):
    for shape in SHAPES:
        check(run_for_any_block, program, shape, seed)


@some(12)
@given(made, st.sampled_from([s for s in SHAPES if np.prod(s) <= 256]), seeds)
def test_interpreted(program, shape, seed):
    check(interpret, program, shape, seed)


@pytest.mark.long
@pytest.mark.parametrize("device", DEVICES)
def test_many_programs(device):
    @settings(some(150))
    @given(made, st.sampled_from(SHAPES), seeds)
    def agree(program, shape, seed):
        check(DEVICES[device], program, shape, seed)

    agree()
