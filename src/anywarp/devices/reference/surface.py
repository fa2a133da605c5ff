"""Surfaces of the reference device: loads, stores and reductions by byte or texel, and what `txq` and `suq` tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anywarp.devices.reference.texture import Sampler, Texels, Texture, float_of, type_of
from anywarp.ptx.isa.texture_form import AXES, OUTSIDE, REFERENCES, TextureForm


@dataclass(frozen=True)
class Surface:
    """A surface object over an array of shape (layers or depth, height, width, channels), changed in place."""

    texels: Texels
    layered: bool = False
    dimensions: int = 2


class Trap(Exception):
    """An access that ends the kernel."""


def access(s: Surface, form: TextureForm, words: Sequence[int]) -> list[int]:
    """Carry out a load, store or reduction; returns what was loaded. Trap for what ends the kernel."""
    depth, height, width, channels = s.texels.shape
    element = s.texels.dtype.itemsize * channels
    formatted = form.kind == "formatted_store"
    size = element if formatted else form.bytes * form.count
    signed = [(w ^ 0x80000000) - 0x80000000 for w in words]
    layer = words[0] if form.layered else 0
    signed = signed[1:] if form.layered else signed
    axes = AXES[form.geometry]
    x, y, z = (*signed[:axes], *(0,) * (3 - axes))
    data = [w & 0xFFFFFFFF for w in signed[axes:]]
    if formatted or form.kind == "formatted_reduce":
        x *= element
    if axes < 3:
        z = layer
    if x % size:
        raise Trap("misaligned surface access")
    limits = (width * element - size, height - 1, depth - 1)
    inside = all(0 <= v <= most for v, most in zip((x, y, z), limits, strict=True))
    if not inside and form.mode == OUTSIDE[0]:
        raise Trap("access outside a surface")
    if not inside and (form.mode == "zero" or limits[0] < 0):
        return [0] * _word_count(form) if form.kind == "surface_load" else []
    x = min(max(x, 0), limits[0] // size * size)
    y, z = (min(max(v, 0), most) for v, most in zip((y, z), limits[1:], strict=True))
    row = s.texels[z, y].view(np.uint8).reshape(-1)
    return _at(s, form, row[x : x + size], data)


def _word_count(form: TextureForm) -> int:
    return form.count * (2 if form.bytes == 8 else 1)


def _at(s: Surface, form: TextureForm, place: Texels, data: list[int]) -> list[int]:
    part = min(form.bytes, 4)
    if form.kind == "surface_load":
        return [int.from_bytes(place[i : i + part].tobytes(), "little") for i in range(0, len(place), part)]
    if form.kind == "surface_store":
        place[:] = np.frombuffer(b"".join((w & ((1 << 8 * part) - 1)).to_bytes(part, "little") for w in data), np.uint8)
    elif form.kind == "formatted_store":
        values = [*data[: form.count], 0, 0, 0, 0][: s.texels.shape[-1]]
        made = [_converted(w, s.texels.dtype) for w in values]
        place[:] = np.frombuffer(b"".join(made), np.uint8)
    else:
        operand = sum(w << 32 * n for n, w in enumerate(data))
        old = int.from_bytes(place.tobytes(), "little")
        is_signed = s.texels.dtype.kind == "i" if form.kind == "formatted_reduce" else form.type[0] == "s"
        new = _reduced(form.detail, old, operand, form.bytes, is_signed)
        place[:] = np.frombuffer(new.to_bytes(form.bytes, "little"), np.uint8)
    return []


def _converted(word: int, dtype: np.dtype[Any]) -> bytes:
    """Convert a 32-bit value to a channel: integers clamped, halves cut off toward zero."""
    if dtype.kind == "f":
        if dtype.itemsize == 4:
            return word.to_bytes(4, "little")
        value = np.float32(float_of(word))
        with np.errstate(over="ignore"):
            half = value.astype(np.float16)
        if np.isfinite(value) and abs(np.float32(half)) > abs(value):
            half = np.nextafter(half, np.float16(0))
        return half.tobytes()
    info = np.iinfo(dtype)
    value = (word ^ 0x80000000) - 0x80000000 if dtype.kind == "i" else word
    return dtype.type(min(max(value, int(info.min)), int(info.max))).tobytes()


def _reduced(operation: str, old: int, operand: int, size: int, is_signed: bool) -> int:
    mask, sign = (1 << 8 * size) - 1, 1 << (8 * size - 1)
    operand &= mask
    key: Callable[[int], int] = (lambda v: (v ^ sign) - sign) if is_signed else (lambda v: v)
    found = {
        "add": old + operand,
        "min": min(old, operand, key=key),
        "max": max(old, operand, key=key),
        "and": old & operand,
        "or": old | operand,
    }[operation]
    return found & mask


# --- queries --------------------------------------------------------------------------------------------------------------

_TYPES = {
    "u1": 0x10DA,
    "i1": 0x10D7,
    "u2": 0x10DB,
    "i2": 0x10D8,
    "u4": 0x10DC,
    "i4": 0x10D9,
    "f2": 0x10DD,
    "f4": 0x10DE,
}
_FRACTIONS = {"u1": 0x10D2, "i1": 0x10D0, "u2": 0x10D3, "i2": 0x10D1}
_MODES = {"wrap": 0, "mirror": 1, "clamp": 3, "border": 4}


def query(o: Texture | Surface, form: TextureForm, words: Sequence[int]) -> int:
    """Return an attribute (section 9.7.10.5; types and orders are OpenCL's numbers, section 5.3.3)."""
    levels = o.levels if isinstance(o, Texture) else (o.texels,)
    texels = levels[min(words[0], len(levels) - 1) if form.mode == "level" else 0]
    layers, height, width, channels = texels.shape
    cube = isinstance(o, Texture) and o.kind == "cube"
    layered = o.kind == "layered" if isinstance(o, Texture) else o.layered
    plain = {
        "width": width,
        "height": height if o.dimensions > 1 else 0,
        "depth": layers if o.dimensions > 2 else 0,
        "channel_data_type": _TYPES[type_of(texels)],
        "channel_order": {1: 0x10B0, 2: 0x10B2, 4: 0x10B5}[channels],
        "array_size": layers if layered else layers // 6 if cube and layers > 6 else 0,
    }
    if isinstance(o, Texture):
        fractions = _FRACTIONS.get(type_of(texels))
        if o.as_float and fractions:
            plain["channel_data_type"] = fractions
        plain |= {
            "normalized_coords": int(o.normalized),
            "num_mipmap_levels": len(levels) if len(levels) > 1 else 0,
            "filter_mode": int(o.filter == "linear" and o.floats and not o.linear),
            **{f"addr_mode_{n}": _MODES["border" if o.linear else o.address[n]] for n in range(3)},
        }
    return plain.get(form.detail, 0)


def kind_of(o: object) -> str:
    """Return the type of variable that stands for an object, as `istypep` names it."""
    return REFERENCES[0] if isinstance(o, Texture) else REFERENCES[1] if isinstance(o, Sampler) else REFERENCES[2]
