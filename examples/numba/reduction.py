"""Sum ten million numbers: each block adds up its part in shared memory, then one atomic per block."""

import math

import numpy as np
from numba import cuda, float32

THREADS = 256


@cuda.jit
def block_sum(values, total):
    partial = cuda.shared.array(THREADS, dtype=float32)
    thread = cuda.threadIdx.x
    acc = float32(0.0)
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        acc += values[i]
    partial[thread] = acc
    cuda.syncthreads()

    half = THREADS // 2
    while half > 0:
        if thread < half:
            partial[thread] += partial[thread + half]
        cuda.syncthreads()
        half //= 2

    if thread == 0:
        cuda.atomic.add(total, 0, partial[0])


def main():
    values = np.random.default_rng(0).random(10_000_000, dtype=np.float32)
    total = cuda.to_device(np.zeros(1, np.float32))
    block_sum[128, THREADS](cuda.to_device(values), total)
    got, expected = float(total.copy_to_host()[0]), math.fsum(values)
    error = abs(got - expected) / expected
    assert error < 1e-5, (got, expected)
    print(f"reduction: sum of {values.size:,} numbers {got:.1f}, relative error {error:.1e}")


if __name__ == "__main__":
    main()
