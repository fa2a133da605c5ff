"""Blockwise quantisation: each block is divided by its largest magnitude, and each number becomes the nearest entry of a table.

4 bits: NormalFloat4 of the QLoRA paper (arXiv 2305.14314) and a float of one sign, two exponent and one mantissa bits; two numbers
a byte, the first in the upper half. 8 bits: the dynamic tree type of arXiv 1511.04561 or any other table of 256 values.
"""

import numpy as np

from .library import TYPES, near, rounded

NF4 = np.array(
    "-1.0 -0.6961928009986877 -0.5250730514526367 -0.39491748809814453 -0.28444138169288635 -0.18477343022823334 "
    "-0.09105003625154495 0.0 0.07958029955625534 0.16093020141124725 0.24611230194568634 0.33791524171829224 "
    "0.44070982933044434 0.5626170039176941 0.7229568362236023 1.0".split(),
    np.float32,
)
"""The sixteen values of the paper's appendix E."""

_POSITIVE = np.array([0, 0.0625, 8, 12, 4, 6, 2, 3]) / 12
FP4 = np.concatenate([_POSITIVE, -_POSITIVE]).astype(np.float32)
"""By bit pattern: sign, two bits of exponent, one of mantissa."""

TABLES = {"nf4": NF4, "fp4": FP4}
COUNT = 4096 + 300  # the last block is not full


def dynamic_map(signed=True):
    """Return the 256 values of the dynamic type: k zeros, an indicator, and a linear fraction between 0.1 and 1, times 10^-k."""
    values = [0.0, 1.0]
    for exponent in range(7):
        pieces = 2**exponent if signed else 2 ** (exponent + 1)
        edges = np.linspace(0.1, 1, pieces + 1)
        middles = (edges[:-1] + edges[1:]) / 2 * 10.0 ** (exponent - 6)
        values += [*middles, *(-middles if signed else ())]
    values += [0.0] * (256 - len(values))
    return np.sort(np.array(values, np.float32))


def numbers(count=COUNT, seed=1):
    """Return normally distributed numbers with a few large ones, different in every place."""
    generator = np.random.default_rng(seed)
    values = generator.standard_normal(count) * 0.3
    values[generator.integers(0, count, 20)] *= 8
    return values.astype(np.float32)


def block_maxima(values, block):
    """Return the largest magnitude of each block."""
    return np.array([np.abs(values[i : i + block]).max() for i in range(0, len(values), block)], np.float32)


def nearest_enough(codes, table, scaled, slack=2e-6):
    """Raise unless every code's value is as near as any in the table; ties and roundings of the quotient are allowed for."""
    table = np.asarray(table, np.float64)
    taken = np.abs(table[codes] - scaled)
    best = np.abs(table[None, :] - scaled[:, None]).min(1)
    wrong = np.flatnonzero(taken > best + slack)
    if wrong.size:
        i = wrong[0]
        raise AssertionError(f"{wrong.size} codes wrong, element {i}: {table[codes[i]]} for {scaled[i]}")


def unpack(packed, count):
    """Return the 4-bit codes of packed bytes, the upper half first."""
    codes = np.empty(2 * len(packed), np.uint8)
    codes[::2], codes[1::2] = packed >> 4, packed & 15
    return codes[:count]


def quantize(library, kind, table, block):
    """Check one quantising entry at one block size; table `None` is the 8-bit type with a table of its own."""
    values = rounded(numbers(), kind)
    blocks = -(-COUNT // block)
    maxima, out = library.empty(blocks, "fp32"), library.empty(COUNT, "u8")
    name = f"cquantize_blockwise_{kind}" + (f"_{table}" if table else "")
    code = dynamic_map()
    library.call(name, None if table else library.put(code), library.put(values, kind), maxima, out, block, COUNT)
    expected = block_maxima(values, block)
    near(library.get(maxima, blocks, "fp32"), expected, 0)
    scaled = values.astype(np.float64) / np.repeat(expected, block)[:COUNT].astype(np.float64)
    if table:
        codes = unpack(library.get(out, (COUNT + 1) // 2, "u8"), COUNT)
        nearest_enough(codes, TABLES[table], scaled)
    else:
        nearest_enough(library.get(out, COUNT, "u8"), code, scaled)


def dequantize(library, kind, table, block):
    """Check one dequantising entry: the table's value times the block's maximum, rounded once to the type."""
    generator = np.random.default_rng(5)
    blocks = -(-COUNT // block)
    maxima = generator.uniform(0.1, 4, blocks).astype(np.float32)
    data = generator.integers(0, 256, (COUNT + 1) // 2 if table else COUNT).astype(np.uint8)
    code = dynamic_map()
    out = library.empty(COUNT, kind)
    name = f"cdequantize_blockwise_{kind}" + (f"_{table}" if table else "")
    library.call(
        name, None if table else library.put(code), library.put(data), library.put(maxima), out, block, COUNT, None
    )
    values = TABLES[table][unpack(data, COUNT)] if table else code[data]
    product = values.astype(np.float32) * np.repeat(maxima, block)[:COUNT]
    got = library.get(out, COUNT, kind)
    if table == "fp4":  # thirds are written with fewer digits in the library than float32 has
        near(got, product, {"fp32": 1e-6, "fp16": 2.0**-10, "bf16": 2.0**-7}[kind])
    else:
        near(got, rounded(product, kind), 0)


def entries():
    """Return the checks of this chapter by the entry's name."""
    checks = {}
    for kind in TYPES:
        for table in (None, "nf4", "fp4"):
            suffix = f"{kind}_{table}" if table else kind
            checks[f"cquantize_blockwise_{suffix}"] = [
                (quantize, kind, table, block) for block in (64, 128, 256, 1024, 4096)
            ]
            checks[f"cdequantize_blockwise_{suffix}"] = [(dequantize, kind, table, block) for block in (64, 256, 2048)]
    return checks
