"""Streams and events: the order that CUDA promises, told apart by work that takes a while (torch.cuda._sleep)."""

import subprocess
import sys
import threading
import time

import pytest
import torch

pytestmark = pytest.mark.torch

LONG = 0.15


def sleep(seconds):
    """Keep the current stream busy: `_sleep` takes cycles of the clock that the device reports."""
    torch.cuda._sleep(int(seconds * torch.cuda.get_device_properties(0).clock_rate * 1000))


@pytest.fixture(autouse=True)
def quiet():
    torch.cuda.synchronize()
    yield
    torch.cuda.synchronize()


def test_a_stream_is_a_torch_stream_with_a_handle_of_the_driver():
    stream = torch.cuda.Stream()
    assert isinstance(stream, torch.Stream) and stream.device == torch.device("cuda:0")
    assert stream.cuda_stream != 0 and stream.query()
    assert stream == torch.cuda.Stream(stream_id=stream.stream_id, device_index=0, device_type=1)
    assert stream != torch.cuda.Stream() and hash(stream) == hash(stream)
    assert torch.cuda.default_stream().cuda_stream == 0
    assert stream.__cuda_stream__() == (0, stream.cuda_stream)


def test_streams_come_from_a_pool_of_32_per_priority():
    handles = [torch.cuda.Stream().cuda_stream for _ in range(64)]
    assert len(set(handles)) == 32 and handles[:32] == handles[32:]
    high = torch.cuda.Stream(priority=-1)
    assert high.cuda_stream not in handles
    assert torch.cuda.Stream.priority_range() == (0, -3)
    assert [torch.cuda.Stream(priority=p).priority for p in (5, 0, -1, -3, -9)] == [0, 0, -1, -3, -3]


def test_the_current_stream_belongs_to_the_thread_and_the_context():
    stream, seen = torch.cuda.Stream(), []
    with torch.cuda.stream(stream):
        assert torch.cuda.current_stream() == stream
        assert torch.accelerator.current_stream().stream_id == stream.stream_id
        thread = threading.Thread(target=lambda: seen.append(torch.cuda.current_stream()))
        thread.start()
        thread.join()
    assert seen == [torch.cuda.default_stream()] and torch.cuda.current_stream() == torch.cuda.default_stream()
    torch.cuda.set_stream(stream)
    assert torch.cuda.current_stream() == stream
    torch.cuda.set_stream(torch.cuda.default_stream())


def test_an_external_stream_stands_for_a_handle():
    stream = torch.cuda.Stream()
    same = torch.cuda.ExternalStream(stream.cuda_stream)
    assert same.cuda_stream == stream.cuda_stream and same.query()
    assert torch.cuda.get_stream_from_external(stream.cuda_stream).cuda_stream == stream.cuda_stream
    with torch.cuda.stream(stream):
        sleep(LONG)
    assert not same.query()
    same.synchronize()
    assert stream.query()


def test_an_operator_comes_behind_what_its_stream_was_given():
    stream = torch.cuda.Stream()
    x = torch.ones(4, device="cuda")
    begin = time.perf_counter()
    with torch.cuda.stream(stream):
        sleep(LONG)
        assert time.perf_counter() - begin < LONG
        assert not stream.query()
        y = x + x
    stream.synchronize()
    assert time.perf_counter() - begin >= LONG and y.tolist() == [2, 2, 2, 2]


def test_pool_streams_do_not_wait_for_each_other_or_for_the_default_stream():
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(first):
        sleep(LONG)
    with torch.cuda.stream(second):
        begin = time.perf_counter()
        torch.ones(4, device="cuda").sum().item()
        assert time.perf_counter() - begin < LONG / 2
    assert torch.cuda.default_stream().query() and not first.query()
    second.wait_stream(first)
    second.synchronize()
    assert first.query()


def test_events_measure_the_time_between_two_moments_of_a_stream():
    first, second = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    sleep(LONG)
    second.record()
    assert first.query() and not second.query()
    with pytest.raises(RuntimeError, match="must be completed"):
        first.elapsed_time(second)
    second.synchronize()
    assert LONG * 1000 <= first.elapsed_time(second) < LONG * 1000 + 200
    assert second.elapsed_time(first) == pytest.approx(-first.elapsed_time(second))


def test_events_that_do_not_fit_are_refused_in_torchs_words():
    timed, recorded = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    recorded.record()
    with pytest.raises(ValueError, match="enable_timing=True"):
        recorded.elapsed_time(torch.cuda.Event())
    with pytest.raises(ValueError, match="must be recorded"):
        recorded.elapsed_time(timed)
    assert timed.query()  # never recorded: nothing to wait for
    timed.synchronize()
    assert repr(timed) == "<torch.cuda.Event uninitialized>" and f"{recorded.cuda_event:#x}" in repr(recorded)


def test_an_event_orders_streams_without_holding_up_the_program():
    first, second, event = torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.Event(blocking=True)
    begin = time.perf_counter()
    with torch.cuda.stream(first):
        sleep(LONG)
        event.record()
    second.wait_event(event)
    assert time.perf_counter() - begin < LONG and not second.query()
    second.synchronize()
    assert time.perf_counter() - begin >= LONG and event.query()


def test_generic_streams_and_events_work_with_those_of_cuda():
    event, generic = torch.cuda.Event(), torch.Stream(device="cuda")
    assert isinstance(event, torch.Event)
    with torch.cuda.stream(torch.cuda.Stream()):
        sleep(LONG)
        event.record()
    generic.wait_event(event)
    assert not generic.query()
    generic.synchronize()
    assert event.query()
    other = torch.Event(device="cuda", enable_timing=True)
    other.record(generic)
    torch.cuda.current_stream().wait_event(other)
    other.synchronize()


def test_synchronize_waits_for_all_streams_of_the_device():
    for _ in range(2):
        with torch.cuda.stream(torch.cuda.Stream()):
            sleep(LONG)
    begin = time.perf_counter()
    torch.cuda.synchronize()
    assert time.perf_counter() - begin > LONG / 2


def test_autograd_runs_backward_in_the_stream_of_forward():
    stream, x = torch.cuda.Stream(), torch.ones(3, device="cuda", requires_grad=True)
    seen = []
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        y = (x * 2).sum()
        y.register_hook(lambda grad: seen.append(torch.cuda.current_stream()))
    y.backward()
    assert seen == [stream] and x.grad.tolist() == [2, 2, 2]


def test_an_event_reaches_another_process():
    event = torch.cuda.Event(interprocess=True)
    event.record()
    handle = event.ipc_handle()
    assert len(handle) == 64
    with torch.cuda.stream(torch.cuda.Stream()):
        sleep(LONG)
        event.record()
    code = "import torch, sys; e = torch.cuda.Event.from_ipc_handle(0, bytes.fromhex(sys.argv[1])); print(e.query()); e.synchronize(); print(e.query())"
    command = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, "-c", code, handle.hex()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout.split()[-1] == "True", done.stderr
    with pytest.raises(RuntimeError):
        torch.cuda.Event.from_ipc_handle(0, bytes(64))


def test_streams_that_do_not_exist_are_refused():
    with pytest.raises(RuntimeError, match="invalid"):
        torch._C._cuda_setStream(stream_id=(31 << 3) | 7, device_index=0, device_type=1)
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch._C._cuda_getCurrentStream(99)
    bad = torch.cuda.ExternalStream(0x1000)
    with pytest.raises(RuntimeError, match="invalid resource handle"):
        bad.synchronize()


TRACED = """
import torch
import torch.cuda._gpu_trace as trace

heard = []
torch._C._activate_gpu_trace()
trace.register_callback_for_event_creation(lambda event: heard.append("created"))
trace.register_callback_for_event_record(lambda event, stream: heard.append("recorded"))
trace.register_callback_for_event_wait(lambda event, stream: heard.append("awaited"))
trace.register_callback_for_event_synchronization(lambda event: heard.append("event"))
trace.register_callback_for_stream_synchronization(lambda stream: heard.append("stream"))
trace.register_callback_for_device_synchronization(lambda: heard.append("device"))
event, stream = torch.cuda.Event(), torch.cuda.Stream()
event.record()
stream.wait_event(event)
event.synchronize()
stream.synchronize()
torch.cuda.synchronize()
assert heard == ["created", "recorded", "awaited", "event", "stream", "device"]
print("heard")
"""


def test_tracers_of_gpu_calls_hear_of_streams_and_events(under_anywarp):
    """In a process of its own: tracers stay for the life of theirs."""
    done = under_anywarp("-c", TRACED)
    assert done.stdout == "heard\n", done.stderr
