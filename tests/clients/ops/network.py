"""What neural networks are made of: convolutions, pools, normalisations, attention, losses and gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from ops.case import FLOATS, Case, Input, boolean, index
from tinygrad import Tensor

HALVES = ("float32", "float16")


def windows(x: np.ndarray, kernel: tuple[int, ...], stride: int, dilation: int = 1) -> np.ndarray:
    """Return every window of the trailing axes, shape (..., outputs..., kernel...)."""
    axes = tuple(range(x.ndim - len(kernel), x.ndim))
    spans = tuple((k - 1) * dilation + 1 for k in kernel)
    view = sliding_window_view(x, spans, axes)
    steps = (slice(None, None, stride),) * len(kernel)
    inner = (slice(None, None, dilation),) * len(kernel)
    return view[(slice(None),) * (x.ndim - len(kernel)) + steps + inner]


def conv(
    x: np.ndarray, w: np.ndarray, stride: int = 1, padding: int = 0, dilation: int = 1, groups: int = 1
) -> np.ndarray:
    """Convolve (batch, channels, ...) with (out, channels / groups, ...), any number of spatial axes."""
    spatial = w.ndim - 2
    x = np.pad(x, ((0, 0), (0, 0)) + ((padding, padding),) * spatial)
    seen = windows(x, w.shape[2:], stride, dilation)
    letters = "xyz"[:spatial]
    kernel = "pqr"[:spatial]
    parts = [
        np.einsum(f"nc{letters}{kernel},oc{kernel}->no{letters}", part, weight)
        for part, weight in zip(np.split(seen, groups, 1), np.split(w, groups, 0))
    ]
    return np.concatenate(parts, 1)


def conv_case(
    name: str,
    x: tuple[int, ...],
    w: tuple[int, ...],
    types: tuple[str, ...] = ("float32",),
    factor: float = 40,
    **options: int,
) -> Case:
    return Case(
        name,
        lambda a, b: a.conv2d(b, **options),
        lambda a, b: conv(a, b, **options),
        (Input(x), Input(w)),
        types,
        factor,
    )


def conv_transpose(x: np.ndarray, w: np.ndarray, stride: int = 1) -> np.ndarray:
    """Spread each input value over the output; w is (channels, out, height, width)."""
    batch, _, height, width = x.shape
    _, out, kh, kw = w.shape
    result = np.zeros((batch, out, (height - 1) * stride + kh, (width - 1) * stride + kw))
    for i in range(height):
        for j in range(width):
            patch = np.einsum("nc,cokl->nokl", x[:, :, i, j], w)
            result[:, :, i * stride : i * stride + kh, j * stride : j * stride + kw] += patch
    return result


CONVOLUTIONS = [
    conv_case("conv2d", (2, 3, 9, 11), (5, 3, 3, 3), FLOATS),
    conv_case("conv2d_one", (2, 8, 7, 7), (4, 8, 1, 1), HALVES),
    conv_case("conv2d_stride", (1, 4, 11, 9), (6, 4, 3, 3), stride=2),
    conv_case("conv2d_padding", (1, 4, 8, 8), (6, 4, 3, 3), HALVES, padding=1),
    conv_case("conv2d_dilation", (1, 2, 12, 12), (3, 2, 3, 3), dilation=2),
    conv_case("conv2d_groups", (1, 6, 8, 8), (9, 2, 3, 3), groups=3),
    conv_case("conv2d_depthwise", (1, 8, 10, 10), (8, 1, 3, 3), HALVES, groups=8, padding=1),
    conv_case("conv2d_five", (1, 3, 12, 12), (4, 3, 5, 5), stride=2, padding=2, factor=80),
    conv_case("conv2d_channels", (1, 32, 8, 8), (32, 32, 3, 3), HALVES, 200, padding=1),
    conv_case("conv1d", (2, 3, 20), (4, 3, 5), HALVES),
    conv_case("conv3d", (1, 2, 5, 6, 7), (3, 2, 2, 3, 3), factor=40),
    Case("conv2d_int", lambda x, w: x.conv2d(w), lambda x, w: conv(x.astype(np.int64), w.astype(np.int64)), (Input((1, 3, 6, 6)), Input((2, 3, 3, 3))), ("int32",)),
    Case("conv2d_bias", lambda x, w, b: x.conv2d(w, b), lambda x, w, b: conv(x, w) + b[:, None, None],
         (Input((1, 3, 8, 8)), Input((4, 3, 3, 3)), Input((4,))), ("float32",), 40),
    Case("conv_transpose2d", lambda x, w: x.conv_transpose2d(w), conv_transpose, (Input((1, 3, 5, 6)), Input((3, 4, 3, 3))), HALVES, 40),
    Case("conv_transpose2d_stride", lambda x, w: x.conv_transpose2d(w, stride=2), lambda x, w: conv_transpose(x, w, 2),
         (Input((1, 3, 5, 6)), Input((3, 4, 3, 3))), ("float32",), 40),
]  # fmt: skip


def pool(
    name: str,
    tiny: Callable[..., Any],
    expected: Callable[..., Any],
    shape: tuple[int, ...],
    types: tuple[str, ...] = ("float32",),
    factor: float = 4,
) -> Case:
    return Case(name, tiny, expected, (Input(shape),), types, factor)


IMAGE = (2, 3, 9, 10)
POOLS = [
    pool("max_pool2d", lambda x: x.max_pool2d(), lambda x: windows(x, (2, 2), 2).max((-1, -2)), IMAGE, (*FLOATS, "int32", "uint8")),
    pool("max_pool2d_overlap", lambda x: x.max_pool2d((3, 3), stride=2), lambda x: windows(x, (3, 3), 2).max((-1, -2)), IMAGE),
    pool("max_pool2d_padding", lambda x: x.max_pool2d((3, 3), stride=1, padding=1),
         lambda x: windows(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf), (3, 3), 1).max((-1, -2)), IMAGE),
    pool("max_pool2d_dilation", lambda x: x.max_pool2d((2, 2), stride=1, dilation=2), lambda x: windows(x, (2, 2), 1, 2).max((-1, -2)), IMAGE),
    pool("avg_pool2d", lambda x: x.avg_pool2d(), lambda x: windows(x, (2, 2), 2).mean((-1, -2)), IMAGE, FLOATS),
    pool("avg_pool2d_overlap", lambda x: x.avg_pool2d((3, 2), stride=1), lambda x: windows(x, (3, 2), 1).mean((-1, -2)), IMAGE),
    pool("global_avg_pool", lambda x: x.mean((2, 3)), lambda x: x.mean((2, 3)), IMAGE, HALVES),
    pool("max_pool1d", lambda x: x.max_pool2d((3,)), lambda x: windows(x, (3,), 3).max(-1), (2, 3, 20)),
    pool("interpolate_linear", lambda x: x.interpolate((8, 12)), lambda x: resize(resize(x, 8, 2), 12, 3), (1, 2, 5, 6), factor=8),
    pool("interpolate_nearest", lambda x: x.interpolate((10, 12), mode="nearest"), lambda x: x.repeat(2, 2).repeat(2, 3), (1, 2, 5, 6)),
]  # fmt: skip


def resize(x: np.ndarray, size: int, axis: int) -> np.ndarray:
    """Interpolate linearly along one axis between pixel centres, clamped at the edges."""
    old = x.shape[axis]
    at = np.clip((np.arange(size) + 0.5) * old / size - 0.5, 0, old - 1)
    low = np.floor(at).astype(int)
    high = np.minimum(low + 1, old - 1)
    shape = [1] * x.ndim
    shape[axis] = size
    part = (at - low).reshape(shape)
    return x.take(low, axis) * (1 - part) + x.take(high, axis) * part


def layernorm(x: np.ndarray, axis: Any = -1, eps: float = 1e-5) -> np.ndarray:
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + eps)


def rmsnorm(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w


def tiny_rmsnorm(x: Tensor, w: Tensor) -> Tensor:
    return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * w


NORMS = [
    Case("layernorm", lambda x: x.layernorm(), layernorm, (Input((5, 33)),), FLOATS, 4),
    Case("layernorm_axes", lambda x: x.layernorm((-2, -1)), lambda x: layernorm(x, (-2, -1)), (Input((3, 5, 7)),), ("float32",), 4),
    Case("rmsnorm", tiny_rmsnorm, rmsnorm, (Input((5, 64)), Input((64,))), FLOATS, 4),
    Case("batchnorm", lambda x, w, b, m, s: x.batchnorm(w, b, m, s),
         lambda x, w, b, m, s: (x - m[:, None, None]) * s[:, None, None] * w[:, None, None] + b[:, None, None],
         (Input((2, 4, 5, 5)), Input((4,)), Input((4,)), Input((4,)), Input((4,), "positive")), HALVES, 4),
    Case("batchnorm_training", lambda x: x.batchnorm(None, None, x.mean((0, 2, 3)), (x.var((0, 2, 3), correction=0) + 1e-5).rsqrt()),
         lambda x: layernorm(x, (0, 2, 3)), (Input((4, 3, 6, 6)),), ("float32",), 4),
    Case("groupnorm", lambda x: x.reshape(2, 3, -1).layernorm().reshape(2, 6, 4, 4),
         lambda x: layernorm(x.reshape(2, 3, -1)).reshape(x.shape), (Input((2, 6, 4, 4)),), ("float32",), 4),
    Case("instancenorm", lambda x: x.reshape(2, 3, -1).layernorm().reshape(2, 3, 5, 5), lambda x: layernorm(x, (2, 3)), (Input((2, 3, 5, 5)),), ("float32",), 4),
]  # fmt: skip


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True) @ v


HEADS = tuple(Input((2, 4, 9, 16)) for _ in range(3))
ATTENTION = [
    Case("attention", lambda q, k, v: q.scaled_dot_product_attention(k, v), attention, HEADS, FLOATS, 8),
    Case("attention_causal", lambda q, k, v: q.scaled_dot_product_attention(k, v, is_causal=True),
         lambda q, k, v: attention(q, k, v, np.tril(np.ones((9, 9), bool))), HEADS, HALVES, 8),
    Case("attention_mask", lambda q, k, v, m: q.scaled_dot_product_attention(k, v, attn_mask=m | Tensor.eye(9).bool()),
         lambda q, k, v, m: attention(q, k, v, m | np.eye(9, dtype=bool)), (*HEADS, boolean((9, 9))), ("float32",), 8),
    Case("attention_grouped", lambda q, k, v: q.scaled_dot_product_attention(k, v, enable_gqa=True),
         lambda q, k, v: attention(q, k.repeat(2, 1), v.repeat(2, 1)),
         (Input((1, 4, 7, 8)), Input((1, 2, 11, 8)), Input((1, 2, 11, 8))), HALVES, 8),
    Case("attention_one_query", lambda q, k, v: q.scaled_dot_product_attention(k, v), attention,
         (Input((1, 4, 1, 32)), Input((1, 4, 65, 32)), Input((1, 4, 65, 32))), ("float32",), 8),
]  # fmt: skip


def log_softmax(x: np.ndarray) -> np.ndarray:
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def cross_entropy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return -np.take_along_axis(log_softmax(x), y.astype(np.int64)[:, None], 1).mean()


def binary_cross_entropy(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    return -(y * np.log(p) + (1 - y) * np.log(1 - p)).mean()


LOGITS, CLASSES, PAIR = Input((8, 13)), index((8,), 13), (Input((6, 9), "probability"), Input((6, 9), "probability"))
LOSSES = [
    Case("cross_entropy", lambda x, y: x.cross_entropy(y), cross_entropy, (LOGITS, CLASSES), HALVES, 4),
    Case("sparse_categorical_crossentropy", lambda x, y: x.sparse_categorical_crossentropy(y), cross_entropy, (LOGITS, CLASSES), ("float32",), 4),
    Case("nll_loss", lambda x, y: x.log_softmax().nll_loss(y), cross_entropy, (LOGITS, CLASSES), ("float32",), 4),
    Case("binary_crossentropy", lambda p, y: p.binary_crossentropy(y), binary_cross_entropy, PAIR, ("float32",), 4),
    Case("binary_crossentropy_logits", lambda x, y: x.binary_crossentropy_logits(y),
         lambda x, y: binary_cross_entropy(1 / (1 + np.exp(-x)), y), PAIR, ("float32",), 4),
    Case("mean_squared_error", lambda x, y: (x - y).square().mean(), lambda x, y: ((x - y) ** 2).mean(), PAIR, HALVES, 4),
]  # fmt: skip


def gradient(tiny: Callable[..., Tensor]) -> Callable[..., Any]:
    """Return the gradients of the sum of a function with respect to all its arguments."""

    def on_tensors(*tensors: Tensor) -> Any:
        return tuple(tiny(*tensors).sum().gradient(*tensors))

    return on_tensors


def softmax_gradient(x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    y = np.exp(log_softmax(x))
    return y * (w - (w * y).sum(-1, keepdims=True)), y


def max_pool_gradient(x: np.ndarray) -> tuple[np.ndarray]:
    best = windows(x, (2, 2), 2).max((-1, -2)).repeat(2, 2).repeat(2, 3)
    return ((x == best).astype(np.float64),)


def conv_gradient(x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    ones = np.ones((x.shape[0], w.shape[0], x.shape[2] - w.shape[2] + 1, x.shape[3] - w.shape[3] + 1))
    by_weight = np.einsum("ncxypq,noxy->ocpq", windows(x, ones.shape[2:], 1).transpose(0, 1, 4, 5, 2, 3), ones)
    return conv_transpose(ones, w), by_weight


GRADIENTS = [
    Case("grad_mul", gradient(lambda x, y: x * y), lambda x, y: (y, x), (Input((5, 7)), Input((5, 7))), HALVES),
    Case("grad_matmul", gradient(lambda x, y: x @ y), lambda x, y: (np.broadcast_to(y.sum(1), x.shape), np.broadcast_to(x.sum(0)[:, None], y.shape)),
         (Input((5, 9)), Input((9, 4))), ("float32",), 20),
    Case("grad_softmax", gradient(lambda x, w: x.softmax() * w), softmax_gradient, (Input((5, 9)), Input((5, 9))), ("float32",), 8),
    Case("grad_relu", gradient(lambda x: x.relu()), lambda x: ((x > 0).astype(np.float64),), (Input((5, 9)),), ("float32",)),
    Case("grad_max_pool", gradient(lambda x: x.max_pool2d()), max_pool_gradient, (Input((1, 2, 6, 8), "distinct"),), ("float32",)),
    Case("grad_conv2d", gradient(lambda x, w: x.conv2d(w)), conv_gradient, (Input((2, 3, 6, 6)), Input((4, 3, 3, 3))), ("float32",), 80),
    Case("grad_exp", gradient(lambda x: (x * 2).exp()), lambda x: (2 * np.exp(2 * x),), (Input((5, 9)),), ("float32",), 8),
    Case("grad_log", gradient(lambda x: x.log()), lambda x: (1 / x,), (Input((5, 9), "positive"),), ("float32",), 2),
]  # fmt: skip
CASES = [*CONVOLUTIONS, *POOLS, *NORMS, *ATTENTION, *LOSSES, *GRADIENTS]
