"""Texture and surface operations of one lane: calls of the texture unit in software, which a kernel is linked with (textures.ll).

AMD's image instructions want descriptors of tiled images and filter with other weights than CUDA's; our arrays are plain memory. The unit
is that of the processor, compiled for the device from the same sources (native/hip/device/textures.cpp); LLVM takes of it what the form
at hand needs. Objects are structures in device memory (native/core/hip_texture.h), and a handle is the address of one.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding

from anywarp.compiler.amdgpu.emitter import LOCAL, Emitter
from anywarp.compiler.amdgpu.services import stop
from anywarp.compiler.attributes import TextureAccess
from anywarp.compiler.ir import Op
from anywarp.ptx.isa.texture_form import KINDS, form_of

llvm: Any = llvmlite.binding  # it has no types

MARK = 0x3158_4554_5741_0000
"""`kHipTextureMark`."""
FIRST_REASON = 3
"""Of `artifact.REASONS`: what an `HipTextureFault` of 1 means."""
_MOST_WORDS = 16
_FEW = 4
_UNIT = ("aw_hip_texture_", "_ZN2aw6sample", "_ZN2aw6gather", "_ZN2aw14access_surface")


class TextureLevel(ctypes.Structure):
    """One level: where it lies, bytes from row to row and from slice to slice, extents (1 where there is none)."""

    _fields_ = [
        ("base", ctypes.c_uint64),
        ("pitch", ctypes.c_uint64),
        ("slice", ctypes.c_uint64),
        ("width", ctypes.c_uint32),
        ("height", ctypes.c_uint32),
        ("depth", ctypes.c_uint32),
    ]


_FLAGS = "surface linear layered cube mipmapped pointwise level_linear normalized fractions srgb seamless".split()


class HipTexture(ctypes.Structure):
    """`HipTexture` with its `TextureView` (native/devices/texture_view.h), byte for byte."""

    _fields_ = [
        ("mark", ctypes.c_uint64),
        ("reserved", ctypes.c_uint64),
        *((name, ctypes.c_bool) for name in _FLAGS),
        ("channel", ctypes.c_uint8),
        ("channels", ctypes.c_uint8),
        ("dimensions", ctypes.c_uint8),
        ("address", ctypes.c_uint8 * 3),
        ("levels", ctypes.c_uint32),
        ("layers", ctypes.c_uint32),
        ("bias", ctypes.c_float),
        ("least", ctypes.c_float),
        ("most", ctypes.c_float),
        ("border", ctypes.c_uint32 * 4),
        ("level", TextureLevel * 18),
    ]


def emit_texture(e: Emitter, op: Op) -> None:
    """Emit a texture or surface instruction of the lanes whose guard holds; a fault of one ends the kernel with its reason."""
    results = TextureAccess.of(op).results
    values = e.guarded(op, lambda: [("i32", x) for x in _call(e, op, results)])
    if values:
        e.define_all(op, values)
    else:
        e.define(op, "0")


def _call(e: Emitter, op: Op, results: int) -> list[str]:
    t, form, named = e.t, TextureAccess.of(op).form, TextureAccess.of(op).objects
    objects, words = op.args[:named], op.args[named:]
    given, found = _room(e, "words"), _room(e, "results")
    for n, word in enumerate(words):
        t.do(f"store i32 {e.value(word)}, {LOCAL} {_place(e, given, n)}, align 4")
    handles = [("i64", e.value(o)) for o in objects[: 2 if form_of(form).sampler else 1]]
    pointers = [("ptr", t.cast("addrspacecast", LOCAL, room, "ptr")) for room in (given, found)]
    fault = t.call("i32", f"aw_hip_texture_{_entry(form)}", ("i32", str(form)), *handles, *pointers)
    bad, good = t.fresh("fault"), t.fresh("fetched")
    t.do(f"br i1 {t.two('icmp eq', 'i32', fault, '0')}, label %{good}, label %{bad}")
    t.start(bad)
    stop(e, t.two("add", "i32", fault, str(FIRST_REASON - 1)), "0")
    t.do("unreachable")
    t.start(good)
    return [t.let(f"load i32, {LOCAL} {_place(e, found, n)}, align 4") for n in range(results)]


def _entry(form: int) -> str:
    parts = form_of(form)
    if parts.kind in ("fetch", "gather"):
        return "sampled" if parts.sampler else "fetch"
    return "query" if KINDS.index(parts.kind) >= KINDS.index("query") else "access"


def _room(e: Emitter, name: str) -> str:
    """Return memory of the lane for an instruction's operands or results; LLVM keeps it in registers where it can."""
    place = f"%{e.t.fresh('texture_' + name)}"
    e.t.allocas.append(f"  {place} = alloca [{_MOST_WORDS} x i32], align 16, addrspace(5)")
    return place


def _place(e: Emitter, room: str, index: int) -> str:
    return e.t.let(f"getelementptr i32, {LOCAL} {room}, i32 {index}") if index else room


@cache
def _text() -> str:
    return Path(__file__).with_name("textures.ll").read_text()


def needs_textures(text: str) -> bool:
    """Return whether the text of a kernel calls the texture unit."""
    return "@aw_hip_texture_" in text


def link_textures(module: Any, text: str) -> None:
    """Give a module the functions of `textures.ll`; what nothing calls is dropped when it is optimised.

    A kernel with few texture instructions gets each of them cut down to its form; one with many shares whole functions.
    """
    module.link_in(llvm.parse_assembly(_text()))
    few = text.count("call i32 @aw_hip_texture_") <= _FEW
    for function in module.functions:
        if not function.is_declaration and function.name.startswith(_UNIT):
            function.linkage = "internal"
            function.add_function_attribute("alwaysinline" if few else "noinline")


OPERATIONS = {"texture": emit_texture}
