"""Every pod of a folder's manifests sent through the webhook's engine, without a cluster: what would become of them.

What is read are the pods themselves and the pods that other objects hold (`spec.template`), wherever they stand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from anywarp.deploy.webhook.review import Answer, Rules, answer
from anywarp.diagnostics import AnywarpError
from anywarp.migrate import tree
from anywarp.migrate.shown import visible

_SUFFIXES = (".yaml", ".yml", ".json")
_LARGEST = 4 << 20
_ALIAS = re.compile(r"(?m)(?:^|[\s\[,:-])\*[\w-]+")
_MOST_ALIASES = 20
_MOST_DEPTH = 40


@dataclass(frozen=True, slots=True)
class Tried:
    """A pod, where it stands, and the answer to a review of it; `said` is the response as the API server reads it."""

    place: str
    pod: dict[str, Any]
    answer: Answer
    said: dict[str, Any]


def try_all(root: Path, rules: Rules, exclude: tuple[str, ...] = ()) -> Iterator[Tried | str]:
    """Yield each pod at or below a path with its answer; in the place of a file that cannot be read, a line that says so."""
    for file in tree.walk(root, exclude, tree.Walked()):
        if not file.shown.endswith(_SUFFIXES) or file.size > _LARGEST:
            continue
        shown = visible(file.shown)
        try:
            documents = _documents(tree.read(file.place, file.shown, _LARGEST))
        except AnywarpError as error:
            yield f"{shown}: {error.diagnostic.message}"
            continue
        if isinstance(documents, str):
            yield f"{shown}: {documents}"
            continue
        for number, document in enumerate(documents, 1):
            for place, pod in pods(document):
                yield tried(f"{shown}, document {number}{place and ', ' + place}", pod, rules)


def tried(place: str, pod: dict[str, Any], rules: Rules) -> Tried:
    """Return the answer to a review of one pod."""
    said = answer(review(pod), rules)
    return Tried(place, pod, said, json.loads(said.data)["response"] if said.data else {})


def review(pod: dict[str, Any], uid: str = "00000000-0000-0000-0000-000000000000") -> bytes:
    """Return a request to make a pod, as the API server sends it."""
    request = {
        "uid": uid,
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "operation": "CREATE",
        "object": pod,
    }
    whole = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return json.dumps(whole, default=str).encode()


def pods(document: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the pods of an object, each with its path inside: the object itself, or what stands as a `template` with a pod's `spec`."""
    yield from _pods(document, "", 0)


def _pods(value: Any, path: str, depth: int) -> Iterator[tuple[str, dict[str, Any]]]:
    if depth > _MOST_DEPTH:
        return
    if isinstance(value, list):
        for number, one in enumerate(cast(list[Any], value)):
            yield from _pods(one, f"{path}[{number}]", depth + 1)
    elif isinstance(value, dict):
        held = cast(dict[str, Any], value)
        spec = held.get("spec")
        containers = cast(dict[str, Any], spec).get("containers") if isinstance(spec, dict) else None
        if isinstance(containers, list) and (held.get("kind") == "Pod" or "kind" not in held):
            yield path, {**{k: v for k, v in held.items() if v is not None}, "apiVersion": "v1", "kind": "Pod"}
            return
        for key, one in held.items():
            yield from _pods(one, f"{path}.{key}" if path else str(key), depth + 1)


def _documents(data: bytes) -> list[Any] | str:
    from ruamel.yaml import YAML, YAMLError

    text = data.decode("utf-8", "replace")
    if "containers" not in text:
        return []
    if "{{" in text:
        return "a template: render it first (helm template)"
    if len(_ALIAS.findall(text)) > _MOST_ALIASES:
        return "too many aliases"
    reader = YAML(typ="safe", pure=True)
    reader.allow_duplicate_keys = True
    try:
        return [document for document in cast(Any, reader).load_all(text) if document is not None]
    except (YAMLError, ValueError, RecursionError, AttributeError, TypeError) as error:
        return f"no YAML: {visible(str(error).splitlines()[0])[:120]}"
