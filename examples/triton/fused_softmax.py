"""Softmax over the rows of a matrix in one kernel: a few programs take turns over the rows, each row stays in registers."""

import numpy as np
import torch
import triton
import triton.language as tl

import checking


@triton.jit
def softmax_kernel(result, values, result_stride, stride, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        places = tl.arange(0, BLOCK)
        inside = places < columns
        line = tl.load(values + row * stride + places, mask=inside, other=-float("inf"))
        powers = tl.exp(line - tl.max(line, axis=0))
        tl.store(result + row * result_stride + places, powers / tl.sum(powers, axis=0), mask=inside)


def softmax(values: torch.Tensor) -> torch.Tensor:
    rows, columns = values.shape
    result = torch.empty_like(values)
    width = triton.next_power_of_2(columns)
    programs = min(rows, 4 * torch.cuda.get_device_properties(values.device).multi_processor_count)
    softmax_kernel[(programs,)](
        result, values, result.stride(0), values.stride(0), rows, columns, BLOCK=width, STAGES=2, num_warps=8
    )
    return result


def expected(values: np.ndarray) -> np.ndarray:
    powers = np.exp(values.astype(np.float64) - values.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def problem(rows: int = 512, columns: int = 781) -> checking.Problem:
    values = np.random.default_rng(1).normal(size=(rows, columns)).astype(np.float32)
    on_device = torch.from_numpy(values).cuda()
    return checking.Problem("fused softmax", lambda: [softmax(on_device)], lambda: [expected(values)], 1e-6)


if __name__ == "__main__":
    checking.main(problem(), problem(3, 5), problem(17, 4096))
