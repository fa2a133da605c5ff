"""Reviews answered: a pod is converted as `anywarp convert` does it, once, and whatever is not understood is let through."""

import copy
import json
import random
from pathlib import PurePath

import jsonpatch
import kubernetes_validate
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from ruamel.yaml import YAML

from anywarp.deploy.convert.engine import convert
from anywarp.deploy.convert.model import Options
from anywarp.deploy.webhook import patch, pod_text
from anywarp.deploy.webhook.review import Rules, answer
from deploy.webhook.reviews import POD, patched, response, review, without_notes

AS_A_FILE = """\
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  namespace: team
  labels:
    app: trainer
spec:
  runtimeClassName: nvidia
  tolerations:
  - key: nvidia.com/gpu
    operator: Exists
    effect: NoSchedule
  containers:
  - name: main
    image: nvidia/cuda:12.4.1-base-ubuntu22.04
    command:
    - sh
    - -c
    - |
      nvidia-smi
      python train.py --text 'a: *b'
    env:
    - name: NVIDIA_VISIBLE_DEVICES
      value: all
    - name: CUDA_VISIBLE_DEVICES
      value: "0"
    - name: OTHER
      value: "yes"
    resources:
      limits:
        nvidia.com/gpu: 1
        memory: 1Gi
"""


def test_a_pod_becomes_what_convert_makes_of_its_manifest():
    said = answer(review(POD), Rules())
    after = without_notes(patched(POD, response(said.data)))
    assert YAML(typ="safe").load(AS_A_FILE) == POD
    assert after == YAML(typ="safe").load(convert(AS_A_FILE.encode(), PurePath("pod.yaml"), Options()).new.decode())
    assert said.outcome == "converted" and said.changes == 7
    # By AMD's device plugin and HIP's documentation, not by our rules:
    spec = after["spec"]
    assert "runtimeClassName" not in spec
    assert spec["containers"][0]["resources"]["limits"] == {"amd.com/gpu": 1, "memory": "1Gi"}
    assert [one["name"] for one in spec["containers"][0]["env"]] == ["HIP_VISIBLE_DEVICES", "OTHER"]
    kubernetes_validate.validate(after, kubernetes_validate.latest_version())


def test_what_was_done_stands_in_annotations_and_warnings():
    pod = copy.deepcopy(POD)
    pod["spec"]["nodeSelector"] = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}
    pod["metadata"]["annotations"] = {"mine": "stays"}
    told = response(answer(review(pod), Rules()).data)
    notes = patched(pod, told)["metadata"]["annotations"]
    assert notes["mine"] == "stays" and notes["anywarp/target"].startswith("hip:gfx942")
    assert "/spec/runtimeClassName: " in notes["anywarp/changed"]
    assert "/spec/nodeSelector/nvidia.com~1gpu.product: " in notes["anywarp/left"]
    assert any("gpu.product" in warning for warning in told["warnings"])
    assert all(len(warning) <= 256 for warning in told["warnings"])


def test_a_converted_pod_is_left_alone():
    once = patched(POD, response(answer(review(POD), Rules()).data))
    again = answer(review(once), Rules())
    told = response(again.data)
    assert again.outcome == "unchanged" and "patch" not in told and "warnings" not in told


def test_what_kubectl_and_the_api_server_keep_in_the_metadata_is_not_read():
    pod = copy.deepcopy(POD)
    kept = {
        "managedFields": [{"fieldsV1": {"f:spec": {"f:nvidia.com/gpu": {}}}}],
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": AS_A_FILE},
    }
    pod["metadata"] |= copy.deepcopy(kept)
    after = patched(pod, response(answer(review(pod), Rules()).data))
    assert after["metadata"]["managedFields"] == kept["managedFields"]
    assert after["metadata"]["annotations"].items() >= kept["annotations"].items()


def test_a_dry_run_changes_nothing_but_annotations():
    said = answer(review(POD), Rules(dry_run=True))
    after = patched(POD, response(said.data))
    assert said.outcome == "annotated" and without_notes(after) == POD
    assert "/spec/runtimeClassName" in after["metadata"]["annotations"]["anywarp/would-change"]
    assert "patch" not in response(answer(review(after), Rules(dry_run=True)).data)


def test_with_whole_a_pod_that_cannot_be_converted_whole_is_left_alone():
    pod = copy.deepcopy(POD)
    pod["spec"]["containers"][0]["image"] = "nvcr.io/nvidia/tritonserver:24.05-py3"
    said = answer(review(pod), Rules(whole=True))
    told = response(said.data)
    assert said.outcome == "incomplete" and "patch" not in told and "tritonserver" not in told
    assert "patch" in response(answer(review(pod), Rules()).data)
    assert "patch" in response(answer(review(POD), Rules(whole=True)).data)


@pytest.mark.parametrize("part", ["labels", "annotations"])
def test_a_pod_may_opt_out(part):
    pod = copy.deepcopy(POD)
    pod["metadata"][part] = {"anywarp/convert": "false"}
    assert answer(review(pod), Rules()).outcome == "opted-out"


@pytest.mark.parametrize(
    "changes",
    [
        {"operation": "UPDATE"},
        {"operation": "DELETE", "object": None},
        {"subResource": "ephemeralcontainers"},
        {"resource": {"group": "apps", "version": "v1", "resource": "deployments"}},
    ],
)
def test_other_requests_are_let_through_without_a_word(changes):
    said = answer(review(POD, **changes), Rules())
    told = response(said.data)
    assert said.outcome == "not-for-us" and "patch" not in told and "warnings" not in told


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"\xff\xfe"',
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}',
        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":5}}',
        b'{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{"uid":"a"}}',
        b"1e999",
        b'{"kind":"AdmissionReview","request":[1]}',
    ],
)
def test_what_is_no_review_gets_no_answer_and_says_why(data):
    said = answer(data, Rules())
    assert said.outcome == "no-review" and said.data == b"" and said.why


def deep(levels):
    value = "nvidia.com/gpu"
    for _ in range(levels):
        value = {"a": [value]}
    return value


def many(count):
    return {"containers": [{"name": str(n), "resources": {"limits": {"nvidia.com/gpu": n}}} for n in range(count)]}


@pytest.mark.parametrize(
    "spec",
    [
        deep(400),
        {"containers": [{"name": "x", "command": ["nvidia-smi \ud800"]}]},
        many(700),
        pytest.param(many(9_000), marks=pytest.mark.long),
        {"runtimeClassName": "nvidia", "containers": [{"name": "x", "args": ["\x00\x85\u2028nvidia\ufeff", "a\r\nb"]}]},
        {"runtimeClassName": "nvidia", "containers": {"name": "no list"}, "nodeSelector": ["x"], "tolerations": 7},
    ],
    ids=["deep", "half a character", "many", "thousands", "unprinted", "wrong types"],
)
@pytest.mark.parametrize("device", ["hip", "cpu"])
def test_hostile_pods_are_let_through(spec, device):
    rules = Rules(Options(target=Options().target if device == "hip" else cpu()))
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": spec}
    told = response(answer(review(pod), rules).data)
    if "patch" in told:
        patched(pod, told)
    assert len(json.dumps(told)) < 5 << 20


def cpu():
    from anywarp.migrate.target import Target

    return Target("cpu")


@pytest.mark.parametrize("count", [200, pytest.param(2000, marks=pytest.mark.long)])
def test_mangled_reviews_are_all_answered(count):
    seeded = random.Random(6)
    values = [
        None,
        True,
        0,
        -1,
        1e300,
        "",
        "nvidia.com/gpu",
        "\x00",
        "nvidia\n\n",
        [],
        {},
        [[]],
        {"": {}},
        "x" * 5000,
        ["nvidia"] * 50,
    ]
    rules = [Rules(), Rules(dry_run=True), Rules(Options(target=cpu()))]
    outcomes = set()
    for _ in range(count):
        pod = copy.deepcopy(POD)
        for _ in range(seeded.randrange(1, 6)):
            mangle(pod, seeded, values)
        told = answer(review(pod), seeded.choice(rules))
        outcomes.add(told.outcome)
        after = patched(pod, response(told.data))
        assert isinstance(after, dict)
    assert {"converted", "not-understood", "unchanged"} <= outcomes


def mangle(value, seeded, values):
    """Put something that does not belong there at a place chosen at random."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = seeded.choice(keys)
        if not isinstance(value[key], dict | list) or not value[key] or seeded.random() < 0.2:
            value[key] = copy.deepcopy(seeded.choice(values))
            return
        value = value[key]


# --- the parts -------------------------------------------------------------------------------------------------------------------

TEXTS = some.text(some.characters(exclude_categories=["Cs"]), max_size=20) | some.sampled_from(
    ["a\nb", "\n", " x\ny\n\n", "- a", "*a", "#", "yes", "1e3", "a: b", "\ta\nb", "x\n "]
)
VALUES = some.recursive(
    some.none()
    | some.booleans()
    | some.integers(-(2**40), 2**40)
    | some.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None)
@given(some.dictionaries(TEXTS, VALUES, min_size=1, max_size=4))
def test_a_pod_as_text_says_the_same_to_a_yaml_reader(value):
    try:
        text = pod_text.write(value).text
    except pod_text.NotPlain:
        return
    back = pod_text.read(text)
    # A float that YAML 1.2 takes for a text is caught by the check that a conversion makes of every pod.
    assert patch.same(back, value) or any(isinstance(one, float) for one in flat(value))


def flat(value):
    if isinstance(value, dict):
        return [each for one in value.values() for each in flat(one)]
    return [each for one in value for each in flat(one)] if isinstance(value, list) else [value]


@settings(max_examples=150, deadline=None)
@given(VALUES, VALUES)
def test_a_difference_applied_makes_the_new_value(old, new):
    holder = {"spec": old}
    after = jsonpatch.JsonPatch(list(patch.difference(holder, {"spec": new}))).apply(copy.deepcopy(holder))
    assert patch.same(after, {"spec": new})


def test_a_line_of_the_text_leads_back_to_its_place_in_the_pod():
    written = pod_text.write(POD)
    data = written.text.encode()
    assert written.pointer(data, data.index(b'"nvidia"')) == "/spec/runtimeClassName"
    assert (
        written.pointer(data, data.index(b'"nvidia.com/gpu": 1'))
        == "/spec/containers/0/resources/limits/nvidia.com~1gpu"
    )
    assert written.pointer(data, data.index(b"python train.py")) == "/spec/containers/0/command/2"
