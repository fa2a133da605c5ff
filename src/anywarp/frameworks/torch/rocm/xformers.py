"""xformers' attention has no operator on most AMD GPUs: its wheel is for CUDA, and Composable Kernel's kernels are for Instinct.

https://github.com/facebookresearch/xformers/issues/1175, https://github.com/utensils/comfyui-nix/issues/57. What it has it computes; what it refuses for want of an operator
torch's attention does, from the mask that the bias itself describes.
"""

# pyright: basic
from __future__ import annotations

from functools import wraps
from typing import Any

from anywarp.frameworks import watching
from anywarp.frameworks.torch import patches, rocm

MODULE = "xformers.ops"
FUNCTION = "memory_efficient_attention"
_REFUSED = "No operator found"


def install() -> watching.Watcher:
    """Put the watcher in force, once, and return it."""
    return watching.install(__name__, watching.Watcher(after={MODULE: _mend}))


def _mend(module: Any) -> None:
    real = getattr(module, FUNCTION, None)
    if real is not None and rocm.concerns(MODULE):
        reason = "what xformers has no operator for is computed by torch's attention"
        patches.set_attribute(module, FUNCTION, else_by_torch(real), reason)


def else_by_torch(real: Any) -> Any:
    """Return xformers' memory_efficient_attention that asks torch where `real` has no operator."""

    @wraps(real)
    def memory_efficient_attention(
        query: Any, key: Any, value: Any, attn_bias: Any = None, p: float = 0.0, scale: float | None = None, **more: Any
    ) -> Any:
        try:
            return real(query, key, value, attn_bias, p, scale, **more)
        except NotImplementedError as error:
            if _REFUSED not in str(error) or more.get("op") is not None:
                raise
        out = _attention(query, key, value, attn_bias, p, scale)
        return out if (wanted := more.get("output_dtype")) is None else out.to(wanted)

    return memory_efficient_attention


def _attention(query: Any, key: Any, value: Any, bias: Any, p: float, scale: float | None) -> Any:
    """Compute as xformers' documentation has it: (batch, rows, width), (batch, rows, heads, width) or (batch, rows, groups, heads, width)."""
    from anywarp.frameworks import attention

    shape = query.shape[:-1]
    q, k, v = (_heads_first(each) for each in (query, key, value))
    seen = added = None
    square_causal = type(bias).__name__ == "LowerTriangularMask" and q.shape[2] == k.shape[2]
    if bias is not None and not square_causal:
        seen, added = _mask(bias, q, k)
    out = attention.attend(q, k, v, seen, added, scale=scale, dropout=p, square_causal=square_causal)
    return out.transpose(1, 2).reshape(*shape, value.shape[-1])


def _heads_first(tensor: Any) -> Any:
    flat = tensor.unsqueeze(2) if tensor.dim() == 3 else tensor.flatten(2, -2)
    return flat.transpose(1, 2)


def _mask(bias: Any, q: Any, k: Any) -> tuple[Any, Any]:
    """Return which columns each row sees, and what is added to its scores; xformers' classes of masks say it as a tensor."""
    import torch

    shape = (q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    if not isinstance(bias, torch.Tensor):
        bias = bias.materialize(shape, dtype=q.dtype, device=q.device)
    if bias.dim() == 3:
        bias = bias.unsqueeze(1)
    elif bias.dim() == 5:
        bias = bias.flatten(1, 2)
    seen = bias != -torch.inf
    return seen, torch.where(seen, bias, 0.0)
