"""Attention that never holds the matrix of scores: forward with a running softmax, backward from its logarithms; causal or not."""

import math

import numpy as np
import torch
import triton
import triton.language as tl

import checking


@triton.jit
def forward_kernel(
    queries, keys, values, result, logarithms, scale, length,
    CAUSAL: tl.constexpr, M: tl.constexpr, N: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    tile, head = tl.program_id(0), tl.program_id(1)
    down, wide = tile * M + tl.arange(0, M), tl.arange(0, WIDTH)
    base = head * length * WIDTH
    query = tl.load(queries + base + down[:, None] * WIDTH + wide[None, :], mask=down[:, None] < length, other=0.0)
    largest = tl.full([M], -float("inf"), dtype=tl.float32)
    total = tl.zeros([M], dtype=tl.float32)
    mixed = tl.zeros([M, WIDTH], dtype=tl.float32)
    end = tl.minimum(length, (tile + 1) * M) if CAUSAL else length
    for begin in range(0, end, N):
        across = begin + tl.arange(0, N)
        there = across < length
        key = tl.load(keys + base + across[None, :] * WIDTH + wide[:, None], mask=there[None, :], other=0.0)
        scores = tl.dot(query, key) * (scale * 1.4426950408889634)
        allowed = there[None, :]
        if CAUSAL:
            allowed = allowed & (down[:, None] >= across[None, :])
        scores = tl.where(allowed, scores, -1.0e30)
        higher = tl.maximum(largest, tl.max(scores, 1))
        powers = tl.exp2(scores - higher[:, None])
        fading = tl.exp2(largest - higher)
        total = total * fading + tl.sum(powers, 1)
        value = tl.load(values + base + across[:, None] * WIDTH + wide[None, :], mask=there[:, None], other=0.0)
        mixed = tl.dot(powers.to(value.dtype), value, mixed * fading[:, None])
        largest = higher
    places = base + down[:, None] * WIDTH + wide[None, :]
    tl.store(result + places, (mixed / total[:, None]).to(result.dtype.element_ty), mask=down[:, None] < length)
    tl.store(logarithms + head * length + down, largest + tl.log2(total), mask=down < length)


@triton.jit
def backward_kernel(
    queries, keys, values, gradient, logarithms, shares, query_gradient, key_gradient, value_gradient, scale, length,
    CAUSAL: tl.constexpr, M: tl.constexpr, N: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """One program per tile of keys; what it adds to the gradient of queries is added by atomics."""
    tile, head = tl.program_id(0), tl.program_id(1)
    across, wide = tile * N + tl.arange(0, N), tl.arange(0, WIDTH)
    base = head * length * WIDTH
    there = across < length
    key_places = base + across[:, None] * WIDTH + wide[None, :]
    key = tl.load(keys + key_places, mask=there[:, None], other=0.0)
    value = tl.load(values + key_places, mask=there[:, None], other=0.0)
    of_key = tl.zeros([N, WIDTH], dtype=tl.float32)
    of_value = tl.zeros([N, WIDTH], dtype=tl.float32)
    begin = (tile * N) // M * M if CAUSAL else 0
    for start in range(begin, length, M):
        down = start + tl.arange(0, M)
        inside = down < length
        places = base + down[:, None] * WIDTH + wide[None, :]
        query = tl.load(queries + places, mask=inside[:, None], other=0.0)
        above = tl.load(gradient + places, mask=inside[:, None], other=0.0)
        logarithm = tl.load(logarithms + head * length + down, mask=inside, other=0.0)
        share = tl.load(shares + head * length + down, mask=inside, other=0.0)
        scores = tl.dot(query, tl.trans(key)) * (scale * 1.4426950408889634)
        allowed = inside[:, None] & there[None, :]
        if CAUSAL:
            allowed = allowed & (down[:, None] >= across[None, :])
        weights = tl.where(allowed, tl.exp2(scores - logarithm[:, None]), 0.0)
        of_value = tl.dot(tl.trans(weights).to(above.dtype), above, of_value)
        of_weights = tl.dot(above, tl.trans(value))
        of_scores = (weights * (of_weights - share[:, None]) * scale).to(query.dtype)
        of_key = tl.dot(tl.trans(of_scores), query, of_key)
        tl.atomic_add(query_gradient + places, tl.dot(of_scores, key), mask=inside[:, None], sem="relaxed")
    tl.store(key_gradient + key_places, of_key, mask=there[:, None])
    tl.store(value_gradient + key_places, of_value, mask=there[:, None])


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(context, query, key, value, causal, scale):
        heads, length, width = query.shape
        result = torch.empty_like(query)
        logarithms = torch.empty(heads, length, device=query.device, dtype=torch.float32)
        forward_kernel[(triton.cdiv(length, 64), heads)](
            query, key, value, result, logarithms, scale, length, CAUSAL=causal, M=64, N=32, WIDTH=width, num_warps=4
        )
        context.save_for_backward(query, key, value, result, logarithms)
        context.causal, context.scale = causal, scale
        return result

    @staticmethod
    def backward(context, gradient):
        query, key, value, result, logarithms = context.saved_tensors
        heads, length, width = query.shape
        shares = (gradient.float() * result.float()).sum(-1)
        gradients = [torch.zeros(query.shape, device=query.device, dtype=torch.float32) for _ in range(3)]
        backward_kernel[(triton.cdiv(length, 32), heads)](
            query, key, value, gradient.contiguous(), logarithms, shares, *gradients, context.scale, length,
            CAUSAL=context.causal, M=32, N=32, WIDTH=width, num_warps=4,
        )  # fmt: skip
        return *(each.to(query.dtype) for each in gradients), None, None


def expected(query, key, value, gradient, causal, scale) -> list[np.ndarray]:
    query, key, value, gradient = (each.astype(np.float64) for each in (query, key, value, gradient))
    scores = query @ key.transpose(0, 2, 1) * scale
    if causal:
        scores = np.where(np.tri(scores.shape[1], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    result = weights @ value
    of_weights = gradient @ value.transpose(0, 2, 1)
    of_scores = weights * (of_weights - (gradient * result).sum(-1, keepdims=True)) * scale
    return [result, of_scores @ key, of_scores.transpose(0, 2, 1) @ query, weights.transpose(0, 2, 1) @ gradient]


def problem(heads: int = 4, length: int = 256, width: int = 64, causal: bool = True) -> checking.Problem:
    random = np.random.default_rng(6)
    data = [random.normal(size=(heads, length, width)).astype(np.float16) for _ in range(4)]
    query, key, value, gradient = (torch.from_numpy(each).cuda() for each in data)
    leaves = [each.requires_grad_() for each in (query, key, value)]
    scale = 1 / math.sqrt(width)

    def run() -> list[torch.Tensor]:
        result = Attention.apply(*leaves, causal, scale)
        return [result, *torch.autograd.grad(result, leaves, gradient)]

    name = f"flash attention{', causal' if causal else ''}"
    return checking.Problem(name, run, lambda: expected(*data, causal, scale), 5e-3)


if __name__ == "__main__":
    checking.main(problem(), problem(2, 100, 32), problem(causal=False))
