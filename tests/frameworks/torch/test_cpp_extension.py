"""torch.utils.cpp_extension finds our compiler, headers and libraries; the examples build and agree with torch (long: minutes of compilers)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.utils import cpp_extension

from anywarp.frameworks.torch import extensions, found

pytestmark = [pytest.mark.torch, pytest.mark.native]

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "torch_extensions"
THIS = found.read(Path(torch.__file__).parent)


def test_the_toolkit_is_ours_unless_the_user_names_one():
    if os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH"):
        pytest.skip("CUDA_HOME is set")
    assert (Path(cpp_extension.CUDA_HOME) / "bin" / "nvcc").exists()
    assert "cuda-home-" in cpp_extension.CUDA_HOME


def test_headers_that_torch_lacks_are_found_for_cuda_only():
    ours = str(extensions.headers())
    assert ours in cpp_extension.include_paths("cuda")
    assert ours not in cpp_extension.include_paths()
    assert ours not in cpp_extension.include_paths("cpu")


def test_every_header_that_torch_names_is_there():
    """Those that torch's headers about CUDA include in angle brackets, by the name that NVIDIA gives them."""
    wanted = set()
    for part in ("ATen/cuda/CUDAContextLight.h", "ATen/cuda/Exceptions.h", "ATen/cuda/ATenCUDAGeneral.h"):
        for line in (THIS.folder / "include" / part).read_text().splitlines():
            if line.startswith("#include <cu"):
                wanted.add(line.split("<")[1].rstrip("> "))
    wanted.discard("cudss.h")  # only where torch was built with it
    assert {"cublas_v2.h", "cuda_runtime_api.h"} <= wanted
    places = [Path(each) for each in cpp_extension.include_paths("cuda")]
    assert not {name for name in wanted if not any((place / name).exists() for place in places)}


def test_the_libraries_are_others_for_another_torch_and_for_other_sources(tmp_path, monkeypatch):
    first = extensions.folder(THIS)
    other = found.Torch(THIS.folder, THIS.version, "0" * 40, "")
    assert extensions.folder(other) != first
    shutil.copytree(extensions.sources(), tmp_path / "torch_cuda")
    monkeypatch.setattr(extensions, "sources", lambda: tmp_path / "torch_cuda")
    assert extensions.folder(THIS) == first
    (tmp_path / "torch_cuda" / "streams.cpp").write_text("// changed\n")
    assert extensions.folder(THIS) != first


def run(folder, *words):
    command = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, "-W", "ignore", *map(str, words)]
    env = {**os.environ, "TORCH_EXTENSIONS_DIR": str(folder / "built"), "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=1500)


@pytest.mark.long
@pytest.mark.timeout(1600)
@pytest.mark.parametrize(
    ("name", "words"), [("swish", "swish: as torch"), ("histogram", "histogram: as torch.bincount")]
)
def test_an_extension_built_by_load_agrees_with_torch(name, words, tmp_path):
    done = run(tmp_path, EXAMPLES / f"{name}.py")
    assert done.returncode == 0 and words in done.stdout, done.stdout[-3000:] + done.stderr[-3000:]


CONTEXT = Path(__file__).with_name("extension") / "context.py"


@pytest.fixture(scope="module")
def context_folder(tmp_path_factory):
    """What context.py has compiled is used again when operators run later."""
    return tmp_path_factory.mktemp("context")


@pytest.mark.long
@pytest.mark.timeout(1600)
@pytest.mark.parametrize("later", [{}, {"ANYWARP_ASYNC": "1"}])
def test_kernels_draw_from_torchs_generators_and_handles_of_libraries_are_there(later, context_folder, monkeypatch):
    """The numbers are those of torch.rand, whose kernel for so few draws the first of four per thread, as this one."""
    for name, value in later.items():
        monkeypatch.setenv(name, value)
    done = run(context_folder, CONTEXT)
    said = ["draws in turn", "a generator given", "offsets", "graphs", "handles"]
    assert done.returncode == 0 and done.stdout.splitlines()[-5:] == said, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.long
@pytest.mark.timeout(1600)
def test_an_extension_built_by_setup_agrees_with_torch(tmp_path):
    for each in (EXAMPLES / "row_softmax").iterdir():
        if each.is_file():
            shutil.copy(each, tmp_path)
    built = run(tmp_path, "setup.py", "build_ext", "--inplace")
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    done = run(tmp_path, "use.py")
    assert "row_softmax: as torch" in done.stdout, done.stdout + done.stderr


def test_a_cpu_build_links_extensions_to_our_libraries(tmp_path, monkeypatch):
    """Its `torch.version.cuda` is a version, too: ours."""
    monkeypatch.setattr(extensions, "make", lambda torch: tmp_path)
    monkeypatch.setattr(extensions, "load", lambda torch: None)
    assert torch.version.cuda and f"-L{tmp_path}" in cpp_extension._prepare_ldflags([], True, False, False, False)
    assert str(tmp_path) in cpp_extension.library_paths("cuda") and str(tmp_path) not in cpp_extension.library_paths()
