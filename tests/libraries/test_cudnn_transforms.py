"""cuDNN's normalisation by its later names, its foldings and paddings, and its matrix of columns, against their definitions in float64."""

import ctypes

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries.cudnn_reference import convolve, convolve_gradients, output_size
from libraries.cudnn_tensors import Dnn, factor, ints, near
from spread import properties

pytestmark = pytest.mark.native

KINDS = ["f32", "f64", "f16", "bf16"]
LAST = [0, 2, 3, 1]
BAD, NOT_SUPPORTED, SHAPE = 2000, 3000, 2008


@pytest.fixture(scope="module", autouse=True)
def dnn(library):
    global DNN  # properties take no fixtures
    DNN = Dnn(library("cudnn", "libcudnn.so.9"))
    return DNN


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", [0, 1], ids=["activation", "channel"])
@pytest.mark.parametrize("ops", [0, 1, 2], ids=["norm", "relu", "add and relu"])
@pytest.mark.parametrize("algo", [0, 1])
def test_normalisation(dnn, kind, mode, ops, algo):
    rng = np.random.default_rng(mode + 10 * ops)
    shape, axes, order = (4, 6, 3, 5), (0, 2, 3) if mode else (0,), LAST if algo else None
    few = (1, 6, 1, 1) if mode else (1, 6, 3, 5)
    x, z, dy = (dnn.tensor(kind, rng.standard_normal(shape) + 1, order=order) for _ in range(3))
    y, dx, dz = (dnn.zeros(kind, shape, order=order) for _ in range(3))
    wide = "f64" if kind == "f64" else "f32"
    parameters, statistics = dnn.make("Tensor"), dnn.make("Tensor")
    dnn.call("cudnnDeriveNormTensorDescriptor", parameters, statistics, x.desc, mode, 1)
    scale, bias, mean, variance, saved_mean, saved_inverse, dscale, dbias = (
        dnn.tensor(wide, rng.random(few) + 0.5) for _ in range(8)
    )
    activation, one, zero, two = dnn.make("Activation"), factor(kind, 1), factor(kind, 0), factor(kind, 2)
    dnn.call("cudnnSetActivationDescriptor", activation, 1, 0, 0.0)
    normal = lambda m, var: (x.values - m) / np.sqrt(var + 1e-3)  # noqa: E731
    bent = lambda v: np.maximum(v, 0) if ops else v  # noqa: E731
    behind = lambda m, var: bent(normal(m, var) * scale.values + bias.values + (z.values if ops == 2 else 0))  # noqa: E731
    dnn.call("cudnnNormalizationForwardInference", dnn.handle, mode, ops, algo, one, zero, *x.args, parameters, scale.memory, bias.memory, statistics, mean.memory,
             variance.memory, *z.args, activation, *y.args, 1e-3, 1)  # fmt: skip
    near(y.values, behind(mean.values, variance.values), kind, 60, 8)
    m, var = x.values.mean(axes, keepdims=True), x.values.var(axes, keepdims=True)
    count = x.values.size / m.size
    running = 0.75 * mean.values + 0.25 * m, 0.75 * variance.values + 0.25 * var * count / (count - 1)
    dnn.call("cudnnNormalizationForwardTraining", dnn.handle, mode, ops, algo, one, zero, *x.args, parameters, scale.memory, bias.memory, 0.25, statistics, mean.memory,
             variance.memory, 1e-3, saved_mean.memory, saved_inverse.memory, activation, *z.args, *y.args, None, 0, None, 0, 1)  # fmt: skip
    near(y.values, behind(m, var), kind, 60, 8)
    for found, wanted in zip(
        (mean, variance, saved_mean, saved_inverse), (*running, m, 1 / np.sqrt(var + 1e-3)), strict=True
    ):
        near(found.values, wanted, wide, 60, 20)
    up, n = dy.values * (y.values > 0 if ops else 1), normal(m, var)
    wanted = (
        scale.values
        / np.sqrt(var + 1e-3)
        * (up - up.mean(axes, keepdims=True) - n * (up * n).mean(axes, keepdims=True))
    )
    before = dscale.values.copy()
    dnn.call("cudnnNormalizationBackward", dnn.handle, mode, ops, algo, one, zero, two, one, *x.args, *y.args, *dy.args, *dz.args, *dx.args, parameters, scale.memory,
             bias.memory, dscale.memory, dbias.memory, 1e-3, statistics, saved_mean.memory, saved_inverse.memory, activation, None, 0, None, 0, 1)  # fmt: skip
    near(dx.values, wanted, kind, 60, 20)
    near(dscale.values, 2 * (up * n).sum(axes, keepdims=True) + before, wide, 60, 100)
    if ops == 2:
        near(dz.values, up, kind, 2)


def test_what_normalisation_needs_and_refuses(dnn):
    x, size = dnn.zeros("f32", (2, 3, 4, 5)), ctypes.c_size_t(9)
    made = [dnn.make("Tensor") for _ in range(2)]
    activation = dnn.make("Activation")
    dnn.call(
        "cudnnGetNormalizationForwardTrainingWorkspaceSize",
        dnn.handle,
        1,
        0,
        0,
        x.desc,
        None,
        x.desc,
        x.desc,
        activation,
        x.desc,
        size,
        1,
    )
    assert size.value == 0
    dnn.call(
        "cudnnGetNormalizationBackwardWorkspaceSize",
        dnn.handle,
        1,
        0,
        0,
        x.desc,
        None,
        x.desc,
        None,
        x.desc,
        x.desc,
        activation,
        x.desc,
        size,
        1,
    )
    dnn.call("cudnnGetNormalizationTrainingReserveSpaceSize", dnn.handle, 1, 0, 0, activation, x.desc, size, 1)
    assert dnn.status("cudnnDeriveNormTensorDescriptor", *made, x.desc, 2, 1) == BAD
    assert dnn.status("cudnnDeriveNormTensorDescriptor", *made, x.desc, 1, 2) == NOT_SUPPORTED


def transform(rank, before=None, after=None, folds=None, unfolds=False, last=False):
    made = DNN.make("TensorTransform")
    given = [None if v is None else ints(v) for v in (before, after, folds)]
    DNN.call("cudnnSetTensorTransformDescriptor", made, rank, int(last), *given, int(unfolds))
    return made


def fold(x, folds):
    """Space to channels, in groups that stay together."""
    n, c, *space = x.shape
    shape = [n, c]
    for size, f in zip(space, folds, strict=True):
        shape += [size // f, f]
    rank = len(space)
    x = x.reshape(shape).transpose(0, 1, *range(3, 3 + 2 * rank, 2), *range(2, 2 + 2 * rank, 2))
    return x.reshape(n, c * int(np.prod(folds)), *(size // f for size, f in zip(space, folds, strict=True)))


def pad(x, before, after):
    x = np.pad(x, [(max(b, 0), max(a, 0)) for b, a in zip(before, after, strict=True)])
    return x[tuple(slice(max(-b, 0), size - max(-a, 0)) for b, a, size in zip(before, after, x.shape, strict=True))]


@st.composite
def foldings(draw):
    space = draw(st.integers(1, 3))
    folds = draw(st.lists(st.integers(1, 3), min_size=space, max_size=space))
    pads = [draw(st.lists(st.integers(-1, 2), min_size=space + 2, max_size=space + 2)) for _ in range(2)]
    folded = draw(st.lists(st.integers(1, 3), min_size=space + 2, max_size=space + 2))
    return {"folds": folds, "pads": pads, "folded": folded, "kinds": draw(st.sampled_from([("f32", "f32"), ("f64", "f64"), ("f16", "f32"), ("f32", "bf16"), ("s8", "s8")])),
            "last": draw(st.booleans()), "beta": draw(st.sampled_from([0.0, 0.5])), "seed": draw(st.integers(0, 99))}  # fmt: skip


@properties(60, 1500, foldings())
def test_folding_and_unfolding(p):
    """From a shape that divides: padded and folded, and unfolded and padded."""
    rng, folds, (before, after) = np.random.default_rng(p["seed"]), p["folds"], p["pads"]
    rank, times = len(p["folded"]), int(np.prod(folds))
    order = [0, *range(2, rank), 1] if p["last"] else None
    whole = [p["folded"][0], p["folded"][1], *(n * f for n, f in zip(p["folded"][2:], folds, strict=True))]
    source = [n - b - a for n, b, a in zip(whole, before, after, strict=True)]  # what pads make `whole`
    spread = [n + b + a for n, b, a in zip(whole, before, after, strict=True)]
    one, beta = factor(p["kinds"][0], 1), factor(p["kinds"][1], p["beta"])
    draw = lambda shape: np.rint(rng.standard_normal(shape) * 20)  # noqa: E731
    folded_shape = (p["folded"][0], p["folded"][1] * times, *p["folded"][2:])
    for unfolds, shape, out in ((False, source, folded_shape), (True, folded_shape, spread)):
        if min(*shape, *out) < 1:
            continue
        x, y = DNN.tensor(p["kinds"][0], draw(shape)), DNN.tensor(p["kinds"][1], draw(out), order=order)
        wanted = pad(unfold(x.values, folds), before, after) if unfolds else fold(pad(x.values, before, after), folds)
        wanted = wanted + (p["beta"] * y.values if p["beta"] else 0)
        how = transform(rank, before, after, folds, unfolds, p["last"])
        DNN.call("cudnnTransformTensorEx", DNN.handle, how, one, *x.args, beta, *y.args)
        if p["kinds"][1] == "s8":
            assert (abs(y.values - np.clip(wanted, -128, 127)) <= 0.5).all()
        else:
            near(y.values, wanted, p["kinds"][1], 2)
        dest, size = DNN.make("Tensor"), ctypes.c_size_t()
        DNN.call("cudnnInitTransformDest", how, x.desc, dest, size)
        kind, count, dims, strides = ctypes.c_int(), ctypes.c_int(), (ctypes.c_int * rank)(), (ctypes.c_int * rank)()
        DNN.call("cudnnGetTensorNdDescriptor", dest, rank, kind, count, dims, strides)
        assert (count.value, tuple(dims), list(strides)) == (rank, tuple(out), y.strides)
        assert size.value == int(np.prod(out)) * x.memory.itemsize


def unfold(x, folds):
    """Back, element by element."""
    n, c, *space = x.shape
    times = int(np.prod(folds))
    out = np.zeros((n, c // times, *(s * f for s, f in zip(space, folds, strict=True))))
    for at in np.ndindex(*out.shape):
        rest = 0
        for place, f in zip(at[2:], folds, strict=True):
            rest = rest * f + place % f
        out[at] = x[(at[0], at[1] * times + rest, *(place // f for place, f in zip(at[2:], folds, strict=True)))]
    return out


def convolution_of(p):
    size = [max(n, k) for n, k in zip(p["size"], p["kernel"], strict=True)]
    return (
        (2, 2 * p["groups"], *size),
        (3 * p["groups"], 2, *p["kernel"]),
        output_size(size, p["kernel"], p["pads"], p["strides"], p["dilations"]),
    )


@st.composite
def convolutions(draw, most_dilation):
    space = draw(st.integers(1, 3))
    some = lambda low, high: draw(st.lists(st.integers(low, high), min_size=space, max_size=space))  # noqa: E731
    kernel, dilations = some(1, 3), some(1, most_dilation)
    size = [max(n, (k - 1) * d + 1) for n, k, d in zip(some(1, 7), kernel, dilations, strict=True)]
    return {"kernel": kernel, "dilations": dilations, "size": size, "strides": some(1, 3), "pads": some(0, 2), "groups": draw(st.integers(1, 2)), "seed": draw(st.integers(0, 99)),
            "last": draw(st.booleans()), "flipped": draw(st.booleans()), "kind": draw(st.sampled_from(KINDS))}  # fmt: skip


@properties(40, 800, convolutions(1))
def test_a_gradient_by_folding(p):
    """The gradient of a strided convolution as one of stride 1 of folded tensors."""
    rng, (x_shape, w_shape, out) = np.random.default_rng(p["seed"]), convolution_of(p)
    rank, one, zero = len(x_shape), factor("f32", 1), factor("f32", 0)
    w, dy, dx = (
        DNN.tensor("f32", rng.standard_normal(w_shape), filter=True),
        DNN.tensor("f32", rng.standard_normal((2, w_shape[0], *out))),
        DNN.zeros("f32", x_shape),
    )
    how = DNN.convolution(p["pads"], p["strides"], p["dilations"], groups=p["groups"])
    folded = {
        "w": DNN.make("Filter"),
        "dy": DNN.make("Tensor"),
        "how": DNN.make("Convolution"),
        "dx": DNN.make("Tensor"),
    }
    ways = [DNN.make("TensorTransform") for _ in range(4)]
    DNN.call(
        "cudnnGetFoldedConvBackwardDataDescriptors",
        DNN.handle,
        w.desc,
        dy.desc,
        how,
        dx.desc,
        int(p["last"]),
        *folded.values(),
        *ways,
    )

    def room(name, kind):
        size = ctypes.c_size_t()
        DNN.call(f"cudnnGet{kind}SizeInBytes", folded[name], size)
        return np.full(size.value // 4, np.nan, np.float32)

    w_room, dy_room, dx_room = room("w", "Filter"), room("dy", "Tensor"), room("dx", "Tensor")
    DNN.call("cudnnTransformFilter", DNN.handle, ways[0], one, *w.args, zero, folded["w"], w_room)
    DNN.call("cudnnTransformTensorEx", DNN.handle, ways[1], one, *dy.args, zero, folded["dy"], dy_room)
    DNN.call("cudnnTransformTensorEx", DNN.handle, ways[2], one, *dx.args, zero, folded["dx"], dx_room)
    assert (dx_room == 0).all()
    strides = (ctypes.c_int * (rank - 2))()
    DNN.call(
        "cudnnGetConvolutionNdDescriptor",
        folded["how"],
        rank - 2,
        ctypes.c_int(),
        (ctypes.c_int * 3)(),
        strides,
        (ctypes.c_int * 3)(),
        ctypes.c_int(),
        ctypes.c_int(),
    )
    assert set(strides) == {1}
    DNN.call(
        "cudnnConvolutionBackwardData",
        DNN.handle,
        one,
        folded["w"],
        w_room,
        folded["dy"],
        dy_room,
        folded["how"],
        0,
        None,
        0,
        zero,
        folded["dx"],
        dx_room,
    )
    DNN.call("cudnnTransformTensorEx", DNN.handle, ways[3], one, folded["dx"], dx_room, zero, *dx.args)
    wanted, _ = convolve_gradients(
        np.zeros(x_shape), w.values, dy.values, p["pads"], p["strides"], p["dilations"], p["groups"]
    )
    near(dx.values, wanted, "f32", 200, 8)


@properties(40, 800, convolutions(2))
def test_the_matrix_of_columns(p):
    """Times the filter it is the convolution."""
    if p["groups"] > 1:
        p = {**p, "groups": 1}
    rng, (x_shape, w_shape, out) = np.random.default_rng(p["seed"]), convolution_of(p)
    kind, order = p["kind"], [0, *range(2, len(x_shape)), 1] if p["last"] else None
    x, w = (
        DNN.tensor(kind, rng.standard_normal(x_shape), order=order),
        DNN.tensor("f64", rng.standard_normal(w_shape), filter=True),
    )
    described = DNN.tensor(kind, w.values, filter=True)
    how = DNN.convolution(p["pads"], p["strides"], p["dilations"], mode=0 if p["flipped"] else 1)
    columns = DNN.zeros(kind, (int(np.prod(w_shape[1:])), 2 * int(np.prod(out))))
    DNN.call("cudnnIm2Col", DNN.handle, *x.args, described.desc, how, columns.memory)
    found = (w.values.reshape(w_shape[0], -1) @ columns.values).reshape(w_shape[0], 2, *out).swapaxes(0, 1)
    filter = np.flip(w.values, tuple(range(2, w.values.ndim))) if p["flipped"] else w.values
    wanted = convolve(x.values, filter, p["pads"], p["strides"], p["dilations"])
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_transforms_tell_what_they_were_told_and_refuse_the_rest(dnn):
    made = transform(4, [0, 1, 2, 3], [1, 0, -1, 4], [2, 3], unfolds=True, last=True)
    form, before, after, folds, way = (
        ctypes.c_int(),
        (ctypes.c_int * 4)(),
        (ctypes.c_int * 4)(),
        (ctypes.c_int * 2)(),
        ctypes.c_int(),
    )
    dnn.call("cudnnGetTensorTransformDescriptor", made, 4, form, before, after, folds, way)
    assert (form.value, list(before), list(after), list(folds), way.value) == (
        1,
        [0, 1, 2, 3],
        [1, 0, -1, 4],
        [2, 3],
        1,
    )
    for rank, form, folds, way, status in [
        (2, 0, None, 0, BAD),
        (9, 0, None, 0, NOT_SUPPORTED),
        (4, 3, None, 0, BAD),
        (4, 2, None, 0, NOT_SUPPORTED),
        (4, 0, ints([0, 1]), 0, BAD),
        (4, 0, ints([1 << 16, 1 << 16]), 0, BAD),
        (5, 0, ints([1 << 30, 1 << 30, 1 << 4]), 1, BAD),
        (4, 0, None, 2, BAD),
    ]:
        assert dnn.status("cudnnSetTensorTransformDescriptor", made, rank, form, None, None, folds, way) == status
    x, y, size = dnn.zeros("f32", (1, 2, 3, 4)), dnn.zeros("f32", (1, 4, 3, 2)), ctypes.c_size_t()
    one = factor("f32", 1)
    assert (
        dnn.status("cudnnInitTransformDest", transform(4, folds=[2, 1]), x.desc, y.desc, size) == SHAPE
    )  # 3 is no multiple of 2
    assert dnn.status("cudnnInitTransformDest", transform(4, folds=[3, 1], unfolds=True), x.desc, y.desc, size) == SHAPE
    assert dnn.status("cudnnTransformTensorEx", dnn.handle, transform(4), one, *x.args, one, *y.args) == SHAPE
    assert (
        dnn.status("cudnnTransformTensorEx", dnn.handle, dnn.make("TensorTransform"), one, *x.args, one, *y.args) == BAD
    )
    dnn.call("cudnnTransformTensorEx", dnn.handle, transform(4, folds=[1, 2]), one, *x.args, one, *y.args)
    w, how = dnn.tensor("f32", np.zeros((2, 2, 2, 2)), filter=True), dnn.convolution([0, 0], [2, 2], [1, 1], mode=0)
    rest = [dnn.make(n) for n in ("Filter", "Tensor", "Convolution", "Tensor", *["TensorTransform"] * 4)]
    dy, dx = dnn.zeros("f32", (1, 2, 1, 2)), dnn.zeros("f32", (1, 2, 3, 4))
    assert (
        dnn.status("cudnnGetFoldedConvBackwardDataDescriptors", dnn.handle, w.desc, dy.desc, how, dx.desc, 0, *rest)
        == NOT_SUPPORTED
    )
