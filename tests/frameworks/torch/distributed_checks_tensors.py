"""Checks of distributed tensors, tensor and pipeline parallel on two ranks with backend "nccl", against the same module on the CPU."""

import copy

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.testing import assert_close


def mesh_of(world):
    return init_device_mesh("cuda", (world,))


def check_meshes(rank, world):
    mesh = init_device_mesh("cuda", (1, world), mesh_dim_names=("data", "tensor"))
    assert mesh.device_type == "cuda" and mesh["tensor"].size() == world and mesh["data"].size() == 1
    assert mesh.get_local_rank("tensor") == rank
    value = torch.ones(1, device="cuda")
    dist.all_reduce(value, group=mesh.get_group("tensor"))
    dist.all_reduce(value, group=mesh.get_group("data"))
    assert value.item() == world


def check_distributed_tensors(rank, world):
    mesh = mesh_of(world)
    torch.manual_seed(0)
    value = torch.randn(6, 4)
    sharded = distribute_tensor(value.cuda(), mesh, [Shard(0)])
    assert isinstance(sharded, DTensor) and sharded.to_local().shape == (3, 4)
    assert_close(sharded.full_tensor().cpu(), value)
    across = sharded.redistribute(mesh, [Shard(1)])
    assert_close(across.to_local().cpu(), value.chunk(world, 1)[rank])
    weight = distribute_tensor(value.T.contiguous().cuda(), mesh, [Replicate()])
    assert_close((sharded @ weight).full_tensor().cpu(), value @ value.T)
    assert_close((across @ weight.redistribute(mesh, [Shard(0)])).full_tensor().cpu(), value @ value.T)
    assert_close(sharded.mean().full_tensor().cpu(), value.mean())


class Feed(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x):
        return self.down(torch.relu(self.up(self.norm(x))))


def check_tensor_parallel(rank, world):
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    torch.manual_seed(0)
    alone = Feed()
    model = copy.deepcopy(alone).cuda()
    model = parallelize_module(model, mesh_of(world), {"up": ColwiseParallel(), "down": RowwiseParallel()})
    assert model.up.weight.to_local().shape == (8, 8) and model.down.weight.to_local().shape == (8, 8)
    x = torch.randn(5, 8)
    out, wanted = model(x.cuda()), alone(x)
    assert_close(out.cpu(), wanted, rtol=1e-5, atol=1e-5)
    out.square().sum().backward()
    wanted.square().sum().backward()
    for name in ("up", "down"):
        got = getattr(model, name).weight.grad.full_tensor().cpu()
        assert_close(got, getattr(alone, name).weight.grad, rtol=1e-4, atol=1e-5)


def check_sequence_parallel(rank, world):
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        PrepareModuleInput,
        RowwiseParallel,
        SequenceParallel,
        parallelize_module,
    )

    torch.manual_seed(0)
    alone = Feed()
    plan = {
        "": PrepareModuleInput(input_layouts=(Replicate(),), desired_input_layouts=(Shard(1),)),
        "norm": SequenceParallel(),
        "up": ColwiseParallel(input_layouts=Shard(1)),
        "down": RowwiseParallel(output_layouts=Replicate()),
    }
    inner = parallelize_module(copy.deepcopy(alone).cuda(), mesh_of(world), plan)
    x = torch.randn(2, 4, 8)
    assert_close(inner(x.cuda()).cpu(), alone(x), rtol=1e-5, atol=1e-5)


def check_tensor_parallel_under_sharding(rank, world):
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    torch.manual_seed(0)
    alone = Feed()
    mesh = init_device_mesh("cuda", (1, world), mesh_dim_names=("data", "tensor"))
    model = copy.deepcopy(alone).cuda()
    parallelize_module(model, mesh["tensor"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
    fully_shard(model, mesh=mesh["data"])
    x = torch.randn(5, 8)
    assert_close(model(x.cuda()).cpu(), alone(x), rtol=1e-5, atol=1e-5)


def check_loss_parallel(rank, world):
    from torch.distributed.tensor.parallel import ColwiseParallel, loss_parallel, parallelize_module

    torch.manual_seed(0)
    alone = nn.Linear(4, 6)
    model = parallelize_module(copy.deepcopy(alone).cuda(), mesh_of(world), ColwiseParallel(use_local_output=False))
    x, target = torch.randn(3, 4), torch.tensor([0, 3, 5])
    with loss_parallel():
        loss = nn.functional.cross_entropy(model(x.cuda()), target.cuda())
        loss.backward()
    wanted = nn.functional.cross_entropy(alone(x), target)
    assert_close(loss.full_tensor().cpu() if isinstance(loss, DTensor) else loss.cpu(), wanted)


def pipeline(rank, world, schedule_class, **options):
    """Run four microbatches through two stages and compare outputs and gradients with one process."""
    from torch.distributed.pipelining import PipelineStage

    torch.manual_seed(0)
    parts = [nn.Sequential(nn.Linear(8, 8), nn.ReLU()), nn.Linear(8, 8)]
    x, y = torch.randn(8, 8), torch.randn(8, 8)
    mine = copy.deepcopy(parts[rank]).cuda()
    stage = PipelineStage(mine, rank, world, torch.device("cuda", rank))
    schedule = schedule_class(stage, n_microbatches=4, loss_fn=nn.functional.mse_loss, **options)
    if rank == 0:
        schedule.step(x.cuda())
    else:
        losses = []
        out = schedule.step(target=y.cuda(), losses=losses)
        assert_close(out.cpu(), parts[1](parts[0](x)), rtol=1e-5, atol=1e-5)
        assert len(losses) == 4
    pieces = [nn.functional.mse_loss(parts[1](parts[0](a)), b) for a, b in zip(x.chunk(4), y.chunk(4), strict=True)]
    (sum(pieces) / 4).backward()
    for got, wanted in zip(mine.parameters(), parts[rank].parameters(), strict=True):
        assert_close(got.grad.cpu(), wanted.grad, rtol=1e-5, atol=1e-6)


def check_pipeline_gpipe(rank, world):
    from torch.distributed.pipelining import ScheduleGPipe

    pipeline(rank, world, ScheduleGPipe)


def check_pipeline_one_forward_one_backward(rank, world):
    from torch.distributed.pipelining import Schedule1F1B

    pipeline(rank, world, Schedule1F1B)
