"""Layers of an image lie on each other: what a later one removes or writes anew is not in the image, and no finding of it is.

Layers are read one by one, as they are stored; only here is it known which lies on which.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable

from anywarp.migrate.findings import Use
from anywarp.migrate.scan.oci import OPAQUE, WHITEOUT

Pair = tuple[str, Use]


def visible_uses(uses: list[Pair]) -> list[Pair]:
    """Return the uses that are in the images as they run, in their order; uses outside images all stay.

    A use goes when every image that has its layer hides the file: by a whiteout in a later layer, or by a file of the same name there in
    which something was found, too. (A later file in which nothing was found is not known here, and hides nothing.)
    """
    images = _images(uses)
    if not images:
        return uses
    layers = {layer for image in images for layer in image}
    removed: dict[str, set[str]] = defaultdict(set)
    written: dict[str, set[str]] = defaultdict(set)
    inside: dict[str, tuple[str, str]] = {}
    for path, use in uses:
        if path in inside or "!/" not in path:
            continue
        layer = _layer_of(path, layers)
        if layer:
            inner = path[len(layer) + 2 :].partition("!/")[0].lstrip("/")
            inside[path] = (layer, inner)
            (removed if use.subject == "oci.whiteout" else written)[layer].add(inner)
    return [pair for pair in uses if pair[0] not in inside or not _hidden(*inside[pair[0]], images, removed, written)]


def _images(uses: Iterable[Pair]) -> list[list[str]]:
    """Return the layers of each image, lowest first, as the paths under which they are shown."""
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for path, use in uses:
        if use.subject == "oci.layer":
            folder = posixpath.dirname(path)
            if use.name.startswith("blobs/") and folder.endswith("/blobs/" + use.name.split("/")[1]):
                folder = folder[: -len("/blobs/" + use.name.split("/")[1])]
            elif use.name.startswith("blobs/") and folder == "blobs/" + use.name.split("/")[1]:
                folder = ""
            found[path][int(use.detail("order", "0"))] = f"{folder}/{use.name}" if folder else use.name
    return [[layer for _, layer in sorted(layers.items())] for layers in found.values()]


def _layer_of(path: str, layers: set[str]) -> str:
    """Return the layer that a path lies in: one of its beginnings before `!/`."""
    place = path.find("!/")
    while place >= 0:
        if path[:place] in layers:
            return path[:place]
        place = path.find("!/", place + 1)
    return ""


def _hidden(
    layer: str, inner: str, images: list[list[str]], removed: dict[str, set[str]], written: dict[str, set[str]]
) -> bool:
    having = [image for image in images if layer in image]
    return bool(having) and all(
        any(_hides(inner, removed[later], written[later]) for later in image[image.index(layer) + 1 :])
        for image in having
    )


def _hides(inner: str, removed: set[str], written: set[str]) -> bool:
    if inner in written:
        return True
    folder, name = posixpath.split(inner)
    while name:
        if posixpath.join(folder, WHITEOUT + name) in removed or posixpath.join(folder, OPAQUE) in removed:
            return True
        folder, name = posixpath.split(folder)
    return False
