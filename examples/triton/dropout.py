"""Dropout that keeps no mask: it is made again from a seed wherever it is needed, here checked against Philox in numpy."""

import numpy as np
import torch
import triton
import triton.language as tl

import checking


@triton.jit
def dropout_kernel(values, result, count, share, seed, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < count
    line = tl.load(values + places, mask=inside)
    keep = tl.rand(seed, places) > share
    tl.store(result + places, tl.where(keep, line / (1 - share), 0.0), mask=inside)


def dropout(values: torch.Tensor, share: float, seed: int) -> torch.Tensor:
    result = torch.empty_like(values)
    count = values.numel()
    dropout_kernel[(triton.cdiv(count, 1024),)](values, result, count, share, seed, BLOCK=1024)
    return result


def philox(seed: int, places: np.ndarray, rounds: int = 10) -> np.ndarray:
    """Return the first of the four words of Philox 4x32 (Salmon, Moraes, Dror and Shaw, 2011) at each place, key `seed`."""
    low32 = np.uint64(0xFFFFFFFF)
    words = [places.astype(np.uint64), *(np.zeros(places.shape, np.uint64) for _ in range(3))]
    key = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    for _ in range(rounds):
        first, second = np.uint64(0xD2511F53) * words[0], np.uint64(0xCD9E8D57) * words[2]
        shift = np.uint64(32)
        words = [
            (second >> shift) ^ words[1] ^ key[0],
            second & low32,
            (first >> shift) ^ words[3] ^ key[1],
            first & low32,
        ]
        key = [(key[0] + np.uint64(0x9E3779B9)) & low32, (key[1] + np.uint64(0xBB67AE85)) & low32]
    return words[0].astype(np.uint32)


def uniform(words: np.ndarray) -> np.ndarray:
    """Return floats in [0, 1): negative numbers are mirrored, then scaled by a little less than 2^-31, as tl.rand does."""
    signed = words.view(np.int32)
    return np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)


def problem(count: int = 65_536 + 17, share: float = 0.3, seed: int = 123) -> checking.Problem:
    values = np.random.default_rng(3).normal(size=count).astype(np.float32)
    on_device = torch.from_numpy(values).cuda()

    def expected() -> list[np.ndarray]:
        keep = uniform(philox(seed, np.arange(count))) > share
        return [np.where(keep, values.astype(np.float64) / (1 - share), 0)]

    return checking.Problem("dropout", lambda: [dropout(on_device, share, seed)], expected, 1e-6)


if __name__ == "__main__":
    checking.main(problem(), problem(1000, 0.5, 2**33 + 5))
