"""The drivers of Kubernetes, by kubectl, against a small API server over HTTP: what they write, that it is refused when stale, and idempotent."""

import json
import shutil
import urllib.request

import pytest

from anywarp.deploy.rollout.drivers.driver import driver
from anywarp.deploy.rollout.traffic import Traffic
from anywarp.diagnostics import AnywarpError

from .plans import plan
from .servers import Api, free_port, serving

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")

ROUTE = "/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes/llm"
SERVICE = "/apis/networking.istio.io/v1/namespaces/default/virtualservices/llm"
CANARY = "/apis/serving.kserve.io/v1beta1/namespaces/default/inferenceservices/llm"
ROLLOUT = "/apis/argoproj.io/v1alpha1/namespaces/default/rollouts/llm"
TEMPLATES = "/apis/argoproj.io/v1alpha1/namespaces/default/analysistemplates"

OBJECTS = {
    ROUTE: {
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "llm"},
        "spec": {"rules": [{"backendRefs": [{"name": "nvidia", "port": 8000}, {"name": "amd", "port": 8000, "weight": 0}]}]},
    },
    SERVICE: {
        "apiVersion": "networking.istio.io/v1", "kind": "VirtualService", "metadata": {"name": "llm"},
        "spec": {"hosts": ["llm"], "http": [{
            "route": [{"destination": {"host": "nvidia"}, "weight": 100}, {"destination": {"host": "amd"}, "weight": 0}],
            "mirror": {"host": "amd"}, "mirrorPercentage": {"value": 10},
        }]},
    },
    CANARY: {
        "apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService", "metadata": {"name": "llm"},
        "spec": {"predictor": {"model": {"modelFormat": {"name": "huggingface"}}, "canaryTrafficPercent": 0}},
    },
    ROLLOUT: {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {"name": "llm"}, "status": {}},
}  # fmt: skip

DRIVERS = {
    ROUTE: "{kind: gateway-api, route: llm, source_service: nvidia, target_service: amd}",
    SERVICE: "{kind: istio, virtual_service: llm, source_host: nvidia, target_host: amd}",
    CANARY: "{kind: kserve, service: llm}",
}


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    api = Api(OBJECTS)
    with serving(api.handler()) as port:
        settings = {
            "apiVersion": "v1", "kind": "Config", "current-context": "c", "users": [{"name": "u", "user": {}}],
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        }  # fmt: skip
        (tmp_path / "config").write_text(json.dumps(settings))
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
        yield api


def weights(api, path):
    spec = api.objects[path]["spec"]
    if path == ROUTE:
        return [ref["weight"] for ref in spec["rules"][0]["backendRefs"]]
    if path == SERVICE:
        return [d["weight"] for d in spec["http"][0]["route"]]
    return [spec["predictor"]["canaryTrafficPercent"]]


@pytest.mark.parametrize(
    "path, share, wanted",
    [
        (ROUTE, 0.01, [9900, 100]),
        (ROUTE, 1.0, [0, 10000]),
        (SERVICE, 0.25, [75, 25]),
        (SERVICE, 0.001, [99, 1]),
        (CANARY, 0.05, [5]),
    ],
)
def test_weights_are_written_once_and_read_back(cluster, tmp_path, path, share, wanted):
    one = driver(plan(driver=DRIVERS[path]), tmp_path)
    assert path in one.check()
    one.apply(Traffic("stage", share))
    assert weights(cluster, path) == wanted
    assert one.read() == pytest.approx(wanted[-1] / (sum(wanted) if len(wanted) > 1 else 100))
    written = len(cluster.written)
    one.apply(Traffic("stage", share))
    assert len(cluster.written) == written == 1
    one.apply(Traffic("back", 0.0))
    assert one.read() == 0


def test_rest_of_the_object_stays_and_the_mirror_goes(cluster, tmp_path):
    driver(plan(driver=DRIVERS[SERVICE]), tmp_path).apply(Traffic("some", 0.1))
    http = cluster.objects[SERVICE]["spec"]["http"][0]
    assert set(http) == {"route"} and cluster.objects[SERVICE]["spec"]["hosts"] == ["llm"]


def test_change_by_somebody_else_meanwhile_is_not_lost(cluster, tmp_path):
    def meddle(api):
        api.after_read = None
        changed = json.loads(json.dumps(api.objects[ROUTE]))
        changed["spec"]["hostnames"] = ["added.example"]
        api.store(ROUTE, changed)

    cluster.after_read = meddle
    driver(plan(driver=DRIVERS[ROUTE]), tmp_path).apply(Traffic("some", 0.5))
    assert cluster.conflicts == 1
    assert cluster.objects[ROUTE]["spec"]["hostnames"] == ["added.example"] and weights(cluster, ROUTE) == [5000, 5000]


def test_dry_run_shows_a_patch_and_writes_nothing(cluster, tmp_path):
    shown = driver(plan(driver=DRIVERS[ROUTE]), tmp_path).describe(Traffic("some", 0.05))
    assert '"weight": 500' in shown and cluster.written == []


@pytest.mark.parametrize(
    "given, says",
    [
        (DRIVERS[ROUTE].replace("amd", "intel"), "no backend intel"),
        (DRIVERS[ROUTE].replace("route: llm,", "route: llm, rule: 3,"), "no rule 3"),
        (DRIVERS[ROUTE].replace("route: llm", "route: other"), "NotFound"),
    ],
)
def test_what_the_object_lacks_is_said(cluster, tmp_path, given, says):
    with pytest.raises(AnywarpError, match=says) as caught:
        driver(plan(driver=given), tmp_path).apply(Traffic("some", 0.05))
    assert caught.value.diagnostic.code == "Y075"


def test_argo_gets_its_template_and_asks_for_results(cluster, tmp_path):
    port = free_port()
    given = (
        f'{{kind: argo-rollouts, rollout: llm, metrics_listen: "127.0.0.1:{port}", metrics_url: "http://anywarp:8082"}}'
    )
    one = driver(plan(driver=given), tmp_path)
    try:
        one.apply(Traffic("10 %", 0.1))
        template = cluster.objects[f"{TEMPLATES}/anywarp-chat"]
        assert (
            template["spec"]["metrics"][0]["provider"]["web"]["url"] == "http://anywarp:8082/gate?stage={{args.stage}}"
        )

        def ask():
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/gate?stage=10%20%25", timeout=5) as answer:
                return json.loads(answer.read())["result"]

        assert ask() == "open"
        one.answer("10 %", "pass")
        assert ask() == "pass"
        cluster.objects[ROLLOUT]["status"] = {"canary": {"weights": {"canary": {"weight": 10}}}}
        assert one.read() == 0.1
        one.apply(Traffic("10 %", 0.0))
        assert ask() == "fail"
    finally:
        one.close()
