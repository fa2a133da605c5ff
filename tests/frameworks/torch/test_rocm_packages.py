"""What torch for ROCm and packages beside it trip over, one after the other, with a simulated torch under `anywarp run --device hip`."""

import textwrap

import pytest

from anywarp.frameworks.torch.rocm import builds, installer
from fakes import rocm_torch


@pytest.fixture
def run(tmp_path):
    def call(code, **how):
        how.setdefault("ANYWARP_CACHE_DIR", str(tmp_path / "cache"))
        return rocm_torch.run(tmp_path, textwrap.dedent(code), **how)

    return call


def _record(name, version):
    return {
        f"{name.replace('-', '_')}-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    }


# torch itself: which build it is


@pytest.mark.parametrize(
    ("how", "kind"), [({"hip": None, "cuda": "13.0"}, "a build for CUDA"), ({"hip": None}, "a build for the processor")]
)
def test_a_torch_that_is_not_for_rocm_is_named(run, how, kind):
    done = run("import torch; print(torch.__version__)", gpus=["gfx942"], **how)
    assert done.stdout == "2.12.0\n"
    assert (
        "warning[F030]" in done.stderr
        and kind in done.stderr
        and "gfx942" in done.stderr
        and "anywarp env make" in done.stderr
    )


def test_where_no_amd_gpu_is_nothing_is_said(run):
    done = run("import torch", hip=None, cuda="13.0")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_gpu_that_torch_has_no_code_for(run):
    done = run("import torch", gpus=["gfx1032", "gfx90a"], built=["gfx1030", "gfx90a"])
    (line, help) = done.stderr.strip().splitlines()
    assert (
        "warning[F031]" in line
        and "gfx1032" in line
        and "invalid device function" in line
        and "HSA_OVERRIDE_GFX_VERSION=10.3.0" in help
    )


@pytest.mark.parametrize(("gpu", "built"), [("gfx1103", "gfx1100"), ("gfx1032", "gfx1100")])
def test_a_gpu_that_hangs_as_another_or_is_like_none_is_not_told_to_be_one(run, gpu, built):
    done = run("import torch", gpus=[gpu], built=[built])
    assert "F031" in done.stderr and "HSA_OVERRIDE_GFX_VERSION=" not in done.stderr and "hang" in done.stderr


@pytest.mark.parametrize(
    "how",
    [{"built": ["gfx1032"]}, {"built": ["gfx1030"], "HSA_OVERRIDE_GFX_VERSION": "10.3.0"}, {}],
    ids=["there", "said", "unknown"],
)
def test_a_gpu_that_torch_has_code_for_or_that_the_user_has_renamed(run, how):
    assert run("import torch", gpus=["gfx1032"], **how).stderr == ""


def test_an_import_of_torch_reads_once_which_build_it_is(run):
    code = """
import sys, traceback

ours = []

def opened(event, given):
    if event == "open" and str(given[0]).endswith("torch/version.py"):
        ours.extend(1 for frame in traceback.extract_stack() if frame.filename.endswith("frameworks/torch/found.py"))

sys.addaudithook(opened)
import torch
print(len(ours))
"""
    assert run(code).stdout == "1\n"


def test_what_a_gpu_is_taken_for_is_what_the_variable_says():
    """HSA_OVERRIDE_GFX_VERSION is major, minor and stepping with points (ROCr's manual)."""
    for gpu, (like, value) in builds.TAKEN_FOR.items():
        major, minor, stepping = value.split(".")
        assert like == f"gfx{major}{minor}{stepping}" and gpu[:-2] == like[:-2]


# MIOpen

FLAG = """
    import os, torch
    torch._C._set_cudnn_benchmark(True)
    print(os.environ.get("MIOPEN_FIND_MODE"), torch._C._get_cudnn_benchmark())
"""


@pytest.mark.parametrize("on", [False, True])
def test_miopen_does_not_search(run, on):
    assert run(FLAG, benchmark=on).stdout == "FAST False\n"


def test_miopens_flag_is_off_from_the_start(run):
    assert run("import torch; print(torch._C._get_cudnn_benchmark())", benchmark=True).stdout == "False\n"


@pytest.mark.parametrize(
    ("how", "shown"),
    [
        ({"MIOPEN_FIND_MODE": "NORMAL"}, "NORMAL True\n"),
        ({"ANYWARP_TORCH_BLOCK": "torch.backends.cudnn"}, "None True\n"),
        ({"hip": None, "cuda": "13.0"}, "None True\n"),
    ],
    ids=["said", "blocked", "CUDA"],
)
def test_who_has_chosen_has_miopen_search(run, how, shown):
    assert run(FLAG, **how).stdout == shown


def test_the_flag_takes_what_torch_takes(run):
    assert "expects a bool" in run("import torch; torch._C._set_cudnn_benchmark(1)").stderr


# bitsandbytes

BITS = "import os\nchosen = os.environ.get('BNB_ROCM_VERSION')\n"
CHOSEN = "import bitsandbytes; print(bitsandbytes.chosen)"


def _bits(*releases, version="0.48.1"):
    head = {"bitsandbytes/__init__.py": BITS, **_record("bitsandbytes", version)}
    return head | {f"bitsandbytes/libbitsandbytes_rocm{each}.so": "" for each in releases}


@pytest.mark.parametrize(
    ("have", "hip", "chosen"),
    [
        (("64", "70", "72"), "7.1.25424", "70"),
        (("64", "72", "714"), "7.0.1", "72"),
        (("72", "714"), "7.15.0", "714"),
        (("71",), "7.1.2", "None"),
        (("71", "101"), "10.1.0", "None"),
        (("71", "101"), "10.2.0", "101"),
    ],
)
def test_bitsandbytes_takes_the_nearest_library_of_the_same_major_release(run, have, hip, chosen):
    done = run(CHOSEN, hip=hip, extra=_bits(*have))
    assert (done.stdout, done.stderr) == (f"{chosen}\n", "")


def test_bitsandbytes_without_a_library_for_this_major_release_says_so(run):
    done = run(CHOSEN, hip="8.0", extra=_bits("64", "71", version="0.50.2"))
    assert done.stdout == "None\n" and "F033" in done.stderr and "(it has: 64, 71)" in done.stderr


@pytest.mark.parametrize(
    "how",
    [{"BNB_ROCM_VERSION": "64"}, {"ANYWARP_TORCH_BLOCK": "bitsandbytes"}, {"hip": None, "cuda": "13.0"}],
    ids=["said", "blocked", "CUDA"],
)
def test_bitsandbytes_is_told_nothing_else(run, how):
    done = run(CHOSEN, extra=_bits("70"), **how)
    assert (done.stdout, done.stderr) == (f"{how.get('BNB_ROCM_VERSION')}\n", "")


def test_a_bitsandbytes_that_chooses_itself_is_left_alone(run):
    assert run(CHOSEN, extra=_bits("70", version="0.50.0")).stdout == "None\n"


# pip


@pytest.mark.parametrize(
    ("words", "at"),
    [
        ("pip install diffusers", 2),
        ("pip --no-input install -r requirements.txt -i URL", 3),
        ("pip install torch", None),
        ("pip install torch>=2.13 foo", None),
        ("pip install foo --extra-index-url https://host/whl/rocm7.2", None),
        ("pip install --target place foo", None),
        ("pip install --ignore-installed --prefix place setuptools", None),
        ("pip uninstall foo", None),
        ("pip list", None),
        ("pip install torchtitan", 2),
    ],
)
def test_where_a_constraint_belongs(words, at):
    assert installer.place(words.split()) == at


PIP = {
    "pip/__init__.py": "",
    "pip/__main__.py": "import sys; words = sys.argv[1:]; print(words[0], *[open(b).read().split() for a, b in zip(words, words[1:]) if a == '--constraint'])",
    **_record("torch", "2.12.0+rocm7.1"),
    **_record("torchvision", "0.27.0"),
}
START = "import runpy, sys; sys.argv[0] = 'pip'; runpy.run_module('pip', run_name='__main__', alter_sys=False)"


def test_pip_keeps_the_builds_for_rocm(run):
    done = run(START, extra=PIP, arguments=["install", "diffusers"])
    assert done.stdout == "install ['torch==2.12.0+rocm7.1']\n"
    assert "note[F034]" in done.stderr and "torch==2.12.0+rocm7.1" in done.stderr


@pytest.mark.parametrize(
    "how", [{"hip": None, "cuda": "13.0"}, {"ANYWARP_TORCH_BLOCK": "pip"}], ids=["CUDA", "blocked"]
)
def test_pip_is_told_nothing_else(run, how):
    done = run(START, extra=PIP, arguments=["install", "diffusers"], **how)
    assert (done.stdout, done.stderr) == ("install\n", "")


# Packages for CUDA alone


@pytest.mark.parametrize("name", ["sgl_kernel", "flashinfer"])
def test_a_package_for_cuda_alone_is_named(run, name):
    record = _record({"sgl_kernel": "sglang-kernel", "flashinfer": "flashinfer-python"}[name], "0.4.1")
    files = {f"{name}/__init__.py": "", f"{name}/ops.abi3.so": "libcudart.so.13", **record}
    done = run(f"import {name}", extra=files)
    assert done.returncode == 0 and f"warning[F032]: {name} 0.4.1" in done.stderr


@pytest.mark.parametrize(
    ("version", "library", "how"),
    [
        ("0.4.1", "libamdhip64.so.7", {}),
        ("0.6.18+amd.2", "", {}),
        ("0.4.1", "", {"hip": None, "cuda": "13.0"}),
        ("0.4.1", "", {"ANYWARP_TORCH_BLOCK": "flashinfer"}),
    ],
    ids=["linked", "AMD's", "CUDA", "blocked"],
)
def test_a_build_for_rocm_of_it_is_not(run, version, library, how):
    files = {"flashinfer/__init__.py": "", "flashinfer/ops.so": library, **_record("flashinfer-python", version)}
    assert run("import flashinfer", extra=files, **how).stderr == ""


# AITER, and vLLM with it

AITER = {
    "aiter/__init__.py": "from . import core",
    "aiter/core.py": "raise RuntimeError('Unknown GPU architecture: gfx1201. Supported architectures: gfx942')",
}
GUARDED = """
    import sys
    try:
        import aiter
    except ImportError as error:
        print("absent", error.name, "gfx1201" in str(error), [m for m in sys.modules if m.startswith("aiter")])
"""


def test_an_aiter_that_does_not_know_the_gpu_is_absent(run):
    done = run(GUARDED, extra=AITER)
    assert (done.stdout, done.stderr) == ("absent aiter True []\n", "")


@pytest.mark.parametrize(
    ("extra", "how"),
    [
        (AITER, {"ANYWARP_TORCH_BLOCK": "aiter"}),
        (AITER, {"hip": None}),
        ({**AITER, "aiter/core.py": "raise RuntimeError('no memory')"}, {}),
    ],
    ids=["blocked", "CPU", "another"],
)
def test_another_error_of_aiters_stays(run, extra, how):
    assert "RuntimeError" in run(GUARDED, extra=extra, **how).stderr


def test_an_aiter_that_works_is_as_it_was(run):
    done = run(
        "import aiter; print(aiter.core.one, type(aiter.__loader__).__name__)",
        extra={**AITER, "aiter/core.py": "one = 1"},
    )
    assert (done.stdout, done.stderr) == ("1 SourceFileLoader\n", "")


VLLM = {"vllm/__init__.py": "import os; print(os.environ.get('VLLM_ROCM_USE_AITER_FP4BMM'))"}


@pytest.mark.parametrize(
    ("gpus", "how", "shown"),
    [
        (["gfx942"], {}, "0"),
        (["gfx1201", "gfx1201"], {}, "0"),
        (["gfx950"], {}, "None"),
        ([], {}, "None"),
        (["gfx942"], {"VLLM_ROCM_USE_AITER_FP4BMM": "1"}, "1"),
        (["gfx942"], {"hip": None, "cuda": "13.0"}, "None"),
    ],
)
def test_vllm_takes_products_of_4_bits_where_they_are(run, gpus, how, shown):
    assert run("import vllm", gpus=gpus, extra=VLLM, **how).stdout == f"{shown}\n"


# Triton

TRITON = {
    "triton/__init__.py": "",
    "triton/runtime/__init__.py": "",
    # What of Triton's interface a launch goes through: the refusal has these names and arguments (triton/runtime/errors.py).
    "triton/runtime/errors.py": """
class TritonError(Exception): pass
class OutOfResources(TritonError):
    def __init__(self, required, limit, name):
        self.required, self.limit, self.name = required, limit, name
    def __str__(self):
        return f"out of resource: {self.name}, Required: {self.required}, Hardware limit: {self.limit}"
""",
    "triton/runtime/jit.py": """
from .errors import OutOfResources
tried = []
class JITFunction:
    def __init__(self, shared): self.shared, self.__name__ = shared, "kernel"
    def run(self, *args, grid, warmup=False, **kwargs):
        warps, stages = kwargs.get("num_warps", 4), kwargs.get("num_stages", 2)
        tried.append((warps, stages))
        if self.shared * stages > 65536: raise OutOfResources(self.shared * stages, 65536, "shared memory")
        if warps * 64 > 1024: raise OutOfResources(warps * 64, 1024, "threads")
        if args == ("odd",): raise ValueError("odd")
        return warps, stages
""",
    "triton/runtime/autotuner.py": """
from .errors import OutOfResources
class Autotuner:
    def __init__(self, fn, configs): self.fn, self.configs = fn, configs
    def _bench(self, *args, config, **kwargs):
        try:
            self.fn.run(*args, grid=(1,), **config)
            return 1.0
        except OutOfResources:
            return float("inf")
    def run(self):
        times = [self._bench(config=each) for each in self.configs]
        return times, self.fn.run(grid=(1,), **self.configs[times.index(min(times))])
""",
}


def test_a_launch_with_too_many_warps_or_stages_is_made_with_fewer(run):
    done = run(
        """
        from triton.runtime import jit
        kernel = jit.JITFunction(20000)
        print(kernel.run(grid=(1,), num_warps=32, num_stages=4), jit.tried)
        jit.tried.clear()
        print(kernel.run(grid=(1,), num_warps=32, num_stages=4), kernel.run(grid=(1,), num_warps=8, num_stages=1), jit.tried)
        """,
        extra=TRITON,
    )
    first, second = done.stdout.splitlines()
    assert first == "(16, 3) [(32, 4), (32, 3), (16, 3)]"
    assert second == "(16, 3) (8, 1) [(16, 3), (8, 1)]"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("jit.JITFunction(70000).run(grid=(1,))", "shared memory, Required: 70000"),
        ("jit.JITFunction(1).run('odd', grid=(1,))", "ValueError: odd"),
    ],
)
def test_what_cannot_be_made_smaller_fails_as_before(run, code, error):
    assert error in run(f"from triton.runtime import jit; {code}", extra=TRITON).stderr


def test_the_autotuner_is_told(run):
    done = run(
        """
        from triton.runtime import autotuner, jit
        kernel = jit.JITFunction(1)
        print(autotuner.Autotuner(kernel, [dict(num_warps=32), dict(num_warps=8)]).run(), jit.tried)
        jit.tried.clear()
        print(autotuner.Autotuner(kernel, [dict(num_warps=32)]).run(), jit.tried)
        """,
        extra=TRITON,
    )
    assert done.stdout.splitlines() == [
        "([inf, 1.0], (8, 2)) [(32, 2), (8, 2), (8, 2)]",
        "([inf], (16, 2)) [(32, 2), (32, 2), (16, 2)]",
    ]


@pytest.mark.parametrize(
    "how", [{"hip": None, "cuda": "13.0"}, {"ANYWARP_TORCH_BLOCK": "triton"}], ids=["CUDA", "blocked"]
)
def test_launches_elsewhere_stay(run, how):
    code = "from triton.runtime import jit, autotuner; print(jit.JITFunction.run.__module__); jit.JITFunction(1).run(grid=(1,), num_warps=32)"
    done = run(code, extra=TRITON, **how)
    assert done.stdout == "triton.runtime.jit\n" and "Required: 2048" in done.stderr


# Wiring of what tests/frameworks/torch/test_rocm_computing.py computes with

XFORMERS = {
    "xformers/__init__.py": "",
    "xformers/ops/__init__.py": "def memory_efficient_attention(query, key, value, attn_bias=None, p=0.0, scale=None): return 'theirs'",
}


@pytest.mark.parametrize(
    ("how", "mended"),
    [({}, True), ({"hip": None, "cuda": "13.0"}, False), ({"ANYWARP_TORCH_BLOCK": "xformers"}, False)],
    ids=["ROCm", "CUDA", "blocked"],
)
def test_xformers_attention_is_asked_first(run, how, mended):
    done = run(
        "from xformers import ops; f = ops.memory_efficient_attention; print(f(1, 2, 3), hasattr(f, '__wrapped__'))",
        extra=XFORMERS,
        **how,
    )
    assert (done.stdout, done.stderr) == (f"theirs {mended}\n", "")


@pytest.mark.parametrize(
    ("gpus", "how", "mended"),
    [
        (["gfx942"], {}, True),
        (["gfx950"], {}, False),
        ([], {}, False),
        (["gfx942"], {"ANYWARP_TORCH_BLOCK": "torch._scaled_mm"}, False),
    ],
)
def test_products_of_8_bits_are_mended_where_the_gpu_has_another_format(run, gpus, how, mended):
    code = "import torch; print(hasattr(torch._scaled_mm, '__wrapped__'))"
    done = run(code, gpus=gpus, scaled_mm=True, **how)
    assert (done.stdout, done.stderr) == (f"{mended}\n", "")


def test_patches_are_listed(run, tmp_path):
    run("import torch; from xformers import ops", gpus=["gfx942"], extra=XFORMERS, ANYWARP_PATCH_REPORT=str(tmp_path))
    (report,) = tmp_path.glob("*.jsonl")
    text = report.read_text()
    assert (
        "MIOPEN_FIND_MODE" in text
        and "xformers.ops.memory_efficient_attention" in text
        and "_set_cudnn_benchmark" in text
    )
