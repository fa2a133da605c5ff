"""The operators of liger-kernel against torch's own: values and gradients, one line for each.

anywarp run -- python tests/frameworks/triton/liger_operators.py [NAME...]
"""

import sys

import liger_kernel.transformers.functional as liger
import torch
import torch.nn.functional as F

CASES = {}


def random(*shape):
    return torch.randn(shape, device="cuda")


def case(*inputs):
    """Register a pair of functions of these shapes: the decorated one returns liger's and torch's."""

    def register(make):
        CASES[make.__name__] = (inputs, make)
        return make

    return register


def rms(values):
    return values * torch.rsqrt(values.pow(2).mean(-1, keepdim=True) + 1e-6)


@case((4, 64, 257), (257,))
def rms_norm():
    return lambda x, w: liger.liger_rms_norm(x, w, 1e-6), lambda x, w: w * rms(x)


@case((64, 257), (64, 257), (257,))
def fused_add_rms_norm():
    return lambda x, r, w: liger.liger_fused_add_rms_norm(x, r, w, 1e-6), lambda x, r, w: (w * rms(x + r), x + r)


@case((64, 300), (300,), (300,))
def layer_norm():
    return lambda x, w, b: liger.liger_layer_norm(x, w, b, 1e-5), lambda x, w, b: F.layer_norm(x, (300,), w, b, 1e-5)


@case((2, 8, 50), (8,), (8,))
def group_norm():
    return (
        lambda x, w, b: liger.liger_group_norm(x, w, b, 8, 4, 1e-5),
        lambda x, w, b: F.group_norm(x, 4, w, b, 1e-5),
    )


@case((32, 200), (3,), ())
def poly_norm():
    return (
        lambda x, w, b: liger.liger_poly_norm(x, w, b, 1e-6),
        lambda x, w, b: w[0] * rms(x**3) + w[1] * rms(x**2) + w[2] * rms(x) + b,
    )


@case((32, 300), (32, 300))
def swiglu():
    return liger.liger_swiglu, lambda a, b: F.silu(a) * b


@case((32, 300), (32, 300))
def geglu():
    return liger.liger_geglu, lambda a, b: F.gelu(a, approximate="tanh") * b


@case((32, 300))
def relu_squared():
    return liger.liger_relu_squared, lambda x: F.relu(x).square()


@case((2, 8, 16, 64), (2, 2, 16, 64))
def rope():
    steps = torch.arange(16, device="cuda").float()
    angles = torch.outer(steps, 1 / 10000 ** (torch.arange(0, 64, 2, device="cuda") / 64)).repeat(1, 2)[None]
    cos, sin = angles.cos(), angles.sin()

    def turned(x):
        a, b = x.chunk(2, -1)
        return x * cos[:, None] + torch.cat([-b, a], -1) * sin[:, None]

    return lambda q, k: liger.liger_rope(q, k, cos, sin), lambda q, k: (turned(q), turned(k))


@case((64, 1000))
def cross_entropy():
    target = torch.randint(0, 1000, (64,), device="cuda")
    target[3] = -100
    options = {"label_smoothing": 0.1}
    return (
        lambda x: first(liger.liger_cross_entropy(x, target, **options)),
        lambda x: F.cross_entropy(x, target, **options),
    )


@case((64, 96), (500, 96))
def fused_linear_cross_entropy():
    target = torch.randint(0, 500, (64,), device="cuda")
    return (
        lambda x, w: first(liger.liger_fused_linear_cross_entropy(x, w, target)),
        lambda x, w: F.cross_entropy(x @ w.t(), target),
    )


@case((32, 500))
def kl_div():
    target = torch.softmax(random(32, 500), -1)
    return (
        lambda x: liger.liger_kl_div(torch.log_softmax(x, -1), target, reduction="batchmean"),
        lambda x: F.kl_div(torch.log_softmax(x, -1), target, reduction="batchmean"),
    )


@case((32, 500))
def jsd():
    other = torch.log_softmax(random(32, 500), -1)

    def by_torch(x):
        this = torch.log_softmax(x, -1)
        middle = torch.log((this.exp() + other.exp()) / 2)
        sums = (F.kl_div(middle, each, log_target=True, reduction="sum") for each in (this, other))
        return sum(sums) / 2 / 32

    return lambda x: liger.liger_jsd(torch.log_softmax(x, -1), other), by_torch


@case((32, 500))
def tvd():
    other = torch.softmax(random(32, 500), -1)
    return (
        lambda x: liger.liger_tvd(torch.softmax(x, -1), other, reduction="batchmean"),
        lambda x: (torch.softmax(x, -1) - other).abs().sum() / 2 / 32,
    )


@case((32, 300))
def softmax():
    return liger.liger_softmax, lambda x: torch.softmax(x, -1)


@case((32, 300))
def sparsemax():
    def by_torch(x):
        ordered, _ = torch.sort(x, -1, descending=True)
        sums = ordered.cumsum(-1)
        counts = torch.arange(1, x.shape[-1] + 1, device=x.device)
        size = (1 + counts * ordered > sums).sum(-1, keepdim=True)
        return torch.clamp(x - (sums.gather(-1, size - 1) - 1) / size, min=0)

    return liger.liger_sparsemax, by_torch


@case((32, 300), (1,), (300,), (300,))
def dyt():
    return liger.liger_dyt, lambda x, a, g, b: g * torch.tanh(a * x) + b


def first(result):
    return result[0] if isinstance(result, tuple) else result


def worst(name):
    """Return the largest difference of values and gradients, relative to the largest value (at least 1)."""
    torch.manual_seed(0)
    shapes, make = CASES[name]
    inputs = [random(*shape) for shape in shapes]
    found = []
    for function in make():
        torch.manual_seed(1)
        leaves = [each.clone().requires_grad_() for each in inputs]
        results = function(*leaves)
        results = results if isinstance(results, tuple) else (results,)
        values = [each.detach().clone() for each in results]
        gradients = [torch.ones_like(each) if each.dim() == 0 else random(*each.shape) for each in results]
        found.append([*values, *torch.autograd.grad(results, leaves, gradients)])
    pairs = zip(*found, strict=True)
    return max(float((a - b).abs().max() / max(1, float(b.abs().max()))) for a, b in pairs)


if __name__ == "__main__":
    for each in sys.argv[1:] or CASES:
        try:
            print(each, f"{worst(each):.1e}", flush=True)
        except Exception as error:
            print(each, f"{type(error).__name__}: {str(error).splitlines()[0][:200]}", flush=True)
