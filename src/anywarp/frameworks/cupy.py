"""CuPy: its kernels include CUDA's headers, which it looks for in a toolkit; where there is none, it finds ours."""

# pyright: basic
from __future__ import annotations

from anywarp import settings
from anywarp.frameworks import watching
from anywarp.frameworks.torch import patches


def name_a_toolkit() -> None:
    """Set CUDA_PATH to our folder that is laid out as a toolkit, unless the user names one."""
    given = settings.environment()
    if given.get("CUDA_PATH") or given.get("CUDA_HOME"):
        return
    from anywarp.toolchain import cuda_home

    settings.export({"CUDA_PATH": str(cuda_home.make())})
    patches.write_down(
        "CUDA_PATH", False, "CuPy's kernels include our headers of CUDA, unless CUDA_PATH says otherwise"
    )


def install() -> watching.Watcher:
    """Put the watcher in force, once, and return it."""
    return watching.install(__name__, watching.Watcher(before={"cupy": name_a_toolkit}))
