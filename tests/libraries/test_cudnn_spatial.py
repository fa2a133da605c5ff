"""cuDNN's spatial transformers against tents over every element, in float64."""

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries.cudnn_tensors import TYPES, Dnn, encoded, factor, ints, near
from spread import properties

pytestmark = pytest.mark.native

BAD_PARAM, NOT_SUPPORTED = 2000, 3000


@pytest.fixture(scope="module", autouse=True)
def dnn(library):
    global DNN  # properties take no fixtures
    DNN = Dnn(library("cudnn", "libcudnn.so.9"))
    return DNN


def transformer(kind, shape):
    made = DNN.make("SpatialTransformer")
    DNN.call("cudnnSetSpatialTransformerNdDescriptor", made, 0, TYPES[kind][0], 4, ints(shape))
    return made


def places(count):
    return np.linspace(-1, 1, count) if count > 1 else np.zeros(1)


def tents(coordinates, size):
    """How much of each of `size` elements a place between -1 and 1 takes: 1 at the element, 0 at its neighbours."""
    return np.maximum(0, 1 - abs((coordinates[..., None] + 1) / 2 * (size - 1) - np.arange(size)))


def sample(x, grid):
    return np.einsum("nchw,nijw,nijh->ncij", x, tents(grid[..., 0], x.shape[3]), tents(grid[..., 1], x.shape[2]))


@st.composite
def samplings(draw):
    size = st.integers(1, 6)
    return {
        "image": (draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(size), draw(size)), "out": (draw(size), draw(size)),
        "kind": draw(st.sampled_from(["f32", "f64", "f16"])), "last": draw(st.booleans()), "beta": draw(st.sampled_from([0.0, 0.5])),
        "seed": draw(st.integers(0, 99)),
    }  # fmt: skip


@properties(30, 600, samplings())
def test_samples_and_their_gradients(p):
    rng, kind, (images, channels, *_), shape = np.random.default_rng(p["seed"]), p["kind"], p["image"], p["image"]
    order = [0, 2, 3, 1] if p["last"] else None
    desc = transformer(kind, (images, channels, *p["out"]))
    x = DNN.tensor(kind, rng.standard_normal(shape), order=order)
    grid = DNN.tensor(kind, rng.uniform(-1.4, 1.4, (images, *p["out"], 2)))
    y = DNN.tensor(
        kind,
        rng.standard_normal((images, channels, *p["out"]))
        if p["beta"]
        else np.full((images, channels, *p["out"]), np.nan),
    )
    before = y.values
    once, twice, beta = factor(kind, 1), factor(kind, 2), factor(kind, p["beta"])
    DNN.call("cudnnSpatialTfSamplerForward", DNN.handle, desc, twice, *x.args, grid.memory, beta, *y.args)
    at = grid.values
    near(y.values, 2 * sample(x.values, at) + (p["beta"] * before if p["beta"] else 0), kind, 30, 10)

    dy = DNN.tensor(kind, rng.standard_normal(y.shape), order=order)
    dx, dgrid = DNN.tensor(kind, np.ones(shape), order=order), DNN.tensor(kind, np.ones(grid.shape))
    DNN.call(
        "cudnnSpatialTfSamplerBackward", DNN.handle, desc, twice, *x.args, beta, *dx.args, once, *dy.args, grid.memory, beta, dgrid.memory
    )  # fmt: skip
    wide, high = tents(at[..., 0], shape[3]), tents(at[..., 1], shape[2])
    near(dx.values, 2 * np.einsum("ncij,nijw,nijh->nchw", dy.values, wide, high) + p["beta"], kind, 200, 40)
    # The slope in a place jumps where a column or a row begins, and where an image ends.
    step, slopes = 1e-6, np.empty(grid.shape)
    smooth = np.ones(grid.shape[:3], bool)
    for axis, size in ((0, shape[3]), (1, shape[2])):
        off = np.zeros(2)
        off[axis] = step
        slopes[..., axis] = (dy.values * (sample(x.values, at + off) - sample(x.values, at - off))).sum(1) / (2 * step)
        element = (at[..., axis] + 1) / 2 * (size - 1)
        smooth &= abs(element - np.rint(element)) > 1e-4
    found, wanted = dgrid.values[smooth], slopes[smooth] + p["beta"]
    near(found, wanted, "f32" if kind == "f64" else kind, 400, 40)


@properties(
    30,
    600,
    st.tuples(
        st.integers(1, 3),
        st.integers(1, 7),
        st.integers(1, 7),
        st.sampled_from(["f32", "f64", "f16"]),
        st.integers(0, 99),
    ),
)
def test_a_grid_and_its_gradient(p):
    images, height, width, kind, seed = p
    rng, desc = np.random.default_rng(seed), transformer(kind, (images, 1, height, width))
    theta, grid = DNN.tensor(kind, rng.standard_normal((images, 2, 3))), DNN.zeros(kind, (images, height, width, 2))
    DNN.call("cudnnSpatialTfGridGeneratorForward", DNN.handle, desc, theta.memory, grid.memory)
    row, column = np.meshgrid(places(height), places(width), indexing="ij")
    base = np.stack([column, row, np.ones_like(row)])
    near(grid.values, np.einsum("nkc,chw->nhwk", theta.values, base), kind, 4)
    dgrid, dtheta = DNN.tensor(kind, rng.standard_normal(grid.shape)), DNN.zeros(kind, theta.shape)
    DNN.call("cudnnSpatialTfGridGeneratorBackward", DNN.handle, desc, dgrid.memory, dtheta.memory)
    near(dtheta.values, np.einsum("nhwk,chw->nkc", dgrid.values, base), kind, height * width, 10)


def test_places_that_are_no_numbers_or_far_away_give_nothing(dnn):
    desc = transformer("f32", (1, 1, 1, 4))
    x, y = dnn.tensor("f32", np.ones((1, 1, 3, 3))), dnn.tensor("f32", np.full((1, 1, 1, 4), 7.0))
    grid = encoded("f32", [[np.nan, 0], [np.inf, 0], [0, -3e38], [0, 0]])
    dnn.call(
        "cudnnSpatialTfSamplerForward", dnn.handle, desc, factor("f32", 1), *x.args, grid, factor("f32", 0), *y.args
    )
    np.testing.assert_array_equal(y.values.ravel(), [0, 0, 0, 1])


def test_what_spatial_transformers_refuse(dnn):
    desc = dnn.make("SpatialTransformer")
    set_it = lambda *arguments: dnn.status("cudnnSetSpatialTransformerNdDescriptor", desc, *arguments)  # noqa: E731
    grid = np.zeros(99, np.float32)
    assert dnn.status("cudnnSpatialTfGridGeneratorForward", dnn.handle, desc, grid, grid) == BAD_PARAM  # never set
    assert set_it(1, 0, 4, ints((1, 1, 2, 2))) == BAD_PARAM
    assert set_it(0, 0, 4, ints((1, 1, 0, 2))) == BAD_PARAM
    assert set_it(0, 0, 5, ints((1, 1, 2, 2, 2))) == NOT_SUPPORTED
    assert set_it(0, 3, 4, ints((1, 1, 2, 2))) == NOT_SUPPORTED
    assert set_it(0, 0, 4, ints((1, 1, 2, 2))) == 0
    x, one, none = dnn.zeros("f32", (1, 1, 3, 3)), factor("f32", 1), factor("f32", 0)
    for y in (dnn.zeros("f32", (1, 1, 3, 2)), dnn.zeros("f64", (1, 1, 2, 2))):
        status = dnn.status("cudnnSpatialTfSamplerForward", dnn.handle, desc, one, *x.args, grid, none, *y.args)
        assert status // 1000 == BAD_PARAM // 1000
