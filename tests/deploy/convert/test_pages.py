"""The page of tables is what the tables hold now."""

from __future__ import annotations

from pathlib import Path

from anywarp.catalogue import migration
from anywarp.deploy.convert import pages

PAGE = Path(__file__).resolve().parents[3] / "docs" / "coverage" / "convert.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text() == pages.as_markdown(), "run scripts/docs"


def test_every_resource_and_label_is_on_the_page() -> None:
    text = PAGE.read_text()
    for table in ("resources", "node_labels", "kinds"):
        for row in migration.rows(table):
            assert f"`{row['name']}`" in text
