"""cuDNN's convolutions against their definition in float64."""

import ctypes

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries.cudnn_reference import convolve, convolve_gradients, output_size
from libraries.cudnn_tensors import Dnn, factor, near
from libraries.test_cudnn import run
from spread import properties

pytestmark = pytest.mark.native

KINDS = ["f32", "f64", "f16", "bf16"]


@pytest.fixture(scope="module", autouse=True)
def dnn(library):
    global DNN  # properties take no fixtures
    DNN = Dnn(library("cudnn", "libcudnn.so.9"))
    return DNN


@st.composite
def problems(draw, few=1, many=4, kinds=KINDS):
    """(shapes, geometry, orders, factors) of a small convolution with up to `many` channels and `few` to `many` filters of a group."""
    space = draw(st.integers(1, 3))
    ints = lambda low, high: draw(st.lists(st.integers(low, high), min_size=space, max_size=space))  # noqa: E731
    size, kernel, pads, strides, dilations = ints(1, 9), ints(1, 3), ints(0, 2), ints(1, 3), ints(1, 2)
    size = [max(n, (k - 1) * d + 1 - 2 * p) for n, k, d, p in zip(size, kernel, dilations, pads, strict=True)]
    groups = draw(st.sampled_from([1, 1, 2, 5]))
    c, k, n = draw(st.integers(1, many)), draw(st.integers(few, many)), draw(st.integers(1, 3))
    last = [0, *range(2, 2 + space), 1]
    orders = [draw(st.sampled_from([None, last])) for _ in range(3)]
    return {
        "x": (n, groups * c, *size), "w": (groups * k, c, *kernel), "pads": pads, "strides": strides, "dilations": dilations, "groups": groups,
        "orders": orders, "mode": draw(st.sampled_from([0, 1])), "kind": draw(st.sampled_from(kinds)), "gap": draw(st.sampled_from([0, 0, 3])),
        "alpha": draw(st.sampled_from([1.0, -0.5])), "beta": draw(st.sampled_from([0.0, 1.0, 0.25])), "seed": draw(st.integers(0, 99)),
    }  # fmt: skip


def turned(w, mode):
    return w if mode else np.flip(w, tuple(range(2, w.ndim)))


@properties(40, 1500, problems())
def test_a_convolution_and_its_gradients(p):
    check_problem(p)


# What is computed without a matrix of patches, on every kind of processor that this one can stand for.
@properties(40, 1500, problems(8, 40, ["f32", "f16", "bf16"]))
def test_channels_and_filters_that_fill_lanes(p):
    check_problem(p)


@pytest.mark.parametrize("less", ["avx512", "avx2", "portable"])
def test_lanes_of_lesser_processors(less):
    done = run(
        "from hypothesis import given, settings\n"
        "from libraries import test_cudnn_convolution as tests\n"
        "tests.DNN = dnn\n"
        "given(tests.problems(8, 40, ['f32', 'f16']))(settings(max_examples=20, deadline=None, database=None)(tests.check_problem))()\n"
        "print('done')",
        ANYWARP_PRODUCT=less,
    )
    assert done.split()[-1] == "done"


def check_problem(p):
    rng, kind = np.random.default_rng(p["seed"]), p["kind"]
    geometry = p["pads"], p["strides"], p["dilations"]
    out = (p["x"][0], p["w"][0], *output_size(p["x"][2:], p["w"][2:], *geometry))
    x = DNN.tensor(kind, rng.standard_normal(p["x"]), order=p["orders"][0], gap=p["gap"])
    w = DNN.tensor(kind, rng.standard_normal(p["w"]), order=p["orders"][1], filter=True)
    y = DNN.tensor(kind, rng.standard_normal(out) if p["beta"] else np.full(out, np.nan), order=p["orders"][2])
    dy = DNN.tensor(kind, rng.standard_normal(out), order=p["orders"][2], gap=p["gap"])
    desc = DNN.convolution(*geometry, p["mode"], p["groups"], int(kind == "f64"))
    alpha, beta = factor(kind, p["alpha"]), factor(kind, p["beta"])
    wanted = convolve(x.values, turned(w.values, p["mode"]), *geometry, p["groups"])
    scale = convolve(abs(x.values), turned(abs(w.values), p["mode"]), *geometry, p["groups"]) + 1
    before = y.values if p["beta"] else 0.0
    DNN.call("cudnnConvolutionForward", DNN.handle, alpha, *x.args, *w.args, desc, 0, None, 0, beta, *y.args)
    near(y.values, p["alpha"] * wanted + p["beta"] * before, kind, np.prod(p["w"][1:]), scale)
    dx, dw = convolve_gradients(x.values, turned(w.values, p["mode"]), dy.values, *geometry, p["groups"])
    dx_scale, dw_scale = convolve_gradients(
        abs(x.values), turned(abs(w.values), p["mode"]), abs(dy.values), *geometry, p["groups"]
    )
    start = np.ones if p["beta"] else (lambda shape: np.full(shape, np.nan))
    to = DNN.tensor(kind, start(p["x"]), order=p["orders"][0], gap=p["gap"])
    DNN.call("cudnnConvolutionBackwardData", DNN.handle, alpha, *w.args, *dy.args, desc, 0, None, 0, beta, *to.args)
    near(to.values, p["alpha"] * dx + p["beta"], kind, np.prod(p["w"]), dx_scale + 1)
    to = DNN.tensor(kind, start(p["w"]), order=p["orders"][1], filter=True)
    DNN.call("cudnnConvolutionBackwardFilter", DNN.handle, alpha, *x.args, *dy.args, desc, 0, None, 0, beta, *to.args)
    near(to.values, p["alpha"] * turned(dw, p["mode"]) + p["beta"], kind, np.prod(out), turned(dw_scale, p["mode"]) + 1)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("last", [False, True], ids=["nchw", "nhwc"])
@pytest.mark.parametrize(
    ("x", "w", "pad", "stride"),
    [((2, 70, 30, 31), (40, 70, 3, 3), 1, 1), ((9, 40, 7, 7), (130, 40, 1, 1), 0, 1), ((2, 64, 20, 20), (96, 64, 1, 1), 0, 1), ((1, 3, 70, 70), (20, 3, 7, 7), 3, 2)],
)  # fmt: skip
def test_factors_of_16_bits_in_several_blocks(dnn, x, w, pad, stride, last, kind):
    rng = np.random.default_rng(2)
    order = [0, 2, 3, 1] if last else None
    geometry = [pad, pad], [stride, stride], [1, 1]
    a = dnn.tensor(kind, rng.standard_normal(x), order=order)
    b = dnn.tensor(kind, rng.standard_normal(w), order=order, filter=True)
    wanted = convolve(a.values, b.values, *geometry, 1)
    scale = convolve(abs(a.values), abs(b.values), *geometry, 1)
    desc, one, zero = dnn.convolution(*geometry), factor("f32", 1), factor("f32", 0)
    for made in (kind, "f32"):
        y = dnn.tensor(made, np.full(wanted.shape, np.nan), order=order)
        dnn.call("cudnnConvolutionForward", dnn.handle, one, *a.args, *b.args, desc, 1, None, 0, zero, *y.args)
        near(y.values, wanted, made, np.prod(w[1:]), scale)


@pytest.mark.parametrize("last", [False, True], ids=["nchw", "nhwc"])
@pytest.mark.parametrize(
    ("x", "w", "pad", "stride"),
    [((2, 70, 30, 31), (40, 70, 3, 3), 1, 1), ((9, 40, 7, 7), (130, 40, 1, 1), 0, 1), ((1, 3, 70, 70), (20, 3, 7, 7), 3, 2), ((3, 64, 9, 9), (64, 1, 3, 3), 1, 1),
     ((2, 48, 30, 30), (70, 48, 3, 3), 1, 2), ((2, 48, 30, 30), (70, 48, 1, 1), 0, 2), ((9, 130, 7, 7), (90, 130, 3, 3), 1, 1), ((1, 1024, 5, 5), (16, 1024, 1, 1), 0, 1)],
)  # fmt: skip
def test_one_of_several_blocks(dnn, x, w, pad, stride, last):
    rng = np.random.default_rng(1)
    order = [0, 2, 3, 1] if last else None
    groups = x[1] // w[1]
    geometry = [pad, pad], [stride, stride], [1, 1]
    a, b = (
        dnn.tensor("f32", rng.standard_normal(x), order=order),
        dnn.tensor("f32", rng.standard_normal(w), order=order, filter=True),
    )
    wanted = convolve(a.values, b.values, *geometry, groups)
    y, dy = (dnn.tensor("f32", rng.standard_normal(wanted.shape), order=order) for _ in range(2))
    desc, one, zero = dnn.convolution(*geometry, groups=groups), factor("f32", 1), factor("f32", 0)
    dnn.call("cudnnConvolutionForward", dnn.handle, one, *a.args, *b.args, desc, 1, None, 0, zero, *y.args)
    near(y.values, wanted, "f32", np.prod(w[1:]) ** 0.5)
    dx, dw = convolve_gradients(a.values, b.values, dy.values, *geometry, groups)
    to = dnn.zeros("f32", x, order=order)
    dnn.call("cudnnConvolutionBackwardData", dnn.handle, one, *b.args, *dy.args, desc, 1, None, 0, zero, *to.args)
    near(to.values, dx, "f32", np.prod(w) ** 0.5)
    to = dnn.zeros("f32", w, order=order, filter=True)
    dnn.call("cudnnConvolutionBackwardFilter", dnn.handle, one, *a.args, *dy.args, desc, 1, None, 0, zero, *to.args)
    near(to.values, dw, "f32", np.prod(wanted.shape) ** 0.5)


@pytest.mark.parametrize(("kind", "out"), [("s8", "s8"), ("s8", "f32"), ("u8", "s32")])
def test_bytes_are_summed_exactly(dnn, kind, out):
    rng = np.random.default_rng(3)
    low = 0 if kind == "u8" else -128
    x = dnn.tensor(kind, rng.integers(low, 128, (1, 300, 3, 3)), order=[0, 2, 3, 1])
    w = dnn.tensor("s8", rng.integers(-128, 128, (4, 300, 3, 3)), order=[0, 2, 3, 1], filter=True)
    wanted = convolve(x.values, w.values, [0, 0], [1, 1], [1, 1])
    y = dnn.zeros(out, wanted.shape, order=[0, 2, 3, 1])
    desc = dnn.convolution([0, 0], [1, 1], [1, 1], compute=4)
    dnn.call(
        "cudnnConvolutionForward",
        dnn.handle,
        factor("f32", 0.5),
        *x.args,
        *w.args,
        desc,
        0,
        None,
        0,
        factor("f32", 0),
        *y.args,
    )
    wanted = wanted * 0.5
    if out == "s8":
        wanted = np.clip(np.rint(wanted), -128, 127)
    elif out == "s32":
        wanted = np.rint(wanted)
    np.testing.assert_array_equal(y.values, wanted.astype(np.float32) if out == "f32" else wanted)


@pytest.mark.parametrize("z", ["none", "other", "in place"])
@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize("mode", [1, 5], ids=["relu", "identity"])
def test_with_a_bias_and_an_activation(dnn, kind, z, mode):
    rng = np.random.default_rng(4)
    x, w = (
        dnn.tensor(kind, rng.standard_normal((2, 3, 6, 5))),
        dnn.tensor(kind, rng.standard_normal((4, 3, 3, 3)), filter=True),
    )
    plain = convolve(x.values, w.values, [1, 1], [1, 1], [1, 1])
    y, bias = dnn.tensor(kind, rng.standard_normal(plain.shape)), dnn.tensor(kind, rng.standard_normal((1, 4, 1, 1)))
    more = dnn.tensor(kind, rng.standard_normal(plain.shape)) if z == "other" else y
    alpha2 = 0.0 if z == "none" else 0.75
    wanted = 2 * plain + (alpha2 * more.values if alpha2 else 0) + bias.values
    activation = dnn.make("Activation")
    dnn.call("cudnnSetActivationDescriptor", activation, mode, 0, 0.0)
    dnn.call("cudnnConvolutionBiasActivationForward", dnn.handle, factor(kind, 2), *x.args, *w.args, dnn.convolution([1, 1], [1, 1], [1, 1]), 1, None, 0,
             factor(kind, alpha2), *more.args, *bias.args, activation, *y.args)  # fmt: skip
    near(y.values, np.maximum(wanted, 0) if mode == 1 else wanted, kind, 60, 30)


@pytest.mark.parametrize("order", [None, [0, 2, 3, 1]], ids=["nchw", "nhwc"])
@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize(("channels", "filters", "stride", "groups"), [(3, 40, 2, 1), (36, 17, 1, 1), (32, 64, 1, 2)])
@pytest.mark.parametrize(("mode", "nan"), [(1, 0), (1, 1), (5, 0)], ids=["relu", "relu keeps nan", "identity"])
def test_a_bias_and_an_activation_on_the_way_out(dnn, channels, filters, stride, groups, kind, order, mode, nan):
    rng = np.random.default_rng(14)
    given = rng.standard_normal((2, channels, 9, 11))
    given[1, channels // 2, 4, 5] = np.nan
    x = dnn.tensor(kind, given, order=order)
    w = dnn.tensor(kind, rng.standard_normal((filters, channels // groups, 3, 3)), filter=True, order=order)
    wanted = convolve(x.values, w.values, [1, 1], [stride, stride], [1, 1], groups=groups)
    y = dnn.tensor(kind, rng.standard_normal(wanted.shape), order=order)
    bias = dnn.tensor(kind, rng.standard_normal((1, filters, 1, 1)))
    wanted = wanted + bias.values
    activation = dnn.make("Activation")
    dnn.call("cudnnSetActivationDescriptor", activation, mode, nan, 0.0)
    how = dnn.convolution([1, 1], [stride, stride], [1, 1], groups=groups)
    dnn.call("cudnnConvolutionBiasActivationForward", dnn.handle, factor(kind, 1), *x.args, *w.args, how, 1, None, 0,
             factor(kind, 0), *y.args, *bias.args, activation, *y.args)  # fmt: skip
    lost = np.isnan(wanted)
    assert 0 < lost.sum() < lost.size / 2
    if mode == 1:
        wanted = np.where(lost, np.nan if nan else 0, np.maximum(wanted, 0))
    assert (np.isnan(y.values) == np.isnan(wanted)).all()
    near(np.nan_to_num(y.values), np.nan_to_num(wanted), kind, channels * 9, 60)


@pytest.mark.parametrize("order", [None, [0, 2, 3, 1]])
def test_the_gradient_of_a_bias(dnn, order):
    dy = dnn.tensor("f32", np.random.default_rng(5).standard_normal((3, 5, 4, 7)), order=order)
    db = dnn.tensor("f32", np.ones((1, 5, 1, 1)))
    dnn.call("cudnnConvolutionBackwardBias", dnn.handle, factor("f32", 2), *dy.args, factor("f32", 3), *db.args)
    near(db.values, 2 * dy.values.sum((0, 2, 3), keepdims=True) + 3, "f32", 84, 100)


class Perf(ctypes.Structure):
    _fields_ = [("algo", ctypes.c_int), ("status", ctypes.c_int), ("time", ctypes.c_float), ("memory", ctypes.c_size_t),
                ("determinism", ctypes.c_int), ("math", ctypes.c_int), ("reserved", ctypes.c_int * 3)]  # fmt: skip


def test_one_algorithm_is_found_for_each_direction(dnn):
    rng = np.random.default_rng(6)
    x, w, y = (
        dnn.tensor("f32", rng.standard_normal((1, 2, 5, 5))),
        dnn.tensor("f32", rng.standard_normal((3, 2, 3, 3)), filter=True),
        dnn.zeros("f32", (1, 3, 3, 3)),
    )
    desc, count = dnn.convolution([0, 0], [1, 1], [1, 1]), ctypes.c_int()
    found, bytes_ = (Perf * 4)(), ctypes.c_size_t(9)
    for name, arguments in [
        ("Forward", (x.desc, w.desc, desc, y.desc)),
        ("BackwardData", (w.desc, y.desc, desc, x.desc)),
        ("BackwardFilter", (x.desc, y.desc, desc, w.desc)),
    ]:
        dnn.call(f"cudnnGetConvolution{name}Algorithm_v7", dnn.handle, *arguments, 4, count, found)
        assert (count.value, found[0].status, found[0].memory, found[0].time, found[0].determinism) == (1, 0, 0, -1, 1)
        dnn.call(f"cudnnGetConvolution{name}WorkspaceSize", dnn.handle, *arguments, found[0].algo, bytes_)
        assert bytes_.value == 0
        dnn.call(f"cudnnFindConvolution{name}Algorithm", dnn.handle, *arguments, 1, count, found)
        assert count.value == 1
        assert found[0].time > 0
    dnn.call(
        "cudnnFindConvolutionForwardAlgorithmEx", dnn.handle, *x.args, *w.args, desc, *y.args, 1, count, found, None, 0
    )
    near(y.values, convolve(x.values, w.values, [0, 0], [1, 1], [1, 1]), "f32", 18)


def test_shapes_that_do_not_go_together_are_refused(dnn):
    x, w = dnn.zeros("f32", (1, 2, 5, 5)), dnn.zeros("f32", (3, 2, 3, 3), filter=True)
    one = factor("f32", 1)

    def call(desc, y):
        return dnn.status("cudnnConvolutionForward", dnn.handle, one, *x.args, *w.args, desc, 0, None, 0, one, *y.args)

    assert (
        call(dnn.convolution([0, 0], [1, 1], [1, 1]), dnn.zeros("f32", (1, 3, 4, 3))) == 2008
    )  # CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH
    assert call(dnn.convolution([0, 0], [1, 1], [1, 1], groups=2), dnn.zeros("f32", (1, 3, 3, 3))) == 2008
    assert call(dnn.convolution([0], [1], [1]), dnn.zeros("f32", (1, 3, 3, 3))) == 2008
    assert dnn.status("cudnnSetConvolution2dDescriptor", dnn.make("Convolution"), -1, 0, 1, 1, 1, 1, 1, 0) == 2000
    assert dnn.status("cudnnSetConvolution2dDescriptor", dnn.make("Convolution"), 0, 0, 0, 1, 1, 1, 1, 0) == 2000


def test_captured_work_runs_at_each_launch(dnn):
    cuda = dnn.call._cuda
    stream, graph, executable = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
    x, w, y = (
        dnn.tensor("f32", np.ones((1, 2, 4, 4))),
        dnn.tensor("f32", np.ones((1, 2, 3, 3)), filter=True),
        dnn.zeros("f32", (1, 1, 2, 2)),
    )
    dnn.call("cudnnSetStream", dnn.handle, stream.value)
    try:
        assert cuda.cuStreamBeginCapture_v2(stream, 0) == 0
        dnn.call(
            "cudnnConvolutionForward",
            dnn.handle,
            factor("f32", 1),
            *x.args,
            *w.args,
            dnn.convolution([0, 0], [1, 1], [1, 1]),
            0,
            None,
            0,
            factor("f32", 1),
            *y.args,
        )
        assert cuda.cuStreamEndCapture(stream, ctypes.byref(graph)) == 0
        assert (y.values == 0).all()
        assert cuda.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, ctypes.c_ulonglong(0)) == 0
        for _ in range(2):
            assert cuda.cuGraphLaunch(executable, stream) == 0
        assert cuda.cuStreamSynchronize(stream) == 0
        assert (y.values == 36).all()
    finally:
        dnn.call("cudnnSetStream", dnn.handle, None)
