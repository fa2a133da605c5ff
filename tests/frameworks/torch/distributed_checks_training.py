"""Checks of training on two ranks with backend "nccl": losses and weights are those of one process with the whole batch, on the CPU."""

import copy
import functools
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel
from torch.testing import assert_close

STEPS = 3


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class Small(nn.Module):
    def __init__(self, width=8, blocks=2):
        super().__init__()
        self.first = nn.Linear(4, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))
        self.last = nn.Linear(width, 2)

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.last(x)


def new_model():
    torch.manual_seed(3)
    return Small()


def batches(count=STEPS):
    draw = torch.Generator().manual_seed(4)
    return [(torch.randn(8, 4, generator=draw), torch.randn(8, 2, generator=draw)) for _ in range(count)]


def share(tensor, rank, world):
    return tensor.chunk(world)[rank].cuda()


def optimizer_of(parameters):
    return torch.optim.AdamW(parameters, lr=1e-2)


@functools.cache
def trained_alone(steps=STEPS):
    """Return the losses and the final weights of one process on the CPU."""
    model = new_model()
    optimizer = optimizer_of(model.parameters())
    losses = []
    for x, y in batches(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, {name: value.detach().clone() for name, value in model.named_parameters()}


def train(model, optimizer, rank, world, steps=STEPS):
    """Train on this rank's share and return the losses over the whole batch."""
    losses = []
    for x, y in batches(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(share(x, rank, world)), share(y, rank, world))
        loss.backward()
        optimizer.step()
        mean = loss.detach().float().clone()
        dist.all_reduce(mean, dist.ReduceOp.AVG)
        losses.append(mean.item())
    return losses


def whole(value):
    value = value.full_tensor() if hasattr(value, "full_tensor") else value
    return value.detach().cpu().float()


def expect_like_alone(losses, weights, tolerance=1e-5):
    """Compare with one process; names that a wrapper adds are taken away."""
    wanted_losses, wanted = trained_alone(len(losses))
    assert_close(torch.tensor(losses), torch.tensor(wanted_losses), rtol=tolerance, atol=tolerance)
    for name, value in weights.items():
        plain = name.replace("_fsdp_wrapped_module.", "").replace("_orig_mod.", "").removeprefix("module.")
        assert_close(whole(value), wanted[plain], rtol=tolerance, atol=tolerance)
    assert len(weights) == len(wanted)


def data_parallel(rank, **options):
    model = new_model().cuda()
    return DistributedDataParallel(model, device_ids=[rank], **options)


def trains_like_alone(model, rank, world, tolerance=1e-5):
    losses = train(model, optimizer_of(model.parameters()), rank, world)
    expect_like_alone(losses, dict(model.named_parameters()), tolerance)


def check_data_parallel(rank, world):
    trains_like_alone(data_parallel(rank), rank, world)


def check_data_parallel_with_bucket_views(rank, world):
    trains_like_alone(data_parallel(rank, gradient_as_bucket_view=True, bucket_cap_mb=0.0005), rank, world)


def check_data_parallel_with_a_static_graph(rank, world):
    trains_like_alone(data_parallel(rank, static_graph=True), rank, world)


def check_data_parallel_looking_for_unused_parameters(rank, world):
    model = data_parallel(rank, find_unused_parameters=True)
    trains_like_alone(model, rank, world)

    class Sometimes(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Linear(4, 2), nn.Linear(4, 2)

        def forward(self, x, use_both):
            return self.one(x) + self.two(x) if use_both else self.one(x)

    torch.manual_seed(0)
    model = DistributedDataParallel(Sometimes().cuda(), device_ids=[rank], find_unused_parameters=True)
    x = torch.ones(3, 4, device="cuda")
    model(x, rank == 1).sum().backward()  # used by one rank alone: half of its gradient
    assert_close(model.module.two.weight.grad.cpu(), torch.full((2, 4), 1.5))
    assert_close(model.module.one.weight.grad.cpu(), torch.full((2, 4), 3.0))


def check_data_parallel_without_synchronisation(rank, world):
    model = data_parallel(rank)
    (x1, y1), (x2, y2) = batches(2)
    loss = nn.functional.mse_loss
    with model.no_sync():
        loss(model(share(x1, rank, world)), share(y1, rank, world)).backward()
    loss(model(share(x2, rank, world)), share(y2, rank, world)).backward()
    alone = new_model()
    (loss(alone(x1), y1) + loss(alone(x2), y2)).backward()
    for got, wanted in zip(model.parameters(), alone.parameters(), strict=True):
        assert_close(got.grad.cpu(), wanted.grad, rtol=1e-5, atol=1e-6)


def check_data_parallel_with_hooks(rank, world):
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook

    for hook, tolerance in (
        (default_hooks.allreduce_hook, 1e-5),
        (default_hooks.fp16_compress_hook, 2e-2),
        (default_hooks.bf16_compress_hook, 2e-2),
    ):
        model = data_parallel(rank)
        model.register_comm_hook(dist.group.WORLD, hook)
        trains_like_alone(model, rank, world, tolerance)
    model = data_parallel(rank)
    state = powerSGD_hook.PowerSGDState(dist.group.WORLD, matrix_approximation_rank=2, start_powerSGD_iter=2)
    model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
    losses = train(model, optimizer_of(model.parameters()), rank, world)
    wanted, _ = trained_alone()
    assert_close(torch.tensor(losses[:3]), torch.tensor(wanted[:3]), rtol=0.05, atol=0.05)
    model = data_parallel(rank)
    model._register_builtin_comm_hook(dist.BuiltinCommHookType.FP16_COMPRESS)
    trains_like_alone(model, rank, world, 2e-2)


def check_data_parallel_when_compiled(rank, world):
    model = DistributedDataParallel(new_model().cuda(), device_ids=[rank])
    compiled = torch.compile(model, backend="aot_eager")
    losses = train(compiled, optimizer_of(model.parameters()), rank, world)
    expect_like_alone(losses, dict(model.named_parameters()))


def check_zero_redundancy(rank, world):
    from torch.distributed.optim import ZeroRedundancyOptimizer

    model = data_parallel(rank)
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=1e-2)
    losses = train(model, optimizer, rank, world)
    expect_like_alone(losses, dict(model.named_parameters()))
    optimizer.consolidate_state_dict(to=0)
    if rank == 0:
        assert len(optimizer.state_dict()["state"]) == len(list(model.parameters()))


def check_sync_batch_norm(rank, world):
    torch.manual_seed(1)
    plain = nn.BatchNorm1d(3)
    model = nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(plain)).cuda()
    model = DistributedDataParallel(model, device_ids=[rank])
    x = torch.randn(8, 3)
    out = model(share(x, rank, world))
    wanted = plain(x)
    assert_close(out.cpu(), wanted.chunk(world)[rank], rtol=1e-5, atol=1e-5)
    assert_close(model.module.running_var.cpu(), plain.running_var)
    (out * share(x, rank, world)).sum().backward()
    (wanted * x).sum().backward()
    assert_close(model.module.weight.grad.cpu() * world, plain.weight.grad, rtol=1e-4, atol=1e-5)


def fully_sharded(**options):
    from torch.distributed.fsdp import fully_shard

    model = new_model().cuda()
    for block in model.blocks:
        fully_shard(block, **options)
    return fully_shard(model, **options)


def check_fully_sharded(rank, world):
    model = fully_sharded()
    assert model.first.weight.to_local().shape[0] * world == model.first.weight.shape[0]
    trains_like_alone(model, rank, world)


def check_fully_sharded_on_a_mesh_without_resharding(rank, world):
    trains_like_alone(fully_sharded(mesh=init_device_mesh("cuda", (world,)), reshard_after_forward=False), rank, world)


def check_sharded_within_and_replicated_across(rank, world):
    mesh = init_device_mesh("cuda", (world, 1), mesh_dim_names=("replicate", "shard"))
    trains_like_alone(fully_sharded(mesh=mesh), rank, world)


def check_fully_sharded_with_mixed_precision(rank, world):
    from torch.distributed.fsdp import MixedPrecisionPolicy

    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    model = fully_sharded(mp_policy=policy)
    losses = train(model, optimizer_of(model.parameters()), rank, world)
    wanted, _ = trained_alone()
    assert_close(torch.tensor(losses), torch.tensor(wanted), rtol=5e-2, atol=5e-2)
    assert all(each.dtype == torch.float32 for each in model.parameters())


def check_fully_sharded_with_parameters_on_the_host(rank, world):
    from torch.distributed.fsdp import CPUOffloadPolicy

    model = fully_sharded(offload_policy=CPUOffloadPolicy())
    assert model.first.weight.device.type == "cpu"
    losses = train(model, optimizer_of(model.parameters()), rank, world)
    wanted_losses, wanted = trained_alone()
    assert_close(torch.tensor(losses), torch.tensor(wanted_losses), rtol=1e-5, atol=1e-5)
    shard = model.first.weight.to_local()
    assert_close(shard.detach(), wanted["first.weight"].chunk(world)[rank], rtol=1e-5, atol=1e-5)


def check_fully_sharded_checkpoints(rank, world):
    import torch.distributed.checkpoint as checkpoint
    from torch.distributed.checkpoint.state_dict import (
        StateDictOptions,
        get_model_state_dict,
        get_state_dict,
        set_state_dict,
    )

    model = fully_sharded()
    optimizer = optimizer_of(model.parameters())
    losses = train(model, optimizer, rank, world)
    full = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    if rank == 0:
        expect_like_alone(losses, full)
    else:
        assert full == {}
    folder = [tempfile.mkdtemp()]
    dist.broadcast_object_list(folder, src=0)
    state, moments = get_state_dict(model, optimizer)
    checkpoint.save({"model": state, "optimizer": moments}, checkpoint_id=folder[0])
    fresh = fully_sharded()
    fresh_optimizer = optimizer_of(fresh.parameters())
    state, moments = get_state_dict(fresh, fresh_optimizer)
    loaded = {"model": state, "optimizer": moments}
    checkpoint.load(loaded, checkpoint_id=folder[0])
    set_state_dict(fresh, fresh_optimizer, model_state_dict=loaded["model"], optim_state_dict=loaded["optimizer"])
    for got, wanted in zip(fresh.parameters(), model.parameters(), strict=True):
        assert_close(got.to_local(), wanted.to_local())
        assert_close(fresh_optimizer.state[got]["exp_avg"].to_local(), optimizer.state[wanted]["exp_avg"].to_local())


def wrapped(rank, **options):
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy

    options.setdefault("use_orig_params", True)
    policy = ModuleWrapPolicy({Block})
    return FullyShardedDataParallel(new_model(), auto_wrap_policy=policy, device_id=rank, **options)


def check_wrapped_sharding(rank, world):
    from torch.distributed.fsdp import FullStateDictConfig, FullyShardedDataParallel, ShardingStrategy, StateDictType

    for strategy in (ShardingStrategy.FULL_SHARD, ShardingStrategy.SHARD_GRAD_OP, ShardingStrategy.NO_SHARD):
        model = wrapped(rank, sharding_strategy=strategy)
        losses = train(model, optimizer_of(model.parameters()), rank, world)
        config = FullStateDictConfig(offload_to_cpu=True, rank0_only=False)
        with FullyShardedDataParallel.state_dict_type(model, StateDictType.FULL_STATE_DICT, config):
            state = model.state_dict()
        expect_like_alone(losses, state)
    with FullyShardedDataParallel.state_dict_type(model, StateDictType.SHARDED_STATE_DICT):
        assert len(model.state_dict()) == len(state)


def check_wrapped_sharding_with_mixed_precision_and_offload(rank, world):
    from torch.distributed.fsdp import CPUOffload, MixedPrecision

    wanted, _ = trained_alone()
    precision = MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    model = wrapped(rank, mixed_precision=precision)
    losses = train(model, optimizer_of(model.parameters()), rank, world)
    assert_close(torch.tensor(losses), torch.tensor(wanted), rtol=5e-2, atol=5e-2)
    model = wrapped(rank, cpu_offload=CPUOffload(offload_params=True))
    losses = train(model, optimizer_of(model.parameters()), rank, world)
    assert_close(torch.tensor(losses), torch.tensor(wanted), rtol=1e-5, atol=1e-5)
    assert next(model.parameters()).device.type == "cpu"


def check_wrapped_sharding_clips_gradients(rank, world):
    model = wrapped(rank)
    x, y = batches(1)[0]
    nn.functional.mse_loss(model(share(x, rank, world)), share(y, rank, world)).backward()
    norm = model.clip_grad_norm_(0.1)
    alone = new_model()
    nn.functional.mse_loss(alone(x), y).backward()
    assert_close(norm.cpu(), nn.utils.clip_grad_norm_(alone.parameters(), 0.1), rtol=1e-5, atol=1e-6)
