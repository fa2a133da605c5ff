"""cuDNN's layers and operations on whole tensors against their definitions in float64."""

import ctypes

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries.cudnn_reference import pool, pool_gradient, sigmoid
from libraries.cudnn_tensors import Dnn, encoded, factor, ints, near
from spread import properties

pytestmark = pytest.mark.native

KINDS = ["f32", "f64", "f16", "bf16"]
LAST = [0, 2, 3, 1]


@pytest.fixture(scope="module", autouse=True)
def dnn(library):
    global DNN  # properties take no fixtures
    DNN = Dnn(library("cudnn", "libcudnn.so.9"))
    return DNN


def blend(wanted, before, alpha, beta):
    return alpha * wanted + (beta * before if beta else 0)


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@st.composite
def poolings(draw):
    space = draw(st.integers(1, 3))
    ints = lambda low, high: draw(st.lists(st.integers(low, high), min_size=space, max_size=space))  # noqa: E731
    window = ints(1, 3)
    pads = [draw(st.integers(0, w - 1)) for w in window]
    channels = draw(st.sampled_from([1, 3, 18, 67]))  # 64 are computed side by side
    return {
        "window": window, "pads": pads, "strides": ints(1, 3), "channels": channels,
        "size": [max(w, n) for w, n in zip(window, ints(1, 3 if channels > 3 else 7), strict=True)],
        "mode": draw(st.sampled_from(["max", "include", "exclude"])), "kind": draw(st.sampled_from(KINDS)),
        "last": draw(st.booleans()), "beta": draw(st.sampled_from([0.0, 0.5])), "seed": draw(st.integers(0, 99)),
    }  # fmt: skip


@properties(25, 800, poolings())
def test_pooling_and_its_gradient(p):
    rng, kind = np.random.default_rng(p["seed"]), p["kind"]
    shape = (2, p["channels"], *p["size"])
    order = [0, *range(2, len(shape)), 1] if p["last"] else None
    x = DNN.tensor(kind, rng.permutation(int(np.prod(shape))).reshape(shape) / 64 - 1, order=order)
    geometry = p["window"], p["pads"], p["strides"]
    wanted, _ = pool(x.values, p["mode"], *geometry)
    desc = DNN.make("Pooling")
    mode = ["max", "include", "exclude"].index(p["mode"])
    DNN.call("cudnnSetPoolingNdDescriptor", desc, mode, 1, len(p["size"]), *map(ints, geometry))
    out = (ctypes.c_int * len(shape))()
    DNN.call("cudnnGetPoolingNdForwardOutputDim", desc, x.desc, len(shape), out)
    assert tuple(out) == wanted.shape
    before = rng.standard_normal(wanted.shape)
    y = DNN.tensor(kind, before if p["beta"] else np.full(wanted.shape, np.nan), order=order)
    before = y.values
    alpha, beta = factor(kind, 2), factor(kind, p["beta"])
    DNN.call("cudnnPoolingForward", DNN.handle, desc, alpha, *x.args, beta, *y.args)
    near(y.values, blend(wanted, before, 2, p["beta"]), kind, 27)
    y.set(wanted)
    dy, dx = (
        DNN.tensor(kind, rng.standard_normal(wanted.shape), order=order),
        DNN.tensor(kind, np.ones(shape), order=order),
    )
    if p["mode"] == "max" and len(set(x.values.ravel())) < x.values.size:
        return  # after rounding two are the largest
    DNN.call("cudnnPoolingBackward", DNN.handle, desc, alpha, *y.args, *dy.args, *x.args, beta, *dx.args)
    near(dx.values, blend(pool_gradient(x.values, dy.values, p["mode"], *geometry), 1.0, 2, p["beta"]), kind, 27, 20)


CURVES = {
    0: (sigmoid, lambda x, y: y * (1 - y)), 1: (lambda x: np.maximum(x, 0), lambda x, y: x > 0), 2: (np.tanh, lambda x, y: 1 - y * y),
    3: (lambda x: np.clip(x, 0, 0.75), lambda x, y: (x > 0) & (x < 0.75)), 4: (lambda x: np.where(x > 0, x, 0.75 * np.expm1(x)), lambda x, y: np.where(x > 0, 1, 0.75 * np.exp(x))),
    5: (lambda x: x, lambda x, y: np.ones_like(x)), 6: (lambda x: x * sigmoid(1.5 * x), lambda x, y: sigmoid(1.5 * x) * (1 + 1.5 * x * (1 - sigmoid(1.5 * x)))),
}  # fmt: skip


@pytest.mark.parametrize("mode", CURVES)
def test_activations(dnn, kind, mode):
    rng = np.random.default_rng(mode)
    curve, slope = CURVES[mode]
    desc = dnn.make("Activation")
    dnn.call("cudnnSetActivationDescriptor", desc, mode, 0, 0.75)
    dnn.call("cudnnSetActivationDescriptorSwishBeta", desc, 1.5)
    x, y = (
        dnn.tensor(kind, rng.standard_normal((2, 5, 3, 37)) * 3, order=LAST),
        dnn.tensor(kind, rng.standard_normal((2, 5, 3, 37))),
    )
    wanted = blend(curve(x.values), y.values, 2, 0.5)
    dnn.call("cudnnActivationForward", dnn.handle, desc, factor(kind, 2), *x.args, factor(kind, 0.5), *y.args)
    near(y.values, wanted, kind, 8)
    y.set(curve(x.values))
    dy, dx = dnn.tensor(kind, rng.standard_normal(x.shape)), dnn.zeros(kind, x.shape)
    dnn.call(
        "cudnnActivationBackward",
        dnn.handle,
        desc,
        factor(kind, 1),
        *y.args,
        *dy.args,
        *x.args,
        factor(kind, 0),
        *dx.args,
    )
    near(dx.values, slope(x.values, y.values) * dy.values, kind, 8)


@pytest.mark.parametrize(("nan", "wanted"), [(0, 0.0), (1, np.nan)])
def test_relu_and_nan(dnn, nan, wanted):
    desc, x, y = dnn.make("Activation"), dnn.tensor("f32", [[np.nan, -np.inf, 2.0]]), dnn.zeros("f32", (1, 3))
    dnn.call("cudnnSetActivationDescriptor", desc, 1, nan, 0.0)
    dnn.call("cudnnActivationForward", dnn.handle, desc, factor("f32", 1), *x.args, factor("f32", 0), *y.args)
    np.testing.assert_array_equal(y.values, [[wanted, 0, 2]])


@pytest.mark.parametrize("algo", [0, 1, 2])
@pytest.mark.parametrize(("mode", "axes"), [(0, (1, 2, 3)), (1, (1,))])
@pytest.mark.parametrize("order", [None, LAST], ids=["nchw", "nhwc"])
def test_softmax(dnn, kind, algo, mode, axes, order):
    rng = np.random.default_rng(algo)
    x, y = (
        dnn.tensor(kind, rng.standard_normal((3, 17, 2, 5)) * 4 + 50, order=order),
        dnn.tensor(kind, np.ones((3, 17, 2, 5))),
    )
    shifted = x.values - x.values.max(axes, keepdims=True)
    wanted = shifted - np.log(np.exp(shifted).sum(axes, keepdims=True))
    wanted = wanted if algo == 2 else np.exp(wanted)
    dnn.call("cudnnSoftmaxForward", dnn.handle, algo, mode, factor(kind, 2), *x.args, factor(kind, 1), *y.args)
    near(y.values, 2 * wanted + 1, kind, 30)
    y.set(wanted)
    dy, dx = dnn.tensor(kind, rng.standard_normal(x.shape), order=order), dnn.zeros(kind, x.shape)
    dnn.call(
        "cudnnSoftmaxBackward", dnn.handle, algo, mode, factor(kind, 1), *y.args, *dy.args, factor(kind, 0), *dx.args
    )
    if algo == 2:
        wanted = dy.values - np.exp(y.values) * dy.values.sum(axes, keepdims=True)
    else:
        wanted = y.values * (dy.values - (y.values * dy.values).sum(axes, keepdims=True))
    near(dx.values, wanted, kind, 170)


@pytest.mark.parametrize("length", [1, 3, 31, 32, 33, 511, 1500])
@pytest.mark.parametrize("algo", [1, 2])
def test_softmax_of_rows(dnn, kind, length, algo):
    rng = np.random.default_rng(length)
    x = dnn.tensor(kind, rng.standard_normal((5, length, 1, 1)) * 3 - 20)
    wanted = x.values - x.values.max(1, keepdims=True)
    wanted = wanted - np.log(np.exp(wanted).sum(1, keepdims=True))
    wanted = wanted if algo == 2 else np.exp(wanted)
    gradient = dnn.tensor(kind, rng.standard_normal(x.shape))
    dnn.call("cudnnSoftmaxForward", dnn.handle, algo, 0, factor(kind, 1), *x.args, factor(kind, 0), *x.args)
    near(x.values, wanted, kind, 30)
    x.set(wanted)
    slope = (np.exp(x.values) if algo == 2 else x.values), (1 if algo == 2 else x.values)
    wanted = slope[1] * gradient.values - slope[0] * (slope[1] * gradient.values).sum(1, keepdims=True)
    size = 1 + (np.abs(slope[0]) * np.abs(slope[1] * gradient.values).sum(1, keepdims=True)).max()
    dnn.call(
        "cudnnSoftmaxBackward", dnn.handle, algo, 0, factor(kind, 1), *x.args, *gradient.args, factor(kind, 0), *gradient.args
    )  # fmt: skip
    near(gradient.values, wanted, kind, 30 * size)


def test_softmax_of_what_is_no_number(dnn):
    rows = np.zeros((4, 40, 1, 1))
    rows[1, 7], rows[2, 3], rows[3, 5] = np.nan, np.inf, -np.inf
    x = dnn.tensor("f32", rows)
    dnn.call("cudnnSoftmaxForward", dnn.handle, 1, 0, factor("f32", 1), *x.args, factor("f32", 0), *x.args)
    found = x.values.reshape(4, 40)
    assert np.allclose(found[0], 1 / 40) and np.isnan(found[1:3]).all()
    assert found[3, 5] == 0 and np.allclose(np.delete(found[3], 5), 1 / 39)


@pytest.mark.parametrize("n", [1, 4, 5])
def test_normalisation_across_channels(dnn, n):
    rng = np.random.default_rng(n)
    desc, a, b, k = dnn.make("LRN"), 0.3, 0.75, 2.0
    dnn.call("cudnnSetLRNDescriptor", desc, n, a, b, k)
    x, y = dnn.tensor("f64", rng.standard_normal((2, 9, 2, 3)), order=LAST), dnn.zeros("f64", (2, 9, 2, 3))

    def forward(v):
        padded = np.pad(v**2, ((0, 0), ((n - 1) // 2, n // 2), (0, 0), (0, 0)))
        return v * (k + a / n * sum(padded[:, i : i + 9] for i in range(n))) ** -b

    wanted = forward(x.values)
    dnn.call("cudnnLRNCrossChannelForward", dnn.handle, desc, 0, factor("f64", 1), *x.args, factor("f64", 0), *y.args)
    near(y.values, wanted, "f64", 10)
    dy, dx = dnn.tensor("f64", rng.standard_normal(x.shape)), dnn.zeros("f64", x.shape)
    dnn.call(
        "cudnnLRNCrossChannelBackward",
        dnn.handle,
        desc,
        0,
        factor("f64", 1),
        *y.args,
        *dy.args,
        *x.args,
        factor("f64", 0),
        *dx.args,
    )
    way = rng.standard_normal(x.shape)
    slope = ((forward(x.values + 1e-6 * way) - forward(x.values - 1e-6 * way)) / 2e-6 * dy.values).sum()
    assert abs((dx.values * way).sum() - slope) < 1e-7 * abs(dx.values * way).sum()


@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0])
def test_dropout(dnn, kind, rate):
    size, states = ctypes.c_size_t(), np.zeros(64, np.uint8)
    dnn.call("cudnnDropoutGetStatesSize", dnn.handle, size)
    assert size.value <= 64
    desc = dnn.make("Dropout")
    dnn.call("cudnnSetDropoutDescriptor", desc, dnn.handle, rate, states, 64, 12345)
    x = dnn.tensor(kind, np.full((4, 5, 20, 10), 1.5))
    dnn.call("cudnnDropoutGetReserveSpaceSize", x.desc, size)
    reserve, results = np.zeros(size.value, np.uint8), []
    for _ in range(2):
        y = dnn.zeros(kind, x.shape)
        dnn.call("cudnnDropoutForward", dnn.handle, desc, *x.args, *y.args, reserve, size.value)
        results.append(y.values)
    kept = results[1] != 0
    assert abs(kept.mean() - (1 - rate)) < 0.03
    if 0 < rate < 1:
        near(results[1][kept], np.full(kept.sum(), 1.5 / (1 - float(np.float32(rate)))), kind, 4)
        assert (results[0] != results[1]).any()
    dx = dnn.zeros(kind, x.shape)
    dnn.call("cudnnDropoutBackward", dnn.handle, desc, *x.args, *dx.args, reserve, size.value)
    np.testing.assert_array_equal(dx.values, results[1])
    dnn.call("cudnnSetDropoutDescriptor", desc, dnn.handle, rate, states, 64, 12345)
    dnn.call("cudnnDropoutForward", dnn.handle, desc, *x.args, *y.args, reserve, size.value)
    np.testing.assert_array_equal(y.values, results[0])
    assert dnn.status("cudnnDropoutForward", dnn.handle, desc, *x.args, *y.args, reserve, size.value - 1) == 2006


OPERATIONS = {
    0: np.add,
    1: np.multiply,
    2: np.minimum,
    3: np.maximum,
    4: lambda a, b: np.sqrt(a),
    5: lambda a, b: 1 - a,
}


@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("shape", [(2, 5, 3, 7), (1, 5, 1, 1), (1, 1, 1, 7)])
def test_operations_of_two_tensors(dnn, kind, op, shape):
    rng = np.random.default_rng(op)
    desc = dnn.make("OpTensor")
    dnn.call("cudnnSetOpTensorDescriptor", desc, op, int(kind == "f64"), 1)
    a, b = dnn.tensor(kind, rng.random((2, 5, 3, 7)), order=LAST), dnn.tensor(kind, rng.standard_normal(shape))
    c = dnn.tensor(kind, rng.standard_normal(a.shape))
    wanted = OPERATIONS[op](0.5 * a.values, -2 * b.values) + 3 * c.values
    dnn.call(
        "cudnnOpTensor",
        dnn.handle,
        desc,
        factor(kind, 0.5),
        *a.args,
        factor(kind, -2),
        *b.args,
        factor(kind, 3),
        *c.args,
    )
    near(c.values, wanted, kind, 4, 10)


def test_whole_tensors(dnn, kind):
    rng = np.random.default_rng(9)
    a, c = (
        dnn.tensor(kind, rng.standard_normal((1, 4, 1, 1))),
        dnn.tensor(kind, rng.standard_normal((3, 4, 2, 5)), order=LAST, gap=2),
    )
    wanted = 2 * a.values - c.values
    dnn.call("cudnnAddTensor", dnn.handle, factor(kind, 2), *a.args, factor(kind, -1), *c.args)
    near(c.values, wanted, kind, 2)
    wanted = 4 * c.values
    dnn.call("cudnnScaleTensor", dnn.handle, *c.args, factor(kind, 4))
    near(c.values, wanted, kind, 2)
    to = dnn.tensor("f32", rng.standard_normal(c.shape))
    if kind != "f64":
        dnn.call("cudnnTransformTensor", dnn.handle, factor("f32", 1), *c.args, factor("f32", 0), *to.args)
        np.testing.assert_array_equal(to.values, c.values)
    value = dnn.tensor(kind, [1.25])
    dnn.call("cudnnSetTensor", dnn.handle, *c.args, value.memory)
    assert (c.values == 1.25).all()
    assert (c.memory == 77).any()  # gaps stay


REDUCTIONS = {
    0: lambda x, a: x.sum(a, keepdims=True), 1: lambda x, a: x.prod(a, keepdims=True), 2: lambda x, a: x.min(a, keepdims=True), 3: lambda x, a: x.max(a, keepdims=True),
    4: lambda x, a: abs(x).max(a, keepdims=True), 5: lambda x, a: x.mean(a, keepdims=True), 6: lambda x, a: abs(x).sum(a, keepdims=True),
    7: lambda x, a: np.sqrt((x**2).sum(a, keepdims=True)), 8: lambda x, a: np.where(x == 0, 1, x).prod(a, keepdims=True),
}  # fmt: skip


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("axes", [(0, 1, 2, 3), (0, 2, 3), (3,), (1,), (0,), ()])
def test_reductions(dnn, kind, op, axes):
    rng = np.random.default_rng(op)
    values = (
        rng.standard_normal((3, 4, 2, 50)) if op not in (1, 8) else rng.choice([1, 1, -1, 1.5, 0.75], (3, 4, 2, 50))
    )
    values[rng.random(values.shape) < 0.05] = 0 if op == 8 else 1
    x = dnn.tensor(kind, values, order=[[0, 1, 2, 3], LAST][op % 2])
    wanted = REDUCTIONS[op](x.values, axes)
    if abs(wanted).max() > 6e4 and kind == "f16":
        return
    y, desc = dnn.tensor(kind, np.ones(wanted.shape)), dnn.make("ReduceTensor")
    dnn.call("cudnnSetReduceTensorDescriptor", desc, op, int(kind == "f64"), 1, 0, 0)
    dnn.call(
        "cudnnReduceTensor", dnn.handle, desc, None, 0, None, 0, factor(kind, 1), *x.args, factor(kind, 1), *y.args
    )
    near(y.values, wanted + 1, kind, 1200, REDUCTIONS[op](abs(x.values), axes) + 1)


@pytest.mark.parametrize(("op", "find"), [(2, np.argmin), (3, np.argmax)])
@pytest.mark.parametrize("order", [None, LAST], ids=["nchw", "nhwc"])
def test_where_the_least_and_greatest_stand(dnn, op, find, order):
    x, y = (
        dnn.tensor("f32", np.random.default_rng(2).standard_normal((2, 6, 3, 4)), order=order),
        dnn.zeros("f32", (2, 1, 3, 4)),
    )
    desc, size, one = dnn.make("ReduceTensor"), ctypes.c_size_t(), factor("f32", 1)
    dnn.call("cudnnSetReduceTensorDescriptor", desc, op, 0, 1, 1, 0)
    dnn.call("cudnnGetReductionIndicesSize", dnn.handle, desc, x.desc, y.desc, size)
    places = np.zeros(size.value // 4, np.uint32)
    dnn.call(
        "cudnnReduceTensor", dnn.handle, desc, places, size.value, None, 0, one, *x.args, factor("f32", 0), *y.args
    )
    np.testing.assert_array_equal(places.reshape(2, 3, 4), find(x.values, 1))


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("ops", [0, 1, 2], ids=["bn", "relu", "add and relu"])
@pytest.mark.parametrize("order", [None, LAST], ids=["nchw", "nhwc"])
def test_batch_normalisation(dnn, kind, mode, ops, order):
    rng = np.random.default_rng(mode + 10 * ops)
    shape, axes = (4, 6, 3, 5), (0,) if mode == 0 else (0, 2, 3)
    x, z = (dnn.tensor(kind, rng.standard_normal(shape) + 1, order=order) for _ in range(2))
    derived, wide = dnn.make("Tensor"), "f64" if kind == "f64" else "f32"
    dnn.call("cudnnDeriveBNTensorDescriptor", derived, x.desc, mode)
    few = (1, 6, 3, 5) if mode == 0 else (1, 6, 1, 1)
    scale, bias, mean, variance, saved_mean, saved_inverse, dscale, dbias = (
        dnn.tensor(wide, rng.random(few) + 0.5) for _ in range(8)
    )
    activation = dnn.make("Activation")
    dnn.call("cudnnSetActivationDescriptor", activation, 1, 0, 0.0)
    y, one, zero = dnn.zeros(kind, shape, order=order), factor(kind, 1), factor(kind, 0)
    v, m = x.values, x.values.mean(axes, keepdims=True)
    var = x.values.var(axes, keepdims=True)
    count = v.size / m.size
    normal = (v - m) / np.sqrt(var + 1e-3)
    plain = normal * scale.values + bias.values + (z.values if ops == 2 else 0)
    running = 0.75 * mean.values + 0.25 * m, 0.75 * variance.values + 0.25 * var * count / (count - 1)
    dnn.call("cudnnBatchNormalizationForwardTrainingEx", dnn.handle, mode, ops, one, zero, *x.args, *z.args, *y.args, derived, scale.memory, bias.memory,
             0.25, mean.memory, variance.memory, 1e-3, saved_mean.memory, saved_inverse.memory, activation, None, 0, None, 0)  # fmt: skip
    near(y.values, np.maximum(plain, 0) if ops else plain, kind, 60, 5)
    for found, wanted in zip(
        (mean, variance, saved_mean, saved_inverse), (*running, m, 1 / np.sqrt(var + 1e-3)), strict=True
    ):
        near(found.values, wanted, wide, 60, 20)
    # The gradients, of sums in float64.
    dy, dx, dz = (
        dnn.tensor(kind, rng.standard_normal(shape), order=order),
        dnn.zeros(kind, shape, order=order),
        dnn.zeros(kind, shape),
    )
    up = dy.values * (y.values > 0 if ops else 1)
    inverse = 1 / np.sqrt(var + 1e-3)
    wanted = (
        scale.values * inverse * (up - up.mean(axes, keepdims=True) - normal * (up * normal).mean(axes, keepdims=True))
    )
    for given in (True, False):
        statistics = (saved_mean.memory, saved_inverse.memory) if given else (None, None)
        dnn.call("cudnnBatchNormalizationBackwardEx", dnn.handle, mode, ops, one, zero, one, zero, *x.args, *y.args, *dy.args, *dz.args, *dx.args, derived,
                 scale.memory, bias.memory, dscale.memory, dbias.memory, 1e-3, *statistics, activation, None, 0, None, 0)  # fmt: skip
        near(dx.values, wanted, kind, 60, 20)
        near(dscale.values, (up * normal).sum(axes, keepdims=True), wide, 60, 100)
        near(dbias.values, up.sum(axes, keepdims=True), wide, 60, 100)
        if ops == 2:
            near(dz.values, up, kind, 2)
    if ops:
        return
    dnn.call("cudnnBatchNormalizationForwardInference", dnn.handle, mode, one, zero, *x.args, *y.args, derived, scale.memory, bias.memory, mean.memory,
             variance.memory, 1e-3)  # fmt: skip
    near(y.values, (v - mean.values) / np.sqrt(variance.values + 1e-3) * scale.values + bias.values, kind, 8, 10)


def convert(dnn, values, source, target):
    """Raw elements of one type (by number) into another, by cudnnTransformTensor."""
    made = np.zeros(values.shape, {0: np.float32, 2: np.uint16, 9: np.uint16, 12: np.uint8, 13: np.uint8}[target])
    descs = [dnn.make("Tensor") for _ in range(2)]
    for desc, kind in zip(descs, (source, target), strict=True):
        dnn.call("cudnnSetTensorNdDescriptor", desc, kind, 1, ints([values.size]), ints([1]))
    one, zero = factor("f32", 1), factor("f32", 0)
    dnn.call("cudnnTransformTensor", dnn.handle, one, descs[0], values, zero, descs[1], made)
    return made


def test_all_halves_are_read_and_written(dnn):
    every = np.arange(65536, dtype=np.uint16)
    floats = every.view(np.float16).astype(np.float32)
    np.testing.assert_array_equal(convert(dnn, every, 2, 0), floats)
    np.testing.assert_array_equal(convert(dnn, every, 9, 0), (every.astype(np.uint32) << 16).view(np.float32))
    # Numbers between halves, and in the middle of two: rounded to nearest even.
    finite = np.sort(floats[np.isfinite(floats)].astype(np.float64))
    middles = ((finite[1:] + finite[:-1]) / 2).astype(np.float32)
    bits = np.random.default_rng(0).integers(0, 2**32, 100000, dtype=np.uint64).astype(np.uint32)
    for given in (
        middles,
        np.nextafter(middles, np.float32(0)),
        np.nextafter(middles, np.float32(np.inf)),
        bits.view(np.float32),
    ):
        with np.errstate(over="ignore"):
            wanted = given.astype(np.float16)
        found = convert(dnn, given, 0, 2).view(np.float16)
        np.testing.assert_array_equal(found, wanted)
        whole = given[np.isfinite(given)]
        np.testing.assert_array_equal(convert(dnn, whole, 0, 9), encoded("bf16", whole))


@pytest.mark.parametrize(
    ("kind", "mantissa", "bias", "most"), [(12, 3, 7, 0x7E), (13, 2, 15, 0x7B)], ids=["e4m3", "e5m2"]
)
def test_all_numbers_of_eight_bits_are_read_and_written(dnn, kind, mantissa, bias, most):
    codes = np.arange(most + 1, dtype=np.uint8)
    exponent, digits = codes >> mantissa, codes & ((1 << mantissa) - 1)
    values = np.where(
        exponent,
        (1 + digits / 2**mantissa) * 2.0 ** (exponent.astype(int) - bias),
        digits / 2**mantissa * 2.0 ** (1 - bias),
    )
    np.testing.assert_array_equal(convert(dnn, codes, kind, 0), values)
    np.testing.assert_array_equal(convert(dnn, codes | np.uint8(128), kind, 0), -values)
    assert np.isnan(convert(dnn, np.array([0x7F], np.uint8), kind, 0)).all()
    middles = (values[1:] + values[:-1]) / 2
    even = codes[:-1] + (codes[:-1] & 1)
    np.testing.assert_array_equal(convert(dnn, middles.astype(np.float32), 0, kind), even)
    for away, wanted in ((-1, codes[:-1]), (1, codes[1:])):
        near_middle = np.nextafter(middles.astype(np.float32), np.float32(away * np.inf))
        np.testing.assert_array_equal(convert(dnn, near_middle, 0, kind), wanted)
    np.testing.assert_array_equal(
        convert(dnn, np.array([1e9, -1e9, np.inf], np.float32), 0, kind), [most, most | 128, most]
    )


def test_curves_are_right_to_four_units_of_the_last_place(dnn):
    x = np.concatenate([np.linspace(-110, 95, 40001), np.linspace(-1, 1, 20001), [np.inf, -np.inf, np.nan, 0.0, -0.0]])
    given, made = x.astype(np.float32), dnn.zeros("f32", (1, x.size))
    desc = dnn.make("Activation")
    source = dnn.tensor("f32", given[None])
    for mode, wanted in ((2, np.tanh(given.astype(np.float64))), (0, sigmoid(given.astype(np.float64)))):
        dnn.call("cudnnSetActivationDescriptor", desc, mode, 1, 0.0)
        dnn.call(
            "cudnnActivationForward", dnn.handle, desc, factor("f32", 1), *source.args, factor("f32", 0), *made.args
        )
        found = made.values[0]
        assert (np.isnan(found) == np.isnan(wanted)).all()
        fine = ~np.isnan(wanted) if mode == 2 else wanted > 2.0**-126  # below, the exponential is above all floats
        unit = np.spacing(np.abs(wanted[fine]).astype(np.float32)).astype(np.float64)
        assert (abs(found[fine] - wanted[fine]) / np.maximum(unit, 2.0**-149)).max() <= 4
