"""Where NVIDIA's driver library lies, and which of its GPUs this machine has.

Nothing of it is loaded here: the program does that, through a library of ours that passes calls on when they are to be traced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from anywarp import settings
from anywarp.devices.device import DeviceInfo
from anywarp.diagnostics import AnywarpError, Diagnostic

LIBRARY = "libcuda.so.1"

FOLDERS = (
    "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib/wsl/lib", "/usr/lib/x86_64-linux-gnu/nvidia/current", "/usr/lib",
    "/usr/local/nvidia/lib64", "/run/opengl-driver/lib",
)  # fmt: skip
"""Where distributions, containers and WSL put the driver's libraries."""

CARDS = Path("/proc/driver/nvidia/gpus")
"""One folder for each GPU, with a file `information`, where NVIDIA's kernel module is loaded."""


def find_driver(environment: Mapping[str, str] | None = None) -> Path:
    """Return the path of NVIDIA's driver library; AnywarpError D016 when there is none."""
    given = settings.NVIDIA_DRIVER.get(environment)
    if given is not None:
        if given.is_file():
            return given.absolute()
        raise _none(f"{given} (ANYWARP_NVIDIA_DRIVER) is not there")
    for folder in FOLDERS:
        place = Path(folder) / LIBRARY
        if place.is_file():
            return place.resolve()
    raise _none("this machine has no NVIDIA driver library")


def _none(why: str) -> AnywarpError:
    return AnywarpError(
        Diagnostic(
            "D016",
            f"the device 'cuda' needs an NVIDIA GPU and its driver: {why}",
            help="run on the processor (--device cpu), or set ANYWARP_NVIDIA_DRIVER to the path of the driver's libcuda.so.1",
        )
    )


def cards(folder: Path = CARDS) -> tuple[DeviceInfo, ...]:
    """Return the GPUs that NVIDIA's kernel module tells of; how much memory they have it does not say (0)."""
    return tuple(_cards(folder))


def _cards(folder: Path) -> Iterator[DeviceInfo]:
    try:
        places = sorted(folder.iterdir())
    except OSError:
        return
    for place in places:
        try:
            lines = (place / "information").read_text(errors="replace").splitlines()
        except OSError:
            continue
        facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
        yield DeviceInfo(facts.get("Model", "NVIDIA GPU"), 0, (place.name,))
