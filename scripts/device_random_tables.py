"""Write `anywarp/xorwow_jumps.h` and `anywarp/mrg32k3a_jumps.h`: how far ahead generators are after 2^k steps.

The five words of XORWOW move by a linear map of 160 bits. With p the map's characteristic polynomial, x^(2^k) mod p says which of the next 160
states add up to the one 2^k steps ahead, so that a thread can start anywhere without walking there. Each half of MRG32k3a moves by a matrix of 3 x 3
numbers (L'Ecuyer, 1999), whose powers are written down.
"""

from __future__ import annotations

import argparse
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "src/anywarp/toolchain/include/device/anywarp"
MASK = 0xFFFFFFFF
BITS = 160
MOST = 67 + 64
"""Subsequences are 2^67 apart, and their numbers have 64 bits."""


def step(v: list[int]) -> list[int]:
    """Return the five words after one step (Marsaglia, Xorshift RNGs, 2003)."""
    t = v[0] ^ (v[0] >> 2)
    return [*v[1:], (v[4] ^ (v[4] << 4) ^ t ^ (t << 1)) & MASK]


def connection(sequence: list[int]) -> int:
    """Return the shortest recurrence of a sequence of bits (Berlekamp and Massey), lowest coefficient first, as a number."""
    c, b, length, since = 1, 1, 0, 1
    for n in range(len(sequence)):
        bits = sum(sequence[n - i] << i for i in range(length + 1))
        if (bits & c).bit_count() % 2:
            previous = c
            c ^= b << since
            if 2 * length <= n:
                length, b, since = n + 1 - length, previous, 0
        since += 1
    assert length == BITS
    return int(f"{c:0{BITS + 1}b}"[::-1], 2)


def times(a: int, b: int, p: int) -> int:
    """Return a b mod p, polynomials over GF(2)."""
    r = 0
    while b:
        if b & 1:
            r ^= a
        a <<= 1
        if a >> BITS & 1:
            a ^= p
        b >>= 1
    return r


def derive() -> str:
    """Return the text of the header."""
    v, sequence = [1, 2, 3, 4, 5], []
    for _ in range(2 * BITS + 20):
        sequence.append(v[0] & 1)
        v = step(v)
    p, power, rows = connection(sequence), 2, []
    for _ in range(MOST):
        rows.append("{" + ", ".join(f"{power >> 32 * k & MASK:#x}" for k in range(5)) + "}")
        power = times(power, power, p)
    body = ",\n".join(rows)
    return (
        "// Written by scripts/device_random_tables.py: x^(2^k) modulo the characteristic polynomial of XORWOW, lowest bits first.\n"
        "#ifndef ANYWARP_XORWOW_JUMPS_H\n#define ANYWARP_XORWOW_JUMPS_H\n\n"
        f"static constexpr unsigned int aw_xorwow_jumps[{MOST}][5] = {{\n{body}}};\n\n#endif\n"
    )


HALVES = (
    (4294967087, [[0, 1, 0], [0, 0, 1], [-810728, 1403580, 0]]),
    (4294944443, [[0, 1, 0], [0, 0, 1], [-1370589, 0, 527612]]),
)
MOST_MRG = 127 + 64
"""Sequences are 2^127 apart, and their numbers have 64 bits."""


def derive_mrg() -> str:
    """Return the text of the header of MRG32k3a."""
    halves = []
    for m, step_matrix in HALVES:
        a, rows = [[x % m for x in row] for row in step_matrix], []
        for _ in range(MOST_MRG):
            rows.append("{" + ", ".join(f"{x}u" for row in a for x in row) + "}")
            a = [[sum(a[i][k] * a[k][j] for k in range(3)) % m for j in range(3)] for i in range(3)]
        halves.append("{\n" + ",\n".join(rows) + "}")
    return (
        "// Written by scripts/device_random_tables.py: 2^k steps of each half of MRG32k3a as a matrix, row by row.\n"
        "#ifndef ANYWARP_MRG32K3A_JUMPS_H\n#define ANYWARP_MRG32K3A_JUMPS_H\n\n"
        f"static constexpr unsigned int aw_mrg32k3a_jumps[2][{MOST_MRG}][9] = {{{', '.join(halves)}}};\n\n#endif\n"
    )


def main() -> None:
    """Write the headers, or say whether those there are current."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail if a header would change")
    check = parser.parse_args().check
    for name, text in (("xorwow_jumps.h", derive()), ("mrg32k3a_jumps.h", derive_mrg())):
        if check and (FOLDER / name).read_text() != text:
            raise SystemExit(f"{name} is not current")
        if not check:
            (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
