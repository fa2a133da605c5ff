"""Scanning Python: imports, names of torch, devices, commands, kernels and sources in strings."""

from pathlib import PurePath

import pytest

from anywarp.catalogue.migration import rows
from anywarp.migrate.scan import python_source


def uses(text, name="a.py"):
    return list(python_source.scan(text if isinstance(text, bytes) else text.encode(), PurePath(name)))


def found(text, name="a.py"):
    return {(u.subject, u.name) for u in uses(text, name)}


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("import torch\n", "torch"),
        ("from torch.nn import functional as F\n", "torch"),
        ("import cupy as cp\n", "cupy"),
        ("from numba import cuda\n", "numba.cuda"),
        ("import numba.cuda as nc\n", "numba.cuda"),
        ("import tensorrt as trt\n", "tensorrt"),
        ("from cuda.bindings import driver\n", "cuda.bindings"),
        ("from cuda import cudart\n", "cuda.cudart"),
        ("import cuda.bindings.runtime as rt\n", "cuda.bindings.runtime"),
        ("from nvidia import dali\n", "nvidia.dali"),
        ("import pynvml\n", "pynvml"),
        ("from flash_attn import flash_attn_func\n", "flash_attn"),
        ("import flash_attn_interface\n", "flash_attn_interface"),
        ("import transformer_engine.pytorch as te\n", "transformer_engine"),
        ("from cuml.cluster import KMeans\n", "cuml"),
        ("import importlib.util\nok = importlib.util.find_spec('bitsandbytes')\n", "bitsandbytes"),
    ],
)
def test_modules(text, module):
    assert ("python.import", module) in found(text)


def test_modules_of_other_people_are_not_taken_for_nvidia_s():
    assert (
        found(
            "import triton_utils, apexcharts, warpctc, cupyish\nfrom . import torch\nfrom .cuda import x\n# torch cuda\n"
        )
        == set()
    )


def test_a_guarded_import_is_marked():
    text = "import torch\ntry:\n    import flash_attn\nexcept ImportError:\n    flash_attn = None\n"
    assert {u.name: u.detail("guarded") for u in uses(text)} == {"torch": "", "flash_attn": "yes"}


def test_names_of_torch_through_any_alias():
    text = """
import torch as t
from torch import cuda as c
from torch.cuda import amp, is_available
t.cuda.synchronize(); c.empty_cache(); is_available()
t.backends.cudnn.benchmark = True
v = t.version.cuda
"""
    expected = {
        "torch.cuda.synchronize",
        "torch.cuda.empty_cache",
        "torch.cuda.is_available",
        "torch.cuda.amp",
        "torch.backends.cudnn.benchmark",
        "torch.version.cuda",
    }
    assert {name for subject, name in found(text) if subject == "torch.name"} >= expected


def test_private_names_and_capability_checks():
    text = "import torch\nx = torch._C._cuda_getCurrentRawStream(0)\ntorch.cuda._lazy_init()\nif torch.cuda.get_device_capability() >= (9, 0): pass\n"
    assert found(text) >= {
        ("torch.private", "torch._C._cuda_getCurrentRawStream"),
        ("torch.private", "torch.cuda._lazy_init"),
        ("torch.capability", "torch.cuda.get_device_capability"),
    }


@pytest.mark.parametrize(
    "code",
    [
        "x.to('cuda')",
        "d = f'cuda:{rank}'",
        "dict(device='cuda:1')",
        "if t.device.type == 'cuda': pass",
        "'cuda:%d' % i",
    ],
)
def test_device_strings(code):
    assert ("python.device", "cuda") in found(f"import torch\n{code}\n")


def test_device_methods_are_of_tensors_and_not_of_modules():
    assert found("import torch\nx = y.cuda()\nb = x.is_cuda\n") >= {
        ("torch.device", ".cuda()"),
        ("torch.device", ".is_cuda"),
    }
    assert ("torch.device", ".cuda()") not in found("import torch\nwith torch.cuda(): pass\n")


def test_words_for_people_are_no_uses():
    text = '''"""Runs on cuda."""
import torch
def f():
    """Moves to cuda:0 and calls nvidia-smi."""
    print("cuda")
    raise RuntimeError("cuda")
    log.info("CUDA_VISIBLE_DEVICES")
'''
    assert found(text) == {("python.import", "torch")}


def test_values_in_words_for_people_are_uses():
    assert ("torch.name", "torch.cuda.max_memory_allocated") in found(
        "import torch\nprint(f'{torch.cuda.max_memory_allocated()} B')\n"
    )


def test_commands_with_their_arguments():
    text = "import subprocess, os\nsubprocess.run(['nvidia-smi', '--query-gpu=name', '--format=csv'])\nos.system('nvcc -O3 a.cu')\nrun([smi(), '--query-gpu=count'])\n"
    assert {(u.subject, u.detail("arguments")) for u in uses(text)} == {
        ("command.nvidia-smi", "--query-gpu=name --format=csv"),
        ("command.nvcc", "-O3 a.cu"),
        ("command.nvidia-smi", "--query-gpu=count"),
    }


def test_variables_libraries_paths_and_providers():
    text = """import os, ctypes, torch
os.environ['CUDA_VISIBLE_DEVICES'] = '0'
os.getenv("NCCL_DEBUG")
ctypes.CDLL('libcudart.so.12')
sys.path.append('/usr/local/cuda-12.4/bin')
torch.distributed.init_process_group(backend='nccl')
s = ort.InferenceSession(m, providers=['CUDAExecutionProvider', 'CPUExecutionProvider'])
"""
    assert found(text) >= {
        ("env", "CUDA_VISIBLE_DEVICES"), ("env", "NCCL_DEBUG"), ("python.library", "libcudart"), ("python.path", "/usr/local/cuda"),
        ("torch.distributed", "nccl"), ("python.provider", "CUDAExecutionProvider"),
    }  # fmt: skip


def test_triton_kernels_and_what_only_nvidia_s_backend_has():
    text = """import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice
@triton.jit
def k(x):
    y = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)
k[(1,)](x, num_ctas=2, num_warps=4)
"""
    assert found(text) >= {
        ("triton.kernel", "jit"),
        ("triton.feature", "inline_asm_elementwise"),
        ("triton.feature", "libdevice"),
        ("triton.feature", "num_ctas"),
    }
    assert ("triton.feature", "num_ctas") not in found(text.replace("num_ctas=2", "num_ctas=1"))
    assert ("triton.feature", "num_warps") not in found(text)
    assert ("triton.feature", "num_warps") in found(text.replace("num_warps=4", "num_warps=32"))


def test_cuda_sources_in_strings_are_scanned_as_cuda():
    text = '''import cupy
k = cupy.RawKernel(r"""
extern "C" __global__
void f(float *x) {
  unsigned m = __ballot_sync(0xffffffff, 1);
}""", "f")
from torch.utils.cpp_extension import load_inline
load_inline("m", cpp_sources="", cuda_sources="#include <cuda_fp16.h>\\n__global__ void g() {}")
'''
    all_ = uses(text)
    assert ("python.kernel", "cupy source") in found(text) and ("python.kernel", "load_inline") in found(text)
    inside = {(u.name, u.line) for u in all_ if u.detail("inside") == "string"}
    assert inside >= {("__global__", 3), ("32 lanes", 5), ("cuda_fp16.h", 8)}


def test_functions_of_pynvml():
    assert ("python.nvml", "nvmlDeviceGetHandleByIndex") in found(
        "import pynvml as n\nh = n.nvmlDeviceGetHandleByIndex(0)\n"
    )


PYTHON_2 = b"import torch\nprint 'cuda'\nx = torch.zeros(3).cuda()\nexec 'x'\ny = torch.cuda.FloatTensor(3)\nos.environ['CUDA_HOME'] = d\n"


def test_python_2_is_read_word_by_word():
    assert found(PYTHON_2) >= {
        ("python.import", "torch"), ("torch.device", ".cuda()"), ("torch.name", "torch.cuda.FloatTensor"), ("env", "CUDA_HOME"),
    }  # fmt: skip


def test_words_and_tree_agree_on_a_text_that_both_read():
    text = b'import torch\nfrom numba import cuda\nx = torch.cuda.device_count()\ny = x.cuda()\nd = \'cuda:0\'\n"""cuda"""\n# torch.cuda.is_bf16_supported()\n'
    assert found(text) == found(text + b"print 'not Python 3'\n")


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\xff cuda torch",
        b"import torch cuda\n" + b"(" * 5000,
        b"# -*- coding: nonsense -*-\nimport torch; cuda=1",
        b"'''cuda torch",
        "import torch\nx='ä' ; y = t.cuda()\n".encode("utf-16"),
    ],
)
def test_what_is_no_python_does_no_harm(data):
    for use in uses(data):
        assert use.line >= 1


def test_a_name_after_other_letters_has_its_place():
    (use,) = [u for u in uses("import torch\ns = 'äöü'; torch.cuda.synchronize()\n") if u.subject == "torch.name"]
    assert (use.line, use.text) == (2, "s = 'äöü'; torch.cuda.synchronize()")


def test_a_text_that_only_imports_torch_is_not_parsed(monkeypatch):
    monkeypatch.setattr(python_source, "collect", lambda data: pytest.fail("parsed"))
    assert found("'''doc'''\nimport os\nfrom torch import nn\n") == {("python.import", "torch")}


def test_constants_in_strings_are_no_variables_of_the_environment():
    assert found("import torch\nx = {'CUDA_R_16F': 'HIP_R_16F', 'CUDA_ERROR_X': 1}\ny = d.get('CUDA_R_32F')\n") == {
        ("python.import", "torch")
    }
    assert ("env", "CUDA_OF_MY_OWN") in found("import torch\nx = os.environ.get('CUDA_OF_MY_OWN')\n")
    assert ("env", "CUDA_VISIBLE_DEVICES") in found("import torch\nrun(dict(os.environ, CUDA_VISIBLE_DEVICES='1'))\n")
    assert ("env", "CUDA_OF_MY_OWN") in found("import torch\nif my_env['CUDA_OF_MY_OWN']: pass\n")


def test_a_file_that_asks_for_hip_says_so():
    uses_ = uses("import torch\nif torch.version.hip is None: v = torch.version.cuda\n")
    assert {u.detail("ported") for u in uses_} == {"yes"}


def test_eight_bit_floats_of_nvidia_s_cards():
    assert found("import torch\nx = y.to(torch.float8_e4m3fn)\n") == {
        ("python.import", "torch"),
        ("torch.fp8", "torch.float8_e4m3fn"),
    }


@pytest.mark.parametrize("text", ["nccl", "cpu:gloo,cuda:nccl", "cuda:nccl,cpu:gloo"])
def test_backends_of_torch_distributed(text):
    assert ("torch.distributed", "nccl") in found(f"import torch\nb = '{text}'\n")


def test_a_file_that_knows_both_kinds_of_eight_bit_floats_says_so():
    text = "import torch\nd = torch.float8_e4m3fnuz if amd else torch.float8_e4m3fn\n"
    assert [u.detail("ported") for u in uses(text) if u.subject == "torch.fp8"] == ["yes"]


def test_names_that_are_asked_for_by_name():
    assert ("torch.private", "torch._C._cuda_getCurrentRawStream") in found(
        "import torch\nx = getattr(torch._C, '_cuda_getCurrentRawStream', None)\n"
    )
    assert ("torch.name", "torch.cuda.graphs") in found("import torch\nif hasattr(torch.cuda, 'graphs'): pass\n")


def test_every_module_of_the_table_is_found_beside_torch():
    modules = {row["name"] for row in rows("python_names") if row["kind"] == "module"}
    missed = [
        name for name in sorted(modules) if ("python.import", name) not in found(f"import torch\nimport {name}\n")
    ]
    assert missed == []
    assert [name for name in sorted(modules) if ("python.import", name) not in found(f"import {name}\n")] == []


def test_compiled_extensions_by_their_names():
    (use,) = [u for u in uses("import torch\nimport causal_conv1d_cuda\n") if u.subject == "python.kernel"]
    assert (use.name, use.detail("module")) == ("extension module", "causal_conv1d_cuda")
