"""ClusterPolicy of NVIDIA's operator as DeviceConfig of AMD's: what both can say is carried over, the rest is listed field by field.

The two are different objects, so this is the one place where a part of a file is written anew; its comments are kept above it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from anywarp.catalogue.migration import Row
from anywarp.deploy.convert import codes
from anywarp.deploy.convert.model import Change, Finding, Note, Refusal
from anywarp.deploy.convert.yaml_text import YamlText
from anywarp.migrate.formats.outline import Node

_Tree = dict[str, Any]
_SOURCE = "ROCm/gpu-operator example/deviceconfig_example.yaml"
_CARRIED: dict[tuple[str, ...], tuple[str, ...]] = {
    ("driver", "enabled"): ("driver", "enable"),
    ("devicePlugin", "enabled"): ("devicePlugin", "enableDevicePlugin"),
    ("gfd", "enabled"): ("devicePlugin", "enableNodeLabeller"),
    ("dcgmExporter", "enabled"): ("metricsExporter", "enable"),
    ("dcgmExporter", "serviceMonitor", "enabled"): ("metricsExporter", "prometheus", "serviceMonitor", "enable"),
    ("dcgmExporter", "serviceMonitor", "interval"): ("metricsExporter", "prometheus", "serviceMonitor", "interval"),
    ("dcgmExporter", "serviceMonitor", "honorLabels"): (
        "metricsExporter",
        "prometheus",
        "serviceMonitor",
        "honorLabels",
    ),
    ("migManager", "enabled"): ("configManager", "enable"),
    ("mig", "strategy"): ("devicePlugin", "devicePluginArguments", "resource_naming_strategy"),
}
"""Where a field of ClusterPolicy's spec goes in DeviceConfig's."""

_NEEDLESS = {
    "toolkit": "AMD's device plugin hands devices to containers itself",
    "cdi": "AMD's device plugin hands devices to containers itself",
    "dcgm": "AMD's metrics exporter reads the GPUs itself",
    "validator": "AMD's operator has a test runner of its own (spec.testRunner)",
    "nodeStatusExporter": "AMD's operator tells its state in the status of DeviceConfig",
    "gds": "GPUDirect Storage is NVIDIA's",
    "gdrcopy": "GDRCopy is NVIDIA's",
    "vgpuManager": "NVIDIA vGPU",
    "vgpuDeviceManager": "NVIDIA vGPU",
    "ccManager": "confidential computing of NVIDIA's GPUs",
    "kataManager": "virtual machines with NVIDIA's GPUs",
    "kataSandboxDevicePlugin": "virtual machines with NVIDIA's GPUs",
    "vfioManager": "virtual machines: see spec.driver.driverType of DeviceConfig",
    "sandboxWorkloads": "virtual machines: see spec.driver.driverType of DeviceConfig",
    "sandboxDevicePlugin": "virtual machines: see spec.driver.driverType of DeviceConfig",
    "migManager": "AMD's device config manager takes its profiles from a ConfigMap (spec.configManager.config)",
    "psa": "AMD's operator labels no namespaces",
    "psp": "pod security policies are gone from Kubernetes",
    "operator": "the settings of AMD's operator are values of its chart",
}
_STRATEGIES = {"none": "single", "single": "single", "mixed": "mixed"}


def device_config(text: YamlText, root: Node, place: tuple[int, int], row: Row) -> Iterator[Finding]:
    """Rewrite one ClusterPolicy; every field that is not carried over is a note (needless) or a refusal (to be decided)."""
    spec = root.get("spec")
    carried: dict[tuple[str, ...], str] = {}
    for path, node in _leaves(spec):
        target = _CARRIED.get(path)
        if target is not None:
            carried[target] = _STRATEGIES.get(node.text, node.text) if path == ("mig", "strategy") else node.text
            continue
        span = text.span(node)
        needless = _NEEDLESS.get(path[0])
        shown = ".".join(path)
        if needless:
            yield Note(*span, f"spec.{shown} was left out: {needless}", _SOURCE)
        else:
            help = "set what you need of it in the new object by hand: AMD's operator documents its fields"
            yield Refusal(
                *span,
                f"spec.{shown} has no field in DeviceConfig that is known to mean the same",
                help,
                _SOURCE,
                codes.NO_COUNTERPART,
            )
    name = root.value("metadata", "name")
    yield Change(*place, _written(text, place, name, carried).encode(), row["reason"], row["source"])


def _leaves(spec: Node | None) -> Iterator[tuple[tuple[str, ...], Node]]:
    waiting: list[tuple[tuple[str, ...], Node]] = [((), spec)] if spec is not None else []
    while waiting:
        path, node = waiting.pop()
        node = node.real()
        if node.kind == "map" and len(path) < 6 and node.pairs:
            waiting += [((*path, key.text), value) for key, value in reversed(node.pairs)]
        elif path:
            yield path, node


def _written(text: YamlText, place: tuple[int, int], name: str, carried: dict[tuple[str, ...], str]) -> str:
    comments = [text.data[a:b].decode().rstrip() for a, b in text.comments() if place[0] <= a and b <= place[1]]
    lines = [
        *comments,
        "apiVersion: amd.com/v1alpha1",
        "kind: DeviceConfig",
        "metadata:",
        f"  name: {name or 'default'}",
    ]
    lines += ["  namespace: kube-amd-gpu", "spec:"]
    tree: _Tree = {}
    for path, value in carried.items():
        holder = tree
        for part in path[:-1]:
            holder = cast(_Tree, holder.setdefault(part, {}))
        holder[path[-1]] = value
    for key in ("driver", "devicePlugin", "metricsExporter", "configManager"):
        lines += _yaml({key: tree[key]}, 2) if key in tree else []
    lines += ["  selector:", '    feature.node.kubernetes.io/amd-gpu: "true"']
    ending = "\r\n" if b"\r\n" in text.data[place[0] : place[1]] else "\n"
    return ending.join(lines)


def _yaml(tree: _Tree, indent: int) -> list[str]:
    lines: list[str] = []
    for key, value in tree.items():
        if isinstance(value, dict):
            lines.append(f"{' ' * indent}{key}:")
            lines += _yaml(cast(_Tree, value), indent + 2)
        else:
            lines.append(f"{' ' * indent}{key}: {value}")
    return lines
