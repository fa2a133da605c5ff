"""Whether two results may be compared: everything that must be alike, by name, and what is not.

Devices, machines and drivers may differ: that is what is compared. The model, its sizes and types, the load and the software that computes may not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anywarp.check.bench.problems import UNLIKE, problem
from anywarp.diagnostics import AnywarpError

DECISIVE = ("torch", "triton", "transformers", "vllm", "sglang", "onnxruntime")
"""Packages whose version changes how fast a model is, or what it computes."""


@dataclass(frozen=True)
class Difference:
    """One thing that is not alike: its name and both values."""

    name: str
    first: Any
    second: Any

    def text(self) -> str:
        """Return it in words."""
        return f"{self.name}: {_shown(self.first)} and {_shown(self.second)}"


def _shown(value: Any) -> str:
    if value is None or value == "":
        return "none"
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def versions_alike(versions: Mapping[str, str]) -> dict[str, str]:
    """Return of the versions what must be alike: releases without their build (2.13.0+rocm7 is 2.13.0), of Python two numbers."""
    found = {name: versions[name].partition("+")[0] for name in DECISIVE if versions.get(name)}
    if "python" in versions:
        found["python"] = ".".join(versions["python"].split(".")[:2])
    return found


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Difference]:
    """Return what is not alike of two results' `alike`, in the order of names."""
    found: list[Difference] = []
    for name in sorted({*first, *second}):
        a, b = first.get(name), second.get(name)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            inner = differences(a, b)  # pyright: ignore[reportUnknownArgumentType]
            found += [Difference(f"{name} {each.name}", each.first, each.second) for each in inner]
        elif a != b:
            found.append(Difference(name, a, b))
    return found


def require(
    first: Mapping[str, Any], second: Mapping[str, Any], anyway: bool, what: str = "the two sides"
) -> list[str]:
    """Return what is not alike, in words, where `anyway` lets it pass; else AnywarpError (V033) names it."""
    found = differences(first, second)
    form = [each for each in found if each.name == "form"]  # of a model and a command everything differs
    unlike = [each.text() for each in form or found]
    if unlike and not anyway:
        raise refusal(unlike, what)
    return unlike


def refusal(unlike: Sequence[str], what: str) -> AnywarpError:
    """Return the refusal to compare."""
    help = "measure both alike; --anyway compares them all the same, with a mark on the result"
    return problem(UNLIKE, f"{what} are not alike: {'; '.join(unlike)}", help)
