"""The drivers of objects in a cluster: what is common to them."""

from __future__ import annotations

import json
from typing import Any

from anywarp.deploy.rollout.drivers.cluster import Cluster
from anywarp.deploy.rollout.traffic import Traffic


class ObjectDriver:
    """Moves traffic by changing one object of a cluster; subclasses say which, and what in it."""

    def __init__(self, cluster: Cluster, path: str) -> None:
        self._cluster, self._path = cluster, path

    def change(self, found: dict[str, Any], traffic: Traffic) -> bool:
        """Change the object for a division in place; say whether anything changed."""
        raise NotImplementedError

    def share(self, found: dict[str, Any]) -> float | None:
        """Return the target's share that an object says."""
        raise NotImplementedError

    def check(self) -> str:
        """Say which cluster is used, after its object was read and understood."""
        version = self._cluster.version()
        self.share(self._cluster.get(self._path))
        return f"{self._path}, cluster {version}"

    def apply(self, traffic: Traffic) -> None:
        """Change the object, where it does not say so already."""
        self._cluster.change(self._path, lambda found: self.change(found, traffic))

    def read(self) -> float | None:
        """Return what the object says now."""
        return self.share(self._cluster.get(self._path))

    def describe(self, traffic: Traffic) -> str:
        """Return a merge patch, by the object as it is now."""
        found = self._cluster.get(self._path)
        before = json.loads(json.dumps(found))
        self.change(found, traffic)
        patch = {key: value for key, value in found.items() if before.get(key) != value}
        return f"# kubectl patch --type=merge, of {self._path}\n{json.dumps(patch, indent=2)}\n"

    def answer(self, stage: str, result: str) -> None:
        """Nobody asks."""

    def close(self) -> None:
        """Hold nothing."""

    def stop(self) -> None:
        """Leave the object as it is."""


def percent_of(share: float) -> int:
    """Return a share as whole percents, at least 1 where it is above 0 and at most 99 where it is below 1."""
    whole = round(100 * share)
    return min(max(whole, 1 if share > 0 else 0), 99 if share < 1 else 100)
