"""Layer norm forward and backward: the gradients of weight and bias are summed by programs that take turns by locks."""

import numpy as np
import torch
import triton
import triton.language as tl

import checking


@triton.jit
def forward_kernel(values, result, weight, bias, means, scales, stride, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for begin in range(0, columns, BLOCK):
        places = begin + tl.arange(0, BLOCK)
        total += tl.load(values + row * stride + places, mask=places < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for begin in range(0, columns, BLOCK):
        places = begin + tl.arange(0, BLOCK)
        line = tl.load(values + row * stride + places, mask=places < columns, other=0.0).to(tl.float32)
        centred = tl.where(places < columns, line - mean, 0.0)
        squares += centred * centred
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + epsilon)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)
    for begin in range(0, columns, BLOCK):
        places = begin + tl.arange(0, BLOCK)
        inside = places < columns
        line = tl.load(values + row * stride + places, mask=inside, other=0.0).to(tl.float32)
        normal = (line - mean) * scale
        shaped = normal * tl.load(weight + places, mask=inside) + tl.load(bias + places, mask=inside)
        tl.store(result + row * stride + places, shaped, mask=inside)


@triton.jit
def backward_kernel(
    values, gradient, weight, means, scales, values_gradient, weight_parts, bias_parts, locks, stride, columns,
    GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    inside = places < columns
    line = tl.load(values + row * stride + places, mask=inside, other=0.0).to(tl.float32)
    above = tl.load(gradient + row * stride + places, mask=inside, other=0.0).to(tl.float32)
    shape = tl.load(weight + places, mask=inside, other=0.0).to(tl.float32)
    mean, scale = tl.load(means + row), tl.load(scales + row)
    normal = tl.where(inside, (line - mean) * scale, 0.0)
    shaped = tl.where(inside, shape * above, 0.0)
    along = tl.sum(normal * shaped, axis=0) / columns
    level = tl.sum(shaped, axis=0) / columns
    tl.store(values_gradient + row * stride + places, (shaped - (normal * along + level)) * scale, mask=inside)

    group = row % GROUPS
    weight_parts += group * columns + places
    bias_parts += group * columns + places
    for_weight, for_bias = (above * normal).to(shape.dtype), above.to(shape.dtype)
    while tl.atomic_cas(locks + group, 0, 1) == 1:
        pass
    written = tl.load(locks + GROUPS + group)
    if written == 0:
        tl.atomic_xchg(locks + GROUPS + group, 1)
    else:
        for_weight += tl.load(weight_parts, mask=inside)
        for_bias += tl.load(bias_parts, mask=inside)
    tl.store(weight_parts, for_weight, mask=inside)
    tl.store(bias_parts, for_bias, mask=inside)
    tl.debug_barrier()  # all threads have stored before one of them opens the lock
    tl.atomic_xchg(locks + group, 0)


@triton.jit
def sum_parts_kernel(
    weight_parts, bias_parts, weight_gradient, bias_gradient, groups, columns, DOWN: tl.constexpr, ACROSS: tl.constexpr
):
    across = tl.program_id(0) * ACROSS + tl.arange(0, ACROSS)
    of_weight = tl.zeros((DOWN, ACROSS), dtype=tl.float32)
    of_bias = tl.zeros((DOWN, ACROSS), dtype=tl.float32)
    for begin in range(0, groups, DOWN):
        down = begin + tl.arange(0, DOWN)
        inside = (down[:, None] < groups) & (across[None, :] < columns)
        places = down[:, None] * columns + across[None, :]
        of_weight += tl.load(weight_parts + places, mask=inside, other=0.0)
        of_bias += tl.load(bias_parts + places, mask=inside, other=0.0)
    tl.store(weight_gradient + across, tl.sum(of_weight, axis=0), mask=across < columns)
    tl.store(bias_gradient + across, tl.sum(of_bias, axis=0), mask=across < columns)


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(context, values, weight, bias, epsilon):
        result = torch.empty_like(values)
        rows, columns = values.shape
        means, scales = (torch.empty(rows, dtype=torch.float32, device=values.device) for _ in range(2))
        forward_kernel[(rows,)](
            values, result, weight, bias, means, scales, values.stride(0), columns, epsilon, BLOCK=1024, num_warps=4
        )
        context.save_for_backward(values, weight, bias, means, scales)
        return result

    @staticmethod
    def backward(context, gradient):
        values, weight, bias, means, scales = context.saved_tensors
        rows, columns = values.shape
        groups = 64
        locks = torch.zeros(2 * groups, dtype=torch.int32, device=values.device)
        weight_parts, bias_parts = (
            torch.zeros(groups, columns, dtype=torch.float32, device=values.device) for _ in range(2)
        )
        values_gradient, weight_gradient, bias_gradient = map(torch.empty_like, (values, weight, bias))
        backward_kernel[(rows,)](
            values, gradient.contiguous(), weight, means, scales, values_gradient, weight_parts, bias_parts, locks,
            values.stride(0), columns, GROUPS=groups, BLOCK=triton.next_power_of_2(columns), num_warps=4,
        )  # fmt: skip
        sum_parts_kernel[(triton.cdiv(columns, 128),)](
            weight_parts, bias_parts, weight_gradient, bias_gradient, min(groups, rows), columns, DOWN=32, ACROSS=128
        )
        return values_gradient, weight_gradient, bias_gradient, None


def expected(values, weight, bias, gradient, epsilon) -> list[np.ndarray]:
    values, weight, bias, gradient = (each.astype(np.float64) for each in (values, weight, bias, gradient))
    scale = 1 / np.sqrt(values.var(axis=1, keepdims=True) + epsilon)
    normal = (values - values.mean(axis=1, keepdims=True)) * scale
    shaped = gradient * weight
    level, along = shaped.mean(axis=1, keepdims=True), (shaped * normal).mean(axis=1, keepdims=True)
    return [
        normal * weight + bias,
        scale * (shaped - level - normal * along),
        (gradient * normal).sum(0),
        gradient.sum(0),
    ]


def problem(rows: int = 256, columns: int = 1000) -> checking.Problem:
    random = np.random.default_rng(5)
    shapes = [(rows, columns), (columns,), (columns,), (rows, columns)]
    data = [random.normal(size=shape).astype(np.float32) for shape in shapes]
    values, weight, bias, gradient = (torch.from_numpy(each).cuda() for each in data)
    leaves = [each.requires_grad_() for each in (values, weight, bias)]

    def run() -> list[torch.Tensor]:
        result = LayerNorm.apply(*leaves, 1e-5)
        return [result, *torch.autograd.grad(result, leaves, gradient)]

    return checking.Problem("layer norm and its gradients", run, lambda: expected(*data, 1e-5), 1e-5)


if __name__ == "__main__":
    checking.main(problem(), problem(70, 129))
