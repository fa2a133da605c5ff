"""Builds context.cu and compares it with torch: prints a line for each thing that agrees."""

from pathlib import Path

import torch
from torch.utils.cpp_extension import load

load("context", [str(Path(__file__).with_suffix(".cu"))], is_python_module=False)
ops = torch.ops.context_test
N = 1000


def numbers(*steps):
    """What a sequence of draws gives from one seed, each from the kernel of the extension or from torch's."""
    torch.cuda.manual_seed(7)
    return torch.stack([ops.draw(N) if own else torch.rand(N, device="cuda") for own in steps])


expected = numbers(0, 0, 0)
assert torch.equal(numbers(1, 1, 1), expected) and torch.equal(numbers(0, 1, 0), expected)
assert torch.equal(numbers(1, 0, 1), expected) and not torch.equal(expected[0], expected[1])
print("draws in turn")

given = torch.Generator("cuda").manual_seed(7)
before = torch.cuda.get_rng_state()
assert torch.equal(torch.stack([ops.draw(N, given), torch.rand(N, device="cuda", generator=given)]), expected[:2])
assert torch.equal(torch.cuda.get_rng_state(), before)
try:
    ops.draw(N, torch.Generator())
except RuntimeError as error:
    assert "'cuda' device type for generator" in str(error), error
else:
    raise AssertionError("a generator of the CPU was taken")
print("a generator given")

torch.cuda.manual_seed(7)
assert ops.skip(4) == (0, 4)
assert torch.equal(ops.draw(N), expected[2])
print("offsets")

torch.cuda.manual_seed(7)
graph, out = torch.cuda.CUDAGraph(), torch.empty(3, N, device="cuda")
with torch.cuda.graph(graph):
    for i in range(3):
        out[i].copy_(ops.draw(N) if i != 1 else torch.rand(N, device="cuda"))
torch.cuda.manual_seed(7)
for _ in range(2):
    graph.replay()
torch.cuda.manual_seed(7)
graph.replay()
assert torch.equal(out, expected)
torch.cuda.manual_seed(7)
more = torch.stack([torch.rand(N, device="cuda") for _ in range(6)])[3:]
torch.cuda.manual_seed(7)
graph.replay()
graph.replay()
assert torch.equal(out, more)
del graph
torch.cuda.manual_seed(7)
assert torch.equal(ops.replayed(N, 3), expected)
print("graphs")

a, b = torch.rand(2, 16, 16, device="cuda")
assert torch.allclose(ops.product(a, b), a @ b) and torch.allclose(ops.product_lt(a, b), a @ b)
dense = torch.where(a > 0.6, a, 0)
csr = dense.to_sparse_csr()
found = ops.sparse_product(csr.crow_indices().int(), csr.col_indices().int(), csr.values(), b[0].contiguous())
assert torch.allclose(found, dense @ b[0])
positive = a @ a.T + torch.eye(16, device="cuda")
assert torch.allclose(ops.cholesky(positive), torch.linalg.cholesky(positive), atol=1e-5)
assert ops.handles_follow_streams()
assert "CUBLAS_STATUS_NOT_INITIALIZED" in ops.refused(), ops.refused()
print("handles")
