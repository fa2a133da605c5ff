"""The finder that waits for vLLM's libraries of operators: once one has registered its operators, ours take their place."""

# pyright: basic
from __future__ import annotations

from functools import partial
from typing import Any

from anywarp import settings
from anywarp.frameworks import watching

LIBRARIES = {
    "vllm._C_stable_libtorch": ("_C", "_C_cache_ops", "_C_custom_ar"),
    "vllm._moe_C_stable_libtorch": ("_moe_C",),
    "vllm.vllm_flash_attn._vllm_fa2_C": ("_vllm_fa2_C",),
}
"""By module of the wheel: the name spaces of torch in which it registers operators."""


def _registered(spaces: tuple[str, ...], _module: Any) -> None:
    from anywarp.frameworks.torch import load

    if load.over_cuda is None:
        return  # not on our processor: the library's own kernels run, or nothing of it does
    from anywarp.frameworks.vllm import serve

    for space in spaces:
        serve.take_the_place(space, load.over_cuda)


SETTINGS = {"VLLM_USE_FLASHINFER_SAMPLER": "0"}
"""What vLLM is told unless the user says otherwise. FlashInfer compiles its kernels for cards when they are first used; vLLM's own sampler is Triton's."""


def _settings(_module: Any) -> None:
    from anywarp.frameworks.torch import load, patches

    if load.over_cuda is None:
        return
    given = settings.environment()
    told = {name: value for name, value in SETTINGS.items() if name not in given}
    settings.export(told)
    for name, value in told.items():
        patches.write_down(
            f"{name}={value}", True, "FlashInfer compiles kernels for cards; vLLM has a sampler in Triton"
        )


def _memory(module: Any) -> None:
    from anywarp.frameworks.torch import load

    if load.over_cuda is None:
        return
    from anywarp.frameworks.vllm import memory

    memory.count_ours(module)


def _platform(module: Any) -> None:
    from anywarp.frameworks.torch import load, patches

    if load.over_cuda is None:
        return
    patches.set_attribute(
        module.CudaPlatformBase,
        "use_custom_allreduce",
        classmethod(lambda cls: False),
        "vLLM's own all-reduce is machine code for cards; NCCL's, which is ours, is taken",
    )
    from anywarp.frameworks.vllm import graphs

    patches.set_attribute(
        module.CudaPlatformBase,
        "check_and_update_config",
        graphs.without_compiled_collectives(module.CudaPlatformBase.check_and_update_config),
        graphs.REASON,
    )


def install() -> watching.Watcher:
    """Put the watcher in force, once, and return it."""
    after: dict[str, Any] = {module: partial(_registered, spaces) for module, spaces in LIBRARIES.items()}
    after |= {"vllm.envs": _settings, "vllm.utils.mem_utils": _memory, "vllm.platforms.cuda": _platform}
    return watching.install(__name__, watching.Watcher(after=after))
