"""Packages are found wherever they are declared, with the index that decides which build is meant; comments and other builds are not."""

from __future__ import annotations

import pytest

from migrate.scan.seen import facts, findings, uses


def test_requirements_with_options_markers_hashes_and_links() -> None:
    text = """--extra-index-url https://example.org/whl/cu121
# torch==1.0
torch==2.1.0+cu121 ; sys_platform == "linux"   # cupy
numpy
-r base.txt
nvidia-cublas-cu12==12.1.3.1 \\
    --hash=sha256:aaaa
flash-attn @ https://example.org/flash_attn-2.5.8+cu122torch2.3cxx11abiFALSE-cp310-cp310-linux_x86_64.whl
jax[cuda12]>=0.4
jax
tensorflow==2.15
"""
    assert findings("requirements", "app/requirements-gpu.txt", text) == [
        (1, 19, "package.index", "https://example.org/whl/cu121"),
        (3, 1, "package", "torch"),
        (6, 1, "package", "nvidia-cublas-cu12"),
        (8, 1, "package", "flash_attn"),
        (9, 1, "package", "jax"),
    ]
    assert facts("requirements", "requirements.txt", text) == [("deploy.include", "base.txt")]
    torch = next(use for use in uses("requirements", "requirements.txt", text) if use.name == "torch")
    assert (torch.detail("version"), torch.detail("index")) == ("2.1.0+cu121", "cu121")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "--index-url https://example.org/whl/cpu\ntorch==2.4\n"),
        ("requirements.txt", "torch==2.4+cpu\n"),
        ("requirements-rocm.txt", "torch==2.4\n"),
        ("images/gaudi/requirements.txt", "torch\ntriton\n"),
        ("requirements.txt", "numpy\nrequests>=2\nmy-cudalike\n"),
    ],
)
def test_other_builds_and_other_packages_are_no_findings(name: str, text: str) -> None:
    assert findings("requirements", name, text) == []


def test_a_project_with_the_tables_of_every_tool() -> None:
    text = """[build-system]
requires = ["setuptools", "torch>=2.1"]
[project]
dependencies = [
  "torch==2.4.0",  # "cupy"
  'cupy-cuda12x>=13', "numpy",
]
[project.optional-dependencies]
gpu = ["onnxruntime-gpu"]
[tool.uv.sources]
torch = [{ index = "there", marker = "sys_platform == 'linux'" }]
[[tool.uv.index]]
name = "there"
url = "https://example.org/whl/cu121"
[tool.poetry.dependencies]
python = "^3.10"
bitsandbytes = "*"
tensorflow = {version="2.15", extras=["and-cuda"]}
"""
    assert sorted(findings("projects", "pyproject.toml", text)) == [
        (2, 28, "package", "torch"),
        (5, 4, "package", "torch"),
        (6, 4, "package", "cupy-cuda12x"),
        (9, 9, "package", "onnxruntime-gpu"),
        (14, 8, "package.index", "https://example.org/whl/cu121"),
        (17, 17, "package", "bitsandbytes"),
        (18, 24, "package", "tensorflow"),
    ]
    found = {use.name: use for use in uses("projects", "pyproject.toml", text)}
    assert found["torch"].detail("index") == "cu121"
    assert found["tensorflow"].detail("specifier") == "==2.15"


def test_locks_of_several_tools() -> None:
    uv = '[[package]]\nname = "numpy"\nversion = "2.0"\n\n[[package]]\nname = "nvidia-nccl-cu12"\nversion = "2.20"\nsource = { registry = "https://example.org/simple" }\n'
    assert findings("projects", "uv.lock", uv) == [(6, 9, "package", "nvidia-nccl-cu12")]
    pipfile = '{"default": {"torch": {"version": "==2.1.0"}, "six": {"version": "==1"}},\n "develop": {"cupy-cuda11x": {"version": "==12"}}}'
    assert findings("projects", "Pipfile.lock", pipfile) == [
        (1, 15, "package", "torch"),
        (2, 15, "package", "cupy-cuda11x"),
    ]
    conda = (
        "version: 1\nmetadata:\n  content_hash:\n    linux-64: ab\npackage:\n- name: pytorch\n  version: 2.1.0\n  manager: conda\n"
        "  url: https://example.org/linux-64/pytorch-2.1.0-py3.11_cuda12.1_cudnn8.9.2_0.tar.bz2\n"
        "- name: numpy\n  version: 1.26\n  manager: conda\n  url: https://example.org/numpy-1.26-py311_0.conda\n"
    )
    assert findings("manifests", "conda-lock.yml", conda) == [(6, 9, "package", "pytorch")]


def test_setup_scripts_are_read_and_not_run() -> None:
    text = 'from setuptools import setup\nreqs = ["torch>=2"]\nsetup(install_requires=reqs + [\n  "cupy-cuda12x",\n  # "flash-attn",\n  "six"], name="pynvml")\n'
    assert findings("projects", "setup.py", text) == [(2, 10, "package", "torch"), (4, 4, "package", "cupy-cuda12x")]


def test_setup_cfg_lists() -> None:
    text = "[metadata]\nname = torch\n[options]\ninstall_requires =\n    torch>=1.8\n    six\n[options.extras_require]\ngpu = cupy-cuda11x\n"
    assert findings("projects", "setup.cfg", text) == [(5, 5, "package", "torch"), (8, 7, "package", "cupy-cuda11x")]


def test_a_conda_environment() -> None:
    text = """name: x
channels: [pytorch, nvidia, conda-forge]
dependencies:
  - python=3.11
  - pytorch=2.1=py3.11_cuda12.1_cudnn8
  - nvidia::cuda-toolkit=12.1
  - faiss=1.7=*_cpu
  - pip:
      - --extra-index-url https://example.org/whl/cu118
      - xformers
      - torchvision==0.16
"""
    assert findings("manifests", "environment.yml", text) == [
        (2, 21, "package.channel", "nvidia"),
        (5, 5, "package", "pytorch"),
        (6, 5, "package", "cuda-toolkit"),
        (9, 9, "package.index", "https://example.org/whl/cu118"),
        (10, 9, "package", "xformers"),
        (11, 9, "package", "torchvision"),
    ]


def test_a_list_of_requirements_is_known_by_its_lines_whatever_its_name() -> None:
    from pathlib import PurePath

    from anywarp.migrate.scan import requirements

    def wanted(text: bytes) -> bool:
        return requirements.wants(PurePath("more.txt"), text)

    assert wanted(b"# gpu\ntorch==2.1\nnumpy\n") and wanted(b"-r base.txt\ntorch>=2 ; python_version > '3'\n")
    assert wanted(b"torch==2.1.0 \\\n    --hash=sha256:abc\nnumpy==1\n")
    assert (
        not wanted(b"one\ntwo\n")
        and not wanted(b"prose, where x >= 3 of\n")
        and not wanted(b"a" + b"=" * 4000 + b"!\n")
    )
