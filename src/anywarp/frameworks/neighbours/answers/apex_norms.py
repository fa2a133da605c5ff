"""Apex's fused norms (its documentation, `apex.normalization`): layers and functions, computed in float32 or better."""

# pyright: basic
from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = [
    "FusedLayerNorm",
    "FusedLayerNormAffineFunction",
    "FusedRMSNorm",
    "FusedRMSNormAffineFunction",
    "MixedFusedLayerNorm",
    "MixedFusedRMSNorm",
    "fused_layer_norm",
    "fused_layer_norm_affine",
    "fused_rms_norm",
    "fused_rms_norm_affine",
]


def _norm(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, shape, eps: float, centred: bool, kind: torch.dtype
) -> Tensor:
    """Return x normalised over the last dimensions `shape`, times weight, plus bias, as `kind`."""
    exact = torch.promote_types(x.dtype, torch.float32)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    wide, (by, plus) = x.to(exact), (None if each is None else each.to(exact) for each in (weight, bias))
    if centred:
        return nn.functional.layer_norm(wide, shape, by, plus, eps).to(kind)
    return nn.functional.rms_norm(wide, shape, by, eps).to(kind)


def fused_layer_norm_affine(
    input: Tensor, weight: Tensor, bias: Tensor, normalized_shape, eps=1e-6, memory_efficient=False
) -> Tensor:
    """Return the norm in the input's type; `memory_efficient`, what is kept for the gradient, changes no value."""
    return _norm(input, weight, bias, normalized_shape, eps, True, input.dtype)


def fused_layer_norm(input: Tensor, normalized_shape, eps=1e-6, memory_efficient=False) -> Tensor:
    """Return the norm without weight and bias."""
    return _norm(input, None, None, normalized_shape, eps, True, input.dtype)


def fused_rms_norm_affine(input: Tensor, weight: Tensor, normalized_shape, eps=1e-6, memory_efficient=False) -> Tensor:
    """Return the norm by the root of the mean square, in the input's type."""
    return _norm(input, weight, None, normalized_shape, eps, False, input.dtype)


def fused_rms_norm(input: Tensor, normalized_shape, eps=1e-6, memory_efficient=False) -> Tensor:
    """Return the same without weight."""
    return _norm(input, None, None, normalized_shape, eps, False, input.dtype)


class FusedLayerNormAffineFunction:
    """The function behind the layer, which some programs apply themselves; torch differentiates what it is made of."""

    @staticmethod
    def forward(ctx, input, weight, bias, normalized_shape, eps, memory_efficient=False) -> Tensor:
        """Return the norm; the context is not used."""
        return fused_layer_norm_affine(input, weight, bias, normalized_shape, eps, memory_efficient)

    @classmethod
    def apply(cls, *given) -> Tensor:
        """Return `forward` of what is given."""
        return cls.forward(None, *given)


class FusedRMSNormAffineFunction:
    """The same of the norm by the root of the mean square."""

    @staticmethod
    def forward(ctx, input, weight, normalized_shape, eps, memory_efficient=False) -> Tensor:
        """Return the norm; the context is not used."""
        return fused_rms_norm_affine(input, weight, normalized_shape, eps, memory_efficient)

    @classmethod
    def apply(cls, *given) -> Tensor:
        """Return `forward` of what is given."""
        return cls.forward(None, *given)


class FusedRMSNorm(nn.Module):
    """The norm by the root of the mean square, as a layer; results have the input's type."""

    of_weight = False
    weight: nn.Parameter | None

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, memory_efficient=False):
        super().__init__()
        self.normalized_shape = torch.Size(
            (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        )
        self.eps, self.elementwise_affine, self.memory_efficient = eps, elementwise_affine, memory_efficient
        self.register_parameter(
            "weight", nn.Parameter(torch.empty(*self.normalized_shape)) if elementwise_affine else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to ones."""
        if self.weight is not None:
            nn.init.ones_(self.weight)

    def _kind(self, input: Tensor) -> torch.dtype:
        return self.weight.dtype if self.of_weight and self.weight is not None else input.dtype

    def forward(self, input: Tensor) -> Tensor:
        """Return the norm of `input`."""
        return _norm(input, self.weight, None, self.normalized_shape, self.eps, False, self._kind(input))

    def extra_repr(self) -> str:
        """Say the shape, eps and whether there is a weight."""
        return f"{tuple(self.normalized_shape)}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class FusedLayerNorm(FusedRMSNorm):
    """The layer norm; results have the input's type."""

    bias: nn.Parameter | None

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, memory_efficient=False):
        super().__init__(normalized_shape, eps, elementwise_affine, memory_efficient)
        self.register_parameter(
            "bias", nn.Parameter(torch.zeros(*self.normalized_shape)) if elementwise_affine else None
        )

    def reset_parameters(self) -> None:
        """Set the weight to ones and the bias to zeros."""
        super().reset_parameters()
        bias: Tensor | None = getattr(self, "bias", None)
        if bias is not None:
            nn.init.zeros_(bias)

    def forward(self, input: Tensor) -> Tensor:
        """Return the norm of `input`."""
        return _norm(input, self.weight, self.bias, self.normalized_shape, self.eps, True, self._kind(input))


class MixedFusedLayerNorm(FusedLayerNorm):
    """The layer norm whose results have the weight's type."""

    of_weight = True


class MixedFusedRMSNorm(FusedRMSNorm):
    """The norm by the root of the mean square whose results have the weight's type."""

    of_weight = True
