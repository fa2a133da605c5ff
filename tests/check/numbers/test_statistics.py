"""Statistics in the place of tensors: what can be told from them, and what cannot."""

import numpy as np
import pytest
from hypothesis import strategies as st

from anywarp.check.numbers.statistics import LANES, LEVELS, compare_statistics, measure, signs
from anywarp.numerics import formats
from anywarp.numerics.operation import Operation
from spread import properties

RNG = np.random.default_rng


def splitmix(state):
    """The generator's published steps, in Python's integers."""
    mask = (1 << 64) - 1
    z = (state * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def test_signs_are_the_generators_on_every_machine():
    assert splitmix(1) == 0xE220A8397B1DCDAF  # the first output for the seed 0
    for seed in (0, 1, 12345):
        assert signs(100, seed).tolist() == [-1 if splitmix((seed << 32) + i + 1) & 1 else 1 for i in range(100)]
    many = signs(1 << 16, 7)
    assert abs(int(many.sum())) < 5 * 256 and abs(int((many[1:].astype(int) * many[:-1]).sum())) < 5 * 256


def test_figures_are_those_of_the_definitions():
    x = RNG(0).standard_normal((40, 50))
    x[0, :5] = [np.nan, np.inf, -np.inf, 0, 1e-6]
    found = measure(x, "float16")
    finite = x[np.isfinite(x)]
    assert (found.count, found.nan, found.infinite, found.zeros) == (2000, 1, 2, 1)
    assert found.subnormal == int(((np.abs(finite) < 2**-14) & (finite != 0)).sum()) >= 1
    assert (found.mean, found.rms) == (pytest.approx(finite.mean()), pytest.approx(np.sqrt(np.mean(finite**2))))
    assert (found.minimum, found.maximum) == (finite.min(), finite.max())
    assert found.quantiles == pytest.approx(np.quantile(finite, LEVELS))
    wanted = np.zeros(LANES)
    flat, by = np.nan_to_num(x.reshape(-1), nan=0, posinf=0, neginf=0), signs(2000, 0)
    for i in range(2000):
        wanted[i % LANES] += by[i] * flat[i]
    assert found.sketch == pytest.approx(wanted)
    assert measure(np.zeros(0), "float32").count == 0 and measure(np.full(3, np.nan), "float32").nan == 3


def test_large_tensors_are_sketched_by_an_even_sample():
    x = RNG(1).standard_normal(10_000)
    part, whole = measure(x, "float32", most=1000), measure(x[::10].copy(), "float32")
    assert (part.sketched, part.stride) == (1000, 10) and part.sketch == whole.sketch


@properties(20, 300, st.integers(0, 2**31), st.floats(-8, 0))
def test_the_rms_of_differences_is_estimated_within_its_deviation(seed, power):
    rng = RNG(seed)
    x = rng.standard_normal(5000)
    d = 10.0**power * rng.standard_normal(5000)
    found = compare_statistics(
        measure(x, "float32", seed=seed), measure(x + d, "float32", seed=seed), Operation("product", 64)
    )
    true = np.sqrt(np.mean(d**2))
    assert abs(found.rms / true - 1) < 5 * np.sqrt(2 / LANES) / 2  # five deviations of the root
    assert found.estimated and found.quantiles == ()


def test_rounding_passes_and_more_does_not():
    rng = RNG(2)
    a, b = (formats.round_to(rng.standard_normal(s), "bfloat16") for s in ((64, 1024), (1024, 64)))
    exact = a @ b
    operation = Operation("product", 1024, "bfloat16", "float32", "bfloat16")
    sides = [
        measure(formats.round_to(x, "bfloat16"), "bfloat16")
        for x in (exact, exact * (1 + 1e-4), exact * 1.03, exact * 1.5)
    ]
    grades = [compare_statistics(sides[0], side, operation).grade for side in sides]
    assert grades == ["pass", "pass", "warn", "fail"]
    assert compare_statistics(sides[0], sides[1], Operation("copy", output="bfloat16")).grade == "fail"


def test_causes_that_figures_show():
    rng = RNG(3)
    x = rng.standard_normal(20_000)

    def cause(y, dtype="float32", **given):
        return compare_statistics(measure(x, dtype), measure(y, dtype), Operation("composite", output=dtype, **given))

    assert cause(2 * x).fingerprints[0].name == "scale"
    assert cause(2 * x, "float8_e4m3fn").fingerprints[0].name == "fp8-flavour"
    assert cause(rng.permutation(x)).fingerprints[0].name == "layout"
    assert cause(np.where(rng.random(x.size) < 0.2, 0, x / 0.8)).fingerprints[0].name == "dropout"
    small = x * 2.0**-14
    flushed = compare_statistics(
        measure(small, "float16"),
        measure(np.where(np.abs(small) < 2.0**-14, 0, small), "float16"),
        Operation("composite", output="float16"),
    )
    assert flushed.grade == "fail" and flushed.fingerprints[0].name == "flushed-subnormals"
    bad = x.copy()
    bad[7] = np.nan
    assert cause(bad).grade == "fail" and cause(bad).unlike == 1
    assert cause(x[:-1]).bound == "shape"


def test_without_comparable_sketches_it_says_so():
    x = RNG(4).standard_normal(5000)
    found = compare_statistics(measure(x, "float32", seed=1), measure(x * 1.01, "float32", seed=2), Operation())
    assert found.grade == "warn" and "cannot be told" in found.reason
