"""Look up in the tables of replacements: the row for a package, an image, a resource, a label, a variable as people write them.

Assessing and converting must find the same row for the same text, so that what is promised is what is done.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from packaging.specifiers import SpecifierSet

from anywarp.catalogue.migration import Row, rows

_DOCKER_HUB = re.compile(r"^(?:docker\.io|index\.docker\.io|registry-1\.docker\.io)/(?:library/)?")
_IMAGE = re.compile(r"(?P<name>[^@\s]*?)(?::(?P<tag>[\w][\w.${}-]*))?(?:@(?P<digest>[\w+.-]+:[0-9a-fA-F]+))?$")

CUDA_NAME = re.compile(
    r"(?:^nvidia-(?!.*fake)|(?:^|-)cu(?:da)?-?1[0-9](?:\d|x)?(?:-|$)|^cuda-|-cuda(?:-|$)|^pycuda$|^tensorrt)"
)
"""What names of Python's and conda's packages look like that are for CUDA, whether or not a table has them."""


class Image(NamedTuple):
    """A reference to an image in its parts; Docker Hub's own names are left out of `name`, a missing tag is empty."""

    name: str
    tag: str
    digest: str


def canonical(name: str) -> str:
    """Return a Python distribution's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def package(name: str, channel: str = "pypi") -> Row | None:
    """Return the row of a package, by its name or by the longest prefix of it that a row has; None for one that is not CUDA's."""
    name = canonical(name)
    return _matched("packages", "name", name, lambda row: row["channel"] == channel)


def admits(row: Row, specifier: SpecifierSet) -> bool:
    """Say whether the versions asked for admit the one that is known of what takes a package's place; none is known: yes."""
    return not row["known"] or specifier.contains(row["known"], prereleases=True)


def image_parts(reference: str) -> Image:
    """Split a reference to an image: `docker.io/nvidia/cuda:12.1-base@sha256:..` has the name nvidia/cuda."""
    found = _IMAGE.match(reference.strip())
    if found is None:
        return Image(reference, "", "")
    return Image(_DOCKER_HUB.sub("", found["name"]), found["tag"] or "", found["digest"] or "")


def image(reference: str) -> tuple[Row, re.Match[str]] | None:
    """Return the row of an image and the match of its tag; None for one that no row knows. A missing tag is `latest`."""
    name, tag, _ = image_parts(reference)
    for row in rows("images"):
        if _fits(row["image"], name) and (found := re.fullmatch(row["tag"], tag or "latest")):
            return row, found
    return None


@cache
def resource(name: str) -> Row | None:
    """Return the row of an extended resource of Kubernetes; None for one that is not NVIDIA's."""
    return _matched("resources", "name", name)


@cache
def label(name: str) -> Row | None:
    """Return the row of a label of nodes; None for one that has nothing to do with NVIDIA's GPUs."""
    return _matched("node_labels", "name", name)


@cache
def kind(what: str, name: str) -> Row | None:
    """Return the row of what NVIDIA brings to a cluster: `what` is kind, chart, runtime-class, taint, workload, ..."""
    return _matched("kinds", "name", name, lambda row: row["what"] == what)


@cache
def variable(name: str) -> Row | None:
    """Return the row of an environment variable; None for one that is not CUDA's."""
    return _matched("environment", "name", name)


def _any(_: Row) -> bool:
    return True


def _matched(table: str, column: str, name: str, wanted: Callable[[Row], bool] = _any) -> Row | None:
    best: Row | None = None
    for row in rows(table):
        pattern = row[column]
        if not wanted(row) or not _fits(pattern, name):
            continue
        if "*" not in pattern:
            return row
        if best is None or len(pattern) > len(best[column]):
            best = row
    return best


def _fits(pattern: str, name: str) -> bool:
    if "*" not in pattern:
        return pattern == name
    return re.fullmatch(".*".join(re.escape(part) for part in pattern.split("*")), name) is not None
