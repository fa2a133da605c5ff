"""An organisation's report as one page of HTML that needs no network and has no script."""

from __future__ import annotations

from pathlib import Path

from anywarp import pages
from anywarp.deploy.fleet.organisation.report import Report
from anywarp.migrate.shown import shorten


def page(report: Report) -> str:
    """Return the page."""
    made = pages.environment(Path(__file__).parent)
    made.filters["shortened"] = shorten  # pyright: ignore[reportArgumentType]
    return made.get_template("page.html").render(report=report, units=sum(len(row.units) for row in report.rows))
