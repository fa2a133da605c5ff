"""Weights of an HTTPRoute (Gateway API, `spec.rules[].backendRefs[].weight`: a backend's share is its weight over the rule's sum)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anywarp.deploy.rollout.drivers.cluster import Cluster, missing
from anywarp.deploy.rollout.drivers.weights import ObjectDriver
from anywarp.deploy.rollout.plan import GatewayDriver, Plan
from anywarp.deploy.rollout.traffic import Traffic

_WHOLE = 10_000


class Gateway(ObjectDriver):
    """An HTTPRoute whose rule names both services; other backends of the rule are refused, for their share would be nobody's."""

    def __init__(self, settings: GatewayDriver) -> None:
        self._settings = settings
        cluster = Cluster(settings.namespace, settings.context)
        super().__init__(cluster, cluster.path("gateway.networking.k8s.io", "v1", "httproutes", settings.route))

    def _backends(self, found: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        rules: Any = found.get("spec", {}).get("rules") or []
        if len(rules) <= self._settings.rule:
            raise missing(f"rule {self._settings.rule}", f"HTTPRoute {self._settings.route}")
        refs: list[dict[str, Any]] = rules[self._settings.rule].get("backendRefs") or []
        pair: list[dict[str, Any]] = []
        for name in (self._settings.source_service, self._settings.target_service):
            named = [ref for ref in refs if ref.get("name") == name]
            if len(named) != 1:
                raise missing(f"backend {name}", f"rule {self._settings.rule} of HTTPRoute {self._settings.route}")
            pair.append(named[0])
        if any(ref not in pair and ref.get("weight", 1) for ref in refs):
            raise missing(
                "traffic for these two services alone",
                f"rule {self._settings.rule} of HTTPRoute {self._settings.route}",
            )
        return pair[0], pair[1]

    def change(self, found: dict[str, Any], traffic: Traffic) -> bool:
        """Set both weights."""
        source, target = self._backends(found)
        wanted = round(traffic.share * _WHOLE)
        before = source.get("weight", 1), target.get("weight", 1)
        source["weight"], target["weight"] = _WHOLE - wanted, wanted
        return before != (source["weight"], target["weight"])

    def share(self, found: dict[str, Any]) -> float | None:
        """Return the target's weight over the sum; an absent weight is 1."""
        source, target = (ref.get("weight", 1) for ref in self._backends(found))
        return target / (source + target) if source + target else None


def make(plan: Plan, folder: Path) -> Gateway:
    """Return the driver of a plan."""
    assert isinstance(plan.driver, GatewayDriver)
    return Gateway(plan.driver)
