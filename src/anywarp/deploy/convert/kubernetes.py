"""Kubernetes manifests, Helm charts and Kustomize: everything in YAML that schedules, configures or watches GPUs in a cluster.

Custom resources embed pods at places of their own (KServe, Ray, Volcano, Kueue), so keys are known by what is around them, not by
the kind of the object they are in.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from anywarp.catalogue.replacements import label, resource
from anywarp.deploy.convert import k8s_commands, k8s_helm, k8s_names, k8s_objects, k8s_pods, prometheus, promql, sweep
from anywarp.deploy.convert.embedded import file
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, moved
from anywarp.deploy.convert.sweep import implies_nvidia, mentions_nvidia
from anywarp.deploy.convert.yaml_text import Entry, YamlText
from anywarp.migrate.formats.outline import Node

NAME = "kubernetes"

_SUFFIXES = (".yaml", ".yml", ".tpl", ".gotmpl")
_JSON = re.compile(rb'\A\s*[\[{](?=.*"apiVersion")(?=.*"kind")', re.DOTALL)
_IMAGE_KEYS = re.compile(r"(?i)(?:.*image|imageName|newName)$")
_QUERY_KEYS = frozenset({"expr", "query", "promql", "metricsQuery", "seriesQuery", "metricQuery", "record"})
_NAME_KEYS = frozenset({
    "name", "generateName", "namespace", "app", "k8s-app", "component", "tier", "role", "release", "title", "description", "message",
    "serviceAccountName", "serviceAccount", "claimName", "secretName", "configMapName", "configMap", "summary", "instance", "alias",
    "nameOverride", "fullnameOverride", "displayName", "job", "priorityClassName", "queueName", "schedulerName", "hostname", "subdomain",
    "clusterQueue", "localQueue",
})  # fmt: skip
_CHART_KEYS = frozenset({"keywords", "maintainers", "home", "icon", "sources", "url", "email"})
_ENVIRONMENT = ("env", "extraEnv", "envVars", "extraEnvVars", "environment")
_IMAGE = re.compile(r"[\w.-]+(?:/[\w.-]+)+:[\w.-]+")
_FAR = 1 << 62
_DEVICE = re.compile(r"cuda(?::\d+)?")
_PYTHON = re.compile(rb"""\btorch\.cuda\.\w+|(?<=["'])(?:cuda(?::\d+)?|nccl)(?=\\?["'])""")
_MODEL = re.compile(r"(?i)(?:hf://)?nvidia/(?!.*(?:nvfp4|trt|tensorrt|nim))[\w.-]+")
_NAME_PREFIXES = ("app.kubernetes.io/", "helm.sh/", "meta.helm.sh/", "kueue.x-k8s.io/queue-name")


def wants(path: PurePath, data: bytes) -> bool:
    """Take YAML in general, templates of charts, and JSON that holds an object of Kubernetes."""
    if path.suffix in _SUFFIXES:
        return True
    return path.suffix in (".json", "") and _JSON.match(data[:65536]) is not None


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """Return the places of comments, those of templates among them."""
    text = YamlText(data)
    yield from text.comments()
    yield from k8s_helm.comments(data)


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what is to be changed, refused and noted."""
    text = YamlText(data)
    taken: list[tuple[int, int]] = []
    for root in [each for document in text.documents for each in (document, *_listed(document))]:
        found = list(k8s_objects.whole(text, root, options)) + list(k8s_helm.whole(text, root, path))
        taken += [(finding.start, finding.end) for finding in found]
        yield from found
        spec = root.get("spec")
        if root.value("kind") == "PrometheusRule" and spec is not None:
            yield from prometheus.rules(text, spec, options)
            taken.append((text.byte(text.start(spec)), text.document(root)[1]))
    taken = sweep.merged(taken)
    noted: set[int] = set()
    for entry in text.entries():
        if taken and _inside(text.whole(entry)[0], taken):
            continue
        found = list(_entry(text, entry, path, options))
        yield from found
        if id(entry.root) not in noted and any(_gives_gpu(finding) for finding in found) and "containers" in entry.path:
            noted.add(id(entry.root))
            yield from k8s_pods.security(text, entry)
    yield from k8s_helm.templated(text, path, options)
    yield from _python_words(data)


def _listed(root: Node) -> list[Node]:
    """Return the objects in a list of objects."""
    return root.items("items") if root.value("kind") == "List" else []


def _python_words(data: bytes) -> Iterator[Finding]:
    """Speak for what Python programs inside a manifest call by names that PyTorch for ROCm has, too."""
    for found in _PYTHON.finditer(data):
        yield Fine(found.start(), found.end(), "PyTorch for ROCm has the same names", "PyTorch, HIP semantics")


def _inside(place: int, taken: list[tuple[int, int]]) -> bool:
    index = bisect_right(taken, (place, _FAR)) - 1
    return index >= 0 and taken[index][1] > place


def _gives_gpu(finding: Finding) -> bool:
    return getattr(finding, "replacement", b"").startswith(b"amd.com/")


def _entry(text: YamlText, entry: Entry, path: PurePath, options: Options) -> Iterator[Finding]:
    """Ask the rules about one entry."""
    value = entry.value
    if entry.key is not None:
        yield from k8s_names.key(text, entry, options)
        if value.kind == "list" and (entry.key.text in _ENVIRONMENT or _lists_variables(value)):
            yield from k8s_pods.variables(text, entry, options)
        elif k8s_commands.is_words(value):
            yield from k8s_commands.words(text, entry, options)
        elif value.kind == "scalar":
            found = list(_pair(text, entry, options))
            yield from found
            yield from _key_name(text, entry, found)
    elif value.kind == "map":
        yield from k8s_pods.container(text, entry, options)
    if value.kind == "scalar" and value.alias is None:
        yield from _scalar(text, entry, path, options)


def _lists_variables(node: Node) -> bool:
    """Say whether a list is one of variables, whatever its key is called: names in capitals with values."""
    return any(
        entry.kind == "map" and entry.value("name").isupper() and len(entry.pairs) == 2 for entry in node.entries
    )


def _pair(text: YamlText, entry: Entry, options: Options) -> Iterator[Finding]:
    """A key with a scalar: what the key says decides; a chart's own switch is what nothing else explains."""
    known = [] if k8s_names.selects(entry) else list(k8s_helm.switch(text, entry, options, known=True))
    found = known or [*_by_key(text, entry, options), *k8s_objects.pair(text, entry)]
    yield from found or k8s_helm.switch(text, entry, options, known=False)


def _key_name(text: YamlText, entry: Entry, found: list[Finding]) -> Iterator[Finding]:
    """Speak for a key that only names NVIDIA, where its value says all there is."""
    assert entry.key is not None
    start, end = text.span(entry.key)
    if not re.fullmatch(r"\w+", entry.key.text) or not mentions_nvidia(text.data[start:end]):
        return
    said = any(isinstance(finding, Change | Note | Fine) for finding in found) or resource(entry.value.text) is not None
    if said or entry.value.text in ("", "null", "~", "{}", "[]", "false"):
        yield Fine(start, end, "the name of a value; what it holds counts")


def _by_key(text: YamlText, entry: Entry, options: Options) -> Iterator[Finding]:
    assert entry.key is not None
    name = entry.key.text
    if name in ("runtimeClassName", "runtimeClass"):
        yield from k8s_objects.runtime_class(text, entry)
    elif (name == "repository" and _is_image(text, entry)) or (
        name == "newName" and text.sibling(entry, "newTag") is not None
    ):
        yield from k8s_pods.repository(text, entry, options)
    elif _IMAGE_KEYS.match(name):
        yield from k8s_pods.image(text, entry, options)
    elif name.isupper():
        yield from k8s_pods.variable_key(text, entry, options)
    elif name in _QUERY_KEYS:
        yield from _query(text, entry, options)
    elif _IMAGE.fullmatch(entry.value.text) and not name.lower().endswith(("model", "path")):
        yield from k8s_pods.image(text, entry, options)


def _is_image(text: YamlText, entry: Entry) -> bool:
    return text.sibling(entry, "tag") is not None or "image" in (entry.path[-1:] or ("",))[0].lower()


def _query(text: YamlText, entry: Entry, options: Options) -> Iterator[Finding]:
    yield from prometheus.within(text, entry.value, lambda data: promql.expression(data, options))


def _scalar(text: YamlText, entry: Entry, path: PurePath, options: Options) -> Iterator[Finding]:
    """A scalar in a list or behind a key, wherever it stands."""
    value = entry.value
    owner = entry.key.text if entry.key is not None else (entry.path[-1] if entry.path else "")
    if value.body:
        yield from _block(text, entry, owner, path, options)
        return
    yield from k8s_names.value(text, entry, options)
    yield from k8s_pods.host_path(text, entry)
    yield from k8s_objects.json_patch(text, entry, options)
    if owner == "expression" and "cel" in entry.path[-1:]:
        yield from k8s_objects.cel(text, entry)
    if owner in k8s_commands.KEYS:
        yield from k8s_commands.command(text, entry, options)
    if _DEVICE.fullmatch(value.text):
        yield Fine(
            *text.span(value), "PyTorch and what is built on it call AMD's devices cuda, too", "PyTorch, HIP semantics"
        )
    if "model" in owner.lower() and _MODEL.fullmatch(value.text):
        yield Fine(*text.span(value), "the name of a model")
    if owner == "name" and entry.under("metric") and (answer := promql.metric(value.text, options)) is not None:
        yield from k8s_pods.said(text, entry, answer)
        yield Note(
            *text.span(value),
            "check the value that the metric is compared to: units and meaning may differ",
            answer.source,
        )
    elif _is_name(text, entry, owner, path) and not _known_name(value.text):
        yield from _name(text, entry)


def _is_name(text: YamlText, entry: Entry, owner: str, path: PurePath) -> bool:
    if owner == "name" and (
        entry.under(*_ENVIRONMENT) or text.sibling(entry, "value") or text.sibling(entry, "valueFrom")
    ):
        return False
    return (
        owner in _NAME_KEYS or owner.startswith(_NAME_PREFIXES) or (path.name == "Chart.yaml" and owner in _CHART_KEYS)
    )


def _known_name(name: str) -> bool:
    return resource(name) is not None or label(name) is not None


def _name(text: YamlText, entry: Entry) -> Iterator[Finding]:
    start, end = text.span(entry.value)
    if mentions_nvidia(text.data[start:end]):
        yield Fine(start, end, "a name that people gave; others may refer to it, so it stays")


def _block(text: YamlText, entry: Entry, owner: str, path: PurePath, options: Options) -> Iterator[Finding]:
    """A block of text: a script, a query, or a file inside this one."""
    place = text.block(entry.value)
    if place is None:
        return
    start, end = text.byte(place[0]), text.byte(place[1])
    data = text.data[start:end]
    if not (mentions_nvidia(data) or implies_nvidia(data)):
        return
    if owner in k8s_commands.KEYS:
        yield from k8s_commands.command(text, entry, options)
    elif owner in _QUERY_KEYS:
        yield from _query(text, entry, options)
    elif owner == "expression" and "cel" in entry.path[-1:]:
        yield from moved(k8s_objects.cel_text(data), start)
    elif owner in ("patch", "values", "valuesContent", "manifest", "template"):
        yield from moved(file(data, path, "inner.yaml", options), start)
    elif owner in ("description", "message", "notes"):
        yield Fine(start, end, "a text for people")
    else:
        yield from moved(file(data, path, owner, options), start)
