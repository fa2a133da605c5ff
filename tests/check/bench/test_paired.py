"""The sequential rule: its error over many simulated comparisons with planted differences, and that it ends early where it may."""

import math

import numpy as np
import pytest

from anywarp.check.bench import paired
from check.bench.test_percentiles import autoregression


def simulated(seed, effect, hangs, noise=0.03, drift=0.0, most=120, precision=0.01):
    """One comparison of A, longer by `effect`, and B, in turns A B B A."""
    random = np.random.default_rng(seed)
    logs = noise * autoregression(random, 4 * most, hangs) + drift * np.arange(4 * most)
    rule = paired.Sequential(precision)
    for n in range(most):
        a1, b1, b2, a2 = np.exp(logs[4 * n : 4 * n + 4])
        if rule.add(paired.unit([a1 * (1 + effect), a2 * (1 + effect)], [b1, b2])):
            break
    return rule


@pytest.mark.parametrize("hangs", [0.0, 0.6, 0.95])
@pytest.mark.parametrize("effect", [0.0, 0.03])
def test_intervals_at_any_stop_miss_no_more_than_one_in_twenty(hangs, effect):
    missed = 0
    for seed in range(200):
        ratio = simulated(seed, effect, hangs).finish()
        missed += not ratio.low <= 1 + effect <= ratio.high
    assert missed <= 16  # of 200 at 5 %: more has a chance of 1 in 40


def test_no_look_on_the_way_misses_more_often_than_one_in_twenty():
    missed = 0
    for seed in range(200):
        random = np.random.default_rng(1000 + seed)
        rule, ever = paired.Sequential(1e-9), False
        for x in random.standard_normal(100):
            rule.add(float(x))
            ever |= rule.interval is not None and not rule.interval.low <= 1 <= rule.interval.high
        missed += ever
    assert missed <= 16


def test_a_difference_of_three_percent_is_seen():
    seen = [simulated(seed, 0.03, 0.6, noise=0.01) for seed in range(40)]
    assert all(rule.decided for rule in seen)
    assert sum(rule.interval.low > 1 for rule in seen) >= 38


def test_drift_meets_both_sides():
    for seed in range(20):
        ratio = simulated(seed, 0.0, 0.0, noise=0.005, drift=0.001).finish()  # 0.1 % longer each run: 60 % in all
        assert ratio.low <= 1 <= ratio.high and ratio.high / ratio.low < 1.03


def test_a_large_difference_is_decided_at_the_first_look():
    rule = simulated(1, 4.0, 0.0)
    assert rule.decided and len(rule.units) == paired.FIRST_LOOK and rule.look == 1


def test_the_chances_of_all_looks_together_are_what_was_asked():
    assert math.fsum(0.05 / (k * (k + 1)) for k in range(1, 100_000)) == pytest.approx(0.05, abs=1e-6)


def test_what_is_not_narrow_is_not_decided():
    rule = simulated(1, 0.0, 0.0, noise=0.5, most=20)
    assert not rule.decided and rule.finish().low < 1 < rule.finish().high


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ValueError):
        paired.Sequential().add(value)


def test_what_is_in_the_way_of_some_rounds_is_not_in_the_median_of_a_unit():
    """9 rounds of A B B A, 3 % more time for A, and another program that makes one stretch in ten twice as long."""
    random = np.random.default_rng(5)

    def stretches(level):
        times = level * np.exp(random.normal(0, 0.01, (400, 18)))
        return np.where(random.random(times.shape) < 0.1, 2 * times, times).tolist()

    pairs = list(zip(stretches(1.03), stretches(1.0), strict=True))
    medians = np.array([paired.of_rounds(a, b) for a, b in pairs])
    means = np.array([paired.unit(a, b) for a, b in pairs])
    assert abs(medians.mean() - np.log(1.03)) < 4 * medians.std() / 20
    assert medians.std() < means.std() / 3, (medians.std(), means.std())


def test_one_round_is_the_unit_and_two_are_their_mean():
    assert paired.of_rounds([2.0, 8.0], [1.0, 1.0]) == pytest.approx(np.log(4))
    assert paired.of_rounds([2.0, 2.0, 8.0, 8.0], [1.0] * 4) == pytest.approx(np.log(4))
    assert paired.of_rounds([2.0, 2.0, 8.0, 8.0, 2.0, 2.0], [1.0] * 6) == pytest.approx(np.log(2))
