"""Bounds against sums made in other ways, and against figures worked out by hand."""

import math

import numpy as np
import pytest

from anywarp.numerics import bounds, formats, magnitudes
from anywarp.numerics.operation import Operation
from numerics import orders

FAILING = 1e-3


def sums(operands, k, results, held="float32", accumulator=np.float32, seed=0):
    a, b = (
        formats.round_to(x, held).astype(accumulator)
        for x in orders.OPERANDS[operands](np.random.default_rng(seed), k, results)
    )
    terms = a.astype(np.float64) * b
    return a, b, np.abs(terms).sum(0), np.sqrt(np.square(terms).sum(0)), terms.sum(0)


def allowed(bound, s, q, c):
    return bound.magnitude * s + bound.norm * q + bound.value * np.abs(c) + bound.absolute


@pytest.mark.parametrize("operands", orders.OPERANDS)
@pytest.mark.parametrize("k", [16, 300, pytest.param(4096, marks=pytest.mark.long)])
def test_right_sums_stay_within_the_bounds_made_for_them(operands, k):
    """10,000 results at once, each bound made to fail once in a thousand times for all of them."""
    a, b, s, q, _ = sums(operands, k, 10_000)
    operation = Operation("product", k)
    found = [orders.ORDERS[name](a, b).astype(np.float64) for name in ("sequential", "backwards", "split-K")]
    makers = [bounds.certain, lambda op: bounds.probabilistic(op, 10_000, FAILING)]
    if operands in orders.CENTRED:
        makers.append(lambda op: bounds.sharp(op, 10_000, FAILING))
    for make in makers:
        bound = make(operation)
        for other in found[1:]:
            assert np.all(np.abs(other - found[0]) <= allowed(bound, s, q, found[0])), bound.name


@pytest.mark.parametrize("operands", ["centred", "uniform"])
def test_the_sharp_bound_is_within_50_of_what_is_seen(operands):
    a, b, s, q, _ = sums(operands, 1024, 4000)
    found = [orders.ORDERS[name](a, b).astype(np.float64) for name in ("blocks of 4", "split-K")]
    seen = np.quantile(np.abs(found[0] - found[1]), 0.999)
    assert (
        seen < np.median(allowed(bounds.sharp(Operation("product", 1024), 4000, FAILING), s, q, found[0])) < 50 * seen
    )


def test_the_sharp_bound_is_not_for_sums_of_one_sign():
    a, b, s, q, _ = sums("same sign", 4096, 500)
    difference = np.abs(orders.sequential(a, b).astype(np.float64) - orders.tree(a, b))
    assert np.any(difference > allowed(bounds.sharp(Operation("product", 4096), 500, FAILING), s, q, 0))


def test_truncating_sums_leave_the_bound_of_rounding_ones_but_not_their_own():
    k = 16_384
    a, b, s, q, exact = sums("same sign", k, 100)
    cut = orders.truncating(1)(a, b).astype(np.float64)
    assert np.all(cut < exact)
    rounding = bounds.probabilistic(Operation("product", k), 100, FAILING)
    own = bounds.probabilistic(Operation("product", k, accumulator="float32-truncated"), 100, FAILING)
    assert np.any(np.abs(cut - exact) > allowed(rounding, s, q, exact))
    assert np.all(np.abs(cut - exact) <= allowed(own, s, q, exact))


@pytest.mark.parametrize("convert", [formats.round_to, formats.truncate_to])
@pytest.mark.parametrize("operands", ["centred", "same sign", "outliers"])
def test_tf32_on_one_side_stays_within_its_own_bound_only(convert, operands):
    a, b, s, q, exact = sums(operands, 256, 5000)
    short = (convert(a, "tf32") * convert(b, "tf32")).sum(0)
    for make in (bounds.probabilistic, bounds.sharp):
        if make is bounds.sharp and operands == "same sign":
            continue
        bound = make(Operation("product", 256, "tf32"), 5000, FAILING)
        assert np.all(np.abs(short - exact) <= allowed(bound, s, q, exact))
    if operands == "centred":
        assert np.any(
            np.abs(short - exact) > allowed(bounds.sharp(Operation("product", 256), 5000, FAILING), s, q, exact)
        )


def test_scales_of_ones_own_are_allowed_for_where_the_operation_quantises():
    a, b, s, q, _ = sums("centred", 256, 2000)
    sides = [
        (formats.round_to(a / f, "float8_e4m3fn") * f * formats.round_to(b / f, "float8_e4m3fn") * f).sum(0)
        for f in (0.011, 0.017)
    ]
    operation = Operation("product", 256, "float8_e4m3fn", quantises=True)
    assert np.all(np.abs(sides[0] - sides[1]) <= allowed(bounds.sharp(operation, 2000, FAILING), s, q, sides[0]))
    blind = Operation("product", 256, "float8_e4m3fn")
    assert np.any(np.abs(sides[0] - sides[1]) > allowed(bounds.probabilistic(blind, 2000, FAILING), s, q, sides[0]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_sum_that_one_side_rounds_before_the_bias_is_allowed_for_where_the_operation_is_staged(dtype):
    """The bias takes most of the sum away again: what rounding the sum left is large beside the result."""
    a, b, s, q, exact = sums("centred", 64, 4000)
    bias = 0.01 * np.roll(exact, 1) - exact
    once = formats.round_to(exact + bias, dtype)
    twice = formats.round_to(formats.round_to(exact, dtype) + bias, dtype)
    s, q = s + np.abs(bias), np.sqrt(q**2 + bias**2)
    for bound in (bounds.probabilistic, bounds.sharp):
        staged, blind = (bound(Operation("product", 64, output=dtype, staged=each), 4000) for each in (True, False))
        assert np.all(np.abs(once - twice) <= allowed(staged, s, q, once))
        assert np.any(np.abs(once - twice) > allowed(blind, s, q, once))
    assert np.all(
        np.abs(once - twice) <= allowed(bounds.certain(Operation("product", 64, output=dtype, staged=True)), s, q, once)
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_results_rounded_by_each_side_may_differ_by_a_last_place(dtype):
    a, b, s, q, _ = sums("centred", 64, 10_000, "float8_e5m2")
    x, y = (formats.round_to(orders.ORDERS[name](a, b), dtype, saturate=True) for name in ("sequential", "tree"))
    bound = bounds.probabilistic(Operation("product", 64, output=dtype), 10_000, FAILING)
    assert np.all(np.abs(x - y) <= allowed(bound, s, q, x))
    place = 2.0 ** np.maximum(
        np.frexp(x)[1] - formats.FORMATS[dtype].precision, np.log2(formats.FORMATS[dtype].subnormal)
    )
    place = np.where(x == 0, formats.FORMATS[dtype].subnormal, place)
    next_one = x + np.copysign(place, x)
    assert np.all(np.abs(next_one - x) <= bound.value * np.abs(x) + bound.absolute)


def test_gamma_by_hand_and_where_it_ends():
    assert bounds.gamma(1000, 2.0**-11) == pytest.approx(1000 / 2048 / (1 - 1000 / 2048))
    assert bounds.gamma(2048, 2.0**-11) is None
    assert bounds.certain(Operation("product", 2048, accumulator="float16")) is None
    assert bounds.probabilistic(Operation("product", 2048, accumulator="float16"), 10) is not None


def test_copies_are_exact_and_integers_differ_by_one_step():
    for kind in ("embedding", "copy"):
        bound = bounds.probabilistic(Operation(kind, output="bfloat16"), 5)
        assert (bound.magnitude, bound.norm, bound.value, bound.absolute) == (0, 0, 0, 0)
    step = bounds.probabilistic(Operation("quantised", 4096, "int8", "int32", "int8"), 5)
    assert (step.absolute, step.magnitude, step.value) == (1, 0, 0)


def _attention(q, k, v, dtype, chunk):
    """Attention in `dtype`, by chunks of keys with a running maximum (online softmax), or at once."""
    scale = dtype(1 / math.sqrt(q.shape[-1]))
    total = np.zeros((len(q), v.shape[-1]), dtype)
    top, weight = np.full((len(q), 1), -np.inf, dtype), np.zeros((len(q), 1), dtype)
    for start in range(0, len(k), chunk):
        scores = (q @ k[start : start + chunk].T) * scale
        new = np.maximum(top, scores.max(1, keepdims=True))
        old, each = np.exp(top - new), np.exp(scores - new)
        total, weight = (
            total * old + each @ v[start : start + chunk],
            weight * old + each.sum(1, keepdims=True, dtype=dtype),
        )
        top = new
    return total / weight


@pytest.mark.parametrize("size", [1.0, 4.0])
def test_attention_in_pieces_stays_within_its_bound(size):
    rng = np.random.default_rng(1)
    q, k, v = (np.float32(size * rng.standard_normal((257, 64))) for _ in "qkv")
    exact = _attention(*(x.astype(np.float64) for x in (q, k, v)), np.float64, 257)
    s = magnitudes.attention_of(q, k, v)
    bound = bounds.probabilistic(Operation("attention", 257), exact.size, FAILING)
    for chunk in (257, 32):
        difference = np.abs(_attention(q, k, v, np.float32, chunk) - exact)
        assert np.all(difference <= allowed(bound, s, 0, exact))
        assert difference.max() > allowed(bound, s, 0, exact).min() / 1e4  # it says something


@pytest.mark.parametrize("offset", [0.0, 10.0, 1000.0])
@pytest.mark.parametrize("one_pass", [False, True])
def test_norms_stay_within_their_bound_even_where_the_mean_dwarfs_the_spread(offset, one_pass):
    rng = np.random.default_rng(2)
    x, weight, bias = (
        np.float32(offset + rng.standard_normal((500, 256))),
        np.float32(rng.standard_normal(256)),
        np.float32(rng.standard_normal(256)),
    )

    def layer_norm(x, dtype, one_pass):
        mean = x.mean(1, keepdims=True, dtype=dtype)
        variance = (
            (x * x).mean(1, keepdims=True, dtype=dtype) - mean * mean
            if one_pass
            else np.square(x - mean).mean(1, keepdims=True, dtype=dtype)
        )
        return (x - mean) / np.sqrt(np.maximum(variance, 0) + dtype(1e-5)) * weight.astype(dtype) + bias.astype(dtype)

    exact = layer_norm(x.astype(np.float64), np.float64, False)
    s = magnitudes.norm(x, weight, bias, 256)
    found = layer_norm(x, np.float32, one_pass)
    if offset == 1000 and one_pass:
        assert np.abs(found - exact).max() > 1e-2  # the one-pass formula has lost most of it
    bound = bounds.probabilistic(Operation("norm", 256), exact.size, FAILING)
    assert np.all(np.abs(found - exact) <= allowed(bound, s, 0, exact))


@pytest.mark.parametrize("size", [1.0, 30.0])
def test_softmax_stays_within_its_bound(size):
    rng = np.random.default_rng(3)
    x = np.float32(size * rng.standard_normal((300, 1000)))

    def both(x):
        each = np.exp(x - x.max(1, keepdims=True))
        total = each.sum(1, keepdims=True, dtype=x.dtype)
        return each / total, x - x.max(1, keepdims=True) - np.log(total)

    for logarithm in (False, True):
        found, exact = both(x)[logarithm], both(x.astype(np.float64))[logarithm]
        bound = bounds.probabilistic(Operation("softmax", 1000), exact.size, FAILING)
        s = magnitudes.softmax(x, logarithm=logarithm)
        assert np.all(np.abs(found - exact) <= allowed(bound, s, 0, exact))
        assert np.any(np.abs(found - exact) > 1e-4 * allowed(bound, s, 0, exact))


def test_gelu_of_negative_numbers_cancels_and_is_allowed_for():
    x = np.linspace(-12, 12, 20_001).astype(np.float32)
    erf = np.vectorize(math.erf)
    exact = 0.5 * x.astype(np.float64) * (1 + erf(x.astype(np.float64) / math.sqrt(2)))
    inner = np.float32(1) + erf(x / np.float32(math.sqrt(2))).astype(np.float32)
    found = np.float32(0.5) * x * inner
    bound = bounds.probabilistic(Operation("pointwise", function="gelu"), x.size, FAILING)
    difference = np.abs(found - exact)
    assert np.all(difference <= allowed(bound, magnitudes.pointwise(exact, x), 0, exact))
    assert np.any(difference > bound.magnitude * np.abs(exact) * 1.01 + bound.value * np.abs(exact) + bound.absolute)


def test_two_sides_of_few_roundings_are_held_to_what_they_show():
    """A tree against split-K at K = 4,096: the bound for any order is 70 times what is seen; one result of 4,000 that is off by 30 deviations of these two lies within it."""
    a, b, s, q, _ = sums("centred", 4096, 4000)
    x, y = (orders.ORDERS[name](a, b).astype(np.float64) for name in ("tree", "split-K"))
    operation, difference = Operation("product", 4096), np.abs(x - y)
    wide = bounds.sharp(operation, 4000, FAILING)
    seen = magnitudes.deviation(difference, q, wide.value * np.abs(x) + wide.absolute)
    tight = bounds.sharp(operation, 4000, FAILING, deviation=seen)
    high = np.quantile(difference, 0.999)
    assert high < np.median(allowed(tight, s, q, x)) < 50 * high < np.median(allowed(wide, s, q, x))
    assert np.all(difference <= allowed(tight, s, q, x))
    difference[17] += 30 * np.sqrt(np.mean(difference**2))
    assert seen == pytest.approx(magnitudes.deviation(difference, q, wide.value * np.abs(x) + wide.absolute), rel=0.5)
    assert np.all(difference <= allowed(wide, s, q, x))
    again = magnitudes.deviation(difference, q, wide.value * np.abs(x) + wide.absolute)
    beyond = difference > allowed(bounds.sharp(operation, 4000, FAILING, deviation=again), s, q, x)
    assert np.flatnonzero(beyond).tolist() == [17]


def test_a_deviation_needs_enough_results_that_differ():
    assert magnitudes.deviation(np.ones(1023), np.ones(1023)) is None
    assert magnitudes.deviation(np.zeros(4096), np.ones(4096)) is None
    assert magnitudes.deviation(np.full(1024, 3.0), np.full(1024, 2.0), 1.0) == 1.0
    mixed = np.concatenate([np.full(1024, 1e-3), np.full(1024, 1.0)])
    assert magnitudes.deviation(mixed, np.ones(2048)) == 1.0, "where groups differ, the largest counts"
