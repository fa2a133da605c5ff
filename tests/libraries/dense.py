"""cuSOLVER's dense functions for tests: matrices with rows to spare, calls with exactly the memory that is asked for, and bounds of errors."""

import ctypes

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

LETTERS = {"S": np.float32, "D": np.float64, "C": np.complex64, "Z": np.complex128}
DATA = {"S": 0, "D": 1, "C": 4, "Z": 5}  # cudaDataType
REAL = {"S": 0, "D": 1, "C": 0, "Z": 1}
INVALID, NOT_INITIALIZED, NOT_SUPPORTED = 3, 1, 9
LOWER, UPPER = 0, 1
SPARE = 77.0

sizes = st.integers(0, 33)
extras = st.integers(0, 3)
seeds = st.integers(0, 10**6)
fills = st.sampled_from([LOWER, UPPER])


def each(count, *strategies):
    """Run the function that follows with `count` examples, at once."""

    def run(check):
        settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck), database=None)(
            given(*strategies)(check)
        )()

    return run


def is_complex(letter):
    return letter in "CZ"


def name(letter, real, complex_=None):
    return letter + (complex_ if complex_ and is_complex(letter) else real)


def real(letter):
    return np.float64 if letter in "DZ" else np.float32


def eps(letter):
    return np.finfo(real(letter)).eps


def random(seed, letter, *shape):
    rng = np.random.default_rng(seed)
    made = rng.standard_normal(shape)
    if is_complex(letter):
        made = made + 1j * rng.standard_normal(shape)
    return made.astype(LETTERS[letter])


def symmetric(seed, letter, n):
    made = random(seed, letter, n, n)
    return ((made + made.conj().T) / 2).astype(LETTERS[letter])


def positive(seed, letter, n):
    made = random(seed, letter, n, n).astype(wide(letter))
    return (made @ made.conj().T + n * np.eye(n)).astype(LETTERS[letter])


def wide(letter):
    return np.complex128 if is_complex(letter) else np.float64


class Matrix:
    """A matrix by columns on the device, with `extra` rows to spare that nobody may touch."""

    def __init__(self, values, extra=0):
        values = np.asarray(values)
        self.rows, self.columns = values.shape
        self.ld = max(1, self.rows + extra)
        self.memory = np.full((self.ld, self.columns), SPARE, values.dtype, order="F")
        self.memory[: self.rows] = values

    @property
    def values(self):
        """What it holds, in double precision."""
        assert (self.memory[self.rows :] == SPARE).all(), "rows to spare were written"
        held = self.memory[: self.rows]
        return held.astype(np.complex128 if np.iscomplexobj(held) else np.float64)

    def __iter__(self):
        return iter((self.memory, self.ld))


def triangle(values, fill, of="CZ"):
    """A Hermitian matrix that a routine has been given by one half: what it must not read is made useless."""
    out = values.copy()
    n = len(values)
    out[np.triu_indices(n, 1) if fill == LOWER else np.tril_indices(n, -1)] = np.nan
    return out


def close(got, want, letter, size, n):
    """`got` differs from `want` by rounding alone, in matrices of that norm and order."""
    error = np.linalg.norm(np.asarray(got) - want) if np.size(want) else 0.0
    assert error <= 30 * max(1, n) * eps(letter) * max(float(size), 1e-30), (error, size)


def orthonormal(Q, letter):
    close(Q.conj().T @ Q, np.eye(Q.shape[1]), letter, 1, max(Q.shape))


def norm(A):
    return np.linalg.norm(A) if A.size else 0.0


class Solver:
    def __init__(self, library):
        self.library = library
        self.handle = library.out("cusolverDnCreate")

    def work(self, name, *arguments, behind=()):
        """What `name`_bufferSize asks for, as (memory, count)."""
        count = ctypes.c_int(-1)
        self.library(f"cusolverDn{name}_bufferSize", self.handle, *arguments, count, *behind)
        assert count.value >= 1
        return np.empty(count.value, LETTERS[name[0]]), count.value

    def work64(self, name, *arguments, behind=()):
        """The same of the 64-bit interface, as (device, bytes, host, bytes)."""
        device, host = ctypes.c_size_t(2**60), ctypes.c_size_t(2**60)
        self.library(f"cusolverDn{name}_bufferSize", self.handle, *arguments, device, host, *behind)
        return np.empty(device.value, np.uint8), device.value, np.empty(host.value, np.uint8), host.value

    def __call__(self, name, *arguments):
        self.library(f"cusolverDn{name}", self.handle, *arguments)

    def status(self, name, *arguments):
        return self.library.status(f"cusolverDn{name}", self.handle, *arguments)


def info():
    return ctypes.c_int(-77)
