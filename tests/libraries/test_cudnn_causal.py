"""cuDNN's causal convolutions of sequences against their definition in NVIDIA's header, in float64."""

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries.cudnn_reference import numeric_gradient, sigmoid
from libraries.cudnn_tensors import TYPES, decoded, encoded, near
from spread import properties

pytestmark = pytest.mark.native

BAD_PARAM, NULL_POINTER, NOT_SUPPORTED = 2000, 2002, 3000


@pytest.fixture(scope="module", autouse=True)
def dnn(library):
    global DNN  # properties take no fixtures
    DNN = library("cudnn", "libcudnn.so.9")
    return DNN


def causal(x, weight, bias, silu):
    """y[t] = act(bias + sum over j of x[t - j] * weight[width - 1 - j]), of sequences (batch, dim, length)."""
    length, width = x.shape[2], weight.shape[1]
    sums = np.repeat(bias[None, :, None], x.shape[0], 0) + np.zeros_like(x)
    for t in range(length):
        for j in range(min(width, t + 1)):
            sums[:, :, t] += x[:, :, t - j] * weight[:, width - 1 - j]
    return sums * sigmoid(sums) if silu else sums


@properties(
    25, 400, st.sampled_from(["f32", "f64", "f16", "bf16"]), st.sampled_from([2, 3, 4, 8, 16]), st.integers(1, 3), st.sampled_from([1, 3, 18]),
    st.sampled_from([1, 2, 5, 33]), st.booleans(), st.booleans(), st.integers(0, 99),
)  # fmt: skip
def test_forward(kind, width, batch, dim, length, silu, last, seed):
    rng = np.random.default_rng(seed)
    x, weight, bias = (rng.standard_normal(shape) for shape in ((batch, dim, length), (dim, width), (dim,)))
    given = [encoded(kind, each) for each in (x, weight, bias)]
    wanted = causal(*(decoded(kind, each) for each in given), silu)
    if last:
        given = [np.ascontiguousarray(np.swapaxes(each, -1, -2)) if each.ndim > 1 else each for each in given]
    y = np.full_like(given[0], 77)
    name = f"cudnnCausalConv1d{'Nwh' * last}Forward"
    DNN(name, 0, *given, y, batch, dim, length, width, TYPES[kind][0], int(silu))
    found = decoded(kind, y)
    near(np.swapaxes(found, 1, 2) if last else found, wanted, kind, width, 10)


@pytest.mark.parametrize("kind", ["f32", "f64", "bf16"])
@pytest.mark.parametrize("silu", [False, True])
@pytest.mark.parametrize("last", [False, True])
def test_gradients(kind, silu, last):
    """Those of the weights and of the bias are added to what is there."""
    rng, (batch, dim, length, width) = np.random.default_rng(3), (2, 3, 7, 4)
    shapes = ((batch, dim, length), (dim, width), (dim,))
    given = [encoded(kind, rng.standard_normal(shape)) for shape in (*shapes, shapes[0])]
    exact = [decoded(kind, each) for each in given]
    wanted = [
        numeric_gradient(
            lambda v, at=at: (causal(*exact[:at], v, *exact[at + 1 : 3], silu) * exact[3]).sum(), exact[at]
        )
        for at in range(3)
    ]
    sums = "f64" if kind == "f64" else "f32"
    out = [np.full(shape, 0.5 if at else 77.0, TYPES[sums if at else kind][1]) for at, shape in enumerate(shapes)]
    swapped = lambda each: np.ascontiguousarray(np.swapaxes(each, -1, -2)) if last and each.ndim > 1 else each  # noqa: E731
    given, out = ([swapped(each) for each in group] for group in (given, out))
    name = f"cudnnCausalConv1d{'Nwh' * last}Backward"
    DNN(name, 0, *given, *out, batch, dim, length, width, TYPES[kind][0], TYPES[sums][0], int(silu))
    rounding = 2.0**-7 if kind == "bf16" else 1e-5
    for at, (found, exactly) in enumerate(zip(out, wanted, strict=True)):
        numbers = swapped(decoded(sums if at else kind, found)) - (0.5 if at else 0)
        assert np.abs(numbers - exactly).max() < rounding * 10


def test_what_is_wrong_and_what_is_not_there():
    x, weight, bias, y = (np.zeros(size, np.float32) for size in (8, 8, 1, 8))

    def forward(width, kind=0, act=0, b=bias, n=1, dim=1, length=8):
        return DNN.status("cudnnCausalConv1dForward", 0, x, weight, b, y, n, dim, length, width, kind, act)

    assert forward(8) == 0
    assert forward(9) == forward(12) == forward(4, kind=3) == NOT_SUPPORTED
    assert forward(4, act=2) == forward(4, n=0) == BAD_PARAM
    assert forward(4, n=1 << 30, dim=1 << 30, length=16) == BAD_PARAM  # as many numbers as wrap around to none
    assert forward(4, b=0) == NULL_POINTER  # there must be a bias
    backward = ("cudnnCausalConv1dBackward", 0, x, weight, bias, y, y, weight, bias, 1, 1, 8, 4, 0)
    assert DNN.status(*backward, 1, 0) == BAD_PARAM  # gradients of float weights as doubles
    DNN("cudnnSubquadraticOpsVersionCheck")
