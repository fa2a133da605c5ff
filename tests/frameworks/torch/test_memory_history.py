"""Snapshots and history of device memory: the dictionaries that torch.cuda._memory_viz reads, with Python's stacks."""

import gc
import pickle

import pytest
import torch
from torch.cuda import _memory_viz

pytestmark = pytest.mark.torch
MIB = 1 << 20


@pytest.fixture
def recording():
    gc.collect()
    torch.cuda.empty_cache()

    def start(*args, **kwargs):
        torch.cuda.memory._record_memory_history(*args, clear_history=True, **kwargs)

    yield start
    torch.cuda.memory._record_memory_history(None)


def make_something():
    return torch.empty(3 * MIB, dtype=torch.uint8, device="cuda")


def entries(snapshot, address):
    return [each for each in snapshot["device_traces"][0] if each.get("addr") == address]


def test_a_tensors_life_is_written_down(recording):
    recording("all", stacks="python")
    x = make_something()
    address = x.data_ptr()
    del x
    torch.cuda.empty_cache()
    found = entries(torch.cuda.memory._snapshot(), address)
    assert [each["action"] for each in found] == [
        "segment_alloc",
        "alloc",
        "free_requested",
        "free_completed",
        "segment_free",
    ]
    assert [each["size"] for each in found] == [20 * MIB, 3 * MIB, 3 * MIB, 3 * MIB, 20 * MIB]
    times = [each["time_us"] for each in found]
    assert times == sorted(times) and times[0] > 1_700_000_000_000_000
    line = make_something.__code__.co_firstlineno + 1
    assert found[1]["frames"][0] == {"filename": __file__, "line": line, "name": "make_something"}
    assert found[2]["frames"][0]["name"] == "test_a_tensors_life_is_written_down"


def test_a_block_knows_who_allocated_it(recording):
    recording("state", stacks="python")
    x = make_something()
    snapshot = torch.cuda.memory._snapshot()
    block = next(b for each in snapshot["segments"] for b in each["blocks"] if b["address"] == x.data_ptr())
    assert block["frames"][0]["name"] == "make_something"
    assert (block["state"], block["size"], block["requested_size"]) == ("active_allocated", 3 * MIB, 3 * MIB)
    assert torch.cuda.memory._allocation_traceback(x.data_ptr())[0]["name"] == "make_something"
    assert torch.cuda.memory._allocation_traceback(x.data_ptr() + 1) is None
    # Only the last event is kept, as in torch.
    assert len(snapshot["device_traces"][0]) <= 1


@pytest.mark.parametrize(
    ("context", "allocated", "freed"),
    [("all", True, True), ("alloc", True, False), ("state", False, False), (None, False, False)],
)
def test_levels_of_stacks(recording, context, allocated, freed):
    recording("all", context=context, stacks="python")
    x = make_something()
    address = x.data_ptr()
    del x
    found = {each["action"]: each for each in entries(torch.cuda.memory._snapshot(), address)}
    assert bool(found["alloc"].get("frames")) == allocated
    assert bool(found["free_requested"].get("frames")) == freed


def test_the_last_entries_are_kept(recording):
    recording("all", context=None, max_entries=10)
    for _ in range(30):
        x = torch.empty(100, device="cuda")
        del x
    trace = torch.cuda.memory._snapshot()["device_traces"][0]
    assert len(trace) == 10
    assert [each["action"] for each in trace][-1] == "snapshot"
    times = [each["time_us"] for each in trace]
    assert times == sorted(times)


def test_actions_can_be_left_out(recording):
    recording("all", context=None, skip_actions=["free_requested", "snapshot"])
    x = make_something()
    del x
    actions = {each["action"] for each in torch.cuda.memory._snapshot()["device_traces"][0]}
    assert "free_completed" in actions and actions.isdisjoint({"free_requested", "snapshot"})
    with pytest.raises(RuntimeError, match="Unknown TraceEntry action: dance"):
        recording("all", skip_actions=["dance"])


@pytest.mark.parametrize("wrong", [{"enabled": "some"}, {"context": "some"}, {"stacks": "some"}])
def test_words_that_are_none_of_the_choices(recording, wrong):
    with pytest.raises((ValueError, RuntimeError), match="expected"):
        recording(**wrong)


def test_frames_of_c_plus_plus_come_before_those_of_python(recording):
    recording("all", stacks="all")
    x = make_something()
    frames = next(e for e in entries(torch.cuda.memory._snapshot(), x.data_ptr()) if e["action"] == "alloc")["frames"]
    names = [each["name"] for each in frames]
    assert any("at::" in name for name in names[: names.index("make_something")])


def test_an_allocation_that_fails_is_written_down_and_told(recording):
    told = []
    torch._C._cuda_attach_out_of_memory_observer(lambda *numbers: told.append(numbers))
    recording("all", stacks="python")
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
    oom = [each for each in torch.cuda.memory._snapshot()["device_traces"][0] if each["action"] == "oom"]
    assert len(oom) == 1 and oom[0]["size"] == 1 << 50 and 0 < oom[0]["device_free"] <= torch.cuda.mem_get_info()[1]
    assert told and told[0][:2] == (0, 1 << 50)


def test_the_viewers_functions_read_it(recording, tmp_path):
    recording("all", stacks="python")
    keep = [torch.empty(size, device="cuda") for size in (10, 1000, MIB)]
    gone = make_something()
    del gone
    torch.cuda.memory._dump_snapshot(str(tmp_path / "snapshot.pickle"))
    snapshot = pickle.loads((tmp_path / "snapshot.pickle").read_bytes())
    assert "total_allocated" in _memory_viz.segsum(snapshot)
    assert "cudaMalloc(" in _memory_viz.trace(snapshot)
    for plot in (_memory_viz.trace_plot, _memory_viz.segment_plot):
        assert "add_local_files" in plot(snapshot)
    text = _memory_viz.memory(snapshot, format_flamegraph=lambda lines: lines)
    assert f"test_memory_history.py:{make_something.__code__.co_firstlineno}" not in text
    assert "test_the_viewers_functions_read_it" in text and "active_allocated" in text
    assert "seg_" in _memory_viz.segments(snapshot, format_flamegraph=lambda lines: lines)
    sizes = sum(each["total_size"] for each in snapshot["segments"])
    assert sizes == torch.cuda.memory_reserved()
    assert len(keep) == 3


def test_metadata_travels_with_the_entries(recording):
    recording("all", context=None)
    torch.cuda.memory._set_memory_metadata('step "1"\n')
    try:
        x = make_something()
        assert torch.cuda.memory._get_memory_metadata() == 'step "1"\n'
    finally:
        torch.cuda.memory._set_memory_metadata("")
    found = [each for each in entries(torch.cuda.memory._snapshot(), x.data_ptr()) if each["action"] == "alloc"]
    assert found[0]["user_metadata"] == 'step "1"\n'


def test_threads_without_python_are_no_trouble(recording):
    recording("all", stacks="all")
    x = torch.randn(64, 64, device="cuda", requires_grad=True)
    with torch.autograd.set_multithreading_enabled(True):
        (x @ x).sum().backward()
    assert x.grad.is_cuda
    assert torch.cuda.memory._snapshot()["device_traces"][0]


def test_history_off_leaves_nothing(recording):
    recording("all")
    assert torch._C._cuda_isHistoryEnabled()
    torch.cuda.memory._record_memory_history(None)
    x = make_something()
    assert not torch._C._cuda_isHistoryEnabled()
    assert torch.cuda.memory._snapshot()["device_traces"] == [[] for _ in range(torch.cuda.device_count())]
    assert torch.cuda.memory._allocation_traceback(x.data_ptr()) is None


def test_history_at_the_end_of_a_process(under_anywarp):
    code = "import torch; torch.cuda.memory._record_memory_history(); x = torch.ones(9, device='cuda'); print(x.sum().item())"
    found = under_anywarp("-c", code)
    assert (found.stdout.strip(), found.returncode) == ("9.0", 0), found.stderr
