"""Which kind of file a document of YAML is, by its keys and where it lies: Kubernetes' objects, conda's environments, workflows, compose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePath
from typing import Literal

from anywarp.migrate.formats.outline import Node, documents

Kind = Literal["kubernetes", "conda", "conda-lock", "ci", "compose", ""]

_PIPELINES = frozenset("azure-pipelines.yml bitbucket-pipelines.yml .travis.yml .drone.yml cloudbuild.yaml".split())
_HINTS = (b"services", b"dependencies", b"content_hash", b"jobs", b"runs")


def kind_of(root: Node, path: PurePath) -> Kind:
    """Return the kind of a document; "" for one that has none of these."""
    if root.kind != "map":
        return ""
    if root.get("apiVersion") is not None and root.get("kind") is not None:
        return "kubernetes"
    if _is_environment(root, path.name.lower()):
        return "conda"
    if root.get("package") is not None and root.at("metadata", "content_hash") is not None:
        return "conda-lock"
    if _is_pipeline(path) or _is_workflow(root, path.name.lower()):
        return "ci"
    return "compose" if _is_compose(root, path.name.lower()) else ""


def kind_of_file(path: PurePath, data: bytes) -> Kind:
    """Return the kind of the first document of a file that has one."""
    if path.suffix.lower() not in (".yml", ".yaml") or not (_is_pipeline(path) or any(hint in data for hint in _HINTS)):
        return ""
    return _read(path, data)


@lru_cache(maxsize=1)
def _read(path: PurePath, data: bytes) -> Kind:
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    for root in documents(text):
        kind = kind_of(root, path)
        if kind:
            return kind
    return ""


def services(root: Node) -> Iterator[tuple[Node, Node]]:
    """Yield the services of a compose file by their names, and what is set aside for them under keys of the file's own (`x-gpu`)."""
    found = root.get("services")
    yield from found.pairs if found is not None else ()
    yield from ((key, value) for key, value in root.pairs if key.text.startswith("x-"))


def _is_compose(root: Node, name: str) -> bool:
    found = root.get("services")
    if found is None or found.kind != "map":
        return False
    made = (service.real() for _, service in found.pairs)
    return "compose" in name or any(one.get("image") or one.get("build") or one.get("extends") for one in made)


def _is_environment(root: Node, name: str) -> bool:
    """Tell whether a document is an environment of conda: a list of dependencies beside channels or a name, or in a file that is called so."""
    dependencies = root.get("dependencies")
    return (
        dependencies is not None
        and dependencies.kind == "list"
        and (
            root.get("channels") is not None
            or root.get("name") is not None
            or re.search(r"conda|(?<![a-z])env(?:ironment)?(?![a-z])", name) is not None
        )
        and root.get("apiVersion") is None
    )


def _is_pipeline(path: PurePath) -> bool:
    """Tell whether a file is a workflow or a pipeline by where it lies."""
    name, parents = path.name.lower(), [part.lower() for part in path.parts[:-1]]
    if "workflows" in parents and (".github" in parents or ".gitea" in parents or ".forgejo" in parents):
        return True
    if "gitlab-ci" in name or ".gitlab" in parents or ("gitlab" in parents and "ci" in parents):
        return True
    return ".circleci" in parents or ".buildkite" in parents or name in _PIPELINES


def _is_workflow(root: Node, name: str) -> bool:
    if name in ("action.yml", "action.yaml") and root.get("runs") is not None:
        return True
    jobs = root.get("jobs")
    if jobs is None or jobs.kind != "map":
        return False
    return root.get("on") is not None or any(job.real().get("runs-on") is not None for _, job in jobs.pairs)
