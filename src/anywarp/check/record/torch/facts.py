"""What a reader of a recording must know of the program's torch, and of its model, to hold another run against it."""

# pyright: basic, reportAttributeAccessIssue=false
from __future__ import annotations

import hashlib
import platform
import sys
from typing import Any

import torch

from anywarp import __version__
from anywarp.check.record.torch import sums
from anywarp.check.record.torch.naming import class_of
from anywarp.check.record.torch.values import bytes_of, name_of, plain, start_of

_LOOKED_AT = 1 << 16
"""Values of a parameter that its digest is made of: evenly spaced ones of larger parameters."""


def gather() -> dict[str, Any]:
    """Return versions, flags and device."""
    return {"versions": _versions(), "flags": _flags(), "device": _device()}


def _versions() -> dict[str, str]:
    found = {"anywarp": __version__, "python": platform.python_version(), "torch": torch.__version__}
    for name in ("numpy", "transformers", "diffusers", "vllm", "flash_attn", "triton", "accelerate"):
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            found[name] = version
    for name, version in (("cuda", torch.version.cuda), ("hip", getattr(torch.version, "hip", None))):
        if version:
            found[name] = version
    return found


def _flags() -> dict[str, Any]:
    cuda = torch.backends.cuda
    found: dict[str, Any] = {
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "default_dtype": name_of(torch.get_default_dtype()),
        "grad": torch.is_grad_enabled(),
        "threads": torch.get_num_threads(),
        "mkldnn": bool(getattr(torch.backends.mkldnn, "enabled", False)),
        "initial_seed": torch.initial_seed(),
    }
    for name, read in (
        ("allow_tf32", lambda: cuda.matmul.allow_tf32),
        ("cudnn.allow_tf32", lambda: torch.backends.cudnn.allow_tf32),
        ("cudnn.benchmark", lambda: torch.backends.cudnn.benchmark),
        ("cudnn.deterministic", lambda: torch.backends.cudnn.deterministic),
        ("fp16_reduced_precision_reduction", lambda: cuda.matmul.allow_fp16_reduced_precision_reduction),
        ("bf16_reduced_precision_reduction", lambda: cuda.matmul.allow_bf16_reduced_precision_reduction),
        ("attention", lambda: _attention(cuda)),
        ("autocast", lambda: {d: name_of(torch.get_autocast_dtype(d)) for d in ("cpu", "cuda") if torch.is_autocast_enabled(d)}),
    ):  # fmt: skip
        try:
            found[name] = _plain(read())
        except (AttributeError, RuntimeError):
            continue  # this torch has no such flag, or does not say
    return found


def _attention(cuda: Any) -> list[str]:
    asked = {
        "flash": cuda.flash_sdp_enabled,
        "efficient": cuda.mem_efficient_sdp_enabled,
        "math": cuda.math_sdp_enabled,
    }
    return [name for name, enabled in asked.items() if enabled()]


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str | list | dict) else str(value)


def _device() -> dict[str, Any]:
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        at = torch.cuda.current_device()
        return {
            "type": "cuda",
            "name": torch.cuda.get_device_name(at),
            "capability": list(torch.cuda.get_device_capability(at)),
        }
    return {
        "type": "cpu",
        "name": platform.processor() or platform.machine(),
        "capability": torch.backends.cpu.get_cpu_capability(),
    }


def structure(root: torch.nn.Module) -> dict[str, Any]:
    """Return a model's classes, and its parameters and buffers with shapes and digests."""
    modules = {name: class_of(module) for name, module in root.named_modules(remove_duplicate=False)}
    parameters = {name: _described(p) for name, p in root.named_parameters(remove_duplicate=False)}
    return {"class": class_of(root), "training": root.training, "modules": modules, "parameters": parameters}


def _described(parameter: torch.Tensor) -> dict[str, Any]:
    out: dict[str, Any] = {"dtype": name_of(parameter.dtype), "shape": list(parameter.shape)}
    tensor, why = plain(parameter)
    if tensor is None:
        return out | {"not_read": why}
    if not hasattr(parameter, "placements"):
        return out | {"digest": digest(tensor), "sum": sums.share(tensor, tuple(tensor.shape), (0,) * tensor.ndim)}
    start = start_of(parameter)
    return out | ({"not_read": "sharded in strides"} if start is None else sums.described(parameter, tensor, start))


def digest(tensor: torch.Tensor) -> str:
    """Return a digest of at most 65,536 evenly spaced values of a tensor, the first and last ones among them, with its dtype and shape."""
    flat = tensor.reshape(-1)
    if flat.numel() > _LOOKED_AT:
        step = -(-flat.numel() // (_LOOKED_AT - 1))
        flat = torch.cat([flat[::step], flat[-1:]])
    state = hashlib.sha256(f"{name_of(tensor.dtype)} {tuple(tensor.shape)} ".encode())
    state.update(bytes_of(flat))
    return state.hexdigest()[:32]
