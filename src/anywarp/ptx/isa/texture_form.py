"""What a texture or surface instruction asks of a texture unit, as one number for services and as names for interpreters.

Modifiers are read once here; the unit of the device `cpu` (native/devices/texture_unit.h) and the reference device take the parts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

KINDS = (
    "fetch", "gather", "surface_load", "surface_store", "formatted_store", "surface_reduce", "formatted_reduce", "query", "is_type",
)  # fmt: skip
GEOMETRIES = ("1d", "2d", "3d", "a1d", "a2d", "cube", "acube", "2dms", "a2dms")
LEVELS = ("base", "level", "grad")
OUTSIDE = ("trap", "clamp", "zero")
REDUCTIONS = ("add", "min", "max", "and", "or")
QUERIES = (
    "width", "height", "depth", "channel_data_type", "channel_order", "normalized_coords", "array_size", "num_mipmap_levels",
    "num_samples", "force_unnormalized_coords", "filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2", "memory_layout",
)  # fmt: skip
REFERENCES = ("texref", "samplerref", "surfref")
COMPONENTS = ("r", "g", "b", "a")
REDUCED = ("u32", "s32", "u64", "s64", "b32", "b64")
AXES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 3, "acube": 3, "2dms": 2, "a2dms": 2}
"""Coordinates of each geometry, without the index of a layer or sample."""


@dataclass(frozen=True, slots=True)
class TextureForm:
    """The parts of a form. `mode` is a level mode (fetch) or what happens outside (surfaces); `detail` the component of a gather,
    the operation of a reduction, the attribute of a query or the type asked about. `bytes` and `count` describe a surface access.
    """

    kind: str
    geometry: str = "1d"
    mode: str = ""
    detail: str = ""
    integers: bool = False
    offsets: bool = False
    sampler: bool = False
    bytes: int = 1
    count: int = 0
    type: str = "u32"

    @property
    def layered(self) -> bool:
        """Whether the index of a layer comes first."""
        return self.geometry in ("a1d", "a2d", "acube", "a2dms")

    @property
    def code(self) -> int:
        """The form as the number that the service `aw_texture` takes."""
        modes = {**{m: n for n, m in enumerate(LEVELS)}, **{m: n for n, m in enumerate(OUTSIDE)}, "": 0}
        return (
            KINDS.index(self.kind)
            | GEOMETRIES.index(self.geometry) << 4
            | modes[self.mode] << 8
            | self._detail() << 10
            | self.integers << 14
            | self.offsets << 15
            | self.sampler << 17
            | (self.bytes.bit_length() - 1) << 18
            | self.count << 21
            | REDUCED.index(self.type) << 24
        )

    def _detail(self) -> int:
        if not self.detail:
            return 0
        if self.kind == "is_type":
            return 1 + REFERENCES.index(self.detail)
        names = {"gather": COMPONENTS, "query": QUERIES}.get(self.kind, REDUCTIONS)
        return names.index(self.detail)


def form_of(code: int) -> TextureForm:
    """Return the form that a number stands for."""
    kind, count = KINDS[code & 15], code >> 21 & 7
    detail, mode = code >> 10 & 15, code >> 8 & 3
    plain = TextureForm(
        kind,
        GEOMETRIES[code >> 4 & 15],
        integers=bool(code >> 14 & 1),
        offsets=bool(code >> 15 & 1),
        sampler=bool(code >> 17 & 1),
        bytes=1 << (code >> 18 & 7),
        count=count,
        type=REDUCED[code >> 24 & 7],
    )
    if kind == "fetch":
        return replace(plain, mode=LEVELS[mode])
    if kind == "gather":
        return replace(plain, detail=COMPONENTS[detail])
    if kind == "query":
        return replace(plain, mode=LEVELS[mode], detail=QUERIES[detail])
    if kind == "is_type":
        return replace(plain, detail=REFERENCES[detail - 1])
    return replace(plain, mode=OUTSIDE[mode], detail=REDUCTIONS[detail] if "reduce" in kind else "")
