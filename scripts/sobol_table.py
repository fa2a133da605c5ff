"""Pack Joe's and Kuo's direction numbers (new-joe-kuo-6.21201) as `native/third_party/joe_kuo/direction_numbers.bin`.

    scripts/sobol_table.py DIRECTION_NUMBERS.npz

reads them as SciPy's sources have them (`scipy/stats/_sobol_direction_numbers.npz`): polynomials and initial numbers m_i. One bit stream, the lowest
bit of each byte first; for each dimension from the second on: the polynomial's degree s in 5 bits, its inner coefficients in s - 1 bits (the first one
highest), then the upper i - 1 bits of each m_i (which is odd and below 2^i).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

TABLE = Path(__file__).resolve().parent.parent / "native/third_party/joe_kuo/direction_numbers.bin"
DIMENSIONS = 20000  # cuRAND's


def pack(polynomials: list[int], initial: list[list[int]]) -> bytes:
    """Return the bit stream for the dimensions from the second on."""
    bits: list[str] = []
    for polynomial, numbers in zip(polynomials, initial, strict=True):
        degree = polynomial.bit_length() - 1
        fields = [(degree, 5), (polynomial >> 1 & (1 << degree - 1) - 1, degree - 1)]
        for i, m in enumerate(numbers[:degree]):
            assert m & 1 and m < 1 << i + 1
            fields.append((m >> 1, i))
        bits.extend(f"{value:0{width}b}"[::-1] for value, width in fields if width)
    text = "".join(bits)
    return int(text[::-1], 2).to_bytes((len(text) + 7) // 8, "little")


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("numbers", type=Path)
    with np.load(parser.parse_args().numbers) as file:
        polynomials, initial = file["poly"], file["vinit"]
    if initial.shape[0] < initial.shape[1]:
        initial = initial.T
    chosen = slice(1, DIMENSIONS)
    TABLE.write_bytes(pack([int(p) for p in polynomials[chosen]], [[int(m) for m in row] for row in initial[chosen]]))


if __name__ == "__main__":
    main()
