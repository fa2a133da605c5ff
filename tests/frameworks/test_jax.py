"""What is changed for JAX: it sees a device, and XLA gets our toolkit with libdevice in it, once it starts for CUDA."""

import os
import sys
from types import ModuleType, SimpleNamespace

import pytest

from anywarp.frameworks import jax
from anywarp.toolchain import codes, cuda_home


@pytest.fixture
def lib(monkeypatch):
    """Stand for the module of JAX's that knows a toolkit, in a process where nothing was named yet."""
    found = SimpleNamespace(cuda_path="/a/toolkit/of/nvidia")
    monkeypatch.setitem(sys.modules, jax.LIB, found)
    monkeypatch.setenv("XLA_FLAGS", "")
    jax.name_a_toolkit.cache_clear()
    yield found
    jax.name_a_toolkit.cache_clear()


@pytest.fixture
def hardware():
    module = ModuleType(jax.LOOKS)
    module.has_visible_nvidia_gpu = lambda: False
    return module


def test_jax_sees_a_device_and_xla_our_toolkit_when_it_asks_and_not_before(lib, hardware, monkeypatch, tmp_path):
    monkeypatch.setattr(cuda_home, "make_with_libdevice", lambda: tmp_path)
    jax.see_a_device(hardware)
    assert "--xla_gpu_autotune_level=0" in os.environ["XLA_FLAGS"]
    assert lib.cuda_path == "/a/toolkit/of/nvidia"
    assert hardware.has_visible_nvidia_gpu()
    assert lib.cuda_path == str(tmp_path)


def test_a_folder_that_the_user_names_in_xlas_flags_stays(lib, monkeypatch):
    monkeypatch.setattr(cuda_home, "make_with_libdevice", lambda: pytest.fail("it was made"))
    monkeypatch.setenv("XLA_FLAGS", "--xla_gpu_cuda_data_dir=/mine")
    assert jax.has_visible_nvidia_gpu()
    assert lib.cuda_path == "/a/toolkit/of/nvidia"


def test_nothing_is_made_where_jax_has_no_plugin_for_cuda(lib, monkeypatch):
    monkeypatch.setattr(cuda_home, "make_with_libdevice", lambda: pytest.fail("it was made"))
    monkeypatch.setitem(sys.modules, jax.BRIDGE, SimpleNamespace(_backend_factories={"cpu": None}))
    assert jax.has_visible_nvidia_gpu()


def test_without_a_compiler_it_says_so_once_and_jax_goes_on(lib, monkeypatch, capsys):
    def fail():
        raise codes.problem(codes.LIBDEVICE, "libdevice.10.bc cannot be made", "install a clang")

    monkeypatch.setattr(cuda_home, "make_with_libdevice", fail)
    assert jax.has_visible_nvidia_gpu() and jax.has_visible_nvidia_gpu()
    assert capsys.readouterr().err.count("anywarp: error[T008]: libdevice.10.bc cannot be made") == 1
    assert lib.cuda_path == "/a/toolkit/of/nvidia"
