"""Translated inline PTX computes, on this machine's processor, what the table of instructions says PTX computes.

Expected values are the table's own (whole numbers, fractions and the manual), never those of the translation.
"""

# pyright: basic
from __future__ import annotations

import shutil

import pytest

from anywarp.check.conformance.table import ROWS, inputs, matches
from anywarp.migrate.translate.inline_ptx import Untranslatable
from migrate.translate import ptx_on_host

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
LANES = 16


@pytest.fixture(scope="module")
def translated():
    """Every row of the table that has a form in HIP, with its C++, and the reasons of those that have none."""
    done, refused = {}, {}
    for n, row in enumerate(ROWS):
        try:
            done[n] = ptx_on_host.translated(ptx_on_host.statement(row))
        except Untranslatable as why:
            refused[n] = str(why)
    return done, refused


@pytest.fixture(scope="module")
def library(translated, tmp_path_factory):
    done, _ = translated
    functions = [ptx_on_host.function(f"row{n}", ROWS[n], body) for n, body in done.items()]
    return ptx_on_host.compiled(functions, tmp_path_factory.mktemp("rows"))


def test_only_directed_roundings_of_floats_are_refused(translated):
    done, refused = translated
    assert {reason.rpartition(" ")[2] for reason in refused.values()} <= {".rz", ".rm", ".rp"}
    assert len(done) > 10 * len(refused)


def test_every_instruction_of_the_table_computes_its_expected_value(translated, library):
    wrong = []
    for n in translated[0]:
        row = ROWS[n]
        for values in inputs(row, LANES):
            found = ptx_on_host.run(library, f"row{n}", row, values)
            expected = row.expected(*values)
            if not all(map(matches, expected, found)):
                wrong.append((row.text, [*map(hex, values)], [*map(hex, found)], expected))
    assert not wrong, wrong[:5]
