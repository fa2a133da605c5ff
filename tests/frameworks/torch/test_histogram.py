"""torch.histc of whole numbers, which CUDA counts and plain CPU torch refuses.

Mixture-of-experts code counts tokens per expert with it; expected values are numpy's and counts by hand.
"""

# pyright: basic
from __future__ import annotations

import numpy
import pytest
import torch

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.uint8])
def test_counts_whole_numbers_as_numpy_does(dtype: torch.dtype) -> None:
    values = torch.randint(0, 60, (500,), generator=torch.Generator().manual_seed(1)).to(dtype)
    found = torch.histc(values.cuda(), bins=7, min=0, max=42)
    assert found.dtype is dtype and found.is_cuda
    assert found.tolist() == numpy.histogram(values.numpy(), bins=7, range=(0, 42))[0].tolist()


def test_places_are_quotients_without_rounding() -> None:
    # In floating point 1 / 49 * 49 is below 1; each of 0..48 has its own bin, and 49 falls into the last.
    found = torch.histc(torch.arange(50).cuda(), bins=49, min=0, max=49)
    assert found.tolist() == [1] * 48 + [2]


def test_takes_its_range_from_the_values_and_writes_to_out() -> None:
    out = torch.empty(0, dtype=torch.int32, device="cuda")
    torch.histc(torch.tensor([-2, 0, 1, 1, 6], dtype=torch.int32, device="cuda"), bins=4, out=out)
    assert out.tolist() == [1, 3, 0, 1]


def test_refuses_a_range_upside_down() -> None:
    with pytest.raises(RuntimeError, match="max must be larger than min"):
        torch.histc(torch.arange(3).cuda(), bins=2, min=5, max=1)
