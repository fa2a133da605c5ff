"""Multiply two matrices with tiles in shared memory, the classic way; the sizes are no multiple of the tile."""

import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), dtype=float32)
    tile_b = cuda.shared.array((TILE, TILE), dtype=float32)
    row, column = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y

    acc = float32(0.0)
    for tile in range((a.shape[1] + TILE - 1) // TILE):
        k = tile * TILE
        inside = row < a.shape[0] and k + y < a.shape[1]
        tile_a[x, y] = a[row, k + y] if inside else float32(0.0)
        inside = k + x < b.shape[0] and column < b.shape[1]
        tile_b[x, y] = b[k + x, column] if inside else float32(0.0)
        cuda.syncthreads()
        for i in range(TILE):
            acc += tile_a[x, i] * tile_b[i, y]
        cuda.syncthreads()

    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = acc


def main():
    rng = np.random.default_rng(1)
    a = rng.standard_normal((500, 300), dtype=np.float32)
    b = rng.standard_normal((300, 401), dtype=np.float32)
    c = cuda.device_array((a.shape[0], b.shape[1]), np.float32)
    blocks = (-(-c.shape[0] // TILE), -(-c.shape[1] // TILE))
    matmul[blocks, (TILE, TILE)](cuda.to_device(a), cuda.to_device(b), c)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    error = np.abs(c.copy_to_host() - expected).max() / np.abs(expected).max()
    assert error < 1e-5, error
    print(f"matmul: {a.shape} times {b.shape}, largest error {error:.1e} of the largest value")


if __name__ == "__main__":
    main()
