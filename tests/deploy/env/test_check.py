"""`anywarp env check`: whatever changed since packages were laid beside an environment is one clear line."""

import os
import shutil
from pathlib import Path

import pytest

from fakes import wheels


def uninstall(environment, name, version):
    shutil.rmtree(environment.packages / f"{name}-{version}.dist-info")
    shutil.rmtree(environment.packages / name)


def replaced_by_pip(environment, overlay):
    uninstall(environment, "torch", "2.10.0+cu128")
    environment.install("torch", "2.11.0+cu128", wheels.torch("2.11.0+cu128", cuda="12.8"))
    return "torch 2.10.0+cu128 has been replaced by 2.11.0+cu128 since"


def installed_anew(environment, overlay):
    environment.install("torch", "2.10.0+cu128", {**wheels.torch("2.10.0+cu128", cuda="12.8"), "torch/new.py": ""})
    return "torch 2.10.0+cu128 has been installed anew since"


def removed(environment, overlay):
    uninstall(environment, "torchvision", "0.25.0+cu128")
    return "torchvision 0.25.0+cu128 has been removed since"


def half_installed(environment, overlay):
    (environment.packages / "torch-2.10.0+cu128.dist-info" / "METADATA").unlink()
    return "torch 2.10.0+cu128 is half installed: it has no METADATA any more"


def a_file_lost(environment, overlay):
    lost = environment.packages / "torch" / "lib" / "libtorch_cpu.so"
    lost.unlink()
    return f"torch 2.10.0+cu128 is half installed: {lost} is missing or cut short; install it again"


def interrupted(environment, overlay):
    (environment.packages / "~orch").mkdir()
    return f"~orch in {environment.packages} is what an interrupted pip left of *orch: install that again"


def twice(environment, overlay):
    environment.install("torchvision", "0.26.0+cu128")
    return f"torchvision is installed twice in {environment.packages}, 0.25.0+cu128 and 0.26.0+cu128: uninstall it, then install it again"


def overlay_gone(environment, overlay):
    shutil.rmtree(overlay)
    return f"its overlay {overlay} is gone"


def overlay_cut(environment, overlay):
    (overlay / "torch" / "version.py").write_text("")
    return "torch 2.10.0+rocm7.1 of its overlay is damaged: torch/version.py is missing or cut short"


def overlay_open(environment, overlay):
    os.chmod(overlay, 0o777)
    return f"its overlay {overlay} is not yours alone"


def came_since(environment, overlay):
    environment.install("onnxruntime-gpu", "1.27.1")
    return "onnxruntime-gpu 1.27.1 came since, and onnxruntime-migraphx==1.27.1 would be laid before it"


CHANGES = (
    replaced_by_pip, installed_anew, removed, half_installed, a_file_lost, interrupted, twice, overlay_gone, overlay_cut,
    overlay_open, came_since,
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_is_one_line(env, environment, record, change):
    assert env("make").returncode == 0
    line = change(environment, Path(record()["overlay"]))
    done = env("check")
    assert line in done.stdout.splitlines(), done
    assert done.returncode == 1


def test_what_fits_is_told_with_its_release(env, environment):
    env("make")
    done = env("check")
    assert done.returncode == 0
    assert done.stdout == f"fits: 3 packages for ROCm 7.1 beside {environment.folder.resolve()}\n"


def test_nothing_laid_is_said(env):
    done = env("check")
    assert done.returncode == 2 and "error[Y063]: nothing has been laid beside" in done.stderr


DAMAGED = ("", "{}", "[]", '{"format": 9}', "[" * 100_000, '{"format": 1, "prefix": 1}')


def test_a_damaged_record_is_told(env, environment, surroundings):
    env("make")
    place = Path(
        f"{surroundings['ANYWARP_CACHE_DIR']}/overlays/environments{environment.folder.resolve()}/anywarp-overlay.json"
    )
    assert place.exists()
    for text in DAMAGED:
        place.write_text(text)
        for verb in ("check", "list"):
            done = env(verb)
            assert done.returncode in (1, 2), (text[:20], done)
            assert "cannot be used" in done.stdout + done.stderr and "Traceback" not in done.stderr, (text[:20], done)
