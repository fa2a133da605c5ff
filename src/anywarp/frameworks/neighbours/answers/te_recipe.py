"""Transformer Engine's recipes of 8 bits (its documentation, `transformer_engine.common.recipe`): which formats, and how scales are found."""

# pyright: basic
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

__all__ = [
    "CustomRecipe",
    "DelayedScaling",
    "Float8BlockScaling",
    "Float8CurrentScaling",
    "Format",
    "MMParams",
    "MXFP8BlockScaling",
    "NVFP4BlockScaling",
    "QParams",
    "Recipe",
]


class _Largest(NamedTuple):
    max_fwd: float
    max_bwd: float


class Format(Enum):
    """Formats of the forward and of the backward pass, by the largest number of each."""

    E2M1 = _Largest(6, 6)
    E4M3 = _Largest(448, 448)
    E5M2 = _Largest(57344, 57344)
    HYBRID = _Largest(448, 57344)


@dataclass(frozen=True)
class MMParams:
    """How a card adds products up: here always in float32."""

    use_split_accumulator: bool = True


@dataclass(frozen=True)
class QParams:
    """Parameters of a quantisation."""

    power_2_scale: bool = False
    amax_epsilon: float = 0.0
    random_hadamard_transform: bool = False
    stochastic_rounding: bool = False
    fp4_2d_quantization: bool = False


class Recipe:
    """What all recipes have."""

    fp8_dpa: bool = False
    fp8_mha: bool = False

    def __post_init__(self) -> None:
        """Refuse attention in 8 bits."""
        if self.fp8_dpa or self.fp8_mha:
            raise NotImplementedError(
                f"{type(self).__name__}: fp8_dpa and fp8_mha (attention in 8 bits) are not served by anywarp"
            )

    def delayed(self) -> bool:
        """Tell whether scales come from earlier steps."""
        return isinstance(self, DelayedScaling)

    def float8_current_scaling(self) -> bool:
        """Tell whether scales come from the tensor itself."""
        return isinstance(self, Float8CurrentScaling)

    def mxfp8(self) -> bool:
        """Tell whether blocks of 32 share a scale."""
        return isinstance(self, MXFP8BlockScaling)


@dataclass
class DelayedScaling(Recipe):
    """A scale for each tensor, from the largest magnitudes of earlier steps."""

    margin: int = 0
    fp8_format: Format = Format.HYBRID
    amax_history_len: int = 1024
    amax_compute_algo: str | Callable = "max"
    scaling_factor_compute_algo: Callable | None = None
    reduce_amax: bool = True
    fp8_dpa: bool = False
    fp8_mha: bool = False
    backward_override: str | None = None

    def __post_init__(self) -> None:
        """Refuse what the recipe refuses, and what is not served."""
        super().__post_init__()
        if self.fp8_format not in (Format.E4M3, Format.HYBRID):
            raise AssertionError("Only E4M3 and HYBRID are supported for training")
        _check_override(self)


@dataclass
class Float8CurrentScaling(Recipe):
    """A scale for each tensor, from its own largest magnitude."""

    use_power_2_scales: bool = False
    fp8_format: Format = Format.HYBRID
    fp8_gemm_fprop: MMParams = field(default_factory=lambda: MMParams(False))
    fp8_gemm_dgrad: MMParams = field(default_factory=lambda: MMParams(True))
    fp8_gemm_wgrad: MMParams = field(default_factory=lambda: MMParams(True))
    fp8_dpa: bool = False
    fp8_mha: bool = False
    backward_override: str | None = None

    def __post_init__(self) -> None:
        """Refuse what the recipe refuses, and what is not served."""
        super().__post_init__()
        if self.fp8_format not in (Format.E4M3, Format.HYBRID):
            raise AssertionError("Only E4M3 and HYBRID are supported for training")
        _check_override(self)


def _check_override(recipe) -> None:
    if recipe.backward_override is not None:
        raise NotImplementedError(f"{type(recipe).__name__}: backward_override is not served by anywarp")


class _NotServed(Recipe):
    """A recipe that can be named and asked for, and not computed with: its scales go by blocks, as tensor cores of Blackwell take them."""

    def __init__(self, *_, **__):
        raise NotImplementedError(
            f"{type(self).__name__} is not served by anywarp; DelayedScaling and Float8CurrentScaling are"
        )


class MXFP8BlockScaling(_NotServed):
    """Blocks of 32 with a scale each."""


class Float8BlockScaling(_NotServed):
    """Blocks of 128 with a scale each."""


class NVFP4BlockScaling(_NotServed):
    """4 bits."""


class CustomRecipe(_NotServed):
    """Quantisers of the program's own."""
