"""ONNX Runtime: what goes into and comes out of `InferenceSession.run`, by the names that the model gives it."""

# pyright: basic
from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from anywarp.check.record import arrays
from anywarp.check.record.functions import Functions
from anywarp.check.record.session import Session

Original = Callable[..., Any]


class Recorder(Functions):
    """Records the runs of sessions."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "onnxruntime", "onnxruntime")
        self._names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()

    def ran(self, original: Original, model: Any, names: Any, feed: Mapping[str, Any], options: Any) -> Any:
        """Run a session as the program does, and record it."""
        name = self._name(model)
        call = self.begin(name)
        if call is None:
            return original(model, names, feed, options)
        self.guarded(lambda: self.take(name, call, "input", [(slot, _plain(value)) for slot, value in feed.items()]))
        found = original(model, names, feed, options)
        self.guarded(lambda: self.results(name, call, model, names, found))
        return found

    def results(self, name: str, call: int, model: Any, names: Any, found: Any, run: str = "propagated") -> None:
        """Record what a run gave."""
        outputs = names or [each.name for each in model.get_outputs()]
        pairs = [(slot, _plain(value)) for slot, value in zip(outputs, found)]
        self.take(name, call, "output", pairs, operation=arrays.composed, run=run)

    def _name(self, model: Any) -> str:
        with self.session.lock:
            if model not in self._names:
                count = len(self.session.models)
                name = self._names[model] = f"onnx#{count + 1}" if "onnx" in self.session.models else "onnx"
                self.session.models[name] = _structure(model)
            return self._names[model]


def install(module: Any, recorder: Recorder) -> Callable[[], None]:
    """Have every run of a session pass the recorder; return what puts the class back as it was."""
    kind = module.InferenceSession
    original = kind.run

    @functools.wraps(original)
    def run(self: Any, output_names: Any, input_feed: Any, run_options: Any = None) -> Any:
        return recorder.ran(original, self, output_names, input_feed, run_options)

    kind.run = run

    def restore() -> None:
        kind.run = original

    return restore


def _structure(model: Any) -> dict[str, Any]:
    inputs = {each.name: f"{each.type} {each.shape}" for each in model.get_inputs()}
    return {"class": "InferenceSession", "providers": model.get_providers(), "inputs": inputs}


def _plain(value: Any) -> Any:
    """Return an OrtValue as an array of NumPy; what is another thing as it is."""
    return value.numpy() if hasattr(value, "numpy") and not hasattr(value, "__array__") else value
