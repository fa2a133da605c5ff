"""ONNX Runtime: what goes into and comes out of `InferenceSession.run`, by the names that the model gives it."""

# pyright: basic
from __future__ import annotations

import functools
import platform
from collections import Counter
from typing import Any

from anywarp import __version__
from anywarp.check.bundle.blob import SIZES
from anywarp.check.bundle.entries import Entry
from anywarp.check.record.session import Session


def install(module: Any, session: Session) -> None:
    """Have every run of a session recorded."""
    kind = module.InferenceSession
    original = kind.run
    models: dict[int, str] = {}
    counts = Counter[str]()
    versions = {"anywarp": __version__, "python": platform.python_version(), "onnxruntime": module.__version__}
    session.facts = lambda: {"versions": versions, "flags": {}, "device": {"type": "onnxruntime", "name": ""}}

    @functools.wraps(original)
    def run(self: Any, output_names: Any, input_feed: Any, run_options: Any = None) -> Any:
        name = models.setdefault(id(self), "onnx" if not models else f"onnx#{len(models) + 1}")
        with session.lock:
            number = counts[name]
            counts[name] += 1
        found = original(self, output_names, input_feed, run_options)
        if not session.stopped and number < session.plan.calls and session.plan.chooses(name):
            outputs = output_names or [each.name for each in self.get_outputs()]
            try:
                with session.lock:
                    session.models.setdefault(name, _structure(self))
                    _keep(session, name, number, "input", input_feed)
                    _keep(session, name, number, "output", dict(zip(outputs, found)))
            except Exception as error:
                session.fail(error)
        return found

    kind.run = run


def _structure(session: Any) -> dict[str, Any]:
    inputs = {each.name: f"{each.type} {each.shape}" for each in session.get_inputs()}
    return {"class": "InferenceSession", "providers": session.get_providers(), "inputs": inputs}


def _keep(session: Session, name: str, call: int, role: str, values: dict[str, Any]) -> None:
    entries = list[Entry]()
    for slot, value in values.items():
        array = value.numpy() if hasattr(value, "numpy") else value
        dtype = str(getattr(array, "dtype", "")) or "no array"
        if dtype not in SIZES:
            session.note(f"{name}: {slot} is {dtype[:40]}: it is not recorded")
            continue
        content, shape = array.tobytes(), tuple(array.shape)
        blob = session.writer.keep(f"{name} {slot}", dtype, shape, content)
        entries.append(
            Entry(0, call, name, role, slot[:200], dtype, shape, blob=blob, dropped="" if blob else "budget")
        )
    session.add(entries)
