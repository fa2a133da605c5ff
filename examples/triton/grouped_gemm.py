"""Many products of different sizes in one kernel: a fixed number of programs walks over the tiles of all of them, by tables of addresses."""

import numpy as np
import torch
import triton
import triton.language as tl

import checking


@triton.jit
def grouped_kernel(
    lefts, rights, products, sizes, strides, count,
    PROGRAMS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    done = 0
    for group in range(count):
        rows, columns, depth = (
            tl.load(sizes + 3 * group),
            tl.load(sizes + 3 * group + 1),
            tl.load(sizes + 3 * group + 2),
        )
        tiles_across = tl.cdiv(columns, N)
        tiles = tl.cdiv(rows, M) * tiles_across
        while tile >= done and tile < done + tiles:
            left = tl.load(lefts + group).to(tl.pointer_type(tl.float16))
            right = tl.load(rights + group).to(tl.pointer_type(tl.float16))
            product = tl.load(products + group).to(tl.pointer_type(tl.float16))
            left_row, right_row = tl.load(strides + 3 * group), tl.load(strides + 3 * group + 1)
            product_row = tl.load(strides + 3 * group + 2)
            within = tile - done
            down = within // tiles_across * M + tl.arange(0, M)
            across = within % tiles_across * N + tl.arange(0, N)
            inner = tl.arange(0, K)
            total = tl.zeros((M, N), dtype=tl.float32)
            for begin in range(0, depth, K):
                left_mask = (down[:, None] < rows) & (begin + inner[None, :] < depth)
                right_mask = (begin + inner[:, None] < depth) & (across[None, :] < columns)
                one = tl.load(left + down[:, None] * left_row + begin + inner[None, :], mask=left_mask, other=0.0)
                other = tl.load(
                    right + (begin + inner[:, None]) * right_row + across[None, :], mask=right_mask, other=0.0
                )
                total = tl.dot(one, other, total)
            mask = (down[:, None] < rows) & (across[None, :] < columns)
            tl.store(product + down[:, None] * product_row + across[None, :], total.to(tl.float16), mask=mask)
            tile += PROGRAMS
        done += tiles


def grouped(lefts: list[torch.Tensor], rights: list[torch.Tensor]) -> list[torch.Tensor]:
    device = lefts[0].device
    products = [torch.empty(a.shape[0], b.shape[1], device=device, dtype=a.dtype) for a, b in zip(lefts, rights)]
    addresses = [torch.tensor([each.data_ptr() for each in some], device=device) for some in (lefts, rights, products)]
    sizes = [[a.shape[0], b.shape[1], a.shape[1]] for a, b in zip(lefts, rights)]
    strides = [[a.stride(0), b.stride(0), c.stride(0)] for a, b, c in zip(lefts, rights, products)]
    tables = [torch.tensor(each, dtype=torch.int32, device=device) for each in (sizes, strides)]
    grouped_kernel[(16,)](*addresses, *tables, len(lefts), PROGRAMS=16, M=64, N=64, K=32, num_warps=4)
    return products


def problem(shapes=((256, 256, 256), (128, 96, 64), (33, 200, 70), (512, 64, 128))) -> checking.Problem:
    random = np.random.default_rng(7)
    lefts = [random.normal(size=(m, k)).astype(np.float16) for m, n, k in shapes]
    rights = [random.normal(size=(k, n)).astype(np.float16) for m, n, k in shapes]
    on_device = [[torch.from_numpy(each).cuda() for each in some] for some in (lefts, rights)]

    def expected() -> list[np.ndarray]:
        return [a.astype(np.float64) @ b.astype(np.float64) for a, b in zip(lefts, rights)]

    return checking.Problem("grouped gemm", lambda: grouped(*on_device), expected, 1e-3)


if __name__ == "__main__":
    checking.main(problem(), problem(((16, 16, 16),)))
