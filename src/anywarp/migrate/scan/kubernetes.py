"""Kubernetes: resources, labels, taints, runtime classes, device classes, and pods that take GPUs nobody gave them.

It reads manifests, templates of charts and values alike: what counts is the name and the keys above it, not a schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anywarp.catalogue.migration import rows
from anywarp.catalogue.replacements import image, image_parts, kind, label, resource
from anywarp.migrate.findings import Use
from anywarp.migrate.formats.outline import Node
from anywarp.migrate.rulings import workflows
from anywarp.migrate.scan import commands, metrics, places, shell
from anywarp.migrate.scan.lines import WIDTH, Lines, Seen, filled
from anywarp.migrate.scan.places import Place

_NVIDIA_NAME = re.compile(r"(?:^|[./-])nvidia\.com/")
_GPU_RESOURCE = re.compile(
    r"^(?:nvidia\.com/|aliyun\.com/gpu|tencent\.com/vcuda|volcano\.sh/v?gpu|alpha\.kubernetes\.io/nvidia-gpu)"
)
_QUOTA = re.compile(r"^(?:requests|limits)\.")
_AMOUNTS = frozenset(
    {
        "limits",
        "requests",
        "resources",
        "hard",
        "capacity",
        "allocatable",
        "minResources",
        "total",
        "resourceList",
        "customResources",
    }
)
_TAINTED = frozenset({"tolerations", "taints", "toleration", "taint", "nodeTaints", "startupTaints"})
_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"})
_SHARING = frozenset({"timeSlicing", "mps", "time-slicing"})
_CONTAINERS = ("containers", "initContainers")
_OPEN = frozenset({"", "void", "none"})  # values of NVIDIA_VISIBLE_DEVICES that give no GPU
_OWN_PARTS = re.compile(r"nvidia-device-plugin|mps-control|dcgm|feature-discovery|nvidia-driver|toolkit")
_MOUNTS = re.compile(
    r"/dev/nvidia|/usr/local/nvidia|nvidia-mps|/usr/local/cuda|/run/nvidia|/var/lib/nvidia|/home/kubernetes/bin/nvidia"
)


def document(lines: Lines, root: Node, templated: bool = False, file: str = "") -> Iterator[Use]:
    """Yield what one document says: an object, a template of one, or values that become one."""
    whole = list(_kind(lines, root))
    yield from whole
    if any(use.detail("whole") for use in whole):
        yield from workload(lines, root, file)
        return  # the object goes as a whole, and what stands in it with it
    for place in places.places(root):
        yield from _place(lines, place)
    yield from workload(lines, root, file)
    yield from _freeloading(lines, root, templated)


def _kind(lines: Lines, root: Node) -> Iterator[Use]:
    node = root.get("kind")
    if node is None or node.kind != "scalar":
        return
    name = f"{root.value('apiVersion')} {node.text}"
    if kind("kind", name) is not None or re.search(r"nvidia\.com/v\d", name):
        yield lines.use_at("k8s.kind", name, node.line, node.column, whole="yes")
    elif node.text == "RuntimeClass" and "nvidia" in root.value("handler"):
        yield lines.use_at("k8s.runtimeclass", root.value("handler"), node.line, node.column, use="object", whole="yes")
    elif node.text == "DeviceClass" and "nvidia" in root.value("metadata", "name"):
        yield lines.use_at("k8s.dra", root.value("metadata", "name"), node.line, node.column)
    elif node.text in ("DaemonSet", "Deployment") and (name := _own(root)):
        yield lines.use_at("k8s.workload", name, node.line, node.column, whole="yes")


def _own(root: Node) -> str:
    """Return which of NVIDIA's own workloads an object is, by its name; "" for none."""
    called = root.value("metadata", "name")
    names = (row["name"] for row in rows("kinds") if row["what"] == "workload")
    return next((name for name in names if name in called), "") if called else ""


def _place(lines: Lines, place: Place) -> Iterator[Use]:
    name, value = place.name, place.value
    if value.kind == "scalar" and value.text:
        yield from places.variables(lines, place)
        yield from places.image(lines, place)
        yield from _scalar(lines, place)
    elif name in ("env", "environment", "variables"):
        yield from places.variables(lines, place)
    if name in workflows.SCRIPTS:
        yield from places.run(lines, value)
    yield from _key(lines, place)
    if value.kind == "list":
        for entry in value.entries:
            if entry.kind == "scalar" and _GPU_RESOURCE.match(_QUOTA.sub("", entry.text)):
                yield _resource(lines, _QUOTA.sub("", entry.text), entry, "")


def _key(lines: Lines, place: Place) -> Iterator[Use]:
    key = place.key
    if key is None:
        return
    name, bare = key.text, _QUOTA.sub("", key.text)
    above = place.above[-1] if place.above else ""
    count = place.value.real().text if place.value.real().kind == "scalar" else ""
    if place.value.kind != "scalar" and not place.value.alias:
        if name in _SHARING and (above == "sharing" or "strategy" in name):
            yield lines.use_at("k8s.sharing", name, key.line, key.column)
        if not _NVIDIA_NAME.search(name):
            return
    if _selects(above, place):
        if (
            label(name) is not None
            or _NVIDIA_NAME.search(name)
            or (above == "nodeSelector" and "nvidia" in count.lower())
        ):
            yield lines.use_at("k8s.label", name, key.line, key.column, value=count, use=above)
    elif resource(bare) is not None and (above in _AMOUNTS or _GPU_RESOURCE.match(bare)):
        if above in ("annotations", "labels"):
            yield lines.use_at("k8s.label", name, key.line, key.column, value=count, use=above)
        else:
            yield _resource(lines, bare, key, count, above)
    elif kind("annotation", name) is not None or (above in ("annotations", "labels") and _NVIDIA_NAME.search(name)):
        yield lines.use_at(
            "k8s.annotation" if above == "annotations" else "k8s.label",
            name,
            key.line,
            key.column,
            value=count,
            use=above,
        )
    elif _NVIDIA_NAME.search(name):
        yield lines.use_at("k8s.label", name, key.line, key.column, value=count, use=above)


def _selects(above: str, place: Place) -> bool:
    return above in ("nodeSelector", "matchLabels", "nodeLabels", "node_selector") or above.endswith(
        ("Selector", "Labels", "selector")
    )


def _resource(lines: Lines, name: str, node: Node, count: str, above: str = "") -> Use:
    return lines.use_at("k8s.resource", name, node.line, node.column, count=count, use=above)


def _scalar(lines: Lines, place: Place) -> Iterator[Use]:
    name, value, holder = place.name, place.value, place.holder
    text = value.text
    if name == "key" and (label(text) is not None or kind("taint", text) is not None or _NVIDIA_NAME.search(text)):
        if (
            (place.above and place.above[-1] in _TAINTED)
            or holder.get("effect") is not None
            or holder.value("operator") == "Equal"
        ):
            yield lines.use_at("k8s.toleration", text, value.line, value.column)
        elif holder.value("operator") in _OPERATORS or holder.get("values") is not None:
            values = holder.get("values")
            chosen = ", ".join(entry.real().text for entry in values.entries[:WIDTH]) if values is not None else ""
            yield lines.use_at(
                "k8s.label",
                text,
                value.line,
                value.column,
                value=chosen,
                use="affinity",
                operator=holder.value("operator"),
            )
        else:
            yield lines.use_at("k8s.toleration", text, value.line, value.column)
    elif name in ("runtimeClassName", "runtimeClass") and (kind("runtime-class", text) is not None or "nvidia" in text):
        yield lines.use_at("k8s.runtimeclass", text, value.line, value.column)
    elif (name in ("deviceClassName", "deviceClass") and "nvidia" in text) or kind("device-class", text) is not None:
        yield lines.use_at("k8s.dra", text, value.line, value.column)
    elif name in ("path", "mountPath", "hostPath") and _MOUNTS.search(text):
        yield lines.use_at("k8s.hostpath", text, value.line, value.column)
    elif _GPU_RESOURCE.match(_QUOTA.sub("", text)) and resource(_QUOTA.sub("", text)) is not None:
        yield _resource(lines, _QUOTA.sub("", text), value, "")
    elif (
        name in ("chart", "name", "alias")
        and kind("chart", text) is not None
        and (name == "chart" or holder.get("repository") is not None or holder.get("repoURL") is not None)
    ):
        repository = holder.value("repository") or holder.value("repoURL")
        yield lines.use_at(
            "helm.chart",
            text,
            value.line,
            value.column,
            repository=repository,
            version=holder.value("version") or holder.value("targetRevision"),
        )
    elif name in ("repository", "repoURL", "url") and kind("repository", text.rstrip("/")) is not None:
        yield lines.use_at("helm.repository", text, value.line, value.column)
    elif _vendor(place):
        yield lines.use_at("helm.value", ".".join((*place.above, name)), value.line, value.column, value=text)
    elif metrics.HINT.search(text):
        yield from metrics.in_node(lines, value)
    elif (
        "/" in text
        and name not in ("image", "repository", "name", "newName", "path", "mountPath")
        and (found := list(commands.value_use(filled(text, "x"), 0)))
    ):
        yield from lines.found_in(places.text_of(value), iter(found))
    elif "/usr/" in text and name not in workflows.SCRIPTS:
        use = (("use", "set"),) if name == "value" else ()
        found = (Seen(one.subject, one.name, one.offset, use) for one in shell.paths(text))
        yield from lines.found_in(places.text_of(value), found)


def _vendor(place: Place) -> bool:
    """Tell whether a value chooses the vendor of GPUs: `gpu.type: nvidia`, `accelerator: cuda`."""
    if place.value.text.strip("\"'").lower() not in ("nvidia", "cuda", "nvidia-gpu"):
        return False
    return bool(
        re.search(
            r"(?i)^(?:type|vendor|provider|gpuVendor|gpuType|accelerator\w*|driver|backend|device|deviceType|platform)$",
            place.name,
        )
    )


def workload(lines: Lines, root: Node, file: str) -> Iterator[Use]:
    """Yield the fact that something is deployed: its name, images, command, and how many GPUs its containers ask for."""
    node = root.get("kind")
    if node is None or node.text in ("", "List", "CustomResourceDefinition", "Kustomization", "ConfigMap", "Secret"):
        return
    details: list[tuple[str, str]] = []
    images: set[str] = set()
    for place in places.places(root):
        reference, _ = places.reference_of(place)
        if reference and reference not in images:
            images.add(reference)
            details.append(("image", reference))
        elif place.name in ("command", "args") and place.value.kind == "list":
            words = " ".join(entry.text for entry in place.value.entries if entry.kind == "scalar")
            details.append(("command", words[:400]))
        elif place.name in ("modelFormat", "storageUri") and not details:
            details.append(("image", ""))
    if not details:
        return
    name = root.value("metadata", "name") or root.value("metadata", "generateName") or "unnamed"
    if "{{" in name and file:
        name = file.partition(".")[0]
    details = [one for one in details if one[1]]
    namespace = root.value("metadata", "namespace")
    gpus = sum(_gpus_of(pod) for _, pod in root.walk() if pod.kind == "map") * _copies(root)
    owned = bool(root.items("metadata", "ownerReferences"))
    told = (("namespace", namespace), ("gpus", str(gpus) if gpus else ""), ("owned", "yes" if owned else ""))
    every = (("kind", "k8s"), *details[:40], *(one for one in told if one[1]))
    yield Use("deploy.workload", f"{node.text}/{name}", root.line, root.column, lines.line(node.line), every)


def _gpus_of(pod: Node) -> int:
    """Return how many whole GPUs the containers of a pod ask for: those that run side by side together, or the most that one before them takes."""
    asked = {
        name: [_number(one.at("resources", "limits") or one.at("resources", "requests")) for one in pod.items(name)]
        for name in _CONTAINERS
    }
    return max(sum(asked["containers"]), *asked["initContainers"], 0)


def _number(amounts: Node | None) -> int:
    text = amounts.value("nvidia.com/gpu") if amounts is not None else ""
    return int(text) if text.isdecimal() and len(text) < 6 else 0


def _copies(root: Node) -> int:
    """Return how many pods of an object run at a time, as it says; a DaemonSet's count once, for how many nodes there are stands elsewhere."""
    for keys in (("spec", "replicas"), ("spec", "parallelism"), ("spec", "jobTemplate", "spec", "parallelism")):
        text = root.value(*keys)
        if text.isdecimal() and len(text) < 6:
            return int(text)
    return 1


def _freeloading(lines: Lines, root: Node, templated: bool) -> Iterator[Use]:
    """Yield containers that see GPUs only because NVIDIA's runtime shows all to them: no GPU is asked for in their pod."""
    if root.get("kind") is None or _own(root):
        return
    for place in places.places(root):
        if place.name != "containers" or place.value.kind != "list":
            continue
        pod = place.holder
        if not lines.first("pod", pod):
            continue  # a key that stands there twice
        containers = list({id(one): one for name in _CONTAINERS for one in pod.items(name)}.values())
        if pod.get("resourceClaims") is not None or any(_asks(container) for container in containers):
            continue
        if any(_OWN_PARTS.search(container.value("name")) for container in containers):
            continue  # a part of NVIDIA's own plugin, with a templated name
        for container in containers:
            yield from _takes(lines, container, templated or "{{" in "".join(key.text for key, _ in container.pairs))


def _asks(container: Node) -> bool:
    resources = container.get("resources")
    if resources is None:
        return False
    if resources.kind == "scalar" and resources.text:  # a template: not known
        return True
    for part in ("limits", "requests", "claims"):
        node = resources.get(part)
        if node is not None and (part == "claims" or node.kind == "scalar"):
            return True
        if node is not None and any(
            _GPU_RESOURCE.match(key.text) or "{{" in key.text or "gpu" in key.text.lower() for key, _ in node.pairs
        ):
            return True
    return False


def _takes(lines: Lines, container: Node, templated: bool) -> Iterator[Use]:
    for entry in container.items("env"):
        if entry.value("name") == "NVIDIA_VISIBLE_DEVICES":
            node = entry.get("name")
            if entry.value("value") not in _OPEN and node is not None:
                yield lines.use_at(
                    "k8s.freeloading",
                    container.value("name") or "container",
                    node.line,
                    node.column,
                    via="NVIDIA_VISIBLE_DEVICES",
                    value=entry.value("value"),
                )
            return
    reference = container.value("image")
    if templated or not reference or image(reference) is None:
        return
    name = image_parts(reference).name
    if re.search(
        r"(?:^|/)(?:nvidia|nvcr\.io)/|^vllm/|-cuda", name + ":" + image_parts(reference).tag
    ) and not re.search(r"k8s|operator|exporter|driver|toolkit|cloud-native|feature-discovery", name):
        node = container.get("image")
        if node is not None:
            yield lines.use_at(
                "k8s.freeloading",
                container.value("name") or "container",
                node.line,
                node.column,
                via="image",
                value=reference,
            )
