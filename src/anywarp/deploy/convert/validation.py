"""Whether converted manifests are still what the schemas of Kubernetes allow, where kubernetes-validate is installed.

Custom resources have no schema there, and templates are no YAML: both are counted as not validated, never as valid.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from anywarp.deploy.convert.engine import Converted
from anywarp.deploy.convert.tree import Run
from anywarp.migrate.shown import visible

_ALIAS = re.compile(r"(?m)(?:^|[\s\[,:-])\*[\w-]+")
MOST_ALIASES = 20
"""A document with more is not validated: a validator follows every alias, and a bomb is made of them."""


@dataclass(slots=True)
class Validation:
    """What the schemas of Kubernetes said: documents checked, those that were valid before and are not now."""

    state: str = ""
    documents: int = 0
    unknown: int = 0
    errors: list[str] = field(default_factory=list[str])

    def as_text(self) -> Iterator[str]:
        """Yield what to print."""
        if self.errors:
            yield from (f"INVALID {error}" for error in self.errors)
        if self.state:
            yield f"converted manifests were not validated: {self.state}"
        elif self.documents:
            yield f"{self.documents} converted manifests are valid Kubernetes" + (
                f"; {self.unknown} are of kinds without a schema" if self.unknown else ""
            )

    def as_json(self) -> dict[str, Any]:
        """Return the same for programs."""
        return {
            "state": self.state or "done",
            "documents": self.documents,
            "unknown": self.unknown,
            "errors": self.errors,
        }


def validate(done: Run) -> Validation:
    """Validate every changed manifest: an error is what was valid before and is not now."""
    out = Validation()
    changed = [
        r for r in done.results if r.converted is not None and r.converted.kind == "kubernetes" and r.converted.changes
    ]
    if not changed:
        return out
    try:
        checker = importlib.import_module("kubernetes_validate")
    except ImportError:
        return Validation("kubernetes-validate is not installed")
    for result in changed:
        assert result.converted is not None
        for number, (old, new) in enumerate(_pairs(result.converted), 1):
            _one(checker, f"{visible(result.file.shown)}, document {number}", old, new, out)
    return out


def _pairs(converted: Converted) -> Iterator[tuple[Any, Any]]:
    """Yield the documents of a file before and after, as far as they are objects and can be read."""
    if b"{{" in converted.new:
        return
    old, new = _documents(converted.old), _documents(converted.new)
    if len(old) == len(new):
        yield from zip(old, new, strict=True)


def _documents(data: bytes) -> list[Any]:
    from ruamel.yaml import YAML, YAMLError

    text = data.decode("utf-8", "replace")
    if len(_ALIAS.findall(text)) > MOST_ALIASES:
        return []
    reader = YAML(typ="safe", pure=True)
    reader.allow_duplicate_keys = True
    try:
        return [document for document in cast(Any, reader).load_all(text) if document is not None]
    except (YAMLError, ValueError, RecursionError, AttributeError, TypeError):
        return []


def _one(checker: Any, place: str, old: Any, new: Any, out: Validation) -> None:
    if not isinstance(new, dict) or "kind" not in new or old == new:
        return
    problem = _problem(checker, new)
    if problem is None:
        out.unknown += 1
    elif not problem:
        out.documents += 1
    elif _problem(checker, old):
        out.unknown += 1
    else:
        out.errors.append(f"{place}: {problem}")


def _problem(checker: Any, document: Any) -> str | None:
    """Return what is wrong with a document, "" for nothing, None where there is no schema for it."""
    try:
        checker.validate(document, checker.latest_version())
    except checker.SchemaNotFoundError:
        return None
    except checker.InvalidSchemaError:
        return None
    except checker.ValidationError as error:
        return visible(str(getattr(error, "message", error)))[:300]
    return ""
