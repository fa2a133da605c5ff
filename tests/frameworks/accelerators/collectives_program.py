"""What programs for `cuda` and "nccl" do, on two ranks where `cuda` is the toy accelerator; expected values are computed on the CPU.

Each check is a function; each rank leaves its outcomes in a file OUTCOMES.RANK, as JSON.
"""

import datetime
import json
import os
import traceback
import warnings

import torch
from torch import distributed, nn
from torch.distributed import _functional_collectives as functional
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
PATIENCE = datetime.timedelta(minutes=2)
"""A rank that waits for one that has failed says so."""
TOY = torch.toy.library


def drawn(rank, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(10 + rank))


def same(found, wanted):
    assert found.is_cuda and found.device.index == RANK and TOY.toy_is_mine(found.untyped_storage().data_ptr())
    torch.testing.assert_close(found.detach().cpu(), wanted)


def check_names():
    assert distributed.is_nccl_available() and distributed.get_backend() == "nccl"
    assert distributed.get_backend_config() == "cuda:nccl", distributed.get_backend_config()
    group = distributed.group.WORLD
    assert group._device_types == [torch.device("cuda")], group._device_types
    assert group._get_backend(torch.device("cuda")).name() == "tccl"
    assert distributed.get_default_backend_for_device("cuda") == "nccl"


def check_reductions():
    x = drawn(RANK, 3, 5).cuda()
    distributed.all_reduce(x)
    same(x, drawn(0, 3, 5) + drawn(1, 3, 5))
    x = drawn(RANK, 7).cuda()
    distributed.all_reduce(x, op=distributed.ReduceOp.MAX)
    same(x, torch.maximum(drawn(0, 7), drawn(1, 7)))
    x = drawn(RANK, 4).cuda()
    distributed.reduce(x, dst=1)
    if RANK == 1:
        same(x, drawn(0, 4) + drawn(1, 4))
    part = torch.empty(3, device="cuda")
    distributed.reduce_scatter_tensor(part, drawn(RANK, 6).cuda())
    same(part, (drawn(0, 6) + drawn(1, 6))[3 * RANK : 3 * RANK + 3])


def check_moves():
    x = drawn(RANK, 2, 3).cuda()
    distributed.broadcast(x, src=1)
    same(x, drawn(1, 2, 3))
    parts = [torch.empty(4, device="cuda") for _ in range(SIZE)]
    distributed.all_gather(parts, drawn(RANK, 4).cuda())
    for rank, part in enumerate(parts):
        same(part, drawn(rank, 4))
    whole = torch.empty(8, device="cuda")
    distributed.all_gather_into_tensor(whole, drawn(RANK, 4).cuda())
    same(whole, torch.cat([drawn(0, 4), drawn(1, 4)]))
    out = torch.empty(4, device="cuda")
    distributed.all_to_all_single(out, drawn(RANK, 4).cuda())
    same(out, torch.cat([drawn(0, 4)[2 * RANK : 2 * RANK + 2], drawn(1, 4)[2 * RANK : 2 * RANK + 2]]))
    gathered = [torch.empty(2, device="cuda") for _ in range(SIZE)] if RANK == 0 else None
    distributed.gather(drawn(RANK, 2).cuda(), gathered, dst=0)
    for rank, part in enumerate(gathered or []):
        same(part, drawn(rank, 2))
    part = torch.empty(2, device="cuda")
    distributed.scatter(part, [drawn(each, 2).cuda() for each in range(SIZE)] if RANK == 0 else None, src=0)
    same(part, drawn(RANK, 2))


def check_works_speak_of_cuda():
    x = drawn(RANK, 5).cuda()
    work = distributed.all_reduce(x, async_op=True)
    doubled = work.get_future().then(lambda done: [2 * each for each in done.value()])
    work.wait()
    assert work.is_completed() and work.is_success()
    wanted = drawn(0, 5) + drawn(1, 5)
    (result,) = work.result()
    same(result, wanted)
    assert result.data_ptr() == x.data_ptr()
    (value,) = work.get_future().value()
    same(value, wanted)
    same(doubled.wait()[0], 2 * wanted)


def check_point_to_point():
    other, got = 1 - RANK, torch.empty(3, device="cuda")
    sent = drawn(RANK, 3).cuda()
    for work in (distributed.isend(sent, other), distributed.irecv(got, other)):
        work.wait()
    same(got, drawn(other, 3))
    got = torch.empty(4, device="cuda")
    operations = [
        distributed.P2POp(distributed.isend, drawn(RANK, 4).cuda(), other),
        distributed.P2POp(distributed.irecv, got, other),
    ]
    for work in distributed.batch_isend_irecv(operations):
        work.wait()
    same(got, drawn(other, 4))


def check_objects_and_barriers():
    found = [None] * SIZE
    distributed.all_gather_object(found, {"rank": RANK, "text": "x" * (5 + RANK)})
    assert found == [{"rank": each, "text": "x" * (5 + each)} for each in range(SIZE)]
    given = [{"of": RANK}, RANK]
    distributed.broadcast_object_list(given, src=1, device=torch.device("cuda", RANK))
    assert given == [{"of": 1}, 1]
    distributed.barrier()
    distributed.barrier(device_ids=[RANK])


def check_other_groups():
    group = distributed.new_group([0, 1], backend="nccl")
    x = drawn(RANK, 3).cuda()
    distributed.all_reduce(x, group=group)
    same(x, drawn(0, 3) + drawn(1, 3))
    assert distributed.get_backend(group) == "nccl"
    hosts = distributed.new_group([0, 1], backend="gloo")
    y = drawn(RANK, 3)
    distributed.all_reduce(y, group=hosts)
    torch.testing.assert_close(y, drawn(0, 3) + drawn(1, 3))
    assert distributed.get_backend(hosts) == "gloo"


def model():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 4))


def trained_alone():
    """Return the parameters after three steps on the CPU over the batches of both ranks."""
    alone = model()
    optimizer = torch.optim.AdamW(alone.parameters(), lr=1e-2)
    x = torch.cat([drawn(0, 5, 6), drawn(1, 5, 6)])
    for _ in range(3):
        optimizer.zero_grad()
        alone(x).pow(2).mean().backward()
        optimizer.step()
    return [each.detach() for each in alone.parameters()]


def train(wrapped):
    optimizer = torch.optim.AdamW(wrapped.parameters(), lr=1e-2)
    for _ in range(3):
        optimizer.zero_grad()
        wrapped(drawn(RANK, 5, 6).cuda()).pow(2).mean().backward()
        optimizer.step()
    return list(wrapped.parameters())


def check_ddp():
    for options in ({}, {"gradient_as_bucket_view": True}):
        wrapped = nn.parallel.DistributedDataParallel(model().cuda(), device_ids=[RANK], **options)
        for found, wanted in zip(train(wrapped), trained_alone(), strict=True):
            same(found, wanted)


def check_fsdp2():
    sharded = model().cuda()
    for each in (sharded[0], sharded[2], sharded):
        fully_shard(each, mesh=init_device_mesh("cuda", (SIZE,)))
    for found, wanted in zip(train(sharded), trained_alone(), strict=True):
        assert isinstance(found, DTensor) and found.device_mesh.device_type == "cuda"
        same(found.full_tensor(), wanted)


def check_functional_collectives():
    summed = functional.all_reduce(drawn(RANK, 3).cuda(), "sum", [0, 1])
    same(summed + 0, drawn(0, 3) + drawn(1, 3))
    gathered = functional.all_gather_tensor(drawn(RANK, 2).cuda(), 0, [0, 1])
    same(gathered + 0, torch.cat([drawn(0, 2), drawn(1, 2)]))


def check_a_group_whose_backend_nobody_named():
    distributed.destroy_process_group()
    # A store of its own: in that of torchrun the first group's addresses still stand under the same names, and Gloo waits for one that is gone.
    store = f"file://{os.environ['OUTCOMES']}.store"
    distributed.init_process_group(
        init_method=store, rank=RANK, world_size=SIZE, device_id=torch.device("cuda", RANK), timeout=PATIENCE
    )
    x = drawn(RANK, 3).cuda()
    distributed.all_reduce(x)
    same(x, drawn(0, 3) + drawn(1, 3))
    y = drawn(RANK, 3)
    distributed.all_reduce(y)
    torch.testing.assert_close(y, drawn(0, 3) + drawn(1, 3))
    mesh = init_device_mesh("cuda", (SIZE, 1))
    z = drawn(RANK, 2).cuda()
    distributed.all_reduce(z, group=mesh.get_group(0))
    same(z, drawn(0, 2) + drawn(1, 2))


def main():
    torch.cuda.set_device(RANK)
    distributed.init_process_group("nccl", timeout=PATIENCE)
    outcomes = {}
    for name, check in list(globals().items()):
        if not name.startswith("check_"):
            continue
        try:
            check()
            outcomes[name] = ""
        except Exception:
            outcomes[name] = traceback.format_exc()
    with open(f"{os.environ['OUTCOMES']}.{RANK}", "w") as file:
        json.dump(outcomes, file)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
