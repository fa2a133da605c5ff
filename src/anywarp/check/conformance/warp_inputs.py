"""Sources for the rows of `warp_rows`: lanes that differ, lanes that agree, and the masks to run them under."""

# pyright: basic
from __future__ import annotations

import random

from anywarp.check.conformance.rows import draw
from anywarp.check.conformance.warp_rows import CONTROLS, LANES, WarpRow

MASKS = (0xFFFFFFFF, 0x1, 0x80000000, 0x0000FFFF, 0xAAAAAAAA, 0x7FFFFFFF, 0x00F0F00F, 0xFFFF0001)
"""Active masks worth trying."""


def warp_inputs(row: WarpRow, active: int, seed: int = 0) -> list[tuple[int, ...]]:
    """Sources of 32 lanes: all different, from a pool of three values, or all equal, as `seed` modulo 3 says."""
    rng = random.Random(f"{row.text} {seed}")
    pools = [[draw(k, rng) for _ in range(3)] for k in row.sources]
    lanes = []
    for _ in range(LANES):
        style = seed % 3
        values = [
            draw(k, rng) if style == 0 else rng.choice(p) if style == 1 else p[0]
            for k, p in zip(row.sources, pools, strict=True)
        ]
        if row.text.startswith("shfl") and len(values) == 4:
            values[2] = rng.choice(CONTROLS)
        if row.members:
            values[-1] = active
        lanes.append(tuple(values))
    return lanes
