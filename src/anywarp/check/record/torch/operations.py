"""What made a module's output, as far as bounds on rounding need to know (`anywarp.numerics.operation`)."""

# pyright: basic, reportAttributeAccessIssue=false
from __future__ import annotations

import math
import weakref
from typing import Any

import torch
from torch import nn

from anywarp.check.record.torch.values import name_of, tensors_in
from anywarp.numerics.operation import Operation

_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
_BATCH = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)
_INSTANCE = (nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)
_COPIES = (
    nn.Identity,
    nn.Flatten,
    nn.Unflatten,
    nn.MaxPool1d,
    nn.MaxPool2d,
    nn.MaxPool3d,
    nn.PixelShuffle,
    nn.ZeroPad2d,
)
_POINTWISE = {
    nn.ReLU: "relu", nn.ReLU6: "relu6", nn.LeakyReLU: "leaky_relu", nn.GELU: "gelu", nn.SiLU: "silu", nn.Tanh: "tanh", nn.Sigmoid: "sigmoid",
    nn.Mish: "mish", nn.ELU: "elu", nn.Softplus: "softplus", nn.Hardswish: "hardswish", nn.Hardsigmoid: "hardsigmoid",
}  # fmt: skip
_NAMED_POINTWISE = {"NewGELUActivation": "gelu", "GELUActivation": "gelu", "SiLUActivation": "silu"}
"""Activations of the package transformers, by the names of their classes."""


def is_linear(module: nn.Module) -> bool:
    """Whether a module computes x W^T + b."""
    return isinstance(module, nn.Linear)


def is_linear_transposed(module: nn.Module) -> bool:
    """Whether a module computes x W + b: GPT-2's, which the package transformers calls Conv1D."""
    return type(module).__name__ == "Conv1D" and getattr(module, "weight", torch.empty(0)).ndim == 2


def is_convolution(module: nn.Module) -> bool:
    """Whether a module is a convolution, or a transposed one."""
    return isinstance(module, (*_CONVOLUTIONS, *_TRANSPOSED))


def is_norm(module: nn.Module) -> bool:
    """Whether a module normalises; RMS norms are many classes of one name."""
    return isinstance(module, (nn.LayerNorm, nn.GroupNorm, *_BATCH, *_INSTANCE)) or "RMSNorm" in type(module).__name__


def is_composed(module: nn.Module) -> bool:
    """Whether a module is made of several operations, or of unknown ones."""
    return _kind(module, None)[0] in ("composite", "unknown")


def of_module(module: nn.Module, args: tuple[tuple[Any, ...], dict[str, Any]], out: Any) -> dict[str, Any]:
    """Return the operation of a module that was called with `args`, positional ones and named ones, ready for JSON."""
    first = args[0][0] if args[0] else None
    if not isinstance(first, torch.Tensor) or not first.is_floating_point():
        first = next((t for _, t in tensors_in(args) if t.is_floating_point()), None)
    made = out if isinstance(out, torch.Tensor) else next((t for _, t in tensors_in(out)), None)
    return _of(module, first, made)


def _of(module: nn.Module, given: torch.Tensor | None, made: torch.Tensor | None) -> dict[str, Any]:
    key = _key(module, given, made)
    if key is not None and key in (known := _known.setdefault(module, {})):
        return known[key]
    operation = _found(module, given, made)
    if key is not None:
        _known[module][key] = operation
    return operation


_known: weakref.WeakKeyDictionary[nn.Module, dict[Any, dict[str, Any]]] = weakref.WeakKeyDictionary()
"""Operations of modules, by what they depend on; asking torch for all of it at each call costs more than recording the call."""


def _key(module: nn.Module, given: torch.Tensor | None, made: torch.Tensor | None) -> Any:
    """Return what an operation depends on beside the module; None where that is not known to be all (autocast, TF32)."""
    if given is None or made is None or given.device.type != "cpu" or torch.is_autocast_enabled("cpu"):
        return None
    return given.dtype, given.shape, made.dtype, made.shape, module.training


def _found(module: nn.Module, given: torch.Tensor | None, made: torch.Tensor | None) -> dict[str, Any]:
    output = name_of(made.dtype) if made is not None else "float32"
    kind, reduction, function = _kind(module, given)
    operands = _operands(module, given, kind)
    found = Operation(
        kind,  # pyright: ignore[reportArgumentType]
        max(int(reduction), 1),
        operands,
        "float64" if operands == "float64" else "float32",
        output,
        function,
        _heads(module, made),
        _composed(module)[1] if kind == "composite" else 1,
        staged=is_convolution(module) and module.bias is not None,
    )
    return dict(vars(found))  # asdict copies, which costs more than all else here


def of_attention(query: torch.Tensor, key: torch.Tensor) -> dict[str, Any]:
    """Return the operation of scaled_dot_product_attention; q (.., heads, L, E), k (.., heads, S, E)."""
    operands = _as_multiplied(query)
    accumulator = "float64" if operands == "float64" else "float32"
    # No heads: they are an axis of their own in the result.
    return vars(Operation("attention", max(int(key.shape[-2]), 1), operands, accumulator, name_of(query.dtype)))


def _kind(module: nn.Module, given: torch.Tensor | None) -> tuple[str, int, str]:
    if is_linear(module) or is_linear_transposed(module):
        weight: Any = module.weight
        return "product", weight.shape[1 if is_linear(module) else 0], ""
    if isinstance(module, _CONVOLUTIONS):
        return "product", module.weight[0].numel(), ""
    if isinstance(module, _TRANSPOSED):
        return "product", module.weight.shape[0] // module.groups * math.prod(module.kernel_size), ""
    if isinstance(module, nn.Embedding):
        return "embedding", 1, ""
    if is_norm(module):
        return _norm(module, given)
    if isinstance(module, nn.Softmax | nn.LogSoftmax) and given is not None:
        return "softmax", given.shape[module.dim if module.dim is not None else -1], ""
    if isinstance(module, _COPIES) or (isinstance(module, nn.modules.dropout._DropoutNd) and not module.training):
        return "copy", 1, ""
    for kind, function in _POINTWISE.items():
        if isinstance(module, kind):
            return "pointwise", 1, function
    if type(module).__name__ in _NAMED_POINTWISE:
        return "pointwise", 1, _NAMED_POINTWISE[type(module).__name__]
    return ("composite", _composed(module)[0], "") if any(True for _ in module.children()) else ("unknown", 1, "")


def _norm(module: nn.Module, given: torch.Tensor | None) -> tuple[str, int, str]:
    count = given.numel() if given is not None else 1
    if isinstance(module, nn.LayerNorm):
        return "norm", math.prod(module.normalized_shape), ""
    if isinstance(module, nn.GroupNorm) and given is not None:
        return "norm", count // max(given.shape[0] * module.num_groups, 1), ""
    if isinstance(module, _BATCH) and given is not None:
        if not module.training and module.track_running_stats:
            return "pointwise", 1, "batch_norm"
        return "norm", count // max(given.shape[1], 1), ""
    if isinstance(module, _INSTANCE) and given is not None:
        return "norm", count // max(given.shape[0] * given.shape[1], 1), ""
    weight = getattr(module, "weight", None)
    return "norm", weight.numel() if isinstance(weight, torch.Tensor) else 1, ""


def _operands(module: nn.Module, given: torch.Tensor | None, kind: str) -> str:
    weight = getattr(module, "weight", None)
    if kind == "unknown":
        own = [*module.parameters(recurse=False), *module.buffers(recurse=False)]
        weight = next((t for t in own if name_of(t.dtype).startswith("float8")), weight)
    if not isinstance(weight, torch.Tensor):
        weight = next(module.parameters(), None) if kind == "composite" else None
    chosen = weight if isinstance(weight, torch.Tensor) and weight.is_floating_point() else given
    if chosen is None:
        return "float32"
    return _as_multiplied(chosen) if kind in ("product", "composite") else name_of(chosen.dtype)


def _as_multiplied(tensor: torch.Tensor) -> str:
    device = tensor.device.type
    if torch.is_autocast_enabled(device) and tensor.dtype != torch.float64:
        return name_of(torch.get_autocast_dtype(device))
    name = name_of(tensor.dtype)
    if name == "float32" and device == "cuda" and torch.backends.cuda.matmul.allow_tf32:
        return "tf32"
    return name


def _heads(module: nn.Module, made: torch.Tensor | None) -> int:
    for name in ("num_heads", "n_head", "n_heads", "num_attention_heads", "heads"):
        heads = getattr(module, name, None)
        if type(heads) is int and made is not None and made.ndim and heads > 0 and made.shape[-1] % heads == 0:
            return heads
    return 0


_of_composites: weakref.WeakKeyDictionary[nn.Module, tuple[int, int]] = weakref.WeakKeyDictionary()


def _composed(module: nn.Module) -> tuple[int, int]:
    """Return the longest sum in a module, and how many operations follow each other at most: the leaves, since nobody knows which of them run side by side.

    Looked up once: whoever puts other modules into one later gets the tolerance of the first.
    """
    if module not in _of_composites:
        each = list(module.modules())
        sums = (m.weight[0].numel() for m in each if is_linear(m) or is_convolution(m))  # pyright: ignore[reportArgumentType, reportIndexIssue]
        leaves = sum(1 for m in each if next(m.children(), None) is None)
        _of_composites[module] = max([1, *sums]), max(leaves, 1)  # pyright: ignore[reportArgumentType]
    return _of_composites[module]
