"""xformers: attention under its masks with gradients, and its sparse matrices of two in four, against float64 on the host."""

import numpy as np
import torch
import xformers.ops as ops
from checked import check, end
from xformers import _cpp_lib
from xformers.ops import fmha

assert _cpp_lib._cpp_library_load_exception is None, _cpp_lib._cpp_library_load_exception
BOUNDS = {torch.float32: 2e-6, torch.float16: 3e-3, torch.bfloat16: 2e-2}
rng = np.random.default_rng(0)


def normal(*shape):
    return torch.tensor(rng.standard_normal(shape))


def exact(q, k, v, mask, scale=None):
    """Attention by its definition, in what type the factors have; a mask is added. Shapes: batch, words, heads, width."""
    scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * (scale or q.shape[-1] ** -0.5)
    return torch.einsum("bhqk,bkhd->bqhd", (scores + mask).softmax(-1), v)


def allowed(rows, columns, rule):
    """Return what is added to scores: nothing where `rule` of a row and a column holds, else minus infinity."""
    row, column = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    return torch.zeros(rows, columns, dtype=torch.float64).masked_fill(~rule(row, column), -torch.inf)


def compare(name, shapes, bias, mask, kinds=tuple(BOUNDS), operator=None, **settings):
    """Results and gradients, for factors that the type holds."""
    for kind in kinds:
        given = [normal(*shape).to(kind) for shape in shapes]
        back = normal(*shapes[0][:-1], shapes[2][-1]).to(kind)
        ours, theirs = (
            [change(each).requires_grad_() for each in given] for change in (torch.Tensor.cuda, torch.Tensor.double)
        )
        wanted = exact(*theirs, mask, **settings)
        wanted.backward(back.double())
        found = ops.memory_efficient_attention(*ours, attn_bias=bias(kind), op=operator, **settings)
        found.backward(back.cuda())
        title, bound = f"{name} in {str(kind).removeprefix('torch.')}", BOUNDS[kind]
        check(title, lambda found=found: found.detach().cpu().double(), wanted.detach(), bound)
        for letter, one, other in zip("qkv", ours, theirs):
            check(f"{title}, gradient of {letter}", lambda one=one: one.grad.cpu().double(), other.grad, 3 * bound)


SAME, OTHER = [(2, 40, 3, 32)] * 3, [(2, 24, 2, 64), (2, 56, 2, 64), (2, 56, 2, 48)]
compare("attention", SAME, lambda kind: None, 0.0)
compare("attention of other widths, with a scale", OTHER, lambda kind: None, 0.0, scale=0.3)
causal = allowed(40, 40, lambda row, column: column <= row)
compare("causal attention", SAME, lambda kind: ops.LowerTriangularMask(), causal)
from_below = allowed(24, 56, lambda row, column: column <= row + 32)
compare(
    "attention that is causal at its end",
    OTHER,
    lambda kind: fmha.attn_bias.LowerTriangularFromBottomRightMask(),
    from_below,
)
added = normal(2, 3, 40, 40).half().double()
compare("attention with a bias", SAME, lambda kind: added.to("cuda", kind), added, (torch.float32, torch.float16))
lengths = [10, 17, 13]
number = torch.repeat_interleave(torch.arange(3), torch.tensor(lengths))
blocks = allowed(40, 40, lambda row, column: number[row] == number[column])
packed = [(1, 40, 3, 32)] * 3
compare("attention of several lengths", packed, lambda kind: fmha.BlockDiagonalMask.from_seqlens(lengths), blocks)
compare(
    "causal attention of several lengths",
    packed,
    lambda kind: fmha.BlockDiagonalMask.from_seqlens(lengths).make_causal(),
    blocks + causal,
)
grouped = [normal(2, 16, heads, 32).float() for heads in (8, 2, 2)]
queries = grouped[0].reshape(2, 16, 2, 4, 32)
few = [each.reshape(2, 16, 2, 1, 32).expand(2, 16, 2, 4, 32) for each in grouped[1:]]
check(
    "grouped heads",
    lambda: ops.memory_efficient_attention(*(each.cuda() for each in (queries, *few))).cpu().double(),
    exact(*(each.reshape(2, 16, 8, 32).double() for each in (queries, *few)), 0.0).reshape(2, 16, 2, 4, 32),
    2e-6,
)
check(
    "dropout keeps the mean",
    lambda: (
        abs(
            float(
                ops.memory_efficient_attention(
                    *(torch.ones(4, 64, 2, 32, device="cuda") for _ in range(3)), p=0.25
                ).mean()
            )
            - 1
        )
        < 0.05
    ),
    True,
    0,
)

# Of each 4 numbers the 2 of largest magnitude stay; blocks of 4 by 4 keep 2 in each row and column.
for kind in (torch.float16, torch.bfloat16):
    title = str(kind).removeprefix("torch.")
    whole, factor = normal(128, 64).to(kind), normal(64, 96).to(kind)
    sparse = ops.sparsify24(whole.cuda(), algo="largest_abs_values_greedy", backend="cutlass")
    dense = ops.sparsify24_like(whole.cuda(), pattern=sparse, out_dense=True).cpu()
    kept = (dense != 0).reshape(32, 4, 16, 4)
    check(
        f"two in four in {title}",
        lambda kept=kept: bool((kept.sum(1) <= 2).all() and (kept.sum(3) <= 2).all() and kept.double().mean() > 0.45),
        True,
        0,
    )
    check(
        f"what stays in {title}",
        lambda dense=dense, whole=whole: bool((dense[dense != 0] == whole[dense != 0]).all()),
        True,
        0,
    )
    check(
        f"a sparse product in {title}",
        lambda sparse=sparse, factor=factor: (sparse @ factor.cuda()).cpu().double(),
        dense.double() @ factor.double(),
        BOUNDS[kind],
    )
    check(
        f"a product with the transposed in {title}",
        lambda sparse=sparse, whole=whole: (sparse.t() @ whole.cuda()).cpu().double(),
        dense.double().t() @ whole.double(),
        BOUNDS[kind],
    )
layer = ops.SwiGLU(64, 96, bias=True).cuda()
x = normal(10, 64).float()
w12, w3 = layer.w12, layer.w3
first, second = torch.nn.functional.linear(x.double(), w12.weight.cpu().double(), w12.bias.cpu().double()).chunk(2, -1)
inner = torch.nn.functional.silu(first) * second
wanted = torch.nn.functional.linear(inner, w3.weight.cpu().double(), w3.bias.cpu().double()).detach()
check("SwiGLU", lambda: layer(x.cuda()).detach().cpu().double(), wanted, 2e-6)
end()
