"""Statistics of a tensor, on its own device and without waiting for it; `check/numbers/statistics.py` says what they mean."""

# pyright: basic, reportAttributeAccessIssue=false
from __future__ import annotations

import math
from typing import Any

import torch

LANES = 64
LEVELS = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
RUN = 16
"""How many neighbouring values of a large tensor are taken at a time: those of one line of the processor's cache."""
_SORTED = 1024
"""How many values the quantiles are taken of."""

_signs: dict[tuple[int, int, torch.device], torch.Tensor] = {}


def signs(count: int, seed: int, device: torch.device) -> torch.Tensor:
    """Return +1 and -1 by splitmix64's lowest bit, as float32; kept, since most tensors of a model have few sizes."""
    key = (count, seed, device)
    if key not in _signs:
        if len(_signs) > 64:
            _signs.clear()
        z = mixed(torch.arange(1, count + 1, dtype=torch.int64) + (seed << 32))
        _signs[key] = (1 - 2 * (z & 1)).to(torch.float32).to(device)
    return _signs[key]


def mixed(z: torch.Tensor) -> torch.Tensor:
    """Return splitmix64's output for states as int64, which wraps around as uint64 does; shifts to the right are made logical by masks."""
    z = z * wrapped(0x9E3779B97F4A7C15)
    z = (z ^ (z >> 30 & (1 << 34) - 1)) * wrapped(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> 27 & (1 << 37) - 1)) * wrapped(0x94D049BB133111EB)
    return z ^ (z >> 31 & (1 << 33) - 1)


def wrapped(number: int) -> int:
    """Return a number of 64 bits as int64 has it."""
    return number - (1 << 64) if number >> 63 else number


class Pending:
    """The statistics of one tensor, to be computed later together with others: here its sample is taken, which is all that is touched of most."""

    def __init__(self, tensor: torch.Tensor, sample: int, seed: int, whole: bool = True) -> None:
        """With `whole`, NaN and infinity are counted in the whole tensor; else in the sample: what is not finite anywhere shows in the model's result."""
        self.count, self.seed = tensor.numel(), seed
        self.stride, self.run, self.sketched, self.noise = 1, 1, 0, 0.0
        self.tiny = 0.0
        self.sample: torch.Tensor | None = None
        self.whole: torch.Tensor | None = None
        if not self.count or tensor.is_complex():
            return
        real = tensor.is_floating_point()
        self.tiny = torch.finfo(tensor.dtype).smallest_normal if real else 0.0
        if (
            self.count > sample > RUN
        ):  # an odd stride: rows have even lengths, and a sample of the same columns says little
            self.stride, self.run = -(-self.count // (sample // RUN)) | 1, RUN
        wide = not real or tensor.dtype == torch.float64
        self.sample = _taken(tensor, self.stride, self.run).to(torch.float64 if wide else torch.float32, copy=True)
        self.sketched = self.sample.numel()
        if whole and real and tensor.element_size() > 1:
            self.whole = _whole(tensor)

    def read(self, figures: list[float] | None, whole: list[float] | None) -> dict[str, Any]:
        """Return the statistics, given the figures of the sample and, if they are known, those of the whole."""
        out: dict[str, Any] = {
            "count": self.count,
            "sketched": self.sketched,
            "stride": self.stride,
            "run": self.run,
            "seed": self.seed,
        }
        if figures is None:
            return {**out, "sketched": 0}
        finite, total, squares, least, most, zeros, nan, subnormal = figures[:8]
        share = self.count / self.sketched
        infinite = self.sketched - finite - nan
        sum_whole, nan_whole, infinite_whole = whole or (math.nan, round(nan * share), round(infinite * share))
        return out | {
            "mean": sum_whole / self.count if math.isfinite(sum_whole) else total / max(finite, 1),
            "rms": (squares / max(finite, 1)) ** 0.5,
            "minimum": least,
            "maximum": most,
            "quantiles": figures[8 : 8 + len(LEVELS)],
            "zeros": round(zeros * share),
            "nan": int(nan_whole),
            "infinite": int(infinite_whole),
            "subnormal": round(subnormal * share),
            "sketch": [float(f"{value:.9g}") for value in figures[8 + len(LEVELS) :]],
            "noise": self.noise,
        }


def _taken(tensor: torch.Tensor, stride: int, run: int) -> torch.Tensor:
    """Return `run` values every `stride` ones in logical order, without a copy of the others."""
    if stride == 1:
        return tensor.reshape(-1)
    runs = (tensor.numel() - run) // stride + 1
    if tensor.is_contiguous():
        return tensor.as_strided((runs, run), (stride, 1)).reshape(-1)
    starts = torch.arange(runs, device=tensor.device)[:, None] * stride
    return tensor.take(starts + torch.arange(run, device=tensor.device)).reshape(-1)


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    """Return the sum over the whole tensor and how many values are NaN and infinite.

    A sum shows by itself that all values are finite, and costs one pass; only where it is not, or where asking would wait for a device, they are counted.
    """
    total = tensor.sum(dtype=torch.float64 if tensor.dtype == torch.float64 else torch.float32).double()
    if tensor.device.type == "cpu" and bool(torch.isfinite(total)):
        return torch.stack([total, torch.zeros_like(total), torch.zeros_like(total)])
    return torch.stack([total, torch.isnan(tensor).sum().double(), torch.isinf(tensor).sum().double()])


def _measured(samples: torch.Tensor, tiny: torch.Tensor, seed: int) -> torch.Tensor:
    """Return the figures of samples, one a row: counts, sums, extremes, quantiles, sketch; float64."""
    count = samples.shape[1]
    finite = torch.isfinite(samples)
    kept = samples.where(finite, 0)
    few = kept[:, :: -(-count // _SORTED)].sort(1).values
    at = [min(int(level * few.shape[1]), few.shape[1] - 1) for level in LEVELS]
    wide = kept.double()
    lanes = torch.zeros(len(samples), -(-count // LANES) * LANES, dtype=torch.float64, device=samples.device)
    torch.mul(wide, signs(count, seed, samples.device), out=lanes[:, :count])
    figures = (
        finite.sum(1),
        wide.sum(1),
        wide.square().sum(1),
        *wide.aminmax(dim=1),
        (samples == 0).sum(1),
        samples.isnan().sum(1),
        ((kept != 0) & (wide.abs() < tiny[:, None])).sum(1),
    )
    sketches = lanes.view(len(samples), -1, LANES).sum(1)
    return torch.cat([torch.stack([each.double() for each in figures], 1), few[:, at].double(), sketches], 1)


_TOGETHER = 1 << 20
"""Values of samples that are measured at a time."""


def read_all(pending: list[Pending]) -> list[dict[str, Any]]:
    """Measure the samples of one device, length and type together, and read them with one copy."""
    alike: dict[Any, list[int]] = {}
    for number, each in enumerate(pending):
        if each.sample is not None:
            alike.setdefault((each.sample.device, each.sketched, each.sample.dtype, each.seed), []).append(number)
    vectors: list[list[float] | None] = [None] * len(pending)
    for (device, count, _, seed), numbers in alike.items():
        step = max(1, _TOGETHER // count)
        for start in range(0, len(numbers), step):
            some = numbers[start : start + step]
            samples = torch.stack([pending[n].sample for n in some])  # pyright: ignore[reportArgumentType]
            tiny = torch.tensor([pending[n].tiny for n in some], dtype=torch.float64, device=device)
            for number, row in zip(some, _measured(samples, tiny, seed).tolist()):
                vectors[number] = row
    wholes = [None if each.whole is None else each.whole.tolist() for each in pending]
    return [each.read(vector, whole) for each, vector, whole in zip(pending, vectors, wholes)]
