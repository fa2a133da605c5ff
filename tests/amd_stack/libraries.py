"""Small calls of CUDA's libraries, held against numpy: `anywarp run --device hip -- python libraries.py LIBRARY` on a card with ROCm's libraries.

Each case calls as a program for CUDA does, by names and numbers of NVIDIA's manuals, and says what it found as JSON: {"status": {call: code}, "worst": {what: error}}.
A call that does not return 0 ends the case, for what follows would have no meaning.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable
from ctypes import byref, c_double, c_float, c_int, c_int64, c_size_t, c_uint64, c_void_p

import numpy as np

R_32F, COMPUTE_32F = 0, 68
HOST = np.random.default_rng(7)
found: dict[str, dict[str, float]] = {"status": {}, "worst": {}}
driver: ctypes.CDLL


class Stopped(Exception):
    """A call did not return 0."""


def called(library: ctypes.CDLL, name: str, *arguments: object) -> None:
    """Call a function that returns a status, and write the status down."""
    code = getattr(library, name)(*arguments)
    found["status"][name] = code
    if code:
        raise Stopped(f"{name}: {code}")


def made(library: ctypes.CDLL, name: str, *arguments: object) -> c_void_p:
    """Return what a call writes through its first argument."""
    value = c_void_p()
    called(library, name, byref(value), *arguments)
    return value


def on_card(values: np.ndarray) -> c_void_p:
    """Return device memory with these values; a matrix in the order of Fortran."""
    place = c_void_p()
    called(driver, "cuMemAlloc_v2", byref(place), c_size_t(max(values.nbytes, 1)))
    contents = values.tobytes(order="F")
    called(driver, "cuMemcpyHtoD_v2", place, contents, c_size_t(len(contents)))
    return place


def read(place: c_void_p, like: np.ndarray) -> np.ndarray:
    """Return what device memory holds, in the shape and type of an array."""
    contents = ctypes.create_string_buffer(like.nbytes)
    called(driver, "cuCtxSynchronize")
    called(driver, "cuMemcpyDtoH_v2", contents, place, c_size_t(like.nbytes))
    return np.frombuffer(contents, like.dtype).reshape(like.shape, order="F")


def compared(what: str, got: np.ndarray, wanted: np.ndarray) -> None:
    """Write down the largest difference, relative to the largest value that there should be."""
    found["worst"][what] = float(np.abs(got - wanted).max() / np.abs(wanted).max())


def normal(*shape: int, kind: type = np.float32) -> np.ndarray:
    """Return numbers of a normal distribution."""
    return HOST.standard_normal(shape).astype(kind)


def cublas() -> None:
    library = ctypes.CDLL("libcublas.so.12")
    handle = made(library, "cublasCreate_v2")
    for name, kind, number in (("cublasSgemm_v2", np.float32, c_float), ("cublasDgemm_v2", np.float64, c_double)):
        a, b, c = normal(24, 40, kind=kind), normal(40, 17, kind=kind), normal(24, 17, kind=kind)
        place = on_card(c)
        called(
            library, name, handle, 0, 0, 24, 17, 40, byref(number(1.5)), on_card(a), 24, on_card(b), 40, byref(number(-2)), place, 24
        )  # fmt: skip
        compared(name, read(place, c), 1.5 * a.astype(np.float64) @ b - 2 * c)
    x, y = normal(1000), normal(1000)
    place, dot = on_card(y), c_float()
    called(library, "cublasSaxpy_v2", handle, 1000, byref(c_float(3)), on_card(x), 1, place, 1)
    compared("cublasSaxpy_v2", read(place, y), 3 * x.astype(np.float64) + y)
    called(library, "cublasSdot_v2", handle, 1000, on_card(x), 1, on_card(x), 1, byref(dot))
    compared("cublasSdot_v2", np.array([dot.value]), np.array([x.astype(np.float64) @ x]))


def cublaslt() -> None:
    library = ctypes.CDLL("libcublasLt.so.12")
    handle = made(library, "cublasLtCreate")
    a, b, c = normal(32, 64), normal(64, 16), normal(32, 16)
    product = made(library, "cublasLtMatmulDescCreate", COMPUTE_32F, R_32F)
    layouts = [
        made(library, "cublasLtMatrixLayoutCreate", R_32F, c_uint64(each.shape[0]), c_uint64(each.shape[1]), c_int64(each.shape[0]))
        for each in (a, b, c)
    ]  # fmt: skip
    preference = made(library, "cublasLtMatmulPreferenceCreate")
    answer, count = ctypes.create_string_buffer(96), c_int()
    called(
        library, "cublasLtMatmulAlgoGetHeuristic", handle, product, *layouts, layouts[2], preference, 1, answer, byref(count)
    )  # fmt: skip
    place = on_card(c)
    called(
        library, "cublasLtMatmul", handle, product, byref(c_float(1)), on_card(a), layouts[0], on_card(b), layouts[1], byref(c_float(0.5)),
        place, layouts[2], place, layouts[2], answer, None, c_size_t(0), None
    )  # fmt: skip
    compared("cublasLtMatmul", read(place, c), a.astype(np.float64) @ b + 0.5 * c)


def cufft() -> None:
    library = ctypes.CDLL("libcufft.so.11")
    plan = c_int()
    called(library, "cufftPlan1d", byref(plan), 120, 0x29, 3)
    signal = (normal(3, 120) + 1j * normal(3, 120)).astype(np.complex64)
    place = on_card(signal.T)
    called(library, "cufftExecC2C", plan, place, place, -1)
    compared("cufftExecC2C", read(place, signal.T).T, np.fft.fft(signal))
    called(library, "cufftPlan2d", byref(plan), 12, 10, 0x6A)
    image = normal(12, 10, kind=np.float64)
    half = np.fft.rfft2(image)
    place = on_card(np.zeros_like(half.T))
    called(library, "cufftExecD2Z", plan, on_card(image.T), place)
    compared("cufftExecD2Z", read(place, half.T).T, half)


def curand() -> None:
    library = ctypes.CDLL("libcurand.so.10")
    for name, kind in (("XORWOW", 101), ("MRG32k3a", 121), ("Philox", 161)):
        generator = made(library, "curandCreateGenerator", kind)
        rounds = []
        for _ in range(2):
            called(library, "curandSetPseudoRandomGeneratorSeed", generator, ctypes.c_ulonglong(11))
            called(library, "curandSetGeneratorOffset", generator, ctypes.c_ulonglong(0))
            numbers = np.zeros(20000, np.float32)
            place = on_card(numbers)
            called(library, "curandGenerateUniform", generator, place, c_size_t(20000))
            rounds.append(read(place, numbers))
        inside = bool((rounds[0] > 0).all() and (rounds[0] <= 1).all())
        # the mean of n uniform numbers lies within 6 of its deviations, 1/sqrt(12 n), but once in 500 million
        found["worst"][f"{name}: mean, in deviations"] = float(abs(rounds[0].mean() - 0.5) * np.sqrt(12 * 20000))
        found["worst"][f"{name}: outside of (0, 1], or another sequence for the same seed"] = float(
            not inside or not np.array_equal(*rounds)
        )
    # the first 1024 numbers of the first Sobol dimension are all multiples of 2 to the 22 in some order (van der Corput's)
    generator = made(library, "curandCreateGenerator", 201)
    called(library, "curandSetQuasiRandomGeneratorDimensions", generator, 1)
    numbers = np.zeros(1024, np.uint32)
    place = on_card(numbers)
    called(library, "curandGenerate", generator, place, c_size_t(1024))
    found["worst"]["Sobol"] = float((np.sort(read(place, numbers)) != np.arange(1024, dtype=np.uint32) << 22).sum())


def cusparse() -> None:
    library = ctypes.CDLL("libcusparse.so.12")
    handle = made(library, "cusparseCreate")
    dense = normal(50, 30) * (HOST.random((50, 30)) < 0.2)
    rows, columns = np.nonzero(dense)
    starts = np.searchsorted(rows, np.arange(51)).astype(np.int32)
    x, y = normal(30), normal(50)
    places = on_card(starts), on_card(columns.astype(np.int32)), on_card(dense[rows, columns])
    matrix = made(library, "cusparseCreateCsr", c_int64(50), c_int64(30), c_int64(len(rows)), *places, 2, 2, 0, R_32F)
    target = on_card(y)
    vectors = [
        made(library, "cusparseCreateDnVec", c_int64(n), place, R_32F) for n, place in ((30, on_card(x)), (50, target))
    ]
    size = c_size_t()
    product = (handle, 0, byref(c_float(2)), matrix, vectors[0], byref(c_float(-1)), vectors[1], R_32F, 0)
    called(library, "cusparseSpMV_bufferSize", *product, byref(size))
    called(library, "cusparseSpMV", *product, on_card(np.zeros(size.value, np.uint8)))
    compared("cusparseSpMV", read(target, y), 2 * dense.astype(np.float64) @ x - y)


def cusolver() -> None:
    library = ctypes.CDLL("libcusolver.so.11")
    handle = made(library, "cusolverDnCreate")
    half = normal(12, 12, kind=np.float64)
    matrix = half @ half.T + 12 * np.eye(12)
    place, count, state = on_card(matrix), c_int(), on_card(np.full(1, 9, np.int32))
    called(library, "cusolverDnDpotrf_bufferSize", handle, 0, 12, place, 12, byref(count))
    work = on_card(np.zeros(max(count.value, 1)))
    called(library, "cusolverDnDpotrf", handle, 0, 12, place, 12, work, count, state)
    compared("cusolverDnDpotrf", np.tril(read(place, matrix)), np.linalg.cholesky(matrix))
    found["worst"]["cusolverDnDpotrf, info"] = float(read(state, np.zeros(1, np.int32))[0])


def tensor(library: ctypes.CDLL, *shape: int) -> c_void_p:
    """Return cuDNN's descriptor of a tensor of float32, NCHW."""
    made_one = made(library, "cudnnCreateTensorDescriptor")
    called(library, "cudnnSetTensor4dDescriptor", made_one, 0, 0, *shape)
    return made_one


def cudnn() -> None:
    library = ctypes.CDLL("libcudnn.so.9")
    handle = made(library, "cudnnCreate")
    x = normal(2, 5, 3, 4)
    y, place = tensor(library, 2, 5, 3, 4), on_card(np.zeros_like(x.T))
    called(
        library, "cudnnSoftmaxForward", handle, 1, 1, byref(c_float(1)), y, on_card(x.T), byref(c_float(0)), y, place
    )
    raised = np.exp(x.astype(np.float64))
    compared("cudnnSoftmaxForward", read(place, x.T).T, raised / raised.sum(1, keepdims=True))
    weights, out = normal(6, 5, 3, 3), np.zeros((2, 6, 3, 4), np.float32)
    filters, moves = made(library, "cudnnCreateFilterDescriptor"), made(library, "cudnnCreateConvolutionDescriptor")
    called(library, "cudnnSetFilter4dDescriptor", filters, 0, 0, 6, 5, 3, 3)
    called(library, "cudnnSetConvolution2dDescriptor", moves, 1, 1, 1, 1, 1, 1, 1, 0)
    size, target, result = c_size_t(), tensor(library, 2, 6, 3, 4), on_card(out.T)
    called(library, "cudnnGetConvolutionForwardWorkspaceSize", handle, y, filters, moves, target, 0, byref(size))
    called(
        library, "cudnnConvolutionForward", handle, byref(c_float(1)), y, on_card(x.T), filters, on_card(weights.T), moves, 0,
        on_card(np.zeros(size.value, np.uint8)), size, byref(c_float(0)), target, result
    )  # fmt: skip
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))
    wanted = np.einsum("nchwij,kcij->nkhw", windows.astype(np.float64), weights)
    compared("cudnnConvolutionForward", read(result, out.T).T, wanted)


def nccl() -> None:
    library = ctypes.CDLL("libnccl.so.2")
    communicators = (c_void_p * 1)()
    called(library, "ncclCommInitAll", communicators, 1, (c_int * 1)(0))
    values = normal(500)
    place = on_card(np.zeros_like(values))
    called(library, "ncclAllReduce", on_card(values), place, c_size_t(500), 7, 0, c_void_p(communicators[0]), None)
    compared("ncclAllReduce", read(place, values), values)
    called(library, "ncclCommDestroy", c_void_p(communicators[0]))


CASES: dict[str, Callable[[], None]] = {
    each.__name__: each for each in (cublas, cublaslt, cufft, curand, cusparse, cusolver, cudnn, nccl)
}


CARDS = dict.fromkeys(CASES, ("gfx1100", "gfx942"))
"""Cards to ask, the first that the emulator has: Debian builds kernels for gfx1100, and fewer for gfx942."""


def main(name: str) -> None:
    """Run a case and print what it found."""
    global driver
    driver = ctypes.CDLL("libcuda.so.1")
    context = c_void_p()
    called(driver, "cuInit", 0)
    called(driver, "cuDevicePrimaryCtxRetain", byref(context), 0)
    called(driver, "cuCtxSetCurrent", context)
    try:
        CASES[name]()
    except Stopped as stopped:
        found["stopped"] = str(stopped)  # type: ignore[assignment]
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
