"""Statistics of a tensor, on its own device and without waiting for it; `check/numbers/statistics.py` says what they mean."""

# pyright: basic, reportAttributeAccessIssue=false
from __future__ import annotations

from typing import Any

import torch

from anywarp.check.record.torch.values import name_of

LANES = 64
LEVELS = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
_SORTED = 1024
"""How many values the quantiles are taken of."""

_signs: dict[tuple[int, int, torch.device], torch.Tensor] = {}


def signs(count: int, seed: int, device: torch.device) -> torch.Tensor:
    """Return +1 and -1 by splitmix64's lowest bit, as float32; kept, since most tensors of a model have few sizes.

    Arithmetic is that of int64, which wraps around as uint64 does; the shift to the right is made logical by a mask.
    """
    key = (count, seed, device)
    if key not in _signs:
        if len(_signs) > 64:
            _signs.clear()
        z = (torch.arange(1, count + 1, dtype=torch.int64) + (seed << 32)) * wrapped(0x9E3779B97F4A7C15)
        z = (z ^ (z >> 30 & (1 << 34) - 1)) * wrapped(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> 27 & (1 << 37) - 1)) * wrapped(0x94D049BB133111EB)
        z = z ^ (z >> 31 & (1 << 33) - 1)
        _signs[key] = (1 - 2 * (z & 1)).to(torch.float32).to(device)
    return _signs[key]


def wrapped(number: int) -> int:
    """Return a number of 64 bits as int64 has it."""
    return number - (1 << 64) if number >> 63 else number


class Pending:
    """The statistics of one tensor as one vector on its device, to be read later together with others."""

    def __init__(self, tensor: torch.Tensor, sample: int, seed: int, whole: bool = True) -> None:
        """With `whole`, NaN and infinity are counted in the whole tensor; else in the sample: what is not finite anywhere shows in the model's result."""
        self._counts_whole = whole
        self.count, self.seed = tensor.numel(), seed
        self.stride, self.sketched, self.noise = 1, 0, 0.0
        self.vector: torch.Tensor | None = None
        if self.count and not tensor.is_complex():
            self._measure(tensor, sample)

    def _measure(self, tensor: torch.Tensor, sample: int) -> None:
        flat = _flat(tensor)
        self.stride = max(
            -(-self.count // sample) | 1, 1
        )  # odd: rows have even lengths, and a sample of one column says little
        taken = flat[:: self.stride] if self.stride > 1 else flat
        self.sketched = taken.numel()
        if name_of(tensor.dtype) == "float64" or not tensor.is_floating_point():
            exact = taken.to(torch.float64)
        else:
            exact = taken.to(torch.float32)
        finite = torch.isfinite(exact)
        kept = torch.where(finite, exact, 0)
        tiny = torch.finfo(tensor.dtype).smallest_normal if tensor.is_floating_point() else 0
        few = kept[:: -(-self.sketched // _SORTED)].sort().values
        at = [min(int(level * few.numel()), few.numel() - 1) for level in LEVELS]
        wide = kept.to(torch.float64)
        lanes = torch.zeros(-(-self.sketched // LANES) * LANES, dtype=torch.float64, device=tensor.device)
        lanes[: self.sketched] = wide * signs(self.sketched, self.seed, tensor.device)
        whole = _whole(tensor, self._counts_whole)
        figures = torch.stack(
            [
                finite.sum().double(),
                wide.sum(),
                (wide * wide).sum(),
                wide.min(),
                wide.max(),
                (exact == 0).sum().double(),
                torch.isnan(exact).sum().double(),
                ((kept != 0) & (kept.abs() < tiny)).sum().double(),
                *whole,
            ]
        )
        self.vector = torch.cat([figures, few[at].double(), lanes.view(-1, LANES).sum(0)])

    def read(self, vector: torch.Tensor | None) -> dict[str, Any]:
        """Return the statistics, given the vector on the host."""
        out: dict[str, Any] = {"count": self.count, "sketched": self.sketched, "stride": self.stride, "seed": self.seed}
        if vector is None:
            return {**out, "sketched": 0}
        found = vector.tolist()
        finite, total, squares, least, most, zeros, nan, subnormal, total_whole, nan_whole, infinite_whole = found[:11]
        share = self.count / self.sketched
        sampled_infinite = self.sketched - finite - nan
        known = nan_whole >= 0
        out |= {
            "mean": total_whole / self.count if total_whole - total_whole == 0 and known else total / max(finite, 1),
            "rms": (squares / max(finite, 1)) ** 0.5,
            "minimum": least,
            "maximum": most,
            "quantiles": found[11 : 11 + len(LEVELS)],
            "zeros": round(zeros * share),
            "nan": int(nan_whole) if known else round(nan * share),
            "infinite": int(infinite_whole) if known else round(sampled_infinite * share),
            "subnormal": round(subnormal * share),
            "sketch": [float(f"{value:.9g}") for value in found[11 + len(LEVELS) :]],
            "noise": self.noise,
        }
        return out


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    """Return the values in logical order; a view where there is one."""
    return tensor.reshape(-1)


def _whole(tensor: torch.Tensor, wanted: bool) -> list[torch.Tensor]:
    """Return the sum over the whole tensor and how many values are NaN and infinite.

    A sum shows by itself that all values are finite, and costs one pass; only where it is not, or where asking would wait for a device, they are counted.
    """
    if not wanted or not tensor.is_floating_point() or tensor.element_size() == 1:
        return [torch.full((), v, dtype=torch.float64, device=tensor.device) for v in (float("nan"), -1.0, -1.0)]
    total = tensor.sum(dtype=torch.float64 if tensor.dtype == torch.float64 else torch.float32).double()
    if tensor.device.type == "cpu" and bool(torch.isfinite(total)):
        zero = torch.zeros((), dtype=torch.float64)
        return [total, zero, zero]
    return [total, torch.isnan(tensor).sum().double(), torch.isinf(tensor).sum().double()]


def read_all(pending: list[Pending]) -> list[dict[str, Any]]:
    """Read statistics with one copy for each device."""
    places: dict[torch.device, list[int]] = {}
    for number, each in enumerate(pending):
        if each.vector is not None:
            places.setdefault(each.vector.device, []).append(number)
    vectors: list[torch.Tensor | None] = [None] * len(pending)
    for numbers in places.values():
        stacked = torch.stack([pending[n].vector for n in numbers]).cpu()  # pyright: ignore[reportArgumentType]
        for row, number in enumerate(numbers):
            vectors[number] = stacked[row]
    return [each.read(vector) for each, vector in zip(pending, vectors)]
