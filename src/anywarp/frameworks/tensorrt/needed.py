"""What the interface stands on, from the program's own environment: ONNX and ONNX Runtime, extras of ours."""

# pyright: basic
from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

PACKAGES = ("onnx", "onnxruntime")


def missing() -> list[str]:
    """Return which of the packages are absent; nothing is imported."""
    return [name for name in PACKAGES if find_spec(name) is None]


def onnx(module: str = "") -> Any:
    """Return `onnx`, or a module of it."""
    return import_module(f"onnx.{module}" if module else "onnx")


def runtime() -> Any:
    """Return `onnxruntime`."""
    return import_module("onnxruntime")
