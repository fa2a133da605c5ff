"""Asking the program's own Python, before the program starts, whether its torch has the accelerator."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.frameworks.torch.accelerators import load

QUESTION = """
import json, sys
name = sys.argv[1]
try:
    import torch
except ImportError as error:
    print(json.dumps({"error": str(error)}))
    sys.exit()
try:
    known = torch.device(name).type == name and hasattr(torch, name)
except RuntimeError:
    known = False
module = getattr(torch, name, None)
print(json.dumps({"version": torch.__version__, "place": torch.__file__, "known": known, "available": bool(known and module.is_available())}))
"""

NAMED = ("xpu", "mps", "npu")
"""Accelerators that are asked for by name wherever there is a torch; another name is, where a package registers itself with torch."""

PATIENCE = 300.0
"""Seconds; importing torch takes a few, more on a busy machine."""


def may_be(name: str, prefix: str, path: str) -> bool:
    """Tell, without importing anything, whether `name` may be an accelerator of the torch below `prefix`; `path` is PYTHONPATH.

    Vendors' packages are loaded by torch through entry points of the group `torch.backends` (its page "Autoloading Mechanism").
    """
    if name in NAMED:
        return True
    folders = [*Path(prefix).glob("lib/python3*/*-packages"), *(Path(each) for each in path.split(":") if each)]
    files = (file for folder in folders for file in folder.glob("*.dist-info/entry_points.txt"))
    return any("[torch.backends]" in file.read_text(encoding="utf-8", errors="replace") for file in files)


def require(name: str, prefix: str, environment: Mapping[str, str]) -> None:
    """Return when the torch of the Python below `prefix` has a device `name`; AnywarpError (F020, F021) when it has none."""
    python = Path(prefix) / "bin" / "python3"
    command = [str(python), "-c", QUESTION, name]
    try:
        done = subprocess.run(
            command, env=dict(environment), capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL
        )
        said = json.loads(done.stdout.strip().rpartition("\n")[2])
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise _no_torch(name, prefix, f"{python} cannot be asked: {error}") from error
    if "error" in said:
        raise _no_torch(name, prefix, said["error"])
    if not said["available"]:
        raise AnywarpError(load.absent(name, said["version"], said["place"], said["known"]))


def _no_torch(name: str, prefix: str, why: str) -> AnywarpError:
    text = f"no device {name!r}: it is none of anywarp's own, and the Python in {prefix} has no torch that could have it ({why})"
    return AnywarpError(
        Diagnostic("F020", text, help="put the program's own environment first on PATH; anywarp doctor lists devices")
    )
