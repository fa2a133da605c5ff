"""The paged cache of keys and values: tokens go to their slots. A slot is block * block size + offset; a negative one is of a token to leave out."""

# pyright: basic
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

_EIGHT_BITS = {"fp8": torch.float8_e4m3fn, "fp8_e4m3": torch.float8_e4m3fn, "fp8_e5m2": torch.float8_e5m2}


def stored(values: Tensor, into: Tensor, kind: str, scale: Tensor) -> tuple[Tensor, Tensor]:
    """Return `values` as the cache keeps them, and the cache as a tensor of that type.

    NotImplementedError for a kind other than the model's own type and 8-bit floats with one scale.
    """
    if kind in ("auto", "bfloat16", "float16", "half", "float") and into.dtype not in _EIGHT_BITS.values():
        return values.to(into.dtype), into
    if kind not in _EIGHT_BITS or scale.numel() != 1:
        raise NotImplementedError(
            f"anywarp keeps no cache of keys and values of the kind {kind!r} with {scale.numel()} scales"
        )
    narrow = _EIGHT_BITS[kind]
    largest = torch.finfo(narrow).max
    rounded = (values.float() / scale.float()).clamp(-largest, largest).to(narrow)
    return rounded.view(torch.uint8), into.view(torch.uint8)


def reshape_and_cache_flash(
    key: Tensor,
    value: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    slot_mapping: Tensor,
    kv_cache_dtype: str,
    k_scale: Tensor,
    v_scale: Tensor,
) -> None:
    """Put keys and values (tokens, heads, size) into caches (blocks, block size, heads, size) of any strides.

    slot_mapping has as many slots as there are tokens; `key` and `value` may be padded beyond.
    """
    slots, given = _used(slot_mapping)
    block_size = key_cache.shape[1]
    blocks, offsets = slots.div(block_size, rounding_mode="floor"), slots % block_size
    for tokens, cache, scale in ((key, key_cache, k_scale), (value, value_cache, v_scale)):
        narrow, place = stored(tokens[: slot_mapping.shape[0]][given], cache, kv_cache_dtype, scale)
        place[blocks, offsets] = narrow


def _used(slot_mapping: Tensor) -> tuple[Tensor, Any]:
    """Return the slots that are none to leave out, and what selects their tokens."""
    given = slot_mapping >= 0
    return (slot_mapping, slice(None)) if bool(given.all()) else (slot_mapping[given], given)


KERNELS: dict[str, Callable[..., Any]] = {"_C_cache_ops::reshape_and_cache_flash": reshape_and_cache_flash}
