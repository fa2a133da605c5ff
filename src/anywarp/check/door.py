"""The finder on `sys.meta_path` that sees what can be recorded being imported.

It asks the finders behind it and lets itself be passed over meanwhile: `anywarp run` may have a finder for the same module, before it or behind it.
"""

# pyright: basic
from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from anywarp import settings
from anywarp.frameworks.watching import Around


class Finder(MetaPathFinder):
    """Lets the recorder of a module begin when that has been executed."""

    def __init__(self) -> None:
        self._asking = set[str]()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in _AFTER or name in self._asking:
            return None
        self._asking.add(name)
        try:
            spec = self._behind(name, path, target)
        finally:
            self._asking.discard(name)
        if spec is not None and spec.loader is not None:
            spec.loader = Around(spec.loader, None, _AFTER[name])
            settings.export({settings.COPIES_DIR.name: ""})  # what it computes is seen better than by its copies
        return spec

    def _behind(self, name: str, path: Any, target: Any) -> ModuleSpec | None:
        finders = list(sys.meta_path)
        for finder in finders[finders.index(self) + 1 :] if self in finders else finders:
            if (spec := finder.find_spec(name, path, target)) is not None:
                return spec
        return None


def install(door: Any) -> Finder:
    """Put the finder in the place of its door, and return it."""
    finder = Finder()
    sys.meta_path[:] = [finder if each is door else each for each in sys.meta_path]
    return finder


def _torch(module: ModuleType) -> None:
    from anywarp.check.record import session
    from anywarp.check.record.torch import calls

    recording = session.of_this_process()
    if recording.plan.reference:
        from anywarp.check.replay.torch import again

        calls.install(again.Again(recording))
    else:
        calls.install(calls.Recorder(recording))


def _onnxruntime(module: ModuleType) -> None:
    from anywarp.check.record import onnxruntime, session

    recording = session.of_this_process()
    if recording.plan.reference:
        from anywarp.check.replay import onnxruntime as again

        onnxruntime.install(module, again.Again(recording))
    else:
        onnxruntime.install(module, onnxruntime.Recorder(recording))


def _jax(module: ModuleType) -> None:
    from anywarp.check.record import session
    from anywarp.check.record.jax import calls

    recording = session.of_this_process()
    if recording.plan.reference:
        from anywarp.check.replay import jax as again

        calls.install(module, again.Again(recording))
    else:
        calls.install(module, calls.Recorder(recording))


_AFTER = {"torch": _torch, "onnxruntime": _onnxruntime, "jax": _jax}
