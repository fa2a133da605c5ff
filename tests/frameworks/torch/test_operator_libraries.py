"""Libraries of operators that were built for a CUDA build of torch: what they are linked to is there, and does what torch's own does."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from anywarp import settings
from anywarp.frameworks.torch import extensions, found

pytestmark = [
    pytest.mark.torch,
    pytest.mark.native,
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("g++"), reason="needs g++"),
]

THIS = found.read(Path(torch.__file__).parent)


@pytest.fixture(scope="module")
def shim():
    place = extensions.make(THIS)
    assert extensions.load(THIS)
    return ctypes.CDLL(str(place / extensions.TORCH))


def test_a_library_that_is_linked_to_torchs_libraries_for_cuda_is_loaded(shim, tmp_path):
    source, library = tmp_path / "x.cpp", tmp_path / "libx.so"
    source.write_text(
        'extern "C" int aoti_torch_get_current_cuda_stream(int, void**);\n'
        'extern "C" int stream(int device, void** out) { return aoti_torch_get_current_cuda_stream(device, out); }\n'
    )
    linked = [str(extensions.folder(THIS) / name) for name in (extensions.TORCH, extensions.C10)]
    subprocess.run(
        ["g++", "-shared", "-fPIC", str(source), "-Wl,--no-as-needed", *linked, "-o", str(library)], check=True
    )
    program = (
        "import ctypes, sys, torch\n"
        "torch.ops.load_library(sys.argv[1])\n"
        "out, side = ctypes.c_void_p(), torch.cuda.Stream()\n"
        "with torch.cuda.stream(side):\n"
        "    assert ctypes.CDLL(sys.argv[1]).stream(0, ctypes.byref(out)) == 0\n"
        "assert out.value == side.cuda_stream, (out, side)\n"
        "print('the current stream')\n"
    )
    command = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, "-c", program, str(library)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert "the current stream" in done.stdout, done.stderr


def test_a_library_that_misses_another_is_refused_as_by_torch(tmp_path):
    with pytest.raises(OSError, match="Could not load this library"):
        torch.ops.load_library(str(tmp_path / "nothing.so"))


def test_an_error_of_the_runtime_comes_with_its_words(shim):
    message = ctypes.c_char_p()
    arguments = (b"file.cpp", b"function", 7, True)
    assert shim.torch_c10_cuda_check_msg(0, *arguments, ctypes.byref(message)) == 0
    assert message.value is None
    raw = ctypes.c_void_p()
    assert shim.torch_c10_cuda_check_msg(2, *arguments, ctypes.byref(raw)) != 0
    assert b"CUDA error: out of memory" in ctypes.string_at(raw.value)
    shim.torch_c10_cuda_free_error_msg(raw)


def test_memory_of_the_caching_allocator_is_counted_and_returned(shim):
    torch.cuda.init()
    before, memory = torch.cuda.memory_allocated(), ctypes.c_void_p()
    assert shim.aoti_torch_cuda_caching_allocator_raw_alloc(ctypes.c_uint64(4096), ctypes.byref(memory)) == 0
    assert torch.cuda.memory_allocated() == before + 4096
    assert shim.aoti_torch_cuda_caching_allocator_raw_delete(memory) == 0
    assert torch.cuda.memory_allocated() == before


def test_streams_are_set_and_guarded(shim):
    side, other, handle = torch.cuda.Stream(), ctypes.c_void_p(), ctypes.c_void_p()

    def current():
        assert shim.aoti_torch_get_current_cuda_stream(0, ctypes.byref(other)) == 0
        return other.value or 0

    begun = current()
    assert shim.aoti_torch_create_cuda_stream_guard(ctypes.c_void_p(side.cuda_stream), 0, ctypes.byref(handle)) == 0
    assert current() == side.cuda_stream
    assert shim.aoti_torch_delete_cuda_stream_guard(handle) == 0
    assert current() == begun
    pooled = ctypes.c_void_p()
    assert shim.torch_get_cuda_stream_from_pool(True, 0, ctypes.byref(pooled)) == 0
    assert shim.torch_set_current_cuda_stream(pooled, 0) == 0
    assert current() == pooled.value != begun
    assert shim.torch_cuda_stream_synchronize(pooled, 0) == 0
    assert shim.torch_set_current_cuda_stream(ctypes.c_void_p(begun), 0) == 0
    assert current() == begun


def test_the_handle_of_cublas_multiplies_on_the_current_stream(shim):
    cublas = ctypes.CDLL(str(settings.LIBRARY_DIR.get() / "libcublas.so.13"))
    handle, stream = ctypes.c_void_p(), ctypes.c_void_p()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        assert shim.torch_get_current_cuda_blas_handle(ctypes.byref(handle)) == 0
    assert cublas.cublasGetStream_v2(handle, ctypes.byref(stream)) == 0
    assert stream.value == side.cuda_stream
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 8, 8))
    given = [torch.tensor(each).cuda() for each in (a, b)]
    out = torch.zeros(8, 8, dtype=torch.float64, device="cuda")
    one, zero = ctypes.c_double(1), ctypes.c_double(0)
    pointers = [ctypes.c_void_p(each.data_ptr()) for each in (*reversed(given), out)]
    status = cublas.cublasDgemm_v2(
        handle, 0, 0, 8, 8, 8, ctypes.byref(one), pointers[0], 8, pointers[1], 8, ctypes.byref(zero), pointers[2], 8
    )
    assert status == 0
    side.synchronize()
    assert np.allclose(out.cpu().numpy(), a @ b, rtol=1e-14, atol=1e-14)
