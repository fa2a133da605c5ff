"""Checks of Transformer Engine's layers divided among two ranks, against the whole ones in double precision on the CPU."""

import torch
import torch.distributed as dist
from torch.nn import functional

from anywarp.frameworks.neighbours.answers import te_pytorch as te

ROWS, WIDTH, INNER = 6, 4, 10


def drawn(*shape, seed):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def close(found, wanted):
    assert found.is_cuda and found.shape == wanted.shape, (found.device, found.shape, wanted.shape)
    torch.testing.assert_close(found.detach().cpu().double(), wanted.detach(), atol=1e-5, rtol=1e-5)


def check_layers_divided_by_columns_and_rows(rank, world):
    for sequence in (False, True):
        for returned in (False, True):
            divided(rank, world, sequence, returned)


def divided(rank, world, sequence, returned):
    """A norm with a layer divided by columns, an activation, and a layer divided by rows: values and gradients of what each rank holds."""
    common = {"tp_group": dist.group.WORLD, "tp_size": world, "sequence_parallel": sequence}
    first = te.LayerNormLinear(WIDTH, INNER, parallel_mode="column", **common)
    last = te.Linear(INNER, WIDTH, parallel_mode="row", return_bias=returned, **common)
    assert first.weight.shape == (INNER // world, WIDTH) and last.weight.shape == (WIDTH, INNER // world)
    assert (first.weight.partition_dim, first.bias.partition_dim, last.weight.partition_dim) == (0, 0, 1)
    assert first.weight.tensor_model_parallel and last.weight.tensor_model_parallel
    rows_of_ranks = (first.layer_norm_weight, first.layer_norm_bias, last.bias)
    assert all(getattr(each, "sequence_parallel", False) == sequence for each in rows_of_ranks)
    shapes = {
        "norm": (WIDTH,),
        "shift": (WIDTH,),
        "up": (INNER, WIDTH),
        "one": (INNER,),
        "down": (WIDTH, INNER),
        "two": (WIDTH,),
    }
    whole = {
        name: drawn(*shape, seed=at).double().requires_grad_() for at, (name, shape) in enumerate(shapes.items(), 20)
    }
    part = slice(rank * INNER // world, (rank + 1) * INNER // world)
    held = {
        "norm": (first.layer_norm_weight, whole["norm"], slice(None)), "shift": (first.layer_norm_bias, whole["shift"], slice(None)),
        "up": (first.weight, whole["up"], part), "one": (first.bias, whole["one"], part),
        "down": (last.weight, whole["down"], (slice(None), part)), "two": (last.bias, whole["two"], slice(None)),
    }  # fmt: skip
    with torch.no_grad():
        for parameter, value, of in held.values():
            parameter.copy_(value[of])
    x, back = drawn(ROWS, WIDTH, seed=1), drawn(ROWS, WIDTH, seed=2)
    exact = x.double().requires_grad_()
    normal = functional.layer_norm(exact, (WIDTH,), whole["norm"], whole["shift"])
    wanted = functional.silu(normal @ whole["up"].t() + whole["one"]) @ whole["down"].t() + whole["two"]
    wanted.backward(back.double())
    mine = slice(rank * ROWS // world, (rank + 1) * ROWS // world) if sequence else slice(None)
    given = x[mine].cuda().requires_grad_()
    out = last(functional.silu(first(given)))
    if returned:
        out = out[0] + out[1]
    close(out, wanted[mine])
    out.backward(back[mine].cuda())
    close(given.grad, exact.grad[mine])
    for name, (parameter, value, of) in held.items():
        slope = parameter.grad
        if sequence and name in ("norm", "shift", "two"):
            dist.all_reduce(slope)
        close(slope, value.grad[of])


def check_weights_are_drawn_from_each_ranks_stream(rank, world):
    tracker = te.CudaRNGStatesTracker()
    tracker.add("model-parallel-rng", 100 + rank)
    before = torch.cuda.get_rng_state()
    layer = te.Linear(
        8, 8, parallel_mode="column", tp_group=dist.group.WORLD, tp_size=world, get_rng_state_tracker=lambda: tracker
    )
    assert torch.equal(torch.cuda.get_rng_state(), before)
    parts = [torch.empty_like(layer.weight) for _ in range(world)]
    dist.all_gather(parts, layer.weight.detach())
    assert not torch.equal(parts[0], parts[1])


def check_a_group_that_comes_later(rank, world):
    layer = te.Linear(4, 6, bias=False, parallel_mode="row", tp_size=world)
    x = drawn(3, 4 // world, seed=rank).cuda()
    try:
        layer(x)
    except RuntimeError as error:
        assert "set_tensor_parallel_group" in str(error)
    else:
        raise AssertionError("a layer without its group")
    layer.set_tensor_parallel_group(dist.group.WORLD)
    wanted = (x.double().cpu() @ layer.weight.detach().cpu().double().t()).cuda()
    dist.all_reduce(wanted)
    close(layer(x), wanted.cpu())


def check_features_that_do_not_divide(rank, world):
    try:
        te.Linear(4, 5, parallel_mode="column", tp_group=dist.group.WORLD, tp_size=world)
    except AssertionError as error:
        assert "5 is not divisible by 2" in str(error)
    else:
        raise AssertionError("five columns on two ranks")
