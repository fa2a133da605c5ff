"""Triton's backend for AMD, which compiles without a GPU: a kernel that names NVIDIA's functions of libdevice."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
import triton.language.extra.cuda as cuda
if "mended" in sys.argv:
    from anywarp.frameworks.torch import rocm
    from anywarp.frameworks.torch.rocm import triton_cuda
    rocm.concerns = lambda name: name == "triton"
    triton_cuda._mend(cuda)
from triton.language.extra.cuda import libdevice

@triton.jit
def kernel(x, y, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(y + i, libdevice.tanh(tl.load(x + i)))

source = ASTSource(kernel, signature={"x": "*fp32", "y": "*fp32", "n": "constexpr"}, constexprs={"n": 64})
print("__ocml_tanh_f32" in triton.compile(source, target=GPUTarget("hip", "gfx942", 64)).asm["llir"])
"""


@pytest.mark.parametrize("words", [["mended"], []])
def test_a_kernel_that_names_nvidias_libdevice_is_compiled_for_amd(tmp_path, words):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path)}  # its key is the same for both
    command = [sys.executable, "-W", "ignore", program, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, env=environment)
    if words:
        assert done.stdout == "True\n", done.stderr
    else:
        assert "__nv_tanhf" in done.stderr, "Triton takes NVIDIA's names for AMD's now: the patch can go"
