"""A fleet as one page of HTML that needs no network and has no script."""

from __future__ import annotations

from pathlib import Path

from anywarp import pages
from anywarp.deploy.fleet.report.facts import Facts
from anywarp.migrate.shown import shorten


def page(facts: Facts) -> str:
    """Return the page."""
    made = pages.environment(Path(__file__).parent)
    made.filters["shortened"] = shorten  # pyright: ignore[reportArgumentType]
    axes = {
        entry: list(dict.fromkeys(name for row in rows for name in row.task.axes))
        for entry, rows in facts.entries().items()
    }
    return made.get_template("page.html").render(facts=facts, entries=facts.entries(), axes=axes)
