"""Every declared form of the texture and surface instructions, on random operands: the device `cpu` agrees with the reference device.

The reference device computes with exact fractions and shares no code with the texture unit, so sums may differ by their rounding
only where they are no finite fraction; everything else must be equal to the bit.
"""

import itertools
import re

import numpy as np
import pytest

from anywarp.ptx.isa.registry import declared
from anywarp.ptx.isa.texture_form import AXES, KINDS, TextureForm, form_of
from native.test_texture_fetches import block
from native.texture_objects import F32, as_words, download, kernel, run, surface, texture

pytestmark = pytest.mark.native
N = 40


def alternatives(opcode: str) -> list[str]:
    """Write out every form of an opcode that the chapter declares, each option at least once, without cache modifiers."""
    found = set()
    for form, chapter in declared():
        if chapter != "texture" or form.opcode != opcode:
            continue
        slots = [sorted(s.options) for s in form.others if not s.options <= {"ca", "cg", "cs", "cv", "wb", "wt"}]
        types = [sorted(s.options) for s in form.types]
        found.update(
            ".".join((opcode, *others, *kinds))
            for others in itertools.product(*slots)
            for kinds in itertools.product(*types)
        )
    return sorted(found)


def named(form: str, options) -> str:
    return next((o for o in options if f".{o}." in f"{form}."), "")


def vector(names) -> str:
    return "{" + ", ".join(names) + "}"


def coordinates(rng, geometry: str, integers: bool, normalized: bool) -> list[np.ndarray]:
    columns = []
    if geometry == "2dms":
        columns.append(rng.integers(0, 4, N))
    if geometry == "a2dms":
        columns += [rng.integers(0, 4, N), rng.integers(-2, 5, N)]
    if geometry in ("a1d", "a2d", "acube"):
        columns.append(rng.integers(-2, 5, N))
    for _ in range(AXES[geometry]):
        if integers:
            columns.append(rng.integers(-2, 10, N))
        elif geometry in ("cube", "acube"):
            columns.append(rng.normal(size=N).astype(F32))
        else:
            columns.append((rng.uniform(-1.5, 2.5, N) * (1 if normalized else 6)).astype(F32))
    return columns


def object_for(driver, form: str, mode: str, seed: int):
    """A texture that suits a form, otherwise of any kind."""
    geometry = named(form, AXES)
    integers = re.search(r"\.[us]32\.[sf]32", form) is not None
    cube = geometry in ("cube", "acube")
    layered = geometry in ("a1d", "a2d", "a2dms")
    layers = 12 if geometry == "acube" else 6 if cube else 3 if layered else 5 if geometry == "3d" else 1
    height, width = (1, 8) if geometry in ("1d", "a1d") else (8, 8) if cube else (6, 8)
    dtypes = [np.uint8, np.int16, np.uint32] if integers else [F32, np.float16, np.uint8, np.int8, np.uint16]
    dtype = dtypes[seed % len(dtypes)]
    levels = [
        block(max(layers >> n, 1) if geometry == "3d" else layers, max(height >> n, 1), max(width >> n, 1), (1, 2, 4)[seed % 3], seed=seed + n, dtype=dtype)
        for n in range(3 if mode != "base" else 1)
    ]  # fmt: skip
    modes = ["clamp", "border", "wrap", "mirror"]
    return texture(
        driver, *levels, kind="cube" if cube else "layered" if layered else "plain",
        dimensions=3 if geometry == "3d" else 1 if geometry in ("1d", "a1d") else 2,
        normalized=bool(seed % 2) or mode != "base", as_float=not integers, filter=("point", "linear")[seed // 2 % 2 if not integers else 0],
        address=tuple(modes[(seed + k) % 4] for k in range(3)), border=(0.5, -0.25, 1.0, 0.125),
        mip_filter=("linear", "point")[seed % 2], most=5.0, bias=0.25,
    )  # fmt: skip


def close(got, wanted, form: str):
    """Integers to the bit; blended floats may be rounded once more."""
    if re.search(r"[us]32\.[fs]32", form) or np.array_equal(got, wanted):
        return np.testing.assert_array_equal(got, wanted, form)
    kind, far = (np.float16, 1e-3) if "f16" in form else (F32, 3e-7)
    np.testing.assert_allclose(got.view(kind).astype(float), wanted.view(kind).astype(float), rtol=far, err_msg=form)


FETCHES = alternatives("tex") + alternatives("tld4")


def fetch_text(form: str, columns: list[np.ndarray], rng, offsets: bool) -> tuple[str, int]:
    """Return the text of a fetch and how many words it gives; operands behind the coordinates become columns too."""
    geometry, mode, integers = named(form, AXES), named(form, ("level", "grad")), form.endswith(".s32")
    axes = AXES[geometry]

    def padded(names):
        return vector(names + names[:1] * ((4 if len(names) > 2 else len(names)) - len(names)))

    def more(values) -> list[str]:
        first = len(columns)
        columns.extend(values)
        return [f"%w{k}" for k in range(first, len(columns))]

    behind = [padded([f"%w{k}" for k in range(len(columns))])]
    if mode == "level":
        behind += more([rng.integers(-1, 4, N) if integers else rng.uniform(-1, 4, N).astype(F32)])
    for _ in range(2 if mode == "grad" else 0):
        behind.append(padded(more([(rng.normal(size=N) / 4).astype(F32) for _ in range(axes)])))
    if offsets and geometry not in ("cube", "acube"):
        behind.append(padded(more([rng.integers(-8, 8, N) for _ in range(axes)])))
    coordinates, *rest = behind
    tail = f"[%t0, {coordinates}]{''.join(', ' + b for b in rest)};"
    if ".v4.f16" in form:
        return f"{form} {{%h0, %h1, %h2, %h3}}, {tail} mov.b32 %o0, {{%h0, %h1}}; mov.b32 %o1, {{%h2, %h3}};", 2
    count = 2 if "f16x2" in form else 4
    return f"{form} {vector([f'%o{k}' for k in range(count)])}, {tail}", count


PARTS = 3
"""Each form is compiled alone: a plain run has one part of the forms of each kind."""


def part_of(forms: list[str], part: int) -> list[tuple[int, str]]:
    """Return every third form with its number, from which its object and operands follow."""
    assert len(forms) >= PARTS
    return list(enumerate(forms))[part::PARTS]


@pytest.mark.spread("part")
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("geometry", list(AXES))
def test_fetches(driver, context, geometry, part):
    forms = [f for f in FETCHES if f".{geometry}." in f]
    rng = np.random.default_rng(len(geometry) + part)
    for seed, form in part_of(forms, part):
        integers = form.endswith(".s32")
        counterpart = object_for(driver, form, named(form, ("level", "grad")) or "base", seed)
        columns = coordinates(rng, geometry, integers, counterpart.other.normalized)
        text, outputs = fetch_text(form, columns, rng, bool(seed % 2))
        ptx, words = kernel(text, len(columns), outputs), as_words(columns)
        close(
            run("cpu", ptx, [counterpart], words, outputs), run("reference", ptx, [counterpart], words, outputs), form
        )


SURFACES = [f for o in ("suld", "sust", "sured") for f in alternatives(o)]
DTYPES = (np.uint8, np.int16, np.uint32, np.int8, F32, np.float16, np.int32, np.uint16)


class Access:
    """A form of a surface instruction, a surface that suits it, and random operands."""

    def __init__(self, driver, form: str, seed: int) -> None:
        self.form, self.rng = form, np.random.default_rng(seed)
        self.geometry = named(form, AXES)
        self.bytes = int(re.search(r"[bus](\d+)$", form)[1]) // 8
        self.count = 4 if ".v4." in form else 2 if ".v2." in form else 1
        self.texels = ".p." in form
        self.traps = ".trap." in form
        dtype, channels = DTYPES[seed % 8], 4
        if form.startswith("sured") and self.texels:
            dtype, channels = (np.int32, np.uint32)[seed % 2], self.bytes // 4
        layered, solid, flat = self.geometry in ("a1d", "a2d"), self.geometry == "3d", "1d" in self.geometry
        self.content = block(3 if layered or solid else 1, 1 if flat else 5, 6, channels, seed=seed, dtype=dtype)
        self.counterpart = surface(driver, self.content, 3 if solid else 1 if flat else 2, layered)
        self.element = self.content.dtype.itemsize * channels
        self.step = self.element if self.texels else self.bytes * self.count
        self.columns = self._places(layered)
        self.moves = ""
        self.names = [f"{ {1: '%h', 2: '%h', 4: '%r', 8: '%l'}[self.bytes] }{k}" for k in range(self.count)]

    def _places(self, layered: bool) -> list[np.ndarray]:
        rng, beyond = self.rng, 0 if self.traps else 3
        places = 6 * self.element // self.step
        x = rng.permutation(np.arange(-beyond, places + beyond))[:24]
        columns = [rng.integers(0, 3, len(x))] if layered else []
        columns.append(x if self.texels else x * self.step)
        if AXES[self.geometry] > 1:
            columns.append(rng.integers(0 if self.traps else -2, 5 if self.traps else 8, len(x)))
        if AXES[self.geometry] > 2:
            columns.append(rng.integers(0, 3, len(x)))
        return columns

    def brackets(self) -> str:
        given = [f"%w{k}" for k in range(AXES[self.geometry] + (self.geometry in ("a1d", "a2d")))]
        return f"[%t0, {vector(given + given[:1] * ((4 if len(given) > 2 else len(given)) - len(given)))}]"

    def load(self) -> tuple[str, int]:
        """Return the text of a load and how many words it gives."""
        out = {
            1: "cvt.u32.u8 %o{k}, {n};", 2: "mov.b32 %o{k}, {{{n}, %h8}};", 4: "mov.b32 %o{k}, {n};",
            8: "mov.b64 {{%o{a}, %o{b}}}, {n};",
        }[self.bytes]  # fmt: skip
        shown = (out.format(k=k, n=n, a=2 * k, b=2 * k + 1) for k, n in enumerate(self.names))
        text = f"mov.b16 %h8, 0; {self.form} {vector(self.names)}, {self.brackets()}; " + " ".join(shown)
        return text, self.count * (2 if self.bytes == 8 else 1)

    def store(self) -> str:
        """Return the text of a store or reduction of random data; it becomes columns of its own."""
        floats, moves = self.texels and self.content.dtype.kind == "f", []
        for name in self.names:
            word = f"%w{len(self.columns)}"
            n = len(self.columns[0])
            numbers = self.rng.integers(-(2**31), 2**31, n)
            self.columns.append(self.rng.normal(0, 1000, n).astype(F32) if floats else numbers)
            moves.append({1: f"mov.b32 {{{name}, %h8}}, {word};", 2: f"mov.b32 {{{name}, %h8}}, {word};", 4: f"mov.b32 {name}, {word};",
                          8: f"mov.b64 {name}, {{{word}, %w0}};"}[self.bytes])  # fmt: skip
        return " ".join(moves) + f" {self.form} {self.brackets()}, {vector(self.names)};"

    def keep_apart(self) -> None:
        """Leave out threads that would store to another's place."""
        layers, height, width, _ = self.content.shape
        seen, keep = set(), []
        axes, layered = AXES[self.geometry], self.geometry in ("a1d", "a2d")
        limit = (width * self.element // self.step - 1) * self.step
        for n in range(len(self.columns[0])):
            at = [int(c[n]) for c in self.columns[: axes + layered]]
            layer, rest = (at[0], at[1:]) if layered else (0, at)
            x, y, z = (*rest, *(0,) * (3 - axes))
            x = x * self.element if self.texels else x
            place = (np.clip(x, 0, limit), np.clip(y, 0, height - 1), np.clip(z if axes == 3 else layer, 0, layers - 1))
            keep += [n] if place not in seen else []
            seen.add(place)
        self.columns = [c[keep] for c in self.columns]


@pytest.mark.spread("part")
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("opcode", ["suld", "sust", "sured"])
@pytest.mark.parametrize("outside", ["clamp", "zero", "trap"])
def test_surface_accesses(driver, context, opcode, outside, part):
    forms = [f for f in SURFACES if f.startswith(opcode) and f".{outside}." in f]
    for seed, form in part_of(forms, part):
        one = Access(driver, form, seed)
        text, outputs = one.load() if opcode == "suld" else (one.store(), 0)
        if opcode == "sust":
            one.keep_apart()
        ptx, words = kernel(text, len(one.columns), outputs), as_words(one.columns)
        got, wanted = (run(device, ptx, [one.counterpart], words, outputs) for device in ("cpu", "reference"))
        np.testing.assert_array_equal(got, wanted, form)
        left = download(driver, one.counterpart.arrays[0], one.content)
        np.testing.assert_array_equal(left.view(np.uint8), one.counterpart.other.texels.view(np.uint8), form)


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_queries_of_textures(driver, context, device):
    levels = [block(4, 16 >> n, 32 >> n, 2, dtype=np.uint8) for n in range(3)]
    counterpart = texture(
        driver,
        *levels,
        kind="layered",
        normalized=True,
        as_float=True,
        filter="linear",
        address=("mirror", "border", "clamp"),
    )
    wanted = {
        "width": 32, "height": 16, "depth": 0, "array_size": 4, "num_mipmap_levels": 3, "num_samples": 0, "normalized_coords": 1,
        "filter_mode": 1, "addr_mode_0": 1, "addr_mode_1": 4, "addr_mode_2": 3, "force_unnormalized_coords": 0,
        "channel_data_type": 0x10D2, "channel_order": 0x10B2,
    }  # fmt: skip
    text = " ".join(f"txq.{name}.b32 %o{n}, [%t0];" for n, name in enumerate(wanted))
    text += " txq.level.width.b32 %o14, [%t0], %w0; txq.level.height.b32 %o15, [%t0], 1; txq.level.depth.b32 %o16, [%t0], 0;"
    got = run(device, kernel(text, 1, 17), [counterpart], as_words([np.array([2, 9])]), 17)
    np.testing.assert_array_equal(got[:14, 0], list(wanted.values()))
    np.testing.assert_array_equal(got[14:, 0], [8, 8, 0])


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_queries_of_surfaces_and_types_of_handles(driver, context, device):
    solid = surface(driver, block(3, 5, 7, 4, dtype=np.int16), 3)
    picture = texture(driver, block(1, 5, 7, 1))
    wanted = {
        "width": 7,
        "height": 5,
        "depth": 3,
        "array_size": 0,
        "memory_layout": 0,
        "channel_data_type": 0x10D8,
        "channel_order": 0x10B5,
    }
    text = " ".join(f"suq.{name}.b32 %o{n}, [%t0];" for n, name in enumerate(wanted))
    for n, (type, handle) in enumerate((("surfref", 0), ("texref", 0), ("texref", 1), ("samplerref", 1))):
        text += f" istypep.{type} %q, %t{handle}; selp.b32 %o{n + 7}, 1, 0, %q;"
    text += " mov.u64 %l0, 1234; istypep.texref %q, %l0; selp.b32 %o11, 1, 0, %q;"
    got = run(device, kernel(text, 0, 12, objects=2), [solid, picture], np.zeros((0, 2), np.uint32), 12)
    np.testing.assert_array_equal(got[:, 0], [*wanted.values(), 1, 0, 1, 0, 0])


def test_a_form_and_its_number_say_the_same():
    forms = [
        TextureForm("fetch", "a2d", "grad", offsets=True, sampler=True), TextureForm("gather", "cube", "", "b"),
        TextureForm("surface_load", "3d", "zero", bytes=8, count=2), TextureForm("formatted_reduce", "1d", "clamp", "max", bytes=4, count=1, type="b32"),
        TextureForm("query", mode="base", detail="memory_layout"), TextureForm("is_type", detail="surfref"),
    ]  # fmt: skip
    assert [form_of(f.code) for f in forms] == forms
    assert {f.kind for f in forms} <= set(KINDS)
