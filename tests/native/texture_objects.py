"""One texture or surface twice: as an object of the driver, and as what the reference device knows; and kernels of one instruction.

Each kernel reads the words of thread i from `in[k * n + i]` and writes its results to `out[k * n + i]`.
"""

import ctypes
from dataclasses import dataclass

import numpy as np

from anywarp.devices.cpu.execute import run_kernel as run_on_cpu
from anywarp.devices.reference.execute import run_kernel as run_on_reference
from anywarp.devices.reference.surface import Surface
from anywarp.devices.reference.texture import Texture
from native.test_arrays import ARRAY, CUBEMAP, HOST, LAYERED, SURFACE, shape
from native.test_memory import Copy3D
from native.test_textures import (
    AS_INTEGER,
    LINEAR,
    MIPMAPPED,
    NORMALIZED,
    PITCHED,
    OfLine,
    OfRows,
    Resource,
    Sampling,
    What,
    make,
    of_array,
)

FORMATS = {"u1": 1, "u2": 2, "u4": 3, "i1": 8, "i2": 9, "i4": 10, "f2": 0x10, "f4": 0x20}
MODES = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}
SRGB = 0x10
UINT32, F32 = np.uint32, np.float32


@dataclass
class Counterpart:
    """The driver's handle, the reference device's object, and what keeps memory alive."""

    handle: int
    other: Texture | Surface
    arrays: tuple[int, ...] = ()


def extents(texels, dimensions, kind):
    layers, height, width, _ = texels.shape
    flags = {"plain": 0, "layered": LAYERED, "cube": CUBEMAP | (LAYERED if layers > 6 else 0)}[kind]
    depth = 0 if kind == "plain" and dimensions < 3 else layers
    return (width, height if dimensions > 1 else 0, depth), flags


def upload(driver, array, texels):
    texels = np.ascontiguousarray(texels)
    layers, height, width, channels = texels.shape
    row = width * channels * texels.dtype.itemsize
    copy = Copy3D(srcType=HOST, srcHost=texels.ctypes.data, srcPitch=row, srcHeight=height, dstType=ARRAY, dstArray=array,
                  width=row, height=height, depth=layers)  # fmt: skip
    driver.cuMemcpy3D_v2(ctypes.byref(copy))


def download(driver, array, texels):
    out = np.zeros_like(texels)
    layers, height, width, channels = out.shape
    row = width * channels * out.dtype.itemsize
    copy = Copy3D(srcType=ARRAY, srcArray=array, dstType=HOST, dstHost=out.ctypes.data, dstPitch=row, dstHeight=height,
                  width=row, height=height, depth=layers)  # fmt: skip
    driver.cuMemcpy3D_v2(ctypes.byref(copy))
    return out


def described(texels, dimensions, kind, flags=0):
    (width, height, depth), own = extents(texels, dimensions, kind)
    return shape(width, height, depth, FORMATS[texels.dtype.str[1:]], texels.shape[-1], own | flags)


def sampling(t: Texture) -> Sampling:
    flags = (NORMALIZED if t.normalized else 0) | (0 if t.as_float else AS_INTEGER) | (SRGB if t.srgb else 0)
    return Sampling(
        (ctypes.c_int * 3)(*(MODES[m] for m in t.address)), int(t.filter == "linear"), flags, 0, int(t.mip_filter == "linear"),
        t.bias, t.least, t.most, (ctypes.c_float * 4)(*t.border),
    )  # fmt: skip


def resource_of(driver, t: Texture) -> tuple[Resource, tuple[int, ...]]:
    """Make the memory that a texture reads."""
    finest = t.levels[0]
    if t.linear:
        address = driver.out("cuMemAlloc_v2", finest.nbytes)
        driver.cuMemcpyHtoD_v2(address, np.ascontiguousarray(finest).ctypes.data, finest.nbytes)
        line = OfLine(address, FORMATS[finest.dtype.str[1:]], finest.shape[-1], finest.nbytes)
        return Resource(LINEAR, What(line=line)), ()
    if len(t.levels) == 1:
        array = driver.out("cuArray3DCreate_v2", described(finest, t.dimensions, t.kind))
        upload(driver, array, finest)
        return of_array(array), (array,)
    array = driver.out("cuMipmappedArrayCreate", described(finest, t.dimensions, t.kind), len(t.levels))
    for n, level in enumerate(t.levels):
        upload(driver, driver.out("cuMipmappedArrayGetLevel", array, n), level)
    return of_array(array, MIPMAPPED), (array,)


def texture(driver, *levels, **more) -> Counterpart:
    """Make a texture of levels of shape (layers or depth, height, width, channels)."""
    other = Texture(tuple(np.asarray(x) for x in levels), **more)
    resource, kept = resource_of(driver, other)
    code, handle = make(driver, resource, sampling(other))
    assert code == 0
    return Counterpart(handle, other, kept)


def pitched(driver, texels, pitch, **more) -> Counterpart:
    """Make a texture over rows of plain memory, `pitch` bytes apart."""
    _, height, width, channels = texels.shape
    room = np.full((height, pitch), 0xEE, np.uint8)
    room[:, : width * channels * texels.dtype.itemsize] = texels[0].reshape(height, -1).view(np.uint8)
    address = driver.out("cuMemAlloc_v2", room.nbytes)
    driver.cuMemcpyHtoD_v2(address, room.ctypes.data, room.nbytes)
    other = Texture((texels,), **more)
    rows = OfRows(address, FORMATS[texels.dtype.str[1:]], channels, width, height, pitch)
    code, handle = make(driver, Resource(PITCHED, What(rows=rows)), sampling(other))
    assert code == 0
    return Counterpart(handle, other)


def surface(driver, texels, dimensions=2, layered=False) -> Counterpart:
    """Make a surface over a copy of `texels`."""
    kind = "layered" if layered else "plain"
    array = driver.out("cuArray3DCreate_v2", described(texels, dimensions, kind, SURFACE))
    upload(driver, array, texels)
    handle = driver.out("cuSurfObjectCreate", ctypes.byref(of_array(array)))
    return Counterpart(handle, Surface(texels.copy(), layered, dimensions), (array,))


HEAD = """.version 8.5
.target sm_80
.address_size 64
"""


def kernel(text: str, inputs: int, outputs: int, objects: int = 1, before: str = "", width: int = 32) -> str:
    """Return a module whose kernel `k(objects..., in, out, n)` runs `text` on words %w and results %o of each thread."""
    step = width // 8
    load = "\n".join(
        f"  mad.lo.u32 %x, %n, {k}, %i;\n  mul.wide.u32 %a, %x, {step};\n  add.u64 %a, %a, %in;\n  ld.global.b{width} %w{k}, [%a];"
        for k in range(inputs)
    )
    store = "\n".join(
        f"  mad.lo.u32 %x, %n, {k}, %i;\n  mul.wide.u32 %a, %x, {step};\n  add.u64 %a, %a, %out;\n  st.global.b{width} [%a], %o{k};"
        for k in range(outputs)
    )
    params = "".join(f".param .u64 t{k}, " for k in range(objects))
    handles = "\n".join(f"  ld.param.u64 %t{k}, [t{k}];" for k in range(objects))
    return f"""{HEAD}{before}
.visible .entry k({params}.param .u64 in, .param .u64 out, .param .u32 n) {{
  .reg .b64 %t<{objects + 1}>, %in, %out, %a; .reg .b32 %i, %n, %x, %b, %d; .reg .b{width} %w<{inputs + 1}>, %o<{outputs + 1}>;
  .reg .pred %p, %q; .reg .b16 %h<9>; .reg .b64 %l<9>; .reg .b32 %r<9>;
{handles}
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n];
  mov.u32 %i, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %d, %ntid.x; mad.lo.u32 %i, %b, %d, %i;
  setp.ge.u32 %p, %i, %n;
  @%p bra done;
{load}
  {text}
{store}
done:
  ret;
}}
"""


def as_words(columns) -> np.ndarray:
    """Stack columns of f32 or integers as rows of 32-bit words."""
    rows = [
        c.astype(F32).view(UINT32) if c.dtype.kind == "f" else c.astype(np.int64).astype(UINT32)
        for c in map(np.asarray, columns)
    ]
    return np.ascontiguousarray(np.stack(rows)) if rows else np.zeros((0, 1), UINT32)


def run(device: str, ptx: str, counterparts, words: np.ndarray, outputs: int) -> np.ndarray:
    """Run a kernel of `kernel` over the columns of `words` on a device; returns its results, one row each."""
    n = words.shape[1]
    out = np.full((max(outputs, 1), n), 0xABABABAB, UINT32)
    args = [*(np.uint64(t.handle) for t in counterparts), words, out, np.uint32(n)]
    grid = -(-n // 64)
    if device == "cpu":
        run_on_cpu(ptx, "k", grid, min(n, 64), args)
    else:
        run_on_reference(ptx, "k", grid, min(n, 64), args, objects={t.handle: t.other for t in counterparts})
    return out[:outputs]


def fetch(form: str, coordinates: int, more: str = "") -> str:
    """A `tex` of four words from %w0...; `more` is written behind the brackets."""
    names = [f"%w{k}" for k in range(coordinates)]
    padded = names + ["%w0"] * ((4 if coordinates > 2 else coordinates) - coordinates)
    return f"tex.{form} {{%o0, %o1, %o2, %o3}}, [%t0, {{{', '.join(padded)}}}]{more};"


def floats(words: np.ndarray) -> np.ndarray:
    return words.view(F32)
