"""Devices that take part only when they are asked for: AMD GPUs in the emulator, with `-m amd_emulator`.

Then the tests that go through `devices.DEVICES` have `hip gfx942` and the others too, marked; `exclusions.tsv` of the emulator names
what it gets wrong, with the paragraph of the manual.
"""

from __future__ import annotations

import fnmatch
import os
import re
from pathlib import Path

import pytest

from semantics import devices

ARCHITECTURES = tuple(os.environ.get("ANYWARP_EMULATED", "gfx942,gfx1100").split(","))
ALL = {*devices.DEVICES, "cpu, pairs of warps"}
EXCLUSIONS = Path(__file__).parents[1] / "emulator/exclusions.tsv"


def _asked(config):
    return re.search(r"(?<!not )\bamd_emulator\b", config.option.markexpr or "") is not None


def pytest_configure(config):
    if not _asked(config) or "TINYGRAD" not in os.environ:
        return
    from semantics.emulated import run_emulated

    for arch in ARCHITECTURES:
        name, _, form = arch.partition("/")
        devices.DEVICES[f"hip {arch}"] = run_emulated(name, any_shape=form == "any")


def _of_devices(item):
    """Name the parameter that chooses among devices: a plain run has each row on the reference device and on one of the others."""
    parameters = getattr(item, "callspec", None)
    return [k for k, v in parameters.params.items() if isinstance(v, str) and v in ALL] if parameters else []


def _exclusions():
    lines = EXCLUSIONS.read_text().splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")][1:]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        for name in _of_devices(item):
            item.add_marker(pytest.mark.spread(name, always=("reference",)))
    if not _asked(config):
        return
    rows = _exclusions()
    for item in items:
        parameters = getattr(item, "callspec", None)
        if parameters and any(isinstance(v, str) and v.startswith("hip gfx") for v in parameters.params.values()):
            item.add_marker(pytest.mark.amd_emulator)
        for pattern, reason in rows:
            if fnmatch.fnmatchcase(
                item.nodeid.replace("[", "(").replace("]", ")"), pattern.replace("[", "(").replace("]", ")")
            ):
                item.add_marker(pytest.mark.skip(reason=f"emulator/exclusions.tsv: {reason}"))
