"""Operators of a moved graph that must still be called on device tensors, and the operators that stand for them.

They are those that only CUDA serves, those that draw from the device's generator, and those of other libraries, whose kernels
may ask for the device. native/torch/islands.cpp holds the kernel.
"""

# pyright: basic
from __future__ import annotations

from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils import _pytree as pytree

OURS = frozenset({"anywarp", "anywarp_islands"})

AS_THEY_ARE = frozenset(
    {
        "aten",
        "prims",
        "prim",
        "inductor",
        "mkldnn",
        "mkl",
        "quantized",
        "quantized_decomposed",
        "rngprims",
        "_quantized",
    }
)
"""Namespaces of torch whose operators the CPU serves, or Inductor itself."""

ON_CPU = frozenset({"_c10d_functional::wait_tensor", "streams::fork", "streams::join"})
"""Operators that have nothing to do once their argument is a plain tensor of the CPU."""


def device_of(value: Any) -> torch.device | None:
    """Return the CUDA device of a (fake) tensor or of a device; None for all else."""
    device = value if isinstance(value, torch.device) else getattr(value, "device", None)
    return device if isinstance(device, torch.device) and device.type == "cuda" else None


def index_of(device: torch.device) -> int:
    """Return the number of a CUDA device, the current one when it names none."""
    return torch.cuda.current_device() if device.index is None else device.index


def needed(op: OpOverload) -> bool:
    """Tell whether compiled code must call this operator on device tensors."""
    namespace = op.namespace
    if namespace in OURS or op.name().split(".")[0] in ON_CPU:
        return False
    if namespace not in AS_THEY_ARE or torch.Tag.nondeterministic_seeded in op.tags:
        return True
    return not _served_by_cpu(op) and not _lowered(op)


def _served_by_cpu(op: OpOverload) -> bool:
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    keys = ("CPU", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutograd")
    return any(has(op.name(), key) for key in keys)


def _lowered(op: OpOverload) -> bool:
    """Tell whether Inductor generates code for the operator, instead of calling it."""
    from torch._inductor import lowering

    return op in lowering.lowerings and op not in lowering.fallbacks


def pattern(op: OpOverload, values: list[Any]) -> str:
    """Say where each tensor and device among the arguments lives, in their order: `0_h_1`."""
    places: list[str] = []
    for declared, value in zip(op._schema.arguments, values, strict=True):
        if isinstance(declared.type, torch.OptionalType | torch.DeviceObjType) and isinstance(value, str):
            value = torch.device(value)
        for leaf in pytree.tree_leaves(value):
            if isinstance(leaf, torch.Tensor | torch.device):
                device = device_of(leaf)
                places.append("h" if device is None else str(index_of(device)))
    return "_".join(places)


def arguments_of(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Return the arguments in the order of the schema, defaults filled in."""
    values = list(args)
    for declared in op._schema.arguments[len(args) :]:
        values.append(kwargs.get(declared.name, declared.default_value))
    return values


def island(op: OpOverload, places: str) -> OpOverload:
    """Return the operator that calls `op` on device tensors at `places`; made when it is new."""
    overload = "" if op._overloadname == "default" else op._overloadname
    with torch._C._DisableTorchDispatch():  # a graph is being traced, and the operator has no tensors to trace
        name = torch.ops.anywarp.define_island(op._schema.name, overload, places)
    made = getattr(torch.ops.anywarp_islands, name).default
    if name not in _described:
        _described[name] = (op._schema.name, overload, places)
        torch.library.register_fake(f"anywarp_islands::{name}", op)
    return made


_described: dict[str, tuple[str, str, str]] = {}


def described(names: set[str]) -> list[tuple[str, str, str]]:
    """Return what `define` needs to make these islands in another process."""
    return [_described[name] for name in sorted(names) if name in _described]


def define(islands: list[tuple[str, str, str]]) -> None:
    """Make islands that were described in another process; RuntimeError when their operator does not exist here."""
    for name, overload, places in islands:
        namespace, _, plain = name.partition("::")
        island(getattr(getattr(getattr(torch.ops, namespace), plain), overload or "default"), places)
