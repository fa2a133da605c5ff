"""Answers `import tensorrt` on the device `cpu`: NVIDIA's, where it is installed, is machine code for GPUs.

Where ONNX or ONNX Runtime is missing, an absent TensorRT stays absent, and one that is installed says what to install.
"""

# pyright: basic
from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from anywarp import settings
from anywarp.frameworks import watching
from anywarp.frameworks.tensorrt import needed, version
from anywarp.frameworks.torch import patches

NAMES = ("tensorrt", "tensorrt.tensorrt")
"""The module, and the name in it under which its classes are found, too."""


class Answer(Loader):
    """Makes the module of our names."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        if spec.name != "tensorrt":
            return sys.modules["tensorrt"]
        return None

    def exec_module(self, module: ModuleType) -> None:
        if lacking := needed.missing():
            raise ImportError(
                f"anywarp computes TensorRT's engines with ONNX Runtime: pip install {' '.join(lacking)}",
                name="tensorrt",
            )
        if "__version__" in vars(module):
            return
        from anywarp.frameworks.tensorrt import interface

        for name in interface.__all__:
            setattr(module, name, getattr(interface, name))
        names: Any = module
        names.__version__, names.__getattr__, names.__path__ = version.version(), _absent, []
        names.tensorrt = sys.modules["tensorrt.tensorrt"] = module
        patches.write_down(
            "tensorrt", not installed(), "engines are ONNX models, which ONNX Runtime computes in stream order"
        )


def _absent(name: str) -> Any:
    text = f"module 'tensorrt' has no attribute {name!r}: anywarp serves ONNX models, and no plugins or layers made by hand"
    raise AttributeError(text, name=name)


class Finder(MetaPathFinder):
    """Finds our module in the place of NVIDIA's."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in NAMES or not answers():
            return None
        return ModuleSpec(name, Answer(), origin="anywarp", is_package=name == "tensorrt")


def installed() -> bool:
    """Tell whether NVIDIA's package is there."""
    return PathFinder.find_spec("tensorrt") is not None


def answers() -> bool:
    """Tell whether `import tensorrt` is answered: on the device `cpu`, where something can compute or NVIDIA's would fail."""
    return settings.DEVICE.get() == "cpu" and (not needed.missing() or installed())


def install() -> MetaPathFinder:
    """Put the finder in force, once, and return it."""
    global _finder
    if _finder is None:
        _finder = Finder()
        watching.put_first(__name__, _finder)
    return _finder


_finder: Finder | None = None
