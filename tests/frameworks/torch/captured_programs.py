"""Programs made at random, captured in CUDA graphs, replayed while the host's and the device's memory change hands, and
compared with the same program run at once.

As a script, under `anywarp run`: captured_programs.py FIRST COUNT; prints how many programs were the same, or where one was not.
"""

import gc
import os
import random
import sys
import warnings
from collections.abc import Callable

import torch
import torch.nn.functional as F

Tensors = list[torch.Tensor]
STEPS = 14
REPLAYS = 6
OPERATORS: list[Callable[[random.Random, Tensors], object]] = []
"""Each takes operands from the second argument as the first decides, and returns tensors that later steps may take."""


def operator(function):
    OPERATORS.append(function)
    return function


def simple(*functions):
    """Enter functions of one tensor of floats."""
    for function in functions:
        OPERATORS.append(lambda r, t, function=function: function(floats(r, t)))


def pick(r, tensors, fits=lambda x: True):
    found = [each for each in tensors if fits(each)]
    if not found:
        raise LookupError("no tensor fits")
    return r.choice(found)


def floats(r, t):
    return pick(r, t, lambda x: x.is_floating_point())


def matrix(r, t):
    return pick(r, t, lambda x: x.dim() == 2 and x.dtype == torch.float32 and 0 < x.numel() <= 4096)


def filled(r, t):
    return pick(r, t, lambda x: x.is_floating_point() and x.dim() > 0 and x.numel() > 0)


def count(r):
    return r.choice([1, 3, 8, 33, 200, 1500, 9000])


def on_cuda(function, *arguments, **options):
    return function(*arguments, device="cuda", **options)


def index_below(r, bound, size):
    """Numbers from 0 to bound - 1 that differ from place to place."""
    return on_cuda(torch.arange, size).mul_(r.choice([1, 3, 7])).add_(r.randrange(5)).remainder_(bound)


# Tensors from nothing.
OPERATORS += [
    lambda r, t: on_cuda(torch.arange, count(r)) + 1,
    lambda r, t: on_cuda(torch.arange, 1.0, 1.0 + count(r) / 4, 0.25),
    lambda r, t: on_cuda(torch.arange, count(r)).repeat(r.randrange(1, 4)).float(),
    lambda r, t: on_cuda(torch.arange, count(r)).expand(3, -1).contiguous().float() * 0.5,
    lambda r, t: on_cuda(torch.linspace, -1, 1, count(r)).cos(),
    lambda r, t: on_cuda(torch.logspace, -1, 1, count(r)),
    lambda r, t: on_cuda(torch.eye, r.randrange(1, 40)) + on_cuda(torch.zeros, 1),
    lambda r, t: on_cuda(torch.full, (count(r), 2), 0.25) * on_cuda(torch.ones, 2),
    lambda r, t: on_cuda(torch.tril_indices, 9, 7).float(),
    lambda r, t: torch.meshgrid(*[on_cuda(torch.arange, 1.0, 1 + r.randrange(1, 30)) for _ in range(2)], indexing="ij"),
    lambda r, t: on_cuda(torch.hann_window, count(r)),
    lambda r, t: torch.vander(on_cuda(torch.linspace, 0, 1, 9)),
    lambda r, t: on_cuda(torch.rand, count(r)) + on_cuda(torch.randn, 1),
    lambda r, t: on_cuda(torch.randint, 0, 50, (count(r),)).float(),
    lambda r, t: on_cuda(torch.empty, count(r)).uniform_(-1, 1).mul_(0.5),
    lambda r, t: on_cuda(torch.empty, count(r)).normal_(0, 2),
    lambda r, t: on_cuda(torch.empty, count(r)).exponential_(1.5),
    lambda r, t: torch.bernoulli(on_cuda(torch.full, (count(r),), 0.3)),
    lambda r, t: torch.rand_like(floats(r, t)),
]

# What takes its size from elsewhere.
OPERATORS += [
    lambda r, t: on_cuda(torch.empty, 0).resize_(count(r)).fill_(r.random()),
    lambda r, t: on_cuda(torch.ones, 8).resize_(count(r)).narrow(0, 0, 1) + 1,
    lambda r, t: on_cuda(torch.full, (300,), 2.0).resize_(r.randrange(1, 300)).sum(),
    lambda r, t: on_cuda(torch.empty, 0).resize_as_(floats(r, t)).fill_(1.5),
    lambda r, t: on_cuda(torch.ones, 5).resize_as_(on_cuda(torch.zeros, 3000))[:5] + 0,
    lambda r, t: on_cuda(torch.empty, 0).set_(floats(r, t)) + 1,
    lambda r, t: on_cuda(torch.empty, 0).set_(on_cuda(torch.full, (50,), 3.0).untyped_storage(), 5, (4, 5), (9, 2)) * 2,
    lambda r, t: torch.add(floats(r, t), 1, out=on_cuda(torch.empty, 0)),
    lambda r, t: torch.cat([(x := filled(r, t)), x], out=on_cuda(torch.empty, 0, dtype=x.dtype)),
    lambda r, t: torch.arange(count(r), out=on_cuda(torch.empty, 0)),
    lambda r, t: torch.linspace(0, 1, count(r), out=on_cuda(torch.empty, 0)),
    lambda r, t: torch.mm((x := matrix(r, t)), x.t(), out=on_cuda(torch.empty, 0)),
    lambda r, t: torch.cumsum(filled(r, t), 0, out=on_cuda(torch.empty, 0)),
    lambda r, t: torch.sort((x := filled(r, t)), 0, out=(on_cuda(torch.empty, 0, dtype=x.dtype), on_cuda(torch.empty, 0, dtype=torch.long))),
    lambda r, t: torch.max(matrix(r, t), 1, out=(on_cuda(torch.empty, 0), on_cuda(torch.empty, 0, dtype=torch.long)))[0],
    lambda r, t: torch.stack([(x := floats(r, t)), x], out=on_cuda(torch.empty, 0, dtype=x.dtype)),
    lambda r, t: torch.sum(filled(r, t), 0, out=on_cuda(torch.empty, 0)),
    lambda r, t: torch.add((x := matrix(r, t)), 1, out=torch.empty_like(x.t()).t()),
]  # fmt: skip


@operator
def storage_of_another_size(r, t):
    x = on_cuda(torch.arange, 100.0)
    x.untyped_storage().resize_(r.choice([4000, 400, 200]))
    return x[: min(50, x.untyped_storage().nbytes() // 4)] + 1


# Views and copies of them.
OPERATORS += [
    lambda r, t: (x := filled(r, t)).expand(2, *x.shape).contiguous(),
    lambda r, t: filled(r, t).repeat(2, *([1] * 0), 1) if r.random() < 0.5 else torch.tile(filled(r, t), (2,)),
    lambda r, t: filled(r, t).flatten()[:: r.randrange(1, 4)].clone(),
    lambda r, t: matrix(r, t).t().contiguous().view(-1),
    lambda r, t: matrix(r, t).diagonal().clone(),
    lambda r, t: filled(r, t).flatten().unfold(0, 1, 1) * 2,
    lambda r, t: torch.as_strided(filled(r, t), (1,), (1,)) + 1,
    lambda r, t: [each + 0 for each in filled(r, t).chunk(2, 0)],
    lambda r, t: [each.sqrt() for each in matrix(r, t).abs().split(3)][:2],
    lambda r, t: filled(r, t).unsqueeze(0).squeeze_(0).roll(1, 0).flip(0),
    lambda r, t: matrix(r, t).clone().t_().unsqueeze_(0),
    lambda r, t: torch.repeat_interleave(filled(r, t), 2, 0),
    lambda r, t: F.pad(matrix(r, t), (1, 2), value=0.5),
    lambda r, t: F.pad(matrix(r, t)[None], (1, 1), mode="replicate")[0],
    lambda r, t: torch.view_as_real(torch.complex((x := filled(r, t).float()), x).conj() * 2),
    lambda r, t: floats(r, t).to(r.choice([torch.float16, torch.bfloat16, torch.float64, torch.int32])).float(),
    lambda r, t: filled(r, t).rot90(1, (0, 1)) if r.random() < 0.2 else filled(r, t).movedim(0, -1).contiguous(),
]

# In place, on memory that the program keeps.
OPERATORS += [
    lambda r, t: floats(r, t).add_(r.random()),
    lambda r, t: floats(r, t).mul_(0.5),
    lambda r, t: floats(r, t).clamp_(-2, 2),
    lambda r, t: floats(r, t).copy_(r.random()) if False else floats(r, t).sin_(),
    lambda r, t: (x := floats(r, t)).copy_(x.cos() if x.numel() % 2 else x + 1),
    lambda r, t: (x := floats(r, t)).masked_fill_(x > 0.5, 0.25),
    lambda r, t: (x := filled(r, t)).index_add_(0, index_below(r, len(x), 2), torch.ones_like(x[:1].expand(2, *x.shape[1:]))),
    lambda r, t: (x := filled(r, t)).index_fill_(0, index_below(r, len(x), 1), 0.75),
    lambda r, t: (x := filled(r, t)).index_copy_(0, index_below(r, len(x), 1), x[-1:] * 2),
    lambda r, t: (x := matrix(r, t)).scatter_(1, index_below(r, x.shape[1], 1)[None].expand(len(x), 1), 0.1),
    lambda r, t: (x := matrix(r, t)).scatter_add_(1, index_below(r, x.shape[1], 1)[None].expand(len(x), 1), x[:, :1] + 1),
    lambda r, t: matrix(r, t).tril_().addmm_((y := on_cuda(torch.ones, 1, 1)), y) if False else matrix(r, t).triu_(1),
    lambda r, t: filled(r, t)[0].fill_(0.3),
    lambda r, t: (x := filled(r, t)).__setitem__(index_below(r, len(x), 1), 0.7),
    lambda r, t: (x := filled(r, t)).index_put_((index_below(r, len(x), 1),), on_cuda(torch.full, (1,), 0.9, dtype=x.dtype)),
    lambda r, t: filled(r, t).zero_() if r.random() < 0.1 else filled(r, t).neg_(),
    lambda r, t: matrix(r, t).fill_diagonal_(0.5),
    lambda r, t: floats(r, t).lerp_(on_cuda(torch.zeros, ()), 0.1),
    lambda r, t: filled(r, t).uniform_(),
]  # fmt: skip

simple(
    torch.tanh, torch.sigmoid, torch.exp2, torch.abs, torch.neg, F.relu, F.gelu, F.silu, torch.erf, torch.frac, F.hardtanh,
    lambda x: x + torch.tensor(2.5), lambda x: 3 - x, lambda x: torch.where(x > 0, x, 0.1 * x), lambda x: x.clamp(min=-1),
    lambda x: F.threshold(x, 0.1, 0.2), lambda x: x.pow(2), lambda x: torch.clamp_min(x, 0), lambda x: torch.nan_to_num(x, 0.0, 1.0, -1.0),
    lambda x: x.sum(), lambda x: x.mean(), lambda x: x.amax(), lambda x: x.norm(), lambda x: x.logsumexp(0), lambda x: x.var(),
    lambda x: torch.std_mean(x), lambda x: torch.aminmax(x), lambda x: x.argmax().float(), lambda x: (x > 0).any().float(),
    lambda x: x.cumsum(0), lambda x: x.sum(0), lambda x: x.prod(), lambda x: x.max(0)[0], lambda x: x.median(0)[0], lambda x: x.count_nonzero().float(),
    lambda x: x.sort(-1)[0], lambda x: x.argsort(0).float(), lambda x: x.topk(1, 0)[0], lambda x: x.kthvalue(1, 0)[0], lambda x: torch.msort(x),
    lambda x: x.tril() if x.dim() > 1 else x.diff(), lambda x: x.cummax(0)[0], lambda x: torch.histc(x.float(), 8, -1, 1),
    lambda x: torch.quantile(x.float().flatten(), 0.5), lambda x: torch.fft.rfft(x.float()).abs(), lambda x: x.softmax(-1), lambda x: x.log_softmax(0),
    lambda x: F.dropout(x, 0.4), lambda x: F.dropout(x, 0.2).sum(), lambda x: F.alpha_dropout(x, 0.1), lambda x: torch.bucketize(x, on_cuda(torch.linspace, -1, 1, 7)).float(),
    lambda x: torch._foreach_add([x, x * 2], 1.0), lambda x: torch._foreach_mul([x, x], [0.5, 2.0]), lambda x: torch._foreach_norm([x, x + 1]),
    lambda x: torch._foreach_sqrt([x.abs(), x.square()]), lambda x: torch._foreach_addcmul([x], [x], [x], 0.5),
    lambda x: torch._foreach_lerp([x, x], [x + 1, x - 1], 0.25), lambda x: [torch._foreach_mul_([y := x.clone(), x * 1], 0.5), y][1],
)  # fmt: skip

OPERATORS += [
    lambda r, t: torch.cat([filled(r, t).flatten(), filled(r, t).flatten(), on_cuda(torch.arange, 3.0)]),
    lambda r, t: torch.hstack([matrix(r, t).flatten(), on_cuda(torch.zeros, 2)]),
    lambda r, t: (x := filled(r, t)).gather(0, torch.zeros_like(x, dtype=torch.long)),
    lambda r, t: (x := filled(r, t)).index_select(0, index_below(r, len(x), 5)),
    lambda r, t: (x := filled(r, t)).take(index_below(r, x.numel(), 7)),
    lambda r, t: (x := filled(r, t))[index_below(r, len(x), 3)],
    lambda r, t: torch.take_along_dim((x := matrix(r, t)), x.argsort(1), 1),
    lambda r, t: F.embedding(index_below(r, len(x := matrix(r, t)), 6), x),
    lambda r, t: torch.searchsorted(on_cuda(torch.linspace, 0, 1, 9), floats(r, t).float()).float(),
    lambda r, t: (x := matrix(r, t)) @ x.t(),
    lambda r, t: torch.bmm((x := matrix(r, t))[None].expand(2, -1, -1), x.t()[None].expand(2, -1, -1)),
    lambda r, t: torch.addmm(on_cuda(torch.ones, 1), (x := matrix(r, t)), x.t()),
    lambda r, t: torch.einsum("ij,ik->jk", (x := matrix(r, t)), x),
    lambda r, t: torch.outer((x := filled(r, t).flatten()[:40]), x),
    lambda r, t: F.linear((x := matrix(r, t)), on_cuda(torch.ones, 3, x.shape[1]), on_cuda(torch.arange, 3.0)),
    lambda r, t: F.conv2d(matrix(r, t)[None, None], on_cuda(torch.ones, 2, 1, 1, 1)),
    lambda r, t: F.conv1d(matrix(r, t)[:, None], on_cuda(torch.ones, 2, 1, 1), padding=1),
    lambda r, t: F.max_pool2d(matrix(r, t)[None, None], 1),
    lambda r, t: F.avg_pool1d(matrix(r, t)[None], 1),
    lambda r, t: F.interpolate(matrix(r, t)[None, None], scale_factor=2, mode=r.choice(["nearest", "bilinear"])),
    lambda r, t: F.layer_norm((x := matrix(r, t)), x.shape[1:]),
    lambda r, t: F.group_norm(matrix(r, t)[None, :, :], 1),
    lambda r, t: F.batch_norm((x := matrix(r, t)), on_cuda(torch.zeros, x.shape[1]), on_cuda(torch.ones, x.shape[1]), training=len(x) > 1),
    lambda r, t: torch.cdist((x := matrix(r, t)), x),
    lambda r, t: F.scaled_dot_product_attention(*[matrix(r, t)[None, None]] * 3),
    lambda r, t: F.cross_entropy((x := matrix(r, t)), index_below(r, x.shape[1], len(x))),
    lambda r, t: F.mse_loss((x := floats(r, t)), torch.zeros_like(x)),
    lambda r, t: torch.where(floats(r, t) > 0, 1.0, 0.5),
]  # fmt: skip


@operator
def gradient_of_something(r, t):
    x = matrix(r, t).detach().clone().requires_grad_()
    kind = r.randrange(5)
    if kind == 0:
        y = F.dropout(F.relu(x @ x.t()), 0.3).square().mean()
    elif kind == 1:
        y = F.mse_loss(F.linear(x, on_cuda(torch.ones, 4, x.shape[1])).clamp_min(0), on_cuda(torch.zeros, len(x), 4))
    elif kind == 2:
        y = F.layer_norm(x, x.shape[1:]).softmax(-1).cumsum(0).sum()
    elif kind == 3:
        y = torch.cat([x, x.sort(1)[0]]).index_select(0, index_below(r, len(x), 5)).logsumexp(0).sum()
    else:
        y = F.conv2d(F.gelu(x)[None, None], on_cuda(torch.ones, 2, 1, 1, 1)).amax((2, 3)).sum() + x.std()
    return torch.autograd.grad(y, x)[0]


MODULES = [
    lambda: torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.2), torch.nn.ReLU(), torch.nn.Linear(8, 4)),
    lambda: torch.nn.Sequential(torch.nn.LayerNorm(4), torch.nn.Linear(4, 6), torch.nn.GELU(), torch.nn.BatchNorm1d(6)),
    lambda: torch.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.1, batch_first=True),
    lambda: torch.nn.Sequential(torch.nn.Unflatten(1, (1, 4)), torch.nn.Conv1d(1, 3, 3, padding=1), torch.nn.Flatten(), torch.nn.Tanh()),
    lambda: torch.nn.LSTM(4, 5),
]  # fmt: skip


@operator
def step_of_a_module(r, t):
    module = MODULES[r.randrange(len(MODULES))]().to("cuda")
    with torch.no_grad():
        for i, each in enumerate(module.parameters()):
            each.copy_(on_cuda(torch.arange, each.numel()).add_(i).sin_().view_as(each))
    x = on_cuda(torch.arange, 24.0).view(6, 4).cos()
    out = module(x)
    out = out[0] if isinstance(out, tuple) else out
    loss = F.mse_loss(out, torch.zeros_like(out))
    grads = torch.autograd.grad(loss, list(module.parameters()))
    torch._foreach_add_([each.detach() for each in module.parameters()], list(grads), alpha=-0.1)
    return [loss.detach(), *[each.detach() for each in module.parameters()][:2]]


def tensors_of(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [each for every in value for each in tensors_of(every)] if isinstance(value, (list, tuple)) else []


def usable(x):
    if torch._debug_has_internal_overlap(x):
        return False
    return x.is_cuda and x.layout == torch.strided and x.numel() <= 20000 and not x.requires_grad and not x.is_complex()


def run(seed, inputs, skipped, learning=False):
    """Do the steps of program `seed`; when learning, note in `skipped` those that raise."""
    known = list(inputs)
    for step in range(STEPS):
        if step in skipped:
            continue
        r = random.Random(f"{seed} {step}")
        function = r.choice(OPERATORS)
        try:
            known += [each for each in tensors_of(function(r, known)) if usable(each)]
        except (RuntimeError, LookupError, IndexError, ValueError, TypeError, NotImplementedError):
            if not learning:
                raise
            skipped.add(step)
    return [each.clone() for each in known[len(inputs) :]][-6:]


def make_inputs(seed):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(7,), (5, 9), (2, 3, 4), (1000,), (30, 31)]
    return [torch.randn(shape, generator=generator).to("cuda") for shape in shapes]


def churn(r, kept):
    """Give memory of the host and of the device other owners; what was kept before must be as it was."""
    for each, value in kept:
        assert each.count(value) == len(each), "memory of the host changed"
    del kept[: r.randrange(len(kept) + 1)]
    for size in (70000, 9000, 64 * r.randrange(1, 3000), r.randrange(1, 300000)):
        value = r.randrange(256)
        kept.append((bytearray([value]) * size, value))
    return [torch.full((n,), 7.0, device="cuda") for n in (10, 3000, r.randrange(1, 50000))]


def lies(x):
    return [stride for size, stride in zip(x.shape, x.stride(), strict=True) if size > 1]


def difference(found, expected):
    """Return where two lists of tensors differ, "" when they do not."""
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        if a.shape != b.shape or lies(a) != lies(b):
            return f"{i}: {tuple(a.shape)} {a.stride()}, not {tuple(b.shape)} {b.stride()}"
        a, b = (x.cpu().float() if x.dtype in (torch.float16, torch.bfloat16) else x.cpu() for x in (a, b))
        if not torch.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True):
            return f"{i}: {(a - b).abs().max() if a.is_floating_point() else 'integers'} apart"
    return ""


def check(seed):
    """Compare program `seed` with its graph; returns how many steps it has; AssertionError where they differ."""
    r = random.Random(seed)
    skipped: set[int] = set()
    run(seed, make_inputs(seed), skipped, learning=True)
    static = make_inputs(seed)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        run(seed, static, skipped)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = run(seed, static, skipped)
    kept, garbage = [], []
    streams = [torch.cuda.current_stream(), side]
    for turn in range(REPLAYS):
        for mine, fresh in zip(static, make_inputs(seed * 100 + turn), strict=True):
            mine.copy_(fresh)
        theirs = [each.clone() for each in static]
        torch.cuda.manual_seed(turn)
        expected = run(seed, theirs, skipped)
        torch.cuda.manual_seed(turn)
        garbage = churn(r, kept)
        stream = streams[turn % 2]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            graph.replay()
        if turn == REPLAYS - 1 and seed % 2:
            del graph  # while it may still be running
            gc.collect()
        torch.cuda.current_stream().wait_stream(stream)
        where = difference(out, expected)
        assert not where, f"program {seed}, replay {turn}: output {where}"
        where = difference(static, theirs)
        assert not where, f"program {seed}, replay {turn}: input {where}"
    churn(r, kept)
    del garbage
    return STEPS - len(skipped)


def main():
    first, number = map(int, sys.argv[1:])
    warnings.simplefilter("ignore")
    steps = 0
    for seed in range(first, first + number):
        if os.environ.get("SHOW_PROGRAMS"):
            print(seed, file=sys.stderr, flush=True)
        steps += check(seed)
    print("same", number, "steps", steps)


if __name__ == "__main__":
    main()
