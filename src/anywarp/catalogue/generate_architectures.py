"""Write what the driver for AMD GPUs knows of architectures, for occupancy: native/hip/architectures.inc.

`python -m anywarp.catalogue.generate_architectures` prints it (scripts/docs keeps it current, a test holds it to that).
"""

from __future__ import annotations

import sys

from anywarp.catalogue.architectures import Facts, architectures

_HEAD = """// clang-format off
// Made by anywarp/catalogue/generate_architectures.py from data/rocm/architectures.tsv; change that instead.
// What a name begins with, and: lanes of a wave, LDS of a block and of a compute unit in bytes, its granule, vector registers of a compute
// unit and of one lane, their granule, SIMDs of a compute unit, waves of a SIMD. The first row is that of a name that nobody knows.
"""


def line(facts: Facts) -> str:
    """Return the row of one architecture.

    A compute unit of gfx9 has four SIMDs of 64 lanes; two compute units of gfx10 and later (a work-group processor) have two SIMDs of 32
    lanes each, and share LDS, of which a block addresses half.
    """
    simds = 4 if facts.generation == 9 else 2
    registers = facts.registers * facts.wave * simds
    numbers = (
        facts.wave, facts.lds_bytes, facts.lds_bytes, facts.lds_granule, registers, facts.registers, facts.granule, simds, facts.waves,
    )  # fmt: skip
    return f'{{"{facts.name}", {{{", ".join(map(str, numbers))}}}}},\n'


def text() -> str:
    """Return the file."""
    return _HEAD + "".join(line(each) for each in architectures())


if __name__ == "__main__":
    sys.stdout.write(text())
