"""Every instruction form counted in published kernels parses to what it says and survives printing."""

import re
from pathlib import Path

import pytest

from anywarp.ptx.parser import parse_module
from anywarp.ptx.printer import print_instruction
from anywarp.ptx.tree import Address, Group, Instruction, Pair, Vector

CASES = Path(__file__).parent.parent / "cases" / "ptx" / "forms.txt"
FORMS = [
    (line.partition("\t")[0], line.partition("\t")[2])
    for line in CASES.read_text().splitlines()
    if not line.startswith("#")
]
HEAD = ".version 9.0\n.target sm_100\n.address_size 64\n"


def body_of(text):
    (function,) = parse_module(f"{HEAD}.entry k() {{\n{text}\n}}\n").items
    return function.body.statements


def split(text):
    """Split operands at the commas outside brackets, by counting brackets: nothing of the parser is used."""
    pieces, depth = [""], 0
    for letter in text:
        depth += (letter in "{[(") - (letter in "}])")
        if letter == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += letter
    return [p.strip() for p in pieces] if text else []


def test_the_list_is_whole():
    assert len(FORMS) == len(set(FORMS)) == 777
    assert len({form.split(".")[0] for form, _ in FORMS}) == 83


@pytest.mark.parametrize(("form", "operands"), FORMS, ids=[f for f, _ in FORMS])
def test_form(form, operands):
    (instruction,) = body_of(f"@!%p7 {form} {operands};")
    expected = re.findall(r"(?:^|\.)((?:[^.:]|::)+)", form)
    assert [instruction.opcode, *instruction.modifiers] == expected
    assert instruction.form == form
    assert instruction.guard is not None and instruction.guard.negated
    pieces = split(operands)
    assert len(instruction.operands) == len(pieces)
    for piece, operand in zip(pieces, instruction.operands, strict=True):
        kind = {"{": Vector, "[": Address, "(": Group}.get(piece[0], Pair if "|" in piece else None)
        assert kind is None or isinstance(operand, kind), piece
        if kind is Vector:
            assert len(operand.elements) == len(split(piece[1:-1]))
    assert body_of(print_instruction(instruction)) == (instruction,)


def test_all_forms_in_one_body():
    statements = body_of("\n".join(f"\t{form} \t{operands}; // {form}" for form, operands in FORMS))
    assert [s.form for s in statements if isinstance(s, Instruction)] == [form for form, _ in FORMS]
