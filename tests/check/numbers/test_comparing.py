"""What `compare` measures, against the same figures worked out the plain way, and how it grades."""

import math

import numpy as np
import pytest
from hypothesis import strategies as st

from anywarp.check.numbers import comparing
from anywarp.check.numbers.comparing import compare
from anywarp.numerics import formats, magnitudes
from anywarp.numerics.operation import Operation
from numerics import orders
from spread import properties

RNG = np.random.default_rng


@properties(30, 1000, st.integers(0, 2**32), st.integers(1, 30_000), st.booleans())
def test_figures_are_those_of_the_definitions(seed, count, few):
    rng = RNG(seed)
    r = rng.standard_normal(count)
    o = r + (rng.random(count) < 0.1 if few else 1) * rng.standard_normal(count) * 1e-4
    s = rng.uniform(1, 3, count)
    found = compare(r, o, Operation("product", 10), magnitude=s, causes=False)
    d = o - r
    assert found.quantiles == pytest.approx(np.quantile(np.abs(d), comparing.LEVELS), rel=1e-9)
    assert (found.largest, found.scale) == (np.abs(d).max(), np.abs(r).max())
    assert found.rms == pytest.approx(np.sqrt(np.mean(d**2)))
    assert found.bias == pytest.approx(d.sum() / np.abs(d).sum() if d.any() else 0, abs=1e-9)
    assert 1 - found.cosine == pytest.approx(
        1 - math.fsum(r * o) / math.sqrt(math.fsum(r * r) * math.fsum(o * o)), abs=1e-14
    )
    assert [abs(w.observed - w.reference) / w.allowed for w in found.worst] == sorted(
        (abs(w.observed - w.reference) / w.allowed for w in found.worst), reverse=True
    )
    if d.any():
        at = found.worst[0].index[0]
        assert (found.worst[0].reference, found.worst[0].observed) == (r[at], o[at])
        assert found.relative == pytest.approx(abs(d[at]) / found.worst[0].allowed)


def test_quantiles_of_large_tensors_come_from_an_even_sample(monkeypatch):
    monkeypatch.setattr(comparing, "SAMPLE", 5000)
    r = RNG(0).standard_normal(100_000)
    d = np.abs(RNG(1).standard_normal(100_000))
    d[777] = 99.0
    found = compare(r, r + d, Operation("composite"), causes=False)
    assert found.quantiles == pytest.approx(np.quantile(d, comparing.LEVELS), rel=0.2)
    assert found.largest == pytest.approx(99.0) and found.worst[0].index == (777,)


def test_equal_tensors_pass_whatever_made_them():
    x = RNG(0).standard_normal((3, 4))
    for kind in ("product", "attention", "norm", "copy", "embedding", "quantised", "composite", "unknown"):
        found = compare(x, x.copy(), Operation(kind, 8))
        assert (found.grade, found.largest, found.relative, found.beyond) == ("pass", 0, 0, 0)
    assert compare(np.zeros((0, 3)), np.zeros((0, 3)), Operation()).grade == "pass"
    assert compare(np.float32(2.5), np.float32(2.5), Operation("product", 4)).grade == "pass"
    assert compare(np.float32(2.5), np.float32(3.5), Operation("product", 4)).grade != "pass"


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_must_be_so_in_the_same_places(bad):
    r = RNG(0).standard_normal(64)
    r[5] = bad
    o = r.copy()
    assert compare(r, o, Operation("product", 8)).grade == "pass"
    o[6] = bad
    found = compare(r, o, Operation("product", 8))
    assert (found.grade, found.unlike) == ("fail", 1)
    o = r.copy()
    o[5] = 1.0
    assert compare(r, o, Operation("product", 8)).unlike == 1
    o[5] = -bad
    assert compare(r, o, Operation("product", 8)).unlike == (0 if math.isnan(bad) else 1)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, bool, np.uint8])
def test_integers_are_exact(dtype):
    x = RNG(0).integers(0, 2, 100).astype(dtype)
    y = x.copy()
    assert compare(x, y, Operation("unknown", output="int64")).grade == "pass"
    y[3] = 1 - y[3] if dtype is not bool else not y[3]
    found = compare(x, y, Operation("unknown", output="int64"))
    assert found.grade == "fail" and found.beyond == 1


def test_complex_numbers_are_judged_by_their_parts():
    x = RNG(0).standard_normal(50) + 1j * RNG(1).standard_normal(50)
    assert compare(x, x.copy(), Operation("product", 4, output="complex64")).grade == "pass"
    assert compare(x, x.conj(), Operation("product", 4, output="complex64"), magnitude=np.ones(50)).grade == "fail"


def test_cancellation_is_no_reason_to_fail():
    """|C| alone would ask for 1e-7 of nearly nothing."""
    rng = RNG(3)
    a, b = (x.astype(np.float32) for x in orders.cancelling(rng, 1024, 500))
    r, o = (orders.ORDERS[name](a, b).astype(np.float64) for name in ("sequential", "tree"))
    assert np.max(np.abs(o - r) / np.abs(r)) > 1e-3
    s = np.abs(a.astype(np.float64) * b).sum(0)
    assert compare(r, o, Operation("product", 1024), magnitude=s).grade == "pass"


def centred_product(seed=0, k=512):
    rng = RNG(seed)
    a, b = (np.float32(rng.standard_normal(shape)) for shape in ((64, k), (k, 64)))
    s, q = magnitudes.product(a, b)
    return a, b, (a.astype(np.float64) @ b).astype(np.float32), s, q


def test_the_sharp_bound_is_used_only_where_terms_are_centred():
    a, b, r, s, q = centred_product()
    assert compare(r, r * (1 + 1e-7), Operation("product", 512), magnitude=s, norm=q).bound == "sharp"
    assert compare(r, r, Operation("product", 512), inputs=(a, b)).bound == "sharp"
    s, q = magnitudes.product(np.abs(a), np.abs(b))
    one_sign = np.abs(a) @ np.abs(b)
    assert compare(one_sign, one_sign, Operation("product", 512), magnitude=s, norm=q).bound == "probabilistic"
    assert not comparing.centred(0.01 * r, q) and comparing.centred(r, np.sqrt(np.square(a) @ np.square(b)))


def test_beyond_the_ceiling_it_fails_and_between_it_warns():
    _, _, r, s, q = centred_product()
    operation = Operation("product", 512)
    noise = RNG(5).standard_normal(r.shape)

    def by(factor):
        return compare(r, r + factor * 2.0**-24 * s * noise, operation, magnitude=s, norm=q, causes=False)

    assert [by(f).grade for f in (0.5, 30.0, 5000.0)] == ["pass", "warn", "fail"]
    assert by(5000.0).ceiling > 1 > by(30.0).ceiling
    only_s = compare(r, r + 150 * 2.0**-24 * s * np.sign(noise), operation, magnitude=s, causes=False)
    assert (only_s.grade, only_s.bound) == ("pass", "probabilistic")


def test_float16_sums_beyond_2048_terms_have_no_ceiling_and_still_fail():
    _, _, r, s, _ = centred_product(k=4096)
    operation = Operation("product", 4096, "float16", "float16", "float16")
    assert compare(r, r + 0.2 * s, operation, magnitude=s, causes=False).ceiling is None
    assert compare(r, r + 0.9 * s, operation, magnitude=s, causes=False).grade == "fail"


def test_measured_noise_of_the_source_widens_what_is_allowed():
    _, _, r, s, q = centred_product()
    operation = Operation("product", 512)
    far = 40 * 2.0**-24 * s * RNG(6).standard_normal(r.shape)
    null = r + 40 * 2.0**-24 * s * RNG(7).standard_normal(r.shape)
    assert compare(r, r + far, operation, magnitude=s, norm=q, causes=False).grade == "warn"
    found = compare(r, r + far, operation, magnitude=s, norm=q, null=null, causes=False)
    assert (found.grade, found.bound) == ("pass", "null") and 0.2 < found.relative < 0.6
    assert compare(r, r + 5 * far, operation, magnitude=s, norm=q, null=null, causes=False).grade == "warn"
    assert (
        "does not differ from itself"
        in compare(r, r + far, operation, magnitude=s, norm=q, null=r, causes=False).reason
    )
    broken = compare(r, r * 3, operation, magnitude=s, norm=q, null=r * 9)
    assert broken.grade == "fail"  # noise does not lift the ceiling


def test_a_precise_result_says_who_is_wrong():
    """Composites have no formula: the target's error is held against the source's own."""
    rng = RNG(8)
    precise = rng.standard_normal((64, 64))

    def off(by):
        return precise + by * rng.standard_normal(precise.shape)

    operation = Operation("composite", 64, "bfloat16", "float32", "bfloat16")
    source = off(1e-2)
    equal = compare(source, off(1e-2), operation, precise=precise)
    assert (equal.grade, equal.bound) == ("pass", "precise") and equal.ratio == pytest.approx(1, abs=0.1)
    worse = compare(source, off(0.1), operation, precise=precise, causes=False)
    assert worse.grade == "fail" and worse.ratio == pytest.approx(10, abs=1)
    assert compare(source, off(0.022), operation, precise=precise, causes=False).grade == "warn"
    better = compare(off(0.2), off(1e-2), operation, precise=precise, causes=False)
    assert better.grade == "pass" and "reference is" in better.reason
    tile = off(1e-2)
    tile[:8, :8] += 1.0  # the rms hardly moves
    assert compare(source, tile, operation, precise=precise, causes=False).grade == "fail"


def test_values_within_the_whole_are_held_against_a_prior_that_grows_with_depth():
    rng = RNG(9)
    r = rng.standard_normal((32, 64))
    operation = Operation("product", 64, "bfloat16", "float32", "bfloat16")

    def by(times, depth):
        return compare(r, r + times * 2.0**-8 * rng.standard_normal(r.shape), operation, depth=depth, causes=False)

    assert by(1, 4).grade == "pass" and by(1, 4).bound == "depth"
    assert by(20, 1).grade == "warn" and by(20, 100).grade == "pass" and by(1000, 4).grade == "fail"


def test_two_runs_that_differ_are_doubted():
    _, _, r, s, q = centred_product()
    found = compare(r, r, Operation("product", 512), magnitude=s, norm=q, again=r + np.float32(0.1))
    assert found.grade == "warn" and "two runs" in found.reason


def test_unknown_operations_say_what_they_assume():
    r = RNG(10).standard_normal((16, 16))
    found = compare(r, r * (1 + 1e-7), Operation())
    assert (found.grade, found.bound) == ("pass", "assumed") and "not known" in found.reason
    assert compare(r, r * 1.5, Operation(), causes=False).grade == "warn"
    found = compare(r, RNG(11).standard_normal((16, 16)), Operation(), causes=False)
    assert found.grade == "fail" and "cosine" in found.reason


@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4)])
def test_magnitudes_that_broadcast_and_arrays_that_are_not_contiguous(shape):
    rng = RNG(11)
    r = np.asfortranarray(rng.standard_normal(shape))
    o = r + 1e-5
    s = np.full((*shape[:-1], 1), 2.0) if len(shape) > 1 else np.float64(2.0)
    wide = np.broadcast_to(s, shape).copy()
    one = compare(r, o, Operation("product", 9), magnitude=s, causes=False)
    two = compare(
        np.ascontiguousarray(r), np.ascontiguousarray(o), Operation("product", 9), magnitude=wide, causes=False
    )
    assert one == two


def test_operands_that_do_not_fit_are_not_believed():
    r = RNG(12).standard_normal((4, 6))
    for inputs in ((r, r), (r[:2], np.ones((6, 6))), (None, r), (r,), (np.ones(3), np.ones((5, 5)), None)):
        assert compare(r, r * 1.0001, Operation("product", 6), inputs=inputs).bound == "assumed"


def test_a_large_tensor_is_searched_around_its_worst_place():
    """Of more than a million elements the search looks at a part, and still says where in the whole."""
    r = RNG(13).standard_normal((3000, 512)).astype(np.float32)
    o = r.copy()
    o[2816:2880, 128:192] += 1.0
    found = compare(r, o, Operation("product", 64), magnitude=np.full((1, 512), 8.0))
    assert (
        found.fingerprints[0].name == "tile" and found.fingerprints[0].place == "rows 2816 to 2879, columns 128 to 191"
    )


def test_formats_of_16_and_8_bits_end_to_end():
    for held in ("float16", "bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2"):
        rng = RNG(14)
        a, b = (formats.round_to(rng.standard_normal(shape), held) for shape in ((48, 300), (300, 40)))
        out = held if "8" not in held[:6] else "bfloat16"
        r = formats.round_to((a @ b).astype(np.float32), out)
        o = formats.round_to(
            sum(a[:, i : i + 100].astype(np.float32) @ b[i : i + 100].astype(np.float32) for i in (0, 100, 200)), out
        )
        found = compare(r, o, Operation("product", 300, held, "float32", out), inputs=(a, b))
        assert found.grade == "pass" and found.bound == "sharp", (held, found.reason)
        wrong = o.copy()
        wrong[3, 5] += 40 * abs(wrong[3, 5]) * formats.FORMATS[out].rounding + 2
        assert compare(r, wrong, Operation("product", 300, held, "float32", out), inputs=(a, b)).grade != "pass"


@pytest.mark.parametrize("operands", orders.OPERANDS)
def test_which_terms_are_taken_for_centred(operands):
    """Those for which the sharp bound was made, and none that break it."""
    rng = RNG(15)
    a, b = orders.OPERANDS[operands](rng, 1024, 2000)
    terms = a * b
    assert comparing.centred(terms.sum(0), np.sqrt(np.square(terms).sum(0))) == (
        operands in (*orders.CENTRED, "subnormal")
    )


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_sizes_that_are_no_numbers_hide_nothing(bad):
    r = RNG(16).standard_normal(200)
    s = np.ones(200)
    s[::3] = bad
    operation = Operation("product", 16)
    assert compare(r, r + 1e-7, operation, magnitude=s).grade == "pass"
    for at in (3, 4):
        o = r.copy()
        o[at] += 1
        found = compare(r, o, operation, magnitude=s)
        assert found.grade == "fail" and found.worst[0].index == (at,)
    assert compare(r, r + 1, operation, magnitude=np.full(200, bad)).grade == "fail"
    assert compare(r, r + 1, operation, magnitude=np.ones(7)).bound == "assumed"
