"""A verdict that was written as JSON is read again as it was."""

import json

import numpy as np
import pytest

from anywarp.check.numbers import as_json, page
from anywarp.check.numbers.comparing import compare
from anywarp.check.numbers.judging import judge
from anywarp.check.numbers.results import Layer
from anywarp.numerics.operation import Operation


def verdict(scale):
    rng = np.random.default_rng(5)
    x = rng.standard_normal((8, 64)).astype(np.float32)
    operation = Operation("product", 64, heads=4)
    found = compare(x, x * np.float32(scale), operation, magnitude=np.abs(x) * 8)
    layers = [
        Layer("a", 0, "0", Operation(), None, None, None, "not recorded"),
        Layer("b.c", 3, "out.1", operation, found, found, True),
    ]
    return judge(layers, about={"source": "s", "target": "<t>"}, notes=["n"])


@pytest.mark.parametrize("scale", [1.0, 2.0, float("nan")])
def test_what_is_read_says_and_draws_the_same(scale):
    first = as_json.report(verdict(scale))
    again = as_json.read(json.loads(json.dumps(first)))
    assert as_json.report(again) == first
    drawn = [page.page(each).split("</header>")[1] for each in (verdict(scale), again)]
    assert scale != scale or drawn[0] == drawn[1]


@pytest.mark.parametrize(
    "change", [{"format": "x"}, {"version": 99}, {"layers": 5}, {"layers": [{}]}, {"layers": [7]}, {"cause": 3}]
)
def test_what_is_none_is_refused(change):
    found = json.loads(json.dumps(as_json.report(verdict(2.0))))
    with pytest.raises(ValueError, match="verdict"):
        as_json.read({**found, **change})
