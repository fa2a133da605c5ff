"""Confidence sequences hold the truth at all times at once, and close in on it."""

import math

import numpy as np
import pytest
from hypothesis import strategies as st

from anywarp.deploy.rollout.sequential import (
    Betting,
    Quantiles,
    Rate,
    design_effect,
    difference_evidence,
    interval,
    log_gamma,
    quantile_evidence,
    quantile_ratio_evidence,
    rate_evidence,
    ratio_interval,
)
from spread import properties


def test_log_gamma_is_the_standard_librarys():
    x = np.geomspace(1e-4, 1e7, 1000)  # more than a few, so by the series
    wanted = np.array([math.lgamma(one) for one in x])
    assert np.max(np.abs(log_gamma(x) - wanted) / np.maximum(1, np.abs(wanted))) < 1e-11


@properties(30, 300, st.integers(1, 12), st.integers(1, 49))
def test_evidence_about_a_rate_has_mean_one(n, fiftieths):
    """Over all outcomes of n trials, weighted by their chance under the hypothesis: what makes it an e-process."""
    p = fiftieths / 50
    total = sum(
        math.comb(n, s) * p**s * (1 - p) ** (n - s) * math.exp(float(rate_evidence(s, n, p))) for s in range(n + 1)
    )
    assert total == pytest.approx(1, rel=1e-9)


def test_evidence_by_weights_of_the_mixture():
    """One success in one trial: the mixture's mean over the rate."""
    p, weight = 0.3, 200.0
    assert math.exp(float(rate_evidence(1, 1, p))) == pytest.approx((p * weight + 0.5) / (weight + 1) / p)


@properties(20, 200, st.integers(0, 2**31))
def test_bets_have_mean_one_at_the_mean(seed):
    """Two values, all four orders: capital for either side is 1 on average where the mean is the grid's value."""
    p = 0.2 + 0.6 * np.random.default_rng(seed).random()
    above = below = 0.0
    for first in (0.0, 1.0):
        for second in (0.0, 1.0):
            bets = Betting([p])
            bets.add([first])
            bets.add([second])
            weight = (p if first else 1 - p) * (p if second else 1 - p)
            above, below = above + weight * math.exp(bets.above[0]), below + weight * math.exp(bets.below[0])
    assert above == pytest.approx(1) and below == pytest.approx(1)


def test_bets_do_not_depend_on_how_they_are_cut():
    x = np.random.default_rng(1).random(3000)
    whole, pieces = Betting([0.3, 0.6]), Betting([0.3, 0.6])
    whole.add(x)
    for start in range(0, 3000, 7):
        pieces.add(x[start : start + 7])
    assert np.allclose(whole.above, pieces.above) and np.allclose(whole.below, pieces.below)


def test_difference_is_least_over_the_rate_of_no_interest():
    """Against a brute search on a fine grid."""
    source, target = Rate(7, 900), Rate(12, 400)
    for difference in (-0.01, 0.0, 0.02, 0.05):
        p = np.linspace(max(0, -difference) + 1e-6, 0.2, 20001)
        brute = np.min(rate_evidence(7, 900, p) + rate_evidence(12, 400, p + difference))
        assert difference_evidence(source, target, difference) == pytest.approx(brute, abs=0.01)


def test_ratio_of_quantiles_is_least_over_the_place_of_the_quantile():
    """Against a brute search over every place between two values."""
    rng = np.random.default_rng(3)
    a, b = rng.lognormal(0, 0.5, 60), rng.lognormal(0.1, 0.5, 50)
    source, target = Quantiles(a, 0.5), Quantiles(b, 0.5)
    for ratio in (0.5, 1.0, 1.3, 2.5):
        places = np.sort(np.concatenate([a * ratio, b]))
        places = np.concatenate([[places[0] - 1], (places[1:] + places[:-1]) / 2, [places[-1] + 1], places])
        brute = min(float(source.evidence((a * ratio <= q).sum()) + target.evidence((b <= q).sum())) for q in places)
        assert quantile_ratio_evidence(source, target, ratio) == pytest.approx(min(brute, 40), abs=1e-9)
        for enough in (1.0, 5.0, 20.0):  # what is asked less exactly is on the same side
            assert (quantile_ratio_evidence(source, target, ratio, enough=enough) >= enough) == (brute >= enough)


@pytest.mark.parametrize("p", [0.02, 0.5])
def test_looking_all_the_time_rejects_the_truth_no_more_often_than_stated(p):
    """400 streams of 3000 requests, looked at after each: at the level 0.1 at most about 40 may ever reject the truth."""
    rng, wrong = np.random.default_rng(11), 0
    for _ in range(400):
        successes = np.cumsum(rng.random(3000) < p)
        evidence = np.array([rate_evidence(successes[n - 1], n, p) for n in range(20, 3001, 60)])
        wrong += bool((evidence >= math.log(10)).any())
    assert wrong <= 40 + 4 * math.sqrt(400 * 0.1 * 0.9)


def test_two_rates_that_differ_by_the_limit_are_seldom_told_apart():
    rng, wrong = np.random.default_rng(12), 0
    for _ in range(150):
        a, b = np.cumsum(rng.random(4000) < 0.01), np.cumsum(rng.random(4000) < 0.03)
        for n in (500, 1000, 2000, 4000):
            if difference_evidence(Rate(a[n - 1], n), Rate(b[n - 1], n), 0.02) >= math.log(10):
                wrong += 1
                break
    assert wrong <= 15 + 4 * math.sqrt(150 * 0.1 * 0.9)


def test_bounds_close_in_on_the_truth():
    rng = np.random.default_rng(4)
    a, b = Quantiles(rng.lognormal(0, 0.5, 20000), 0.9), Quantiles(rng.lognormal(0.2, 0.5, 20000), 0.9)
    low, high = interval(lambda r, _: quantile_ratio_evidence(a, b, r), b.estimate / a.estimate, 0.02, 50, 0.01, 0.01)
    assert low < math.exp(0.2) < high and high / low < 1.2
    bets = Betting(np.geomspace(1e-4, 0.9, 200))
    bets.add(rng.beta(2, 98, 20000))
    low, high = bets.interval(0.01, 0.01)
    assert low < 0.02 < high and high / low < 1.25
    tokens = rng.lognormal(4, 0.5, 5000)
    low, high = ratio_interval(tokens * rng.uniform(0.5, 1.5, 5000), tokens, 0.01, 0.01)
    assert low < 1 < high < 1.1
    assert ratio_interval(tokens[:50], tokens[:50], 0.01, 0.01) == (0.0, math.inf)


def test_bursts_count_for_less():
    rng = np.random.default_rng(5)
    calm = rng.random(20000) < 0.1
    bursts = np.repeat(rng.random(1000) < 0.1, 20)
    assert design_effect(calm) < 1.6
    assert design_effect(bursts) > 8
    assert design_effect(np.zeros(100, bool)) == 1.0


@properties(20, 200, st.integers(1, 12), st.sampled_from([0.5, 0.9, 0.99]))
def test_evidence_about_a_quantile_has_mean_one(n, p):
    """Over all numbers of values that may lie at or below the quantile: the mean of two mixtures is one, too."""
    total = sum(
        math.comb(n, s) * p**s * (1 - p) ** (n - s) * math.exp(float(quantile_evidence(s, n, p))) for s in range(n + 1)
    )
    assert total == pytest.approx(1, rel=1e-9)


def test_quantiles_that_lie_far_apart_are_told_apart_soon():
    """Three times as slow: 120 requests a side are enough for p90, of which one prior of weight 1000 wants 260."""
    rng = np.random.default_rng(6)
    a, b = Quantiles(rng.lognormal(0, 0.5, 120), 0.9), Quantiles(rng.lognormal(math.log(3), 0.5, 120), 0.9)
    assert quantile_ratio_evidence(a, b, 1.0) >= math.log(20)


@properties(50, 500, st.integers(0, 400), st.integers(0, 400), st.floats(0, 1))
def test_numbers_and_arrays_give_the_same(s, more, p):
    alone, among = rate_evidence(s, s + more, p), rate_evidence(np.array([s, s]), s + more, p)
    assert float(alone) == pytest.approx(float(among[0]), rel=1e-9, abs=1e-9)
