"""What every driver of traffic does, and how one is chosen."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Protocol

from anywarp.deploy.rollout.plan import Plan
from anywarp.deploy.rollout.traffic import Traffic


class Driver(Protocol):
    """Puts a division of the traffic into effect. Errors are AnywarpErrors (Y075) that say what to do."""

    def check(self) -> str:
        """Say in words what will be used, such as a program with its version; AnywarpError where something is missing."""
        ...

    def apply(self, traffic: Traffic) -> None:
        """Put a division into effect; the same again changes nothing."""
        ...

    def read(self) -> float | None:
        """Return the target's share that is in effect; None where that cannot be known."""
        ...

    def describe(self, traffic: Traffic) -> str:
        """Return what `apply` would do, as text that a person can read and use: a configuration or a patch."""
        ...

    def answer(self, stage: str, result: str) -> None:
        """Take the gates' result for a stage (pass, fail, open), for systems that ask for it."""
        ...

    def close(self) -> None:
        """Let go of what this process holds; the traffic stays as it is."""
        ...

    def stop(self) -> None:
        """End what was started for the rollout, when it is over."""
        ...


_MODULES = {
    "haproxy": "haproxy",
    "proxy": "proxy",
    "gateway-api": "gateway",
    "argo-rollouts": "argo",
    "kserve": "kserve",
    "istio": "istio",
}


def driver(plan: Plan, folder: Path) -> Driver:
    """Return the driver that a plan names; `folder` is the rollout's own."""
    made: Driver = importlib.import_module(f"anywarp.deploy.rollout.drivers.{_MODULES[plan.driver.kind]}").make(
        plan, folder
    )
    return made
