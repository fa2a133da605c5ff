"""The Helm chart of the webhook, which comes with the package: so that chart and program are of one release."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from anywarp import __version__
from anywarp.deploy.webhook import codes

CHART = Path(__file__).resolve().parent / "chart"
"""The folder of the chart as it lies in the package; its version is written in when it is copied out."""


def write(folder: Path) -> Path:
    """Copy the chart to a folder that is not there yet, with this release's version; AnywarpError (Y115) where it cannot be written."""
    try:
        os.mkdir(folder)
        for path in sorted(CHART.rglob("*")):
            target = folder / path.relative_to(CHART)
            if path.is_dir():
                target.mkdir()
            elif path.name == "Chart.yaml":
                target.write_text(path.read_text(encoding="utf-8").replace("0.0.0", __version__), encoding="utf-8")
            else:
                shutil.copyfile(path, target)
    except OSError as error:
        text = f"the chart cannot be written to {folder}: {error.strerror}"
        raise codes.problem(codes.UNREADABLE, text, "name a folder that is not there yet") from error
    return folder
