"""Files inside files: a script or a dashboard in a ConfigMap, a patch in a Kustomization, each converted as what it is.

They go through the registry as files on disk do, so that a text is converted alike wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from anywarp.deploy.convert import registry
from anywarp.deploy.convert.model import Finding, Fine, Options

MOST_DEPTH = 4
"""Files in files in files: deeper ones are left to the list of what was not converted."""

_INSIDE = "!"
_YAML = re.compile(rb"(?:[ \t\r]*(?:#[^\n]*)?\n|---[^\n]*\n)*[ \t]*(?:- )?[A-Za-z][\w./-]*:(?:[ \t]|\r?\n)")


def file(data: bytes, outer: PurePath, name: str, options: Options) -> Iterator[Finding]:
    """Convert a file called `name` that is kept inside the one at `outer`; its comments are fine as they are."""
    path = outer / _INSIDE / (name.replace("/", "_") or "inner")
    kind = registry.kind_of(path, data)
    if kind is None and _YAML.match(data):
        path = path.with_name("inner.yaml")
        kind = registry.kind_of(path, data)
    if kind is None or path.parts.count(_INSIDE) > MOST_DEPTH:
        return
    yield from kind.convert(data, path, options)
    for start, end in kind.comments(data):
        yield Fine(start, end, "a comment")
