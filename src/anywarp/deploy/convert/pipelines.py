"""Workflows of GitHub and pipelines of GitLab: images, runners, variables and steps.

Which runners have AMD GPUs is for their owner to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from anywarp.deploy.convert import commands, docker_run, images, packages
from anywarp.deploy.convert.compose import answered, held, variables
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal
from anywarp.deploy.convert.prometheus import within
from anywarp.deploy.convert.yaml_text import Entry, YamlText
from anywarp.migrate.formats.outline import Node

NAME = "ci"
RUNNER = "Y043"
ACTION = "Y048"
_SCRIPTS = ("run", "script", "before_script", "after_script")
_RUNNER = re.compile(
    r"(?i)nvidia|cuda|(?<![a-z])gpu(?![a-z])|(?<![a-z\d])(?:a10g?|a100|h100|h200|l4|l40s|t4|v100|rtx\w*)(?![a-z\d])"
)
_GPUS = re.compile(r"--gpus[= ]+(?:all|\"all\")|--runtime[= ]+nvidia")


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is a workflow or a pipeline."""
    parts = [part.lower() for part in path.parts]
    if path.suffix.lower() not in (".yml", ".yaml"):
        return False
    github = (".github" in parts and bool({"workflows", "actions"} & set(parts))) or path.name.lower() in (
        "action.yml",
        "action.yaml",
    )
    return (
        github
        or path.name.lower().endswith(".gitlab-ci.yml")
        or ".gitlab" in parts
        or bool(re.search(rb"(?m)^[ \t]+runs-on[ \t]*:", data))
    )


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a workflow or a pipeline."""
    text = YamlText(data)
    entries = held(text)
    for entry in text.entries():
        name = entry.key.text if entry.key is not None else ""
        if entry.key is None:
            yield from _listed(text, entry, options)
        elif name in ("env", "variables", "environment") and entry.value.kind == "map":
            yield from variables(text, entry.value, entries, options)
        elif entry.value.kind == "scalar":
            yield from _scalar(text, entry, name, options)


def _scalar(text: YamlText, entry: Entry, name: str, options: Options) -> Iterator[Finding]:
    value = entry.value
    if (
        name in ("image", "container")
        or (name == "name" and entry.under("image"))
        or entry.under("matrix", "with", "inputs", "default")
    ):
        yield from _named(text, value, options)
    if name in _SCRIPTS:
        yield from within(text, value, lambda inner: commands.commands(inner, options))
    elif name == "runs-on":
        yield from _runner(text, value, options)
    elif name == "options":
        yield from within(text, value, _options)
    elif name == "uses" and re.search(r"(?i)cuda|nvidia", value.text):
        reason = "an action that installs CUDA"
        yield Refusal(
            *text.span(value), reason, "take the step out, on an image of ROCm nothing takes its place", "", ACTION
        )
    elif name == "name" and not entry.under("image") and re.search(r"(?i)cuda|nvidia|nccl|gpu", value.text):
        yield Note(*text.span(value), "a name for people, which others may go by")


def _listed(text: YamlText, entry: Entry, options: Options) -> Iterator[Finding]:
    if entry.value.kind != "scalar":
        return
    if entry.under(*_SCRIPTS):
        yield from within(text, entry.value, lambda inner: commands.commands(inner, options))
    elif entry.under("runs-on", "tags", "labels"):
        yield from _runner(text, entry.value, options)
    elif len(entry.path) > 1 and "matrix" in entry.path:
        yield from _named(text, entry.value, options)


def _named(text: YamlText, node: Node, options: Options) -> Iterator[Finding]:
    """Yield what becomes of an image or the address of an index."""
    address = packages.index(node.text, options) if node.text.startswith("http") else None
    yield from answered(text, node, address or images.image(node.text, options))


def _runner(text: YamlText, node: Node, options: Options) -> Iterator[Finding]:
    given = options.mapping.get(("runner", node.text))
    start, end = text.span(node)
    if given is not None:
        yield Change(start, end, given[1].encode(), "as given by --map", "--map")
    elif re.search(r"(?i)amd|rocm|mi\d{3}|instinct", node.text):
        yield Fine(start, end, "names a runner with AMD's cards")
    elif _RUNNER.search(node.text) and "${{" not in node.text:
        reason = "a runner with NVIDIA's GPUs, by a name that its owner gave"
        yield Refusal(
            start, end, reason, f"give the name of one with AMD GPUs: --map runner={node.text}:NEW", "", RUNNER
        )


def _options(data: bytes) -> Iterator[Finding]:
    for found in _GPUS.finditer(data.decode("latin-1")):
        new = "" if "runtime" in found[0] else docker_run.DEVICE_OPTIONS
        yield Change(
            *found.span(),
            new.encode(),
            "AMD GPUs are devices of the host, for the group that may open them",
            "rocm.docs.amd.com",
        )


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """Yield the places of the comments."""
    return YamlText(data).comments()
