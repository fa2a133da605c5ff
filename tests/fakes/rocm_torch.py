"""A simulated torch for ROCm (or CUDA) and packages beside it, in a folder of their own, and Python as `anywarp run --device hip` starts it there.

The GPUs are those of a topology as amdgpu writes it (drivers/gpu/drm/amd/amdkfd); the simulated torch tells of the first.
"""

import os
import subprocess
import sys

from anywarp.runtime import launch
from fakes import wheels

TORCH = """
import types
class _Properties:
    def __init__(self): self.gcnArchName = {architecture!r} + ":sramecc+:xnack-"
class cuda:
    get_device_capability = staticmethod(lambda device=None: (9, 5))
    get_device_properties = staticmethod(lambda device=None: _Properties())
_C = types.ModuleType("torch._C")
_C.benchmark = {benchmark!r}
_C._get_cudnn_benchmark = lambda: _C.benchmark
def _set(value):
    if not isinstance(value, bool): raise TypeError("set_benchmark_cudnn expects a bool")
    _C.benchmark = value
_C._set_cudnn_benchmark = _set
"""
SEE = """import pathlib, sys
door = next(each for each in sys.meta_path if type(each).__name__ == "Door")
type(door).find_spec.__globals__["hook"]("anywarp.devices.hip.topology").NODES = pathlib.Path({nodes!r})
"""
"""Lets a program see the simulated GPUs: it is the one thing that has no door. The module `sitecustomize` is another where Python has one, as Debian's."""


def topology(folder, *architectures):
    """Write the nodes of KFD for GPUs such as gfx942, after one for the processor, and return their folder."""
    (folder / "0").mkdir(parents=True)
    (folder / "0" / "properties").write_text("cpu_cores_count 8\ngfx_target_version 0\n")
    for at, name in enumerate(architectures, 1):
        number = 10000 * int(name[3:-2]) + 100 * int(name[-2], 16) + int(name[-1], 16)
        (folder / str(at)).mkdir()
        (folder / str(at) / "properties").write_text(f"simd_count 64\nsimd_per_cu 4\ngfx_target_version {number}\n")
    return folder


def run(
    folder,
    code,
    hip="7.1",
    cuda=None,
    gpus=(),
    built=(),
    benchmark=False,
    scaled_mm=False,
    extra=None,
    arguments=(),
    **more,
):
    """Run code under a simulated torch 2.12.0 with `extra` files (name to text) beside it and return the finished process.

    `built`: the architectures that this torch has code for. What is named by keyword beyond is the environment.
    """
    files = wheels.torch("2.12.0", hip=hip, cuda=cuda)
    files["torch/__init__.py"] += TORCH.format(architecture=next(iter(gpus), "gfx950"), benchmark=benchmark)
    if scaled_mm:
        files["torch/__init__.py"] += "def _scaled_mm(self, mat2, scale_a, scale_b, **more): raise RuntimeError\n"
    files |= {f"torch/lib/rocblas/library/TensileLibrary_lazy_{each}.dat": "" for each in built}
    files |= extra or {}
    for name, text in files.items():
        place = folder / "packages" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    if gpus:
        code = SEE.format(nodes=str(topology(folder / "nodes", *gpus))) + code
    ours = ("ANYWARP_", "FLASH_", "PYTHON", "MIOPEN_", "BNB_", "VLLM_", "HSA_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    env |= {"PYTHONPATH": f"{launch.SITE}:{folder / 'packages'}", "ANYWARP_OVERLAYS": str(folder / "none"), **more}
    command = [sys.executable, "-B", "-c", code, *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
