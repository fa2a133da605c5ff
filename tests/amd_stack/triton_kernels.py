"""Kernels of Triton, compiled to PTX by its own compiler for NVIDIA's cards, launched by the driver's interface and held against numpy.

anywarp run --device hip -- python tests/amd_stack/triton_kernels.py [NAME...]

No torch is needed: what a launch of Triton's does is done here by hand. One line for each check: `ok NAME` or `FAILED NAME: what`.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable

import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TARGET = GPUTarget("cuda", 80, 32)
TYPES = {"float32": "*fp32", "float16": "*fp16", "int32": "*i32"}
CHECKS: dict[str, Callable[[], None]] = {}
driver = ctypes.CDLL("libcuda.so.1")


def check(function: Callable[[], None]) -> Callable[[], None]:
    CHECKS[function.__name__] = function
    return function


def call(name: str, *arguments: object) -> None:
    code = getattr(driver, name)(*arguments)
    assert code == 0, f"{name}: {code}"


def launch(
    kernel: object, grid: tuple[int, ...], *arguments: np.ndarray | int, warps: int = 4, **constants: int
) -> None:
    """Compile a kernel and run it; arrays are copied to the device and back."""
    names = [name for name in kernel.arg_names if name not in constants]
    signature = {
        name: "i32" if isinstance(value, int) else TYPES[value.dtype.name]
        for name, value in zip(names, arguments, strict=True)
    }
    signature |= dict.fromkeys(constants, "constexpr")
    source = ASTSource(kernel, {name: signature[name] for name in kernel.arg_names}, constants)
    made = triton.compile(source, target=TARGET, options={"num_warps": warps})
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), made.asm["ptx"].encode() + b"\0")
    call("cuModuleGetFunction", ctypes.byref(function), module, made.metadata.name.encode())
    shared = made.metadata.shared
    if shared > 48 * 1024:
        call("cuFuncSetAttribute", function, 8, shared)  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    values: list[object] = []
    for value in arguments:
        if isinstance(value, int):
            values.append(ctypes.c_int32(value))
            continue
        place = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(value.nbytes))
        call("cuMemcpyHtoD_v2", place, value.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(value.nbytes))
        values.append(place)
    scratch = [ctypes.c_uint64(0), ctypes.c_uint64(0)]  # of the grid and of a profiler, which Triton's launchers add
    given = [*values, *scratch]
    pointers = (ctypes.c_void_p * len(given))(*(ctypes.addressof(each) for each in given))
    x, y, z = (*grid, 1, 1)[:3]
    call("cuLaunchKernel", function, x, y, z, 32 * warps, 1, 1, shared, None, pointers, None)
    call("cuCtxSynchronize")
    for value, place in zip(arguments, values, strict=True):
        if not isinstance(value, int):
            call("cuMemcpyDtoH_v2", value.ctypes.data_as(ctypes.c_void_p), place, ctypes.c_size_t(value.nbytes))
            call("cuMemFree_v2", place)
    call("cuModuleUnload", module)


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(5).standard_normal(shape).astype(np.float32)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@check
def add() -> None:
    x, y, out = normal(1000), normal(1000)[::-1].copy(), np.full(1024, 7, np.float32)
    launch(add_kernel, (4,), x, y, out, 1000, BLOCK=256)
    np.testing.assert_array_equal(out, np.concatenate([x + y, np.full(24, 7, np.float32)]))


@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    raised = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * columns + at, raised / tl.sum(raised, 0), mask=at < columns)


@check
def softmax() -> None:
    x = normal(5, 700)
    out = np.zeros_like(x)
    launch(softmax_kernel, (5,), x, out, 700, BLOCK=1024)
    raised = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, raised / raised.sum(1, keepdims=True), rtol=2e-6)


@triton.jit
def product_kernel(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PART: tl.constexpr):
    down, across = tl.arange(0, M), tl.program_id(0) * N + tl.arange(0, N)
    width = tl.num_programs(0) * N
    sums = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, K, PART):
        inner = start + tl.arange(0, PART)
        left = tl.load(a + down[:, None] * K + inner[None, :])
        sums += tl.dot(left, tl.load(b + inner[:, None] * width + across[None, :]), input_precision="ieee")
    tl.store(c + down[:, None] * width + across[None, :], sums)


def product(kind: type, tolerance: float) -> None:
    a, b, c = normal(32, 64).astype(kind), normal(64, 64).astype(kind), np.zeros((32, 64), np.float32)
    launch(product_kernel, (2,), a, b, c, M=32, N=32, K=64, PART=32)
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c, wanted, rtol=0, atol=tolerance * np.abs(wanted).max())


@check
def product_of_halves() -> None:
    product(np.float16, 1e-6)


@check
def product_of_floats() -> None:
    product(np.float32, 1e-6)


@triton.jit
def histogram_kernel(x, counts, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + tl.load(x + at, mask=at < n), 1, mask=at < n)


@check
def histogram() -> None:
    x, counts = np.random.default_rng(3).integers(0, 37, 5000).astype(np.int32), np.zeros(37, np.int32)
    launch(histogram_kernel, (10,), x, counts, 5000, BLOCK=512)
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=37))


@triton.jit
def scan_kernel(x, sums, order, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    values = tl.load(x + at)
    tl.store(sums + at, tl.cumsum(values, 0))
    tl.store(order + at, tl.sort(values))


@check
def scan_and_sort() -> None:
    x = np.random.default_rng(4).integers(-1000, 1000, 512).astype(np.int32)
    sums, order = np.zeros_like(x), np.zeros_like(x)
    launch(scan_kernel, (1,), x, sums, order, BLOCK=512)
    np.testing.assert_array_equal(sums, np.cumsum(x))
    np.testing.assert_array_equal(order, np.sort(x))


@triton.jit
def norm_kernel(x, weights, out, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=0.0)
    mean = tl.sum(values, 0) / columns
    apart = tl.where(at < columns, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(apart * apart, 0) / columns + 1e-5)
    tl.store(out + row * columns + at, apart * scale * tl.load(weights + at, mask=at < columns), mask=at < columns)


@check
def norm() -> None:
    x, weights = normal(6, 300), normal(300)
    out = np.zeros_like(x)
    launch(norm_kernel, (6,), x, weights, out, 300, BLOCK=512, warps=8)
    apart = x.astype(np.float64) - x.mean(1, keepdims=True, dtype=np.float64)
    wanted = apart / np.sqrt((apart**2).mean(1, keepdims=True) + 1e-5) * weights
    np.testing.assert_allclose(out, wanted, rtol=0, atol=2e-6 * np.abs(wanted).max())


def main(names: list[str]) -> int:
    """Run these checks, or all."""
    context, device = ctypes.c_void_p(), ctypes.c_int()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    failed = 0
    for name in names or CHECKS:
        try:
            CHECKS[name]()
            print(f"ok {name}", flush=True)
        except Exception as error:
            failed += 1
            said = " | ".join(str(error).split("\n"))
            print(f"FAILED {name}: {type(error).__name__}: {said[:400]}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
