"""Intervals of percentiles, means and shares: their coverage over series whose truth is known, and their bounds against exact arithmetic."""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from mpmath import betainc, mp

from anywarp.check.bench import percentiles
from anywarp.check.bench.distributions import binomial_tails, student_quantile


def autoregression(random, count, hangs):
    """A series of standard normal values in which each hangs on the last."""
    noise = random.standard_normal(count)
    values = np.empty(count)
    values[0] = noise[0]
    for n in range(1, count):
        values[n] = hangs * values[n - 1] + math.sqrt(1 - hangs**2) * noise[n]
    return values


def student_distribution(t, freedom):
    """By the incomplete beta function, not by the finite sum of the code."""
    mp.dps = 30
    x = mp.mpf(freedom) / (freedom + mp.mpf(t) ** 2)
    return 1 - betainc(mp.mpf(freedom) / 2, mp.mpf(1) / 2, 0, x, regularized=True) / 2


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 10, 31, 200, 2001])
@pytest.mark.parametrize("probability", [0.6, 0.975, 0.9999])
def test_quantiles_of_student_are_those_of_its_distribution(freedom, probability):
    found = student_quantile(probability, freedom)
    assert abs(student_distribution(found, freedom) - probability) < 1e-9


def test_quantiles_of_student_are_those_of_the_published_table():
    for freedom, value in ((1, 12.706), (2, 4.303), (5, 2.571), (10, 2.228), (30, 2.042), (120, 1.980)):
        assert student_quantile(0.975, freedom) == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize("count", [1, 5, 20, 59, 200])
@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)])
def test_ranks_are_the_tightest_whose_tails_are_small_enough(count, share):
    mass = [math.comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(count + 1)]
    tail = Fraction(1, 40)
    low, high = binomial_tails(count, float(share), float(tail))
    below = lambda n: sum(mass[:n])  # P(X < n)  # noqa: E731
    assert below(low) <= tail and (low == count + 1 or below(low + 1) > tail)
    assert sum(mass[high:]) <= tail and (high == 0 or sum(mass[high - 1 :]) > tail)


@pytest.mark.parametrize("hangs", [0.0, 0.7])
@pytest.mark.parametrize("percent", [50, 90])
def test_intervals_of_percentiles_cover_the_truth(hangs, percent):
    random = np.random.default_rng(7)
    truth = math.exp(0.3 * NormalDist().inv_cdf(percent / 100))
    covered = 0
    for _ in range(200):
        found = percentiles.percentile(np.exp(0.3 * autoregression(random, 400, hangs)), percent)
        covered += found.low is not None and found.low <= truth and (found.high is None or truth <= found.high)
    assert covered >= 183  # of 200 at 95 %: fewer has a chance of 1 in 100


def test_intervals_are_no_wider_than_they_must_be():
    random = np.random.default_rng(8)
    found = percentiles.percentile(random.standard_normal(10_000), 50)
    exact = 2 * 1.96 * math.sqrt(math.pi / 2) / 100  # the median's asymptotic interval
    assert found.high - found.low == pytest.approx(exact, rel=0.35)


def test_a_percentile_that_few_values_do_not_bound_says_so():
    assert percentiles.percentile(list(range(1, 51)), 99).high is None  # 0.99 ** 50 is 0.6
    assert percentiles.percentile([1.0, 2.0], 50) == percentiles.Interval(1.5, None, None)
    assert percentiles.percentile([3.0] * 400, 50) == percentiles.Interval(3.0, 3.0, 3.0)


def test_intervals_of_means_cover_the_truth():
    random = np.random.default_rng(9)
    covered = 0
    for _ in range(200):
        found = percentiles.mean(5 + autoregression(random, 400, 0.7))
        covered += found.low <= 5 <= found.high
    assert covered >= 183


def test_what_hangs_together_is_worth_less():
    random = np.random.default_rng(10)
    time = percentiles.correlation_time(autoregression(random, 100_000, 0.8))
    assert time == pytest.approx((1 + 0.8) / (1 - 0.8), rel=0.15)
    assert percentiles.correlation_time(random.standard_normal(100_000)) == pytest.approx(1, abs=0.05)
    assert percentiles.correlation_time(np.ones(50)) == 1


def test_shares_are_wilsons():
    found = percentiles.share(15, 15)  # Wilson (1927): z^2 / (n + z^2) from 1
    assert found.high == pytest.approx(1) and found.low == pytest.approx(1 - 3.8415 / (15 + 3.8415), abs=1e-4)
    found = percentiles.share(50, 100)
    assert (found.low, found.high) == (pytest.approx(0.4038, abs=1e-4), pytest.approx(0.5962, abs=1e-4))
