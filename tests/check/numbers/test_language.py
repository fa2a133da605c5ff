"""Language models: KL, agreement, divergence, perplexity, against plain definitions and known cases."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import strategies as st

from anywarp.check.numbers.language import (
    TopPosition,
    compare_logits,
    compare_top,
    first_difference,
    mcnemar,
    paired_bootstrap,
)
from spread import properties

RNG = np.random.default_rng


def logarithms(logits):
    return [[x - math.log(math.fsum(math.exp(y) for y in row)) for x in row] for row in logits.tolist()]


def test_kl_and_perplexity_are_those_of_the_definitions():
    rng = RNG(0)
    a, b, tokens = rng.standard_normal((40, 11)), rng.standard_normal((40, 11)), rng.integers(0, 11, 40)
    p, q = logarithms(a), logarithms(b)
    kl = [math.fsum(math.exp(x) * (x - y) for x, y in zip(r, s)) for r, s in zip(p, q)]
    found = compare_logits(a, b, tokens)
    assert (found.kl_mean, found.kl_largest) == (pytest.approx(np.mean(kl)), pytest.approx(max(kl)))
    nll = [-np.mean([rows[t][tokens[t]] for t in range(40)]) for rows in (p, q)]
    assert found.perplexity == pytest.approx([math.exp(x) for x in nll]) and found.nll_difference == pytest.approx(
        nll[1] - nll[0]
    )
    variation = np.mean([math.fsum(abs(math.exp(x) - math.exp(y)) for x, y in zip(r, s)) / 2 for r, s in zip(p, q)])
    assert found.variation == pytest.approx((variation, variation))
    assert found.grade == "fail" and not found.partial


def test_a_shift_of_all_logits_is_no_difference():
    a = RNG(1).standard_normal((20, 50))
    found = compare_logits(a, a + 3.0, RNG(2).integers(0, 50, 20))
    assert found.grade == "pass" and found.kl_largest < 1e-12 and found.agreement == 1 and found.divergence is None


def test_a_turned_token_counts_only_where_the_reference_was_decided():
    a = np.zeros((100, 30))
    a[:, 3] = 5.0
    a[:50, 7] = 5.0 - 1e-4  # a tie, all but
    noise = 1e-2 * RNG(3).standard_normal(a.shape)
    found = compare_logits(a, a + noise)
    assert found.divergence is not None and found.divergence.margin == pytest.approx(1e-4, rel=1e-3)
    assert (found.agreement, found.decided, found.close) == (1.0, 50, 50) and found.grade == "pass"
    wrong = a + noise
    wrong[60:70, 9] = 8.0
    found = compare_logits(a, wrong)
    assert found.grade == "fail" and "10 of 50" in found.reason


def test_noise_measured_on_the_source_is_the_measure():
    rng = RNG(4)
    a = 3 * rng.standard_normal((200, 100))

    def off(by):
        return a + by * rng.standard_normal(a.shape)

    assert compare_logits(a, off(0.1)).grade == "warn"
    assert (
        compare_logits(a, off(0.1), null=off(0.1)).grade == "pass"
        and compare_logits(a, off(0.1), null=off(0.1)).measured
    )
    assert compare_logits(a, off(0.1), null=off(0.01)).grade == "fail"
    assert compare_logits(a, off(0.004), null=a).grade == "warn"  # a source that repeats itself exactly allows little


def test_nan_on_one_side_fails_and_minus_infinity_is_a_mask():
    a = RNG(5).standard_normal((10, 8))
    a[:, 2] = -np.inf
    assert compare_logits(a, a.copy()).grade == "pass"
    b = a.copy()
    b[4, 4] = np.nan
    found = compare_logits(a, b)
    assert (found.grade, found.unlike) == ("fail", 1)
    assert compare_logits(b, b.copy()).unlike == 0
    c = a.copy()
    c[0, :] = [-np.inf] * 7 + [0.0]
    assert compare_logits(a, c).kl_largest == math.inf


def top(logits, tokens, k):
    rows = logarithms(logits)
    return [
        TopPosition({t: row[t] for t in sorted(range(len(row)), key=row.__getitem__)[-k:]}, int(token), row[token])
        for row, token in zip(rows, tokens)
    ]


@properties(20, 300, st.integers(0, 2**31), st.integers(1, 12), st.floats(0, 2))
def test_bounds_from_the_likeliest_tokens_hold(seed, k, by):
    rng = RNG(seed)
    a = 2 * rng.standard_normal((6, 12))
    b = a + by * rng.standard_normal(a.shape)
    tokens = rng.integers(0, 12, 6)
    whole, part = compare_logits(a, b, tokens), compare_top(top(a, tokens, k), top(b, tokens, k))
    assert part.kl_mean <= whole.kl_mean + 1e-9 and part.kl_upper is None
    assert part.variation[0] - 1e-9 <= whole.variation[0] <= part.variation[1] + 1e-9
    assert part.nll_difference == pytest.approx(whole.nll_difference, abs=1e-9)
    if k == 12:
        assert part.kl_mean == pytest.approx(whole.kl_mean, abs=1e-9) and part.missing < 1e-9
        assert part.divergence == whole.divergence or part.divergence.margin == pytest.approx(whole.divergence.margin)


def test_endpoints_that_tell_little_are_compared_by_what_they_tell():
    a = [TopPosition({"yes": -0.1, "no": -2.5}, "yes", -0.1), TopPosition({}, "x")]
    same = compare_top(a, a)
    assert same.grade == "pass" and same.positions == 2
    other = [TopPosition({"no": -0.1, "yes": -2.5}, "yes", -2.5), TopPosition({}, "x")]
    assert compare_top(a * 20, other * 20).grade == "fail"
    assert compare_top(a, [a[0], TopPosition({"x": -0.1}, "x")]).unlike == 1
    with pytest.raises(ValueError):
        compare_top(a, a[:1])
    with pytest.raises(ValueError):
        compare_logits(np.zeros((2, 3)), np.zeros((2, 4)))


def test_the_interval_holds_the_mean_as_often_as_it_says():
    """Differences that are alike within a run of five, as text makes them."""
    inside, means = 0, []
    for seed in range(100):
        rng = RNG(seed)
        values = np.repeat(rng.standard_normal(80), 5) + 0.3 * rng.standard_normal(400)
        mean, (low, high) = paired_bootstrap(values)
        assert low <= mean <= high
        inside += low <= 0 <= high
        means.append(mean)
    assert 0.85 <= inside / 100 <= 0.99


def test_mcnemar_against_every_outcome_counted():
    for n in range(8):
        for b in range(n + 1):
            heads = [sum(flips) for flips in itertools.product((0, 1), repeat=n)]
            tail = 2 * min(sum(h <= b for h in heads), sum(h >= b for h in heads)) / len(heads)
            assert mcnemar(b, n - b) == pytest.approx(min(1.0, tail))
    assert mcnemar(0, 0) == 1 and mcnemar(900, 40) < 1e-100 and mcnemar(5000, 5000) == 1


def test_generated_texts_part_at_the_first_other_token():
    assert first_difference([1, 2, 3], [1, 2, 3]) is None
    assert first_difference([1, 2, 3], [1, 5, 3]) == 1
    assert first_difference(["a"], ["a", "b"]) == 1
