"""8 bits as Transformer Engine's recipes have them: factors are rounded to E4M3 or E5M2 and back, products are added up in float32.

Scales: `scale = largest of the format / amax / 2^margin` (documentation of DelayedScaling), where amax is the largest magnitude in the history, or now.
"""

# pyright: basic
from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator

import torch
from torch import Tensor

from anywarp.frameworks.neighbours.answers.te_recipe import DelayedScaling, Float8CurrentScaling, Format, Recipe

__all__ = [
    "FP8GlobalStateManager",
    "autocast",
    "check_fp8_support",
    "check_recipe_support",
    "fp8_autocast",
    "fp8_model_init",
    "get_default_fp8_recipe",
    "get_default_recipe",
    "is_fp8_available",
    "is_fp8_block_scaling_available",
    "is_mxfp8_available",
    "is_nvfp4_available",
    "quantized_model_init",
]


class _Autocast:
    """What the innermost autocast says, and which quantisers have seen something since the outermost began, in the order of their use."""

    def __init__(self):
        self.enabled = self.calibrating = False
        self.recipe: Recipe | None = None
        self.group = None
        self.depth = 0
        self.forward: dict[int, weakref.ref[Quantiser]] = {}
        self.backward: dict[int, weakref.ref[Quantiser]] = {}


_now = _Autocast()


class Quantiser:
    """One tensor of one module: its history and scale. What is saved of it is `state` (a module's extra state)."""

    def __init__(self, of_gradients: bool):
        self.of_gradients = of_gradients
        self.history: Tensor | None = None
        self.scale = torch.ones(())
        self.recipe: DelayedScaling | None = None
        self.group = None

    def _format(self, recipe) -> tuple[torch.dtype, float]:
        wide = self.of_gradients and recipe.fp8_format is Format.HYBRID
        return (torch.float8_e5m2, 57344.0) if wide else (torch.float8_e4m3fn, 448.0)

    def note(self, amax: Tensor, recipe: DelayedScaling, group) -> None:
        """Remember a magnitude for the steps to come."""
        if self.history is None or len(self.history) != recipe.amax_history_len:
            old, self.history = self.history, torch.zeros(recipe.amax_history_len)
            if old is not None:
                kept = min(len(old), len(self.history))
                self.history[:kept] = old[:kept]
        self.history[0] = torch.maximum(self.history[0], amax.cpu())
        self.recipe, self.group = recipe, group
        (_now.backward if self.of_gradients else _now.forward)[id(self)] = weakref.ref(self)

    def __call__(self, x: Tensor, recipe: Recipe, group=None) -> Tensor:
        """Return x as float32, rounded to the recipe's format by its scale."""
        kind, largest = self._format(recipe)
        wide = x.detach().float()
        amax = wide.abs().max() if wide.numel() else wide.new_zeros(())
        if isinstance(recipe, DelayedScaling):
            scale = self.scale.to(x.device)
            self.note(amax, recipe, group)
        else:
            scale = torch.where((amax > 0) & torch.isfinite(amax), largest / amax, torch.ones_like(amax))
            scale = torch.where(torch.isinf(scale), torch.full_like(scale, torch.finfo(torch.float32).max), scale)
            if isinstance(recipe, Float8CurrentScaling) and recipe.use_power_2_scales:
                scale = torch.exp2(torch.floor(torch.log2(scale)))
        return (wide * scale).clamp(-largest, largest).to(kind).float() / scale

    def update(self) -> None:
        """Find the scale of the next step, and begin its place in the history."""
        recipe, history = self.recipe, self.history
        if recipe is None or history is None:
            return
        if recipe.reduce_amax and torch.distributed.is_available() and torch.distributed.is_initialized():
            torch.distributed.all_reduce(history[0], torch.distributed.ReduceOp.MAX, group=self.group)
        algorithm = recipe.amax_compute_algo
        if callable(algorithm):
            amax = algorithm(history)
        else:
            amax = history.max() if algorithm == "max" else history[0].clone()
        _, largest = self._format(recipe)
        if recipe.scaling_factor_compute_algo is not None:
            self.scale = recipe.scaling_factor_compute_algo(amax, self.scale, largest, recipe)
        elif amax > 0 and torch.isfinite(amax):
            scale = largest / amax / 2.0**recipe.margin
            self.scale = torch.where(torch.isinf(scale), torch.tensor(torch.finfo(torch.float32).max), scale)
        self.history = torch.roll(history, -1)
        self.history[0] = 0.0


def active() -> tuple[Recipe, object] | None:
    """Return recipe and group inside of an autocast that is enabled."""
    return (_now.recipe, _now.group) if _now.enabled and _now.recipe is not None else None


class FP8GlobalStateManager:
    """What the innermost autocast says, as programs ask for it."""

    @classmethod
    def is_fp8_enabled(cls) -> bool:
        """Tell whether layers multiply in 8 bits."""
        return _now.enabled

    @classmethod
    def is_fp8_calibration(cls) -> bool:
        """Tell whether histories are filled."""
        return _now.calibrating

    @classmethod
    def get_fp8_recipe(cls) -> Recipe:
        """Return the recipe, the default one outside of an autocast."""
        return _now.recipe or get_default_recipe()

    @classmethod
    def get_fp8_group(cls):
        """Return the group whose ranks share magnitudes."""
        return _now.group


def calibrating() -> DelayedScaling | None:
    """Return the recipe whose histories are filled while values stay as they are."""
    wanted = _now.calibrating and not _now.enabled and isinstance(_now.recipe, DelayedScaling)
    return _now.recipe if wanted else None  # type: ignore[return-value]


@contextlib.contextmanager
def autocast(enabled=True, calibrating=False, recipe=None, amax_reduction_group=None, _graph=False) -> Iterator[None]:
    """Have layers multiply in 8 bits; scales of the forward pass are found when the outermost one ends, those of gradients when the next begins."""
    if _now.depth == 0:
        _update(_now.backward)
    before = (_now.enabled, _now.calibrating, _now.recipe, _now.group)
    _now.enabled, _now.calibrating = bool(enabled), bool(calibrating)
    _now.recipe, _now.group = recipe or get_default_recipe(), amax_reduction_group
    _now.depth += 1
    try:
        yield
    finally:
        _now.depth -= 1
        _now.enabled, _now.calibrating, _now.recipe, _now.group = before
        if _now.depth == 0 and torch.is_grad_enabled():
            _update(_now.forward)


def fp8_autocast(enabled=True, calibrating=False, fp8_recipe=None, fp8_group=None, _graph=False):
    """Return `autocast` under its older name."""
    return autocast(enabled, calibrating, fp8_recipe, fp8_group, _graph)


def _update(waiting: dict[int, weakref.ref[Quantiser]]) -> None:
    for each in list(waiting.values()):
        if (quantiser := each()) is not None:
            quantiser.update()
    waiting.clear()


@contextlib.contextmanager
def quantized_model_init(enabled=True, recipe=None, preserve_high_precision_init_val=False) -> Iterator[None]:
    """Refuse parameters that are kept in 8 bits."""
    if enabled:
        raise NotImplementedError("fp8_model_init: parameters in 8 bits (Float8Tensor) are not served by anywarp")
    yield


def fp8_model_init(enabled=True, recipe=None, preserve_high_precision_init_val=False):
    """Return `quantized_model_init` under its older name."""
    return quantized_model_init(enabled, recipe, preserve_high_precision_init_val)


def get_default_recipe() -> Recipe:
    """Return the recipe of a card of compute capability 8.9 or 9.0."""
    return DelayedScaling()


get_default_fp8_recipe = get_default_recipe


def check_fp8_support() -> tuple[bool, str]:
    """Say that there are 8 bits."""
    return True, ""


def is_fp8_available(return_reason=False):
    """Say that there are 8 bits."""
    return (True, "") if return_reason else True


def _not_there(what: str):
    def ask(return_reason=False):
        return (False, f"anywarp does not serve {what}") if return_reason else False

    return ask


is_mxfp8_available = _not_there("MXFP8")
is_nvfp4_available = _not_there("NVFP4")
is_fp8_block_scaling_available = _not_there("scales by blocks")


def check_recipe_support(recipe) -> None:
    """Return for the recipes that can be made."""


class Product(torch.autograd.Function):
    """x @ weight.T with factors in 8 bits; so are the gradient's products."""

    @staticmethod
    def forward(
        ctx, x: Tensor, weight: Tensor, low_x: Tensor, low_weight: Tensor, of_gradient: Quantiser, how
    ) -> Tensor:
        """Return the product of the rounded factors, in the type of x."""
        ctx.save_for_backward(low_x, low_weight)
        ctx.of_gradient, ctx.how, ctx.kinds = of_gradient, how, (x.dtype, weight.dtype)
        return (low_x @ low_weight.t()).to(x.dtype)

    @staticmethod
    def backward(ctx, slope: Tensor):
        """Return the gradients of x and weight."""
        low_x, low_weight = ctx.saved_tensors
        low = ctx.of_gradient(slope, *ctx.how)
        return (low @ low_weight).to(ctx.kinds[0]), (low.t() @ low_x).to(ctx.kinds[1]), None, None, None, None
