"""The finder on `sys.meta_path` that sees `torch` and the modules we have changes for.

A finder costs nothing for other modules and needs no import of torch; it is what makes "nothing to import" possible.
"""

# pyright: basic
from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from anywarp.diagnostics import AnywarpError
from anywarp.frameworks import watching
from anywarp.frameworks.torch import binary, changes, found, load, messages, names, patches, scope
from anywarp.frameworks.torch.accelerators import load as accelerated


class Finder(MetaPathFinder):
    """Wraps the loaders of `torch`, `torch.cuda` and every module with a waiting change."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in ("torch", "torch.cuda") and name not in patches.waiting:
            return None
        spec = watching.found_by_others(self, name, path, target)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        before = None
        if name == "torch":
            before = self._before_torch(spec)
            if before is None:
                return spec
        elif name == "torch.cuda":
            before = names.before_torch_cuda if accelerated.mapped is None else accelerated.before_torch_cuda
        spec.loader = watching.Around(spec.loader, before, partial(patches.executed, name))
        return spec

    def _before_torch(self, spec: ModuleSpec) -> Callable[[], None] | None:
        """Return what loads the stand-in; None for what is not PyTorch and for a program that is to have none."""
        folder = Path(spec.origin).parent if spec.origin else None
        if folder is None or not found.is_torch(folder) or not scope.serves_program(scope.program()):
            self._leave()
            return None
        return lambda: self._load(folder)

    def _load(self, folder: Path) -> None:
        """Load the stand-in, or say once why there is none and let torch be as it is."""
        accelerator = accelerated.wanted()
        try:
            torch = found.read(folder)
            if accelerator:
                accelerated.load_mapped(torch, accelerator)
                return
            load.load_library(torch, binary.fitting(torch))
        except AnywarpError as error:
            self._leave()
            messages.say_once(error.diagnostic)
            return
        changes.register(over_cuda=bool(torch.cuda))

    def _leave(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)


def install() -> Finder:
    """Put the finder in force, once, and return it."""
    for finder in sys.meta_path:
        if isinstance(finder, Finder):
            return finder
    finder = Finder()
    watching.put_first(__name__, finder)
    patches.write_down("sys.meta_path", False, "a finder first in it, which sees torch and the modules to change")
    return finder
