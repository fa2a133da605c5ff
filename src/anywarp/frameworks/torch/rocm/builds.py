"""A torch that cannot use the GPU: a build for CUDA or for the processor alone, or one for ROCm without code for this GPU.

The errors that follow name neither: "Found no NVIDIA driver", https://github.com/Comfy-Org/ComfyUI/issues/2058; "invalid device function",
https://github.com/pytorch/pytorch/issues/164346, https://github.com/ROCm/TheRock/issues/1184 (a Radeon 780M that hangs as a gfx1100).
Nothing is chosen for the user: taking a GPU for another may hang it.
"""

from __future__ import annotations

from anywarp import settings
from anywarp.devices.hip import software, topology
from anywarp.diagnostics import Diagnostic
from anywarp.frameworks.torch import found, messages

VARIABLE = "HSA_OVERRIDE_GFX_VERSION"
TAKEN_FOR = {
    "gfx1031": ("gfx1030", "10.3.0"), "gfx1032": ("gfx1030", "10.3.0"), "gfx1034": ("gfx1030", "10.3.0"), "gfx1035": ("gfx1030", "10.3.0"),
    "gfx1036": ("gfx1030", "10.3.0"), "gfx1101": ("gfx1100", "11.0.0"), "gfx1150": ("gfx1151", "11.5.1"), "gfx1200": ("gfx1201", "12.0.1"),
}  # fmt: skip
"""Architectures that others report to run the code of another (issues above, ROCm/legacy-rocm-build 2536), and the value that says so. gfx1102 and gfx1103 have
fewer registers than gfx1100 and may hang with its kernels (ROCm/legacy-rocm-build 4557): they are not here."""


def examine(torch: found.Torch) -> None:
    """Say once what will not work with this torch and these GPUs (F030, F031); nothing where there is no GPU."""
    gpus = sorted({gpu.architecture for gpu in topology.processors(topology.NODES)})
    if not gpus:
        return
    if torch.vendor != "ROCm":
        kind = f"a build for {torch.vendor}" if torch.vendor else "a build for the processor"
        text = (
            f"torch {torch.version} in {torch.folder} is {kind}: it does not compute on the AMD GPU ({', '.join(gpus)})"
        )
        help = "anywarp env make lays a build for ROCm beside this environment"
        messages.say_once(Diagnostic("F030", text, severity="warning", help=help))
        return
    built = software.architectures_of(torch.folder)
    for gpu in gpus:
        if built and gpu not in built and VARIABLE not in settings.environment():
            have = ", ".join(sorted(built))
            text = f"torch {torch.version} has no code for {gpu}, only for {have}: kernels end with `invalid device function`"
            messages.say_once(Diagnostic("F031", text, severity="warning", help=_way_out(gpu, built)), gpu)


def _way_out(gpu: str, built: frozenset[str]) -> str:
    like, value = TAKEN_FOR.get(gpu, ("", ""))
    if like in built:
        return f"a build of torch that has {gpu}; or {VARIABLE}={value}, with which others run the code of {like} on it"
    return f"a build of torch that has {gpu}: taking it for another by {VARIABLE} is not known to work and may hang the machine"
