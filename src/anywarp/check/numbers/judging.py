"""The verdict over the layers of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anywarp.check.numbers.results import Layer, Report


def judge(
    layers: Sequence[Layer],
    *,
    language: Mapping[str, Any] | None = None,
    about: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> Report:
    """Return the verdict over layers that are in order of execution; `language` is what `language.measure` returned, `as_json()`."""
    raise NotImplementedError
