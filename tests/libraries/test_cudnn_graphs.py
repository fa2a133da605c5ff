"""Graphs of cuDNN's backend interface against numpy in float64."""

import ctypes
import math

import numpy as np
import pytest

from libraries.cudnn_graphs import CHAR, DESCRIPTOR, INT64, Graph
from libraries.cudnn_reference import convolve, convolve_gradients, pool, pool_gradient, sigmoid
from libraries.cudnn_tensors import Dnn, encoded, near

pytestmark = pytest.mark.native

LAST = (0, 2, 3, 1)
SHAPE = (2, 6, 5, 7)
erf = np.vectorize(math.erf)


@pytest.fixture(scope="module")
def dnn(library):
    return Dnn(library("cudnn", "libcudnn.so.9"))


@pytest.fixture
def graph(dnn):
    made = Graph(dnn)
    yield made
    made.close()


def draw(shape=SHAPE, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def gelu(x):
    return 0.5 * x * (1 + erf(x / np.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


ONE = {
    "ABS": abs, "CEIL": np.ceil, "COS": np.cos, "EXP": np.exp, "FLOOR": np.floor, "LOG": lambda x: np.log(abs(x)), "NEG": np.negative,
    "RSQRT": lambda x: 1 / np.sqrt(abs(x)), "SIN": np.sin, "SQRT": lambda x: np.sqrt(abs(x)), "TAN": np.tan, "ERF": erf, "IDENTITY": lambda x: x,
    "RECIPROCAL": lambda x: 1 / x, "LOGICAL_NOT": lambda x: x == 0, "RELU_FWD": lambda x: np.maximum(x, 0), "TANH_FWD": np.tanh, "SIGMOID_FWD": sigmoid,
    "ELU_FWD": lambda x: np.where(x > 0, x, np.expm1(x)), "GELU_FWD": gelu, "GELU_APPROX_TANH_FWD": gelu_tanh,
    "SOFTPLUS_FWD": lambda x: np.log1p(np.exp(x)), "SWISH_FWD": lambda x: x * sigmoid(x),
}  # fmt: skip
TWO = {
    "ADD": np.add, "ADD_SQUARE": lambda x, b: x + b * b, "DIV": np.divide, "MAX": np.maximum, "MIN": np.minimum, "MOD": np.fmod, "MUL": np.multiply,
    "POW": lambda x, b: abs(x) ** b, "SUB": np.subtract, "ATAN2": np.arctan2, "FLOOR_MOD": lambda x, b: x - np.floor(x / b) * b, "CMP_EQ": np.equal,
    "CMP_NEQ": np.not_equal, "CMP_GT": np.greater, "CMP_GE": np.greater_equal, "CMP_LT": np.less, "CMP_LE": np.less_equal,
    "LOGICAL_AND": np.logical_and, "LOGICAL_OR": np.logical_or,
}  # fmt: skip
SLOPES = {
    "RELU_BWD": (lambda x: np.maximum(x, 0), {}), "TANH_BWD": (np.tanh, {}), "SIGMOID_BWD": (sigmoid, {}), "GELU_BWD": (gelu, {}), "GELU_APPROX_TANH_BWD": (gelu_tanh, {}),
    "ELU_BWD": (lambda x: np.where(x > 0, x, 0.5 * np.expm1(x)), {"ELU_ALPHA": 0.5}), "SOFTPLUS_BWD": (lambda x: np.log1p(np.exp(2 * x)) / 2, {"SOFTPLUS_BETA": 2.0}),
    "SWISH_BWD": (lambda x: x * sigmoid(2 * x), {"SWISH_BETA": 2.0}),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["f32", "f16", "f64"])
@pytest.mark.parametrize("mode", ONE)
def test_pointwise_of_one_tensor(graph, mode, kind):
    x = draw()
    x = (
        abs(x) + 0.1
        if mode in ("LOG", "RSQRT", "SQRT")
        else np.where(abs(x) < 0.05, 0 if mode == "LOGICAL_NOT" else 0.5, x)
    )
    a = graph.tensor(None, x, kind, order=LAST)
    y = graph.pointwise(mode, a, out=graph.tensor(SHAPE, kind=kind, out=True))
    near(graph.run(y), ONE[mode](graph.values(a)), kind, 30)


@pytest.mark.parametrize("small", [SHAPE, (1, 6, 1, 1), (1, 1, 1, 1), (2, 1, 5, 1)])
@pytest.mark.parametrize("mode", TWO)
def test_pointwise_of_two_tensors(graph, mode, small):
    rng = np.random.default_rng(1)
    pick = [0.0, 0.5, 1.0, -1.5] if mode.startswith(("CMP", "LOGICAL")) else [0.5, 1.0, -1.5, 2.25]
    x, b = rng.choice(pick, SHAPE), rng.choice(pick, small)
    x = abs(x) if mode == "POW" else x
    a, c = graph.tensor(None, x), graph.tensor(None, b)
    y = graph.pointwise(mode, a, c, out=graph.tensor(SHAPE, out=True, order=LAST))
    near(graph.run(y), TWO[mode](x, b).astype(float), "f32", 8)


@pytest.mark.parametrize("mode", SLOPES)
def test_slopes(graph, mode):
    curve, numbers = SLOPES[mode]
    x, dy = draw(seed=1), draw(seed=2)
    a, up = graph.tensor(None, x, "f64"), graph.tensor(None, dy, "f64")
    dx = graph.pointwise(mode, a, up, out=graph.tensor(SHAPE, kind="f64", out=True), backward=True, **numbers)
    np.testing.assert_allclose(graph.run(dx), dy * (curve(x + 1e-6) - curve(x - 1e-6)) / 2e-6, rtol=1e-6, atol=1e-7)


def test_relu_with_bounds_and_a_slope(graph):
    x = draw() * 3
    a = graph.tensor(None, x)
    y = graph.pointwise(
        "RELU_FWD",
        a,
        out=graph.tensor(SHAPE, out=True),
        RELU_LOWER_CLIP=-0.5,
        RELU_UPPER_CLIP=2.0,
        RELU_LOWER_CLIP_SLOPE=0.25,
    )
    near(graph.run(y), np.where(x > 2, 2, np.where(x > -0.5, x, -0.5 + 0.25 * (x + 0.5))), "f32", 4)


def test_factors_select_and_index(graph):
    x, b = draw(), draw(seed=1)
    a, c = graph.tensor(None, x), graph.tensor(None, b)
    scaled = graph.pointwise("ADD", a, c, alpha1=2.0, alpha2=-0.5)
    index = graph.pointwise("GEN_INDEX", a, shape=SHAPE, AXIS=3)
    mask = graph.pointwise("CMP_LT", index, graph.scalar(3.0))
    y = graph.pointwise("BINARY_SELECT", scaled, c, mask, out=graph.tensor(SHAPE, out=True))
    near(graph.run(y), np.where(np.arange(7) < 3, 2 * x - 0.5 * b, b), "f32", 4)


def test_a_summand_times_nothing_needs_no_memory(graph):
    x = draw()
    a, absent = graph.tensor(None, x), graph.tensor(None, np.full(SHAPE, np.nan))
    y = graph.pointwise("ADD", a, absent, alpha1=3.0, alpha2=0.0, out=graph.tensor(SHAPE, out=True))
    del graph.data[absent[2]]
    near(graph.run(y), 3 * x, "f32", 4)


@pytest.mark.parametrize("op", ["ADD", "MAX", "MIN", "AVG", "NORM2", "AMAX", "MUL"])
@pytest.mark.parametrize("to", [(2, 6, 5, 1), (1, 6, 1, 1), (1, 1, 1, 1)])
def test_a_reduction_behind_a_pointwise_operation(graph, op, to):
    x = draw() if op != "MUL" else np.random.default_rng(0).choice([1, -1, 1.25, 0.8], SHAPE)
    axes = tuple(i for i in range(4) if to[i] == 1)
    a = graph.pointwise("ABS", graph.tensor(None, x))
    y = graph.reduction(op, a, to, graph.tensor(to, out=True))
    wanted = {"ADD": np.sum, "MAX": np.max, "MIN": np.min, "AVG": np.mean, "AMAX": np.max, "MUL": np.prod,
              "NORM2": lambda v, a, keepdims: np.sqrt((v**2).sum(a, keepdims=keepdims))}[op](abs(x), axes, keepdims=True)  # fmt: skip
    near(graph.run(y), wanted, "f32", 60)


@pytest.mark.parametrize("padding", [None, -3.0])
def test_products_whose_sizes_each_batch_overrides(graph, padding):
    """What lies outside of the sizes is read no more, and is the padding value in the result."""
    m, n, k = np.array([5, 2, 0]), np.array([3, 7, 4]), np.array([6, 0, 2])
    x, y = draw((3, 4, 5, 6)), draw((3, 2, 6, 7), seed=1)
    wanted = np.full((3, 4, 5, 7), padding or 0.0)
    for i in range(3):
        x[i, :, :, k[i] :], x[i, :, m[i] :] = np.nan, np.nan
        y[i, :, k[i] :], y[i, :, :, n[i] :] = np.nan, np.nan
        part = x[i, :, : m[i], : k[i]] @ np.repeat(y[i, :, : k[i], : n[i]], 2, axis=0)
        wanted[i, :, : m[i], : n[i]] = part
    sizes = {
        f"GEMM_{name}_OVERRIDE_DESC": graph.tensor(None, v.reshape(3, 1, 1, 1), "s32")
        for name, v in zip("MNK", (m, n, k), strict=True)
    }
    given = {} if padding is None else {"PADDING_VALUE": padding}
    what = graph.descriptor("MATMUL", "MATMUL", COMP_TYPE=0, **given)
    out = graph.tensor((3, 4, 5, 7), out=True)
    graph.operation("MATMUL", ADESC=graph.tensor(None, x), BDESC=graph.tensor(None, y), CDESC=out, DESC=what, **sizes)
    near(graph.run(out), wanted, "f32", 12)


@pytest.mark.parametrize(("op", "wanted"), [("ADD", np.sum), ("AVG", np.mean), ("MAX", np.max)])
def test_a_reduction_keeps_a_part_of_a_dimension(graph, op, wanted):
    """Neighbours become one, as heads of queries that share a key do in gradients of attention."""
    x = draw((2, 6, 5, 8))
    a = graph.pointwise("IDENTITY", graph.tensor(None, x))
    y = graph.reduction(op, a, (2, 2, 5, 4), graph.tensor((2, 2, 5, 4), out=True, strides=(40, 4, 8, 1)))
    near(graph.run(y), wanted(x.reshape(2, 2, 3, 5, 4, 2), axis=(2, 5)), "f32", 8)


def test_a_reduction_must_keep_whole_parts(graph):
    a = graph.pointwise("IDENTITY", graph.tensor(None, draw((2, 6, 5, 8))))
    graph.reduction("ADD", a, (2, 4, 5, 8), graph.tensor((2, 4, 5, 8), out=True))
    with pytest.raises(AssertionError, match="2008"):
        graph.plan()


@pytest.mark.parametrize("kind", ["f32", "bf16", "f64", "s8"])
@pytest.mark.parametrize(
    "orders",
    [((0, 1, 2, 3),) * 3, ((0, 1, 3, 2), (0, 1, 2, 3), (0, 1, 3, 2)), ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3))],
)
@pytest.mark.parametrize("batch", [((2, 4), (2, 4)), ((2, 4), (1, 1)), ((2, 4), (2, 2))])
def test_products_of_matrices(graph, kind, orders, batch):
    rng = np.random.default_rng(3)
    pick = (lambda shape: rng.integers(-128, 128, shape)) if kind == "s8" else rng.standard_normal
    a, b = pick((*batch[0], 300, 11)), pick((*batch[1], 11, 6))
    x, y = graph.tensor(None, a, kind, order=orders[0]), graph.tensor(None, b, kind, order=orders[1])
    out = "s32" if kind == "s8" else kind
    c = graph.matmul(
        x,
        y,
        graph.tensor((2, 4, 300, 6), kind=out, out=True, order=orders[2]),
        compute={"f64": 1, "s8": 4}.get(kind, 0),
    )
    repeated = np.repeat(np.repeat(graph.values(y), 2 // batch[1][0], 0), 4 // batch[1][1], 1)
    near(graph.run(c), graph.values(x) @ repeated, out, 11, np.abs(graph.values(x)) @ np.abs(repeated))


@pytest.mark.parametrize("order", [None, LAST], ids=["nchw", "nhwc"])
@pytest.mark.parametrize("kind", ["f32", "f16"])
def test_convolution_scale_bias_add_relu(graph, kind, order):
    x, w, z = draw((2, 4, 8, 9)), draw((6, 4, 3, 3), 1) / 6, draw((2, 6, 4, 9), 2)
    scale, bias = draw((1, 6, 1, 1), 3), draw((1, 6, 1, 1), 4)
    X, W, Z = (graph.tensor(None, v, kind, order=order) for v in (x, w, z))
    y = graph.tensor(z.shape, order=order)
    graph.convolution("FORWARD", [1, 1], [2, 1], [1, 1], X=X, W=W, Y=y)
    y = graph.pointwise("MUL", y, graph.tensor(None, scale))
    y = graph.pointwise("ADD", y, graph.tensor(None, bias))
    y = graph.pointwise("ADD", y, Z)
    y = graph.pointwise("RELU_FWD", y, out=graph.tensor(z.shape, kind=kind, out=True, order=order))
    found = graph.run(y)
    plain = convolve(graph.values(X), graph.values(W), [1, 1], [2, 1], [1, 1])
    near(found, np.maximum(plain * encoded("f32", scale) + encoded("f32", bias) + graph.values(Z), 0), kind, 40, 5)


@pytest.mark.parametrize("order", [None, LAST], ids=["nchw", "nhwc"])
@pytest.mark.parametrize("kind", ["f32", "bf16"])
@pytest.mark.parametrize(
    "chain", ["bias", "bound", "bias bound", "nothing bias bound", "bias bias", "bound bias", "kept bias bound", "bias twice"]
)  # fmt: skip
def test_convolutions_with_what_follows_them(graph, chain, kind, order):
    shape = (2, 20, 8, 7)
    x, w = (
        graph.tensor(None, draw((2, 9, 8, 7)), kind, order=order),
        graph.tensor(None, draw((20, 9, 3, 3), 1), kind, order=order),
    )
    steps = chain.split()
    kept = graph.tensor(shape, order=order, out="kept" in steps)
    graph.convolution("FORWARD", [1, 1], [1, 1], [1, 1], X=x, W=w, Y=kept)
    wanted = plain = convolve(graph.values(x), graph.values(w), [1, 1], [1, 1], [1, 1])
    y, work = kept, [step for step in steps if step != "kept"]
    for number, step in enumerate(work):
        out = graph.tensor(shape, order=order, out=True, kind=kind) if number == len(work) - 1 else None
        if step == "bias":
            bias = graph.tensor(None, draw((1, 20, 1, 1), 2 + number))
            y, wanted = (
                graph.pointwise("ADD", *((bias, y) if number else (y, bias)), out=out),
                wanted + graph.values(bias),
            )
        elif step == "nothing":
            absent = graph.tensor(None, np.full(shape, np.nan))
            y = graph.pointwise("ADD", y, absent, alpha2=0.0, out=out)
            del graph.data[absent[2]]
        elif step == "twice":
            y, wanted = graph.pointwise("MUL", y, kept, out=out), wanted * plain
        else:
            y, wanted = graph.pointwise("RELU_FWD", y, out=out, RELU_LOWER_CLIP=-2.0), np.maximum(wanted, -2)
    found, sizes = graph.run(y), abs(wanted) + 81 * (abs(plain) + 1 if "twice" in steps else 1)
    near(found, wanted, kind, 81, sizes)
    if "kept" in steps:
        near(graph.values(kept), plain, "f32", 81, 81)


def test_convolutions_backward_and_pads_that_differ(graph):
    x, w = draw((2, 4, 7, 6)), draw((6, 2, 3, 2), 1)
    wide = np.pad(x, ((0, 0), (0, 0), (1, 2), (0, 1)))
    dy = draw((2, 6, 8, 6), 2)
    X, W, DY = graph.tensor(None, x), graph.tensor(None, w), graph.tensor(None, dy)
    y, dx, dw = graph.tensor(dy.shape, out=True), graph.tensor(x.shape, out=True), graph.tensor(w.shape, out=True)
    geometry = [1, 0], [1, 1], [1, 1]
    graph.convolution("FORWARD", *geometry, post=[2, 1], X=X, W=W, Y=y)
    graph.convolution("BWD_DATA", *geometry, post=[2, 1], DY=DY, W=W, DX=dx)
    graph.convolution("BWD_FILTER", *geometry, post=[2, 1], DY=DY, X=X, DW=dw)
    found = graph.run(y, dx, dw)
    none = [0, 0], [1, 1], [1, 1], 2
    near(found[0], convolve(wide, w, *none), "f32", 24)
    wanted = convolve_gradients(wide, w, dy, *none)
    near(found[1], wanted[0][:, :, 1:8, :6], "f32", 24)
    near(found[2], wanted[1], "f32", 200)


@pytest.mark.parametrize(("mode", "name"), [(3, "max"), (2, "include"), (4, "exclude")])
def test_resample(graph, mode, name):
    x = np.random.default_rng(5).permutation(2 * 3 * 6 * 7).reshape(2, 3, 6, 7) / 100
    geometry = [3, 2], [1, 0], [2, 1]
    wanted, _ = pool(x, name, *geometry)
    dy = draw(wanted.shape)
    what = graph.descriptor("RESAMPLE", "RESAMPLE", MODE=mode, COMP_TYPE=0, SPATIAL_DIMS=2, WINDOW_DIMS=[3, 2], PRE_PADDINGS=[1, 0], POST_PADDINGS=[1, 0], STRIDES=[2, 1],
                            PADDING_MODE=1 if name == "max" else 0)  # fmt: skip
    X, DY, y, dx = (
        graph.tensor(None, x),
        graph.tensor(None, dy),
        graph.tensor(wanted.shape, out=True, order=LAST),
        graph.tensor(x.shape, out=True),
    )
    index = {"IDXDESC": graph.tensor(wanted.shape, kind="s8", out=True)} if name == "max" else {}
    graph.operation("RESAMPLE_FWD", DESC=what, XDESC=X, YDESC=y, **index)
    graph.operation("RESAMPLE_BWD", DESC=what, DYDESC=DY, DXDESC=dx, **index)
    found = graph.run(y, dx)
    near(found[0], wanted, "f32", 8)
    near(found[1], pool_gradient(x, dy, name, *geometry), "f32", 8)


NORMS = {
    "layer": (0, (1, 6, 5, 7), (1, 2, 3)),
    "instance": (1, (1, 6, 1, 1), (2, 3)),
    "batch": (2, (1, 6, 1, 1), (0, 2, 3)),
    "rms": (4, (1, 6, 5, 7), (1, 2, 3)),
}


@pytest.mark.parametrize("order", [None, LAST], ids=["nchw", "nhwc"])
@pytest.mark.parametrize("name", NORMS)
def test_norms_forward_and_backward(graph, name, order):
    mode, few, axes = NORMS[name]
    x, dy, scale, bias = draw(), draw(seed=1), draw(few, 2), draw(few, 3)
    centre = x.mean(axes, keepdims=True) if name != "rms" else np.zeros_like(x.mean(axes, keepdims=True))
    inverse = 1 / np.sqrt(((x - centre) ** 2).mean(axes, keepdims=True) + 1e-3)
    normal = (x - centre) * inverse
    X, DY, S, epsilon = (
        graph.tensor(None, x, order=order),
        graph.tensor(None, dy, order=order),
        graph.tensor(None, scale),
        graph.scalar(1e-3),
    )
    y, dx = graph.tensor(SHAPE, out=True, order=order), graph.tensor(SHAPE, out=True)
    mean, inv = graph.tensor(centre.shape, out=True), graph.tensor(centre.shape, out=True)
    more = {} if name == "rms" else {"MEAN_DESC": mean, "BIAS_DESC": graph.tensor(None, bias)}
    graph.operation(
        "NORM_FORWARD",
        "NORM_FWD",
        MODE=mode,
        PHASE=1,
        XDESC=X,
        SCALE_DESC=S,
        EPSILON_DESC=epsilon,
        INV_VARIANCE_DESC=inv,
        YDESC=y,
        **more,
    )
    more = {} if name == "rms" else {"MEAN_DESC": mean}
    ds, db = graph.tensor(few, out=True), graph.tensor(few, out=True)
    graph.operation(
        "NORM_BACKWARD",
        "NORM_BWD",
        MODE=mode,
        XDESC=X,
        DYDESC=DY,
        SCALE_DESC=S,
        INV_VARIANCE_DESC=inv,
        DSCALE_DESC=ds,
        DBIAS_DESC=db,
        DXDESC=dx,
        **more,
    )
    found = graph.run(y, inv, dx, ds, db)
    near(found[0], normal * scale + (bias if name != "rms" else 0), "f32", 60, 10)
    near(found[1], inverse, "f32", 210, 2)
    g = dy * scale
    wanted = inverse * (
        g - (g.mean(axes, keepdims=True) if name != "rms" else 0) - normal * (g * normal).mean(axes, keepdims=True)
    )
    near(found[2], wanted, "f32", 60, 10)
    reduced = tuple(i for i in range(4) if few[i] == 1)
    near(found[3], (dy * normal).sum(reduced, keepdims=True), "f32", 60, 50)
    near(found[4], dy.sum(reduced, keepdims=True), "f32", 60, 50)


def test_running_statistics_and_inference(graph, dnn):
    x, scale, bias, old = draw(), draw((1, 6, 1, 1), 1), draw((1, 6, 1, 1), 2), abs(draw((1, 6, 1, 1), 3))
    X, S, B, M, V = graph.tensor(None, x), *(graph.tensor(None, v) for v in (scale, bias, old, old))
    y, new_mean, new_var = (
        graph.tensor(SHAPE, out=True),
        graph.tensor(old.shape, out=True),
        graph.tensor(old.shape, out=True),
    )
    mean, inv = graph.tensor(old.shape, out=True), graph.tensor(old.shape, out=True)
    graph.operation("NORM_FORWARD", "NORM_FWD", MODE=2, PHASE=1, XDESC=X, SCALE_DESC=S, BIAS_DESC=B, EPSILON_DESC=graph.scalar(1e-5), EXP_AVG_FACTOR_DESC=graph.scalar(0.1),
                    INPUT_RUNNING_MEAN_DESC=M, INPUT_RUNNING_VAR_DESC=V, OUTPUT_RUNNING_MEAN_DESC=new_mean, OUTPUT_RUNNING_VAR_DESC=new_var, MEAN_DESC=mean,
                    INV_VARIANCE_DESC=inv, YDESC=y)  # fmt: skip
    found = graph.run(new_mean, new_var)
    near(found[0], 0.9 * old + 0.1 * x.mean((0, 2, 3), keepdims=True), "f32", 70)
    near(found[1], 0.9 * old + 0.1 * x.var((0, 2, 3), keepdims=True, ddof=1), "f32", 70)
    other = Graph(dnn)
    X, S, B, M, I = (other.tensor(None, v) for v in (x, scale, bias, old, old))
    y = other.tensor(SHAPE, out=True)
    other.operation(
        "NORM_FORWARD",
        "NORM_FWD",
        MODE=2,
        PHASE=0,
        XDESC=X,
        SCALE_DESC=S,
        BIAS_DESC=B,
        MEAN_DESC=M,
        INV_VARIANCE_DESC=I,
        YDESC=y,
    )
    near(other.run(y), (x - old) * old * scale + bias, "f32", 8, 20)
    other.close()


def test_statistics_and_their_finish(graph):
    x, scale, bias = draw(), draw((1, 6, 1, 1), 1), draw((1, 6, 1, 1), 2)
    shape = scale.shape
    total, squares = graph.tensor(shape), graph.tensor(shape)
    graph.operation(
        "GEN_STATS",
        "GENSTATS",
        MODE=0,
        MATH_PREC=0,
        XDESC=graph.tensor(None, x, order=LAST),
        SUMDESC=total,
        SQSUMDESC=squares,
    )
    out = {
        n: graph.tensor(shape, out=True)
        for n in ("SAVED_MEAN_DESC", "SAVED_INV_STD_DESC", "EQ_SCALE_DESC", "EQ_BIAS_DESC")
    }
    graph.operation("BN_FINALIZE_STATISTICS", "BN_FINALIZE", MATH_PREC=0, STATS_MODE=0, Y_SUM_DESC=total, Y_SQ_SUM_DESC=squares, SCALE_DESC=graph.tensor(None, scale),
                    BIAS_DESC=graph.tensor(None, bias), EPSILON_DESC=graph.scalar(1e-3), ACCUM_COUNT_DESC=graph.scalar(70, "s64"), **out)  # fmt: skip
    mean, inverse = x.mean((0, 2, 3), keepdims=True), 1 / np.sqrt(x.var((0, 2, 3), keepdims=True) + 1e-3)
    for found, wanted in zip(
        graph.run(*out.values()), (mean, inverse, scale * inverse, bias - mean * scale * inverse), strict=True
    ):
        near(found, wanted, "f32", 100, 4)


def test_the_weights_of_batch_normalisation_backward(graph):
    x, dy, scale = draw(), draw(seed=1), draw((1, 6, 1, 1), 2)
    axes, shape = (0, 2, 3), (1, 6, 1, 1)
    mean, inverse = x.mean(axes, keepdims=True), 1 / np.sqrt(x.var(axes, keepdims=True))
    X, DY = graph.tensor(None, x), graph.tensor(None, dy)
    out = {n: graph.tensor(shape) for n in ("EQ_DY_SCALE_DESC", "EQ_X_SCALE_DESC", "EQ_BIAS")}
    ds, db = graph.tensor(shape, out=True), graph.tensor(shape, out=True)
    graph.operation("BN_BWD_WEIGHTS", MATH_PREC=0, MEAN_DESC=graph.tensor(None, mean), INVSTD_DESC=graph.tensor(None, inverse), BN_SCALE_DESC=graph.tensor(None, scale),
                    X_DESC=X, DY_DESC=DY, DBN_SCALE_DESC=ds, DBN_BIAS_DESC=db, **out)  # fmt: skip
    a, b, k = out.values()
    dx = graph.pointwise(
        "ADD",
        graph.pointwise("ADD", graph.pointwise("MUL", DY, a), graph.pointwise("MUL", X, b)),
        k,
        out=graph.tensor(SHAPE, out=True),
    )
    found = graph.run(dx, ds, db)
    normal = (x - mean) * inverse
    near(
        found[0],
        scale * inverse * (dy - dy.mean(axes, keepdims=True) - normal * (dy * normal).mean(axes, keepdims=True)),
        "f32",
        70,
        10,
    )
    near(found[1], (dy * normal).sum(axes, keepdims=True), "f32", 70, 50)
    near(found[2], dy.sum(axes, keepdims=True), "f32", 70, 50)


def test_views_transposes_slices_and_concatenations(graph):
    x, z = draw((2, 3, 4, 5)), draw((2, 3, 2, 4), 1)
    X = graph.tensor(None, x)
    seen = graph.tensor((2, 3, 5, 4), strides=[60, 20, 1, 5])  # the memory of X, rows as columns
    graph.operation("RESHAPE", XDESC=X, YDESC=seen)
    part = graph.tensor((2, 3, 3, 4))
    graph.operation(
        "SLICE", XDESC=seen, YDESC=part, START_INDICES=[0, 0, 0, 0], LIMIT_INDICES=[2, 3, 5, 4], STRIDES=[1, 1, 2, 1]
    )
    joined = graph.tensor((2, 3, 5, 4))
    graph.operation("CONCAT", AXIS=2, INPUT_DESCS=[part, graph.tensor(None, z)], OUTPUT_DESC=joined)
    turned = graph.tensor((3, 2, 4, 5), out=True)
    graph.operation("TRANSPOSE", XDESC=joined, YDESC=turned, PERMUTATION=[1, 0, 3, 2])
    flat = graph.tensor((6, 20, 1, 1), out=True)
    graph.operation("RESHAPE", XDESC=joined, YDESC=flat, MODE=1)
    found = graph.run(turned, flat)
    wanted = np.concatenate([np.swapaxes(x, 2, 3)[:, :, ::2], z], 2).astype(np.float32)
    np.testing.assert_array_equal(found[0], wanted.transpose(1, 0, 3, 2))
    np.testing.assert_array_equal(found[1], wanted.reshape(6, 20, 1, 1))


@pytest.mark.parametrize(("kind", "numbers", "mean", "spread"), [(0, {"BERNOULLI_DIST_PROBABILITY": 0.3}, 0.3, 0.3 * 0.7), (1, {"UNIFORM_DIST_MINIMUM": -1.0, "UNIFORM_DIST_MAXIMUM": 3.0}, 1, 16 / 12),
                                                                 (2, {"NORMAL_DIST_MEAN": 2.0, "NORMAL_DIST_STANDARD_DEVIATION": 0.5}, 2, 0.25)])  # fmt: skip
def test_random_numbers(dnn, kind, numbers, mean, spread):
    def drawn(seed):
        graph = Graph(dnn)
        y = graph.tensor((4, 5, 50, 50), out=True)
        what = graph.descriptor("RNG", "RNG", DISTRIBUTION=kind, **numbers)
        number = graph.scalar(0, "s64")
        graph.data[number[2]][...] = seed  # a float64 would not hold it
        desc = graph.create("OPERATION_RNG")
        graph.set(desc, "OPERATION_RNG_YDESC", y[0], DESCRIPTOR)
        graph.set(desc, "OPERATION_RNG_DESC", what, DESCRIPTOR)
        graph.set(desc, "OPERATION_RNG_SEED", number[0], DESCRIPTOR)
        graph.operations.append(graph.finalize(desc))
        return graph.run(y)

    first, same, other = drawn(2**60 + 1), drawn(2**60 + 1), drawn(2**60 + 2)
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()
    assert abs(first.mean() - mean) < 0.03
    assert abs(first.var() - spread) < 0.03 * max(1, spread)


def attention(q, k, v, scale, mask):
    s = np.where(mask, np.einsum("bhsd,bhtd->bhst", q, k) * scale, -np.inf)
    most = s.max(-1, keepdims=True)
    p = np.exp(s - most)
    total = p.sum(-1, keepdims=True)
    return p / total @ v, most + np.log(total), p / total


@pytest.mark.parametrize("kind", ["f32", "bf16"])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_forward(graph, kind, causal):
    q, k, v = draw((2, 4, 9, 16)), draw((2, 2, 9, 16), 1), draw((2, 2, 9, 16), 2)
    shape = (2, 4, 9, 9)
    Q, V = graph.tensor(None, q, kind, order=(0, 2, 1, 3)), graph.tensor(None, v, kind, order=(0, 2, 1, 3))
    K = graph.tensor(None, np.swapaxes(k, 2, 3), kind, order=(0, 3, 1, 2))
    s = graph.pointwise("MUL", graph.matmul(Q, K), graph.scalar(0.25))
    if causal:
        row, column = (graph.pointwise("GEN_INDEX", s, shape=shape, AXIS=axis) for axis in (2, 3))
        s = graph.pointwise("BINARY_SELECT", s, graph.scalar(-np.inf), graph.pointwise("CMP_GE", row, column))
    most = graph.reduction("MAX", s, (2, 4, 9, 1))
    e = graph.pointwise("EXP", graph.pointwise("SUB", s, most))
    total = graph.reduction("ADD", e, (2, 4, 9, 1))
    stats = graph.pointwise("ADD", graph.pointwise("LOG", total), most, out=graph.tensor((2, 4, 9, 1), out=True))
    out = graph.matmul(
        graph.pointwise("DIV", e, total), V, graph.tensor(q.shape, kind=kind, out=True, order=(0, 2, 1, 3))
    )
    found = graph.run(out, stats)
    mask = np.tri(9, dtype=bool) if causal else np.ones((9, 9), bool)
    spread = lambda t: np.repeat(graph.values(t), 2, 1)  # noqa: E731
    o, lse, _ = attention(graph.values(Q), np.swapaxes(spread(K), 2, 3), spread(V), 0.25, mask)
    near(found[0], o, kind, 40, 3)
    near(found[1], lse, "f32", 40, 5)


def test_attention_backward(graph):
    q, k, v, do = (draw((1, 2, 6, 8), i) for i in range(4))
    o, lse, p = attention(q, k, v, 0.3, np.ones((6, 6), bool))
    shape = (1, 2, 6, 6)
    turn = (0, 1, 3, 2)
    Q, K, V, DO, O = (graph.tensor(None, t) for t in (q, k, v, do, o))
    S = graph.tensor(None, lse)

    def transposed(t, dims):
        view = graph.tensor(dims, strides=[t[4][i] for i in turn])
        graph.operation("RESHAPE", XDESC=t, YDESC=view)
        return view

    s = graph.pointwise("MUL", graph.matmul(Q, transposed(K, (1, 2, 8, 6))), graph.scalar(0.3))
    P = graph.pointwise("EXP", graph.pointwise("SUB", s, S))
    dv = graph.matmul(transposed(P, shape), DO, graph.tensor(q.shape, out=True))
    dp = graph.matmul(DO, transposed(V, (1, 2, 8, 6)))
    delta = graph.reduction("ADD", graph.pointwise("MUL", DO, O), (1, 2, 6, 1))
    ds = graph.pointwise("MUL", graph.pointwise("MUL", graph.pointwise("SUB", dp, delta), P), graph.scalar(0.3))
    dq = graph.matmul(ds, K, graph.tensor(q.shape, out=True))
    dk = graph.matmul(transposed(ds, shape), Q, graph.tensor(q.shape, out=True))
    found = graph.run(dq, dk, dv)
    t = lambda m: np.swapaxes(m, 2, 3)  # noqa: E731
    slope = p * (do @ t(v) - (do * o).sum(-1, keepdims=True)) * 0.3
    for one, wanted in zip(found, (slope @ k, t(slope) @ q, t(p) @ do), strict=True):
        near(one, wanted, "f32", 40, 10)


def band(graph, x, y, mode, left=None, right=None, lengths=None):
    """A mask whose fill is minus infinity."""
    desc = graph.create("OPERATION_DIAGONAL_BAND_MASK")
    fill = graph.tensor((1,) * len(x[1]), np.full((1,) * len(x[1]), -np.inf), by_value=True)
    ends = {"XDESC": x, "YDESC": y, "BDESC": fill}
    for name, value in (("LEFT_BOUND_DESC", left), ("SHIFT_RIGHT_BOUND_DESC", right)):
        if value is not None:
            ends[name] = graph.tensor((1, 1, 1, 1), np.full((1, 1, 1, 1), value), "s32", by_value=True)
    if lengths is not None:
        ends.update(zip(("SEQ_LEN_QDESC", "SEQ_LEN_KVDESC"), lengths, strict=True))
    for name, tensor in ends.items():
        graph.set(desc, f"OPERATION_DIAGONAL_BAND_MASK_{name}", tensor[0], 15)
    graph.set(desc, "OPERATION_DIAGONAL_BAND_MASK_COMPARISON_MODE", graph.number[f"CUDNN_POINTWISE_CMP_{mode}"], 14)
    return graph.finalize(desc)


def visible(lengths, right, left, steps):
    """By [batch, query, key]: with lengths the last query stands beside the last key."""
    row, column = np.arange(steps[0])[None, :, None], np.arange(steps[1])[None, None, :]
    q, k = (np.array(n)[:, None, None] for n in lengths)
    seen = (row < q) & (column < k)
    row = row + k - q
    return (
        seen
        & ((column <= row + right) if right is not None else True)
        & ((column > row - left) if left is not None else True)
    )


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16", "f64"])
@pytest.mark.parametrize(
    ("right", "left"), [(None, None), (0, None), (2, 3), (None, 1)], ids=["whole", "causal", "band", "left"]
)
@pytest.mark.parametrize("padded", [False, True])
def test_attention_as_one_node(graph, kind, right, left, padded):
    """With fewer heads of keys and of values than of queries; rows that see nothing are 0, their statistics minus infinity."""
    batch, heads, steps, deep, wide = 3, 4, (7, 9), 8, 5
    graph.prefer = "f64" if kind == "f64" else "f32"
    q, k, v = (
        draw((batch, heads, steps[0], deep)),
        draw((batch, 2, steps[1], deep), 1),
        draw((batch, 1, steps[1], wide), 2),
    )
    lengths = [[7, 4, 0], [9, 5, 3]] if padded else [[7] * 3, [9] * 3]
    Q, V = graph.tensor(None, q, kind, order=(0, 2, 1, 3)), graph.tensor(None, v, kind)
    K, out = (
        graph.tensor(None, k, kind, order=(0, 2, 1, 3)),
        graph.tensor((batch, heads, steps[0], wide), kind=kind, out=True, order=(0, 2, 1, 3)),
    )
    stats = graph.tensor((batch, heads, steps[0], 1), out=True)
    told = [graph.tensor(None, np.array(n).reshape(batch, 1, 1, 1), "s32") for n in lengths]
    ends = {
        "QDESC": Q,
        "KDESC": K,
        "VDESC": V,
        "ODESC": out,
        "STATSDESC": stats,
        "SCALEDESC": graph.scalar(0.3, graph.prefer),
    }
    if padded:
        ends.update(SEQ_LEN_QDESC=told[0], SEQ_LEN_KVDESC=told[1])
    op = graph.create("OPERATION_SDPA_FWD")
    for name, tensor in ends.items():
        graph.set(op, f"OPERATION_SDPA_FWD_{name}", tensor[0], 15)
    if right is not None or left is not None:
        scores, masks = [graph.tensor((batch, heads, *steps))], []
        for mode, bounds in (("GE", {"right": right}), ("LT", {"left": left})):
            if next(iter(bounds.values())) is not None:
                scores.append(graph.tensor((batch, heads, *steps)))
                masks.append(band(graph, scores[-2], scores[-1], mode, lengths=told, **bounds))
        inner = graph.descriptor("OPERATIONGRAPH", "OPERATIONGRAPH", OPS=[(m, 0, 0, 0, 0) for m in reversed(masks)])
        graph.set(op, "OPERATION_SDPA_FWD_SUBGRAPH", inner, 15)
        graph.set(op, "OPERATION_SDPA_FWD_SUBGRAPH_INPUT_UID", scores[0][2])
        graph.set(op, "OPERATION_SDPA_FWD_SUBGRAPH_OUTPUT_UID", scores[-1][2])
    graph.operations.append(graph.finalize(op))
    found = graph.run(out, stats)
    mask = np.broadcast_to(visible(lengths, right, left, steps)[:, None], (batch, heads, *steps))
    s = np.einsum("bhsd,bhtd->bhst", graph.values(Q), np.repeat(graph.values(K), 2, 1)) * 0.3
    e = np.where(mask, np.exp(s), 0)
    total = e.sum(-1, keepdims=True)
    wanted = np.where(total > 0, e / np.maximum(total, 1e-300), 0) @ np.repeat(graph.values(V), 4, 1)
    near(found[0], wanted, kind, 40, 3)
    near(found[1][total > 0], np.log(total[total > 0]), graph.prefer, 40, 5)
    assert (found[1][total == 0] == -np.inf).all()


@pytest.mark.parametrize("kind", ["f32", "f16", "f64"])
@pytest.mark.parametrize("padded", [False, True])
def test_the_gradient_of_attention_as_one_node(graph, kind, padded):
    """By the softmax's own slope, summed over the heads that share keys."""
    batch, heads, steps, deep, wide = 2, 4, (6, 7), 8, 5
    graph.prefer = "f64" if kind == "f64" else "f32"
    q, k, v, do = (
        draw((batch, heads, steps[0], deep)),
        draw((batch, 2, steps[1], deep), 1),
        draw((batch, 4, steps[1], wide), 2),
        draw((batch, heads, steps[0], wide), 3),
    )
    lengths = [[6, 2], [4, 7]] if padded else [[6] * 2, [7] * 2]
    Q, K, V, DO = (graph.tensor(None, t, kind) for t in (q, k, v, do))
    wide_k = np.repeat(graph.values(K), 2, 1)
    s = np.einsum("bhsd,bhtd->bhst", graph.values(Q), wide_k) * 0.3
    mask = visible(lengths, None, None, steps)[:, None]
    e = np.where(mask, np.exp(s), 0)
    total = e.sum(-1, keepdims=True)
    p = e / np.maximum(total, 1e-300)
    o = p @ graph.values(V)
    O, S = (
        graph.tensor(None, o, graph.prefer),
        graph.tensor(None, np.where(total > 0, np.log(np.maximum(total, 1e-300)), 0), graph.prefer),
    )
    told = [graph.tensor(None, np.array(n).reshape(batch, 1, 1, 1), "s32") for n in lengths]
    outs = [graph.tensor(t.shape, kind=kind, out=True) for t in (q, k, v)]
    ends = {
        "QDESC": Q,
        "KDESC": K,
        "VDESC": V,
        "ODESC": O,
        "STATSDESC": S,
        "DODDESC": DO,
        "SCALEDESC": graph.scalar(0.3, graph.prefer),
        **dict(zip(("DQDESC", "DKDESC", "DVDESC"), outs, strict=True)),
    }
    if padded:
        ends.update(SEQ_LEN_QDESC=told[0], SEQ_LEN_KVDESC=told[1])
    op = graph.create("OPERATION_SDPA_BWD")
    for name, tensor in ends.items():
        graph.set(op, f"OPERATION_SDPA_BWD_{name}", tensor[0], 15)
    graph.operations.append(graph.finalize(op))
    found = graph.run(*outs)
    up = graph.values(DO)
    slope = p * (np.einsum("bhsd,bhtd->bhst", up, graph.values(V)) - (up * o).sum(-1, keepdims=True)) * 0.3
    dk = np.einsum("bhst,bhsd->bhtd", slope, graph.values(Q)).reshape(batch, 2, 2, steps[1], deep).sum(2)
    for one, wanted in zip(found, (slope @ wide_k, dk, np.einsum("bhst,bhsd->bhtd", p, up)), strict=True):
        near(one, wanted, kind, 60, 20)


def test_what_attention_as_one_node_does_not_do_is_refused_by_name(graph):
    q = draw((1, 2, 3, 4))
    Q, K, V, O = (graph.tensor(None, q) for _ in range(4))
    op = graph.create("OPERATION_SDPA_FWD")
    for name, tensor in {"QDESC": Q, "KDESC": K, "VDESC": V, "ODESC": O, "BLOCK_MASK_DESC": Q}.items():
        graph.set(op, f"OPERATION_SDPA_FWD_{name}", tensor[0], 15)
    graph.operations.append(graph.finalize(op))
    assert graph.configurations() == []
    assert "SDPA_FWD with attribute 2806" in graph.error()


def test_softmax_with_statistics(graph):
    x = draw() * 3
    y, stats = graph.tensor(SHAPE, out=True), graph.tensor((*SHAPE[:3], 1), out=True)
    graph.operation("SOFTMAX", XDESC=graph.tensor(None, x), YDESC=y, STATS_DESC=stats)
    found = graph.run(y, stats)
    total = np.exp(x).sum(-1, keepdims=True)
    near(found[0], np.exp(x) / total, "f32", 20, 1)
    near(found[1], np.log(total), "f32", 20, 10)


def test_operations_in_any_order(graph):
    x = draw()
    a, b, c = graph.tensor(None, x), graph.tensor(SHAPE), graph.tensor(SHAPE)
    graph.pointwise("EXP", c, out=graph.tensor(SHAPE, out=True))
    out = graph.next - 1
    graph.pointwise("NEG", b, out=c)
    graph.pointwise("ABS", a, out=b)
    graph.run(a)
    near(graph.data[out].reshape(SHAPE).astype(float), np.exp(-abs(x)), "f32", 8)


def test_bits(graph):
    x = draw((1, 3, 5, 7))
    mask = graph.create("TENSOR")
    for name, value, kind in [
        ("DATA_TYPE", 11, 1),
        ("DIMENSIONS", [1, 3, 5, 7], None),
        ("STRIDES", [105, 35, 7, 1], None),
        ("UNIQUE_ID", 900, None),
    ]:
        graph.set(mask, f"TENSOR_{name}", value, kind)
    graph.finalize(mask)
    graph.data[900] = np.zeros(14, np.uint8)
    bits = (mask, x.shape, 900, "u8", [105, 35, 7, 1])
    X = graph.tensor(None, x)
    graph.pointwise("CMP_GT", X, graph.scalar(0.0), out=bits)
    y = graph.pointwise("BINARY_SELECT", X, graph.scalar(0.0), bits, out=graph.tensor(x.shape, out=True))
    near(graph.run(y), np.maximum(x, 0), "f32", 4)
    np.testing.assert_array_equal(np.unpackbits(graph.data[900], bitorder="little")[:105], (x > 0).ravel())


def test_a_plan_as_text_runs_again(graph, dnn):
    x = draw()
    X = graph.tensor(None, x)
    y = graph.pointwise("MUL", graph.pointwise("TANH_FWD", X), graph.scalar(2.0), out=graph.tensor(SHAPE, out=True))
    plan = graph.plan()
    count = graph.get(plan, "EXECUTION_PLAN_JSON_REPRESENTATION", CHAR)
    text = ctypes.create_string_buffer(count)
    graph.get(plan, "EXECUTION_PLAN_JSON_REPRESENTATION", CHAR, count, text)
    again = graph.create("EXECUTION_PLAN")
    graph.set(again, "EXECUTION_PLAN_JSON_REPRESENTATION", [bytes([c]) for c in text.raw], CHAR)
    graph.finalize(again)
    graph.call("cudnnBackendExecute", dnn.handle, again, graph.pack())
    near(graph.values(y), 2 * np.tanh(x), "f32", 8)
    for broken in (text.raw[:-3], text.raw.replace(b"[", b"", 1), b"{}", text.raw[:30] + b"[" * 90000):
        other = graph.create("EXECUTION_PLAN")
        graph.set(other, "EXECUTION_PLAN_JSON_REPRESENTATION", [bytes([c]) for c in broken], CHAR)
        assert 2000 <= dnn.status("cudnnBackendFinalize", other) < 3000


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_every_heuristic_gives_the_one_engine(graph, mode):
    graph.pointwise("EXP", graph.tensor(None, draw()), out=graph.tensor(SHAPE, out=True))
    (config,) = graph.configurations(mode)
    engine, index = graph.create("ENGINE"), ctypes.c_int64(-1)
    graph.get(config, "ENGINECFG_ENGINE", DESCRIPTOR, 1, (ctypes.c_void_p * 1)(engine))
    graph.get(engine, "ENGINE_GLOBAL_INDEX", INT64, 1, index)
    assert index.value == 0
    assert graph.get(engine, "ENGINE_KNOB_INFO", DESCRIPTOR) == 0
    plan, size = graph.plan(), ctypes.c_int64(-1)
    graph.get(plan, "EXECUTION_PLAN_WORKSPACE_SIZE", INT64, 1, size)
    assert size.value == 0


def test_what_is_refused_is_named(graph, dnn):
    assert (
        graph.try_set(graph.create("POINTWISE"), "TENSOR_UNIQUE_ID", 1) == 2012
    )  # CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE
    tensor = graph.create("TENSOR")
    assert dnn.status("cudnnBackendFinalize", tensor) == 2000
    assert (
        graph.try_set(graph.create("OPERATION_POINTWISE"), "OPERATION_POINTWISE_XDESC", tensor, DESCRIPTOR) == 2004
    )  # not final
    engine = graph.create("ENGINE")
    a, out = graph.tensor(None, draw()), graph.tensor(SHAPE, out=True)
    graph.pointwise("EXP", a, out=out)
    graph.set(engine, "ENGINE_OPERATION_GRAPH", graph.graph(), DESCRIPTOR)
    graph.set(engine, "ENGINE_GLOBAL_INDEX", 1)
    assert dnn.status("cudnnBackendFinalize", engine) == 2005
    # A graph that cannot be run has no configuration, which is no error.
    q = graph.tensor(None, draw())
    graph.operation("PAGED_CACHE_LOAD", CONTAINER_DESC=q, SEQUENCE_DESC=q, PAGE_TABLE_DESC=q, YDESC=out)
    assert graph.configurations() == []
    assert "PAGED_CACHE_LOAD" in graph.error()


def test_what_has_no_pointer_is_named(graph, dnn):
    a = graph.tensor(None, draw())
    graph.pointwise("EXP", a, out=graph.tensor(SHAPE, out=True))
    plan = graph.plan()
    del graph.data[a[2]]
    assert dnn.status("cudnnBackendExecute", dnn.handle, plan, graph.pack()) == 2000
    assert f"tensor {a[2]} " in graph.error()


def test_rings_and_orphans_are_refused(graph, dnn):
    b, c = graph.tensor(SHAPE), graph.tensor(SHAPE)
    graph.pointwise("EXP", b, out=c)
    graph.pointwise("NEG", c, out=b)
    heuristic = graph.descriptor("ENGINEHEUR", "ENGINEHEUR", OPERATION_GRAPH=(graph.graph(), 0, 0, 0, 0), MODE=0)
    assert (
        dnn.status(
            "cudnnBackendGetAttribute",
            heuristic,
            graph.number["CUDNN_ATTR_ENGINEHEUR_RESULTS"],
            DESCRIPTOR,
            0,
            ctypes.c_int64(),
            None,
        )
        == 2000
    )


def test_a_plan_becomes_nodes_of_a_cuda_graph_and_gets_other_memory(dnn, graph):
    """What frontends do: the nodes are put into a graph once, and an executable graph is updated to other pointers."""
    cuda = dnn.call._cuda
    first, second = draw(seed=3), draw(seed=4)
    a, b = graph.tensor(None, first), graph.tensor(None, first)
    y = graph.pointwise("ADD", graph.pointwise("EXP", a), b, out=graph.tensor(SHAPE, out=True))
    plan, made, run, stream = graph.plan(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuGraphCreate(ctypes.byref(made), 0) == 0
    assert cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
    dnn.call("cudnnBackendPopulateCudaGraph", dnn.handle, plan, graph.pack(), made.value)
    assert (graph.values(y) == 77).all()  # nothing ran
    assert cuda.cuGraphInstantiateWithFlags(ctypes.byref(run), made, ctypes.c_uint64(0)) == 0
    launch = lambda: [cuda.cuGraphLaunch(run, stream), cuda.cuStreamSynchronize(stream)]  # noqa: E731
    assert launch() == [0, 0]
    near(graph.values(y), np.exp(first.astype(np.float32)) + first, "f32", 8)
    assert (
        dnn.status("cudnnBackendPopulateCudaGraph", dnn.handle, plan, graph.pack(), made.value) // 1000 == 2
    )  # not empty

    before = graph.data[y[2]].copy()
    graph.data.update({uid: memory.copy() for uid, memory in graph.data.items()})
    graph.view(a[2], SHAPE, a[4])[...] = encoded("f32", second)
    dnn.call("cudnnBackendUpdateCudaGraph", dnn.handle, plan, graph.pack(), made.value)
    assert cuda.cuGraphExecUpdate_v2(run, made, (ctypes.c_uint64 * 8)()) == 0
    graph.view(y[2], SHAPE, y[4])[...] = 0
    assert launch() == [0, 0]
    near(graph.values(y), np.exp(second.astype(np.float32)) + first, "f32", 8)
    assert before.any()
    cuda.cuGraphExecDestroy(run), cuda.cuGraphDestroy(made), cuda.cuStreamDestroy_v2(stream)
