"""YAML of every kind: which it is, and the reader for it. Kubernetes, Helm, Kustomize, compose, workflows, conda, Prometheus.

A file's name seldom says what it holds; its keys do. Files that mention nothing of NVIDIA's, no image and no package are not parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from anywarp.catalogue.replacements import resource
from anywarp.migrate.findings import Use
from anywarp.migrate.formats.outline import Node, documents
from anywarp.migrate.rulings import yaml_kinds
from anywarp.migrate.scan import ci, compose, conda, kubernetes, places, shell
from anywarp.migrate.scan.lines import Lines, utf8

LARGEST = 32 << 20
"""Bytes of a file that are read; what is larger was written by a program and is read in the form it was made from."""

_SUFFIXES = (
    ".yaml",
    ".yml",
    ".tpl",
    ".gotmpl",
    ".yaml.j2",
    ".yml.j2",
    ".yaml.tmpl",
    ".yml.tmpl",
    ".yaml.template",
    ".yaml.in",
)
_HINTS = re.compile(
    rb"(?i)nvidia|cuda|dcgm|nccl|nvcc|aliyun\.com/gpu|volcano\.sh|gpu|accelerator|image|build:|dockerfile|torch|pip|conda|requirements|tensorrt|resources:"
)
_TEMPLATE_COMMENT = re.compile(r"\{\{-?\s*/\*.*?\*/\s*-?\}\}", re.DOTALL)
_COMMENT_END = re.compile(r"\*/\s*-?\}\}")
_NAME = re.compile(r"(?<![\w./-])(?:requests\.|limits\.)?nvidia\.com/[a-z][\w.-]*\w")
_CDI = re.compile(r"=(?:all|\d+(?::\d+)?|GPU-|MIG-)")
"""What makes a resource's name that of a device (CNCF's Container Device Interface)."""
_VERSION = re.compile(r"/v\d+(?:(?:alpha|beta)\d+)?$")
_CODE = re.compile(r"[^\n]")
_JSON = frozenset({"devcontainer.json", ".devcontainer.json"})


def wants(path: PurePath, head: bytes) -> bool:
    """Tell whether a file is YAML, a template of it, or JSON that holds a Kubernetes object."""
    name = path.name.lower()
    if name.endswith(_SUFFIXES) or name in _JSON:
        return True
    return name.endswith(".json") and b'"apiVersion"' in head and b'"kind"' in head


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield what every document of a file says."""
    data = utf8(data)
    if not _HINTS.search(data) or b"\0" in data[:4096]:
        return
    lines = Lines(data)
    text = lines.text
    templated = "{{" in text
    if templated:
        end = max((found.end() for found in _COMMENT_END.finditer(text)), default=0)  # behind it none ends
        text = _TEMPLATE_COMMENT.sub(lambda found: _CODE.sub(" ", found[0]), text[:end]) + text[end:]
    if path.name.lower() in _JSON:
        text = re.sub(r"^([ \t]*)//[^\n]*", r"\1", text, flags=re.MULTILINE)
    named = "{{" in text and not re.search(r"\.(?:j2|tmpl|template)$", path.name)
    told: set[int] = set()
    seen: set[tuple[str, str, int, int]] = set()
    roots = documents(text)
    for place, root in enumerate(roots):
        for use in _document(lines, root, path, named):
            told.add(use.line)
            place_of = (use.subject, use.name, use.line, use.column)
            if place_of not in seen:  # an alias leads to the same place again
                yield use
            seen.add(place_of)
            if use.detail("whole") and lines.first("whole", root):  # the object goes as a whole
                end = roots[place + 1].line if place + 1 < len(roots) else len(lines.starts) + 1
                told.update(range(root.line, end))
    apart = any(yaml_kinds.kind_of(root, path) in _READERS for root in roots)
    yield from _swept(lines, text, told, "command" if apart else "text")


def _swept(lines: Lines, text: str, told: set[int], where: str) -> Iterator[Use]:
    """Yield names of NVIDIA's in the cluster that stand where no key tells of them: in a template's own code, in a path, in a script.

    `where` they stand that are in no path: in a file that is none of the cluster's they are in a command, or what looks like one.
    """
    if "nvidia.com/" not in text:
        return
    for found in _NAME.finditer(text):
        line, column = lines.place(found.start())
        begin = lines.starts[line - 1]
        if line in told or _VERSION.search(found[0]) or _CDI.match(text, found.end()):
            continue
        told.add(line)
        if re.search(r"(?:^|\s)#", text[begin : found.start()]):
            continue  # and so is what follows on its line
        name = found[0].removeprefix("requests.").removeprefix("limits.").rstrip(".")
        subject = "k8s.resource" if resource(name) is not None else "k8s.label"
        inside = text[max(0, found.start() - 2) : found.start()] in ('["', "['")  # a path of JSON's
        yield lines.use_at(subject, name, line, column, use="path" if inside else where)


def _document(lines: Lines, root: Node, path: PurePath, templated: bool) -> Iterator[Use]:
    name = path.name.lower()
    if root.kind != "map":
        yield from _list(lines, root)
    elif name == "chart.yaml":
        yield from _chart(lines, root)
    elif name in ("kustomization.yaml", "kustomization.yml", "kustomization"):
        yield from _kustomization(lines, root)
    elif name in _JSON:
        yield from _devcontainer(lines, root)
    elif (kind := yaml_kinds.kind_of(root, path)) == "kubernetes":
        yield from _objects(lines, root, templated, path.name)
    elif kind in _READERS:
        yield from _READERS[kind](lines, root)
    else:
        yield from kubernetes.document(lines, root, templated)


_READERS = {"conda": conda.environment, "conda-lock": conda.lock, "ci": ci.document, "compose": compose.document}


def _objects(lines: Lines, root: Node, templated: bool, file: str) -> Iterator[Use]:
    items = root.get("items") if root.value("kind") == "List" else None
    for node in [entry.real() for entry in items.entries] if items is not None else [root]:
        if not lines.first("object", node):
            continue
        if node.value("kind") == "ConfigMap":
            yield from _files(lines, node)
        yield from kubernetes.document(lines, node, templated, file)


def _files(lines: Lines, root: Node) -> Iterator[Use]:
    """Yield what the files inside a ConfigMap say: scripts, lists of metrics."""
    data = root.get("data")
    for key, value in data.pairs if data is not None else ():
        if not value.body:
            continue
        piece = places.text_of(value)
        if key.text.endswith((".sh", ".bash")) or value.text.startswith("#!"):
            yield from lines.found_in(piece, shell.script(value.text))
        elif key.text.endswith((".yaml", ".yml")) or re.search(
            r"^(?:version|sharing|groups):", value.text, re.MULTILINE
        ):
            yield from _inner(lines, value)


def _inner(lines: Lines, value: Node) -> Iterator[Use]:
    """Read YAML that stands in a block scalar; its places are those of the file."""
    inner = Lines(value.text.encode("utf-8", "surrogatepass"))
    for root in documents(value.text):
        for use in kubernetes.document(inner, root, True):
            if not use.subject.startswith("deploy."):
                yield lines.use_at(
                    use.subject, use.name, use.line + value.body - 1, use.column + value.indent, **dict(use.details)
                )


def _list(lines: Lines, root: Node) -> Iterator[Use]:
    """Read a list: tasks of Ansible, a list of objects, a list of scrape targets."""
    for entry in root.entries:
        node = entry.real()
        if node.kind == "map" and lines.first("object", node):
            yield from kubernetes.document(lines, node, True)


def _chart(lines: Lines, root: Node) -> Iterator[Use]:
    name = root.get("name")
    if name is not None and root.value("type") != "library":
        yield lines.use_at("deploy.workload", name.text, name.line, name.column, kind="helm")
    yield from kubernetes.document(lines, root, True)


def _kustomization(lines: Lines, root: Node) -> Iterator[Use]:
    for section in ("resources", "bases", "components", "patchesStrategicMerge", "configurations"):
        for entry in root.items(section):
            if entry.text:
                yield lines.use_at("deploy.include", entry.text, entry.line, entry.column)
    for entry in root.items("images"):
        name = entry.get("newName") or entry.get("name")
        if name is not None:
            tag = entry.value("newTag")
            stands = places.Place(
                Node("scalar", 0, 0, "image"),
                Node("scalar", name.line, name.column, f"{name.text}:{tag}" if tag else name.text),
                entry,
                (),
            )
            yield from places.image(lines, stands)
    for entry in [*root.items("patches"), *root.items("patchesJson6902")]:
        patch = entry.get("patch")
        if patch is not None and patch.body:
            yield from _inner(lines, patch)
    yield from kubernetes.document(lines, root, True)


def _devcontainer(lines: Lines, root: Node) -> Iterator[Use]:
    for place in places.places(root):
        yield from places.image(lines, place)
        yield from places.variables(lines, place)
        if place.name in ("postCreateCommand", "onCreateCommand", "updateContentCommand", "postStartCommand"):
            yield from places.run(lines, place.value)
    for entry in root.items("runArgs"):
        if entry.text.startswith("--gpus") or "nvidia" in entry.text:
            yield lines.use_at("container.gpus", entry.text, entry.line, entry.column)
    for key, _ in (root.get("features") or Node("map", 0, 0)).pairs:
        if "cuda" in key.text:
            yield lines.use_at("ci.action", key.text, key.line, key.column)
