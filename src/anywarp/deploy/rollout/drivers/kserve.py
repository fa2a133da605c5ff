"""KServe's canary: `spec.predictor.canaryTrafficPercent` of an InferenceService whose newest revision is the target.

KServe keeps the revision before, the source, as `status.components.predictor.previousRolledoutRevision`, and drops it once the percentage is gone; so
it stays in the object until the rollout is over, at 100 too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anywarp.deploy.rollout.drivers.cluster import Cluster, missing
from anywarp.deploy.rollout.drivers.weights import ObjectDriver, percent_of
from anywarp.deploy.rollout.plan import KserveDriver, Plan
from anywarp.deploy.rollout.traffic import Traffic


class Kserve(ObjectDriver):
    """An InferenceService."""

    def __init__(self, settings: KserveDriver) -> None:
        self._settings = settings
        cluster = Cluster(settings.namespace, settings.context)
        super().__init__(cluster, cluster.path("serving.kserve.io", "v1beta1", "inferenceservices", settings.service))

    def _predictor(self, found: dict[str, Any]) -> dict[str, Any]:
        predictor = found.get("spec", {}).get("predictor")
        if not isinstance(predictor, dict):
            raise missing("predictor", f"InferenceService {self._settings.service}")
        return predictor  # pyright: ignore[reportUnknownVariableType]

    def change(self, found: dict[str, Any], traffic: Traffic) -> bool:
        """Set the canary's percentage."""
        predictor, wanted = self._predictor(found), percent_of(traffic.share)
        changed = predictor.get("canaryTrafficPercent") != wanted
        predictor["canaryTrafficPercent"] = wanted
        return changed

    def share(self, found: dict[str, Any]) -> float | None:
        """Return the latest revision's share as the status has it; what was asked for where there is no status yet."""
        wanted = self._predictor(found).get("canaryTrafficPercent")
        entries: list[dict[str, Any]] = (
            found.get("status", {}).get("components", {}).get("predictor", {}).get("traffic") or []
        )
        latest: list[float] = [entry.get("percent", 0) for entry in entries if entry.get("latestRevision")]
        if latest:
            return sum(latest) / 100
        return None if wanted is None else wanted / 100


def make(plan: Plan, folder: Path) -> Kserve:
    """Return the driver of a plan."""
    assert isinstance(plan.driver, KserveDriver)
    return Kserve(plan.driver)
