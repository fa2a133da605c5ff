"""Argo Rollouts moves the traffic by its own steps; it asks us what the gates say, by a web metric of an AnalysisTemplate that we write.

Stage k of the plan is its k-th step `setWeight` with the analysis after it. `pass` lets Argo go on, `fail` makes it abort and go back, `open`
is inconclusive and asked again (`consecutiveSuccessLimit`, in Argo Rollouts from 1.8 on).
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from anywarp.deploy.rollout.drivers.cluster import Cluster
from anywarp.deploy.rollout.drivers.weights import percent_of
from anywarp.deploy.rollout.plan import ArgoDriver, Plan
from anywarp.deploy.rollout.problems import DRIVER, problem
from anywarp.deploy.rollout.traffic import Traffic

_GROUP, _VERSION = "argoproj.io", "v1alpha1"


class Argo:
    """A Rollout of Argo's that follows our gates."""

    def __init__(self, plan: Plan, settings: ArgoDriver) -> None:
        self._plan, self._settings = plan, settings
        self._cluster = Cluster(settings.namespace, settings.context)
        self._results: dict[str, str] = {}
        self._reverting = False
        self._server: ThreadingHTTPServer | None = None

    def check(self) -> str:
        """Say which Rollout follows, after it was read."""
        version = self._cluster.version()
        self._cluster.get(self._path())
        return f"Rollout {self._settings.rollout} of Argo Rollouts, cluster {version}"

    def _path(self) -> str:
        return self._cluster.path(_GROUP, _VERSION, "rollouts", self._settings.rollout)

    def apply(self, traffic: Traffic) -> None:
        """Write the template and answer; a share of nothing after a stage is a failure, on which Argo goes back itself."""
        self._serve()
        self._cluster.put(self._cluster.path(_GROUP, _VERSION, "analysistemplates"), self.template())
        if traffic.share == 0 and traffic.stage != "shadow":
            self._reverting = True
        elif traffic.stage in self._results and self._results[traffic.stage] != "open":
            self._results[traffic.stage] = "open"

    def read(self) -> float | None:
        """Return the canary's weight as the Rollout's status has it."""
        status: Any = self._cluster.get(self._path()).get("status", {})
        weight = status.get("canary", {}).get("weights", {}).get("canary", {}).get("weight")
        if weight is None and (status.get("abort") or status.get("currentStepIndex") in (None, 0)):
            return 0.0
        return None if weight is None else float(weight) / 100

    def describe(self, traffic: Traffic) -> str:
        """Return the AnalysisTemplate and the steps that the Rollout needs."""
        steps: list[dict[str, Any]] = []
        for stage in self._plan.stages:
            if stage.kind == "share":
                steps.append({"setWeight": percent_of(stage.share)})
                arguments = [{"name": "stage", "value": stage.title}]
                steps.append({"analysis": {"templates": [{"templateName": self._name()}], "args": arguments}})
        return (
            f"# AnalysisTemplate, written by `run`\n{json.dumps(self.template(), indent=2)}\n"
            f"# spec.strategy.canary.steps of Rollout {self._settings.rollout}, yours to write\n{json.dumps(steps, indent=2)}\n"
        )

    def _name(self) -> str:
        return f"anywarp-{self._plan.name.lower().replace('_', '-').replace('.', '-')}"

    def template(self) -> dict[str, Any]:
        """Return the AnalysisTemplate that asks us."""
        url = f"{self._settings.metrics_url.rstrip('/')}/gate?stage={{{{args.stage}}}}"
        metric = {
            "name": "gates",
            "interval": "10s",
            "successCondition": 'result == "pass"',
            "failureCondition": 'result == "fail"',
            "failureLimit": 0,
            "inconclusiveLimit": 1_000_000,
            "consecutiveErrorLimit": 30,
            "consecutiveSuccessLimit": 1,
            "provider": {"web": {"url": url, "jsonPath": "{$.result}", "timeoutSeconds": 5}},
        }
        return {
            "apiVersion": f"{_GROUP}/{_VERSION}",
            "kind": "AnalysisTemplate",
            "metadata": {"name": self._name(), "namespace": self._settings.namespace},
            "spec": {"args": [{"name": "stage"}], "metrics": [metric]},
        }

    def answer(self, stage: str, result: str) -> None:
        """Keep a stage's result for Argo."""
        self._results[stage] = result

    def result(self, stage: str) -> str:
        """Return what Argo is told of a stage; open before the gates were asked."""
        return "fail" if self._reverting else self._results.get(stage, "open")

    def _serve(self) -> None:
        if self._server is not None:
            return
        host, _, port = self._settings.metrics_listen.rpartition(":")
        driver = self

        class Answers(BaseHTTPRequestHandler):
            timeout = 10

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                stage = (parse_qs(parts.query).get("stage") or [""])[0]
                found = parts.path == "/gate" and bool(stage)
                body = json.dumps(
                    {"stage": stage, "result": driver.result(stage)} if found else {"error": "ask /gate?stage=..."}
                ).encode()
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        try:
            self._server = ThreadingHTTPServer((host.strip("[]"), int(port)), Answers)
        except OSError as error:
            raise problem(
                DRIVER,
                f"cannot listen on {self._settings.metrics_listen}: {error.strerror}",
                "choose another `metrics_listen` in the plan",
            ) from error
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop answering."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def stop(self) -> None:
        """Leave the objects as they are."""


def make(plan: Plan, folder: Path) -> Argo:
    """Return the driver of a plan."""
    assert isinstance(plan.driver, ArgoDriver)
    return Argo(plan, plan.driver)
