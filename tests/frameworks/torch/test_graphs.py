"""CUDA graphs: capture does nothing, replay does what running would have done, and what cannot be captured is refused as on a GPU."""

import copy
import gc
import time

import pytest
import torch

pytestmark = pytest.mark.torch

REFUSED = "operation not permitted when stream is capturing"


@pytest.fixture(autouse=True)
def on_the_default_stream():
    yield  # torch.cuda.graph leaves its stream current when the capture fails
    torch.cuda.set_stream(torch.cuda.default_stream())
    torch.cuda.synchronize()


def captured(body, **options):
    """Return a graph of `body` and what `body` returned."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, **options):
        out = body()
    return graph, out


def test_capture_does_nothing_and_replay_does_it_again_and_again():
    x = torch.full((4,), 2.0, device="cuda")
    total = torch.zeros(4, device="cuda")
    graph, y = captured(lambda: total.add_(x * 3))
    assert total.tolist() == [0] * 4
    graph.replay()
    assert total.tolist() == [6] * 4
    x.fill_(1)
    graph.replay()
    assert total.tolist() == [9] * 4 and y is not None


def network():
    torch.manual_seed(3)
    return torch.nn.Sequential(
        torch.nn.Embedding(20, 16),
        torch.nn.LayerNorm(16),
        torch.nn.Flatten(),
        torch.nn.Linear(5 * 16, 32),
        torch.nn.GELU(),
        torch.nn.BatchNorm1d(32),
        torch.nn.Linear(32, 4),
    ).to("cuda")


@pytest.mark.parametrize("optimizer", ["SGD", "AdamW"])
def test_a_whole_training_step_replays_as_it_runs(optimizer):
    model = network()
    counterpart = copy.deepcopy(model)
    options = {"lr": 0.05} | ({"capturable": True} if optimizer == "AdamW" else {"momentum": 0.9})
    ids = torch.randint(0, 20, (8, 5), device="cuda")
    target = torch.randint(0, 4, (8,), device="cuda")

    def step(net, optim):
        optim.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(net(ids), target)
        loss.backward()
        optim.step()
        return loss

    optim, other = (getattr(torch.optim, optimizer)(net.parameters(), **options) for net in (model, counterpart))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):
            step(model, optim)
    torch.cuda.current_stream().wait_stream(stream)
    for _ in range(2):
        step(counterpart, other)
    before = [p.detach().clone() for p in model.parameters()]
    graph, loss = captured(lambda: step(model, optim))
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
    losses = []
    for i in range(4):
        ids.copy_((ids + i) % 20)
        graph.replay()
        losses.append(loss.item())
        assert losses[-1] == step(counterpart, other).item()
    assert len(set(losses)) == 4
    for mine, theirs in zip(model.state_dict().values(), counterpart.state_dict().values(), strict=True):
        assert torch.equal(mine, theirs)


def test_results_of_convolutions_lie_as_they_do_outside_of_a_graph():
    layers = torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.MaxPool2d(2), torch.nn.Conv2d(8, 4, 3, groups=2)
    model = torch.nn.Sequential(*layers).to("cuda", memory_format=torch.channels_last)
    x = torch.randn(2, 3, 8, 8, device="cuda")
    graph, y = captured(lambda: model(x))
    graph.replay()
    assert torch.equal(y, model(x)) and y.stride() == model(x).stride()
    assert y.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize(
    "body",
    [
        lambda x: x.sum().item(),
        lambda x: x.nonzero(),
        lambda x: x[x > 0],
        lambda x: x.cpu(),
        lambda x: x.unique(),
        lambda x: bool((x > 0).all()),
        lambda x: torch.tensor([1.0], device="cuda"),
        lambda x: torch.cuda.synchronize(),
        lambda x: torch.cuda.current_stream().synchronize(),
        lambda x: torch.cuda.current_stream().query(),
    ],
    ids=["item", "nonzero", "mask", "cpu", "unique", "bool", "tensor", "device", "stream", "query"],
)
def test_what_waits_for_the_device_is_refused_and_spoils_the_capture(body):
    x = torch.ones(4, device="cuda")
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.stream(stream):
        graph.capture_begin()
        with pytest.raises(RuntimeError, match=REFUSED):
            body(x)
        with pytest.raises(RuntimeError, match="operation failed due to a previous error during capture"):
            graph.capture_end()
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        graph.replay()
    assert (x + 1).sum().item() == 8  # all is as before


def test_operators_without_shapes_to_tell_are_refused_by_name():
    x = torch.eye(3, device="cuda").to_sparse()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(torch.cuda.Stream()):
        graph.capture_begin()
        with pytest.raises(RuntimeError):
            x + x
        with pytest.raises(RuntimeError, match="previous error during capture"):
            graph.capture_end()


def test_random_numbers_go_on_from_the_state_at_each_replay():
    graph, y = captured(lambda: (torch.rand(5, device="cuda"), torch.randn(3, device="cuda")))
    torch.cuda.manual_seed(7)
    drawn = []
    for _ in range(2):
        graph.replay()
        drawn += [each.clone() for each in y]
    after = torch.cuda.get_rng_state()
    torch.cuda.manual_seed(7)
    for mine, size, draw in zip(drawn, (5, 3, 5, 3), (torch.rand, torch.randn) * 2, strict=True):
        assert torch.equal(mine, draw(size, device="cuda"))
    assert torch.equal(after, torch.cuda.get_rng_state())
    assert not torch.equal(drawn[0], drawn[2])


def test_a_registered_generator_draws_in_replays():
    generator = torch.Generator("cuda").manual_seed(11)
    graph = torch.cuda.CUDAGraph()
    graph.register_generator_state(generator)
    with torch.cuda.graph(graph):
        y = torch.rand(4, device="cuda", generator=generator)
    graph.replay()
    first = y.clone()
    graph.replay()
    same = torch.Generator("cuda").manual_seed(11)
    assert torch.equal(first, torch.rand(4, device="cuda", generator=same))
    assert torch.equal(y, torch.rand(4, device="cuda", generator=same))


def test_streams_that_join_by_events_are_captured_too():
    x, side = torch.zeros(4, device="cuda"), torch.cuda.Stream()

    def body():
        a = x + 1
        side.wait_stream(torch.cuda.current_stream())
        assert not side.is_capturing() or torch.cuda.is_current_stream_capturing()
        with torch.cuda.stream(side):
            assert torch.cuda.is_current_stream_capturing()
            b = a * 2
        torch.cuda.current_stream().wait_stream(side)
        return a + b

    graph, y = captured(body)
    x.fill_(3)
    graph.replay()
    assert y.tolist() == [12] * 4 and not torch.cuda.is_current_stream_capturing()


def test_a_stream_that_never_comes_back_ends_the_capture_with_an_error():
    x, side, graph = torch.zeros(4, device="cuda"), torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="unjoined work"), torch.cuda.graph(graph):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            x.add_(1)


def test_other_threads_and_streams_run_on_while_one_captures():
    x, stream, graph = torch.zeros(4, device="cuda"), torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        graph.capture_begin(capture_error_mode="thread_local")
        x.add_(1)
        with torch.cuda.stream(torch.cuda.Stream()):
            assert torch.ones(3, device="cuda").sum().item() == 3
        graph.capture_end()
    graph.replay()
    assert x.tolist() == [1] * 4


def test_graphs_keep_memory_of_their_own_and_share_it_when_asked():
    torch.cuda.synchronize()
    gc.collect()
    before = torch.cuda.memory_allocated()
    first, a = captured(lambda: torch.ones(1 << 20, device="cuda") * 2)
    second, b = captured(lambda: torch.ones(1 << 20, device="cuda") * 3, pool=first.pool())
    assert first.pool() == second.pool() and a.data_ptr() != b.data_ptr()
    first.replay()
    second.replay()
    kept = torch.full((1 << 20,), 5.0, device="cuda")
    assert kept.data_ptr() not in (a.data_ptr(), b.data_ptr())
    assert a.sum().item() == 2 << 20 and b.sum().item() == 3 << 20
    handle = torch.cuda.graph_pool_handle()
    third, c = captured(lambda: torch.zeros(8, device="cuda"), pool=handle)
    assert third.pool() == handle
    del first, second, third, a, b, c, kept
    gc.collect()
    assert torch.cuda.memory_allocated() == before


def test_a_replay_after_its_input_was_freed_and_given_back_fails_as_a_kernel_would(under_anywarp):
    program = (
        "import torch\n"
        "x = torch.ones(1 << 22, device='cuda'); g = torch.cuda.CUDAGraph()\n"
        "with torch.cuda.graph(g): y = x * 2\n"
        "g.replay(); assert y.sum().item() == 2 << 22\n"
        "del x; torch.cuda.empty_cache(); g.replay()\n"
        "try: torch.cuda.synchronize()\n"
        "except torch.AcceleratorError as error: print('told', 'illegal memory access' in str(error))\n"
        "for run in (lambda: torch.ones(1, device='cuda'), lambda: y.add_(1), lambda: y + y, lambda: y.sort(), lambda: y[0].item(),\n"
        "            lambda: y.copy_(y), lambda: torch.rand(2, device='cuda'), lambda: y.cpu(), torch.cuda.synchronize):\n"
        "    try: run()\n"
        "    except torch.AcceleratorError as error: print('sticks')\n"
    )
    done = under_anywarp("-c", program)
    assert done.stdout.split() == ["told", "True"] + ["sticks"] * 9, done.stderr
    assert "aten::mul" in done.stderr


# Its own warm-up and capture use two streams, of which autograd warns.
@pytest.mark.filterwarnings("ignore:The AccumulateGrad node's stream")
def test_make_graphed_callables_trains_as_the_module_does():
    torch.manual_seed(5)
    module = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Tanh(), torch.nn.Linear(6, 2)).to("cuda")
    counterpart = copy.deepcopy(module)
    sample = torch.randn(4, 6, device="cuda", requires_grad=True)
    graphed = torch.cuda.make_graphed_callables(module, (sample,))
    for _ in range(2):
        x = torch.randn(4, 6, device="cuda")
        mine, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
        graphed(mine).square().sum().backward()
        counterpart(theirs).square().sum().backward()
        assert torch.equal(mine.grad, theirs.grad)
        for a, b in zip(module.parameters(), counterpart.parameters(), strict=True):
            assert torch.equal(a.grad, b.grad)
        module.zero_grad()  # gradients lie in the graph's memory, which the next replay writes anew
        counterpart.zero_grad()


def test_graphs_kept_as_they_are_can_be_looked_at_and_instantiated(tmp_path):
    x, graph = torch.ones(4, device="cuda"), torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(graph):
        y = x.exp() + 1
    assert graph.raw_cuda_graph() != 0
    with pytest.raises(RuntimeError, match="instantiate"):
        graph.raw_cuda_graph_exec()
    graph.instantiate()
    assert graph.raw_cuda_graph_exec() != 0
    graph.replay()
    assert torch.equal(y, x.exp() + 1)
    plain = torch.cuda.CUDAGraph()
    with torch.cuda.graph(plain):
        x.mul_(1)
    with pytest.raises(RuntimeError, match="keep_graph=true"):
        plain.raw_cuda_graph()
    debugged = torch.cuda.CUDAGraph()
    debugged.enable_debug_mode()
    with torch.cuda.graph(debugged):
        x.mul_(1)
    debugged.debug_dump(str(tmp_path / "graph.dot"))
    text = (tmp_path / "graph.dot").read_text()
    assert text.startswith("digraph") and text.count("[shape=record") == 1 and "host" in text


def test_calls_out_of_order_are_refused_in_torchs_words():
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        graph.replay()
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        graph.pool()
    with pytest.raises(RuntimeError, match="non-default stream"):
        graph.capture_begin()
    graph, _ = captured(lambda: torch.ones(1, device="cuda").add_(1))
    with torch.cuda.stream(torch.cuda.Stream()), pytest.raises(RuntimeError, match="already owns a captured graph"):
        graph.capture_begin()
    graph.reset()
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        graph.replay()
    with pytest.raises(RuntimeError, match="capture error mode"):
        torch.cuda.CUDAGraph().capture_begin(capture_error_mode="strict")


def test_an_empty_graph_warns():
    with pytest.warns(UserWarning, match="CUDA Graph is empty"):
        captured(lambda: None)


def test_external_events_are_recorded_at_each_replay():
    event = torch.cuda.Event(enable_timing=True, external=True)
    end = torch.cuda.Event(enable_timing=True, external=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        event.record()
        torch.cuda._sleep(int(0.05 * torch.cuda.get_device_properties(0).clock_rate * 1000))
        end.record()
    begin = time.perf_counter()
    graph.replay()
    assert time.perf_counter() - begin < 0.05
    end.synchronize()
    assert 50 <= event.elapsed_time(end) < 250


def test_graphs_replayed_while_another_is_captured_become_part_of_it():
    x = torch.zeros(4, device="cuda")
    inner, _ = captured(lambda: x.add_(1))
    outer, _ = captured(lambda: (inner.replay(), inner.replay()))
    assert x.tolist() == [0] * 4
    outer.replay()
    inner.reset()  # what it did stays part of the other
    outer.replay()
    assert x.tolist() == [4] * 4


def test_pinned_copies_are_part_of_a_graph():
    source = torch.arange(4.0).pin_memory()
    back = torch.zeros(4).pin_memory()
    x = torch.zeros(4, device="cuda")

    def body():
        x.copy_(source, non_blocking=True)
        back.copy_(x * 2, non_blocking=True)

    graph, _ = captured(body)
    source.add_(1)
    graph.replay()
    torch.cuda.synchronize()
    assert back.tolist() == [2, 4, 6, 8]
