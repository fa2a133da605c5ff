"""The finder on `sys.meta_path` that sees `torch` and the modules we have changes for.

A finder costs nothing for other modules and needs no import of torch; it is what makes "nothing to import" possible.
"""

# pyright: basic
from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from anywarp.diagnostics import AnywarpError
from anywarp.frameworks.torch import binary, changes, found, load, messages, names, patches, scope


class _Around(Loader):
    """A loader that does something before and after the real one executes the module."""

    def __init__(self, real: Any, before: Callable[[], None] | None, name: str):
        self.real, self.before, self.name = real, before, name

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self.real  # what inspects the module sees the loader it would have had
        if module.__spec__ is not None:
            module.__spec__.loader = self.real
        if self.before:
            self.before()
        self.real.exec_module(module)
        patches.executed(self.name, module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


class Finder(MetaPathFinder):
    """Wraps the loaders of `torch`, `torch.cuda` and every module with a waiting change."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in ("torch", "torch.cuda") and name not in patches.waiting:
            return None
        spec = self._real(name, path, target)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        before = None
        if name == "torch":
            before = self._before_torch(spec)
            if before is None:
                return spec
        elif name == "torch.cuda":
            before = names.before_torch_cuda
        spec.loader = _Around(spec.loader, before, name)
        return spec

    def _real(self, name: str, path: Any, target: Any) -> ModuleSpec | None:
        """Ask the other finders, as the import system does."""
        for finder in list(sys.meta_path):
            if finder is not self and (spec := finder.find_spec(name, path, target)) is not None:
                return spec
        return None

    def _before_torch(self, spec: ModuleSpec) -> Callable[[], None] | None:
        """Return what loads the stand-in; None for what is not PyTorch and for a program that is to have none."""
        folder = Path(spec.origin).parent if spec.origin else None
        if folder is None or not found.is_torch(folder) or not scope.serves_program(scope.program()):
            self._leave()
            return None
        return lambda: self._load(folder)

    def _load(self, folder: Path) -> None:
        """Load the stand-in, or say once why there is none and let torch be as it is."""
        try:
            torch = found.read(folder)
            load.load_library(torch, binary.fitting(torch))
        except AnywarpError as error:
            self._leave()
            messages.say_once(error.diagnostic)
            return
        changes.register()

    def _leave(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)


def install() -> Finder:
    """Put the finder in force, once, and return it."""
    for finder in sys.meta_path:
        if isinstance(finder, Finder):
            return finder
    finder = Finder()
    others = [each for each in sys.meta_path if getattr(each, "stands_for", None) != __name__]  # site/sitecustomize.py
    sys.meta_path[:] = [finder, *others]
    patches.write_down("sys.meta_path", False, "a finder first in it, which sees torch and the modules to change")
    return finder
