"""Triton's own profiler, unmodified, on our libcupti: how often each kernel ran, scope by scope."""

import importlib.util
import json
import subprocess
import sys

import pytest

from anywarp import settings

pytestmark = [
    pytest.mark.native,
    pytest.mark.long,
    pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="triton is not installed"),
    pytest.mark.skipif(not (settings.LIBRARY_DIR.get() / "libcupti.so").exists(), reason="libcupti is not built"),
]

PROGRAM = """
import sys, torch, triton, triton.language as tl, triton.profiler as proton

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

x, y, out = torch.rand(3000, device="cuda"), torch.rand(3000, device="cuda"), torch.empty(3000, device="cuda")
proton.start(sys.argv[1], backend="cupti")
for scope, times in (("first", 3), ("second", 2)):
    with proton.scope(scope):
        for _ in range(times):
            add[(12,)](x, y, out, 3000, BLOCK=256)
torch.cuda.synchronize()
proton.finalize()
assert torch.equal(out, x + y)
"""


def test_proton_counts_kernels_by_scope(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, program, tmp_path / "profile"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    root, *_ = json.loads((tmp_path / "profile.hatchet").read_text())
    scopes = {child["frame"]["name"]: child["children"] for child in root["children"]}
    found = {name: [(k["frame"]["name"], k["metrics"]["count"]) for k in inner] for name, inner in scopes.items()}
    assert found == {"first": [("add", 3)], "second": [("add", 2)]}
    assert all(kernel["metrics"]["time (ns)"] > 0 for inner in scopes.values() for kernel in inner)
