"""Weights and mirror of a VirtualService (Istio, `spec.http[].route[].weight` in whole percents, `mirror`, `mirrorPercentage`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anywarp.deploy.rollout.drivers.cluster import Cluster, missing
from anywarp.deploy.rollout.drivers.weights import ObjectDriver, percent_of
from anywarp.deploy.rollout.plan import IstioDriver, Plan
from anywarp.deploy.rollout.traffic import Traffic


class Istio(ObjectDriver):
    """A VirtualService whose http route names both destinations.

    The mirror stays off: Istio throws mirrored answers away, while the comparing proxy reads them; with both, the target would work twice.
    """

    def __init__(self, settings: IstioDriver) -> None:
        self._settings = settings
        cluster = Cluster(settings.namespace, settings.context)
        super().__init__(
            cluster, cluster.path("networking.istio.io", "v1", "virtualservices", settings.virtual_service)
        )

    def _http(self, found: dict[str, Any]) -> dict[str, Any]:
        routes: Any = found.get("spec", {}).get("http") or []
        if len(routes) <= self._settings.route:
            raise missing(f"http route {self._settings.route}", f"VirtualService {self._settings.virtual_service}")
        return routes[self._settings.route]

    def _pair(self, found: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        http, settings, pair = self._http(found), self._settings, list[dict[str, Any]]()
        every: list[dict[str, Any]] = http.get("route") or []
        wanted = ((settings.source_host, settings.source_subset), (settings.target_host, settings.target_subset))
        for host, subset in wanted:
            named = [
                d for d in every
                if d.get("destination", {}).get("host") == host and d["destination"].get("subset") == subset
            ]  # fmt: skip
            if len(named) != 1:
                raise missing(
                    f"destination {host}{'/' + subset if subset else ''}", f"VirtualService {settings.virtual_service}"
                )
            pair.append(named[0])
        if len(every) != 2:
            raise missing("traffic for these two destinations alone", f"VirtualService {settings.virtual_service}")
        return pair[0], pair[1]

    def change(self, found: dict[str, Any], traffic: Traffic) -> bool:
        """Set both weights, in whole percents, and take a mirror to the target off."""
        source, target = self._pair(found)
        http, wanted = self._http(found), percent_of(traffic.share)
        mirrored = http.get("mirror", {}).get("host") == self._settings.target_host
        changed = (source.get("weight"), target.get("weight")) != (100 - wanted, wanted) or mirrored
        source["weight"], target["weight"] = 100 - wanted, wanted
        if mirrored:
            http.pop("mirror")
            http.pop("mirrorPercentage", None)
        return changed

    def share(self, found: dict[str, Any]) -> float | None:
        """Return the target's weight over the sum."""
        source, target = (d.get("weight", 0) for d in self._pair(found))
        return target / (source + target) if source + target else None


def make(plan: Plan, folder: Path) -> Istio:
    """Return the driver of a plan."""
    assert isinstance(plan.driver, IstioDriver)
    return Istio(plan.driver)
