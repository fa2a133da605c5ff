"""Adapters of frameworks that are one file: what they change, and that they wait for the import."""

import sys

import pytest

from anywarp import settings
from anywarp.frameworks import cupy, watching, xla


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("", "--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false"),
        ("--xla_dump_to=/tmp/x", "--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false --xla_dump_to=/tmp/x"),
        ("--xla_gpu_autotune_level=4", "--xla_gpu_enable_triton_gemm=false --xla_gpu_autotune_level=4"),
    ],
)
def test_xla_is_told_only_what_the_user_has_not_said(given, wanted):
    assert xla.add_flags(given) == wanted


def test_cupy_gets_our_toolkit_unless_one_is_named(monkeypatch, private_places):
    monkeypatch.setattr(settings, "environment", lambda: {"CUDA_PATH": "/usr/local/other"})
    told = {}
    monkeypatch.setattr(settings, "export", told.update)
    cupy.name_a_toolkit()
    assert not told
    monkeypatch.setattr(settings, "environment", dict)
    cupy.name_a_toolkit()
    assert (settings.CACHE_DIR.get() / told["CUDA_PATH"] / "include/cublas_v2.h").exists()


def test_a_watcher_sees_the_module_after_it_was_executed_and_no_other(tmp_path, monkeypatch):
    (tmp_path / "aw_watched.py").write_text("value = 1\n")
    (tmp_path / "aw_other.py").write_text("value = 2\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    seen, before = [], []
    watcher = watching.Watcher(
        {"aw_watched": lambda: before.append(len(seen))}, {"aw_watched": lambda module: seen.append(module.value)}
    )
    monkeypatch.setattr(sys, "meta_path", [watcher, *sys.meta_path])
    import aw_other
    import aw_watched

    assert (
        (before, seen) == ([0], [1]) and aw_other.value == 2 and not isinstance(aw_watched.__loader__, watching.Around)
    )
    for name in ("aw_watched", "aw_other"):
        sys.modules.pop(name)
