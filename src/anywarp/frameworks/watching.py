"""A finder on `sys.meta_path` that does something before or after some modules are executed; others cost nothing."""

# pyright: basic
from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class Around(Loader):
    """A loader around the real one."""

    def __init__(self, real: Any, before: Callable[[], None] | None, after: Callable[[ModuleType], None] | None):
        self.real, self.before, self.after = real, before, after

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self.real  # what inspects the module sees the loader it would have had
        if module.__spec__ is not None:
            module.__spec__.loader = self.real
        if self.before:
            self.before()
        self.real.exec_module(module)
        if self.after:
            self.after(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


class Watcher(MetaPathFinder):
    """Wraps the loaders of the modules named: `before` is called before one is executed, `after` with it afterwards."""

    def __init__(
        self,
        before: Mapping[str, Callable[[], None]] | None = None,
        after: Mapping[str, Callable[[ModuleType], None]] | None = None,
    ):
        self.before, self.after = dict(before or {}), dict(after or {})

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in self.before and name not in self.after:
            return None
        spec = found_by_others(self, name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = Around(spec.loader, self.before.get(name), self.after.get(name))
        return spec


def found_by_others(own: MetaPathFinder, name: str, path: Any, target: Any) -> ModuleSpec | None:
    """Ask the finders besides `own`, as the import system does."""
    for finder in list(sys.meta_path):
        if finder is not own and (spec := finder.find_spec(name, path, target)) is not None:
            return spec
    return None


_installed: dict[str, Watcher] = {}


def install(adapter: str, watcher: Watcher) -> Watcher:
    """Put the watcher of an adapter (a module's name) in force, once, and return it."""
    if adapter not in _installed:
        _installed[adapter] = watcher
        put_first(adapter, watcher)
    return _installed[adapter]


def put_first(adapter: str, finder: MetaPathFinder) -> None:
    """Put a finder before all others, in the place of the adapter's door (site/sitecustomize.py)."""
    others = [each for each in sys.meta_path if getattr(each, "stands_for", None) != adapter]
    sys.meta_path[:] = [finder, *others]
