"""torch.compile with ANYWARP_TORCH_INDUCTOR=triton: Inductor writes kernels in Triton, and their values are those of eager torch."""

import pytest

pytestmark = [pytest.mark.triton, pytest.mark.torch]

PROGRAM = """
import torch
import torch.nn.functional as F
from torch._inductor.utils import run_and_get_code

torch.manual_seed(0)

def work(a, b):
    return torch.softmax(a * b, -1) + a.sin(), (a - b).sum(0), F.layer_norm(a, (40,))

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
