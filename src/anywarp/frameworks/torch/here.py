"""Serving the process that asks for it, instead of one that `anywarp run` starts.

The environment of this process becomes what `anywarp run` would have given it, so that its child processes are served too.
"""

from __future__ import annotations

import sys
from pathlib import Path

from anywarp import settings
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.frameworks.torch import found, hook, load, messages
from anywarp.runtime import launch


def serve() -> None:
    """Make the next `import torch` find the stand-in; nothing happens when it is there already.

    AnywarpError: F008 when torch has been imported without it, R020 when our libraries are missing.
    """
    if load.library is not None or load.over_cuda is not None:
        return
    present = sys.modules.get("torch")
    origin = getattr(present, "__file__", None)
    if origin is not None and not _is_served_otherwise(Path(origin).parent):
        raise AnywarpError(
            Diagnostic(
                "F008",
                "torch was imported before anywarp.torch, and has settled by then that there is no `cuda`",
                help="put `import anywarp.torch` (`%load_ext anywarp`) before the first import of torch and of what imports "
                "torch; in a notebook, restart the kernel first",
            )
        )
    before = settings.environment()
    after = launch.environment(settings.DEVICE.get(), before)
    settings.export({name: value for name, value in after.items() if before.get(name) != value})
    hook.install()


def _is_served_otherwise(folder: Path) -> bool:
    """Tell whether the torch that is imported is a vendor's build, or too old: neither waits for us; it is said once."""
    try:
        found.check(found.read(folder))
    except AnywarpError as error:
        messages.say_once(error.diagnostic)
        return True
    return False
