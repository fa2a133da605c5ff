"""cuRAND's host interface on the processor: sequences that are documented, number by number; distributions, by what they must be."""

import ctypes
import hashlib
import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.native

XORWOW, MRG32K3A, MTGP32, MT19937, PHILOX = 101, 121, 141, 142, 161
SOBOL32, SCRAMBLED32, SOBOL64, SCRAMBLED64 = 201, 202, 203, 204
BEST, DEFAULT, SEEDED, LEGACY, DYNAMIC = 100, 101, 102, 103, 104
NOT_INITIALIZED, TYPE_ERROR, OUT_OF_RANGE, NOT_MULTIPLE = 101, 103, 104, 105
PSEUDO = [XORWOW, MRG32K3A, MTGP32, MT19937, PHILOX]
MASK = 0xFFFFFFFF


@pytest.fixture(scope="module")
def curand(library):
    return library("curand", "libcurand.so.10")


def made(curand, kind, seed=None, offset=None, order=None, dimensions=None, host=False):
    generator = curand.out("curandCreateGeneratorHost" if host else "curandCreateGenerator", kind)
    if seed is not None:
        curand("curandSetPseudoRandomGeneratorSeed", generator, seed)
    if order is not None:
        curand("curandSetGeneratorOrdering", generator, order)
    if dimensions is not None:
        curand("curandSetQuasiRandomGeneratorDimensions", generator, dimensions)
    if offset is not None:
        curand("curandSetGeneratorOffset", generator, offset)
    return generator


KINDS = {
    "": np.uint32, "LongLong": np.uint64, "Uniform": np.float32, "UniformDouble": np.float64, "Normal": np.float32,
    "NormalDouble": np.float64, "LogNormal": np.float32, "LogNormalDouble": np.float64, "Poisson": np.uint32, "Binomial": np.uint32,
}  # fmt: skip


def drawn(curand, generator, kind, count, *parameters):
    out = np.zeros(count, KINDS[kind])
    curand(f"curandGenerate{kind}", generator, out, count, *parameters)
    return out


# --- The sequences ---


def xorwow_step(v):
    t = v[0] ^ (v[0] >> 2)
    return [*v[1:], (v[4] ^ (v[4] << 4) ^ t ^ (t << 1)) & MASK]


def packed(v):
    return sum(word << 32 * i for i, word in enumerate(v))


def applied(columns, state):
    out = 0
    while state:
        low = state & -state
        out ^= columns[low.bit_length() - 1]
        state ^= low
    return out


@pytest.fixture(scope="module")
def xorwow_stride():
    """The linear map of 2^67 steps, by squaring the one of a step."""
    columns = [packed(xorwow_step([1 << k >> 32 * i & MASK for i in range(5)])) for k in range(160)]
    for _ in range(67):
        columns = [applied(columns, column) for column in columns]
    return columns


def xorwow(seed, lanes, rows, stride):
    """The first numbers of the first subsequences: curand_init's state as Marsaglia's generator moves it."""
    t0 = 1099087573 * ((seed & MASK) ^ 0xAAD26B49) & MASK
    t1 = 2591861531 * ((seed >> 32) ^ 0xF7DCEFDD) & MASK
    v = [123456789 + t0 & MASK, 362436069 ^ t0, 521288629 + t1 & MASK, 88675123 ^ t1, 5783321 + t0 & MASK]
    start, out = packed(v), np.zeros((rows, lanes), np.uint32)
    for lane in range(lanes):
        v, d = [start >> 32 * i & MASK for i in range(5)], 6615241 + t1 + t0
        for row in range(rows):
            v, d = xorwow_step(v), d + 362437
            out[row, lane] = v[4] + d & MASK
        start = applied(stride, start)
    return out


@pytest.mark.parametrize("seed", [0, 1234, 0xFEDCBA9876543210])
def test_xorwow_in_the_documented_order(curand, seed, xorwow_stride):
    got = drawn(curand, made(curand, XORWOW, seed), "", 3 * 4096 + 50).astype(np.uint32)
    want = xorwow(seed, 50, 4, xorwow_stride)
    for row in range(4):
        assert np.array_equal(got[4096 * row : 4096 * row + 50], want[row])


def test_xorwow_prints_what_nvidias_cards_print(curand):
    """The example of cuRAND's guide (the default generator, seed 1234): its output on cards, known by heart and written here before ours was run."""
    got = drawn(curand, made(curand, 100, 1234), "Uniform", 28)
    assert " ".join(f"{x:.4f}" for x in got) == (
        "0.1455 0.8202 0.5504 0.2948 0.9147 0.8690 0.3219 0.7829 0.0113 0.2855 0.7816 0.2338 0.6791 0.2824 "
        "0.6299 0.1212 0.4333 0.3831 0.5136 0.2987 0.4166 0.0345 0.0494 0.0467 0.6166 0.6480 0.8685 0.4012"
    )


def mrg(seed, skip, count):
    """L'Ecuyer's recurrences over whole numbers; `skip` steps by powers of their matrices."""
    m1, m2 = 4294967087, 4294944443

    def power(matrix, n, m):
        result = [[int(i == j) for j in range(3)] for i in range(3)]
        while n:
            if n & 1:
                result = [[sum(r * matrix[k][j] for k, r in enumerate(row)) % m for j in range(3)] for row in result]
            matrix = [[sum(r * matrix[k][j] for k, r in enumerate(row)) % m for j in range(3)] for row in matrix]
            n >>= 1
        return result

    x, y = (seed & MASK) ^ 0x55555555, (seed >> 32) ^ 0xAAAAAAAA
    a, b = [12345] * 3, [12345] * 3
    if seed:
        a, b = [f * 12345 % m1 for f in (x, y, x)], [f * 12345 % m2 for f in (y, x, y)]
    a = [
        sum(r * s for r, s in zip(row, a, strict=True)) % m1
        for row in power([[0, 1, 0], [0, 0, 1], [-810728, 1403580, 0]], skip, m1)
    ]
    b = [
        sum(r * s for r, s in zip(row, b, strict=True)) % m2
        for row in power([[0, 1, 0], [0, 0, 1], [-1370589, 0, 527612]], skip, m2)
    ]
    out = []
    for _ in range(count):
        a = [*a[1:], (1403580 * a[1] - 810728 * a[0]) % m1]
        b = [*b[1:], (527612 * b[2] - 1370589 * b[0]) % m2]
        out.append((a[2] - b[2]) % m1 or m1)
    return out


def test_mrg32k3a_begins_as_published(curand):
    """With the seed 0 all six words are 12345, the state with which L'Ecuyer's RngStreams prints these."""
    generator = made(curand, MRG32K3A, 0, order=LEGACY)
    got = drawn(curand, generator, "UniformDouble", 2 * 4096 + 1)
    assert got[0] == pytest.approx(0.127011122046577, abs=1e-15)
    assert got[4096] == pytest.approx(0.318527565396794, abs=1e-15)
    assert got[8192] == pytest.approx(0.309186015583270, abs=1e-15)


@pytest.mark.parametrize(("order", "lanes"), [(None, 81920), (BEST, 81920), (LEGACY, 4096)])
@pytest.mark.parametrize("seed", [0, 98765432109876])
def test_mrg32k3a_in_the_documented_order(curand, order, lanes, seed):
    generator = made(curand, MRG32K3A, seed, order=order)
    got = drawn(curand, generator, "", 2 * lanes + 3)
    for lane in (0, 1, 2, 700, lanes - 1):
        want = [int(z * 1.000000048662) for z in mrg(seed, lane << 76, 3 if lane < 3 else 2)]
        assert got[lane::lanes].tolist() == want


def test_mt19937_is_the_authors(curand):
    for seed, legacy in ((0, 0), (4357, 4357), (0x123456789ABCDEF, [0x89ABCDEF, 0x1234567])):
        source = np.random.MT19937()
        source._legacy_seeding(legacy)
        assert np.array_equal(
            drawn(curand, made(curand, MT19937, seed), "", 5000), source.random_raw(5000).astype(np.uint32)
        )


def shortest_recurrence(bits):
    """Berlekamp and Massey over GF(2): the coefficients as a number, and its degree."""
    c, b, length, since, seen = 1, 1, 0, 1, 0
    for n, bit in enumerate(bits):
        seen = seen << 1 | bit
        if (seen & c).bit_count() & 1:
            previous = c
            c ^= b << since
            if 2 * length <= n:
                length, b, since = n + 1 - length, previous, 0
        since += 1
    return c, length


# What the authors publish of each parameter set: SHA-1 of its characteristic polynomial, as digits.
DIGESTS = {0: "43932a2d4cab4cd38ffb1edd5e1abb0892841763", 191: "57b139ad77f611ab8e87bd92e61c363f11364b13"}


@pytest.mark.parametrize("number", DIGESTS)
def test_mtgp32_is_the_authors(curand, number):
    """The recurrence that the numbers of one sequence obey is the published one; 256 numbers of each of 192 sequences follow each other."""
    rounds = 2 * 11213 // 256 + 2
    numbers = (
        drawn(curand, made(curand, MTGP32, 5), "", rounds * 192 * 256).reshape(rounds, 192, 256)[:, number].ravel()
    )
    polynomial, degree = shortest_recurrence((numbers & 1).tolist()[: 2 * 11213 + 64])
    assert degree == 11213
    digits = f"{polynomial:0{degree + 1}b}"
    assert DIGESTS[number] in (hashlib.sha1(d.encode()).hexdigest() for d in (digits, digits[::-1]))


def test_mtgp32_prints_what_the_authors_program_prints(curand):
    """mtgp32_init(parameters number s, 5 + s + 1) and mtgp32_genrand_uint32 of mtgp32-fast.c."""
    got = drawn(curand, made(curand, MTGP32, 5), "", 192 * 256).reshape(192, 256)
    assert got[0, :6].tolist() == [4282486621, 1988626210, 4022174630, 1479859041, 2672317246, 3694368799]
    assert got[7, :6].tolist() == [3488768133, 1317905477, 1260992818, 2163638909, 547761139, 1734647741]
    assert got[191, :6].tolist() == [2042654084, 3074984573, 2703316776, 4044372084, 4288869197, 2327311385]


def test_mtgp32_of_the_legacy_order(curand):
    """64 sequences of the same 192."""
    best = drawn(curand, made(curand, MTGP32, 5), "", 2 * 192 * 256).reshape(2, 192, 256)
    legacy = drawn(curand, made(curand, MTGP32, 5, order=LEGACY), "", 2 * 64 * 256).reshape(2, 64, 256)
    assert np.array_equal(legacy, best[:, :64])


def philox(counter, thread, seed):
    """Salmon and others' function over arrays of counters."""
    c = [np.asarray(x, np.uint64) for x in (counter & MASK, counter >> 32, thread & MASK, thread >> 32)]
    k = [seed & MASK, seed >> 32]
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        low = np.uint64(MASK)
        c = [
            (q >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]),
            q & low,
            (p >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]),
            p & low,
        ]
        k = [k[0] + 0x9E3779B9 & MASK, k[1] + 0xBB67AE85 & MASK]
    return np.stack(c, -1).astype(np.uint32)


def philox_words(seed, begin, end):
    block = np.arange(begin // 4, (end + 3) // 4)
    return philox(block >> 16, block & 0xFFFF, seed).ravel()[begin % 4 : begin % 4 + end - begin]


def test_philox_is_the_published_function():
    """A vector of Random123's known answers."""
    assert [hex(w) for w in philox(np.array(0), np.array(0), 0)] == [
        "0x6627e8d5",
        "0xe169c58d",
        "0xbc57ac4c",
        "0x9b00dbd8",
    ]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**64 - 1), st.integers(0, 2**40), st.lists(st.integers(0, 9000), min_size=1, max_size=3))
def test_philox_in_the_documented_order(curand, seed, offset, sizes):
    """65536 sequences, four values of each in turn; several calls give what one would."""
    generator = made(curand, PHILOX, seed, offset)
    got = np.concatenate([drawn(curand, generator, "", size) for size in sizes])
    assert np.array_equal(got, philox_words(seed, offset, offset + sum(sizes)))
    curand("curandDestroyGenerator", generator)


def test_philox_goes_round(curand):
    got = drawn(curand, made(curand, PHILOX, 7), "", 4 * 65536 + 8)
    assert np.array_equal(got, philox_words(7, 0, 4 * 65536 + 8))


@settings(max_examples=12, deadline=None)
@given(
    st.sampled_from(PSEUDO),
    st.lists(st.integers(0, 6000), min_size=2, max_size=4),
    st.booleans(),
)
def test_several_calls_give_what_one_does(curand, kind, sizes, host):
    order = LEGACY if kind == MRG32K3A else None
    whole = drawn(curand, made(curand, kind, 11, order=order), "Uniform", sum(sizes))
    generator = made(curand, kind, 11, order=order, host=host)
    assert np.array_equal(np.concatenate([drawn(curand, generator, "Uniform", size) for size in sizes]), whole)


@pytest.mark.parametrize("kind", [XORWOW, MRG32K3A, PHILOX])
@pytest.mark.parametrize("offset", [1, 4095, 4096, 12345])
def test_an_offset_skips_numbers(curand, kind, offset):
    order = LEGACY if kind == MRG32K3A else None
    whole = drawn(curand, made(curand, kind, 3, order=order), "", offset + 9000)
    assert np.array_equal(drawn(curand, made(curand, kind, 3, offset, order), "", 9000), whole[offset:])


def test_setting_the_seed_begins_again(curand):
    for kind in PSEUDO:
        generator = made(curand, kind, 5)
        first = drawn(curand, generator, "", 100)
        assert not np.array_equal(drawn(curand, generator, "", 100), first)
        curand("curandSetPseudoRandomGeneratorSeed", generator, 5)
        assert np.array_equal(drawn(curand, generator, "", 100), first)


# --- What is made of them ---


def test_floats_and_doubles_of_bits(curand):
    words = philox_words(9, 0, 4000).astype(np.float64)
    got = drawn(curand, made(curand, PHILOX, 9), "Uniform", 4000)
    assert np.array_equal(got, (words.astype(np.float32) * np.float32(2**-32) + np.float32(2**-33)))
    assert got.min() > 0 and got.max() <= 1
    pairs = philox_words(9, 0, 4000).astype(np.uint64).reshape(-1, 2)
    z = pairs[:, 0] ^ (pairs[:, 1] << np.uint64(21))
    assert np.array_equal(
        drawn(curand, made(curand, PHILOX, 9), "UniformDouble", 2000), z.astype(np.float64) * 2**-53 + 2**-54
    )
    # XORWOW: a double is made of two numbers of one subsequence.
    lanes = drawn(curand, made(curand, XORWOW, 9), "", 8192).astype(np.uint64).reshape(2, 4096)
    z = lanes[0] ^ (lanes[1] << np.uint64(21))
    assert np.array_equal(
        drawn(curand, made(curand, XORWOW, 9), "UniformDouble", 4096), z.astype(np.float64) * 2**-53 + 2**-54
    )


def box_muller(u, angle):
    radius = np.sqrt(-2 * np.log(u))
    return np.stack([radius * np.sin(angle), radius * np.cos(angle)], -1).ravel()


def test_normal_numbers_are_box_and_mullers(curand):
    words = philox_words(9, 0, 4000).astype(np.float64).reshape(-1, 2)
    want = box_muller(words[:, 0] * 2**-32 + 2**-33, (words[:, 1] * 2**-32 + 2**-33) * 2 * np.pi)
    got = drawn(curand, made(curand, PHILOX, 9), "Normal", 4000, 0, 1)
    assert np.allclose(got, want, rtol=1e-5, atol=2e-6)
    assert np.allclose(drawn(curand, made(curand, PHILOX, 9), "Normal", 4000, 5, 0.5), 5 + got * 0.5, rtol=1e-6)
    assert np.allclose(
        drawn(curand, made(curand, PHILOX, 9), "LogNormal", 4000, 0.25, 0.5), np.exp(0.25 + got * 0.5), rtol=2e-6
    )
    # XORWOW: a pair is made of two numbers of one subsequence, and lies together.
    lanes = drawn(curand, made(curand, XORWOW, 9), "", 8192).astype(np.float64).reshape(2, 4096) * 2**-32 + 2**-33
    got = drawn(curand, made(curand, XORWOW, 9), "Normal", 8192, 0, 1)
    assert np.allclose(got, box_muller(lanes[0], lanes[1] * 2 * np.pi), rtol=1e-5, atol=2e-6)
    z = np.array(mrg(9, 0, 2), np.float64) * 2.328306549295728e-10
    got = drawn(curand, made(curand, MRG32K3A, 9), "NormalDouble", 2, 0, 1)
    assert np.allclose(got, box_muller(z[0], z[1] * 2 * np.pi), rtol=1e-13)


def assert_uniform(values, bins=64):
    """Chi-squared, Kolmogorov and Smirnov, and the correlation of neighbours; each fails once in 10^6 seeds."""
    n = len(values)
    counts = np.histogram(values, bins, (0, 1))[0]
    chi = np.sum((counts - n / bins) ** 2) / (n / bins)
    assert abs(chi - (bins - 1)) < 5 * math.sqrt(2 * (bins - 1))
    ordered = np.sort(values)
    assert np.max(np.abs(ordered - (np.arange(n) + 0.5) / n)) < 2.7 / math.sqrt(n)
    for lag in (1, 2, 7):
        assert abs(np.mean((values[lag:] - 0.5) * (values[:-lag] - 0.5)) * 12) < 5 / math.sqrt(n)


def assert_normal(values):
    normal = statistics.NormalDist()
    sample = values[:20000]
    assert_uniform(np.array([normal.cdf(x) for x in sample]))
    n = len(values)
    assert abs(values.mean()) < 5 / math.sqrt(n) and abs(values.var() - 1) < 5 * math.sqrt(2 / n)
    assert abs(np.mean(values**3)) < 5 * math.sqrt(15 / n) and abs(np.mean(values**4) - 3) < 5 * math.sqrt(96 / n)


@pytest.mark.parametrize("kind", PSEUDO)
def test_distributions(curand, kind):
    generator = made(curand, kind, 2024)
    n = 100000
    bits = drawn(curand, generator, "", n)
    for bit in (0, 7, 31):
        assert abs(np.mean(bits >> bit & 1) - 0.5) < 2.5 / math.sqrt(n)
    assert_uniform(drawn(curand, generator, "Uniform", n))
    assert_uniform(drawn(curand, generator, "UniformDouble", n))
    assert_normal(drawn(curand, generator, "Normal", n, 0, 1).astype(np.float64))
    assert_normal(drawn(curand, generator, "NormalDouble", n, 0, 1))
    assert_normal((np.log(drawn(curand, generator, "LogNormalDouble", n, 1, 2)) - 1) / 2)


@pytest.mark.parametrize("order", [SEEDED, DYNAMIC])
def test_other_orders_of_xorwow(curand, order):
    """Their values are not documented."""
    assert_uniform(drawn(curand, made(curand, XORWOW, 2024, order=order), "Uniform", 100000))


def chi_squared(values, probability, count):
    """Of whole numbers against their probabilities, in classes that expect at least 20."""
    expected, observed, e, o = [], [], 0.0, 0
    for k in range(int(values.max()) + 1):
        e, o = e + probability(k) * count, o + int(np.sum(values == k))
        if e >= 20:
            expected.append(e), observed.append(o)
            e, o = 0.0, 0
    expected[-1] += count - sum(expected)
    observed[-1] += count - sum(observed)
    degrees = len(expected) - 1
    assert (
        abs(sum((a - b) ** 2 / b for a, b in zip(observed, expected, strict=True)) - degrees)
        < 5 * math.sqrt(2 * degrees) + 5
    )


@pytest.mark.parametrize("kind", PSEUDO)
@pytest.mark.parametrize("lam", [0.01, 0.7, 5.5, 30, 900.25, 399999])
def test_counts_of_poisson(curand, kind, lam):
    values = drawn(curand, made(curand, kind, 12), "Poisson", 20000, lam)
    assert abs(values.mean() - lam) < 5 * math.sqrt(lam / 20000)
    assert abs(values.var() - lam) < 5 * math.sqrt((lam + 2 * lam * lam) / 20000)
    if lam < 100:
        chi_squared(values, lambda k: math.exp(k * math.log(lam) - lam - math.lgamma(k + 1)), 20000)


@pytest.mark.parametrize(("n", "p"), [(1, 0.3), (20, 0.5), (1000, 0.002), (50, 0.97), (10, 0), (10, 1), (0, 0.5)])
def test_counts_of_successes(curand, n, p):
    values = drawn(curand, made(curand, PHILOX, 12), "Binomial", 20000, n, p)
    assert values.max() <= n
    if 0 < p < 1 and n:
        chi_squared(values, lambda k: math.comb(n, k) * p**k * (1 - p) ** (n - k), 20000)
    else:
        assert np.all(values == n * p)


# --- Quasirandom sequences ---


def test_sobol_begins_as_published(curand):
    """The first ten points of Joe's and Kuo's own program in three dimensions."""
    got = drawn(curand, made(curand, SOBOL32, dimensions=3), "", 30).reshape(3, 10).T / 2**32
    want = [
        (0, 0, 0), (0.5, 0.5, 0.5), (0.75, 0.25, 0.25), (0.25, 0.75, 0.75), (0.375, 0.375, 0.625), (0.875, 0.875, 0.125),
        (0.625, 0.125, 0.875), (0.125, 0.625, 0.375), (0.1875, 0.3125, 0.9375), (0.6875, 0.8125, 0.4375),
    ]  # fmt: skip
    assert got.tolist() == [list(map(float, point)) for point in want]


def test_sobol_in_every_dimension(curand):
    """Of any 2^k points from a multiple of it on, each interval of length 2^-k holds one."""
    points = drawn(curand, made(curand, SOBOL32, dimensions=20000), "", 20000 * 64).reshape(20000, 64)
    assert np.array_equal(np.sort(points >> 26, axis=1), np.tile(np.arange(64), (20000, 1)))
    wide = drawn(curand, made(curand, SOBOL64, dimensions=20000), "LongLong", 20000 * 64).reshape(20000, 64)
    assert np.array_equal(wide >> 32, points)


def test_sobol_against_pytorchs_table(curand):
    """PyTorch has Joe's and Kuo's numbers from the authors' file, to 30 bits."""
    torch = pytest.importorskip("torch")
    points = torch.quasirandom.SobolEngine(20000).draw(40, dtype=torch.float64).numpy()
    got = drawn(curand, made(curand, SOBOL32, dimensions=20000), "", 20000 * 40).reshape(20000, 40).T
    assert np.array_equal(got >> 2, (points * 2**30).astype(np.uint32))


@pytest.mark.parametrize("kind", [SOBOL32, SOBOL64])
def test_sobol_goes_on_and_skips(curand, kind):
    name = "LongLong" if kind == SOBOL64 else ""
    whole = drawn(curand, made(curand, kind, dimensions=5), name, 5 * 5000).reshape(5, 5000)
    generator = made(curand, kind, dimensions=5)
    parts = [drawn(curand, generator, name, 5 * size).reshape(5, size) for size in (1, 1234, 3000)]
    assert np.array_equal(np.concatenate(parts, axis=1), whole[:, :4235])
    assert np.array_equal(
        drawn(curand, made(curand, kind, dimensions=5, offset=777), name, 5 * 100).reshape(5, 100), whole[:, 777:877]
    )


@pytest.mark.parametrize("kind", [SOBOL32, SOBOL64])
def test_numbers_of_coordinates(curand, kind):
    bits = 64 if kind == SOBOL64 else 32
    x = drawn(curand, made(curand, kind, dimensions=2), "LongLong" if bits == 64 else "", 2000)
    exact = [(int(v) + 0.5) / 2**bits for v in x]
    assert np.allclose(drawn(curand, made(curand, kind, dimensions=2), "Uniform", 2000), exact, rtol=2e-7, atol=2**-33)
    assert np.allclose(
        drawn(curand, made(curand, kind, dimensions=2), "UniformDouble", 2000), exact, rtol=1e-15, atol=2**-53
    )
    normal = statistics.NormalDist()
    want = [normal.inv_cdf(v) for v in exact]
    assert np.allclose(
        drawn(curand, made(curand, kind, dimensions=2), "NormalDouble", 2000, 0, 1), want, rtol=1e-12, atol=1e-12
    )
    assert np.allclose(
        drawn(curand, made(curand, kind, dimensions=2), "Normal", 2000, 1, 3),
        1 + 3 * np.array(want),
        rtol=1e-6,
        atol=1e-6,
    )
    counts = drawn(curand, made(curand, kind, dimensions=1), "Poisson", 4096, 3.5)
    below = [sum(math.exp(-3.5) * 3.5**j / math.factorial(j) for j in range(k + 1)) for k in range(30)]
    for k in range(12):
        assert abs(np.mean(counts <= k) - below[k]) < 2 / 4096


def test_direction_vectors(curand):
    pointer = ctypes.c_void_p()
    curand("curandGetDirectionVectors32", pointer, 101)
    vectors = np.ctypeslib.as_array((ctypes.c_uint32 * (20000 * 32)).from_address(pointer.value)).reshape(20000, 32)
    # v_i has bit 32 - i as its lowest: the matrix is upper triangular with ones.
    assert np.array_equal(vectors & -vectors, np.tile(1 << np.arange(31, -1, -1), (20000, 1)))
    assert len(np.unique(vectors, axis=0)) == 20000
    x = drawn(curand, made(curand, SOBOL32, dimensions=7), "", 7 * 9).reshape(7, 9)
    assert np.array_equal(x[:, 8], vectors[:7, 2] ^ vectors[:7, 3])  # Gray's code of 8
    curand("curandGetDirectionVectors64", pointer, 103)
    for name, scrambled in (("32", 102), ("64", 104)):
        assert curand.status(f"curandGetDirectionVectors{name}", pointer, scrambled) not in (0, OUT_OF_RANGE)
        assert curand.status(f"curandGetDirectionVectors{name}", pointer, 99) == OUT_OF_RANGE


# --- The interface ---


def test_a_distribution_for_device_code(curand):
    """As anywarp/discrete.h has it: the sums of probabilities, how many, and the number that the first is of."""
    pointer = ctypes.c_void_p()
    for lam in (0, 400001):
        assert curand.status("curandCreatePoissonDistribution", lam, pointer) == OUT_OF_RANGE
    curand("curandCreatePoissonDistribution", 200.0, pointer)
    at, count, first = np.frombuffer((ctypes.c_char * 16).from_address(pointer.value), np.dtype("u8,u4,u4"))[0].tolist()
    sums = np.ctypeslib.as_array((ctypes.c_double * count).from_address(at))
    want = np.cumsum([math.exp(k * math.log(200) - 200 - math.lgamma(k + 1)) for k in range(first + count)])
    assert np.allclose(sums, want[first:], atol=1e-13) and sums[-1] == 1
    curand("curandDestroyDistribution", pointer.value)


def test_wrong_arguments(curand):
    x = np.zeros(16, np.float64)
    assert curand.status("curandGenerate", None, x, 4) == NOT_INITIALIZED
    assert curand.status("curandCreateGenerator", ctypes.c_void_p(), 99) == TYPE_ERROR
    for kind in (SCRAMBLED32, SCRAMBLED64):
        assert curand.status("curandCreateGenerator", ctypes.c_void_p(), kind) != 0
    pseudo, quasi, wide = made(curand, XORWOW), made(curand, SOBOL32, dimensions=3), made(curand, SOBOL64)
    assert curand.status("curandGenerateNormal", pseudo, x, 3, 0, 1) == NOT_MULTIPLE
    assert curand.status("curandGenerate", quasi, x, 4) == NOT_MULTIPLE
    assert curand.status("curandGenerateLongLong", pseudo, x, 4) == TYPE_ERROR
    assert curand.status("curandGenerate", wide, x, 4) == TYPE_ERROR
    for lam in (0, -1, 400001, float("nan")):
        assert curand.status("curandGeneratePoisson", pseudo, x, 4, lam) == OUT_OF_RANGE
    assert curand.status("curandSetPseudoRandomGeneratorSeed", quasi, 1) == TYPE_ERROR
    assert curand.status("curandSetQuasiRandomGeneratorDimensions", pseudo, 1) == TYPE_ERROR
    for dimensions in (0, 20001):
        assert curand.status("curandSetQuasiRandomGeneratorDimensions", quasi, dimensions) == OUT_OF_RANGE
    for order in (99, 105, 201):
        assert curand.status("curandSetGeneratorOrdering", pseudo, order) == OUT_OF_RANGE
    assert curand.status("curandSetGeneratorOrdering", quasi, DEFAULT) == OUT_OF_RANGE
    host = made(curand, XORWOW, host=True)
    assert curand.status("curandSetGeneratorOrdering", host, DYNAMIC) == OUT_OF_RANGE
    for kind in (MT19937, MTGP32):
        assert curand.status("curandSetGeneratorOffset", made(curand, kind), 5) == TYPE_ERROR
    curand("curandGenerateUniform", pseudo, None, 0)


def test_a_graph_goes_on_from_replay_to_replay(curand):
    cuda = curand._cuda
    stream, graph, instance = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    generator = made(curand, XORWOW, 1)
    out = np.zeros(6000, np.uint32)
    curand("curandGenerateSeeds", generator)
    assert cuda.cuStreamCreate(ctypes.byref(stream), 0) == 0
    curand("curandSetStream", generator, stream.value)
    assert cuda.cuStreamBeginCapture_v2(stream, 0) == 0
    curand("curandGenerate", generator, out, 6000)
    assert cuda.cuStreamEndCapture(stream, ctypes.byref(graph)) == 0
    curand("curandDestroyGenerator", generator)
    assert cuda.cuGraphInstantiateWithFlags(ctypes.byref(instance), graph, ctypes.c_ulonglong(0)) == 0
    whole = drawn(curand, made(curand, XORWOW, 1), "", 12000)
    for replay in range(2):
        assert cuda.cuGraphLaunch(instance, stream) == 0
        assert cuda.cuStreamSynchronize(stream) == 0
        assert np.array_equal(out, whole[6000 * replay : 6000 * replay + 6000])
