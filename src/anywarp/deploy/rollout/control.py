"""The control file: what the comparing proxy is told of the stage, replaced whole at each change."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from anywarp.deploy.rollout.traffic import Traffic

NAME = "control.json"


def write_control(folder: Path, traffic: Traffic) -> None:
    """Put the control file of a rollout in place of the one there; docs/contracts.md has its keys."""
    told = {
        "stage": traffic.stage,
        "target_share": traffic.share,
        "sample": traffic.compare,
        "replay": "other" if traffic.compare else "none",
    }
    handle, name = tempfile.mkstemp(dir=folder, prefix=".control-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(told))
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(folder / NAME)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read_control(folder: Path) -> float | None:
    """Return the target's share that the control file names; None where there is none."""
    try:
        return float(json.loads((folder / NAME).read_text(encoding="utf-8"))["target_share"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
