"""The model: a module of PyTorch that a file or a package makes, or an exported program (.pt2). Nothing is unpickled."""

# pyright: basic
from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anywarp import settings
from anywarp.frameworks.export.problems import MODEL, PACKAGES, problem

PICKLES = (".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle", ".joblib")
WANTED = ("torch", "onnx", "onnxscript", "onnxruntime")
FORMS = "file.py:name, package.module:name or program.pt2"


def require_packages() -> None:
    """Raise AnywarpError (F012) where a package is missing."""
    missing = [name for name in WANTED if importlib.util.find_spec(name) is None]
    if missing:
        text = f"exporting needs {', '.join(missing)} in the environment of anywarp and of the model"
        raise problem(PACKAGES, text, "pip install 'anywarp[export]' there, with the model's own PyTorch")


def load(text: str, weights: Path | None) -> Any:
    """Return a module in evaluation mode, or an ExportedProgram; AnywarpError (F013)."""
    _refuse_pickles(Path(text.rpartition(":")[0] or text))
    if text.endswith(".pt2"):
        if weights is not None:
            raise problem(MODEL, "an exported program brings its weights: --weights is for modules")
        return _program(Path(text))
    place, colon, name = text.rpartition(":")
    if not colon or not name.isidentifier() or not place:
        raise problem(MODEL, f"{text[:200]!r} names no model", f"give {FORMS}")
    module = _made(_imported(place), name, text)
    if weights is not None:
        _take_weights(module, weights)
    return module.eval()


def _refuse_pickles(path: Path) -> None:
    if path.suffix in PICKLES:
        text = f"{path} is a pickle, which runs whatever code is in it when it is read; it is not opened"
        help = (
            "name the code that makes the model, as file.py:name, and give its weights as --weights model.safetensors"
        )
        raise problem(MODEL, text, help)


def _imported(place: str) -> Any:
    """Import a file or a module, with its own folder or the working folder on the path, as Python would run it."""
    try:
        if not place.endswith(".py"):
            sys.path.insert(0, str(Path.cwd()))
            return importlib.import_module(place)
        path = Path(place).resolve()
        if not path.is_file():
            raise problem(MODEL, f"there is no file {place}", f"give {FORMS}")
        sys.path.insert(0, str(path.parent))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    except (Exception, SystemExit) as error:
        if hasattr(error, "diagnostic"):
            raise
        raise problem(MODEL, f"{place} cannot be imported: {type(error).__name__}: {error}") from error


def _made(module: Any, name: str, text: str) -> Any:
    import torch

    found = getattr(module, name, None)
    if found is None:
        raise problem(MODEL, f"there is no {name} in {text.rpartition(':')[0]}")
    try:
        made = found if isinstance(found, torch.nn.Module) or not callable(found) else found()
    except Exception as error:
        text = f"{name}() failed: {type(error).__name__}: {error}"
        raise problem(MODEL, text, "name a function that needs no arguments and returns the model") from error
    if not isinstance(made, torch.nn.Module):
        raise problem(MODEL, f"{name} gives a {type(made).__name__}, not a module of PyTorch", f"give {FORMS}")
    return made


def _take_weights(module: Any, path: Path) -> None:
    _refuse_pickles(path)
    try:
        load_file: Any = importlib.import_module("safetensors.torch").load_file
    except ImportError as error:
        raise problem(PACKAGES, "reading weights needs safetensors", "pip install 'anywarp[export]'") from error
    try:
        module.load_state_dict(load_file(path), strict=True)
    except Exception as error:
        raise problem(MODEL, f"the weights in {path} do not fit: {error}") from error


_guarded = False


def _no_unpickling(event: str, arguments: tuple[Any, ...]) -> None:
    if _guarded and event == "pickle.find_class":
        raise RuntimeError(f"it holds a pickle that names {arguments[0]}.{arguments[1]}")


@contextmanager
def without_pickles() -> Iterator[None]:
    """Have every pickle that names a class refused (an audit hook, which cannot be removed but is idle afterwards)."""
    global _guarded
    if not getattr(without_pickles, "hooked", False):
        sys.addaudithook(_no_unpickling)
        without_pickles.hooked = True  # type: ignore[attr-defined]
    before = settings.environment().get("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "")
    settings.export({"TORCH_FORCE_WEIGHTS_ONLY_LOAD": "1"})
    _guarded = True
    try:
        yield
    finally:
        _guarded = False
        settings.export({"TORCH_FORCE_WEIGHTS_ONLY_LOAD": before})


def _program(path: Path) -> Any:
    import torch

    try:
        with without_pickles():
            return torch.export.load(path)
    except Exception as error:
        raise problem(MODEL, f"{path} cannot be read: {str(error).strip()[:500]}") from error
