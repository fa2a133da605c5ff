"""Tensors for tests of cuDNN: numbers of any of its types in memory of any strides, beside the same numbers as float64."""

import ctypes

import numpy as np

TYPES = {
    "f32": (0, np.float32), "f64": (1, np.float64), "f16": (2, np.float16), "s8": (3, np.int8), "s32": (4, np.int32), "u8": (6, np.uint8),
    "bf16": (9, np.uint16), "s64": (10, np.int64),
}  # fmt: skip
ROUNDING = {"f32": 2.0**-24, "f64": 2.0**-53, "f16": 2.0**-11, "bf16": 2.0**-8}


def encoded(kind: str, values) -> np.ndarray:
    """Return values in the type's memory format, rounded to nearest."""
    values = np.asarray(values)
    if kind == "bf16":
        bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    if kind in ("s8", "u8", "s32", "s64"):
        return np.rint(values).astype(TYPES[kind][1])
    return values.astype(TYPES[kind][1])


def decoded(kind: str, raw: np.ndarray) -> np.ndarray:
    if kind == "bf16":
        return (raw.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return raw.astype(np.float64)


class Tensor:
    """`order` is the order of dimensions in memory, the outermost first; `gap` more elements lie behind each innermost row."""

    def __init__(self, dnn, kind, values, order=None, gap=0, filter=False):
        values = np.asarray(values, np.float64)
        self.dnn, self.kind, self.shape = dnn, kind, values.shape
        order = list(order or range(values.ndim))
        strides, step = [0] * values.ndim, 1
        for place, axis in enumerate(reversed(order)):
            strides[axis] = step
            step *= values.shape[axis] + (gap if place == 0 else 0)
        self.strides = strides
        self.memory = np.full(max(step, 1), 77, TYPES[kind][1])
        self.set(values)
        self.desc = dnn.filter(self, order) if filter else dnn.descriptor(kind, self.shape, strides)

    def _view(self):
        size = self.memory.itemsize
        return np.lib.stride_tricks.as_strided(self.memory, self.shape, [s * size for s in self.strides])

    def set(self, values):
        self._view()[...] = encoded(self.kind, values)

    @property
    def values(self) -> np.ndarray:
        return decoded(self.kind, self._view())

    @property
    def args(self):
        return self.desc, self.memory


class Dnn:
    """A handle of the library, and descriptors that live as long as it."""

    def __init__(self, library):
        self.call, self.status = library, library.status
        self.handle = library.out("cudnnCreate")

    def make(self, kind):
        return self.call.out(f"cudnnCreate{kind}Descriptor")

    def descriptor(self, kind, dims, strides):
        made = self.make("Tensor")
        self.call("cudnnSetTensorNdDescriptor", made, TYPES[kind][0], len(dims), ints(dims), ints(strides))
        return made

    def filter(self, tensor, order):
        made = self.make("Filter")
        last = order[-1] == 1 and len(order) > 2
        self.call(
            "cudnnSetFilterNdDescriptor", made, TYPES[tensor.kind][0], int(last), len(tensor.shape), ints(tensor.shape)
        )
        return made

    def tensor(self, kind, values, **options):
        return Tensor(self, kind, values, **options)

    def zeros(self, kind, shape, **options):
        return Tensor(self, kind, np.zeros(shape), **options)

    def convolution(self, pads, strides, dilations, mode=1, groups=1, compute=0):
        made = self.make("Convolution")
        self.call(
            "cudnnSetConvolutionNdDescriptor",
            made,
            len(pads),
            ints(pads),
            ints(strides),
            ints(dilations),
            mode,
            compute,
        )
        self.call("cudnnSetConvolutionGroupCount", made, groups)
        return made


def ints(values):
    return (ctypes.c_int * len(values))(*map(int, values))


def factor(kind, value):  # alpha and beta are doubles beside doubles
    return (ctypes.c_double if kind == "f64" else ctypes.c_float)(value)


def near(found, wanted, kind, length, scale=None):
    """Assert that results agree within what the type and sums of `length` products allow."""
    scale = np.abs(wanted).max(initial=0) + 1e-30 if scale is None else scale
    single = 2.0**-53 if kind == "f64" else 2.0**-24
    bound = (
        ROUNDING.get(kind, 0.0) * 2 * np.abs(wanted)
        + single * (length + 8) * 2 * scale
        + (1e-7 if kind == "f16" else 0)
    )
    wrong = ~(np.abs(found - wanted) <= bound) & ~((found == wanted) | (np.isnan(found) & np.isnan(wanted)))
    assert not wrong.any(), (
        f"{wrong.sum()} of {wrong.size} wrong; the worst by {np.abs(found - wanted).max()} at scale {np.max(scale)}"
    )
