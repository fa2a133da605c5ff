"""Which element each thread holds, as the PTX manual writes it for each shape (section 9.7.15.5): formulas of lane and element.

Every entry maps (lane, i) to (row, column) of the matrix, for the i-th element that a thread holds.
"""

from __future__ import annotations


def g(lane):
    return lane >> 2


def t(lane):
    return lane % 4


def low8(i):
    return i < 8


C_16 = lambda lane, i: (g(lane) if i < 2 else g(lane) + 8, t(lane) * 2 + (i & 1))  # noqa: E731
C_8 = lambda lane, i: (g(lane), t(lane) * 2 + (i & 1))  # noqa: E731

LAYOUTS = {
    # (shape, bits of an element of A and B): (elements of A per thread, A, elements of B, B, elements of C, C)
    ("m16n8k8", 16): (
        4, lambda lane, i: (g(lane) if i < 2 else g(lane) + 8, t(lane) * 2 + (i & 1)),
        2, lambda lane, i: (t(lane) * 2 + i, g(lane)),
        4, C_16,
    ),
    ("m16n8k16", 16): (
        8, lambda lane, i: (
            g(lane) if i < 2 or 4 <= i < 6 else g(lane) + 8,
            t(lane) * 2 + (i & 1) + (0 if i < 4 else 8),
        ),
        4, lambda lane, i: (t(lane) * 2 + (i & 1) + (0 if i < 2 else 8), g(lane)),
        4, C_16,
    ),
    ("m16n8k4", 32): (
        2, lambda lane, i: (g(lane) if i == 0 else g(lane) + 8, t(lane)),
        1, lambda lane, i: (t(lane), g(lane)),
        4, C_16,
    ),
    ("m16n8k8", 32): (
        4, lambda lane, i: (g(lane) if i in (0, 2) else g(lane) + 8, t(lane) if i < 2 else t(lane) + 4),
        2, lambda lane, i: (t(lane) if i == 0 else t(lane) + 4, g(lane)),
        4, C_16,
    ),
    ("m8n8k4", 64): (1, lambda lane, i: (g(lane), t(lane)), 1, lambda lane, i: (t(lane), g(lane)), 2, C_8),
    ("m16n8k4", 64): (
        2, lambda lane, i: (g(lane) if i == 0 else g(lane) + 8, t(lane)),
        1, lambda lane, i: (t(lane), g(lane)),
        4, C_16,
    ),
    ("m16n8k8", 64): (
        4, lambda lane, i: (g(lane) if i in (0, 2) else g(lane) + 8, t(lane) if i < 2 else t(lane) + 4),
        2, lambda lane, i: (t(lane) if i == 0 else t(lane) + 4, g(lane)),
        4, C_16,
    ),
    ("m16n8k16", 64): (
        8, lambda lane, i: (g(lane) if i % 2 == 0 else g(lane) + 8, (i // 2) * 4 + t(lane)),
        4, lambda lane, i: (t(lane) + i * 4, g(lane)),
        4, C_16,
    ),
    ("m8n8k16", 8): (
        4, lambda lane, i: (g(lane), t(lane) * 4 + i),
        4, lambda lane, i: (t(lane) * 4 + i, g(lane)),
        2, C_8,
    ),
    ("m16n8k16", 8): (
        8, lambda lane, i: (g(lane) if i < 4 else g(lane) + 8, t(lane) * 4 + (i & 3)),
        4, lambda lane, i: (t(lane) * 4 + i, g(lane)),
        4, C_16,
    ),
    ("m16n8k32", 8): (
        16, lambda lane, i: (
            g(lane) if i < 4 or 8 <= i < 12 else g(lane) + 8,
            t(lane) * 4 + (i & 3) + (0 if low8(i) else 16),
        ),
        8, lambda lane, i: (t(lane) * 4 + (i & 3) + (0 if i < 4 else 16), g(lane)),
        4, C_16,
    ),
    ("m8n8k32", 4): (
        8, lambda lane, i: (g(lane), t(lane) * 8 + i),
        8, lambda lane, i: (t(lane) * 8 + i, g(lane)),
        2, C_8,
    ),
    ("m16n8k32", 4): (
        16, lambda lane, i: (g(lane) if i < 8 else g(lane) + 8, t(lane) * 8 + (i & 7)),
        8, lambda lane, i: (t(lane) * 8 + i, g(lane)),
        4, C_16,
    ),
    ("m16n8k64", 4): (
        32, lambda lane, i: (
            g(lane) if i < 8 or 16 <= i < 24 else g(lane) + 8,
            t(lane) * 8 + (i & 7) + (0 if i < 16 else 32),
        ),
        16, lambda lane, i: (t(lane) * 8 + (i & 7) + (0 if i < 8 else 32), g(lane)),
        4, C_16,
    ),
    ("m8n8k128", 1): (
        32, lambda lane, i: (g(lane), t(lane) * 32 + i),
        32, lambda lane, i: (t(lane) * 32 + i, g(lane)),
        2, C_8,
    ),
    ("m16n8k128", 1): (
        64, lambda lane, i: (g(lane) if i < 32 else g(lane) + 8, t(lane) * 32 + (i & 31)),
        32, lambda lane, i: (t(lane) * 32 + i, g(lane)),
        4, C_16,
    ),
    ("m16n8k256", 1): (
        128, lambda lane, i: (
            g(lane) if i < 32 or 64 <= i < 96 else g(lane) + 8,
            t(lane) * 32 + (i & 31) + (0 if i < 64 else 128),
        ),
        64, lambda lane, i: (t(lane) * 32 + (i & 31) + (0 if i < 32 else 128), g(lane)),
        4, C_16,
    ),
}  # fmt: skip


# m8n8k4 of f16: which of the four products a thread belongs to, and its elements of each matrix


def quad_pair(lane):
    return lane % 16 // 4


def quad_a(order):
    def row_major(lane, i):
        return (lane % 4 if lane < 16 else lane % 4 + 4), i

    def column_major(lane, i):
        return (i % 4 if lane < 16 else i % 4 + 4), lane % 4

    return row_major if order == "row" else column_major


def quad_b(order):
    def row_major(lane, i):
        return lane % 4, (i if lane < 16 else i + 4)

    def column_major(lane, i):
        return i, (lane % 4 if lane < 16 else lane % 4 + 4)

    return row_major if order == "row" else column_major


def quad_c(kind):
    def half(lane, i):
        return (lane % 4 if lane < 16 else lane % 4 + 4), i

    def single(lane, i):
        x = (lane & 0b1) + (i & 0b10)
        return (x if lane < 16 else x + 4), (i & 0b100) + (lane & 0b10) + (i & 0b1)

    return half if kind == "f16" else single


# --- sparse products: fragments of the stored half of A (section 9.7.15.6.2) and the indices of what is stored ------------

SPARSE = {
    # (shape, bits): layout of the dense product whose A has as many columns as are stored, lanes of four that hold indices
    ("m16n8k16", 16): ("m16n8k8", 1),
    ("m16n8k32", 16): ("m16n8k16", 2),
    ("m16n8k8", 32): ("m16n8k4", 1),
    ("m16n8k16", 32): ("m16n8k8", 2),
    ("m16n8k32", 8): ("m16n8k16", 2),
    ("m16n8k64", 8): ("m16n8k32", 4),
    ("m16n8k64", 4): ("m16n8k32", 2),
    ("m16n8k128", 4): ("m16n8k64", 4),
}


def sparse_b(bits):
    """B of a sparse product: each register holds adjacent rows, registers follow each other in steps of four lanes' worth."""
    packed = 32 // bits
    return lambda lane, i: (i // packed * 4 * packed + t(lane) * packed + i % packed, g(lane))
