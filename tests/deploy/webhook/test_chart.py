"""The chart: values that have a schema, objects that Kubernetes' schemas allow, and a webhook that can be in nobody's way."""

import json

import jsonschema
import kubernetes_validate
import pytest
from ruamel.yaml import YAML

from anywarp import __version__
from anywarp.deploy.webhook import chart_files
from anywarp.diagnostics import AnywarpError

IMAGE = {"image": {"repository": "registry.example/anywarp", "tag": "1"}}
VALUES = [
    IMAGE,
    IMAGE
    | {
        "target": "cpu", "dryRun": False, "whole": True, "rocm": "7.1", "card": "MI300X", "images": ["a=b"], "map": ["x=y:z"],
        "certificate": {"from": "cert-manager"}, "serviceMonitor": {"enabled": True},
        "networkPolicy": {"enabled": True, "apiServers": ["10.0.0.1/32"], "metricsFrom": [{"podSelector": {}}]},
    },
    IMAGE | {"certificate": {"from": "existing", "secretName": "mine", "caBundle": "QQ=="}, "failurePolicy": "Fail"},
]  # fmt: skip


def schema():
    return json.loads((chart_files.CHART / "values.schema.json").read_text())


def test_the_values_that_come_with_it_need_an_image_and_nothing_else():
    values = YAML(typ="safe").load(chart_files.CHART / "values.yaml")
    (error,) = jsonschema.Draft7Validator(schema()).iter_errors(values)
    assert list(error.path) == ["image", "repository"]
    values["image"]["repository"] = "registry.example/anywarp"
    jsonschema.validate(values, schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(values | {"dryrun": True}, schema())


def test_it_is_written_out_with_this_release(tmp_path):
    folder = chart_files.write(tmp_path / "chart")
    told = YAML(typ="safe").load(folder / "Chart.yaml")
    assert told["version"] == told["appVersion"] == __version__
    assert sorted(path.name for path in (folder / "templates").iterdir()) == sorted(
        path.name for path in (chart_files.CHART / "templates").iterdir()
    )
    with pytest.raises(AnywarpError) as caught:
        chart_files.write(tmp_path / "chart")
    assert caught.value.diagnostic.code == "Y115"


def rendered(values):
    helm = pytest.importorskip("helm_python", reason="helm-python-sdk is not installed")
    with helm.Chart.load(str(chart_files.CHART)) as chart:
        texts = chart.render(values=values, name="door", namespace="anywarp")
    return [
        one
        for name, text in texts.items()
        if not name.endswith(".txt")
        for one in YAML(typ="safe").load_all(text)
        if one
    ]


@pytest.mark.parametrize("values", VALUES, ids=["job", "cert-manager", "existing"])
def test_what_helm_makes_of_it_is_valid_and_in_nobodys_way(values):
    objects = rendered(values)
    for one in objects:
        if not one["apiVersion"].startswith(("cert-manager.io", "monitoring.coreos.com")):
            kubernetes_validate.validate(one, kubernetes_validate.latest_version(), strict=True)
    (configuration,) = [one for one in objects if one["kind"] == "MutatingWebhookConfiguration"]
    (webhook,) = configuration["webhooks"]
    assert webhook["failurePolicy"] == values.get("failurePolicy", "Ignore") and webhook["sideEffects"] == "None"
    assert webhook["namespaceSelector"]["matchLabels"] == {"anywarp/convert": "true"}
    assert [rule["operations"] + rule["resources"] for rule in webhook["rules"]] == [["CREATE", "pods"]]
    names = {(one["kind"], one["metadata"]["name"]) for one in objects}
    assert len(names) == len(objects)
    service = webhook["clientConfig"]["service"]
    assert ("Service", service["name"]) in names


@pytest.mark.parametrize("values", VALUES, ids=["job", "cert-manager", "existing"])
def test_its_pods_may_do_nothing(values):
    """Pod Security Standards, `restricted`."""
    objects = rendered(values)
    pods = [one["spec"]["template"]["spec"] for one in objects if one["kind"] in ("Deployment", "Job")]
    assert len(pods) == (3 if values is IMAGE else 1)
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["seccompProfile"] == {
            "type": "RuntimeDefault"
        }
        assert {next(iter(volume.keys() - {"name"})) for volume in pod["volumes"]} <= {"secret", "emptyDir"}
        for container in pod["containers"]:
            security = container["securityContext"]
            assert security["allowPrivilegeEscalation"] is False and security["readOnlyRootFilesystem"]
            assert security["capabilities"] == {"drop": ["ALL"]}
    rules = [rule for one in objects if one["kind"] in ("Role", "ClusterRole") for rule in one["rules"]]
    assert all(set(rule["verbs"]) <= {"get", "patch"} and len(rule["resourceNames"]) == 1 for rule in rules)
    if values is IMAGE:
        assert rules


def test_its_arguments_are_options_of_the_command(tmp_path):
    from anywarp.cli.webhook import command

    for values in VALUES:
        for one in rendered(values):
            if one["kind"] in ("Deployment", "Job"):
                container = one["spec"]["template"]["spec"]["containers"][0]
                assert container["command"][:2] == ["anywarp", "webhook"]
                verb = command.commands[container["command"][2]]
                known = {option for parameter in verb.params for option in parameter.opts}
                assert {argument.partition("=")[0] for argument in container["args"]} <= known
