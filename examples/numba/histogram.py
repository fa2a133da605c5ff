"""Count how often each byte occurs: atomics in shared memory for the block, then atomics in global memory for the whole."""

import numpy as np
from numba import cuda, int32

BINS = 256


@cuda.jit
def histogram(data, counts):
    local = cuda.shared.array(BINS, dtype=int32)
    for i in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        local[i] = 0
    cuda.syncthreads()

    for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
        cuda.atomic.add(local, data[i], 1)
    cuda.syncthreads()

    for i in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        cuda.atomic.add(counts, i, local[i])


def main():
    rng = np.random.default_rng(2)
    data = (rng.standard_normal(4_000_003) * 30 + 128).clip(0, 255).astype(np.uint8)
    counts = cuda.to_device(np.zeros(BINS, np.int32))
    histogram[64, 192](cuda.to_device(data), counts)
    got = counts.copy_to_host()
    assert np.array_equal(got, np.bincount(data, minlength=BINS)), got
    print(f"histogram: {data.size:,} bytes counted, the most frequent is {got.argmax()} with {got.max():,}")


if __name__ == "__main__":
    main()
