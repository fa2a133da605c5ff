"""Sessions of ONNX Runtime, run once more on the recorded inputs; the program gets the results of its own."""

# pyright: basic
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from anywarp.check.record.onnxruntime import Original, Recorder
from anywarp.check.record.session import Session
from anywarp.check.replay.given import Given


class Again(Recorder):
    """A recorder that has a reference."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.given = Given(session.plan)

    def ran(self, original: Original, model: Any, names: Any, feed: Mapping[str, Any], options: Any) -> Any:
        name = self._name(model)
        call = self.begin(name)
        if call is not None:
            self.guarded(lambda: self._again(original, model, names, feed, (name, call)))
        return original(model, names, feed, options)

    def _again(self, original: Original, model: Any, names: Any, feed: Mapping[str, Any], at: tuple[str, int]) -> None:
        recorded = {slot: self._recorded(*at, slot, value) for slot, value in feed.items()}
        if missing := [slot for slot, value in recorded.items() if value is None]:
            self.session.note(f"{at[0]}, call {at[1]}: not in the recording, not run: {', '.join(missing[:5])}")
            return
        try:
            found = original(model, names, recorded, None)
        except Exception as error:
            self.session.note(f"{at[0]} does not take the recorded inputs: {str(error)[:200]}")
            return
        self.results(*at, model, names, found, "isolated")

    def _recorded(self, name: str, call: int, slot: str, value: Any) -> Any:
        entry = self.given.entry(name, call, slot)
        if entry is None or entry.blob is None:
            return None
        found = self.given.values(entry)
        own = value.numpy() if hasattr(value, "numpy") and not hasattr(value, "__array__") else np.asarray(value)
        return np.ascontiguousarray(found.astype(own.dtype))
