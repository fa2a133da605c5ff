"""The sum of two vectors: one program per 1024 elements, the last one masked."""

import numpy as np
import torch
import triton
import triton.language as tl

import checking


@triton.jit
def add_kernel(left, right, total, count, BLOCK: tl.constexpr):
    places = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < count
    tl.store(total + places, tl.load(left + places, mask=inside) + tl.load(right + places, mask=inside), mask=inside)


def add(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    total = torch.empty_like(left)
    count = total.numel()
    add_kernel[lambda meta: (triton.cdiv(count, meta["BLOCK"]),)](left, right, total, count, BLOCK=1024)
    return total


def problem(count: int = 98_432) -> checking.Problem:
    random = np.random.default_rng(0)
    left, right = (random.random(count, dtype=np.float32) for _ in range(2))
    on_device = [torch.from_numpy(each).cuda() for each in (left, right)]
    return checking.Problem("vector add", lambda: [add(*on_device)], lambda: [left.astype(np.float64) + right], 1e-7)


if __name__ == "__main__":
    checking.main(problem(), problem(1), problem(1023))
