"""Whatever two tensors hold, comparing them gives a verdict that follows the schema, and no warning."""

import json
from pathlib import Path
from typing import get_args

import jsonschema
import numpy as np
from hypothesis import strategies as st

from anywarp.check.numbers import as_json, page
from anywarp.check.numbers.comparing import compare
from anywarp.check.numbers.judging import judge
from anywarp.check.numbers.results import Layer
from anywarp.check.numbers.statistics import compare_statistics, measure
from anywarp.numerics.formats import FORMATS
from anywarp.numerics.operation import Kind, Operation
from spread import properties

VALIDATOR = jsonschema.Draft202012Validator(
    json.loads(Path(as_json.__file__).with_name("verify.schema.json").read_text())
)
SHAPES = st.lists(st.integers(0, 9), max_size=4).map(tuple)
STRANGE = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 1e-40, 65504.0, 240.0, 448.0, 1.0]


@st.composite
def operations(draw):
    names = st.sampled_from([*FORMATS, "int8", "int32", "bool", "nonsense", ""])
    return Operation(
        draw(st.sampled_from(get_args(Kind))), draw(st.sampled_from([0, 1, 7, 2048, 10**9])), draw(names), draw(names | st.just("float32-truncated")),
        draw(names), draw(st.sampled_from(["", "gelu", "rms_norm"])), draw(st.integers(0, 4)), draw(st.integers(1, 3)), draw(st.booleans()),
    )  # fmt: skip


@st.composite
def tensors(draw, shape):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["normal", "strange", "few", "integers", "complex", "float32", "equal"]))
    x = rng.standard_normal(shape)
    if kind == "strange":
        x = np.array(STRANGE)[rng.integers(0, len(STRANGE), shape)]
    elif kind == "few":
        x = np.where(rng.random(shape) < 0.1, np.array(STRANGE)[rng.integers(0, len(STRANGE), shape)], x)
    elif kind == "integers":
        x = rng.integers(-5, 5, shape)
    elif kind == "complex":
        x = x + 1j * rng.standard_normal(shape)
    elif kind == "float32":
        x = x.astype(np.float32)
    elif kind == "equal":
        x = np.ones(shape)
    return np.asarray(x)


@st.composite
def cases(draw):
    shape = draw(SHAPES)
    other = shape if draw(st.integers(0, 9)) else draw(SHAPES)
    real = tensors(shape).filter(lambda x: not np.iscomplexobj(x))
    given = {}
    for name in ("magnitude", "norm"):
        if draw(st.booleans()):
            given[name] = np.abs(draw(real).astype(np.float64))
    for name in ("precise", "null", "again", "earlier"):
        if draw(st.booleans()):
            given[name] = draw(tensors(shape if draw(st.booleans()) else other))
    if draw(st.booleans()):
        given["inputs"] = tuple(draw(st.lists(st.none() | tensors(shape) | SHAPES.flatmap(tensors), max_size=3)))
    if draw(st.booleans()):
        given["axes"] = draw(
            st.sampled_from(
                [
                    ("batch", "position", "channel"),
                    ("head", "position"),
                    ("position",),
                    ("channel", "head", "position", "batch"),
                ]
            )
        )
    given["depth"] = draw(st.sampled_from([0, 0, 1, 50]))
    return draw(tensors(shape)), draw(tensors(other)), draw(operations()), given


@properties(50, 5000, cases())
def test_every_pair_of_tensors_gets_a_verdict(case):
    reference, observed, operation, given = case
    found = compare(reference, observed, operation, **given)
    verdict = judge([Layer("a", operation=operation, isolated=found, propagated=found)])
    VALIDATOR.validate(json.loads(json.dumps(as_json.report(verdict), allow_nan=False)))
    assert "<html" in page.page(verdict)
    if reference.shape == observed.shape and not np.iscomplexobj(reference) and not np.iscomplexobj(observed):
        unequal = ~((reference == observed) | (np.isnan(reference) & np.isnan(observed)))
        if found.grade == "pass" and found.bound in ("exact", "certain", "probabilistic", "sharp", "function"):
            assert np.all(np.isfinite(observed[unequal])) and np.all(np.isfinite(reference[unequal]))
        if not unequal.any() and "again" not in given:
            assert found.grade == "pass"


@properties(30, 2000, SHAPES.flatmap(lambda shape: st.tuples(tensors(shape), tensors(shape))), operations())
def test_every_pair_of_statistics_gets_a_verdict(pair, operation):
    one, two = (np.real(x) for x in pair)
    found = compare_statistics(
        measure(one, operation.output), measure(two, operation.output), operation, shape=one.shape
    )
    VALIDATOR.validate(json.loads(json.dumps(as_json.report(judge([Layer("a", propagated=found)])), allow_nan=False)))
    assert compare_statistics(measure(one, "float32"), measure(one, "float32"), operation).grade == "pass"


def test_a_product_of_no_terms_gets_a_verdict():
    reference = np.random.default_rng(0).standard_normal((4, 4, 4))
    observed = reference.astype(np.float32).astype(np.float64)
    given = {"magnitude": np.abs(reference), "norm": np.abs(reference)}
    assert (
        compare(reference, observed, Operation("product", 0, "float64", "float64", "float64"), **given).grade != "pass"
    )
