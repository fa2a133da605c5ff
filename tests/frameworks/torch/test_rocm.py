"""Packages that take a torch for ROCm for one for CUDA: what each does with a simulated torch under `anywarp run --device hip`."""

import pytest

from fakes import rocm_torch

TORCHTITAN = """
import torch

def has_cuda_capability(major, minor):
    return torch.cuda.get_device_capability() >= (major, minor)

def get_cuda_flash_attention_impl():
    return "FA3" if has_cuda_capability(9, 0) else None
"""
FLASH_ATTENTION = """
import os
if os.getenv("FLASH_ATTENTION_TRITON_AMD_ENABLE", "FALSE") == "TRUE":
    chosen = "Triton"
else:
    import flash_attn_2_cuda
    chosen = "compiled"
"""


@pytest.fixture
def run(tmp_path):
    """Run code with torchtitan and flash-attn beside a simulated torch, as `anywarp run --device hip` has Python start."""

    def call(code, hip="7.1", extra=None, **more):
        files = {
            "torchtitan/tools/utils.py": TORCHTITAN,
            "torchtitan/__init__.py": "",
            "torchtitan/tools/__init__.py": "",
            "flash_attn/__init__.py": FLASH_ATTENTION,
        }
        cuda = None if hip else "13.0"
        return rocm_torch.run(tmp_path, code, hip=hip, cuda=cuda, extra={**files, **(extra or {})}, **more)

    return call


CHOICE = "import torch; from torchtitan.tools import utils; print(utils.get_cuda_flash_attention_impl(), torch.cuda.get_device_capability())"


def test_a_capability_is_not_taken_for_hoppers(run):
    done = run(CHOICE)
    assert (done.stdout, done.stderr) == ("None (9, 5)\n", "")


@pytest.mark.parametrize("how", [{"hip": None}, {"ANYWARP_TORCH_BLOCK": "torchtitan"}], ids=["CUDA", "blocked"])
def test_a_capability_of_nvidias_and_a_blocked_package_stay(run, how):
    assert run(CHOICE, **how).stdout == "FA3 (9, 5)\n"


def test_a_torchtitan_without_that_choice_stays(run):
    done = run(
        "from torchtitan.tools import utils; print([n for n in vars(utils) if n[0] != '_'])",
        extra={"torchtitan/tools/utils.py": "one = 1"},
    )
    assert (done.stdout, done.stderr) == ("['one']\n", "")


CHOSEN = "import flash_attn; print(flash_attn.chosen)"


def test_flash_attention_uses_its_triton_kernels_where_no_others_are_installed(run):
    done = run(CHOSEN)
    assert (done.stdout, done.stderr) == ("Triton\n", "")


@pytest.mark.parametrize(
    "how",
    [
        {"extra": {"flash_attn_2_cuda.py": ""}},
        {"extra": {"flash_attn_2_cuda.py": ""}, "FLASH_ATTENTION_TRITON_AMD_ENABLE": "FALSE"},
    ],
    ids=["installed", "said"],
)
def test_compiled_kernels_that_are_installed_are_used(run, how):
    assert run(CHOSEN, **how).stdout == "compiled\n"


@pytest.mark.parametrize(
    "how",
    [{"hip": None}, {"FLASH_ATTENTION_TRITON_AMD_ENABLE": "FALSE"}, {"ANYWARP_TORCH_BLOCK": "flash_attn"}],
    ids=["CUDA", "said", "blocked"],
)
def test_flash_attention_is_told_nothing_else(run, how):
    assert "No module named 'flash_attn_2_cuda'" in run(CHOSEN, **how).stderr


def test_nothing_of_ours_is_imported_without_torch(run):
    assert run("import sys, json; print([m for m in sys.modules if m.split('.')[0] == 'anywarp'])").stdout == "[]\n"


def test_changes_are_written_down(run, tmp_path):
    run("import flash_attn; from torchtitan.tools import utils", ANYWARP_PATCH_REPORT=str(tmp_path))
    (report,) = tmp_path.glob("*.jsonl")
    text = report.read_text()
    assert (
        "FLASH_ATTENTION_TRITON_AMD_ENABLE" in text and "torchtitan.tools.utils.get_cuda_flash_attention_impl" in text
    )
