"""Textures of the reference device: the CUDA guide's formulas in exact fractions, a texel at a time.

Written from the CUDA C++ Programming Guide (appendix "Texture Fetching") and the PTX manual, apart from the texture unit of the
device `cpu`, so that the two can be compared.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from anywarp.ptx.isa.texture_form import AXES, TextureForm

AddressMode: TypeAlias = Literal["wrap", "clamp", "mirror", "border"]
Texels: TypeAlias = "npt.NDArray[Any]"
_LARGEST = {"u1": 255, "i1": 127, "u2": 65535, "i2": 32767}


@dataclass(frozen=True)
class Texture:
    """A texture object. `levels` from the finest: arrays of shape (layers or depth, height, width, channels); one without mipmaps.

    `kind` says what the first axis is; `dimensions` how many axes the object has. `linear`: made of plain memory.
    """

    levels: tuple[Texels, ...]
    kind: Literal["plain", "layered", "cube"] = "plain"
    dimensions: int = 2
    linear: bool = False
    normalized: bool = False
    as_float: bool = False
    filter: Literal["point", "linear"] = "point"
    address: tuple[AddressMode, AddressMode, AddressMode] = ("clamp", "clamp", "clamp")
    border: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    srgb: bool = False
    mip_filter: Literal["point", "linear"] = "point"
    bias: float = 0.0
    least: float = 0.0
    most: float = 0.0

    @property
    def floats(self) -> bool:
        """Whether texels are read as numbers that can be blended."""
        dtype = self.levels[0].dtype
        return dtype.kind == "f" or (self.as_float and dtype.itemsize < 4)


@dataclass(frozen=True)
class Sampler:
    """What a `.samplerref` says: numbers as in its initialiser."""

    members: dict[str, str | int]


def type_of(texels: Texels) -> str:
    """Return the type of the channels: `u1`, `f4` and so on."""
    dtype: np.dtype[Any] = texels.dtype
    return f"{dtype.kind}{dtype.itemsize}"


def float_of(bits: int) -> float:
    """Return the f32 that 32 bits are."""
    return struct.unpack("<f", (bits & 0xFFFFFFFF).to_bytes(4, "little"))[0]


def _bits(value: float | Fraction) -> int:
    """Round to the nearest f32."""
    if isinstance(value, Fraction):
        return _round(value)
    try:
        return int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000


def _round(value: Fraction) -> int:
    """Round a fraction to the nearest f32, ties to even."""
    if value == 0:
        return 0
    size = abs(value)
    exponent = max(math.floor(math.log2(size.numerator) - math.log2(size.denominator)) - 1, -126)
    while size >= Fraction(2) ** (exponent + 1):
        exponent += 1
    unit = Fraction(2) ** (exponent - 23)
    nearest = round(size / unit) * unit
    return _bits(float(nearest) if value > 0 else -float(nearest))


# --- coordinates ----------------------------------------------------------------------------------------------------------


def _exact(bits: int) -> Fraction:
    value = float_of(bits)
    if math.isnan(value):
        return Fraction(0)
    return Fraction(max(min(value, 2.0**126), -(2.0**126)))


def _moved(x: Fraction, size: int, mode: AddressMode) -> Fraction:
    """Apply wrap or mirror to a coordinate in texels: x becomes frac(x), or 1 - frac(x) where floor(x) is odd."""
    whole = math.floor(x / size)
    if mode == "wrap":
        return x - whole * size
    if mode == "mirror":
        rest = x - whole * size
        return size - rest if whole % 2 else rest
    return x


def _index(i: int, size: int, mode: AddressMode) -> int | None:
    """Return the texel for an index; None is the border."""
    if 0 <= i < size:
        return i
    if mode == "border":
        return None
    return i % size if mode == "wrap" else min(max(i, 0), size - 1)


Share: TypeAlias = "tuple[int | None, Fraction]"


def _shares(t: Texture, axis: int, x: Fraction, offset: int, size: int, *, two: bool) -> list[Share]:
    """Return the texels of one axis that a coordinate touches, with their weights."""
    mode = t.address[axis]
    if mode in ("wrap", "mirror") and not t.normalized:
        mode = "clamp"
    x = _moved((x * size if t.normalized else x) + offset, size, mode)
    if not two:
        return [(_index(math.floor(x), size, mode), Fraction(1))]
    fixed = math.floor((x - Fraction(1, 2)) * 256 + Fraction(1, 2))  # nine bits, eight of them behind the point
    first, weight = fixed // 256, Fraction(fixed % 256, 256)
    return [(_index(first, size, mode), 1 - weight), (_index(first + 1, size, mode), weight)]


def _face(x: Fraction, y: Fraction, z: Fraction) -> tuple[int, Fraction, Fraction]:
    """Return face and coordinates (0 to 1) of a direction, by the guide's table; ties go to z, then y."""
    ax, ay, az = abs(x), abs(y), abs(z)
    if az >= ax and az >= ay:
        face, m, s, t = (5, az, -x, -y) if z < 0 else (4, az, x, -y)
    elif ay >= ax:
        face, m, s, t = (3, ay, x, -z) if y < 0 else (2, ay, x, z)
    else:
        face, m, s, t = (1, ax, z, -y) if x < 0 else (0, ax, -z, -y)
    m = m or Fraction(1)
    return face, (s / m + 1) / 2, (t / m + 1) / 2


# --- texels ---------------------------------------------------------------------------------------------------------------


def _linear_of_srgb(c: float) -> float:
    return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4


def _number(t: Texture, texel: Texels, channel: int) -> Fraction | float:
    """Return a channel as the number that filtering sees; infinities and NaN stay floats."""
    if channel >= len(texel):
        return Fraction(0)
    if texel.dtype.kind == "f":
        value = float(texel[channel])
        return Fraction(value) if math.isfinite(value) else value
    largest = _LARGEST[type_of(texel)]
    value = max(Fraction(int(texel[channel]), largest), Fraction(-1))
    if t.srgb and channel < 3 and texel.dtype == np.uint8:
        return Fraction(_linear_of_srgb(float(value)))
    return value


def _border(t: Texture, channel: int) -> Fraction:
    dtype = t.levels[0].dtype
    if channel >= t.levels[0].shape[-1]:
        return Fraction(0)
    colour = Fraction(t.border[channel])
    if dtype.kind == "f":
        return colour
    return min(max(colour, Fraction(-1 if dtype.kind == "i" else 0)), Fraction(1))


def _word(t: Texture, texel: Texels | None, channel: int) -> int:
    """Return a channel as a fetch without filtering does; None is the border."""
    dtype, count = t.levels[0].dtype, t.levels[0].shape[-1]
    if channel >= count:
        return 0
    if t.floats:
        value = _border(t, channel) if texel is None else _number(t, texel, channel)
        if texel is not None and dtype == np.float32:
            return int.from_bytes(texel[channel].tobytes(), "little")
        return _bits(value)
    if texel is None:  # a colour's low bits
        raw = _bits(t.border[channel]) & ((1 << 8 * dtype.itemsize) - 1)
        sign = 1 << (8 * dtype.itemsize - 1)
        return ((raw ^ sign) - sign if dtype.kind == "i" else raw) & 0xFFFFFFFF
    return int(texel[channel]) & 0xFFFFFFFF


def _texel(t: Texture, level: int, at: Sequence[int | None], slice: int) -> Texels | None:
    """Return the texel at (x, y, z), missing axes 0; None outside."""
    x, y, z = (*at, *(0,) * (3 - len(at)))
    if x is None or y is None or z is None:
        return None
    return t.levels[level][z if len(at) == 3 else slice, y, x]


# --- fetches --------------------------------------------------------------------------------------------------------------


class _Fetch:
    """One lane's fetch or gather: its operands, taken in their order."""

    def __init__(self, t: Texture, form: TextureForm, words: Sequence[int]) -> None:
        self.cubes = form.geometry in ("cube", "acube")
        self.t = replace(t, normalized=True) if self.cubes else t
        self.form = form
        self.left: Iterator[int] = iter(words)
        self.axes = 2 if self.cubes else AXES[form.geometry]
        count = t.levels[0].shape[0] if t.kind != "plain" else 1
        layer = next(self.left) if form.layered else 0
        self.slice = min(layer, (count // 6 if self.cubes else count) - 1)

    def size(self, level: int, axis: int) -> int:
        shape = self.t.levels[level].shape
        return (shape[2], shape[1], shape[0])[axis]

    def coordinates(self) -> list[Fraction]:
        given = [_exact(next(self.left)) for _ in range(AXES[self.form.geometry])]
        if not self.cubes:
            return given
        self.direction = given
        face, s, t = _face(*given)
        self.slice = 6 * self.slice + face
        return [s, t]

    def offsets(self, count: int) -> list[int]:
        if not self.form.offsets:
            return [0] * count
        return [(next(self.left) + 8) % 16 - 8 for _ in range(count)]

    def blend(self, level: int, at: list[Fraction], offsets: list[int], channel: int) -> Fraction | float:
        """Return the weighted sum of the texels that the coordinates touch in a level."""
        t = self.t
        two = t.filter == "linear" and not t.linear
        axes = [
            _shares(t, a, x, o, self.size(level, a), two=two) for a, (x, o) in enumerate(zip(at, offsets, strict=True))
        ]
        total: Fraction | float = Fraction(0)
        for shares in product(*axes):
            weight = Fraction(math.prod(w for _, w in shares))
            if weight == 0:
                continue
            texel = _texel(t, level, [i for i, _ in shares], self.slice)
            value = _border(t, channel) if texel is None else _number(t, texel, channel)
            total = total + (weight * value if isinstance(value, Fraction) else float(weight) * value)
        return total

    def nearest(self, level: int, at: list[Fraction], offsets: list[int]) -> list[int]:
        where = [
            _shares(self.t, a, x, o, self.size(level, a), two=False)[0][0]
            for a, (x, o) in enumerate(zip(at, offsets, strict=True))
        ]
        texel = _texel(self.t, level, where, self.slice)
        return [_word(self.t, texel, c) for c in range(4)]

    # --- levels of detail ---

    def gradient_level(self) -> float:
        """Return log2 of the longer step in texels; of a cubemap the step on the face."""
        count = AXES[self.form.geometry]
        longest = 0.0
        for _ in range(2):
            step = [float(_exact(next(self.left))) for _ in range(count)]
            if self.cubes:
                step = self._on_face(step)
            scale = [self.size(0, a) if self.t.normalized else 1 for a in range(self.axes)]
            longest = max(longest, math.hypot(*(s * n for s, n in zip(step, scale, strict=True))))
        return math.log2(longest) if longest else -math.inf

    def _on_face(self, step: list[float]) -> list[float]:
        """Return how the face's coordinates move with the direction, by the quotient rule."""
        d = [float(x) for x in self.direction]
        face = self.slice % 6
        minor: list[Callable[[Sequence[float]], tuple[float, float, float]]] = [
            lambda v: (-v[2], -v[1], v[0]), lambda v: (v[2], -v[1], -v[0]), lambda v: (v[0], v[2], v[1]),
            lambda v: (v[0], -v[2], -v[1]), lambda v: (v[0], -v[1], v[2]), lambda v: (-v[0], -v[1], -v[2]),
        ]  # fmt: skip
        s, t, m = minor[face](d)
        ds, dt, dm = minor[face](step)
        m = m or 1.0
        return [(ds * m - s * dm) / (2 * m * m), (dt * m - t * dm) / (2 * m * m)]

    def levels(self, lod: float) -> list[tuple[int, Fraction]]:
        """Return the levels that a level of detail falls on, with their weights in 1/256ths."""
        t = self.t
        most, fixed = len(t.levels) - 1, _fixed_level(t, lod)
        if t.mip_filter == "point" or not t.floats:
            return [(min((fixed + 128) // 256, most), Fraction(1))]
        lower, part = divmod(fixed, 256)
        if part == 0 or lower >= most:
            return [(min(lower, most), Fraction(1))]
        return [(lower, 1 - Fraction(part, 256)), (lower + 1, Fraction(part, 256))]


def sample(t: Texture, form: TextureForm, words: Sequence[int]) -> list[int]:
    """Return the four words of a `tex`."""
    if form.integers:
        return _whole(t, form, words)
    fetch = _Fetch(t, form, words)
    at = fetch.coordinates()
    lod = 0.0
    if form.mode == "level":
        lod = float_of(next(fetch.left))
    elif form.mode == "grad":
        lod = fetch.gradient_level()
    offsets = fetch.offsets(fetch.axes)
    plain = form.mode == "base" or len(t.levels) == 1
    levels = [(0, Fraction(1))] if plain else fetch.levels(lod)
    exact = t.filter == "point" and len(levels) == 1
    if not t.floats or exact:
        return fetch.nearest(levels[0][0], at, offsets)
    out: list[int] = []
    for c in range(4):
        total: Fraction | float = Fraction(0)
        for level, share in levels:
            value = fetch.blend(level, at, offsets, c)
            total = total + (share * value if isinstance(value, Fraction) else float(share) * value)
        out.append(_bits(total))
    return out


def _whole(t: Texture, form: TextureForm, words: Sequence[int]) -> list[int]:
    """Integer coordinates name a texel; outside there are zeros."""
    left = iter(words)
    axes = AXES[form.geometry]
    layer = min(next(left), t.levels[0].shape[0] - 1 if t.kind != "plain" else 0) if form.layered else 0
    at = [_signed(next(left)) for _ in range(axes)]
    level = 0
    if form.mode == "level":
        level = min(max(_signed(next(left)), 0), len(t.levels) - 1)
    elif form.mode == "grad":
        steps = [math.hypot(*(float(_exact(next(left))) for _ in range(axes))) for _ in range(2)]
        longest = max(steps)
        fixed = _fixed_level(t, math.log2(longest) if longest else -math.inf)
        level = min((fixed + 128) // 256, len(t.levels) - 1)
    if form.offsets:
        at = [x + _signed(next(left)) for x in at]
    shape = t.levels[level].shape
    if any(not 0 <= x < n for x, n in zip(at, (shape[2], shape[1], shape[0]), strict=False)):
        return [0, 0, 0, 0]
    texel = _texel(t, level, at, layer)
    return [_word(t, texel, c) for c in range(4)]


def _signed(word: int) -> int:
    return (word ^ 0x80000000) - 0x80000000


def _fixed_level(t: Texture, lod: float) -> int:
    """Return a level of detail in 1/256ths: the bias added, clamped to what the object allows and has."""
    most = len(t.levels) - 1
    highest = min(t.most, most)
    level = lod + t.bias if not math.isnan(lod) else 0.0
    return math.floor(max(min(max(level, min(max(t.least, 0.0), highest)), highest), 0.0) * 256)


def gather(t: Texture, form: TextureForm, words: Sequence[int]) -> list[int]:
    """Return the four words of a `tld4`: counter-clockwise from the lower left."""
    fetch = _Fetch(t, form, words)
    at = fetch.coordinates()
    offsets = fetch.offsets(2)
    x, y = (
        _shares(fetch.t, a, p, o, fetch.size(0, a), two=True) for a, (p, o) in enumerate(zip(at, offsets, strict=True))
    )
    channel = "rgba".index(form.detail)
    corners = [(0, 1), (1, 1), (1, 0), (0, 0)]
    return [_word(fetch.t, _texel(fetch.t, 0, (x[i][0], y[j][0]), fetch.slice), channel) for i, j in corners]


_MEMBERS = {
    "force_unnormalized_coords": ("False", "True"),
    "filter_mode": ("nearest", "linear"),
    **dict.fromkeys(
        ("addr_mode_0", "addr_mode_1", "addr_mode_2"),
        ("wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border"),
    ),
}


def sampler_attribute(sampler: Sampler, name: str) -> int:
    """Return a member of a sampler as its number, as `txq` does."""
    value, names = sampler.members.get(name, 0), _MEMBERS.get(name, ())
    return names.index(value) if isinstance(value, str) else value


def with_sampler(t: Texture, sampler: Sampler) -> Texture:
    """Return a texture as a sampler of its own reads it (independent mode)."""
    named: tuple[AddressMode, ...] = ("wrap", "mirror", "clamp", "clamp", "border")
    x, y, z = (named[sampler_attribute(sampler, f"addr_mode_{n}")] for n in range(3))
    forced = sampler_attribute(sampler, "force_unnormalized_coords")
    linear = sampler_attribute(sampler, "filter_mode")
    return replace(t, address=(x, y, z), filter="linear" if linear else "point", normalized=t.normalized and not forced)
