"""Random structured programs: the devices against numpy, under many shapes of blocks."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anywarp.devices.reference import execute as reference
from semantics.programs import COUNTERS, INITIAL, VARIABLES
from semantics.programs import programs as made

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
    threads = int(np.prod(shape))
    inputs = numbers(seed, blocks, threads)
    out = np.zeros((blocks, threads, VARIABLES), np.uint32)
    per_block = np.zeros((blocks, COUNTERS), np.uint32)
    total = INITIAL + np.arange(COUNTERS, dtype=np.uint32)
    run_kernel(program.ptx(), "program", (blocks, 1, 1), shape, [inputs, out, per_block, total])
    expected = program.compute(blocks, threads, inputs)
    for name, found, wanted in zip(("out", "blocks", "total"), (out, per_block, total), expected, strict=True):
        np.testing.assert_array_equal(found, wanted, err_msg=f"{name}\n{program}")


quick = settings(
    max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), print_blob=False
)


@quick
@given(made, st.sampled_from(SHAPES[:7] + SHAPES[9:15]), st.integers(0, 1000))
def test_the_interpreter_computes_what_numpy_does(program, shape, seed):
    check(reference.run_kernel, program, shape, seed)
