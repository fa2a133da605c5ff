"""Saved images: an OCI layout or an archive of `docker save`, by its index, manifests and configurations, and what layers take away.

Layers are archives like any other and are opened as such; these small files say under which names the image is known, in which order its
layers lie, what it starts, and which variables it sets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, cast

from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.migrate.findings import Use
from anywarp.migrate.scan import commands

LARGEST = 8 << 20
INSTALLED = True

WHITEOUT = ".wh."
OPAQUE = ".wh..wh..opq"

DAMAGED = "M050"
_HELP = "save the image again; what its layers hold is listed, also what later layers remove"
_DIGEST = re.compile(r"[0-9a-f]{64}(?:\.json)?")
_MOST = 4000  # layers, variables and manifests of one image that are taken


def wants(path: PurePath, head: bytes) -> bool:
    """Tell whether a file is a part of a saved image, by its name and its first bytes, or a mark that a layer removes a file."""
    name = path.name
    if name.startswith(WHITEOUT):
        return True
    if head.lstrip()[:1] not in (b"{", b"["):
        return False
    if name == "index.json":
        return b'"manifests"' in head
    if name == "manifest.json":
        return b'"Layers"' in head or b'"Config"' in head
    return _DIGEST.fullmatch(name) is not None


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield the facts of an index, a manifest or a configuration, and the uses in a configuration's variables.

    AnywarpError M050 for a part that is no JSON: then it is not known which layers lie on which, and nothing hides what was removed.
    """
    if path.name.startswith(WHITEOUT):
        yield Use("oci.whiteout", path.name)
        return
    try:
        found = json.loads(bytes(data))
    except (ValueError, RecursionError) as error:
        if not _names_an_image(bytes(data[:4096])):
            return  # a blob that is something else
        raise AnywarpError(
            Diagnostic(DAMAGED, f"{path.name} of a saved image is no JSON: {str(error)[:120]}", help=_HELP)
        ) from None
    if isinstance(found, list):
        for entry in _dicts(cast(list[Any], found)):
            yield from _saved(entry)
    elif isinstance(found, dict):
        told = cast(dict[str, Any], found)
        if "manifests" in told:
            yield from _index(told)
        elif "layers" in told:
            yield from _layers([str(layer.get("digest", "")) for layer in _dicts(told["layers"])])
        elif "rootfs" in told or "config" in told:
            yield from _configuration(told)


def _names_an_image(head: bytes) -> bool:
    return re.search(rb'"(?:manifests|Layers|layers|rootfs|schemaVersion|mediaType)"', head) is not None


def _dicts(found: Any) -> list[dict[str, Any]]:
    if not isinstance(found, list):
        return []
    return [cast(dict[str, Any], one) for one in cast(list[Any], found)[:_MOST] if isinstance(one, dict)]


def _strings(found: Any) -> list[str]:
    if not isinstance(found, list):
        return []
    return [one for one in cast(list[Any], found)[:_MOST] if isinstance(one, str)]


def _saved(entry: dict[str, Any]) -> Iterator[Use]:
    """An image in the manifest.json of `docker save`."""
    for tag in _strings(entry.get("RepoTags")):
        yield Use("oci.tag", tag)
    yield from _layers(_strings(entry.get("Layers")))


def _index(told: dict[str, Any]) -> Iterator[Use]:
    for manifest in _dicts(told["manifests"]):
        notes = manifest.get("annotations")
        notes = cast(dict[str, Any], notes) if isinstance(notes, dict) else {}
        name = notes.get("io.containerd.image.name") or notes.get("org.opencontainers.image.ref.name")
        if isinstance(name, str) and name:
            yield Use("oci.tag", name, details=(("digest", str(manifest.get("digest", ""))[:80]),))


def _layers(names: list[str]) -> Iterator[Use]:
    for order, name in enumerate(names):
        place = "blobs/" + name.replace(":", "/") if re.fullmatch(r"\w+:[0-9a-f]{32,}", name) else name
        yield Use("oci.layer", place, details=(("order", str(order)),))


def _configuration(told: dict[str, Any]) -> Iterator[Use]:
    config = told.get("config")
    config = cast(dict[str, Any], config) if isinstance(config, dict) else {}
    variables = {pair.partition("=")[0]: pair.partition("=")[2] for pair in _strings(config.get("Env"))}
    version = variables.get("CUDA_VERSION")
    if version:
        yield Use("image.content", f"CUDA {version[:40]}", text=f"CUDA_VERSION={version[:80]}")
    for name, value in variables.items():
        for one in commands.set_variable(name, value, 0):
            yield Use(one.subject, one.name, text=f"{name}={value}"[:200], details=(*one.details, ("where", "image")))
    words = [*_strings(config.get("Entrypoint")), *_strings(config.get("Cmd"))]
    if words:
        yield Use("docker.command", " ".join(words)[:400])
