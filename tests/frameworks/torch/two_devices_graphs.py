"""Graphs, their pools and what they draw, on two CUDA devices."""

import gc
import threading
import warnings

import torch
import torch.nn.functional as F
from two_devices import MIB, ONE, ZERO, hold, run


def captured(body, generators=(), **options):
    """On a stream of the current device: torch.cuda.graph's own is of the device that was current at its first use."""
    graph = torch.cuda.CUDAGraph()
    for each in generators:
        graph.register_generator_state(each)
    with torch.cuda.graph(graph, **{"stream": torch.cuda.Stream(), **options}):
        out = body()
    return graph, out


def check_a_graph_of_the_second_device():
    with torch.cuda.device(1):
        x = torch.zeros(100, device="cuda")
        graph, y = captured(lambda: torch.arange(100, device="cuda") + x)
        assert graph.pool()[0] > 0
    x.fill_(2)
    graph.replay()  # whichever device is current
    assert y.device == ONE and y.tolist() == [2 + i for i in range(100)]
    assert torch.cuda.current_device() == 0
    with torch.cuda.device(0):
        graph.replay()
    assert (
        torch.cuda.memory_stats_as_nested_dict(1)["reserved_bytes_by_private_pools"][graph.pool()]["all"]["current"] > 0
    )


def check_a_capture_on_the_wrong_device_warns_that_it_is_empty():
    x, graph = torch.zeros(3, device=ONE), torch.cuda.CUDAGraph()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with torch.cuda.graph(graph, stream=torch.cuda.Stream(0)):
            x.add_(1)
    assert any("The CUDA Graph is empty" in str(each.message) for each in seen), seen
    assert x.tolist() == [1] * 3
    graph.replay()
    assert x.tolist() == [1] * 3
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        captured(lambda: torch.ones(2, device=ZERO).add_(1))
        side, other = torch.cuda.Stream(), torch.cuda.CUDAGraph()
        with torch.cuda.stream(side):
            other.capture_begin()
            with torch.cuda.stream(torch.cuda.Stream(1)):
                torch.ones(3, device=ONE).sum().item()
            other.capture_end()
    assert [str(each.message)[:23] for each in seen] == ["The CUDA Graph is empty"], seen


def check_both_devices_capture_at_the_same_time():
    graphs, outs = [torch.cuda.CUDAGraph() for _ in range(2)], []
    inputs = [torch.full((50,), 1.0 + i, device=f"cuda:{i}") for i in range(2)]
    streams = [torch.cuda.Stream(i) for i in range(2)]
    for i in range(2):
        with torch.cuda.stream(streams[i]):
            graphs[i].capture_begin(capture_error_mode="thread_local")
            outs.append((inputs[i] * 3).cumsum(0))
    outs.append(F.dropout(torch.ones(5)))
    for i in (1, 0):
        with torch.cuda.stream(streams[i]):
            outs[i] = outs[i] + torch.arange(50, device=f"cuda:{i}")
            graphs[i].capture_end()
    for i in range(2):
        inputs[i].add_(1)
        graphs[i].replay()
        expected = (inputs[i] * 3).cumsum(0) + torch.arange(50, device=f"cuda:{i}")
        torch.cuda.synchronize(i)
        assert torch.equal(outs[i], expected)


def check_graphs_replay_at_the_same_time():
    for devices in ((0, 0), (0, 1)):
        streams = [torch.cuda.Stream(i) for i in devices]
        made, releases = [], []
        for i, stream in zip(devices, streams, strict=True):
            with torch.cuda.device(i):
                x = torch.zeros(10, device="cuda")

                def body(x=x, releases=releases):
                    x.add_(1)
                    releases.append(hold())
                    return x + 1

                made.append((*captured(body), stream))
        for graph, _, stream in made:
            with torch.cuda.stream(stream):
                graph.replay()
        assert not any(stream.query() for stream in streams)  # neither replay waited for the other
        releases[1]()
        streams[1].synchronize()
        assert not streams[0].query()
        releases[0]()
        for _, out, stream in made:
            stream.synchronize()
            assert out.tolist() == [2] * 10


def check_replays_that_draw_are_in_order_whatever_the_stream():
    graphs = [captured(lambda: torch.rand(20, device=ZERO)) for _ in range(2)]
    torch.cuda.manual_seed(3)
    found = []
    for turn in range(4):
        graph, out = graphs[turn % 2]
        with torch.cuda.stream(torch.cuda.Stream()):
            graph.replay()
            torch.cuda.current_stream().synchronize()
        found.append(out.clone())
        torch.cuda.synchronize()  # torch's streams do not wait for the default stream, and a later replay writes `out` anew
    torch.cuda.manual_seed(3)
    for each in found:
        assert torch.equal(each, torch.rand(20, device=ZERO))


def check_the_handle_of_a_pool_is_shared():
    handle, stream = torch.cuda.graph_pool_handle(), torch.cuda.Stream()
    assert isinstance(handle, tuple) and len(handle) == 2 and handle[0] == 0 and handle[1] > 0
    assert torch.cuda.graph_pool_handle() != handle
    first, a = captured(lambda: torch.ones(1000, device=ZERO) + 1, pool=handle, stream=stream)
    before = torch.cuda.memory_reserved(0)
    second, b = captured(lambda: torch.ones(1000, device=ZERO) + 2, pool=handle, stream=stream)
    assert first.pool() == second.pool() == handle and torch.cuda.memory_reserved(0) == before
    own, c = captured(lambda: torch.ones(1000, device=ZERO) + 3)
    assert own.pool()[1] == 0 and own.pool() != handle
    for graph in (first, second, own):
        graph.replay()
    assert [each[0].item() for each in (a, b, c)] == [2, 3, 4]


def reserved(device, pool):
    return torch.cuda.memory_stats_as_nested_dict(device)["reserved_bytes_by_private_pools"].get(
        pool, {"all": {"current": 0}}
    )["all"]["current"]


def check_segments_go_with_the_last_user_of_their_pool():
    for device in (0, 1):
        with torch.cuda.device(device):
            gc.collect()
            torch.cuda.empty_cache()
            before = torch.cuda.memory_stats(device)
            for _ in range(3):
                graph, out = captured(lambda: torch.arange(4 * MIB, device="cuda") * 2)
                pool = graph.pool()
                assert reserved(device, pool) >= 32 * MIB
                held = {each["segment_pool_id"] for each in torch.cuda.memory_snapshot() if each["device"] == device}
                assert pool in held
                torch.cuda.empty_cache()
                graph.replay()  # the temporary's memory is the graph's
                assert out[5].item() == 10
                del graph
                assert out[7].item() == 14  # its memory is the tensor's
                del out
                torch.cuda.empty_cache()
                assert reserved(device, pool) == 0
                now = torch.cuda.memory_stats(device)
                for name in ("reserved_bytes", "segment", "active_bytes", "allocated_bytes", "inactive_split_bytes"):
                    assert now[f"{name}.all.current"] == before[f"{name}.all.current"], name


def check_statistics_of_several_generators_and_graphs():
    gc.collect()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated(1)
    with torch.cuda.device(1):
        generators = [torch.Generator("cuda") for _ in range(3)]
        graphs = []
        for count in (1, 2):
            graph = torch.cuda.CUDAGraph()
            for each in generators:
                graph.register_generator_state(each)
            with torch.cuda.graph(graph, stream=torch.cuda.Stream()):
                drawn = [torch.rand(3, device="cuda", generator=each) for each in generators]
            del drawn
            graphs.append(graph)
            # A seed and an offset, 512 bytes each, for every generator in every graph; the default one is always known.
            assert torch.cuda.memory_allocated(1) - before == count * (len(generators) + 1) * 1024
        plain, x = captured(lambda: torch.ones(3, device="cuda") + 1)
        del plain, x
        assert torch.cuda.memory_allocated(1) - before == 2 * (len(generators) + 1) * 1024
        graphs.pop().reset()
        assert torch.cuda.memory_allocated(1) - before == (len(generators) + 1) * 1024
        del graph, graphs
        gc.collect()
    assert torch.cuda.memory_allocated(1) == before


def check_generators_of_the_second_device_draw_in_its_graphs():
    generator = torch.Generator(ONE).manual_seed(5)
    with torch.cuda.device(1):
        graph, y = captured(lambda: torch.randn(6, device="cuda", generator=generator), generators=[generator])
        plain, z = captured(lambda: torch.rand(4, device="cuda"))
    other = torch.Generator(ONE).manual_seed(5)
    for _ in range(3):
        graph.replay()
        assert torch.equal(y, torch.randn(6, device=ONE, generator=other))
    torch.cuda.manual_seed_all(9)
    plain.replay()
    assert z.tolist() == torch.rand(4, device=ZERO).tolist()


def check_a_pool_belongs_to_a_device():
    with torch.cuda.device(1):
        pool = torch.cuda.MemPool()
    assert pool.device == 1 and pool.use_count() == 1
    with torch.cuda.use_mem_pool(pool, device=1):
        assert pool.use_count() == 2
        inside, outside = torch.zeros(MIB, device=ONE), torch.zeros(MIB, device=ZERO)
    pools = {each["address"]: each["segment_pool_id"] for each in torch.cuda.memory_snapshot()}
    of = {each["device"] for each in pool.snapshot()}
    assert of == {1} and pool.id in pools.values()
    assert reserved(1, pool.id) == sum(each["total_size"] for each in pool.snapshot()) > 0 and reserved(0, pool.id) == 0
    assert not any(
        each["address"] <= outside.data_ptr() < each["address"] + each["total_size"] for each in pool.snapshot()
    )
    name = pool.id
    del pool
    assert reserved(1, name) > 0 and inside.sum().item() == 0
    del inside
    torch.cuda.empty_cache()
    assert reserved(1, name) == 0


def check_a_graph_keeps_the_pool_that_it_shares():
    pool = torch.cuda.MemPool()

    def body():
        return (torch.arange(3 * MIB, device=ZERO) + 1).flip(0)

    graph, out = captured(body, pool=pool.id)
    assert graph.pool() == pool.id and pool.use_count() == 2
    name = pool.id
    del pool
    gc.collect()
    torch.cuda.empty_cache()
    held = reserved(0, name)
    assert held > 0
    for _ in range(3):
        graph.replay()
        assert out[0].item() == 3 * MIB
    del graph, out
    torch.cuda.empty_cache()
    assert reserved(0, name) == 0


def check_threads_fill_pools_of_their_own():
    pools, found = [torch.cuda.MemPool() for _ in range(4)], {}

    def fill(i):
        with torch.cuda.use_mem_pool(pools[i]):
            found[i] = [torch.full((1000,), float(i), device=ZERO) + 1 for _ in range(5)]

    threads = [threading.Thread(target=fill, args=(i,)) for i in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for i, tensors in found.items():
        segments = pools[i].snapshot()
        assert all(
            any(s["address"] <= x.data_ptr() < s["address"] + s["total_size"] for s in segments) for x in tensors
        )
        assert all(x.tolist() == [i + 1.0] * 1000 for x in tensors)


def check_callables_are_graphed_on_the_second_device():
    with torch.cuda.device(1):
        torch.manual_seed(1)
        module = torch.nn.Sequential(
            torch.nn.Linear(5, 7), torch.nn.ReLU(), torch.nn.Dropout(0.0), torch.nn.Linear(7, 2)
        ).cuda()
        sample = torch.randn(3, 5, device="cuda", requires_grad=True)
        weights = [each.detach().clone() for each in module.parameters()]
        graphed = torch.cuda.make_graphed_callables(module, (sample,))
        for turn in range(5):
            junk = [bytearray(70000) for _ in range(5)]
            x = torch.full((3, 5), 0.1 * turn, device="cuda")
            loss = F.mse_loss(graphed(x), torch.ones(3, 2, device="cuda"))
            loss.backward()
            assert not any(any(each) for each in junk)
            w = [each.clone().requires_grad_() for each in weights]
            expected = F.mse_loss(
                F.linear(F.relu(F.linear(x, w[0], w[1])), w[2], w[3]), torch.ones(3, 2, device="cuda")
            )
            expected.backward()
            torch.testing.assert_close(loss, expected)
            for mine, theirs in zip(module.parameters(), w, strict=True):
                torch.testing.assert_close(mine.grad, theirs.grad)
            module.zero_grad(set_to_none=True)


if __name__ == "__main__":
    run(dict(globals()))
