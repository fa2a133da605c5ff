"""Any operands at all on any form: a diagnostic or a result, never another exception."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from anywarp.check.conformance.table import ROWS
from anywarp.check.conformance.warp_rows import ROWS as WARP_ROWS
from anywarp.diagnostics import AnywarpError
from anywarp.ptx.isa.registry import expand, supports
from anywarp.ptx.tree import (
    Address,
    Float,
    Group,
    Instruction,
    Integer,
    Name,
    Negated,
    Offset,
    Operand,
    Pair,
    Sink,
    Vector,
)
from semantics.warp import Warp

FORMS = {row.text.split(" ", 1)[0].rstrip(";") for row in (*ROWS, *WARP_ROWS)}
FORMS |= {
    line.split("\t")[0]
    for line in (Path(__file__).parents[2] / "cases" / "ptx" / "forms.txt").read_text().splitlines()
    if line and not line.startswith("#")
}
REGISTERS = {"%p": "pred", "%h": "b16", "%r": "b32", "%l": "b64", "%f": "f32", "%d": "f64", "%q": "b128"}


def operand(rng: random.Random, depth: int = 0) -> Operand:
    simple = (
        lambda: Name(rng.choice([*REGISTERS, *REGISTERS, "%laneid", "WARP_SZ"])),
        lambda: Integer(rng.choice([0, 1, -1, 31, 255, 1 << 31, 1 << 63, -(1 << 70), 1 << 200])),
        lambda: Float(rng.getrandbits(32), 32),
        lambda: Float(rng.getrandbits(64), 64),
        lambda: Sink(),
        lambda: Offset(Name("table"), rng.choice([0, 4, -(1 << 65)])),
    )
    if depth > 1 or rng.random() < 0.7:
        return rng.choice(simple)()
    inner = tuple(operand(rng, depth + 1) for _ in range(rng.choice([0, 1, 2, 3, 4, 8])))
    compound = (
        lambda: Address(operand(rng, depth + 1), rng.choice([0, 4, -8, 1 << 70])),
        lambda: Vector(inner),
        lambda: Group(inner),
        lambda: Negated(operand(rng, depth + 1)),
        lambda: Pair(operand(rng, depth + 1), operand(rng, depth + 1)),
    )
    return rng.choice(compound)()


@pytest.mark.parametrize("part", range(8))
def test_operands_of_any_kind_and_number_never_crash(part):
    rng = random.Random(part)
    for form in sorted(FORMS)[part::8]:
        opcode, *modifiers = form.split(".")
        if not supports(opcode, tuple(modifiers)):
            continue
        for _ in range(6):
            warp = Warp()
            for name, ptx in REGISTERS.items():
                warp.declare(name, ptx)
            operands = tuple(operand(rng) for _ in range(rng.choice([0, 1, 2, 3, 3, 4, 4, 5, 6])))
            try:
                expand(warp, Instruction(opcode, tuple(modifiers), operands))
            except AnywarpError as error:
                assert error.diagnostic.code in ("C101", "C102"), (form, operands)
