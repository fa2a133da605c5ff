"""Jobs of Kubernetes, by kubectl, against a small API server whose pods are processes of ours; and their manifests against Kubernetes' schemas."""

import json
import os
import shutil
import subprocess
from urllib.parse import parse_qs

import pytest

from anywarp.cli.main import call
from anywarp.deploy.fleet.folder import Folder
from anywarp.deploy.fleet.plan import Cluster, Volume
from anywarp.deploy.fleet.runners.kubernetes import KubernetesRunner
from anywarp.deploy.fleet.tasks import Task
from deploy.rollout.servers import Api, serving

from .conftest import WORDS

JOBS, MAPS, PODS = "/apis/batch/v1/namespaces/team/jobs", "/api/v1/namespaces/team/configmaps", "/api/v1/namespaces/team/pods"  # fmt: skip
VOLUME = Volume(claim="shared", mount="/shared", folder="/shared/fleets/x")


def runner(folder, **other):
    machine = Cluster(
        kind="kubernetes",
        namespace="team",
        image="registry.example/anywarp:1",
        node_selector={"gpu": "mi300"},
        resources={"memory": "8Gi"},
        **other,
    )
    return KubernetesRunner(machine, folder)  # fmt: skip


def batch_of(folder, device="hip", gpus=2, count=3):
    tasks = [
        Task(f"{n:032x}", "e", "bench", "kubernetes", ("bench", "$(X)"), "/", 9.0, device, gpus) for n in range(count)
    ]
    return folder.add("kubernetes", tasks)


@pytest.mark.parametrize("volume", [None, VOLUME], ids=["logs", "volume"])
def test_manifests_are_what_kubernetes_takes(tmp_path, volume):
    validate = pytest.importorskip("kubernetes_validate").validate
    folder = Folder(tmp_path, make=True)
    one, batch = runner(folder, volume=volume, anywarp=["anywarp", "$(HOME)"]), batch_of(folder)
    job = one.job(batch)
    validate(json.loads(json.dumps(job)), "1.34", strict=True)
    validate(one.map(batch), "1.34", strict=True)
    pod = job["spec"]["template"]["spec"]
    container = pod["containers"][0]
    assert container["resources"]["limits"] == {"memory": "8Gi", "amd.com/gpu": "2"} and pod["nodeSelector"] == {
        "gpu": "mi300"
    }
    assert container["command"][:2] == ["anywarp", "$$(HOME)"] and container["command"][-1] == "$(JOB_COMPLETION_INDEX)"
    assert (job["spec"]["completionMode"], job["spec"]["completions"], job["spec"]["backoffLimitPerIndex"]) == (
        "Indexed",
        3,
        0,
    )
    assert ("--print" in container["command"]) == (volume is None)


def test_gpus_are_those_of_the_device(tmp_path):
    folder = Folder(tmp_path, make=True)
    limits = [
        runner(folder).job(batch_of(folder, device, 1))["spec"]["template"]["spec"]["containers"][0]["resources"][
            "limits"
        ]
        for device in ("cuda", "cpu")
    ]
    assert limits == [{"memory": "8Gi", "nvidia.com/gpu": "1"}, {"memory": "8Gi"}]


class Jobs(Api):
    """Runs the pods of a Job at once, as processes, and keeps their logs; index 0 of the first Job is killed by its node."""

    def __init__(self, folder):
        super().__init__({})
        self.place, self.logs, self.pods, self.lost = folder, {}, {}, True

    def store(self, path, body):
        super().store(path, body)
        if path.startswith(JOBS):
            name, spec = body["metadata"]["name"], body["spec"]["template"]["spec"]
            data = self.objects[f"{MAPS}/{spec['volumes'][0]['configMap']['name']}"]["data"]
            (self.place / "batch.json").write_text(data["batch.json"])
            self.pods[name] = [self.pod(name, spec, index) for index in range(body["spec"]["completions"])]
            body["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}

    def pod(self, job, spec, index):
        name, lost, self.lost = f"{job}-{index}-x", self.lost, False
        words = [
            word.replace("$(JOB_COMPLETION_INDEX)", str(index)).replace("/anywarp-fleet/", f"{self.place}/")
            for word in spec["containers"][0]["command"]
        ]
        done = (
            subprocess.run([*WORDS, *words[1:]], capture_output=True, text=True, env=dict(os.environ))
            if not lost
            else None
        )
        self.logs[name] = done.stdout if done else "it began\n"
        ended = (
            {"exitCode": 137, "reason": "OOMKilled"} if lost else {"exitCode": done.returncode, "reason": "Completed"}
        )
        return {
            "metadata": {"name": name, "annotations": {"batch.kubernetes.io/job-completion-index": str(index)}},
            "status": {"phase": "Failed" if ended["exitCode"] else "Succeeded", "containerStatuses": [{"state": {"terminated": ended}}]},
        }  # fmt: skip

    def handler(self):
        api, given = self, super().handler()

        class Answers(given):
            def do_GET(self):
                path, _, query = self.path.partition("?")
                if path.startswith(PODS) and path.endswith("/log"):
                    body = api.logs[path.split("/")[-2]].encode()
                    self.send_response(200)
                    self.send_header("Content-Type", "text/plain")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                elif path == PODS:
                    self.answer(
                        200,
                        {
                            "kind": "PodList",
                            "apiVersion": "v1",
                            "items": api.pods.get(parse_qs(query)["labelSelector"][0].removeprefix("job-name="), []),
                        },
                    )
                else:
                    super().do_GET()

        return Answers


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_a_fleet_runs_in_pods_and_its_results_come_from_their_logs(tmp_path, monkeypatch, capsys):
    api = Jobs(tmp_path)
    with serving(api.handler()) as port:
        settings = {
            "apiVersion": "v1", "kind": "Config", "current-context": "c", "users": [{"name": "u", "user": {}}],
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        }  # fmt: skip
        (tmp_path / "config").write_text(json.dumps(settings))
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
        monkeypatch.setattr("anywarp.deploy.fleet.runners.kubernetes.KubernetesRunner.settle", 0.0)
        plan = tmp_path / "p.yaml"
        plan.write_text(
            f"version: 1\nname: k\nmachines: [{{kind: kubernetes, namespace: team, image: i, work_folder: {tmp_path}}}]\n"
            "entries:\n  - {name: a, verb: bench, command: [fine]}\n  - {name: b, verb: bench, command: [refuse]}\n"
        )
        assert call(["fleet", "run", str(plan), "--format", "json"]) == 1
    rows = {row["entry"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert (rows["a"]["state"], rows["b"]["state"], rows["b"]["failures"]) == ("done", "failed", 2)
    lost = (tmp_path / "k.fleet" / "attempts" / rows["a"]["key"]).glob("*.json")
    assert ["OOMKilled" in each.read_text() for each in lost] == [True]
    assert len([one for one in api.written if one["kind"] == "Job"]) == 2
