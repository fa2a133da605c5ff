"""cuFFT on the processor against the definition of the transform, summed in extended precision."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.native

R2C, C2R, C2C, D2Z, Z2D, Z2Z = 42, 44, 41, 106, 108, 105
INVALID_PLAN, INVALID_VALUE, INVALID_SIZE, INVALID_DEVICE, NOT_SUPPORTED = 1, 4, 8, 11, 16
FORWARD, INVERSE = -1, 1
# Types of numbers of library_types.h: real, complex.
HALF, BFLOAT, FLOAT, DOUBLE = (2, 6), (14, 15), (0, 4), (1, 5)


@pytest.fixture(scope="module", params=["libcufft.so.11", "libcufft.so.12"])
def cufft(library, request):
    return library("cufft", request.param, 12 if request.param.endswith("11") else 13)


@pytest.fixture(scope="module")
def latest(library):
    return library("cufft", "libcufft.so.12")


def definition(x, rank, sign):
    """The transform of the last `rank` axes as its definition says, with 64 bits of mantissa."""
    x = x.astype(np.clongdouble)
    for axis in range(x.ndim - rank, x.ndim):
        n = x.shape[axis]
        turns = np.outer(np.arange(n), np.arange(n)) % n / np.longdouble(n)
        turns *= 2 * np.arctan2(np.longdouble(0), np.longdouble(-1))
        matrix = np.cos(turns) + 1j * sign * np.sin(turns)
        x = np.moveaxis(np.moveaxis(x, axis, -1) @ matrix, -1, axis)
    return x


def assert_close(got, want, number, count):
    """Gentleman and Sande: the error grows with the logarithm of the length, relative to the size of the whole."""
    eps = np.finfo(number).eps
    scale = np.sqrt(np.sum(np.abs(want) ** 2) + 1e-300)
    error = np.sqrt(np.sum(np.abs(got.astype(np.clongdouble) - want) ** 2))
    assert error <= eps * (4 + 3 * np.log2(count)) * scale


class Side:
    """One side of a transform in memory: numbers in a layout, and what lies between them."""

    def __init__(self, shape, number, embed, step, distance):
        self.shape, self.number = shape, number
        size = np.dtype(number).itemsize
        strides = [step * size]
        for extent in reversed(embed[1:]):
            strides.insert(0, strides[0] * extent)
        strides.insert(0, distance * size)
        last = sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) // size + 1
        self.memory = np.full(last + 3, 77, number)
        self.view = np.lib.stride_tricks.as_strided(self.memory, shape, strides)

    def untouched(self):
        mask = np.zeros(len(self.memory), bool)
        size = self.memory.itemsize
        np.lib.stride_tricks.as_strided(mask, self.shape, [s // size for s in self.view.strides])[...] = True
        return np.all(self.memory[~mask] == 77)


LENGTHS = st.integers(1, 14) | st.sampled_from([16, 25, 31, 37])


@st.composite
def layouts(draw):
    rank = draw(st.integers(1, 3))
    n = [draw(LENGTHS if rank < 3 else st.integers(1, 9)) for _ in range(rank)]
    batch = draw(st.integers(1, 5))
    kind = draw(st.sampled_from([C2C, R2C, C2R]))
    half = [*n[:-1], n[-1] // 2 + 1]
    sides = []
    for shape in (half if kind == C2R else n, half if kind == R2C else n):
        embed = [extent + draw(st.integers(0, 2)) for extent in shape]
        step = draw(st.integers(1, 3))
        inside = draw(st.booleans()) and batch <= step  # the batch between the numbers
        distance = 1 if inside else int(np.prod(embed)) * step + draw(st.integers(0, 2))
        sides.append((shape, embed, step, distance))
    return (
        kind,
        n,
        batch,
        sides,
        draw(st.booleans()),
        draw(st.sampled_from([FORWARD, INVERSE])),
        draw(st.integers(0, 2**32)),
    )


@settings(max_examples=40, deadline=None)
@given(layouts())
@example((C2R, [6, 5], 2, [([6, 3], [6, 3], 1, 18), ([6, 5], [6, 5], 1, 30)], True, FORWARD, 1))
@example((C2C, [1], 3, [([1], [1], 1, 1), ([1], [1], 1, 1)], False, FORWARD, 1))
def test_transforms_in_any_layout(latest, case):
    kind, n, batch, sides, wide, direction, seed = case
    real, complex_ = (np.float64, np.complex128) if wide else (np.float32, np.complex64)
    source = Side((batch, *sides[0][0]), real if kind == R2C else complex_, *sides[0][1:])
    target = Side((batch, *sides[1][0]), real if kind == C2R else complex_, *sides[1][1:])
    rng = np.random.default_rng(seed)
    if kind == C2C:
        x = rng.standard_normal((batch, *n)) + 1j * rng.standard_normal((batch, *n))
        x = x.astype(complex_)
        want = definition(x, len(n), direction)
        source.view[...] = x
    else:
        x = rng.standard_normal((batch, *n)).astype(real)
        spectrum = definition(x, len(n), FORWARD)[..., : n[-1] // 2 + 1]
        if kind == R2C:
            source.view[...], want, direction = x, spectrum, FORWARD
        else:
            # A spectrum of real numbers, rounded: the transform of what was rounded is what we compare with.
            source.view[...], direction = spectrum, INVERSE
            whole = np.zeros((batch, *n), np.clongdouble)
            whole[..., : n[-1] // 2 + 1] = source.view
            for k in range(n[-1] // 2 + 1, n[-1]):
                mirrored = source.view[..., n[-1] - k]
                for axis in range(1, len(n)):
                    mirrored = np.roll(np.flip(mirrored, axis), 1, axis)
                whole[..., k] = np.conj(mirrored)
            want = definition(whole, len(n), INVERSE).real
    before = source.memory.copy()
    plan = ctypes.c_int()
    lengths = (ctypes.c_longlong * 3)(*n)
    embeds = [(ctypes.c_longlong * 3)(*side[1]) for side in sides]
    types = DOUBLE if wide else FLOAT
    size = ctypes.c_size_t(9)
    latest("cufftCreate", plan)
    latest(
        "cufftXtMakePlanMany", plan.value, len(n), lengths, embeds[0], sides[0][2], sides[0][3], types[kind != R2C],
        embeds[1], sides[1][2], sides[1][3], types[kind != C2R], batch, size, types[1],
    )  # fmt: skip
    assert size.value == 0
    latest("cufftXtExec", plan.value, source.memory, target.memory, direction)
    latest("cufftDestroy", plan.value)
    for b in range(batch):
        assert_close(target.view[b], want[b], real, np.prod(n))
    assert np.array_equal(source.memory, before) and target.untouched()


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("n", [(8,), (9,), (4, 6), (5, 7), (3, 4, 5), (2, 3, 8)], ids=str)
@pytest.mark.parametrize("wide", [False, True])
def test_the_usual_layout_in_place(cufft, n, wide, batch):
    real, complex_ = (np.float64, np.complex128) if wide else (np.float32, np.complex64)
    rng = np.random.default_rng(5)
    x = rng.standard_normal((batch, *n)).astype(real)
    padded = np.zeros((batch, *n[:-1], 2 * (n[-1] // 2 + 1)), real)
    padded[..., : n[-1]] = x
    lengths = (ctypes.c_int * 3)(*n)
    forward = cufft.out(
        "cufftPlanMany", len(n), lengths, None, 5, 6, None, 7, 8, D2Z if wide else R2C, batch, kind=ctypes.c_int
    )
    back = cufft.out(
        "cufftPlanMany", len(n), lengths, None, 1, 0, None, 1, 0, Z2D if wide else C2R, batch, kind=ctypes.c_int
    )
    cufft("cufftExecD2Z" if wide else "cufftExecR2C", forward, padded, padded)
    want = definition(x, len(n), FORWARD)[..., : n[-1] // 2 + 1]
    for b in range(batch):
        assert_close(padded.view(complex_)[b], want[b], real, np.prod(n))
    cufft("cufftExecZ2D" if wide else "cufftExecC2R", back, padded, padded)
    assert np.allclose(padded[..., : n[-1]] / np.prod(n), x, atol=20 * np.finfo(real).eps)
    for plan in (forward, back):
        cufft("cufftDestroy", plan)


def test_in_place_where_input_and_output_lie_differently(latest):
    memory = np.zeros(64, np.complex128)
    x = np.random.default_rng(1).standard_normal((3, 10)) + 0j
    memory[:30] = x.ravel()
    n, embed = (ctypes.c_int * 1)(10), (ctypes.c_int * 1)(10)
    plan = latest.out("cufftPlanMany", 1, n, embed, 1, 10, embed, 2, 20, Z2Z, 3, kind=ctypes.c_int)
    latest("cufftExecZ2Z", plan, memory, memory, FORWARD)
    got = np.lib.stride_tricks.as_strided(memory, (3, 10), (320, 32))
    assert_close(got, definition(x, 1, FORWARD), np.float64, 10)


def test_simple_plans(cufft):
    rng = np.random.default_rng(2)
    x = (rng.standard_normal((4, 6, 5)) + 1j * rng.standard_normal((4, 6, 5))).astype(np.complex64)
    y = np.empty_like(x)
    size = ctypes.c_size_t()
    for rank, plan_name, n, rest in ((1, "1d", (5,), (24,)), (2, "2d", (6, 5), ()), (3, "3d", (4, 6, 5), ())):
        created = cufft.out("cufftCreate", kind=ctypes.c_int)
        cufft(f"cufftMakePlan{plan_name}", created, *n, C2C, *rest, size)
        at_once = cufft.out(f"cufftPlan{plan_name}", *n, C2C, *rest, kind=ctypes.c_int)
        for plan in (created, at_once):
            cufft("cufftSetWorkArea", plan, None)
            cufft("cufftGetSize", plan, size)
            cufft("cufftExecC2C", plan, x, y, INVERSE)
            got, given_ = (y[0], x[0]) if rank == 2 else (y, x)
            assert_close(got, definition(given_, rank, INVERSE), np.float32, np.prod(n))
            # The plan is locked, as documented.
            assert cufft.status(f"cufftMakePlan{plan_name}", plan, *n, C2C, *rest, size) == INVALID_PLAN
            cufft("cufftDestroy", plan)
            assert cufft.status("cufftExecC2C", plan, x, y, FORWARD) == INVALID_PLAN
        cufft(f"cufftEstimate{plan_name}", *n, C2C, *rest, size)


def bfloat(values):
    """Round floats to bfloat16, to nearest even, as 16 bits."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def widened(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


@pytest.mark.parametrize(("types", "eps"), [(HALF, 2**-10), (BFLOAT, 2**-7)], ids=["half", "bfloat16"])
def test_numbers_of_16_bits(latest, types, eps):
    pack = (lambda a: np.asarray(a, np.float16).view(np.uint16)) if types is HALF else bfloat
    unpack = (lambda a: a.view(np.float16).astype(np.float32)) if types is HALF else widened
    x = np.random.default_rng(3).standard_normal((2, 64))
    n = (ctypes.c_longlong * 1)(64)
    size = ctypes.c_size_t()
    source, spectrum, again = pack(x), np.zeros((2, 66), np.uint16), np.zeros((2, 64), np.uint16)
    there, back = (latest.out("cufftCreate", kind=ctypes.c_int) for _ in range(2))
    latest("cufftXtMakePlanMany", there, 1, n, None, 1, 64, types[0], None, 1, 33, types[1], 2, size, types[1])
    latest("cufftXtMakePlanMany", back, 1, n, None, 1, 33, types[1], None, 1, 64, types[0], 2, size, types[1])
    latest("cufftXtExec", there, source, spectrum, FORWARD)
    want = definition(unpack(source), 1, FORWARD)[:, :33]
    got = unpack(spectrum).reshape(2, 33, 2)
    # One rounding to 16 bits; what is computed in floats is far more exact.
    assert np.all(np.abs(got[..., 0] - want.real) <= eps / 2 * np.abs(want.real) + 1e-5)
    assert np.all(np.abs(got[..., 1] - want.imag) <= eps / 2 * np.abs(want.imag) + 1e-5)
    latest("cufftXtExec", back, spectrum, again, INVERSE)
    assert np.allclose(unpack(again) / 64, x, atol=eps * 4)


def test_halves_are_rounded_as_ieee_says(latest):
    """A transform of length 1 is the number itself, there and back: every half, and sums at every boundary."""
    every = np.arange(65536, dtype=np.uint16)
    out = np.zeros_like(every)
    n, size = (ctypes.c_longlong * 1)(1), ctypes.c_size_t()
    for types in (HALF, BFLOAT):
        plan = latest.out("cufftCreate", kind=ctypes.c_int)
        latest("cufftXtMakePlanMany", plan, 1, n, None, 1, 1, types[1], None, 1, 1, types[1], 32768, size, types[1])
        latest("cufftXtExec", plan, every, out, FORWARD)
        number = (lambda a: a.view(np.float16).astype(np.float32)) if types is HALF else widened
        same = (out == every) | (np.isnan(number(every)) & np.isnan(number(out)))
        assert np.all(same)
    # Length 2 adds: x + y of two halves is exact in a float and rounded once.
    rng = np.random.default_rng(4)
    pairs = rng.integers(0, 0x7C00, (32768, 2)).astype(np.uint16) | (rng.integers(0, 2, (32768, 2)) << 15).astype(
        np.uint16
    )
    plan = latest.out("cufftCreate", kind=ctypes.c_int)
    n[0] = 2
    latest("cufftXtMakePlanMany", plan, 1, n, None, 1, 2, HALF[0], None, 1, 2, HALF[1], 32768, size, HALF[1])
    spectrum = np.zeros((32768, 4), np.uint16)
    latest("cufftXtExec", plan, pairs, spectrum, FORWARD)
    with np.errstate(over="ignore"):
        values = pairs.view(np.float16).astype(np.float32)
        want = (values[:, 0] + values[:, 1]).astype(np.float16)
    assert np.array_equal(spectrum[:, 0].view(np.float16), want)


def test_large_transforms(latest):
    """Against what is known: a wave is one line, and a double's transform there and back is itself."""
    for n in (1 << 16, 30030, 65537):
        k = 12345
        turns = np.arange(n) * k % n / n
        wave = np.exp(2j * np.pi * turns)
        out = np.empty_like(wave)
        plan = latest.out("cufftPlan1d", n, Z2Z, 1, kind=ctypes.c_int)
        latest("cufftExecZ2Z", plan, wave, out, FORWARD)
        want = np.zeros(n)
        want[k] = n
        assert np.max(np.abs(out - want)) < 1e-9 * n
        latest("cufftDestroy", plan)
    x = np.random.default_rng(6).standard_normal((96, 64, 70)).astype(np.float32)  # more than one part for threads
    y, z = np.empty((96, 64, 36), np.complex64), np.empty_like(x)
    plan = latest.out("cufftPlan3d", *x.shape, R2C, kind=ctypes.c_int)
    latest("cufftExecR2C", plan, x, y)
    assert_close(y, np.fft.rfftn(x.astype(np.float64)), np.float32, x.size)
    plan = latest.out("cufftPlan3d", *x.shape, C2R, kind=ctypes.c_int)
    latest("cufftExecC2R", plan, y, z)
    assert np.allclose(z / x.size, x, atol=1e-5)


def test_wrong_arguments(cufft):
    plan, size = ctypes.c_int(), ctypes.c_size_t()
    assert cufft.status("cufftPlan1d", None, 8, C2C, 1) == INVALID_VALUE
    assert cufft.status("cufftPlan1d", plan, 0, C2C, 1) == INVALID_SIZE
    assert cufft.status("cufftPlan1d", plan, 8, C2C, 0) == INVALID_SIZE
    assert cufft.status("cufftPlan3d", plan, 2**30, 2**30, 2**30, C2C) == INVALID_SIZE
    assert cufft.status("cufftPlan1d", plan, 8, 40, 1) == INVALID_VALUE
    n = (ctypes.c_int * 4)(2, 2, 2, 2)
    for rank in (0, 4):
        assert cufft.status("cufftPlanMany", plan, rank, n, None, 1, 0, None, 1, 0, C2C, 1) == INVALID_VALUE
    assert cufft.status("cufftDestroy", 999999) == INVALID_PLAN
    made = cufft.out("cufftPlan1d", 8, C2C, 1, kind=ctypes.c_int)
    x = np.zeros(8, np.complex64)
    assert cufft.status("cufftExecC2C", made, None, x, FORWARD) == INVALID_VALUE
    assert cufft.status("cufftExecC2C", made, x, x, 0) == INVALID_VALUE
    assert cufft.status("cufftExecR2C", made, x, x) == INVALID_VALUE
    bare = cufft.out("cufftCreate", kind=ctypes.c_int)
    assert cufft.status("cufftExecC2C", bare, x, x, FORWARD) == INVALID_PLAN
    assert cufft.status("cufftGetSize", bare, size) == INVALID_PLAN
    wide = (ctypes.c_longlong * 1)(8)
    mixed = cufft.status(
        "cufftXtMakePlanMany", bare, 1, wide, None, 1, 8, FLOAT[1], None, 1, 8, DOUBLE[1], 1, size, FLOAT[1]
    )
    assert mixed == NOT_SUPPORTED


def test_what_is_refused_says_so_once(latest, capfd):
    made = latest.out("cufftPlan1d", 8, C2C, 1, kind=ctypes.c_int)
    for _ in range(2):
        assert latest.status("cufftXtSetCallbackSharedSize", made, 0, 64) == NOT_SUPPORTED
    assert capfd.readouterr().err.count("callbacks") == 1


def test_several_devices_are_refused(cufft):
    made = cufft.out("cufftPlan1d", 8, C2C, 1, kind=ctypes.c_int)
    assert cufft.status("cufftXtSetCallback", made, None, 0, None) == NOT_SUPPORTED
    bare = cufft.out("cufftCreate", kind=ctypes.c_int)
    assert cufft.status("cufftXtSetGPUs", bare, 2, (ctypes.c_int * 2)(0, 1)) == NOT_SUPPORTED
    assert cufft.status("cufftXtSetGPUs", bare, 1, (ctypes.c_int * 1)(77)) == INVALID_DEVICE


def test_properties_and_versions(cufft):
    constants = {c.name: c for group in cufft.table.constants.values() for c in group}
    plan = cufft.out("cufftCreate", kind=ctypes.c_int)
    value = ctypes.c_longlong(5)
    cufft("cufftGetPlanPropertyInt64", plan, 1, value)
    assert value.value == 0
    cufft("cufftSetPlanPropertyInt64", plan, 1, 1)
    cufft("cufftGetPlanPropertyInt64", plan, 1, value)
    assert value.value == 1
    cufft("cufftResetPlanProperty", plan, 1)
    cufft("cufftGetPlanPropertyInt64", plan, 1, value)
    assert value.value == 0 and constants["NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT"]
    assert cufft.status("cufftSetPlanPropertyInt64", plan, 9, 1) == INVALID_VALUE
    version, part = ctypes.c_int(), ctypes.c_int()
    cufft("cufftGetVersion", version)
    cufft("cufftGetProperty", 0, part)
    assert version.value // 1000 == part.value == (11 if cufft._major == 12 else 12)


class Descriptor(ctypes.Structure):
    """cudaXtDesc of cudalibxt.h."""

    _fields_ = (
        ("version", ctypes.c_int), ("gpus", ctypes.c_int), ("which", ctypes.c_int * 64), ("data", ctypes.c_void_p * 64),
        ("size", ctypes.c_size_t * 64), ("state", ctypes.c_void_p),
    )  # fmt: skip


class LibraryDescriptor(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_int), ("descriptor", ctypes.POINTER(Descriptor)), ("library", ctypes.c_int),
        ("format", ctypes.c_int), ("state", ctypes.c_void_p),
    )  # fmt: skip


def test_descriptors_of_one_device(cufft):
    plan = cufft.out("cufftCreate", kind=ctypes.c_int)
    cufft("cufftXtSetGPUs", plan, 1, (ctypes.c_int * 1)(0))
    cufft("cufftMakePlan1d", plan, 30, C2C, 2, ctypes.c_size_t())
    pointer = ctypes.c_void_p()
    cufft("cufftXtMalloc", plan, pointer, 2)
    made = pointer.value
    inside = LibraryDescriptor.from_address(made).descriptor.contents
    assert (inside.gpus, inside.size[0]) == (1, 480)
    rng = np.random.default_rng(8)
    x = (rng.standard_normal((2, 30)) + 1j * rng.standard_normal((2, 30))).astype(np.complex64)
    y = np.empty_like(x)
    cufft("cufftXtMemcpy", plan, made, x, 0)
    cufft("cufftXtExecDescriptorC2C", plan, made, made, FORWARD)
    cufft("cufftXtMemcpy", plan, y, made, 1)
    assert_close(y, definition(x, 1, FORWARD), np.float32, 30)
    cufft("cufftXtFree", made)


def test_in_a_captured_stream(latest):
    cuda = latest._cuda
    stream, graph, instance = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    x, y = np.zeros(16, np.complex64), np.zeros(16, np.complex64)
    plan = latest.out("cufftPlan1d", 16, C2C, 1, kind=ctypes.c_int)
    assert cuda.cuStreamCreate(ctypes.byref(stream), 0) == 0
    latest("cufftSetStream", plan, stream.value)
    assert cuda.cuStreamBeginCapture_v2(stream, 0) == 0
    latest("cufftExecC2C", plan, x, y, FORWARD)
    assert cuda.cuStreamEndCapture(stream, ctypes.byref(graph)) == 0
    latest("cufftDestroy", plan)  # what was captured does not need it
    x[3] = 1
    assert not y.any()
    assert cuda.cuGraphInstantiateWithFlags(ctypes.byref(instance), graph, ctypes.c_ulonglong(0)) == 0
    assert cuda.cuGraphLaunch(instance, stream) == 0
    assert cuda.cuStreamSynchronize(stream) == 0
    assert_close(y, definition(x, 1, FORWARD), np.float32, 16)


def test_a_wild_pointer_is_an_error_of_the_context(latest, tmp_path):
    """CUDA_ERROR_ILLEGAL_ADDRESS, which stays: in a process of its own."""
    program = tmp_path / "wild.py"
    program.write_text(
        "import ctypes, numpy as np\n"
        "from libraries.loading import Library\n"
        'cufft = Library("cufft", "libcufft.so.12")\n'
        'plan = cufft.out("cufftPlan1d", 4096, 41, 64, kind=ctypes.c_int)\n'
        "x = np.zeros((64, 4096), np.complex64)\n"
        'print(cufft.status("cufftExecC2C", plan, 0x1000, x, -1), cufft._cuda.cuCtxSynchronize())\n'
    )
    folders = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[1] == "700"
