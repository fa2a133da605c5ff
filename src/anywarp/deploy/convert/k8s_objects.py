"""Whole objects and single fields that only Kubernetes has: NVIDIA's custom resources and DaemonSets, patches, claims.

What installs NVIDIA's parts on a cluster is not turned into what installs AMD's: one refusal says what takes its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from anywarp.catalogue.replacements import image_parts, kind, resource
from anywarp.deploy.convert import codes, k8s_operator, ports
from anywarp.deploy.convert.k8s_names import resource_name
from anywarp.deploy.convert.model import Change, Finding, Options, Refusal, change, moved, refusal
from anywarp.deploy.convert.sweep import mentions_nvidia
from anywarp.deploy.convert.yaml_text import Entry, YamlText
from anywarp.migrate.formats.outline import Node

_PORT = f":{ports.NVIDIAS}"
"""Where NVIDIA's exporter listens, as a name that others go by."""
_MONITORS = ("ServiceMonitor", "PodMonitor")
_RUNNERS = ("DaemonSet", "Deployment", "StatefulSet", "Pod")
_CEL_ATTRIBUTE = re.compile(
    rb"device\.(?P<what>attributes|capacity)\[(?P<quote>['\"])(?P<driver>[\w.-]*nvidia\.com)(?P=quote)\](?:\.(?P<name>\w+)|\[['\"](?P<item>\w+)['\"]\])?"
)
_CEL_DRIVER = re.compile(rb"device\.driver\s*[=!]=\s*(['\"])(?P<driver>gpu\.nvidia\.com)\1")
_HINTS = {
    "gpu-feature-discovery": ("gpu-feature-discovery",),
    "nvidia-device-plugin": ("k8s-device-plugin", "nvidia-device-plugin"),
    "dcgm-exporter": ("dcgm-exporter",),
    "nvidia-mig-manager": ("k8s-mig-manager", "mig-manager"),
    "nvidia-driver-daemonset": ("nvidia/driver", "nvidia-driver"),
    "nvidia-container-toolkit-daemonset": ("container-toolkit",),
    "nvidia-operator-validator": ("gpu-operator-validator",),
}


def whole(text: YamlText, root: Node, options: Options) -> Iterator[Finding]:
    """Speak for an object as a whole where its kind or its image says that it is a part of NVIDIA's own software."""
    what = root.value("kind")
    if root.kind != "map":
        return
    place = text.document(root)
    if not what:
        yield from _plugin_files(root, place)
        return
    row = kind("kind", f"{root.value('apiVersion')} {what}")
    if row is not None and what == "ClusterPolicy":
        yield from k8s_operator.device_config(text, root, place, row)
    elif row is not None:
        yield refusal(*place, row, "write what takes its place by hand, or take the object out", codes.REPLACED_WHOLE)
    elif what == "RuntimeClass" and mentions_nvidia(root.value("handler").encode()):
        reason = "a runtime class for NVIDIA's container runtime: pods with AMD GPUs need none"
        yield Refusal(
            *place,
            reason,
            "take the object out when no pod names it",
            "ROCm/k8s-device-plugin (plugin.go)",
            codes.REPLACED_WHOLE,
        )
    elif what in _RUNNERS and (name := _workload(root)):
        found = kind("workload", name)
        assert found is not None
        help = "take the object out and install what takes its place"
        left = refusal(*place, found, help, codes.REPLACED_WHOLE)
        yield replace(left, needs=_PORT) if name == "dcgm-exporter" else left
    elif what in _MONITORS and b"dcgm" in text.data[place[0] : place[1]].lower():
        reason = "a monitor of NVIDIA's exporter; AMD's operator makes one for its own (spec.metricsExporter.prometheus.serviceMonitor.enable)"
        help = (
            f"take it out when AMD's exporter is installed, or select its service, which listens on port {ports.AMDS}"
        )
        yield Refusal(*place, reason, help, "ROCm/gpu-operator docs/metrics/prometheus.md", codes.REPLACED_WHOLE)
    del options


def _plugin_files(root: Node, place: tuple[int, int]) -> Iterator[Finding]:
    """Refuse files that NVIDIA's device plugin and MIG manager read, as they stand in ConfigMaps."""
    sharing = root.get("sharing")
    if sharing is not None and (sharing.get("timeSlicing") or sharing.get("mps")):
        reason = "a configuration of NVIDIA's device plugin: it shares a GPU by time or by MPS, which AMD's does not"
        help = "choose partitions, HAMi, a shared DRA claim or whole GPUs for what used the shared ones"
        yield Refusal(*place, reason, help, "ROCm/k8s-device-plugin issue 111", codes.REPLACED_WHOLE)
    elif root.get("mig-configs") is not None:
        reason = (
            "a configuration of NVIDIA's MIG manager; AMD's device config manager reads gpu-config-profiles in JSON"
        )
        help = "write profiles with computePartition, memoryPartition and numGPUsAssigned: SPX with NPS1, CPX with NPS1 or (on MI300X) NPS4"
        source = "ROCm/gpu-operator docs/dcm/device-config-manager-configmap.md"
        yield Refusal(*place, reason, help, source, codes.REPLACED_WHOLE)


def _workload(root: Node) -> str:
    """Return which of NVIDIA's own workloads an object is, by the images it runs; "" for none."""
    names = [image_parts(node.value("image")).name for _, node in root.walk() if node.kind == "map"]
    own = [name for name in names if "nvidia" in name or "dcgm" in name]
    called = root.value("metadata", "name")
    for workload, hints in _HINTS.items():
        if own and (workload in called or any(name.endswith(hint) for name in own for hint in hints)):
            return workload
    return ""


def runtime_class(text: YamlText, entry: Entry) -> Iterator[Finding]:
    """Take a runtime class of NVIDIA's out: in values of a chart it becomes empty, for its template asks for the key."""
    row = kind("runtime-class", entry.value.real().text)
    if row is None:
        return
    gone = text.removal(entry)
    if row["conversion"] != "remove":
        yield refusal(*text.whole(entry), row, "say which runtime your AMD nodes have", codes.NO_COUNTERPART)
    elif not text.kind(entry) and text.inner(entry.value) is not None:
        start, end = text.span(entry.value)
        quoted = text.data[start - 1 : start] in (b'"', b"'")
        yield Change(start, end, b"" if quoted else b'""', row["reason"], row["source"])
    elif gone is None or len(entry.holder.pairs) == 1:
        yield refusal(*text.whole(entry), row, "take this line out by hand", codes.NOT_CONVERTED)
    else:
        yield Change(*gone, b"", row["reason"], row["source"])


def pair(text: YamlText, entry: Entry) -> Iterator[Finding]:
    """Convert single fields whose meaning depends on what else the object says."""
    assert entry.key is not None
    name, value = entry.key.text, entry.value.text
    if (
        value == ports.NVIDIAS
        and name in ("port", "targetPort", "containerPort", "prometheus.io/port", "number")
        and _of_exporter(text, entry)
    ):
        source = "ROCm/device-metrics-exporter docs/configuration"
        if text.kind(entry) in (*_RUNNERS, "Service", ""):  # of the exporter itself, or of a chart that runs it
            reason = f"a port of NVIDIA's exporter, whose listen address, service and probes go by it; AMD's listens on {ports.AMDS}"
            help = "install AMD's device metrics exporter, which brings a service of its own, and take this out"
            yield Refusal(*text.span(entry.value), reason, help, source, codes.NO_COUNTERPART, needs=_PORT)
        else:
            reason = f"AMD's device metrics exporter listens on port {ports.AMDS}"
            yield Change(*text.span(entry.value), ports.AMDS.encode(), reason, source, renames=_PORT)
    elif name == "namespace" and (row := kind("namespace", value)) is not None:
        yield refusal(
            *text.span(entry.value), row, f"write {row['target']} if AMD's operator is installed there", codes.ASK
        )
    elif entry.under("rayStartParams") and re.search(r"accelerator_type[:_](?!cpu)", value):
        help = "write the accelerator type that Ray sees on AMD nodes, such as accelerator_type:AMD-Instinct-MI300X-OAM"
        yield Refusal(*text.span(entry.value), "Ray's custom resource names a card of NVIDIA's", help, code=codes.ASK)


def _of_exporter(text: YamlText, entry: Entry) -> bool:
    start, end = text.document(entry.root)
    return b"dcgm" in text.data[start:end].lower()


def json_patch(text: YamlText, entry: Entry, options: Options) -> Iterator[Finding]:
    """Convert the path of a JSON patch, in which a slash inside a name is written ~1."""
    value = entry.value.text
    if entry.key is None or entry.key.text not in ("path", "from") or "~1" not in value:
        return
    start = text.span(entry.value)[0]
    place = 0
    for part in value.split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        row = resource(name)
        for finding in (
            resource_name(start + place, start + place + len(part), row, name, options) if row is not None else ()
        ):
            if isinstance(finding, Change):
                new = finding.replacement.replace(b"~", b"~0").replace(b"/", b"~1")
                yield Change(finding.start, finding.end, new, finding.reason, finding.source)
            else:
                yield finding
        place += len(part.encode()) + 1


def cel(text: YamlText, entry: Entry) -> Iterator[Finding]:
    """Convert a selector of devices in the language CEL."""
    place = text.inner(entry.value)
    if place is None:
        start, end = text.span(entry.value)
        if mentions_nvidia(text.data[start:end]):
            yield Refusal(
                start, end, "a selector in a way of writing that is not read", "write it for gpu.amd.com by hand"
            )
        return
    start, end = text.byte(place[0]), text.byte(place[1])
    yield from moved(cel_text(text.data[start:end]), start)


def cel_text(data: bytes) -> Iterator[Finding]:
    """Convert an expression of CEL that selects devices of NVIDIA's driver."""
    for found in _CEL_DRIVER.finditer(data):
        source = "ROCm/k8s-gpu-dra-driver docs/driver-attributes.md"
        yield Change(*found.span("driver"), b"gpu.amd.com", "the name of AMD's DRA driver", source)
    for found in _CEL_ATTRIBUTE.finditer(data):
        name = (found["name"] or found["item"] or b"").decode()
        row = kind("device-capacity" if found["what"] == b"capacity" else "device-attribute", name)
        if row is None or row["conversion"] != "rename":
            reason = row["reason"] if row else f"it is not known what {name or 'this'} is on AMD GPUs"
            help = (
                f'compare device.attributes["gpu.amd.com"].{row["target"]} instead'
                if row and row["target"]
                else "take the condition out"
            )
            yield Refusal(*found.span(), reason, help, row["source"] if row else "", codes.ASK)
            continue
        yield Change(*found.span("driver"), b"gpu.amd.com", "the name of AMD's DRA driver", row["source"])
        if row["target"] != name:
            yield change(*found.span("name" if found["name"] else "item"), row["target"], row)
