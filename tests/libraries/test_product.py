"""Our own product of matrices where instruction sets differ most: deep and wide ones, and numbers that are not finite or not normal."""

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries import element_types
from libraries.element_types import E4M3, E5M2, R8I, R16BF, R16F, R32F, R32I
from libraries.lt import F32, I32, Lt, Matrix, exact, run, shared
from spread import properties

pytestmark = pytest.mark.native

LEVELS = ["", "avx512_bf16", "avx512", "avx2", "portable"]
ONE, ZERO = np.ones(1, np.float32), np.zeros(1, np.float32)
FLOATS = [(R16F, R16F), (R16BF, R16BF), (E4M3, E5M2), (E4M3, E4M3)]
# What a number may be, as values: each kind has those that it can hold.
SPECIAL = {
    R16F: [np.nan, np.inf, -np.inf, 65504.0, 2.0**-24, -(2.0**-15), 0.0, -0.0],
    R16BF: [np.nan, np.inf, -np.inf, 2.0**60, 2.0**-60, 0.0, -0.0],
    E4M3: [np.nan, 448.0, 2.0**-9, 0.0],
    E5M2: [np.nan, np.inf, -np.inf, 57344.0, 2.0**-16, 0.0],
}


@pytest.fixture(scope="module")
def lt(library):
    return Lt(library("cublaslt", "libcublasLt.so.13"))


def bits(kind, values):
    """Return values of a kind, all of which it has, as they are stored; NaN without a signal."""
    if kind == R16F:
        return np.asarray(values, np.float16)
    every = np.arange(2 ** (8 * element_types.STORED[kind]().itemsize)).astype(element_types.STORED[kind])
    with np.errstate(invalid="ignore"):
        known = element_types.values(every, kind)
    same = [np.isnan(known) if np.isnan(x) else (known == x) & (np.signbit(known) == np.signbit(x)) for x in values]
    return np.array([every[places][-1] for places in same])


def multiply(lt, a, b, trans_a, trans_b, into=R32F):
    m, n = (a.cols if trans_a else a.rows), (b.rows if trans_b else b.cols)
    d = Matrix(into, m, n)
    whole = into == R32I
    one, zero = (x.astype(np.int32) if whole else x for x in (ONE, ZERO))
    lt(I32 if whole else F32, a, b, d, d, one, zero, scale=into, TRANSA=trans_a, TRANSB=trans_b)
    left, right = a.numbers()[0], b.numbers()[0]
    return d.view()[0], (left.T if trans_a else left), (right.T if trans_b else right)


def check_special(lt, seed):
    """Compare with f64 where some numbers are infinite, no numbers, or below the normal ones."""
    rng = np.random.default_rng(seed)
    kinds = FLOATS[rng.integers(len(FLOATS))]
    m, n, k = (int(x) for x in rng.integers(1, 90, 3))
    trans_a, trans_b = (int(x) for x in rng.integers(0, 2, 2))
    a = Matrix(kinds[0], *((k, m) if trans_a else (m, k))).fill(rng)
    b = Matrix(kinds[1], *((n, k) if trans_b else (k, n))).fill(rng)
    for matrix in (a, b):
        places = rng.integers(0, matrix.memory.size, rng.integers(0, 4))
        matrix.memory[places] = rng.choice(bits(matrix.kind, SPECIAL[matrix.kind]), places.size)
    got, left, right = multiply(lt, a, b, trans_a, trans_b)
    with np.errstate(all="ignore"):
        want = (left[:, :, None] * right[None, :, :]).sum(1)
        error = (np.abs(left)[:, :, None] * np.abs(right)[None, :, :]).sum(1) * 2.0**-24 * (4 * np.sqrt(k + 1.0) + 8)
        largest = np.float64(np.finfo(np.float32).max)
        assert (np.isnan(got) == np.isnan(want)).all()
        finite = np.isfinite(want) & (np.abs(want) + error < largest)
        assert (np.abs(got - want)[finite] <= error[finite] + 2.0**-120).all()
        assert (got[np.isinf(want)] == want[np.isinf(want)]).all()


@pytest.mark.usefixtures("lt")
@properties(60, 5000, st.integers(0, 2**32))
def test_what_is_not_finite_is_as_in_f64(seed):
    check_special(shared(), seed)


@pytest.mark.parametrize("less", LEVELS)
@pytest.mark.usefixtures("lt")
def test_what_is_not_finite_is_so_on_lesser_processors(less):
    done = run(
        "from libraries import test_product\nfor seed in range(80): test_product.check_special(lt, seed)",
        ANYWARP_PRODUCT=less,
    )
    assert done.returncode == 0, done.stderr


# Every f16, below the normal ones as well, is multiplied as it is: no result is further from it than f32 rounds.
@pytest.mark.parametrize("trans_b", [0, 1])
def test_every_f16_is_multiplied_as_it_is(lt, trans_b):
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    every = every[np.isfinite(every)][: 63 * 1007].reshape(63, 1007)
    factor = np.zeros((63, 63), np.float16)
    np.fill_diagonal(factor, np.float16(1.0009765625))  # 11 bits
    a, b = Matrix(R16F, 63, 63), Matrix(R16F, *((1007, 63) if trans_b else (63, 1007)))
    a.view()[0], b.view()[0] = factor, (every.T if trans_b else every)
    got, _, _ = multiply(lt, a, b, 0, trans_b)
    assert (got == every.astype(np.float64) * np.float64(factor[0, 0])).all()  # 22 bits: an f32


def test_a_subnormal_bf16_counts_as_itself_or_as_0(lt):
    a, b = Matrix(R16BF, 40, 40), Matrix(R16BF, 40, 40)
    a.memory[:], b.memory[:] = 0x0040, 0x3F80  # 2^-127, 1
    got, left, right = multiply(lt, a, b, 0, 0)
    assert left[0, 0] == 2.0**-127
    assert (np.abs(got - left @ right) <= 40 * 2.0**-126).all()


@pytest.mark.parametrize("less", LEVELS)
@pytest.mark.usefixtures("lt")
def test_deep_and_wide_products(less):
    """More than is packed at once in each direction, and not a multiple of it."""
    done = run("from libraries import test_product\ntest_product.check_large(lt)", ANYWARP_PRODUCT=less)
    assert done.returncode == 0, done.stderr


def check_large(lt):
    rng = np.random.default_rng(5)
    for kinds in [(R16F, R16F), (R16BF, R16BF), (E4M3, E5M2), (R8I, R8I)]:
        for m, n, k in [(5, 1100, 2100), (1030, 3, 4200), (67, 70, 2049)]:
            a, b = Matrix(kinds[0], m, k, spare=5).fill(rng), Matrix(kinds[1], n, k, spare=2).fill(rng)
            got, left, right = multiply(lt, a, b, 0, 1, R32I if kinds[0] == R8I else R32F)
            want, error = exact(left, right, k)
            if kinds[0] == R8I:
                assert (got == want).all()
            else:
                element_types.check(got, R32F, want, error)


NARROW = [(R32F, R32F), (R16F, R16F), (R16BF, R16BF), (E4M3, E5M2), (E5M2, E4M3), (R8I, R8I)]


MANY = 84  # columns, more than have a way of their own


def check_narrow(lt, seed):
    """A few columns (or rows) alone have the bits that they have among many."""
    rng = np.random.default_rng(seed)
    kinds = NARROW[rng.integers(len(NARROW))]
    few = int(rng.choice([1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 24, 37, 64, 65]))
    long = int(rng.choice([1, 7, 15, 16, 17, 33, 70, 200, 530]))
    k = int(rng.choice([1, 2, 3, 15, 31, 33, 64, 129, 700, 1100]))
    tall, trans_a, trans_b = (int(x) for x in rng.integers(0, 2, 3))
    into = R32I if kinds[0] == R8I else R32F
    m, n = (long, MANY) if tall else (MANY, long)
    a = Matrix(kinds[0], *((k, m) if trans_a else (m, k)), spare=int(rng.integers(0, 3))).fill(rng)
    b = Matrix(kinds[1], *((n, k) if trans_b else (k, n)), spare=int(rng.integers(0, 3))).fill(rng)
    if kinds[0] == R8I and (a.ld % 4 or b.ld % 4 or k % 4 or m % 4):
        return  # cuBLASLt takes whole words of bytes only
    whole, left, right = multiply(lt, a, b, trans_a, trans_b, into)
    other, trans = (b, trans_b) if tall else (a, trans_a)
    rows = trans if tall else not trans  # the few are rows of what lies in memory
    cut = Matrix(other.kind, *((few, k) if rows else (k, few)), spare=1 if kinds[0] != R8I else -k % 4)
    cut.view()[0] = other.view()[0][:few] if rows else other.view()[0][:, :few]
    got, *_ = multiply(lt, *((a, cut) if tall else (cut, b)), trans_a, trans_b, into)
    np.testing.assert_array_equal(got.view(np.uint32), (whole[:, :few] if tall else whole[:few]).view(np.uint32))
    if into == R32F:
        element_types.check(whole, R32F, *exact(left, right, k))


@pytest.mark.usefixtures("lt")
@properties(150, 6000, st.integers(0, 2**32))
def test_a_few_columns_have_the_bits_that_they_have_among_many(seed):
    check_narrow(shared(), seed)


@pytest.mark.parametrize("less", LEVELS[1:])
@pytest.mark.usefixtures("lt")
def test_a_few_columns_have_those_bits_on_lesser_processors(less):
    done = run(
        "from libraries import test_product\nfor seed in range(150): test_product.check_narrow(lt, seed)",
        ANYWARP_PRODUCT=less,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("lt")
def test_a_signal_stack_too_small_for_tiles_is_no_obstacle():
    """The kernel then refuses AMX to the process; vectors compute the same."""
    done = run(
        "class Stack(ctypes.Structure): _fields_ = [('sp', ctypes.c_void_p), ('flags', ctypes.c_int), ('size', ctypes.c_size_t)]\n"
        "memory = ctypes.create_string_buffer(8192); stack = Stack(ctypes.addressof(memory), 0, 8192)\n"
        "assert ctypes.CDLL(None).sigaltstack(ctypes.byref(stack), None) == 0\n"
        "for seed in range(30): check_product(lt, seed)\n"
    )
    assert done.returncode == 0, done.stderr
