"""What PyTorch's documentation promises of two CUDA devices: streams, copies, memory, operators."""

import gc
import io
import sys
import threading

import torch
import torch.nn.functional as F
from two_devices import MIB, ONE, ZERO, hold, raises, run

# Streams and events.


def check_each_device_has_streams_of_its_own():
    assert torch.cuda.device_count() == 2
    default = [torch.cuda.default_stream(each) for each in (0, 1)]
    assert default[0] != default[1] and [each.device for each in default] == [ZERO, ONE]
    side = torch.cuda.Stream(device=1)
    assert torch.cuda.current_device() == 0 and side.device == ONE
    with torch.cuda.stream(side):
        assert torch.cuda.current_device() == 1
        assert torch.cuda.current_stream() == side
        assert torch.cuda.current_stream(0) == default[0]
    assert torch.cuda.current_device() == 0 and torch.cuda.current_stream(1) == default[1]
    with torch.cuda.device(1):
        assert torch.cuda.current_stream() == default[1] and torch.cuda.Stream().device == ONE
    assert torch.cuda.Stream(0) != torch.cuda.Stream(1)
    raises(RuntimeError, "invalid device ordinal", lambda: torch.cuda.current_stream(2))


def check_streams_of_two_devices_do_not_wait_for_each_other():
    first, second = torch.cuda.Stream(0), torch.cuda.Stream(1)
    with torch.cuda.stream(second):
        release = hold()
    assert first.query() and not second.query()
    with torch.cuda.stream(first):
        x = torch.ones(10, device=ZERO) + 1  # an operator of one device does not wait for the other
        assert x.sum().item() == 20
    assert not second.query()
    torch.cuda.synchronize(0)
    assert not second.query()
    release()
    torch.cuda.synchronize(1)
    assert second.query()


def check_operators_of_one_device_do_not_wait_for_the_other():
    with torch.cuda.device(1):
        release = hold()
    x = torch.ones(4, device=ZERO)
    assert (x + x).sum().item() == 8 and torch.arange(3, device=ZERO).tolist() == [0, 1, 2]
    assert not torch.cuda.default_stream(1).query()
    release()
    torch.cuda.synchronize(1)


def check_events_order_streams_of_two_devices():
    first, second, event = torch.cuda.Stream(0), torch.cuda.Stream(1), torch.cuda.Event()
    with torch.cuda.stream(first):
        release = hold()
        event.record()
    second.wait_event(event)
    assert not second.query() and not event.query()
    release()
    second.synchronize()
    assert event.query() and first.query()
    raises(RuntimeError, "does not match", lambda: event.record(second))
    second.wait_stream(first)
    first.wait_stream(second)
    torch.cuda.synchronize(0)
    assert event.device == ZERO


def check_events_of_a_device_are_timed_there():
    with torch.cuda.device(1):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        torch.cuda._sleep(10**6)
        end.record()
    end.synchronize()
    assert begin.device == ONE and begin.elapsed_time(end) > 0
    raises(ValueError, "must be recorded", lambda: begin.elapsed_time(torch.cuda.Event(enable_timing=True)))


def check_threads_have_their_own_device():
    seen = []
    with torch.cuda.device(1):
        thread = threading.Thread(
            target=lambda: seen.append((torch.cuda.current_device(), torch.ones(1, device="cuda").device))
        )
        thread.start()
        thread.join()
    assert seen == [(0, ZERO)]


# Copies.


def check_a_copy_that_need_not_wait_does_not():
    for device in (ZERO, ONE):
        source = torch.arange(100000.0).pin_memory()
        with torch.cuda.device(device):
            stream = torch.cuda.current_stream()
            target = torch.zeros(100000, device=device)
            release = hold()
            target.copy_(source, non_blocking=True)
            assert not stream.query()
            release()
            stream.synchronize()
            assert torch.equal(target.cpu(), source)
            release = hold()
            there = source.to(device, non_blocking=True)
            assert not stream.query() and there.device == device
            release()
            assert torch.equal(there.cpu(), source)  # which waits
            assert stream.query()
            release = hold()
            back = target.to("cpu", non_blocking=True)
            assert back.is_pinned() and not stream.query()
            release()
            stream.synchronize()
            assert torch.equal(back, source)
            assert source.to(device, torch.float16, non_blocking=True).dtype == torch.float16
            assert target.to("cpu").sum().item() == source.sum().item() and stream.query()


def check_page_locked_memory_is_not_reused_before_its_copy_is_done():
    for device in (ZERO, ONE):
        with torch.cuda.device(device):
            kept = torch.ones(1000).pin_memory()
            address = kept.data_ptr()
            del kept
            kept = torch.full((1000,), 3.0).pin_memory()
            assert kept.data_ptr() == address
            there = torch.zeros(1000, device=device)
            release = hold()
            there.copy_(kept, non_blocking=True)
            del kept
            other = torch.full((1000,), 5.0).pin_memory()
            assert other.data_ptr() != address
            release()
            assert there.tolist() == [3.0] * 1000
            again = torch.full((1000,), 7.0).pin_memory()
            assert address in (again.data_ptr(), torch.ones(1000).pin_memory().data_ptr())
            del other, again


def check_copies_between_devices():
    x = torch.randn(300, 3, device=ZERO)
    y = x.to(ONE)
    assert y.device == ONE and torch.equal(x.cpu(), y.cpu())
    z = torch.empty(3, 300, device=ONE, dtype=torch.float64).t().copy_(x)
    assert torch.equal(z.cpu(), x.cpu().double())
    with torch.cuda.stream(torch.cuda.Stream(0)):
        torch.cuda._sleep(10**7)
        w = x.to(ONE, non_blocking=True)
        assert torch.equal(w.cpu(), x.cpu())
    assert torch.cuda.can_device_access_peer(0, 1) == torch.cuda.can_device_access_peer(1, 0)
    assert x.cuda(1).get_device() == 1 and x.cuda(0) is x and x.new_ones(2).device == ZERO
    with torch.cuda.device(1):
        assert x.new_zeros(2).device == ZERO and torch.zeros_like(x).device == ZERO
        assert torch.tensor([1.0], device="cuda").device == ONE and torch.empty(1).cuda().device == ONE
    content = io.BytesIO()
    torch.save([x, y], content)
    content.seek(0)
    a, b = torch.load(content)
    assert a.device == ZERO and b.device == ONE
    content.seek(0)
    a, b = torch.load(content, map_location={"cuda:1": "cuda:0"})
    assert a.device == ZERO and b.device == ZERO


def check_mixed_devices_are_refused():
    x, y = torch.ones(3, device=ZERO), torch.ones(3, device=ONE)
    for function in (
        lambda: x + y,
        lambda: torch.cat([x, y]),
        lambda: torch.mm(x[None], y[:, None]),
        lambda: torch.where(x > 0, x, y),
        lambda: F.linear(x, y),
        lambda: x.index_select(0, torch.tensor([0], device=ONE)),
        lambda: x.gather(0, torch.tensor([0], device=ONE)),
        lambda: torch.stack([x, y]),
        lambda: x.add_(y),
    ):
        raises(RuntimeError, "device", function)
    assert (x + torch.tensor(1.0)).device == ZERO


# record_stream.


def check_a_recorded_block_is_kept_until_that_stream_is_done():
    for device in (ZERO, ONE):
        with torch.cuda.device(device):
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
            host = torch.tensor([1.0, 2, 3, 4]).pin_memory()
            result, side = torch.zeros(4, device=device), torch.cuda.Stream()
            with torch.cuda.stream(side):
                block = host.cuda(non_blocking=True)
                address = block.data_ptr()
            torch.cuda.current_stream().wait_stream(side)
            block.record_stream(torch.cuda.current_stream())
            release = hold()
            result.copy_(block)
            del block
            with torch.cuda.stream(side):
                early = torch.zeros(4, device=device)
                assert early.data_ptr() != address
            release()
            assert result.tolist() == [1, 2, 3, 4]
            torch.cuda.current_stream().synchronize()
            with torch.cuda.stream(side):
                late = torch.zeros(4, device=device)
                assert late.data_ptr() == address


def check_record_stream_counts_a_view_and_any_stream_once():
    side, other = torch.cuda.Stream(1), torch.cuda.Stream(1)
    with torch.cuda.device(1):
        x = torch.zeros(3 * MIB, device=ONE, dtype=torch.uint8)
        x[MIB:].record_stream(side)
        x.record_stream(side)
        x.record_stream(other)
        releases = []
        for each in (side, other):
            with torch.cuda.stream(each):
                releases.append(hold())
        address = x.data_ptr()
        active = torch.cuda.memory_stats(1)["active_bytes.all.current"]
        allocated = torch.cuda.memory_allocated(1)
        del x
        assert torch.cuda.memory_allocated(1) == allocated - 3 * MIB
        assert torch.cuda.memory_stats(1)["active_bytes.all.current"] == active  # freed, and not yet to be used
        assert torch.empty(3 * MIB, device=ONE, dtype=torch.uint8).data_ptr() != address
        for release in releases:
            release()
        torch.cuda.synchronize()
        torch.empty(1, device=ONE)
        assert torch.cuda.memory_stats(1)["active_bytes.all.current"] < active
        x = torch.zeros(8, device=ONE)
        x.record_stream(torch.cuda.current_stream())  # its own stream: nothing to wait for
        release = hold()
        address = x.data_ptr()
        del x
        assert torch.empty(8, device=ONE).data_ptr() == address
        release()


# Memory.


def check_memory_is_counted_for_each_device():
    gc.collect()
    before = [torch.cuda.memory_allocated(i) for i in range(2)]
    x = torch.empty(5 * MIB, dtype=torch.uint8, device=ONE)
    assert [torch.cuda.memory_allocated(i) - before[i] for i in range(2)] == [0, 5 * MIB]
    torch.cuda.reset_peak_memory_stats(1)
    with torch.cuda.device(1):
        y = torch.empty(2 * MIB, dtype=torch.uint8, device="cuda")
    del y
    assert torch.cuda.max_memory_allocated(1) - before[1] == 7 * MIB
    address = torch.cuda.caching_allocator_alloc(1000, device=1)
    assert [torch.cuda.memory_allocated(i) - before[i] for i in range(2)] == [0, 5 * MIB + 1024]
    torch.cuda.caching_allocator_delete(address)
    del x
    assert [torch.cuda.memory_allocated(i) for i in range(2)] == before
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info(1)
    assert 0 < free <= total
    torch.cuda.set_per_process_memory_fraction(2 * MIB / total, 1)
    try:
        raises(torch.OutOfMemoryError, "GPU 1", lambda: torch.empty(30 * MIB, dtype=torch.uint8, device=ONE))
        torch.empty(30 * MIB, dtype=torch.uint8, device=ZERO)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0, 1)
    assert {each["device"] for each in torch.cuda.memory_snapshot()} <= {0, 1}


# Autograd and random numbers.


def check_gradients_are_where_their_tensors_are():
    x = torch.randn(4, 3, device=ZERO, requires_grad=True)
    w = torch.randn(3, 2, device=ONE, requires_grad=True)
    loss = (x.to(ONE) @ w).square().sum()
    loss.backward()
    assert x.grad.device == ZERO and w.grad.device == ONE
    a, b = x.detach().cpu().requires_grad_(), w.detach().cpu().requires_grad_()
    (a @ b).square().sum().backward()
    torch.testing.assert_close(x.grad.cpu(), a.grad)
    torch.testing.assert_close(w.grad.cpu(), b.grad)
    scaler = torch.amp.GradScaler("cuda", init_scale=4.0)
    first, second = (torch.nn.Parameter(torch.ones(2, device=each)) for each in (ZERO, ONE))
    optimizer = torch.optim.SGD([first, second], lr=1.0)
    scaler.scale(first.sum() + second.sum().to(ZERO)).backward()
    scaler.step(optimizer)
    scaler.update()
    assert first.tolist() == [0, 0] and second.tolist() == [0, 0]


def check_generators_of_each_device():
    torch.cuda.manual_seed_all(4)
    states = torch.cuda.get_rng_state_all()
    assert len(states) == 2 and torch.equal(states[0], states[1])
    torch.rand(3, device=ONE)
    assert torch.equal(torch.cuda.get_rng_state(0), states[0]) and not torch.equal(
        torch.cuda.get_rng_state(1), states[1]
    )
    torch.cuda.set_rng_state_all(states)
    assert torch.equal(torch.cuda.get_rng_state(1), states[1])
    with torch.random.fork_rng(devices=[1]):
        torch.rand(3, device=ONE)
    assert torch.equal(torch.cuda.get_rng_state(1), states[1])


def check_collectives_of_one_process():
    from torch.cuda import comm

    x = torch.arange(12.0, device=ZERO).view(6, 2)
    copies = comm.broadcast(x, (0, 1))
    assert [each.device for each in copies] == [ZERO, ONE] and torch.equal(copies[1].cpu(), x.cpu())
    parts = comm.scatter(x, (0, 1))
    assert [tuple(each.shape) for each in parts] == [(3, 2), (3, 2)] and parts[1].device == ONE
    assert torch.equal(comm.gather(parts, destination=1).cpu(), x.cpu())
    assert torch.equal(comm.reduce_add([x, x.to(ONE)], 0), 2 * x)
    module = torch.nn.DataParallel(torch.nn.Linear(2, 3).cuda(), device_ids=[0, 1])
    assert torch.allclose(module(x), module.module(x))


# Synchronisation as tools see it.


def check_operators_that_wait_are_refused_when_asked():
    x, index = torch.ones(4, device=ONE), torch.tensor([1, 2], device=ONE)
    stream, event, source = torch.cuda.Stream(1), torch.cuda.Event(), torch.ones(4).pin_memory()
    torch.cuda.set_sync_debug_mode("error")
    try:
        for function in (
            lambda: x[index],
            lambda: x.copy_(source, non_blocking=True),
            lambda: x.to("cpu", non_blocking=True),
            lambda: x.to(ZERO),
            lambda: x.masked_fill_(x > 2, 0),
            lambda: x.repeat_interleave(index.repeat(2), output_size=6),
            lambda: x.sum().sqrt(),
            lambda: (event.record(), event.query()),
            lambda: torch.cuda.synchronize(),
            lambda: torch.arange(5, device=ONE),
        ):
            function()
        for function in (
            lambda: x.sum().item(),
            lambda: x.nonzero(),
            lambda: x[x > 0],
            lambda: x.cpu(),
            lambda: x.tolist(),
            lambda: bool(x.sum() > 0),
            lambda: torch.ones(4).to(ONE),
            lambda: torch.tensor([1.0], device=ONE),
            lambda: x.repeat_interleave(index.repeat(2)),
            lambda: x.unique(),
            lambda: x.masked_select(x > 0),
            lambda: stream.synchronize(),
            lambda: torch.equal(x, x),
        ):
            raises(RuntimeError, "called a synchronizing CUDA operation", function)
    finally:
        torch.cuda.set_sync_debug_mode(0)


def run_sanitized():
    """In a process of its own: the sanitizer cannot be turned off again."""
    import torch.cuda._sanitizer as sanitizer

    sanitizer.enable_cuda_sanitizer()
    side, here = torch.cuda.Stream(), torch.cuda.current_stream()
    x = torch.zeros(100, device=ZERO)

    def on_side(function):
        with torch.cuda.stream(side):
            return function()

    def raced(function):
        try:
            function()
        except sanitizer.CUDASanitizerErrors:
            return True
        return False

    def after(meet):
        """Write on one stream, do `meet`, read on the other; returns whether that is called a race."""
        torch.cuda.synchronize()
        x.add_(1)
        meet()
        return raced(lambda: on_side(lambda: x + 1))

    event = torch.cuda.Event()
    assert after(lambda: None)
    assert not after(lambda: side.wait_stream(here))
    assert not after(lambda: (event.record(), side.wait_event(event)))
    assert not after(lambda: (event.record(), event.synchronize()))
    assert not after(torch.cuda.synchronize)
    assert not after(here.synchronize)
    assert not after(lambda: x.sum().item())  # waits for its stream
    assert not after(lambda: x.cpu())
    assert not after(lambda: x.nonzero())
    assert not after(lambda: x[x > 5])
    assert not after(lambda: torch.ones(3).to(ZERO))
    assert after(lambda: x.to("cpu", non_blocking=True))
    assert after(lambda: x[torch.arange(3, device=ZERO)])
    assert after(side.synchronize)  # the wrong one
    torch.cuda.synchronize()
    y = x.to(ONE)  # each device's stream waits for the other's
    assert not raced(lambda: y.add_(1)) and not raced(lambda: x.add_(1))
    # The allocator's own events and waits are not the program's.
    z = on_side(lambda: torch.ones(1000, device=ZERO))
    side.synchronize()
    z.record_stream(here)
    del z
    torch.cuda.empty_cache()
    assert after(lambda: torch.cuda.empty_cache())
    print("sanitized")


if __name__ == "__main__":
    run_sanitized() if sys.argv[1:] == ["sanitized"] else run(dict(globals()))
