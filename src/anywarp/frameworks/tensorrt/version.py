"""Which TensorRT the interface is: that of the package installed, else the one of `ANYWARP_TENSORRT`."""

# pyright: basic
from __future__ import annotations

from importlib import metadata

from anywarp import settings

WIDE_SINCE = 10
"""The first version in which int64 goes in and out as such."""


def version() -> str:
    """Return the version that programs see."""
    if wanted := settings.TENSORRT.get():
        return wanted
    try:
        return metadata.version("tensorrt")
    except metadata.PackageNotFoundError:
        return settings.TENSORRT_VERSION


def is_wide() -> bool:
    """Tell whether int64 goes in and out as such."""
    return int(version().partition(".")[0]) >= WIDE_SINCE
