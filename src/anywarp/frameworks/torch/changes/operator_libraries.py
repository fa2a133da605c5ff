"""torch.ops.load_library: a library of operators that was built for a CUDA build of torch gets libc10_cuda and libtorch_cuda of ours."""

# pyright: basic
from __future__ import annotations

from pathlib import Path
from typing import Any

from anywarp.diagnostics import AnywarpError
from anywarp.frameworks.torch import messages, patches


@patches.when_imported("torch._ops")
def _with_what_it_needs(module: Any) -> None:
    before = module._Ops.load_library

    def load_library(self: Any, path: Any) -> None:
        """Load a library as torch does; again, after those that only a CUDA build has, where the loader misses one of them."""
        try:
            before(self, path)
        except OSError as error:
            if not _made_for(error):
                raise
            before(self, path)

    patches.set_attribute(
        module._Ops, "load_library", load_library, "a CPU build of torch has no libc10_cuda and libtorch_cuda; ours are"
    )


def _made_for(error: OSError) -> bool:
    """Load our libraries if one of them is what the loader did not find; tells whether they are there."""
    import torch

    from anywarp.frameworks.torch import extensions, found

    words = str(error.__cause__ or error)
    if not words.startswith((f"{extensions.C10}:", f"{extensions.TORCH}:")):
        return False
    this = found.read(Path(torch.__file__).parent)
    try:
        extensions.make(this)
    except AnywarpError as failed:
        messages.say_once(failed.diagnostic)
        return False
    return extensions.load(this)
