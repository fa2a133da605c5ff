"""Defects planted with numpy are found and named; what devices may differ in is not taken for one."""

import math

import numpy as np
import pytest

from anywarp.check.numbers import fingerprints
from anywarp.check.numbers.comparing import compare
from anywarp.check.numbers.evidence import Evidence
from anywarp.numerics import bounds, formats, magnitudes
from anywarp.numerics.operation import Operation
from numerics import orders

RNG = np.random.default_rng


def product(m=96, k=256, n=128, held="float32", seed=0, positive=False):
    rng = RNG(seed)
    a, b = (formats.round_to(rng.standard_normal(shape), held) for shape in ((m, k), (k, n)))
    return (np.abs(a), np.abs(b)) if positive else (a, b)


def judged(reference, observed, operation, **given):
    found = compare(reference, observed, operation, **given)
    return found, found.fingerprints[0] if found.fingerprints else None


def expect(reference, observed, operation, name, place="", least=0.8, **given):
    found, cause = judged(reference, observed, operation, **given)
    assert found.grade == "fail", found.reason
    assert cause is not None and cause.name == name, (found.reason, found.fingerprints)
    assert cause.confidence >= least and place in cause.place, cause
    return cause


def in_float16(a, b, block=1):
    """Sums kept in float16."""
    total = np.zeros((a.shape[0], b.shape[1]), np.float16)
    for start in range(0, a.shape[1], block):
        total = (total + a[:, start : start + block] @ b[start : start + block]).astype(np.float16)
    return total.astype(np.float64)


@pytest.mark.spread("convert")
@pytest.mark.parametrize("convert", [formats.round_to, formats.truncate_to])
@pytest.mark.parametrize("known", ["operands", "sizes"])
@pytest.mark.parametrize("side", ["target", "reference"])
def test_tf32_on_one_side(convert, known, side):
    a, b = product()
    exact = np.float32(a @ b)
    short = np.float32(convert(a, "tf32") @ convert(b, "tf32"))
    s, q = magnitudes.product(a, b)
    given = {"inputs": (a, b)} if known == "operands" else {"magnitude": s, "norm": q}
    pair = (exact, short) if side == "target" else (short, exact)
    cause = expect(*pair, Operation("product", 256), "tf32", **given)
    if known == "operands":
        assert f"the {side}'s side" in cause.evidence and ("cutting" in cause.evidence) == (
            convert is formats.truncate_to
        )


@pytest.mark.parametrize("known", ["operands", "sizes"])
def test_bfloat16_operands_on_one_side(known):
    a, b = product()
    short = np.float32(formats.round_to(a, "bfloat16") @ formats.round_to(b, "bfloat16"))
    s, q = magnitudes.product(a, b)
    given = {"inputs": (a, b)} if known == "operands" else {"magnitude": s, "norm": q}
    cause = expect(np.float32(a @ b), short, Operation("product", 256), "narrow-operands", **given)
    assert "bfloat16" in cause.evidence


def test_operands_rounded_to_8_bits_are_named():
    a, b = product(held="bfloat16")
    short = formats.round_to(a, "float8_e4m3fn") @ formats.round_to(b, "float8_e4m3fn")
    cause = expect(a @ b, short, Operation("product", 256, "bfloat16"), "narrow-operands", inputs=(a, b))
    assert "float8_e4m3" in cause.evidence


@pytest.mark.parametrize(("k", "block"), [(64, 1), (1024, 1), (1024, 4)])
def test_sums_kept_in_float16(k, block):
    a, b = product(48, k, 64, "float16")
    s, q = magnitudes.product(a, b)
    expect(
        a @ b, in_float16(a, b, block), Operation("product", k, "float16"), "float16-accumulation", magnitude=s, norm=q
    )


def test_sums_in_float16_of_partial_sums_are_known_by_their_size():
    a, b = product(48, 2048, 64, "float16")
    found = sum(in_float16(a[:, part : part + 512], b[part : part + 512]) for part in range(0, 2048, 512))
    s, q = magnitudes.product(a, b)
    judgement, cause = judged(a @ b, found, Operation("product", 2048, "float16"), magnitude=s, norm=q)
    assert judgement.grade != "pass" and cause.name == "float16-accumulation", judgement.fingerprints


def test_sums_that_are_cut():
    rng = RNG(5)
    a, b = (np.abs(rng.standard_normal((512, 4000))).astype(np.float32) for _ in "ab")
    cut = orders.truncating(1, bits=16)(a, b).astype(np.float64).reshape(40, 100)
    exact = (a.astype(np.float64) * b).sum(0).reshape(40, 100)
    expect(exact, cut, Operation("product", 512), "truncated-accumulation", magnitude=exact)


def test_results_that_pass_through_a_narrower_type():
    a, b = product()
    exact = a @ b
    expect(
        np.float32(exact),
        formats.round_to(exact, "bfloat16"),
        Operation("product", 256),
        "narrow-result",
        inputs=(a, b),
    )


@pytest.mark.parametrize("factor", [2.0, 0.5])
def test_the_other_flavour_of_8_bits_is_a_factor_of_two(factor):
    x = formats.round_to(RNG(1).standard_normal((64, 64)), "float8_e4m3fn")
    expect(x, factor * x, Operation("copy", output="float8_e4m3fn"), "fp8-flavour")
    a, b = product(held="float8_e4m3fn")
    expect(
        a @ b,
        factor * (a @ b),
        Operation("product", 256, "float8_e4m3fn", output="bfloat16"),
        "fp8-flavour",
        inputs=(a, b),
    )


def test_bytes_of_one_flavour_read_as_the_other():
    codes = RNG(2).integers(0, 256, 4096).astype(np.uint8)
    codes[::17] = 0x80
    codes[(codes == 0x7F) | (codes == 0xFF)] = 0x11
    ocp, amd = (
        formats.codes(name)[codes].astype(np.float64).reshape(64, 64) for name in ("float8_e4m3fn", "float8_e4m3fnuz")
    )
    assert "0x80" in expect(ocp, amd, Operation("copy", output="float8_e4m3fn"), "fp8-flavour").evidence
    lost = np.where(codes.reshape(64, 64) == 0x11, np.nan, 1.0)
    expect(lost, np.nan_to_num(lost, nan=240.0), Operation("copy", output="float8_e4m3fn"), "fp8-flavour")


def test_clipping_at_a_formats_largest_number():
    x = 200 * RNG(3).standard_normal((64, 64))
    cause = expect(formats.round_to(x, "float8_e4m3fn", saturate=True), np.clip(formats.round_to(x, "float8_e4m3fn", saturate=True), -240, 240),
                   Operation("copy", output="float8_e4m3fn"), "saturated")  # fmt: skip
    assert "fnuz" in cause.evidence


def test_overflow_of_float16():
    x = 40_000 * RNG(4).standard_normal((64, 64))
    with np.errstate(over="ignore"):
        expect(x, x.astype(np.float16).astype(np.float64), Operation("composite"), "overflow")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e5m2"])
def test_results_below_the_smallest_normal_number_become_zero(dtype):
    form = formats.FORMATS[dtype]
    x = formats.round_to(RNG(5).standard_normal((64, 64)) * form.normal * 2, dtype)
    operation, given = Operation("pointwise", output=dtype), {"magnitude": np.abs(x)}
    expect(x, np.where(np.abs(x) < form.normal, 0, x), operation, "flushed-subnormals", **given)
    expect(np.where(np.abs(x) < form.normal, 0, x), x, operation, "flushed-subnormals", **given)


def test_operands_below_the_smallest_normal_number_become_zero():
    a, b = product(held="float16")
    a = formats.round_to(a * 2.0**-15, "float16")
    flushed = np.where(np.abs(a) < 2.0**-14, 0, a)
    expect(a @ b, flushed @ b, Operation("product", 256, "float16"), "flushed-subnormals", inputs=(a, b))


@pytest.mark.spread("boxed")
@pytest.mark.parametrize("boxed", [(64, 32), (16, 64), (32, 128)])
@pytest.mark.parametrize("defect", ["shifted", "zero", "noise"])
def test_a_kernel_that_is_wrong_in_one_tile(boxed, defect):
    a, b = product(128, 256, 256)
    exact = np.float32(a @ b)
    found = exact.copy()
    rows, columns = boxed
    box = np.s_[32 : 32 + rows, 64 : 64 + columns]
    found[box] = {
        "shifted": np.roll(exact, 1, 1)[box],
        "zero": 0 * exact[box],
        "noise": exact[box] + RNG(6).standard_normal(exact[box].shape),
    }[defect]
    cause = expect(
        exact,
        found,
        Operation("product", 256),
        "tile",
        f"rows 32 to {31 + rows}, columns 64 to {63 + columns}",
        inputs=(a, b),
    )
    assert ("one column before" in cause.evidence) == (defect == "shifted")


def test_a_kernel_that_is_wrong_in_some_tiles():
    a, b = product(128, 64, 256)
    exact = np.float32(a @ b)
    found = exact.copy()
    for row, column in ((0, 32), (64, 96), (96, 224), (32, 128)):
        found[row : row + 32, column : column + 32] += RNG(row).standard_normal((32, 32)).astype(np.float32)
    assert "4 of 32 tiles of 32 x 32" in expect(exact, found, Operation("product", 64), "tile", inputs=(a, b)).evidence


@pytest.mark.spread("by")
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("by", [1, -1, 8])
def test_values_off_by_some_places(axis, by):
    x = np.float32(RNG(7).standard_normal((20, 24, 32)))
    cause = expect(x, np.roll(x, by, axis), Operation("copy"), "shifted")
    assert f"{abs(by)} {'before' if by > 0 else 'after'} along axis {axis}" in cause.evidence


LAYOUTS = {
    "axes": lambda x: np.ascontiguousarray(np.swapaxes(x, 0, 1)),
    "copied in another order": lambda x: x.transpose(0, 2, 1).reshape(x.shape),
    "heads and channels": lambda x: np.swapaxes(x.reshape(8, 16, 4, 12), -1, -2).reshape(x.shape),
    "heads and positions": lambda x: np.swapaxes(x.reshape(8, 16, 4, 12), 1, 2).reshape(x.shape),
    "read as heads first": lambda x: np.swapaxes(x.reshape(8, 4, 16, 12), 1, 2).reshape(x.shape),
    "halves and pairs": lambda x: np.swapaxes(x.reshape(8, 16, 4, 2, 6), -1, -2).reshape(x.shape),
    "backwards": lambda x: x[:, ::-1],
    "shuffled": lambda x: RNG(0).permuted(x.reshape(-1)).reshape(x.shape),
}


@pytest.mark.parametrize("which", LAYOUTS)
def test_the_same_values_elsewhere(which):
    x = np.float32(RNG(8).standard_normal((8, 16, 48)))
    found = LAYOUTS[which](x)
    noise = found * (1 + np.float32(1e-7) * RNG(9).standard_normal(found.shape).astype(np.float32))
    expect(x, noise, Operation("product", 64, heads=4), "layout", magnitude=np.full(x.shape, 8.0))


def test_a_weight_taken_transposed():
    a, b = product(64, 128, 128)
    expect(a @ b, a @ b.T, Operation("product", 128), "transposed-weight", inputs=(a, b))


def test_a_wrong_factor_everywhere_in_a_head_and_in_a_channel():
    x = np.float32(RNG(10).standard_normal((4, 16, 64)))
    given = {"magnitude": np.full(x.shape, 3.0)}
    op = Operation("attention", 16, heads=8)
    expect(x, x / np.float32(1.1), op, "scale", **given)
    one = x.copy()
    one[..., 24:32] *= np.float32(math.sqrt(8))
    assert "2.828" in expect(x, one, op, "scale", "head 3", **given).evidence
    channel = x.copy()
    channel[..., 5] *= np.float32(0.7)
    expect(x, channel, op, "scale", "channel 5", **given)
    headed = np.moveaxis(x.reshape(4, 16, 8, 8), 2, 1)
    expect(headed, np.moveaxis(one.reshape(4, 16, 8, 8), 2, 1), Operation("attention", 16), "scale", "head 3",
           axes=("batch", "head", "position", "channel"), magnitude=np.full(headed.shape, 3.0))  # fmt: skip


def test_a_bias_that_is_missing():
    a, b = product()
    bias = RNG(11).standard_normal(128)
    expect(a @ b + bias, a @ b, Operation("product", 256), "offset", inputs=(a, b, bias))


def test_dropout_left_on():
    x = np.float32(RNG(12).standard_normal((64, 64)))
    kept = RNG(13).random(x.shape) > 0.1
    expect(x, np.where(kept, x / np.float32(0.9), 0), Operation("copy"), "dropout")


def test_dropout_further_up_shows_between_two_runs():
    rng = RNG(14)
    x, w = rng.standard_normal((64, 128)), rng.standard_normal((128, 64))
    exact = x @ w
    runs = [(x * (rng.random(x.shape) > 0.1) / 0.9) @ w for _ in range(2)]
    expect(exact, runs[0], Operation("composite"), "dropout", again=runs[1])


def rotary(x, base, start=0):
    half = x.shape[-1] // 2
    angle = np.arange(start, start + x.shape[-2])[:, None] * base ** (-np.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], -1)


@pytest.mark.parametrize("other", [{"base": 5e5}, {"base": 1e4, "start": 1}])
def test_rotary_embeddings_with_another_base_or_start(other):
    x = RNG(15).standard_normal((2, 4, 64, 32))
    cause = expect(
        rotary(x, 1e4), rotary(x, **other), Operation("pointwise"), "rotary", magnitude=np.full(x.shape, 3.0)
    )
    assert ("position 0 is right" in cause.evidence) == ("start" not in other)


def attention(q, k, v, masked):
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    if masked:
        scores = np.where(np.tri(q.shape[-2], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def test_a_mask_that_is_missing():
    q, k, v = (RNG(16 + n).standard_normal((2, 4, 12, 16)) for n in range(3))
    wanted = attention(q, k, v, True)
    expect(wanted, attention(q, k, v, False), Operation("attention", 12), "mask", magnitude=3 * np.ones(wanted.shape))


def test_a_cache_that_is_stale():
    rng = RNG(20)
    x = np.float32(rng.standard_normal((2, 16, 64)))
    earlier = np.float32(rng.standard_normal(x.shape))
    given = {"magnitude": np.full(x.shape, 3.0)}
    expect(x, earlier, Operation("attention", 16), "stale-cache", earlier=earlier, **given)
    held = x.copy()
    held[:, 5:] = held[:, 4:5]
    expect(x, held, Operation("attention", 16), "stale-cache", "from position 5", **given)


def test_another_formula_of_gelu():
    x = np.linspace(-5, 5, 4096).reshape(64, 64)
    erf = np.vectorize(math.erf)
    exact = 0.5 * x * (1 + erf(x / math.sqrt(2)))
    tanh = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    expect(exact, tanh, Operation("pointwise", function="gelu"), "other-function", inputs=(x,))


def test_other_weights_look_like_nothing():
    a, b = product()
    _, other = product(seed=9)
    found, cause = judged(a @ b, a @ other, Operation("product", 256), inputs=(a, b))
    assert found.grade == "fail" and cause.name == "other-values"


@pytest.mark.parametrize("order", [(1, 0), (2, 1, 0), (0, 2, 1)])
def test_another_shape_is_a_permutation_of_axes(order):
    x = RNG(21).standard_normal((4, 5, 6)[: len(order)])
    found = compare(x, x.transpose(order), Operation("copy"))
    assert found.grade == "fail" and found.fingerprints[0].name == "layout"
    assert not compare(x, RNG(0).standard_normal(x.transpose(order).shape), Operation("copy")).fingerprints


# What devices may differ in.


def legitimate():
    """Pairs of right answers: (name, reference, observed, operation, what is given)."""
    rng = RNG(30)
    for held, out in (
        ("float32", "float32"),
        ("float16", "float16"),
        ("bfloat16", "bfloat16"),
        ("float8_e4m3fn", "bfloat16"),
        ("float8_e4m3fnuz", "float16"),
    ):
        for kind in ("centred", "same sign", "heavy tails", "outliers", "ascending", "cancelling"):
            k, n = 256, 576
            a, b = (
                formats.round_to(x, held, saturate=True).astype(np.float32) for x in orders.OPERANDS[kind](rng, k, n)
            )
            terms = a.astype(np.float64) * b
            s, q = np.abs(terms).sum(0), np.sqrt(np.square(terms).sum(0))
            made = {name: formats.round_to(order(a, b), out).reshape(24, 24) for name, order in orders.ORDERS.items()}
            reference = made.pop("sequential")
            for name, observed in made.items():
                yield f"{name}, {kind}, {held}", reference, observed, Operation("product", k, held, output=out, heads=4), {
                    "magnitude": s.reshape(24, 24), "norm": q.reshape(24, 24)}  # fmt: skip
    q, k, v = (np.float32(rng.standard_normal((2, 32, 16))) for _ in "qkv")
    exact = attention(*(x.astype(np.float64) for x in (q, k, v)), True)
    yield (
        "attention in float32",
        np.float32(exact),
        attention(q, k, v, True),
        Operation("attention", 32),
        {"magnitude": np.abs(exact) + 3},
    )
    x = np.float32(rng.standard_normal((64, 256)))
    norm = [
        ((x - x.mean(1, keepdims=True, dtype=t)) / np.sqrt(x.var(1, keepdims=True, dtype=t) + t(1e-5)))
        for t in (np.float32, np.float64)
    ]
    yield "layer norm", np.float32(norm[1]), norm[0], Operation("norm", 256), {"inputs": (x, None, None)}
    a, b = (rng.integers(-128, 128, shape) for shape in ((32, 256), (256, 64)))
    exact = (a @ b) * 3e-4
    yield "requantised", np.rint(exact), np.floor(exact + 0.5), Operation("quantised", 256, "int8", "int32", "int8"), {}


def test_no_legitimate_difference_is_taken_for_a_defect():
    """None fails, and the search for causes, though it is not asked, believes in none."""
    count = 0
    for name, reference, observed, operation, given in legitimate():
        found = compare(reference, observed, operation, **given)
        assert found.grade == "pass" or ("sharp" in found.bound and found.grade == "warn" and "centred" not in name), (
            name,
            found.reason,
            found.fingerprints,
        )
        limit = bounds.probabilistic(operation, reference.size)
        evidence = Evidence(
            reference, observed, operation, np.asarray(given.get("magnitude", 1.0)), given.get("norm"), limit
        )
        causes = fingerprints.search(evidence)
        assert all(cause.confidence < 0.8 for cause in causes), (name, causes)
        count += 1
    assert count > 150


def test_every_cause_is_explained_in_words():
    import inspect
    import re
    from importlib import import_module
    from pkgutil import iter_modules

    from anywarp.check.numbers import judging, statistics
    from anywarp.check.numbers.causes import CAUSES

    searches = {
        each.name: import_module(f"{fingerprints.__name__}.{each.name}") for each in iter_modules(fingerprints.__path__)
    }
    text = "".join(map(inspect.getsource, (fingerprints, *searches.values(), judging, statistics)))
    named = set(re.findall(r'Fingerprint\(\s*"([\w-]+)"', text))
    named |= {row[0] for table in (searches["operands"]._CHANGES, searches["sizes"]._SIZES) for row in table}
    assert len(named) > 15 and named <= set(CAUSES), named - set(CAUSES)
    assert all(f'"{name}"' in text for name in CAUSES)
