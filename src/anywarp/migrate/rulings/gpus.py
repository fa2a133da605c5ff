"""GPUs that containers are given: by options of docker and podman, and by services of compose.

AMD GPUs are devices of the host, for the group that may open them; which of them a number means differs from host to host, so that
numbers are left to a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from anywarp.migrate.formats.outline import Node

GIVEN = {"devices": ("/dev/kfd", "/dev/dri"), "group_add": ("video",), "security_opt": ("seccomp:unconfined",)}
"""What gives a service of compose all AMD GPUs of a host; a program that traces memory needs the unconfined profile."""
OPTIONS = "--device /dev/kfd --device /dev/dri --group-add video --security-opt seccomp=unconfined"
"""The same as options of `docker run`."""
_LOOK_UP = "which cards are meant by {!r} must be looked up: render nodes start at 128, one per card"
_OPTION_HELP = "give --device /dev/kfd and one --device /dev/dri/renderD<n> per card, or --device amd.com/gpu=<n> with AMD's container toolkit"
_SERVICE_HELP = "give /dev/kfd and one /dev/dri/renderD<n> per card under `devices:`"
_OF_DRIVER = "a device or a file of NVIDIA's driver, which AMD's is given in another way"
_EVERY = ("all", '"all"', "nvidia.com/gpu=all")
_RESERVED = ("deploy", "resources", "reservations")


@dataclass(frozen=True, slots=True)
class Asked:
    """A way in which a container is asked to have GPUs: `how` is gpus, runtime, device or reservation; `value` what is asked for.

    `left`: why a person must see to it, with what to do (`help`); "" where all GPUs of the host take its place. In a service of compose
    `key` names the service's part and `node` is the place.
    """

    how: str
    value: str
    left: str = ""
    help: str = ""
    key: str = ""
    node: Node | None = None


def is_runtime(name: str) -> bool:
    """Tell whether a container runtime is one of NVIDIA's: nvidia, nvidia-legacy, nvidia-cdi."""
    return name.startswith("nvidia")


def option(name: str, value: str) -> Asked | None:
    """Return what an option of `docker run` asks for; None where it does not ask for NVIDIA's GPUs."""
    if name == "--gpus":
        return Asked("gpus", value, *_unless_all(value))
    if name == "--runtime" and is_runtime(value):
        return Asked("runtime", value)
    if name == "--device" and value.startswith("nvidia.com/"):
        return Asked("device", value, *_unless_all(value))
    if name == "--device" and "nvidia" in value:
        return Asked("device", value, _OF_DRIVER, _OPTION_HELP)
    return None


def _unless_all(value: str) -> tuple[str, str]:
    return ("", "") if value in _EVERY else (_LOOK_UP.format(value), _OPTION_HELP)


def of_service(service: Node) -> list[Asked]:
    """Return what a service of compose asks for. Where a person must see to one of them, the others wait for that."""
    asked = list(_of_service(service))
    reasons = [one for one in asked if one.left]
    have = [name for name in GIVEN if service.get(name) is not None]
    if reasons:
        waits = "goes together with what is left beside it: " + reasons[0].left
        return [one if one.left else replace(one, left=waits, help=_SERVICE_HELP) for one in asked]
    if have:
        help = f"take this out, and add {listed()} to what is there"
        return [replace(one, left=f"the service has {', '.join(have)} already", help=help) for one in asked]
    return asked


def listed() -> str:
    """Return in words what gives a service all GPUs."""
    return "; ".join(f"{name}: {', '.join(values)}" for name, values in GIVEN.items())


def _of_service(service: Node) -> Iterator[Asked]:
    for name, value in service.pairs:
        if name.text == "runtime" and is_runtime(value.real().text):
            yield Asked("runtime", value.real().text, key="runtime", node=value)
        elif name.text == "gpus":
            text = value.real().text
            left = "" if text == "all" else "which cards are meant must be looked up"
            yield Asked("gpus", text, left, _SERVICE_HELP if left else "", "gpus", name)
        elif name.text in ("devices", "volumes"):
            for entry in value.real().entries:
                if "nvidia" in entry.text:
                    yield Asked("device", entry.text, _OF_DRIVER, _SERVICE_HELP, name.text, entry)
    yield from _reserved(service)
    generic = service.at(*_RESERVED, "generic_resources")
    for _, value in generic.walk() if generic is not None else ():
        if re.search(r"(?i)gpu", value.text):
            left = "a resource of Swarm's, by the name that the node's owner gave it"
            yield Asked(
                "reservation",
                value.text,
                left,
                "give the name that nodes with AMD GPUs have",
                "generic_resources",
                value,
            )


def _reserved(service: Node) -> Iterator[Asked]:
    devices = service.items(*_RESERVED, "devices")
    wanted = [device for device in devices if _is_gpu(device)]
    left = next((reason for device in wanted if (reason := _numbered(device))), "")
    if not left and len(wanted) < len(devices):
        left = "other devices are reserved beside"
    for device in wanted:
        driver = device.get("driver")
        count = device.value("count") or ", ".join(entry.text for entry in device.items("device_ids"))
        yield Asked(
            "reservation",
            count,
            left,
            _SERVICE_HELP if left else "",
            "deploy",
            driver if driver is not None else device,
        )


def _is_gpu(device: Node) -> bool:
    """Tell whether a reserved device is a GPU of NVIDIA's: by its driver, by what it can do, by CDI's name for it (Compose, Deploy specification)."""
    driver = device.value("driver")
    if driver == "cdi":
        return any(entry.text.startswith("nvidia.com/") for entry in device.items("device_ids"))
    return driver == "nvidia" or (not driver and "gpu" in [one.text for one in device.items("capabilities")])


def _numbered(device: Node) -> str:
    if device.get("device_ids") is not None:
        return "cards are named by number, and AMD's are named by their render nodes"
    if device.value("count") not in ("", "all"):
        return f"{device.value('count')} of the cards are asked for, and devices are given by name"
    return ""
