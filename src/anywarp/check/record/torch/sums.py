"""Digests of parameters that lie over several ranks: each rank's share is a number, and the shares of all add up to that of the whole."""

# pyright: basic, reportAttributeAccessIssue=false
from __future__ import annotations

from typing import Any

import torch

MOST = 1 << 16
"""Values of a parameter that are looked at: evenly spaced ones of larger parameters, the first and the last among them."""
_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def share(local: torch.Tensor, shape: tuple[int, ...], start: tuple[int, ...]) -> str:
    """Return what the values of one box of a parameter add to its digest: two sums modulo 2^64, in hexadecimal.

    `shape` is the whole's, `start` where the box `local` begins in it. A value's part is a mix of its place in the whole and its bits (splitmix64's output function), so sums of
    values in other places differ.
    """
    count = 1
    for extent in shape:
        count *= extent
    if not count or not local.numel():
        return f"{0:032x}"
    step = 1 if count <= MOST else -(-count // (MOST - 1))
    places = torch.arange(0, count, step, dtype=torch.int64)
    if int(places[-1]) != count - 1:
        places = torch.cat([places, torch.tensor([count - 1])])
    inside, at, rest = torch.ones_like(places, dtype=torch.bool), torch.zeros_like(places), places
    strides = [1] * len(shape)
    for axis in reversed(range(len(shape) - 1)):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    for axis, stride in enumerate(strides):
        along = rest // stride - start[axis]
        rest = rest % stride
        inside &= (along >= 0) & (along < local.shape[axis])
        at = at * local.shape[axis] + along
    taken = local.detach().reshape(-1)[at[inside].to(local.device)].cpu()
    return _mixed(taken, places[inside])


def _mixed(values: torch.Tensor, places: torch.Tensor) -> str:
    real = torch.view_as_real(values.resolve_conj()) if values.is_complex() else values[:, None]
    bits = real.contiguous().view(_BITS[real.element_size()]).to(torch.int64).reshape(len(places), -1)
    out = ""
    for lane in (1, 2):
        parts = places * 4 + lane
        for column in range(bits.shape[1]):
            parts = mixed(mixed(parts) ^ bits[:, column])
        out += f"{int(parts.sum()) % (1 << 64):016x}"
    return out


def mixed(z: torch.Tensor) -> torch.Tensor:
    """Return splitmix64's output for states as int64, which wraps around as uint64 does; shifts to the right are made logical by masks."""
    z = z * wrapped(0x9E3779B97F4A7C15)
    z = (z ^ (z >> 30 & (1 << 34) - 1)) * wrapped(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> 27 & (1 << 37) - 1)) * wrapped(0x94D049BB133111EB)
    return z ^ (z >> 31 & (1 << 33) - 1)


def wrapped(number: int) -> int:
    """Return a number of 64 bits as int64 has it."""
    return number - (1 << 64) if number >> 63 else number


def described(parameter: Any, local: torch.Tensor, start: tuple[int, ...]) -> dict[str, Any]:
    """Return what a recording says of a parameter's box, for `replay/weights.py` to add up."""
    return {"sum": share(local, tuple(parameter.shape), start), "start": list(start), "local": list(local.shape)}
