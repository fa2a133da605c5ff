"""NVIDIA's Apex: its norms, optimizers and functions over lists of tensors, as its documentation has them (PyPI's `apex` is another project)."""

# pyright: basic
from __future__ import annotations

from collections.abc import Iterator

from anywarp.frameworks.neighbours.answered import Answered
from anywarp.frameworks.neighbours.neighbour import Difference, Ran

ANSWERS = {
    "apex": "holder",
    "apex.normalization": "apex_norms",
    "apex.normalization.fused_layer_norm": "apex_norms",
    "apex.optimizers": "apex_optimizers",
    "apex.multi_tensor_apply": "apex_multi_tensor",
    "amp_C": "apex_multi_tensor",
}


def test() -> Iterator[Difference]:
    """Compare the layer norm and a step of Adam with their definitions in double precision."""
    import torch

    from anywarp.frameworks.neighbours.answers import apex_norms, apex_optimizers

    x = torch.randn(6, 10, generator=torch.Generator().manual_seed(1))
    exact = x.double() - x.double().mean(-1, keepdim=True)
    exact = exact / (exact.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()
    found = apex_norms.FusedLayerNorm(10).cuda()(x.cuda()).detach().cpu().double()
    yield Difference("FusedLayerNorm", float((found - exact).abs().max()), 1e-5)
    number = torch.nn.Parameter(x.cuda())
    number.grad = x.cuda()
    apex_optimizers.FusedAdam([number], lr=0.1).step()
    wanted = x.double() - 0.1 * x.double() / (x.double().abs() + 1e-8)  # the first step of Adam is the gradient's sign
    yield Difference("FusedAdam", float((number.detach().cpu().double() - wanted).abs().max()), 1e-5)


NEIGHBOUR = Answered(
    name="apex",
    distribution="apex",
    version="0.1+anywarp",
    oldest=(0, 1),
    kernels=("amp_C*.so", "fused_layer_norm_cuda*.so"),
    answers=ANSWERS,
    ran=(
        Ran(
            "0.1",
            "replaced by",
            "torch's operators, with gradients: norms, `FusedAdam`, `FusedSGD`, `multi_tensor_applier` with `amp_C`'s scale, axpby and l2norm; `apex.contrib`, `apex.amp` and `apex.parallel` do not exist in it",
            "2026-11-29",
            "tests/frameworks/torch/test_apex.py",
        ),
    ),
    test=test,
)
