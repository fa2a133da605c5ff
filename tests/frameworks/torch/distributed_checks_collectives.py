"""Checks of the collectives of backend "nccl" on two ranks; what is expected is worked out here from what each rank gives."""

from datetime import timedelta

import pytest
import torch
import torch.cuda.comm
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch.distributed import ReduceOp
from torch.testing import assert_close

DTYPES = (
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int32, torch.int64,
)  # fmt: skip


def given(rank, dtype=torch.float32, count=5):
    """What a rank gives: small whole numbers, other ones on every rank."""
    return (torch.arange(count) + 3 * rank + 1).to(dtype)


def on_cuda(rank, *arguments, **named):
    return given(rank, *arguments, **named).cuda()


def check_names_of_the_backend(rank, world):
    group = dist.group.WORLD
    backend = group._get_backend(torch.device("cuda"))
    assert dist.is_nccl_available() and dist.get_backend() == "nccl"
    assert dist.get_backend_config() == "cuda:nccl"
    assert isinstance(backend, dist.ProcessGroupNCCL) and backend.name() == "nccl"
    assert not isinstance(group, dist.ProcessGroupNCCL)
    assert (backend.rank(), backend.size()) == (rank, world)
    assert isinstance(backend.options, dist.ProcessGroupNCCL.Options)
    assert backend.options._timeout == timedelta(seconds=20)
    assert dist.get_default_backend_for_device("cuda") == "nccl"
    assert torch.device("cuda") in group._device_types
    assert backend.supports_coalescing
    gloo = dist.new_group(backend="gloo")._get_backend(torch.device("cpu"))
    assert isinstance(backend.uid, int) and not hasattr(gloo, "uid")


def check_all_reduce_of_every_dtype(rank, world):
    for dtype in DTYPES:
        tensor = on_cuda(rank, dtype)
        at = tensor.data_ptr()
        assert dist.all_reduce(tensor) is None
        assert tensor.device == torch.device("cuda", rank) and tensor.data_ptr() == at
        assert_close(tensor.cpu(), given(0, dtype) + given(1, dtype), rtol=0, atol=0)


def check_all_reduce_by_every_operator(rank, world):
    one, two = given(0), given(1)
    expected = {
        ReduceOp.SUM: one + two,
        ReduceOp.PRODUCT: one * two,
        ReduceOp.MIN: torch.minimum(one, two),
        ReduceOp.MAX: torch.maximum(one, two),
        ReduceOp.AVG: (one + two) / 2,
    }
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        for op, wanted in expected.items():
            tensor = on_cuda(rank, dtype)
            dist.all_reduce(tensor, op)
            assert_close(tensor.cpu(), wanted.to(dtype), rtol=0, atol=0)
    whole = on_cuda(rank, torch.int64)
    dist.all_reduce(whole, ReduceOp.AVG)
    assert whole.tolist() == [(a + b) // 2 for a, b in zip(one.long().tolist(), two.long().tolist(), strict=True)]
    for factor in (0.5, torch.tensor([0.5]), torch.tensor([0.5], device="cuda")):
        tensor = on_cuda(rank)
        dist.all_reduce(tensor, dist._make_nccl_premul_sum(factor))
        assert_close(tensor.cpu(), 0.5 * one + 0.5 * two)


def check_all_reduce_of_truths_and_complex(rank, world):
    truths = torch.tensor([rank == 0, False, True], device="cuda")
    dist.all_reduce(truths)
    assert truths.tolist() == [True, False, True]
    number = torch.tensor([1 + 2j, rank * 1j], device="cuda")
    dist.all_reduce(number)
    assert number.tolist() == [2 + 4j, 1j]


def check_sums_of_bfloat16_are_rounded_once(rank, world):
    # 256 + 1 is no bfloat16, but 256 + 1 + 1 is; here each rank brings half.
    tensor = torch.full((7,), 256.0 if rank else 2.0, dtype=torch.bfloat16, device="cuda")
    dist.all_reduce(tensor)
    assert tensor.tolist() == [258.0] * 7


def check_what_nccl_refuses(rank, world):
    with pytest.raises(RuntimeError, match="No backend type associated with device type cpu"):
        dist.all_reduce(torch.ones(2))
    with pytest.raises(TypeError, match="not supported for NCCL process group: Short"):
        dist.all_reduce(torch.ones(2, dtype=torch.int16, device="cuda"))
    with pytest.raises(ValueError, match="Tensors must be contiguous"):
        dist.all_reduce(torch.ones(4, 4, device="cuda")[:, ::2])
    for op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR):
        with pytest.raises(ValueError, match="with NCCL"):
            dist.all_reduce(torch.ones(2, dtype=torch.int32, device="cuda"), op)
    with pytest.raises(TypeError, match="AVG with boolean"):
        dist.all_reduce(torch.ones(2, dtype=torch.bool, device="cuda"), ReduceOp.AVG)
    with pytest.raises((RuntimeError, ValueError), match="GLOO"):
        dist.monitored_barrier()
    with pytest.raises(RuntimeError, match="sparse"):
        dist.all_reduce(torch.eye(2, device="cuda").to_sparse())


def check_async_work(rank, world):
    tensor = on_cuda(rank)
    work = dist.all_reduce(tensor, async_op=True)
    assert work.wait() is True and work.is_completed() and work.is_success()
    total = given(0) + given(1)
    assert_close(tensor.cpu(), total)
    assert work.result()[0].data_ptr() == tensor.data_ptr()
    future = work.get_future()
    assert future.wait()[0].is_cuda
    assert_close(future.then(lambda done: done.value()[0] * 2).wait().cpu(), 2 * total)


def check_broadcast_and_reduce(rank, world):
    for dtype in (*DTYPES, torch.bool, torch.complex64, torch.float8_e4m3fn):
        tensor = on_cuda(rank, dtype)
        dist.broadcast(tensor, src=1)
        assert_close(
            tensor.cpu().float() if "float8" in str(dtype) else tensor.cpu(), _plain(given(1, dtype)), rtol=0, atol=0
        )
    for dtype in (torch.float32, torch.bfloat16):
        tensor = on_cuda(rank, dtype)
        dist.reduce(tensor, dst=1)
        wanted = given(0, dtype) + given(1, dtype) if rank == 1 else given(0, dtype)
        assert_close(tensor.cpu(), wanted)


def _plain(tensor):
    return tensor.float() if "float8" in str(tensor.dtype) else tensor


def check_gathering(rank, world):
    parts = [torch.empty(5, device="cuda") for _ in range(world)]
    dist.all_gather(parts, on_cuda(rank))
    for other in range(world):
        assert_close(parts[other].cpu(), given(other))
    whole = torch.empty(5 * world, dtype=torch.bfloat16, device="cuda")
    dist.all_gather_into_tensor(whole, on_cuda(rank, torch.bfloat16))
    assert_close(whole.cpu(), torch.cat([given(0), given(1)]).bfloat16())
    own = whole.chunk(world)[rank]
    own.fill_(rank + 7)
    dist.all_gather_into_tensor(whole, own)
    assert whole.tolist() == [7.0] * 5 + [8.0] * 5
    uneven = [torch.empty(2 + other, device="cuda") for other in range(world)]
    dist.all_gather(uneven, torch.full((2 + rank,), float(rank), device="cuda"))
    assert [each.tolist() for each in uneven] == [[0.0, 0.0], [1.0, 1.0, 1.0]]
    lists = [torch.empty(5, device="cuda") for _ in range(world)] if rank == 1 else None
    dist.gather(on_cuda(rank), lists, dst=1)
    if rank == 1:
        assert_close(torch.stack(lists).cpu(), torch.stack([given(0), given(1)]))


def check_scattering(rank, world):
    got = torch.empty(5, device="cuda")
    dist.scatter(got, [on_cuda(other + 10) for other in range(world)] if rank == 0 else None, src=0)
    assert_close(got.cpu(), given(rank + 10))
    for dtype in (torch.float32, torch.float16, torch.int64):
        out = torch.empty(3, dtype=dtype, device="cuda")
        dist.reduce_scatter_tensor(out, on_cuda(rank, dtype, count=6))
        assert_close(out.cpu(), (given(0, dtype, 6) + given(1, dtype, 6)).chunk(world)[rank])
    out = torch.empty(3, device="cuda")
    dist.reduce_scatter_tensor(out, on_cuda(rank, count=6), ReduceOp.AVG)
    assert_close(out.cpu(), ((given(0, count=6) + given(1, count=6)) / 2).chunk(world)[rank])
    uneven = torch.empty(2 + rank, device="cuda")
    dist.reduce_scatter(uneven, [torch.full((2 + other,), rank + 1.0, device="cuda") for other in range(world)])
    assert uneven.tolist() == [3.0] * (2 + rank)


def check_all_to_all(rank, world):
    out = torch.empty(4, dtype=torch.int32, device="cuda")
    dist.all_to_all_single(out, torch.arange(4, dtype=torch.int32, device="cuda") + 10 * rank)
    assert out.tolist() == [2 * rank, 2 * rank + 1, 10 + 2 * rank, 11 + 2 * rank]
    # Rank 0 keeps one row and sends two, rank 1 sends three and keeps none.
    sent = torch.arange(6.0, device="cuda").reshape(3, 2) + 10 * rank
    splits = {0: ([1, 3], [1, 2]), 1: ([2, 0], [3, 0])}[rank]
    received = torch.empty(sum(splits[0]), 2, device="cuda")
    dist.all_to_all_single(received, sent, *splits)
    rows = torch.arange(6.0).reshape(3, 2)
    assert_close(received.cpu(), torch.cat([rows[:1], rows + 10]) if rank == 0 else rows[1:])
    outs = [torch.empty(1 + rank, device="cuda") for _ in range(world)]
    dist.all_to_all(outs, [torch.full((1 + other,), float(rank), device="cuda") for other in range(world)])
    assert [each.tolist() for each in outs] == [[0.0] * (1 + rank), [1.0] * (1 + rank)]
    with pytest.raises(RuntimeError, match=r"[Ss]plit sizes"):
        dist.all_to_all_single(received, sent, [1, 1], [1, 1])


def check_point_to_point(rank, world):
    other = 1 - rank
    if rank == 0:
        dist.send(on_cuda(0), 1)
        tensor = torch.empty(5, device="cuda")
        assert dist.recv(tensor, 1) == 1
    else:
        tensor = torch.empty(5, device="cuda")
        dist.recv(tensor, 0)
        dist.send(on_cuda(1), 0)
    assert_close(tensor.cpu(), given(other))
    got = [torch.empty(5, dtype=dtype, device="cuda") for dtype in (torch.float32, torch.bfloat16)]
    operations = [dist.P2POp(dist.irecv, each, other) for each in got]
    operations += [dist.P2POp(dist.isend, on_cuda(rank, each.dtype), other) for each in got]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    for each in got:
        assert_close(each.cpu(), given(other, each.dtype))
    large = torch.full((1 << 20,), float(rank), device="cuda")
    into = torch.empty_like(large)
    works = [dist.isend(large, other), dist.irecv(into, other)]
    for work in works:
        while not work.is_completed():
            pass
    assert into[0].item() == into[-1].item() == other
    with pytest.raises(RuntimeError, match="recvAnysource"):
        dist.recv(into)


def check_a_forgotten_send_arrives(rank, world):
    if rank == 0:
        dist.isend(torch.full((1 << 18,), 5.0, device="cuda"), 1)
        dist.barrier()
    else:
        dist.barrier()
        into = torch.empty(1 << 18, device="cuda")
        dist.recv(into, 0)
        assert into.eq(5).all()


def check_barrier(rank, world):
    dist.barrier()
    dist.barrier(device_ids=[rank])
    assert dist.barrier(async_op=True).wait()


def check_empty_tensors(rank, world):
    empty = torch.empty(0, device="cuda")
    dist.all_reduce(empty)
    dist.broadcast(empty, 0)
    dist.all_gather([empty, empty.clone()], empty.clone())
    dist.reduce_scatter_tensor(empty.clone(), empty)
    dist.barrier()


def check_objects(rank, world):
    everything = [None] * world
    dist.all_gather_object(everything, {"rank": rank, "text": "x" * (rank + 1)})
    assert everything == [{"rank": 0, "text": "x"}, {"rank": 1, "text": "xx"}]
    mine = [rank, "from", rank]
    dist.broadcast_object_list(mine, src=1)
    assert mine == [1, "from", 1]
    got = [None]
    dist.scatter_object_list(got, ["a", "b"] if rank == 0 else None, src=0)
    assert got == [["a", "b"][rank]]
    lists = [None] * world if rank == 0 else None
    dist.gather_object((rank, rank), lists, dst=0)
    assert lists == ([(0, 0), (1, 1)] if rank == 0 else None)


def check_coalescing(rank, world):
    tensors = [on_cuda(rank), on_cuda(rank, count=3)]
    with dist._coalescing_manager(device=torch.device("cuda", rank)):
        for tensor in tensors:
            dist.all_reduce(tensor)
    for tensor in tensors:
        assert_close(tensor.cpu(), given(0, count=len(tensor)) + given(1, count=len(tensor)))
    outs = [torch.empty(10, device="cuda"), torch.empty(6, device="cuda")]
    with dist._coalescing_manager(async_ops=True) as manager:
        for out in outs:
            dist.all_gather_into_tensor(out, on_cuda(rank, count=len(out) // 2))
    manager.wait()
    for out in outs:
        assert_close(out.cpu(), torch.cat([given(each, count=len(out) // 2) for each in range(world)]))
    outs = [torch.empty(3, device="cuda"), torch.empty(2, device="cuda")]
    with dist._coalescing_manager(async_ops=True) as manager:
        for out in outs:
            dist.reduce_scatter_tensor(out, on_cuda(rank, count=2 * len(out)))
    manager.wait()
    for out in outs:
        assert_close(out.cpu(), (given(0, count=2 * len(out)) + given(1, count=2 * len(out))).chunk(world)[rank])


def check_groups(rank, world):
    alone = [dist.new_group([each]) for each in range(world)]
    tensor = on_cuda(rank)
    dist.all_reduce(tensor, group=alone[rank])
    assert_close(tensor.cpu(), given(rank))
    assert alone[1 - rank] is dist.GroupMember.NON_GROUP_MEMBER
    options = dist.ProcessGroupNCCL.Options(is_high_priority_stream=True)
    options.config.max_ctas = 8
    both = dist.new_group([0, 1], backend="nccl", timeout=timedelta(seconds=33), pg_options=options)
    dist.all_reduce(tensor, group=both)
    assert_close(tensor.cpu(), given(0) + given(1))
    backend = both._get_backend(torch.device("cuda"))
    assert backend.options.is_high_priority_stream and backend.options.config.max_ctas == 8
    assert backend.options._timeout == timedelta(seconds=33)
    dist.destroy_process_group(both)
    mine, groups = dist.new_subgroups(1)
    assert dist.get_world_size(mine) == 1 and len(groups) == world


def check_groups_split_off(rank, world):
    before = dist.group.WORLD._get_backend(torch.device("cuda")).comm_split_count()
    mine = dist.split_group(split_ranks=[[0], [1]], timeout=timedelta(seconds=44))
    tensor = on_cuda(rank)
    dist.all_reduce(tensor, group=mine)
    assert_close(tensor.cpu(), given(rank))
    backend = mine._get_backend(torch.device("cuda"))
    assert isinstance(backend, dist.ProcessGroupNCCL) and backend.options._timeout == timedelta(seconds=44)
    both = dist.split_group(split_ranks=[[0, 1]])
    dist.all_reduce(tensor, group=both)
    assert_close(tensor.cpu(), given(0) + given(1))
    assert dist.group.WORLD._get_backend(torch.device("cuda")).comm_split_count() == before + 2


def check_cpu_and_cuda_in_one_group(rank, world):
    group = dist.new_group(backend="cpu:gloo,cuda:nccl")
    for device in ("cpu", "cuda"):
        tensor = given(rank).to(device)
        dist.all_reduce(tensor, group=group)
        assert_close(tensor.cpu(), given(0) + given(1))
        assert tensor.device.type == device
    assert isinstance(group._get_backend(torch.device("cpu")), dist.ProcessGroupGloo)
    assert isinstance(group._get_backend(torch.device("cuda")), dist.ProcessGroupNCCL)


def check_collectives_follow_the_stream(rank, world):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        tensor = on_cuda(rank)
        work = dist.all_reduce(tensor, async_op=True)
        work.wait()
        doubled = tensor * 2
    torch.cuda.current_stream().wait_stream(stream)
    assert_close(doubled.cpu(), 2 * (given(0) + given(1)))


def check_functional_collectives(rank, world):
    group = dist.group.WORLD
    total = functional.all_reduce(on_cuda(rank), "sum", group)
    assert_close((total + 0).cpu(), given(0) + given(1))
    whole = functional.all_gather_tensor(on_cuda(rank), 0, group)
    assert_close((whole + 0).cpu(), torch.cat([given(0), given(1)]))
    part = functional.reduce_scatter_tensor(on_cuda(rank, count=6), "avg", 0, group)
    assert_close((part + 0).cpu(), ((given(0, count=6) + given(1, count=6)) / 2).chunk(world)[rank])
    swapped = functional.all_to_all_single(on_cuda(rank, count=4), None, None, group)
    assert_close((swapped + 0).cpu(), torch.cat([given(each, count=4).chunk(world)[rank] for each in range(world)]))
    sent = functional.broadcast(on_cuda(rank), 1, group)
    assert_close((sent + 0).cpu(), given(1))
    assert whole.device.type == "cuda"


def check_functional_collectives_when_compiled(rank, world):
    group = dist.group.WORLD

    @torch.compile(backend="aot_eager", fullgraph=True)
    def step(x):
        return functional.all_reduce(x * 2, "sum", group) + 1

    assert_close(step(on_cuda(rank)).cpu(), 2 * (given(0) + given(1)) + 1)


def check_functional_collectives_when_compiled_by_inductor(rank, world):
    group = dist.group.WORLD

    @torch.compile(fullgraph=True)
    def step(x):
        whole = functional.all_gather_tensor(x * 2, 0, group)
        part = functional.reduce_scatter_tensor(whole + 1, "sum", 0, group)
        dist.all_reduce(part)
        return part + 1

    # Each rank's share of the gathered numbers, from both ranks alike; then summed over the ranks.
    assert_close(step(on_cuda(rank)).cpu(), 2 * (2 * given(0) + 1) + 2 * (2 * given(1) + 1) + 1)


def check_gradients_through_collectives(rank, world):
    import torch.distributed.nn.functional as with_gradients

    leaf = on_cuda(rank).requires_grad_()
    with_gradients.all_reduce(leaf * leaf).sum().backward()
    assert_close(leaf.grad.cpu(), 2 * given(rank) * world)  # every rank's sum depends on it
    leaf.grad = None
    parts = with_gradients.all_gather(leaf)
    (parts[0] * 2 + parts[1] * 3).sum().backward()
    assert_close(leaf.grad.cpu(), torch.full((5,), float([2, 3][rank] * world)))
    leaf.grad = None
    whole = functional.all_gather_tensor_autograd(leaf, 0, dist.group.WORLD)
    (whole * torch.arange(10.0, device="cuda")).sum().backward()
    assert_close(leaf.grad.cpu(), torch.arange(10.0).chunk(world)[rank] * world)


def check_timeout_is_an_error_of_the_backend(rank, world):
    group = dist.new_group(timeout=timedelta(milliseconds=600))
    if rank == 0:
        with pytest.raises(
            dist.DistBackendError, match=r"collective operation timeout: WorkNCCL\(SeqNum=\d+, OpType=ALLREDUCE"
        ):
            dist.all_reduce(on_cuda(rank), group=group)
        work = dist.all_reduce(on_cuda(rank), async_op=True)
        with pytest.raises(dist.DistBackendError, match="timeout"):
            work.wait(timedelta(milliseconds=50))
        work.wait()
    else:
        import time

        time.sleep(1.5)
        dist.all_reduce(on_cuda(rank))


def check_ended_groups_refuse(rank, world):
    group = dist.new_group()
    dist.all_reduce(on_cuda(rank), group=group)
    group.abort()
    with pytest.raises(dist.DistBackendError, match="aborted"):
        dist.all_reduce(on_cuda(rank), group=group)


def check_wrong_sizes(rank, world):
    with pytest.raises(ValueError, match="world_size times input tensor size"):
        dist.all_gather_into_tensor(torch.empty(3, device="cuda"), torch.empty(2, device="cuda"))
    with pytest.raises(ValueError, match="output size times world size"):
        dist.reduce_scatter_tensor(torch.empty(3, device="cuda"), torch.empty(2, device="cuda"))


def check_completion_hook(rank, world):
    group = dist.new_group()
    seen = []
    group._register_on_completion_hook(lambda info: seen.append((info.op_type, info.seq)))
    dist.all_reduce(on_cuda(rank), group=group)
    group._wait_for_pending_works()
    assert [kind for kind, _ in seen] == [torch._C._distributed_c10d.OpType.ALLREDUCE]


def check_one_process_and_its_devices(rank, world):
    x = torch.arange(6.0, device="cuda:0")
    spread = torch.cuda.comm.broadcast(x, [0, 1])
    assert [each.device.index for each in spread] == [0, 1] and spread[0] is x
    parts = torch.cuda.comm.scatter(x, [0, 1], chunk_sizes=[2, 4])
    assert [each.tolist() for each in parts] == [[0, 1], [2, 3, 4, 5]] and parts[1].device.index == 1
    assert torch.cuda.comm.gather(parts, destination="cpu").tolist() == x.tolist()
    assert torch.cuda.comm.gather(parts, destination=1).device.index == 1
    total = torch.cuda.comm.reduce_add(spread, 0)
    assert total.tolist() == [2 * each for each in range(6)]
    assert torch.cuda.nccl.version() >= (2, 10, 0)
    outs = [torch.empty(6, device=f"cuda:{each}") for each in range(2)]
    torch.cuda.nccl.all_reduce(spread, outs)
    assert outs[1].tolist() == total.tolist()
    model = torch.nn.Linear(6, 2).to("cuda:0")
    batch = torch.randn(4, 6, device="cuda:0")
    parallel = torch.nn.DataParallel(model, device_ids=[0, 1])
    assert_close(parallel(batch), model(batch))
    parallel(batch).sum().backward()
    alone = torch.autograd.grad(model(batch).sum(), list(model.parameters()))
    for parameter, wanted in zip(model.parameters(), alone, strict=True):
        assert_close(parameter.grad, wanted)
