"""torch.utils.cpp_extension: CUDA sources are compiled by `anywarp nvcc` and linked against what stands for torch's CUDA libraries."""

# pyright: basic
from __future__ import annotations

from pathlib import Path
from typing import Any

from anywarp import settings
from anywarp.frameworks.torch import load, patches


@patches.when_imported("torch.utils.cpp_extension")
def _built_by_us(module: Any) -> None:
    import torch

    from anywarp.frameworks.torch import extensions, found
    from anywarp.toolchain import cuda_home

    chosen = settings.environment()
    if not (chosen.get("CUDA_HOME") or chosen.get("CUDA_PATH")):
        home = str(cuda_home.make())
        patches.set_attribute(
            module, "CUDA_HOME", home, "CUDA sources are compiled by anywarp nvcc, unless CUDA_HOME says otherwise"
        )

    include_paths = module.include_paths

    def include_paths_with_ours(*args: Any, **kwargs: Any) -> list[str]:
        paths = include_paths(*args, **kwargs)
        return [*paths, str(extensions.headers())] if _for_cuda(args, kwargs) else paths

    patches.set_attribute(
        module,
        "include_paths",
        include_paths_with_ours,
        "torch's headers for CUDA include some that neither it nor our toolkit has",
    )
    if load.over_cuda is not None:  # it has the libraries of its own
        return
    this = found.read(Path(torch.__file__).parent)
    library_paths, prepare = module.library_paths, module._prepare_ldflags

    def library_paths_with_ours(*args: Any, **kwargs: Any) -> list[str]:
        paths = library_paths(*args, **kwargs)
        return [*paths, _libraries()] if _for_cuda(args, kwargs) else paths

    def prepare_with_ours(flags: Any, with_cuda: bool, *rest: Any, **kwargs: Any) -> Any:
        made = prepare(flags, with_cuda, *rest, **kwargs)
        return [*made, f"-L{_libraries()}"] if with_cuda else made

    def _libraries() -> str:
        place = extensions.make(this)
        extensions.load(this)
        return str(place)

    ours = "libc10_cuda and libtorch_cuda are ours; a CPU build of torch has none"
    patches.set_attribute(module, "library_paths", library_paths_with_ours, ours)
    patches.set_attribute(module, "_prepare_ldflags", prepare_with_ours, ours)


def _for_cuda(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Tell whether paths for CUDA are asked for: by the name of the device, or by a flag before torch 2.6."""
    asked = args[0] if args else kwargs.get("device_type", kwargs.get("cuda", False))
    return asked in ("cuda", True)
