"""Device memory and calls through ctypes: what the checks of bitsandbytes' entries stand on.

Three number types go through the library: float32, float16, and bfloat16, which numpy does not have; arrays of the latter are
kept as float32 values that bfloat16 can hold.
"""

import ctypes

import numpy as np

TYPES = ("fp32", "fp16", "bf16")
"""The number types, as the library's entries spell them."""


def bf16_bits(values):
    """Round float32 values to bfloat16, ties to even; no NaN comes up here."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def rounded(values, kind):
    """Return what `kind` holds of the values, as float32."""
    values = np.asarray(values, np.float32)
    if kind == "fp16":
        return values.astype(np.float16).astype(np.float32)
    if kind == "bf16":
        return (bf16_bits(values).astype(np.uint32) << 16).view(np.float32)
    return values


class Library:
    """bitsandbytes' library and the CUDA runtime beside it; arrays live in device memory until `close`."""

    def __init__(self, path):
        self.runtime = ctypes.CDLL("libcudart.so.13")
        self.entries = ctypes.CDLL(path)
        self.memory = []

    def put(self, values, kind=None):
        """Copy an array to the device, as `kind` where that is given; return its address."""
        values = np.ascontiguousarray(values)
        if kind == "fp16":
            values = values.astype(np.float16)
        elif kind == "bf16":
            values = bf16_bits(values)
        elif kind == "fp32":
            values = values.astype(np.float32)
        address = ctypes.c_void_p()
        self.ok(self.runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(max(values.nbytes, 1))))
        self.memory.append(address)
        self.ok(
            self.runtime.cudaMemcpy(address, values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(values.nbytes), 1)
        )
        return address

    def empty(self, count, kind):
        """Return device memory for `count` numbers, full of a pattern that no result has."""
        width = {"fp32": 4, "fp16": 2, "bf16": 2, "u8": 1, "i8": 1}[kind]
        return self.put(np.full(count * width, 0xA5, np.uint8))

    def get(self, address, count, kind):
        """Return `count` numbers from the device: float32 for the number types, bytes for u8 and i8."""
        type_ = {"fp32": np.float32, "fp16": np.float16, "bf16": np.uint16, "u8": np.uint8, "i8": np.int8}[kind]
        values = np.empty(count, type_)
        self.ok(self.runtime.cudaDeviceSynchronize())
        self.ok(
            self.runtime.cudaMemcpy(values.ctypes.data_as(ctypes.c_void_p), address, ctypes.c_size_t(values.nbytes), 2)
        )
        if kind == "bf16":
            return (values.astype(np.uint32) << 16).view(np.float32)
        return values.astype(np.float32) if kind == "fp16" else values

    def call(self, name, *arguments):
        """Call an entry: int is int32, float is float, None a null pointer; whatever else goes through as it is."""
        changed = [
            ctypes.c_bool(each)
            if isinstance(each, bool)
            else ctypes.c_int32(each)
            if isinstance(each, int)
            else ctypes.c_float(each)
            if isinstance(each, float)
            else ctypes.c_void_p(None)
            if each is None
            else each
            for each in arguments
        ]
        result = getattr(self.entries, name)(*changed)
        self.ok(self.runtime.cudaDeviceSynchronize())
        return result

    def ok(self, status):
        """Raise where the runtime says that something failed."""
        if status:
            self.runtime.cudaGetErrorName.restype = ctypes.c_char_p
            raise RuntimeError(self.runtime.cudaGetErrorName(status).decode())

    def close(self):
        """Free what was put on the device since the last time."""
        while self.memory:
            self.ok(self.runtime.cudaFree(self.memory.pop()))


def near(got, expected, relative, absolute=0.0):
    """Raise unless every number is within a tolerance of what is expected; NaN never is."""
    got, expected = np.asarray(got, np.float64), np.asarray(expected, np.float64)
    assert got.shape == expected.shape, (got.shape, expected.shape)
    error = np.abs(got - expected) - absolute - relative * np.abs(expected)
    worst = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
    if not error.flat[worst] <= 0:
        raise AssertionError(f"element {worst}: {got.flat[worst]!r}, expected {expected.flat[worst]!r}")
