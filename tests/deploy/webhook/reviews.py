"""Pods, and requests to make them as the API server sends them (Kubernetes, Dynamic Admission Control)."""

import base64
import copy
import json

import jsonpatch

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "trainer", "namespace": "team", "labels": {"app": "trainer"}},
    "spec": {
        "runtimeClassName": "nvidia",
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "containers": [
            {
                "name": "main",
                "image": "nvidia/cuda:12.4.1-base-ubuntu22.04",
                "command": ["sh", "-c", "nvidia-smi\npython train.py --text 'a: *b'\n"],
                "env": [
                    {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"},
                    {"name": "CUDA_VISIBLE_DEVICES", "value": "0"},
                    {"name": "OTHER", "value": "yes"},
                ],
                "resources": {"limits": {"nvidia.com/gpu": 1, "memory": "1Gi"}},
            }
        ],
    },
}


def review(pod, **changes):
    request = {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "operation": "CREATE",
        "object": pod,
    } | changes
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).encode()


def response(data):
    found = json.loads(data)
    assert found["apiVersion"] == "admission.k8s.io/v1" and found["kind"] == "AdmissionReview"
    assert found["response"]["allowed"] is True
    return found["response"]


def patched(pod, told):
    """Return the pod after the patch of a response, applied by a library that is not ours."""
    if "patch" not in told:
        return copy.deepcopy(pod)
    assert told["patchType"] == "JSONPatch"
    return jsonpatch.JsonPatch(json.loads(base64.b64decode(told["patch"]))).apply(copy.deepcopy(pod))


def without_notes(pod):
    out = copy.deepcopy(pod)
    out["metadata"].pop("annotations", None)
    return out
