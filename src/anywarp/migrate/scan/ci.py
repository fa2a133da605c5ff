"""Workflows of GitHub, GitLab, CircleCI and others: on which machines jobs run, in which images, and what their steps do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from anywarp.migrate.findings import Use
from anywarp.migrate.formats.outline import Node
from anywarp.migrate.scan import places
from anywarp.migrate.scan.lines import Lines, filled
from anywarp.migrate.scan.places import Place

GPU = re.compile(
    r"(?i)(?<![a-z])(?:gpu|cuda|nvidia|a10g?|a100|h100|h200|b200|l4|l40s?|t4|v100|p100|rtx\w*|g[45]dn?\.\w+|g6e?\.\w+|p[345][a-z]*\.\w+)(?![a-z])"
)
_EXPRESSION = re.compile(r"\$?\{\{.*?\}\}")
_ACTION = re.compile(r"(?i)cuda|nvidia|setup-.*gpu")
_AXIS = re.compile(r"(?i)^cuda(?:[-_]?version|[-_]?arch\w*|[-_]?major|[-_]?toolkit)?s?$|^cu[-_]?version$")
_RUNNERS = frozenset(
    {
        "runs-on",
        "runs_on",
        "runner",
        "tags",
        "agents",
        "resource_class",
        "pool",
        "vmImage",
        "label",
        "queue",
        "accelerator",
    }
)
_GITHUB_KEYS = ("jobs", "runs")


def is_workflow(root: Node, path: PurePath) -> bool:
    """Tell whether a document is a workflow, by where it lies and what it holds."""
    name, parents = path.name.lower(), [part.lower() for part in path.parts[:-1]]
    if "workflows" in parents and (".github" in parents or ".gitea" in parents or ".forgejo" in parents):
        return True
    if name in ("action.yml", "action.yaml") and root.get("runs") is not None:
        return True
    if "gitlab-ci" in name or ".gitlab" in parents or ("gitlab" in parents and "ci" in parents):
        return True
    if (
        ".circleci" in parents
        or ".buildkite" in parents
        or name in ("azure-pipelines.yml", "bitbucket-pipelines.yml", ".travis.yml", ".drone.yml", "cloudbuild.yaml")
    ):
        return True
    return root.get("on") is not None and root.get("jobs") is not None


def document(lines: Lines, root: Node) -> Iterator[Use]:
    """Yield what the jobs of a workflow say about CUDA, and which images they build."""
    for place in places.places(root):
        yield from places.variables(lines, place)
        yield from places.image(lines, place)
        if place.name == "container" and place.value.kind == "scalar":
            yield from places.image(lines, Place(Node("scalar", 0, 0, "image"), place.value, place.holder, place.above))
        if place.name in places.COMMANDS:
            yield from places.run(lines, place.value)
        yield from _machine(lines, place)
        yield from _step(lines, place)


def _machine(lines: Lines, place: Place) -> Iterator[Use]:
    if place.name in _RUNNERS and not lines.first("machine", place.value.real()):
        return
    if place.name in _RUNNERS:
        for node in [
            place.value.real(),
            *place.value.real().entries,
            *(value for _, value in place.value.real().pairs),
        ]:
            bare = filled(node.text, "", _EXPRESSION)
            if node.kind == "scalar" and GPU.search(bare):
                yield lines.use_at("ci.runner", node.text, node.line, node.column)
    elif (
        place.key is not None
        and _AXIS.match(place.name)
        and (place.value.kind == "list" or re.match(r"[\"']?\d", place.value.text))
    ):
        values = place.value.text or ", ".join(entry.text for entry in place.value.entries)
        if "with" not in place.above[-1:]:
            yield lines.use_at("ci.matrix", place.name, place.key.line, place.key.column, value=values)
    elif place.name == "options" and "--gpus" in place.value.text:
        yield lines.use_at("container.gpus", "--gpus", place.value.line, place.value.column, value=place.value.text)


def _step(lines: Lines, place: Place) -> Iterator[Use]:
    if place.name != "uses" or place.value.kind != "scalar":
        return
    text = place.value.text
    with_ = place.holder.get("with")
    if _ACTION.search(text.split("@")[0]):
        yield lines.use_at("ci.action", text, place.value.line, place.value.column)
    elif "build-push-action" in text and with_ is not None:
        tag = with_.value("tags").split("\n")[0].split(",")[0].strip()
        yield lines.use_at(
            "docker.build",
            tag or "image",
            place.value.line,
            place.value.column,
            context=with_.value("context") or ".",
            dockerfile=with_.value("file"),
        )
    elif "setup-micromamba" in text or "setup-miniconda" in text:
        file = with_.value("environment-file") if with_ is not None else ""
        if file:
            yield lines.use_at("deploy.include", file, place.value.line, place.value.column)
