"""Statistics of a call's tensors, without waiting for their device; `check/numbers/statistics.py` says what they mean.

While the program computes, a sample of each tensor is laid aside on its device; when the call has ended, all samples are read with few copies and measured together.
"""

# pyright: basic, reportAttributeAccessIssue=false
from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from anywarp.check.numbers.statistics import LANES, LEVELS, signs
from anywarp.check.record.torch.values import bytes_of

RUN = 16
"""How many neighbouring values of a large tensor are taken at a time: those of one line of the processor's cache."""
_SORTED = 1024
"""How many values the quantiles are taken of."""
_ROOM = 1 << 18
"""Values of samples that have one piece of memory."""
_TOGETHER = 1 << 16
"""Values of samples that are measured at a time: what a processor's cache holds."""
_DIGITS = 9
"""Of the numbers of a sketch, which are sums of rounded values."""


class Pending:
    """The statistics of one tensor, which are there when its call has ended."""

    def __init__(self, count: int) -> None:
        self.count = self.sketched = count
        self.stride = self.run = 1
        self.tiny = 0.0
        self.sample: tuple[torch.Tensor, int] | None = None
        """The room that the sample lies in, and where it begins."""
        self.whole: torch.Tensor | None = None
        self.statistics: dict[str, Any] = {}


class Samples:
    """Samples of one call's tensors, in memory that stays for the next call.

    It lies in few large pieces: a small one of its own for each sample, between the tensors that the program makes and gives back,
    would keep the allocator from using their memory again.
    """

    def __init__(self, most: int, seed: int) -> None:
        self.most, self.seed = most, seed
        self._rooms: dict[tuple[torch.device, torch.dtype], list[torch.Tensor]] = {}
        self._used: dict[tuple[torch.device, torch.dtype], tuple[int, int]] = {}
        self._pending: list[Pending] = []

    def take(self, tensor: torch.Tensor, whole: bool = True) -> Pending:
        """Take a tensor's sample, which is all that is touched of most.

        With `whole`, NaN and infinity are counted in the whole tensor; else in the sample: what is not finite anywhere shows in the model's result.
        """
        pending = Pending(tensor.numel())
        self._pending.append(pending)
        if not pending.count or tensor.dtype.is_complex:
            pending.sketched = 0
            return pending
        real, pending.tiny, wide = _known(tensor.dtype)
        if pending.count > self.most > RUN:
            pending.stride, pending.run = _stride(pending.count, self.most // RUN), RUN
            pending.sketched = ((pending.count - RUN) // pending.stride + 1) * RUN
        room, start = self._place(pending.sketched, tensor.device, wide)
        pending.sample = room, start
        _lay(tensor, pending, room[start : start + pending.sketched])
        if whole and real and tensor.element_size() > 1:
            pending.whole = _whole(tensor)
        return pending

    def _place(self, count: int, device: torch.device, dtype: torch.dtype) -> tuple[torch.Tensor, int]:
        """Return the room for so many more values, and where they begin."""
        key = device, dtype
        rooms = self._rooms.setdefault(key, [])
        number, at = self._used.get(key, (0, 0))
        while number < len(rooms) and at + count > rooms[number].numel():
            number, at = number + 1, 0
        if number == len(rooms):
            with torch.inference_mode(False):  # it outlives the mode that it is made in
                rooms.append(torch.empty(max(count, _ROOM), dtype=dtype, device=device))
        self._used[key] = number, at + count
        return rooms[number], at

    def read(self) -> None:
        """Measure every tensor that was taken, and begin anew."""
        pending, self._pending = self._pending, []
        self._used.clear()
        rooms: dict[int, tuple[torch.Tensor, int]] = {}
        for each in pending:
            if each.sample is not None:
                room, start = each.sample
                rooms[id(room)] = room, max(start + each.sketched, rooms.get(id(room), (room, 0))[1])
        here = {key: _numpy(room[:used]) for key, (room, used) in rooms.items()}
        alike: dict[tuple[int, torch.dtype], list[Pending]] = {}
        for each in pending:
            if each.sample is None:
                each.statistics = _described(each, self.seed)
            else:
                alike.setdefault((each.sketched, each.sample[0].dtype), []).append(each)
        for (count, _), several in alike.items():
            step = max(1, _TOGETHER // count)
            for first in range(0, len(several), step):
                some = several[first : first + step]
                rows = [here[id(room)][at : at + count] for room, at in (each.sample for each in some if each.sample)]
                _measure(some, rows, self.seed)


@functools.cache
def _known(dtype: torch.dtype) -> tuple[bool, float, torch.dtype]:
    """Return whether numbers of a dtype are floating, their smallest normal one, and in which dtype they are measured."""
    real = dtype.is_floating_point
    wide = torch.float32 if real and dtype != torch.float64 else torch.float64
    return real, torch.finfo(dtype).smallest_normal if real else 0.0, wide


def _stride(count: int, runs: int) -> int:
    """Return how far apart runs begin, so that there are so many at most: an odd number of values, or of runs, since rows have even lengths and a sample of the same columns says little.

    Of large tensors each run lies within one line of the cache.
    """
    apart = -(-count // runs)
    return (-(-apart // RUN) | 1) * RUN if apart > 16 * RUN else apart | 1


def _lay(tensor: torch.Tensor, pending: Pending, into: torch.Tensor) -> None:
    """Copy `run` values every `stride` ones in logical order, without a copy of the others."""
    stride, run = pending.stride, pending.run
    if stride == 1:
        into.view(tensor.shape).copy_(tensor)
    elif tensor.is_contiguous():
        runs = pending.sketched // run
        into.view(runs, run).copy_(tensor.as_strided((runs, run), (stride, 1)))
    else:
        starts = torch.arange(0, pending.sketched // run * stride, stride, device=tensor.device)
        into.copy_(tensor.take(starts[:, None] + torch.arange(run, device=tensor.device)).reshape(-1))


def _numpy(tensor: torch.Tensor) -> NDArray[Any]:
    return np.frombuffer(bytes_of(tensor), np.float64 if tensor.dtype == torch.float64 else np.float32)


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    """Return the sum over the whole tensor and how many values are NaN and infinite.

    A sum shows by itself that all values are finite, and costs one pass; only where it is not, or where asking would wait for a device, they are counted.
    """
    total = tensor.sum(dtype=torch.float64 if tensor.dtype == torch.float64 else torch.float32).double()
    if tensor.device.type == "cpu" and bool(torch.isfinite(total)):
        return torch.stack([total, torch.zeros_like(total), torch.zeros_like(total)])
    return torch.stack([total, torch.isnan(tensor).sum().double(), torch.isinf(tensor).sum().double()])


@functools.lru_cache(maxsize=64)
def _lanes(count: int, seed: int) -> NDArray[np.float64]:
    """Return the signs of so many values in rows of LANES, 0 beyond them; kept, since most tensors of a model have few sizes."""
    out = np.zeros(-(-count // LANES) * LANES)
    out[:count] = signs(count, seed)
    return out.reshape(-1, LANES)


def _measure(several: list[Pending], rows: list[NDArray[Any]], seed: int) -> None:
    """Measure samples of one length."""
    count, lanes = several[0].sketched, _lanes(several[0].sketched, seed)
    padded = np.zeros((len(rows), lanes.size))
    wide = padded[:, :count]
    for row, values in zip(wide, rows):
        row[:] = values
    with np.errstate(over="ignore", invalid="ignore"):
        odd = ~np.isfinite(wide.sum(1))
    nan, finite = np.zeros(len(rows), int), np.full(len(rows), count)
    zeros = count - np.count_nonzero(wide, axis=1)
    if odd.any():  # some of them are not finite, or are beyond what sums hold
        nan = np.isnan(wide).sum(1)
        good = np.isfinite(wide)
        finite = good.sum(1)
        wide[~good] = 0.0
    small = (np.abs(wide) < np.array([[each.tiny] for each in several])) & (wide != 0)
    few = np.sort(wide[:, :: -(-count // _SORTED)], axis=1)
    quantiles = few[:, [min(int(level * few.shape[1]), few.shape[1] - 1) for level in LEVELS]]
    with np.errstate(over="ignore", invalid="ignore"):
        sketches = np.einsum("rij,ij->rj", padded.reshape(len(rows), -1, LANES), lanes)
        columns = (
            finite, wide.sum(1), np.einsum("ij,ij->i", wide, wide), wide.min(1), wide.max(1), zeros, nan, small.sum(1),
        )  # fmt: skip
    for each, figures, found, sums in zip(several, zip(*(c.tolist() for c in columns)), quantiles.tolist(), _rounded(sketches).tolist()):  # fmt: skip
        each.statistics = _described(each, seed, figures, found, sums)


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers to so many digits, which are all that a recording needs to hold."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = np.floor(np.log10(np.abs(values)))
        factor = 10.0 ** np.where(np.isfinite(size), np.clip(_DIGITS - 1 - size, -290, 290), 0)
        rounded = np.rint(values * factor) / factor
    return np.where(np.isfinite(rounded), rounded, values)


def _described(
    each: Pending, seed: int, figures: tuple[Any, ...] | None = None, quantiles: list[float] | None = None, sums: list[float] | None = None
) -> dict[str, Any]:  # fmt: skip
    """Return the statistics of a tensor, given the figures of its sample."""
    out: dict[str, Any] = {"count": each.count, "sketched": each.sketched, "stride": each.stride, "run": each.run, "seed": seed}  # fmt: skip
    if figures is None:
        return out
    finite, total, squares, least, most, zeros, nan, subnormal = figures
    share = each.count / each.sketched
    infinite = each.sketched - finite - nan
    whole = None if each.whole is None else each.whole.tolist()
    sum_whole, nan_whole, infinite_whole = whole or (math.nan, round(nan * share), round(infinite * share))
    return out | {
        "mean": sum_whole / each.count if math.isfinite(sum_whole) else total / max(finite, 1),
        "rms": (squares / max(finite, 1)) ** 0.5,
        "minimum": least,
        "maximum": most,
        "quantiles": quantiles,
        "zeros": round(zeros * share),
        "nan": int(nan_whole),
        "infinite": int(infinite_whole),
        "subnormal": round(subnormal * share),
        "sketch": sums,
        "noise": 0.0,
    }
