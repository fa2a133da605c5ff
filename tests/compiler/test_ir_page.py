"""The page about the kernel IR is what the tables say."""

from __future__ import annotations

from pathlib import Path

from anywarp.compiler.ir_page import page
from anywarp.compiler.operation_table import ENDINGS, OPERATIONS

PAGE = Path(__file__).parents[2] / "docs/ir.md"


def test_the_page_is_current():
    assert PAGE.read_text() == page(), "run scripts/docs"


def test_every_operation_stands_on_it():
    text = PAGE.read_text()
    assert all(f"`{name}`" in text for name in (*OPERATIONS, *ENDINGS))
