"""What was compared, in words: devices, versions, and flags that differ."""

from __future__ import annotations

from anywarp.check.bundle.problems import shown
from anywarp.check.bundle.recording import Recording

_OF_ARITHMETIC = (
    "float32_matmul_precision", "allow_tf32", "cudnn.allow_tf32", "fp16_reduced_precision_reduction",
    "bf16_reduced_precision_reduction", "autocast", "default_dtype",
)  # fmt: skip
"""Flags of torch that change what is computed; differences of the others are no news."""


def about(reference: Recording, observed: Recording) -> dict[str, str]:
    """Return what was compared, for people."""
    out = dict[str, str]()
    for side, bundle in (("recorded", reference), ("here", observed)):
        out[f"device, {side}"] = _device(bundle)
        versions = bundle.mapping("versions")
        out[f"versions, {side}"] = ", ".join(f"{shown(n, 40)} {shown(v, 40)}" for n, v in list(versions.items())[:12])
    out["command"] = shown(" ".join(reference.texts("command")), 500)
    return out


def flags_that_differ(reference: Recording, observed: Recording) -> list[str]:
    """Return notes on flags of arithmetic that the two runs did not have in common."""
    one, other = (bundle.mapping("flags") for bundle in (reference, observed))
    return [
        f"the flag {name} was {shown(one[name], 60)} when it was recorded and is {shown(other[name], 60)} here"
        for name in _OF_ARITHMETIC
        if name in one and name in other and one[name] != other[name]
    ]


def _device(bundle: Recording) -> str:
    found = bundle.mapping("device")
    return f"{shown(found.get('type', 'unknown'), 40)}: {shown(found.get('name', ''), 100)}"
