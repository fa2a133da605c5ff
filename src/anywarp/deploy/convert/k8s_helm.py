"""Helm: charts that depend on NVIDIA's, values that choose a vendor, and templates, which are text with holes.

A template is converted where the text is exact (a resource's name, a label, a toleration); what a hole decides is left and listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from anywarp.catalogue.replacements import kind
from anywarp.deploy.convert import codes
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal, change, refusal
from anywarp.deploy.convert.yaml_text import Entry, YamlText
from anywarp.migrate.formats.outline import Node

_VERSIONS = {"gpu-operator-charts": "v1.5.1", "amd-gpu": "0.21.0", "device-metrics-exporter-charts": "v1.5.2"}
"""Versions of AMD's charts as of the sources read; a chart is pinned to one that was looked at."""
_SUBCHARTS = (
    "gpu-operator",
    "nvidia-device-plugin",
    "gpu-feature-discovery",
    "dcgm-exporter",
    "nvidia-dra-driver-gpu",
    "network-operator",
)
_LONGEST = 4000
"""Most bytes of an action of a template that are looked into: people write lines."""
_VALUE = re.compile(rb"[.$][A-Za-z_][\w.]*(?i:nvidia|cuda|dcgm|nccl|mig)[\w.]*")
_INCLUDED = re.compile(rb"\b(?:include|template|define|block)\s+\"([^\"]*)\"")
_COMPARED = re.compile(rb"\b(?:eq|ne|hasKey|has|contains)\b[^{}]*?\"(nvidia|cuda)\"")


def whole(text: YamlText, root: Node, path: PurePath) -> Iterator[Finding]:
    """Convert the dependencies of a chart, and refuse values that are meant for one of NVIDIA's charts."""
    if path.name in ("Chart.yaml", "requirements.yaml"):
        for item in root.items("dependencies"):
            yield from _dependency(text, item)
    elif root.value("kind") in ("HelmRelease", "Application", "HelmChart", "ApplicationSet"):
        yield from _release(text, root)
    elif root.value("kind") == "HelmRepository" and (row := kind("repository", root.value("spec", "url").rstrip("/"))):
        yield refusal(*text.document(root), row, f"add {row['target']} instead", codes.REPLACED_WHOLE)
    elif path.name.startswith("values") and not root.value("kind"):
        for key, value in root.pairs:
            if key.text in _SUBCHARTS and value.pairs and (row := kind("chart", key.text)) is not None:
                start = text.span(key)[0]
                help = f"write the values of {row['target'] or 'what takes its place'} instead"
                yield refusal(start, max(text.span(value)[1], start), row, help, codes.REPLACED_WHOLE)


def _dependency(text: YamlText, item: Node) -> Iterator[Finding]:
    name, repository, version = item.get("name"), item.get("repository"), item.get("version")
    row = kind("chart", name.text) if name is not None else None
    if name is None or row is None:
        return
    whole = [text.span(node) for node in (name, repository, version) if node is not None]
    start, end = min(s for s, _ in whole), max(e for _, e in whole)
    place = kind("repository", repository.text.rstrip("/")) if repository is not None else None
    if row["conversion"] != "rewrite" or place is None:
        help = f"depend on {row['target']} instead" if row["target"] else "take the dependency out"
        yield refusal(start, end, row, help, codes.REPLACED_WHOLE)
        return
    target = _home(row["target"])
    yield change(*text.span(name), row["target"], row)
    assert repository is not None
    yield Change(*text.span(repository), target.encode(), place["reason"], place["source"])
    if version is not None:
        reason = f"the version of {row['target']} that was looked at; choose a newer one if there is"
        yield Change(*text.span(version), _VERSIONS[row["target"]].encode(), reason, row["source"])


def _home(chart: str) -> str:
    return {
        "gpu-operator-charts": "https://rocm.github.io/gpu-operator",
        "amd-gpu": "https://rocm.github.io/k8s-device-plugin",
        "device-metrics-exporter-charts": "https://rocm.github.io/device-metrics-exporter",
    }[chart]


def _release(text: YamlText, root: Node) -> Iterator[Finding]:
    """Refuse a release of one of NVIDIA's charts (Flux, Argo CD, k3s): its values are other ones."""
    for key, node in root.walk():
        if key is None or key.text != "chart" or node.kind != "scalar":
            continue
        row = kind("chart", node.text.rpartition("/")[2])
        if row is not None:
            help = (
                f"install {row['target']} instead, with values of its own" if row["target"] else "take the release out"
            )
            yield refusal(*text.document(root), row, help, codes.REPLACED_WHOLE)
            return


def switch(text: YamlText, entry: Entry, options: Options, known: bool) -> Iterator[Finding]:
    """Convert a value by which a chart chooses between vendors: `known` by the table or from the user, or one that looks like it."""
    assert entry.key is not None
    if text.inner(entry.value) is None:
        return
    path = ".".join((*entry.path, entry.key.text))
    place = text.span(entry.value)
    if not known:
        if entry.value.text.lower() == "nvidia" and not text.kind(entry):
            help = f"if the chart knows AMD, say its word: --map {path}=nvidia:amd"
            yield Refusal(*place, "a chart's own switch between vendors", help, code=codes.ASK)
        return
    answer = options.answer(path, entry.value.text) or options.answer(entry.key.text, entry.value.text)
    row = kind("value", f"{path}={entry.value.text}")
    if answer is not None and not answer[0]:
        yield Change(*place, answer[1].encode(), f"asked for: {entry.key.text}={answer[1]}", "--map")
    elif text.kind(entry):
        return
    elif row is not None and row["conversion"] == "keep":
        yield Note(*place, row["reason"], row["source"])
    elif row is not None:
        yield change(*place, row["target"], row)


def templated(text: YamlText, path: PurePath, options: Options) -> Iterator[Finding]:
    """Convert exact names inside the actions of a template, such as the default of a value."""
    if b"{{" not in text.data:
        return
    target = b"amd.com/spx_nps1" if options.naming == "mixed" else b"amd.com/gpu"
    row = kind("taint", "nvidia.com/gpu")
    assert row is not None
    for first, action in actions(text.data):
        yield from _words(first, action)
        for found in re.finditer(rb"\"(nvidia\.com/gpu)\"|`(nvidia\.com/gpu)`", action):
            start, end = (first + place for place in found.span(1 if found[1] else 2))
            yield Change(start, end, target, "the name of the resource, exact inside a template", row["source"])
    del path


def actions(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the actions of a template with their places, in one pass; long ones in part."""
    start = data.find(b"{{")
    while start >= 0:
        end = data.find(b"}}", start)
        if end < 0:
            return
        yield start, data[start : min(end + 2, start + _LONGEST)]
        start = data.find(b"{{", end + 2)


def comments(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the places of the comments of a template."""
    for start, action in actions(data):
        if action.lstrip(b"{- \t\r\n").startswith(b"/*"):
            yield start, start + len(action)


def _words(start: int, action: bytes) -> Iterator[Finding]:
    """Speak for what an action calls by name or compares: it follows the values, and stays."""
    for found in _VALUE.finditer(action):
        yield Fine(start + found.start(), start + found.end(), "the name of a value of this chart")
    for found in _INCLUDED.finditer(action):
        yield Fine(start + found.start(1), start + found.end(1), "the name of a template of this chart")
    for found in _COMPARED.finditer(action):
        yield Note(
            start + found.start(1),
            start + found.end(1),
            "the template asks which vendor was chosen; it stays, the values decide",
        )
