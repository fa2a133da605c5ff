"""Optimizers with states in 32 bits, and in 8 bits by blocks of 256 (arXiv 2110.02861), in double precision beside them.

Adam (1412.6980), Lion (2302.06675) and AdEMAMix (2409.03137) decay weights by themselves, Lion before its step and the others behind
it; momentum, RMSProp and Adagrad add the decayed weights to the gradient.
"""

import numpy as np

from .library import TYPES, near, rounded
from .quantise import block_maxima, dynamic_map, nearest_enough

COUNT, BLOCK = 2048 + 100, 256
BETA1, BETA2, BETA3, ALPHA, EPS, RATE, DECAY, SCALE = 0.9, 0.95, 0.99, 4.0, 1e-6, 0.01, 0.1, 0.5

STATES = {"adam": 2, "momentum": 1, "rmsprop": 1, "adagrad": 1, "lion": 1, "ademamix": 2}
"""How many states an optimizer keeps; the first of AdEMAMix is two in a row."""

SPELLED_16_32 = ("momentum", "rmsprop", "adagrad")
"""Whose 32-bit entries end in 32 and 16 and have none for bfloat16."""

NEVER_NEGATIVE = ("rmsprop", "adagrad")
"""Whose state is a sum of squares. Their 8-bit entries step along the gradient as it was given, not scaled and without decay."""


def count_of(name):
    """Return how many weights are updated; AdEMAMix's two states lie side by side for whole blocks only."""
    return COUNT // BLOCK * BLOCK if name == "ademamix" else COUNT


def updated(name, p, g, first, second, step, decay, scale=1.0):
    """Return the weights and states behind one step; `first` and `second` as the library keeps them, all in double."""
    kept = 1 - RATE * decay
    if name == "adam":
        m, v = BETA1 * first + (1 - BETA1) * g, BETA2 * second + (1 - BETA2) * g * g
        rate = RATE / (1 - BETA1**step)
        return kept * (p - scale * rate * m / (np.sqrt(v / (1 - BETA2**step)) + EPS)), m, v
    if name == "ademamix":
        fast, slow = BETA1 * first[0] + (1 - BETA1) * g, BETA3 * first[1] + (1 - BETA3) * g
        v = BETA2 * second + (1 - BETA2) * g * g
        bottom = np.sqrt(v) / np.sqrt(1 - BETA2**step) + EPS
        return kept * (p - RATE * (fast / (1 - BETA1**step) + ALPHA * slow) / bottom), np.stack([fast, slow]), v
    if name == "lion":
        way = np.sign(BETA1 * first + (1 - BETA1) * g)
        return kept * p - scale * RATE * way, BETA2 * first + (1 - BETA2) * g, None
    g = g + decay * p
    if name == "momentum":
        m = g if step == 1 else BETA1 * first + g
        return p - scale * RATE * m, m, None
    v = BETA1 * first + (1 - BETA1) * g * g if name == "rmsprop" else first + g * g
    return p - scale * RATE * g / (np.sqrt(v) + EPS), v, None


def inputs(name, kind, seed):
    """Return weights, gradients and states, single precision or what the type holds of it."""
    generator = np.random.default_rng(seed)
    count = count_of(name)
    p = rounded(generator.standard_normal(count), kind)
    g = rounded(generator.standard_normal(count) * 0.5, kind)
    shape = (2, count) if name == "ademamix" else (count,)
    first = (generator.standard_normal(shape) * 0.3).astype(np.float32)
    if name in NEVER_NEGATIVE:
        first = np.abs(first)
    second = (generator.random(count) * 0.2 + 0.01).astype(np.float32) if STATES[name] == 2 else None
    return p, g, first, second


def in_32_bits(library, entry, name, kind, step, limited=False):
    """Check an entry with states in 32 bits; `limited`: with the update scaled down to a part of the weights' norm (LAMB, LARS)."""
    p, g, first, second = inputs(name, kind, 23)
    decay = 0.0 if limited else DECAY
    scale = 1.0
    norm, most, of_weights = None, 0.0, 0.0
    if limited:
        norm, most, of_weights = library.put(np.zeros(1, np.float32)), 0.2, float(np.linalg.norm(p))
        scale = most * of_weights / update_norm(name, g * np.float64(SCALE), first, second, step)
        assert scale < 0.9  # it matters
    wide = [each if each is None else each.astype(np.float64) for each in (p, g, first, second)]
    expected = updated(name, wide[0], wide[1] * SCALE, wide[2], wide[3], step, decay, scale)
    at_p, at_first = library.put(p, kind), library.put(first)
    at_second = None if second is None else library.put(second)
    library.call(
        entry, library.put(g, kind), at_p, at_first, at_second, norm, most, of_weights,
        BETA1, BETA2, BETA3, ALPHA, EPS, decay, step, RATE, SCALE, False, p.size,
    )  # fmt: skip
    loss = {"fp32": (2e-6, 1e-7), "fp16": (2e-3, 2e-4), "bf16": (2e-2, 2e-3)}[
        kind
    ]  # the gradient is rounded to the type on the way
    near(library.get(at_first, first.size, "fp32").reshape(first.shape), expected[1], *loss)
    if second is not None:
        near(library.get(at_second, p.size, "fp32"), expected[2], *loss)
    close_weights(library.get(at_p, p.size, kind), expected[0], wide[0], kind, name, (wide, step))


def update_norm(name, g, first, second, step):
    """Return the norm of the update before it is scaled: of m / (sqrt(v) + eps) with both corrected, or of the momentum."""
    first = first.astype(np.float64)
    if name == "momentum":
        return float(np.linalg.norm(g if step == 1 else BETA1 * first + g))
    m, v = BETA1 * first + (1 - BETA1) * g, BETA2 * second.astype(np.float64) + (1 - BETA2) * g * g
    return float(np.linalg.norm(m / (1 - BETA1**step) / (np.sqrt(v / (1 - BETA2**step)) + EPS)))


def close_weights(got, expected, before, kind, name, case):
    """Raise where weights differ by more than roundings to the type; Lion's sign may fall either way where its sum is nothing."""
    last = {"fp32": 5e-7, "fp16": 2.0**-10, "bf16": 2.0**-7}[kind]
    small = {"fp32": 2e-7, "fp16": 1e-6, "bf16": 1e-6}[kind]
    moved = np.abs(expected - before).max()
    if name == "lion":
        (_, g, first, _), _ = case
        sure = np.abs(BETA1 * first + (1 - BETA1) * SCALE * g) > 1e-6
        assert sure.mean() > 0.99
        got, expected, before = got[sure], expected[sure], before[sure]
    near(got, expected, last, last * np.abs(before) + small)
    assert moved > 100 * small


def in_8_bits(library, entry, name, kind, step):
    """Check an entry with states in 8 bits: read by table and maximum, updated, and written as the nearest code of a new maximum."""
    p, g, _, _ = inputs(name, kind, 29)
    count = p.size
    scale, decay = (1.0, 0.0) if name in NEVER_NEGATIVE else (SCALE, DECAY)
    generator = np.random.default_rng(31)
    signed, unsigned = dynamic_map(True), dynamic_map(False)
    table = unsigned if name in NEVER_NEGATIVE else signed
    pieces = 2 if name == "ademamix" else 1
    blocks = -(-count // BLOCK)
    first = generator.integers(0, 256, (pieces, count)).astype(np.uint8)
    maxima = generator.uniform(0.2, 1, (pieces, blocks)).astype(np.float32)
    second = generator.integers(0, 256, count).astype(np.uint8)
    second_maxima = generator.uniform(0.1, 0.4, blocks).astype(np.float32)
    spread = lambda each: np.repeat(each, BLOCK, axis=-1)[..., :count]  # noqa: E731
    m = table[first].astype(np.float64) * spread(maxima)
    v = unsigned[second].astype(np.float64) * spread(second_maxima)
    two = STATES[name] == 2
    wide = (p.astype(np.float64), g.astype(np.float64), m if pieces == 2 else m[0], v)
    expected = updated(name, wide[0], wide[1] * scale, wide[2], wide[3], step, decay)

    at_p, at_first, at_maxima = library.put(p, kind), library.put(first), library.put(maxima)
    at_second = library.put(second) if two else None
    at_second_maxima = library.put(second_maxima) if two else None
    library.call(
        entry, at_p, library.put(g, kind), at_first, at_second, BETA1, BETA2, BETA3, ALPHA, EPS, step, RATE,
        library.put(table), library.put(unsigned) if two else None, at_maxima, at_second_maxima,
        decay, scale, False, count,
    )  # fmt: skip
    close_weights(library.get(at_p, count, kind), expected[0], wide[0], kind, name, (wide, step))
    codes = library.get(at_first, first.size, "u8").reshape(first.shape)
    new_maxima = library.get(at_maxima, maxima.size, "fp32").reshape(maxima.shape)
    for piece in range(pieces):
        state = expected[1][piece] if pieces == 2 else expected[1]
        near(new_maxima[piece], block_maxima(state, BLOCK), 1e-6)
        same_codes(codes[piece], table, state / spread(block_maxima(state, BLOCK).astype(np.float64)))
    if two:
        near(library.get(at_second_maxima, blocks, "fp32"), block_maxima(expected[2], BLOCK), 1e-6)
        relative = expected[2] / spread(block_maxima(expected[2], BLOCK).astype(np.float64))
        same_codes(library.get(at_second, count, "u8"), unsigned, relative)


def same_codes(codes, table, scaled):
    """Raise unless codes are the nearest; the sign of a state is kept, so that next to zero the nearest of that sign will do."""
    by_sign = np.abs(scaled) < np.abs(table[np.abs(table) > 0]).min()
    nearest_enough(codes[~by_sign], table, scaled[~by_sign], 5e-6)
    assert np.abs(table[codes[by_sign]]).max(initial=0) <= 2e-6


def entries():
    """Return the checks of this chapter by the entry's name."""
    checks = {}
    for name in STATES:
        for kind in TYPES:
            checks[f"c{name}_8bit_blockwise_grad_{kind}"] = [
                (in_8_bits, f"c{name}_8bit_blockwise_grad_{kind}", name, kind, step) for step in (1, 7)
            ]
            if name in SPELLED_16_32 and kind == "bf16":
                continue
            suffix = {"fp32": "32", "fp16": "16"}[kind] if name in SPELLED_16_32 else kind
            entry = f"c{name}32bit_grad_{suffix}"
            checks[entry] = [(in_32_bits, entry, name, kind, step) for step in (1, 7)]
            if name in ("adam", "momentum"):
                checks[entry].append((in_32_bits, entry, name, kind, 7, True))
    return checks
