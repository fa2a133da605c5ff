"""The comparing proxy divides the requests itself: what it does is in its control file, which `control.py` writes at every change."""

from __future__ import annotations

from pathlib import Path

from anywarp.deploy.rollout.control import read_control
from anywarp.deploy.rollout.plan import Plan
from anywarp.deploy.rollout.traffic import Traffic


class ProxyDriver:
    """Has nothing to do beside the control file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def check(self) -> str:
        """Say what is used."""
        return "the comparing proxy, by its control file"

    def apply(self, traffic: Traffic) -> None:
        """Leave it to the control file, which is written with every division."""

    def read(self) -> float | None:
        """Return what the control file says."""
        return read_control(self._folder)

    def describe(self, traffic: Traffic) -> str:
        """Return the control file's text."""
        return f'{{"stage": "{traffic.stage}", "target_share": {traffic.share:g}, "sample": {traffic.compare:g}}}'

    def answer(self, stage: str, result: str) -> None:
        """Nobody asks."""

    def close(self) -> None:
        """Hold nothing."""

    def stop(self) -> None:
        """End nothing: whoever started the proxy ends it."""


def make(plan: Plan, folder: Path) -> ProxyDriver:
    """Return the driver of a plan."""
    return ProxyDriver(folder)
