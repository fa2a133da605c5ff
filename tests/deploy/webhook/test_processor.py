"""Pods for the device cpu: no GPU is asked for, and anywarp starts what the pod starts, where the image is known to carry it."""

import copy

import kubernetes_validate
import pytest

from anywarp.deploy.convert.model import Options
from anywarp.deploy.webhook.review import Rules, answer
from anywarp.migrate.target import Target
from deploy.webhook.reviews import POD, patched, response, review, without_notes

CUDA, OURS = POD["spec"]["containers"][0]["image"], "registry.example/cuda-anywarp:1"
RULES = Rules(Options(target=Target("cpu"), images={CUDA: OURS}))
START = ["/opt/anywarp/bin/anywarp", "run", "--device", "cpu", "--"]


def converted(pod, rules=RULES):
    said = answer(review(pod), rules)
    return said, without_notes(patched(pod, response(said.data)))


def test_a_pod_asks_for_no_gpu_and_starts_through_anywarp():
    said, after = converted(POD)
    (container,) = after["spec"]["containers"]
    assert said.outcome == "converted"
    assert container["image"] == OURS
    assert container["command"] == [*START, *POD["spec"]["containers"][0]["command"]]
    assert container["resources"] == {"limits": {"memory": "1Gi"}}
    assert [one["name"] for one in container["env"]] == ["CUDA_VISIBLE_DEVICES", "OTHER"]
    assert "runtimeClassName" not in after["spec"] and "tolerations" not in after["spec"]
    kubernetes_validate.validate(after, kubernetes_validate.latest_version())


def test_asked_again_nothing_changes():
    once = patched(POD, response(answer(review(POD), RULES).data))
    assert answer(review(once), RULES).outcome == "unchanged"


def test_without_a_wrapped_image_the_whole_pod_stays_as_it_is():
    said, after = converted(POD, Rules(Options(target=Target("cpu"))))
    assert after == POD and said.outcome == "unchanged" and said.left == 1
    warnings = response(said.data)["warnings"]
    assert "anywarp image wrap" in warnings[0] and "/spec/containers/0/image" in warnings[0]


def test_a_container_beside_that_asks_for_nothing_stays():
    pod = copy.deepcopy(POD)
    side = {"name": "proxy", "image": "envoy:1", "command": ["envoy"], "resources": {"limits": {"cpu": "1"}}}
    pod["spec"]["containers"].append(side)
    assert converted(pod)[1]["spec"]["containers"][1] == side


def test_an_image_that_starts_by_itself_gets_no_command():
    pod = copy.deepcopy(POD)
    del pod["spec"]["containers"][0]["command"]
    assert "command" not in converted(pod)[1]["spec"]["containers"][0]


def term(*keys):
    return {"matchExpressions": [{"key": key, "operator": "Exists"} for key in keys]}


@pytest.mark.parametrize(
    ("terms", "left"),
    [
        ([term("nvidia.com/gpu.present")], None),
        ([term("nvidia.com/gpu.present", "zone")], [term("zone")]),
        # Terms are alternatives: one that only asked for a GPU admits every node, so all may go.
        ([term("nvidia.com/gpu.present"), term("zone")], None),
        ([term("zone")], [term("zone")]),
    ],
)
def test_affinity_to_nodes_with_gpus_goes_and_other_affinity_stays(terms, left):
    pod = copy.deepcopy(POD)
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    pod["spec"]["affinity"] = {"nodeAffinity": required}
    pod["spec"]["nodeSelector"] = {"nvidia.com/gpu.product": "X", "disk": "ssd"}
    spec = converted(pod)[1]["spec"]
    assert spec["nodeSelector"] == {"disk": "ssd"}
    if left is None:
        assert "affinity" not in spec
    else:
        found = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        assert found == {"nodeSelectorTerms": left}


def test_a_claim_for_a_device_is_left_to_a_person():
    pod = copy.deepcopy(POD)
    pod["spec"]["containers"][0]["resources"] = {"claims": [{"name": "gpu"}]}
    said, after = converted(pod)
    assert after == pod and said.left == 1
