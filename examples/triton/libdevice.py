"""Functions that are not of the language but of the library of device functions, in single and in double precision."""

import numpy as np
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

import checking


@triton.jit
def functions_kernel(values, results, count, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < count
    line = tl.load(values + places, mask=inside, other=0.0)
    tl.store(results + places, libdevice.asin(line), mask=inside)
    tl.store(results + count + places, libdevice.log1p(line), mask=inside)
    tl.store(results + 2 * count + places, libdevice.tanh(line), mask=inside)
    tl.store(results + 3 * count + places, libdevice.pow(line + 2, line * 3), mask=inside)
    tl.store(results + 4 * count + places, libdevice.cbrt(line), mask=inside)
    tl.store(results + 5 * count + places, libdevice.erfinv(libdevice.erf(line)), mask=inside)


def functions(values: torch.Tensor) -> torch.Tensor:
    count = values.numel()
    results = torch.empty((6, count), device=values.device, dtype=values.dtype)
    functions_kernel[(triton.cdiv(count, 1024),)](values, results, count, BLOCK=1024)
    return results


def problem(count: int = 98_432, precision=np.float32) -> checking.Problem:
    values = np.random.default_rng(4).uniform(-0.95, 0.95, count).astype(precision)
    on_device = torch.from_numpy(values).cuda()

    def expected() -> list[np.ndarray]:
        x = values.astype(np.float64)
        return [np.stack([np.arcsin(x), np.log1p(x), np.tanh(x), (x + 2) ** (x * 3), np.cbrt(x), x])]

    tolerance = 2e-6 if precision is np.float32 else 1e-14
    name = f"libdevice in {np.dtype(precision).name}"
    return checking.Problem(name, lambda: [functions(on_device)], expected, tolerance)


if __name__ == "__main__":
    checking.main(problem(), problem(1000, np.float64))
