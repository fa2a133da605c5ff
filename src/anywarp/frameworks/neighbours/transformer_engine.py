"""NVIDIA's Transformer Engine for PyTorch: layers, attention and 8 bits, as its documentation of 2.x has them."""

# pyright: basic
from __future__ import annotations

from collections.abc import Iterator

from anywarp.frameworks.neighbours.answered import Answered
from anywarp.frameworks.neighbours.neighbour import Difference, Ran

PARTS = {
    "": "te_pytorch",
    ".attention": "te_attention",
    ".distributed": "te_distributed",
    ".fp8": "te_fp8",
    ".module": "te_module",
    ".ops": "te_refused",
    ".quantization": "te_fp8",
    ".router": "te_refused",
    ".tensor": "te_refused",
    ".transformer": "te_transformer",
}
ANSWERS = {
    "transformer_engine": "holder",
    "transformer_engine.common": "holder",
    "transformer_engine.common.recipe": "te_recipe",
    **{f"transformer_engine.pytorch{part}": ours for part, ours in PARTS.items()},
}


def test() -> Iterator[Difference]:
    """Compare a product in 8 bits with its definition: exact factors of few bits come through without a change."""
    import torch

    from anywarp.frameworks.neighbours.answers import te_pytorch as te
    from anywarp.frameworks.neighbours.answers.te_recipe import Float8CurrentScaling

    layer = te.Linear(16, 8, bias=False)
    x = torch.arange(8 * 16).reshape(8, 16).remainder(15).sub(7).float()
    weight = torch.arange(8 * 16).reshape(8, 16).remainder(13).sub(6).float()
    with torch.no_grad():
        layer.get_parameter("weight").copy_(weight)
    wanted = x.double() @ weight.double().t()
    yield Difference("Linear", float((layer(x.cuda()).detach().cpu().double() - wanted).abs().max()), 1e-5)
    with te.autocast(recipe=Float8CurrentScaling()):
        found = layer(x.cuda()).detach().cpu().double()
    yield Difference("Linear in 8 bits", float((found - wanted).abs().max() / wanted.abs().max()), 0.05)


NEIGHBOUR = Answered(
    name="transformer_engine",
    distribution="transformer-engine",
    version="2.20.2+anywarp",
    oldest=(1, 0),
    kernels=("transformer_engine_torch*.so", "transformer_engine/**/*.so", "transformer_engine/*.so"),
    answers=ANSWERS,
    whole=True,
    ran=(
        Ran(
            "2.20.2",
            "replaced by",
            "torch's operators, with gradients: layers, attention, `TransformerLayer`; 8 bits with `DelayedScaling` and `Float8CurrentScaling`, factors rounded and sums in float32; linear layers and attention divided among ranks; other recipes, other layers on several cards and 8-bit parameters are refused by name",
            "2026-11-29",
            "tests/frameworks/torch/test_transformer_engine.py",
        ),
    ),
    test=test,
)
