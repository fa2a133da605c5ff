"""Modules that the assessed tree brings itself: to import them says nothing of what is installed elsewhere.

A project called `warp`, and a package that imports itself, would otherwise be told to replace what they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from anywarp.migrate.findings import Use

OWN = "dist.module"
"""The subject under which a scanner tells of a package's `__init__.py`; its name is that of the package."""


def without_own(uses: Iterable[tuple[str, Use]], files: Collection[str]) -> list[tuple[str, Use]]:
    """Return the uses but for imports of packages that lie beside the importing file or above it; `files` are all paths of the tree."""
    found = list(uses)
    roots: dict[str, set[str]] = {}
    for path, use in found:
        if use.subject == OWN and (root := _root(path, files)) is not None:
            roots.setdefault(use.name, set()).add(root)
    if not roots:
        return found
    return [(path, use) for path, use in found if not _is_own(path, use, roots)]


def _root(path: str, files: Collection[str]) -> str | None:
    """Return the folder that holds a package, with its separator; None for a package in a package, which nobody imports by that name."""
    folder = path.rpartition("/")[0].rpartition("/")[0]
    if f"{folder}/__init__.py" in files:
        return None
    return folder.removesuffix("/src") + "/" if folder else ""


def _is_own(path: str, use: Use, roots: dict[str, set[str]]) -> bool:
    if use.subject != "python.import":
        return False
    return any(path.startswith(root) for root in roots.get(use.name.partition(".")[0], ()))
