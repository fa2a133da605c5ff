"""Tasks of a Kubernetes cluster: an Indexed Job for each batch, by the user's own kubectl.

The batch is a ConfigMap, or lies on a volume that all pods see. Which task is meant, Kubernetes puts into the arguments itself
(`$(JOB_COMPLETION_INDEX)`): no shell runs, and nothing of a task's command line is in the Job. Without a volume results come as lines of the pods' logs.
Sources: kubernetes.io, Jobs (completion mode, backoff limit per index); Define Environment Dependent Variables (`$$(X)` is not expanded).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

from anywarp.deploy.fleet import outcome as outcomes
from anywarp.deploy.fleet.problems import RUNNER, problem
from anywarp.deploy.fleet.runners.runner import Seen
from anywarp.deploy.rollout.drivers.cluster import Cluster as Objects
from anywarp.diagnostics import AnywarpError

if TYPE_CHECKING:
    from anywarp.deploy.fleet.folder import Batch, Folder
    from anywarp.deploy.fleet.plan import Cluster

T = TypeVar("T")
GPUS = {"hip": "amd.com/gpu", "cuda": "nvidia.com/gpu"}
"""The resource that a device's GPUs are."""

_MOUNT = "/anywarp-fleet"
_INDEX = "batch.kubernetes.io/job-completion-index"
_MOST_MAP = 1 << 20
_KEPT = 86_400  # seconds that a Job stays after its end


class KubernetesRunner:
    """Creates Jobs, and asks for their pods and logs."""

    settle = 10.0

    def __init__(self, machine: Cluster, folder: Folder) -> None:
        self._machine, self._folder = machine, folder
        self._objects = Objects(machine.namespace, machine.context)

    def submit(self, batch: Batch) -> str:
        """Create the batch's ConfigMap, where there is no volume, and its Job; return the Job's name."""
        if self._machine.volume is None:
            made = self.map(batch)
            if len(made["data"]["batch.json"].encode()) > _MOST_MAP:
                raise problem(
                    RUNNER,
                    "the batch is larger than a ConfigMap holds (1 MiB)",
                    "give the machine a volume in the plan",
                )
            _told(lambda: self._objects.create(self._core("configmaps"), made))
        _told(lambda: self._objects.create(self._objects.path("batch", "v1", "jobs"), self.job(batch)))
        return _name(batch)

    def map(self, batch: Batch) -> dict[str, Any]:
        """Return the ConfigMap that holds a batch."""
        text = self._folder.batch_place(batch.id).read_text(encoding="utf-8")
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": self._about(batch), "data": {"batch.json": text}}

    def job(self, batch: Batch) -> dict[str, Any]:
        """Return the Job of a batch."""
        machine = self._machine
        pod: dict[str, Any] = {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "containers": [self._container(batch)],
            "volumes": [{"name": "fleet", **self._volume(batch)}],
        }
        if machine.node_selector:
            pod["nodeSelector"] = dict(machine.node_selector)
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": self._about(batch),
            "spec": {
                "completionMode": "Indexed",
                "completions": len(batch.tasks),
                "parallelism": min(len(batch.tasks), machine.at_once),
                "backoffLimitPerIndex": 0,  # what failed is tried again by us, in another batch
                "maxFailedIndexes": len(batch.tasks),
                "ttlSecondsAfterFinished": _KEPT,
                "template": {"metadata": {"labels": {"app.kubernetes.io/name": "anywarp-fleet"}}, "spec": pod},
            },
        }

    def _container(self, batch: Batch) -> dict[str, Any]:
        machine = self._machine
        place = f"{_MOUNT}/batch.json" if machine.volume is None else f"{machine.volume.folder}/batches/{batch.id}.json"
        words = [
            *machine.anywarp,
            "fleet",
            "task",
            "--in",
            machine.work_folder,
            *["--print"] * (machine.volume is None),
            place,
        ]
        limits = dict(machine.resources)
        for task in batch.tasks:
            if task.device in GPUS and task.gpus:
                limits[GPUS[task.device]] = str(task.gpus)
        return {
            "name": "task",
            "image": machine.image,
            "command": [*(word.replace("$(", "$$(") for word in words), "$(JOB_COMPLETION_INDEX)"],
            "volumeMounts": [
                {"name": "fleet", "mountPath": _MOUNT if machine.volume is None else machine.volume.mount}
            ],
            "resources": {"limits": limits},
        }

    def _volume(self, batch: Batch) -> dict[str, Any]:
        volume = self._machine.volume
        if volume is None:
            return {"configMap": {"name": _name(batch)}}
        return {"persistentVolumeClaim": {"claimName": volume.claim}}

    def _about(self, batch: Batch) -> dict[str, Any]:
        labels = {"app.kubernetes.io/name": "anywarp-fleet", "app.kubernetes.io/managed-by": "anywarp"}
        return {"name": _name(batch), "namespace": self._machine.namespace, "labels": labels}

    def find(self, batch: Batch) -> str | None:
        """Return the name of the batch's Job where there is one."""
        return None if self._job_now(_name(batch)) is None else _name(batch)

    def look(self, batch: Batch, ticket: str) -> Mapping[int, Seen]:
        """Return where the pods of each index are; take results from the logs of those that ended."""
        job = self._job_now(ticket)
        if job is None:
            return {number: Seen("ended", "its Job is gone from the cluster") for number in range(len(batch.tasks))}
        query = urlencode({"labelSelector": f"job-name={ticket}"})
        pods = _told(lambda: self._objects.get(f"{self._core('pods')}?{query}")).get("items", [])
        over = _over(job)
        found = {number: Seen("ended", over) if over else Seen("waiting") for number in range(len(batch.tasks))}
        for pod in pods:
            number = str(pod.get("metadata", {}).get("annotations", {}).get(_INDEX, ""))
            if number.isdecimal() and int(number) in found:
                found[int(number)] = self._seen(batch, int(number), pod)
        return found

    def _seen(self, batch: Batch, number: int, pod: Mapping[str, Any]) -> Seen:
        phase = pod.get("status", {}).get("phase")
        if phase not in ("Succeeded", "Failed"):
            return Seen("running" if phase == "Running" else "waiting")
        name, key = str(pod["metadata"]["name"]), batch.tasks[number].key
        why = f"the pod {name} {_end(pod)}"
        if (
            self._machine.volume is None
            and key not in self._folder.done()
            and not self._folder.failed_in(key, batch.id)
        ):
            text = _told(lambda: self._objects.text(f"{self._core('pods')}/{name}/log"))
            outcome = outcomes.from_log(text.splitlines(), f"the log of {name}")
            if outcome is not None and outcome.key == key:
                self._folder.write(outcome, batch.id)
            why += f"; its log ends with: {text[-300:].strip()!r}" if text.strip() else ""
        return Seen("ended", why)

    def _job_now(self, name: str) -> dict[str, Any] | None:
        try:
            return _told(lambda: self._objects.get(self._objects.path("batch", "v1", "jobs", name)))
        except AnywarpError as error:
            if "NotFound" in error.diagnostic.message or "not found" in error.diagnostic.message:
                return None
            raise

    def _core(self, plural: str) -> str:
        return f"/api/v1/namespaces/{self._machine.namespace}/{plural}"

    def close(self) -> None:
        """Leave the Jobs: they go on without us."""


def _name(batch: Batch) -> str:
    return f"anywarp-fleet-{batch.id}"


def _over(job: Mapping[str, Any]) -> str:
    """Return how a Job ended, "" where it has not."""
    for one in job.get("status", {}).get("conditions", []):
        if one.get("type") in ("Complete", "Failed") and one.get("status") == "True":
            return f"its Job is {str(one['type']).lower()}: {one.get('message', '') or one.get('reason', '')}"[:300]
    return ""


def _end(pod: Mapping[str, Any]) -> str:
    for one in pod.get("status", {}).get("containerStatuses", []):
        ended = one.get("state", {}).get("terminated")
        if ended:
            return f"ended with exit code {ended.get('exitCode')} ({ended.get('reason', 'no reason told')})"
    return f"ended: {pod.get('status', {}).get('reason') or pod.get('status', {}).get('phase')}"


def _told(ask: Callable[[], T]) -> T:
    """Return what a cluster answers; its errors are a runner's."""
    try:
        return ask()
    except AnywarpError as error:
        help = (
            "see `kubectl cluster-info`, and that your role may create and read jobs, configmaps, pods and their logs"
        )
        raise problem(RUNNER, error.diagnostic.message, help) from None
