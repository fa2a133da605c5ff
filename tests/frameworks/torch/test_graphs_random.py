"""Programs made at random as CUDA graphs: captured, replayed between other uses of memory, compared (captured_programs.py)."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.torch

PROGRAMS = Path(__file__).with_name("captured_programs.py")
EXACT = {"MKL_CBWR": "COMPATIBLE"}
"""MKL's sums do not depend on where memory lies."""

# The temporary that arange makes lay in memory of the host that was free when the graph ran.
TEMPORARY = """
import torch
n = 256
for make in (lambda: torch.arange(n * n, device="cuda") + 1, lambda: torch.arange(n, device="cuda").repeat(n) + 1,
             lambda: torch.arange(n, device="cuda").expand(n, n).contiguous().view(-1) * 2,
             lambda: torch.linspace(0, 1, n * n, out=torch.empty(0, device="cuda")) * 2):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3): make()
    torch.cuda.current_stream().wait_stream(stream)
    before = torch.cuda.memory_allocated()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph): out = make()
    pool = torch.cuda.memory_stats_as_nested_dict()["reserved_bytes_by_private_pools"][graph.pool()]["all"]["current"]
    expected, kept = make().cpu(), []
    for turn in range(60):
        kept.append(bytearray(70000))
        graph.replay()
        if turn % 3 == 0: kept.pop()
    assert torch.equal(out.cpu(), expected) and not any(any(each) for each in kept)
    assert pool > 0
print("same")
"""


@pytest.mark.parametrize("asynchronous", ["0", "1"])
def test_a_temporary_keeps_its_memory_for_the_life_of_the_graph(asynchronous, under_anywarp):
    done = under_anywarp("-c", TEMPORARY, env={"ANYWARP_ASYNC": asynchronous})
    assert (done.stdout.strip(), done.returncode) == ("same", 0), done.stderr


@pytest.mark.parametrize("asynchronous", ["0", "1"])
@pytest.mark.parametrize("count", [15, pytest.param(40, marks=pytest.mark.long)])
def test_programs_are_the_same_as_graphs(asynchronous, count, under_anywarp):
    done = under_anywarp(PROGRAMS, 0, count, env={**EXACT, "ANYWARP_ASYNC": asynchronous}, timeout=280)
    assert done.stdout.startswith(f"same {count} "), done.stderr


@pytest.mark.long
def test_many_programs_are_the_same_as_graphs(under_anywarp):
    for first in range(1000, 6000, 500):
        done = under_anywarp(PROGRAMS, first, 500, env=EXACT, timeout=3600)
        assert done.stdout.startswith("same 500 "), done.stderr


STORAGES = """
import torch
def grown():
    x = torch.arange(100.0, device="cuda")
    x.resize_(5000)
    y = torch.full((50,), 3.0, device="cuda"); y.untyped_storage().resize_(4000)
    z = torch.ones(4, device="cuda"); z.resize_as_(torch.empty(9000, device="cuda"))
    return x[:100] + 1, y + 1, z[:4] + 1
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph): out = grown()
for _ in range(3):
    for each in out: each.zero_()
    junk = [torch.full((n,), 9.0, device="cuda") for n in (100, 5000, 9000)]
    graph.replay()
    assert out[0].tolist() == [i + 1.0 for i in range(100)] and out[1].tolist() == [4.0] * 50 and out[2].tolist() == [2.0] * 4
print("same")
"""


def test_storages_grow_as_they_do_outside_of_a_graph(under_anywarp):
    done = under_anywarp("-c", STORAGES)
    assert (done.stdout.strip(), done.returncode) == ("same", 0), done.stderr


OUTPUTS = """
import torch
# An `out` that the CPU's kernel gives other strides keeps those that the program sees.
x = torch.randn(2, 3, 4, 5, device="cuda").contiguous(memory_format=torch.channels_last)
m = torch.randn(10, 5, device="cuda").t()
def run():
    def out(*sizes, dtype=torch.float32): return torch.empty(sizes or 0, device="cuda", dtype=dtype)
    return [
        torch.add(x, 1, out=out()), torch.add(x, 1, out=out(2, 3, 4, 5)), torch.sub(x, x[:1], out=out()), torch.clamp(x, -1, 1, out=out()),
        torch.abs(x, out=out()), torch.rad2deg(m, out=out()), torch.logical_and(m, m, out=out(dtype=torch.bool)), torch.logical_and(m, m > 0),
        torch.where(m > 0, m, m * 2, out=out()), torch.complex(m, m, out=out(dtype=torch.complex64)), torch.copysign(m, m), m // 0.5,
        torch.cat([x, x], out=out()), torch.sum(x, 1, out=out()), torch.mm(m, m.t(), out=out()), torch.linalg.cholesky(m @ m.t(), out=out()),
        torch.cumsum(m, 0, out=out()), *torch.sort(m, 0, out=(out(), out(dtype=torch.long))), m.masked_fill(m > 0, 0.5), torch.mvlgamma(m.abs() + 9, 2),
        x.clone(memory_format=torch.contiguous_format), x.clone(), torch.addcmul(m, m, m, out=out()),
    ]
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph): outs = run()
eager = run()
for _ in range(2):
    graph.replay()
    for mine, theirs in zip(outs, eager, strict=True):
        assert torch.equal(mine, theirs) and mine.stride() == theirs.stride(), (mine.shape, mine.stride(), theirs.stride())
print("same")
"""


def test_outputs_lie_as_they_do_outside_of_a_graph(under_anywarp):
    done = under_anywarp("-c", OUTPUTS)
    assert (done.stdout.strip(), done.returncode) == ("same", 0), done.stderr
