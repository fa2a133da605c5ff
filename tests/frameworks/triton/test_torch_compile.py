"""torch.compile with ANYWARP_TORCH_INDUCTOR=triton: Inductor writes kernels in Triton, and their values are those of eager torch."""

import pytest

pytestmark = [pytest.mark.triton, pytest.mark.torch, pytest.mark.long]

PROGRAM = """
import torch
import torch.nn.functional as F
from torch._inductor.utils import run_and_get_code

torch.manual_seed(0)

def work(a, b):
    return torch.softmax(a * b, -1) + a.abs(), (a - b).sum(0)

a, b = torch.randn(2, 30, 40, device="cuda")
found, code = run_and_get_code(torch.compile(work), a, b)
for one, other in zip(found, work(a, b)):
    torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
assert any("async_compile.triton" in each and "cpp_fused" not in each for each in code), code
print("forward fine", flush=True)

def step(w):
    return F.gelu(a @ w).square().mean()

w, v = (torch.linspace(-1, 1, 40 * 24, device="cuda").view(40, 24).clone().requires_grad_() for _ in range(2))
torch.compile(step)(w).backward()
step(v).backward()
torch.testing.assert_close(w.grad, v.grad, rtol=1e-4, atol=1e-6)
print("backward fine")
"""


def test_kernels_in_triton_have_the_values_of_eager_torch(under_anywarp, tmp_path):
    folder = str(tmp_path / "inductor")
    done = under_anywarp(
        "-c",
        PROGRAM,
        ANYWARP_TORCH_INDUCTOR="triton",
        TORCHINDUCTOR_CACHE_DIR=folder,
        TORCHINDUCTOR_COMPILE_THREADS="1",
    )
    assert done.stdout.split("\n")[:2] == ["forward fine", "backward fine"], done.stdout + done.stderr


KERNEL = """
import torch
import triton
import triton.language as tl

@triton.jit
def halve(values, results, count, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(results + places, tl.load(values + places, mask=places < count) / 2, mask=places < count)

def work(a):
    halves = torch.empty_like(a)
    halve[(triton.cdiv(a.numel(), 256),)](a, halves, a.numel(), BLOCK=256)
    return halves + a

a = torch.arange(1000, device="cuda", dtype=torch.float32)
assert torch.equal(torch.compile(work, fullgraph=True)(a), a * 1.5)
print("fine")
"""


def test_a_graph_with_a_kernel_of_the_program_is_compiled_by_default(under_anywarp, tmp_path):
    options = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor"), "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    program = tmp_path / "program.py"  # Triton reads the source of kernels from their file
    program.write_text(KERNEL)
    done = under_anywarp(program, **options)
    assert done.stdout == "fine\n", done.stdout + done.stderr
