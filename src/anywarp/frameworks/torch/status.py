"""What `anywarp doctor` says of the torch that is installed, without importing it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from anywarp.diagnostics import AnywarpError
from anywarp.frameworks.torch import binary, found
from anywarp.runtime.checkup import Fact

PART, NAME = "software", "torch cuda"


def status() -> Fact | None:
    """Return whether `cuda` is a device of the torch of this Python, or will be at its first use; None without torch."""
    spec = importlib.util.find_spec("torch")
    folder = Path(spec.origin).parent if spec is not None and spec.origin else None
    if folder is None or not found.is_torch(folder):
        return None
    try:
        torch = found.read(folder)
        ready = binary.ready(torch)
        if ready is not None:
            return Fact(PART, NAME, "ok", f"served under anywarp run, by {ready}")
        binary.compiler()
    except AnywarpError as error:
        left_alone = error.diagnostic.severity == "note"
        return Fact(PART, NAME, "absent" if left_alone else "warning", error.diagnostic.message, error.diagnostic.help)
    return Fact(PART, NAME, "ok", f"served under anywarp run; compiled for torch {torch.version} at its first use")
