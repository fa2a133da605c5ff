"""Where warm-up ends: found in series whose change is planted, not found where there is none."""

import math

import numpy as np
import pytest
from hypothesis import strategies as st

from anywarp.check.bench import warmup
from check.bench.test_percentiles import autoregression
from spread import properties


def series(seed, count, warm, by, hangs=0.0, noise=0.02, pauses=0.01):
    """Times about 1 whose first `warm` are longer by the factor `by`, with noise that hangs together and some long pauses."""
    random = np.random.default_rng(seed)
    logs = noise * autoregression(random, count, hangs)
    logs[:warm] += math.log(by)
    logs[random.random(count) < pauses] += 1.0
    return list(np.exp(logs))


@pytest.mark.parametrize("hangs", [0.0, 0.5])
@pytest.mark.parametrize(("warm", "by"), [(10, 3.0), (60, 1.2), (150, 1.5)])
def test_a_planted_change_is_found_where_it_is(hangs, warm, by):
    right = 0
    for seed in range(15):
        found = warmup.find(series(seed, 300, warm, by, hangs))
        right += found.kind == "warm-up" and abs(found.start - warm) <= 6
    assert right >= 12


@pytest.mark.parametrize("hangs", [0.0, 0.5, 0.8])
def test_noise_is_no_change(hangs):
    kinds = [warmup.find(series(seed, 300, 0, 1.0, hangs)).kind for seed in range(16)]
    assert kinds.count("flat") >= 13


def test_a_level_that_rises_is_a_slowdown():
    kinds = [warmup.find(series(seed, 300, 100, 1 / 1.3)).kind for seed in range(10)]
    assert kinds.count("slowdown") >= 8


def test_what_changes_at_the_end_is_not_steady():
    for seed in range(5):
        assert warmup.find(series(seed, 300, 260, 2.0, pauses=0)).kind == "not steady"


def test_long_series_are_looked_at_in_groups():
    found = warmup.find(series(3, 20_000, 4000, 1.5))
    assert found.kind == "warm-up" and abs(found.start - 4000) < 100


def test_constant_times_are_flat():
    assert warmup.find([0.5] * 50) == warmup.Steady(0, "flat", ((0, pytest.approx(0.5)),))


def test_a_short_series_is_refused():
    with pytest.raises(ValueError):
        warmup.find([1.0] * 9)


def best_partition(values, price):
    """By trying all: the starts of stretches of which none is shorter than five."""
    count = len(values)
    best = {0: (-price, [])}
    for end in range(warmup.SHORTEST, count + 1):
        choices = []
        for start, (cost, starts) in best.items():
            if end - start >= warmup.SHORTEST:
                part = values[start:end]
                error = float(np.sum((part - part.mean()) ** 2))
                choices.append((cost + error + price, [*starts, start]))
        if choices:
            best[end] = min(choices)
    return best[count]


def cost_of(values, starts, price):
    ends = [*starts[1:], len(values)]
    return sum(float(np.sum((values[a:b] - values[a:b].mean()) ** 2)) + price for a, b in zip(starts, ends)) - price


@properties(8, 200, st.integers(0, 2**32 - 1), st.integers(10, 40), st.floats(0.01, 30))
def test_the_partition_is_the_best_there_is(seed, count, price):
    random = np.random.default_rng(seed)
    values = np.repeat(random.standard_normal(8), 5)[:count] * 3 + random.standard_normal(count)
    found = warmup._partition(values, price)
    assert cost_of(values, found, price) == pytest.approx(best_partition(values, price)[0], abs=1e-6)
