"""A product of half matrices with autotuned tiles: tiles of one group of rows follow each other, so that they share what is cached."""

import numpy as np
import torch
import triton
import triton.language as tl

import checking


def configurations():
    for m, n, k, group, warps in [(32, 32, 32, 8, 1), (64, 64, 32, 8, 4), (128, 64, 32, 8, 4), (128, 128, 32, 8, 8)]:
        yield triton.Config({"M": m, "N": n, "K": k, "GROUP": group}, num_stages=3, num_warps=warps)


@triton.jit
def leaky_relu(values):
    return tl.where(values >= 0, values, 0.01 * values)


@triton.autotune(configs=list(configurations()), key=["rows", "columns", "depth"])
@triton.jit
def matmul_kernel(
    left, right, product, rows, columns, depth, left_row, left_column, right_row, right_column, product_row, product_column,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr, LEAKY: tl.constexpr,
):  # fmt: skip
    number, tiles_down, tiles_across = tl.program_id(0), tl.cdiv(rows, M), tl.cdiv(columns, N)
    first = number // (GROUP * tiles_across) * GROUP
    height = min(tiles_down - first, GROUP)
    within = number % (GROUP * tiles_across)
    row_tile, column_tile = first + within % height, within // height

    down = (row_tile * M + tl.arange(0, M)) % rows
    across = (column_tile * N + tl.arange(0, N)) % columns
    inner = tl.arange(0, K)
    lefts = left + down[:, None] * left_row + inner[None, :] * left_column
    rights = right + inner[:, None] * right_row + across[None, :] * right_column
    total = tl.zeros((M, N), dtype=tl.float32)
    for step in range(tl.cdiv(depth, K)):
        rest = depth - step * K
        one = tl.load(lefts, mask=inner[None, :] < rest, other=0.0)
        other = tl.load(rights, mask=inner[:, None] < rest, other=0.0)
        total = tl.dot(one, other, total)
        lefts += K * left_column
        rights += K * right_row
    if LEAKY:
        total = leaky_relu(total)
    down = row_tile * M + tl.arange(0, M)
    across = column_tile * N + tl.arange(0, N)
    places = product + down[:, None] * product_row + across[None, :] * product_column
    tl.store(places, total.to(tl.float16), mask=(down[:, None] < rows) & (across[None, :] < columns))


def matmul(left: torch.Tensor, right: torch.Tensor, leaky: bool = False) -> torch.Tensor:
    (rows, depth), columns = left.shape, right.shape[1]
    product = torch.empty((rows, columns), device=left.device, dtype=torch.float16)
    matmul_kernel[lambda meta: (triton.cdiv(rows, meta["M"]) * triton.cdiv(columns, meta["N"]),)](
        left, right, product, rows, columns, depth, *left.stride(), *right.stride(), *product.stride(), LEAKY=leaky
    )  # fmt: skip
    return product


def problem(rows: int = 512, columns: int = 512, depth: int = 512, leaky: bool = False) -> checking.Problem:
    random = np.random.default_rng(2)
    left = random.normal(size=(rows, depth)).astype(np.float16)
    right = random.normal(size=(depth, columns)).astype(np.float16)
    on_device = [torch.from_numpy(each).cuda() for each in (left, right)]

    def expected() -> list[np.ndarray]:
        product = left.astype(np.float64) @ right.astype(np.float64)
        return [np.where(product >= 0, product, 0.01 * product) if leaky else product]

    name = "matmul and leaky relu" if leaky else "matmul"
    return checking.Problem(name, lambda: [matmul(*on_device, leaky)], expected, 1e-3)


if __name__ == "__main__":
    checking.main(problem(), problem(100, 70, 45), problem(leaky=True))
