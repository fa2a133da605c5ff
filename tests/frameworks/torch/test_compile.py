"""torch.compile on `cuda`: the values are those of plain CPU torch, the devices those of the program.

Each compile costs seconds of a C++ compiler, so a test holds several things that go into one graph.
"""

import ctypes
import gc
import importlib.util
import os

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch._dynamo.utils import counters

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    before = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(tmp_path_factory.mktemp("inductor"))
    yield
    if before is None:
        del os.environ["TORCHINDUCTOR_CACHE_DIR"]
    else:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = before


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    counters.clear()
    torch.manual_seed(0)


def close(device_values, host_values, tolerance=1e-4):
    """Compare results on `cuda` with the CPU's, which must lie where they say."""
    for found, wanted in zip(device_values, host_values, strict=True):
        assert found.device == torch.device("cuda", 0)
        torch.testing.assert_close(found.cpu(), wanted, rtol=tolerance, atol=tolerance)


def test_a_graph_of_many_kinds():
    """Reductions, matrix products, constants, factories, copies from and to the CPU, views of results, numbers as results."""

    def work(a, host, where):
        constant = torch.tensor([1.0, 2.0, 3.0, 4.0], device=where)
        moved = host.to(where)
        online = (a.sin() + a.cos()).softmax(-1)
        made = torch.arange(64, device=where) + torch.full((64,), 2.0, device=where)
        return (
            (online @ moved).sum(0),
            online.t(),
            a[3:5],
            made * constant.sum(),
            F.layer_norm(a, (64,)),
            a.argmax(1),
            a.to(torch.float64).var(0),
        ), ((a + 1).cpu(), a.cpu(), host * 2, a.to("cpu", torch.float64))

    a, host = torch.randn(64, 64), torch.randn(64, 64)
    on_device, on_host = torch.compile(work, fullgraph=True)(a.cuda(), host, "cuda")
    wanted, wanted_host = work(a, host, "cpu")
    close(on_device, wanted)
    for found, value in zip(on_host, wanted_host, strict=True):
        assert found.device.type == "cpu"
        torch.testing.assert_close(found, value)
    assert counters["inductor"]["fxgraph_cache_miss"] == 1


def test_arguments_keep_their_identity_and_memory():
    def work(a, b):
        a.add_(1)
        b[0] = a[1]
        return b, a.view(-1)[3:], b * 2, a * b

    a, b = torch.randn(8, 8), torch.randn(8, 8)
    c, d = a.cuda(), b.cuda()
    gc.collect()  # tests before this one leave cycles with tensors
    allocated = torch.cuda.memory_allocated()
    results = torch.compile(work)(c, d)
    close(results, work(a, b))
    close((c, d), (a, b))
    assert results[0] is d
    assert results[1].data_ptr() == c.data_ptr() + 12
    assert results[1]._base is not None or results[1].untyped_storage().data_ptr() == c.untyped_storage().data_ptr()
    assert c._version > 0
    assert torch.cuda.memory_allocated() - allocated == 2 * 512
    del results
    assert torch.cuda.memory_allocated() == allocated


class Network(nn.Module):
    """Convolutions and a batch norm, their patches through a block of a transformer."""

    def __init__(self, size=16, heads=4):
        super().__init__()
        self.heads = heads
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, size, 2)
        )
        self.norm = nn.LayerNorm(size)
        self.into, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, image):
        x = self.stem(image).flatten(2).transpose(1, 2)
        batch, length, size = x.shape
        parts = self.into(self.norm(x)).view(batch, length, 3, self.heads, size // self.heads).permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, size))
        return x + self.down(F.gelu(self.up(x)))


def trained(model, x, compiled):
    out = (torch.compile(model) if compiled else model)(x)
    out.square().mean().backward()
    return [
        out.detach(),
        x.grad,
        *(p.grad for p in model.parameters()),
        *(b for b in model.buffers() if b.dtype.is_floating_point),
    ]


def test_a_training_step():
    model, x = Network(), torch.randn(2, 3, 12, 12)
    on_device = Network()
    on_device.load_state_dict(model.state_dict())
    found = trained(on_device.cuda(), x.cuda().requires_grad_(), compiled=True)
    close(found, trained(model, x.requires_grad_(), compiled=False), 1e-3)


def test_attention_of_half_precision_and_with_dropout():
    def work(x, chance):
        return F.scaled_dot_product_attention(x * 1, x, x, dropout_p=chance, is_causal=True)

    x = torch.randn(2, 4, 16, 8)
    half = x.cuda().half().requires_grad_()
    compiled = torch.compile(work)
    found = compiled(half, 0.0)
    found.float().square().sum().backward()
    host = x.requires_grad_()
    wanted = work(host, 0.0)
    wanted.square().sum().backward()
    close((found.float(), half.grad.float()), (wanted.detach(), host.grad), 5e-2)
    dropped = compiled(half, 0.5)
    assert dropped.device.type == "cuda"
    assert (dropped != found).any()


def test_random_numbers_come_from_the_device():
    def work(x):
        return (
            F.dropout(x, 0.25),
            torch.rand(1000, device="cuda"),
            torch.randn_like(x),
            torch.randint(0, 9, (1000,), device="cuda"),
        )

    compiled = torch.compile(work)
    x = torch.ones(200, 200, device="cuda")
    host_state = torch.get_rng_state()
    torch.cuda.manual_seed(7)
    first, second = compiled(x), compiled(x)
    torch.cuda.manual_seed(7)
    again = compiled(x)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[1], second[1])
    assert torch.equal(torch.get_rng_state(), host_state)
    dropped, uniform, normal, whole = first
    assert dropped.unique().tolist() == pytest.approx([0, 1 / 0.75])
    assert abs((dropped == 0).float().mean().item() - 0.25) < 0.02
    assert abs(uniform.mean().item() - 0.5) < 0.05
    assert abs(normal.std().item() - 1) < 0.02
    assert (whole.min().item(), whole.max().item()) == (0, 8)

    exact = torch.compile(
        lambda x: (F.dropout(x, 0.5), torch.rand(10, device="cuda")), options={"fallback_random": True}
    )
    torch.manual_seed(3)
    found = exact(x)
    torch.manual_seed(3)
    assert torch.equal(found[0], F.dropout(x, 0.5))
    assert torch.equal(found[1], torch.rand(10, device="cuda"))


def test_dynamic_shapes_compile_once_and_breaks_go_on():
    def work(a):
        b = (a @ a.t()).relu().sum(0)
        return b * 2 if b.sum().item() > 0 else b * 3

    compiled = torch.compile(work, dynamic=True)
    for size in (5, 7, 30):
        a = torch.randn(size, 4)
        close([compiled(a.cuda())], [work(a)])
    assert counters["stats"]["unique_graphs"] == 2  # before and after the break


def test_operators_of_others_get_device_tensors():
    """Users' operators see `cuda`, may change arguments, and may themselves call compiled functions."""

    @torch.compile
    def doubled(a):
        return a * 2

    @torch.library.custom_op("anywarp_test::mixed", mutates_args=(), device_types="cuda")
    def mixed(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        assert a.is_cuda and not b.is_cuda
        return doubled(a) + b.cuda()

    mixed.register_fake(lambda a, b: torch.empty_like(a))

    @torch.library.custom_op("anywarp_test::count", mutates_args=("a",))
    def count(a: torch.Tensor) -> None:
        assert a.is_cuda
        a.add_(1)

    def work(a, b):
        c = mixed(a.sin(), b)
        d = c.clone()
        count(d)
        count(a)
        return c, d.cos(), a + 1

    a, b = torch.randn(4, 4), torch.randn(4, 4)
    moved = a.cuda()
    found = torch.compile(work, fullgraph=True)(moved, b)
    c = a.sin() * 2 + b
    close([*found, moved], [c, (c + 1).cos(), a + 2, a + 1])


def test_flex_attention_forward_and_backward():
    from torch.nn.attention.flex_attention import flex_attention

    def causal(score, batch, head, row, column):
        return torch.where(row >= column, score, -float("inf"))

    q = torch.randn(1, 2, 128, 16)
    on_device, host = q.cuda().requires_grad_(), q.clone().requires_grad_()
    found = torch.compile(lambda q: flex_attention(q, q, q, score_mod=causal))(on_device)
    wanted = F.scaled_dot_product_attention(host, host, host, is_causal=True)
    found.square().sum().backward()
    wanted.square().sum().backward()
    close((found.detach(), on_device.grad), (wanted.detach(), host.grad), 1e-3)


def test_optimizer_step_and_compiled_autograd():
    def run(device, compiled):
        torch.manual_seed(1)
        model = nn.Linear(8, 8)
        model.to(device)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
        step = torch.compile(optimizer.step) if compiled else optimizer.step
        x = torch.ones(4, 8, device=device)

        def forward():
            model(x).square().sum().backward()

        forward = torch.compile(forward) if compiled else forward
        with torch._dynamo.config.patch(compiled_autograd=compiled):
            for _ in range(2):
                optimizer.zero_grad()
                forward()
                step()
        return [p.detach() for p in model.parameters()]

    close(run("cuda", True), run("cpu", False))


def test_compiled_functions_are_part_of_a_graph_that_the_program_captures():
    """Results that are new, that are views of arguments and that are written to; operators around them; replays with other values."""

    def work(x, weight, counts, state):
        state.add_(x.sum())
        return torch.softmax(x @ weight, -1) + weight[counts], weight[1:3], x.shape[0]

    compiled = torch.compile(work)
    given = [torch.randn(4, 8), torch.randn(8, 8), torch.tensor([3, 0, 7, 1]), torch.zeros(1)]
    x, weight, counts, state = (each.cuda() for each in given)
    compiled(x, weight, counts, state.clone())
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        doubled = x * 2
        found, view, rows = compiled(doubled, weight, counts, state)
        last = found + 1
    assert state.item() == 0
    assert rows == 4
    for _ in range(2):
        given[0] = torch.randn(4, 8)
        given[2] = torch.randint(0, 8, (4,))
        x.copy_(given[0])
        counts.copy_(given[2])
        weight.neg_()
        given[1].neg_()
        graph.replay()
        wanted, part, _ = work(given[0] * 2, *given[1:])
        close([last, view, state], [wanted + 1, part, given[3]])


def test_an_error_of_a_compiled_function_in_a_graph_is_the_replays(under_anywarp):
    program = """
import torch
table, place = torch.randn(5, device="cuda"), torch.zeros(3, dtype=torch.int64, device="cuda")
pick = torch.compile(lambda table, place: table[place] * 2)
pick(table, place)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    pick(table, place)
place.fill_(99)
graph.replay()
try:
    torch.cuda.synchronize()
except RuntimeError as error:
    print("raised", "assert" in str(error))
"""
    ran = under_anywarp("-c", program)
    assert "raised True" in ran.stdout, ran.stderr


def test_cached_code_serves_again_and_launch_graphs_are_refused_truthfully():
    """`reduce-overhead` compiles and says, in torch's own counter and words, that it takes no CUDA graph."""

    def work(a):
        return (a.sin() * 3 + a.cos()).sum(1)

    x = torch.randn(9, 5)
    for _ in range(2):
        torch._dynamo.reset()
        close([torch.compile(work, mode="reduce-overhead")(x.cuda())], [work(x)])
    seen = counters["inductor"]
    assert (seen["fxgraph_cache_miss"], seen["fxgraph_cache_hit"], seen["cudagraph_skips"]) == (1, 1, 2)
    assert counters["aot_autograd"]["autograd_cache_hit"] == 1


def test_errors_leave_nothing_behind():
    """What fails while compiled code runs does not leave the thread allocating on the device."""

    @torch.library.custom_op("anywarp_test::fails", mutates_args=())
    def fails(a: torch.Tensor) -> torch.Tensor:
        raise KeyError("on purpose")

    fails.register_fake(lambda a: torch.empty_like(a))
    with pytest.raises(KeyError, match="on purpose"):
        torch.compile(lambda a: fails(a * 2) + 1)(torch.ones(3, device="cuda"))
    allocated = torch.cuda.memory_allocated()
    host = torch.ones(1000)
    assert torch.cuda.memory_allocated() == allocated
    assert host.device.type == "cpu"
    with pytest.raises(RuntimeError, match="cuda:0 and cpu"):
        torch.compile(lambda a, b: a + b)(torch.ones(3, device="cuda"), torch.ones(3))


def test_code_after_an_operator_sees_what_it_has_given_to_its_stream():
    """As kernels of an extension: the operator returns before they have run."""
    driver = ctypes.CDLL("libcuda.so.1")
    ones = np.float32(1).view(np.uint32)

    @torch.library.custom_op("late::ones", mutates_args=())
    def made_late(like: torch.Tensor) -> torch.Tensor:
        made = torch.zeros_like(like)
        torch.cuda._sleep(torch.cuda.get_device_properties(0).clock_rate * 300)  # 0.3 seconds
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        place, count = ctypes.c_uint64(made.data_ptr()), ctypes.c_size_t(made.numel())
        assert driver.cuMemsetD32Async(place, ctypes.c_uint32(int(ones)), count, stream) == 0
        return made

    made_late.register_fake(torch.empty_like)
    like = torch.empty(1000, device="cuda")
    assert torch.equal(torch.compile(lambda a: made_late(a) + 1)(like), torch.full_like(like, 2))


@pytest.mark.skipif(importlib.util.find_spec("triton") is not None, reason="Triton is installed")
def test_what_asks_for_triton_says_that_it_is_missing(monkeypatch):
    monkeypatch.setenv("ANYWARP_TORCH_INDUCTOR", "triton")
    with pytest.raises(Exception, match="Cannot find a working triton installation"):
        torch.compile(lambda a: a + 3)(torch.ones(3, device="cuda"))
