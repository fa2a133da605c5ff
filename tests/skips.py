"""Every skip has a job that runs the test: `skips.tsv` says which of scripts/ci, by the reason that the skip gives.

A skip whose reason has no row fails its test. `--job NAME` is how a job says what it is for: what that job covers may not be skipped.
`--share 2/6` runs the second sixth of the tests, the same ones on every machine.
"""

from __future__ import annotations

import fnmatch
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

TABLE = Path(__file__).with_name("skips.tsv")
NONE = "none"
"""In the place of a job: the test says of some values that there is nothing to test."""


@dataclass(frozen=True)
class Row:
    """Skips whose reason matches `reason` (with * and ?) are run by `job`, on a machine that `where` describes."""

    reason: str
    job: str
    where: str


@cache
def rows() -> tuple[Row, ...]:
    """Read the table; the first row that matches counts."""
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return tuple(Row(*line.split("\t")) for line in lines[1:])


def covered(reason: str) -> Row | None:
    """Return the row of a skip's reason; None where no job runs the test."""
    return next((row for row in rows() if fnmatch.fnmatchcase(reason, row.reason)), None)


def pytest_addoption(parser):
    parser.addoption("--job", action="append", default=[], help="a job of scripts/ci whose tests may not be skipped")
    parser.addoption("--share", default="1/1", metavar="K/N", help="run the K-th of N shares of the tests")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    share, _, shares = config.getoption("--share").partition("/")
    others = [item for item in items if zlib.crc32(item.nodeid.encode()) % int(shares) != int(share) - 1]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if zlib.crc32(item.nodeid.encode()) % int(shares) == int(share) - 1]


def _judged(report, jobs):
    """Make a failure of a skip that no job covers, or that the running job is there to prevent."""
    if not report.skipped or hasattr(report, "wasxfail"):
        return report
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = text.removeprefix("Skipped: ")
    row = covered(reason)
    if row is None:
        problem = f"skipped without a job that runs it, which tests/skips.tsv must name: {reason}"
    elif row.job in jobs:
        problem = f"skipped, while the job {row.job} is there to run it: {reason}"
    else:
        return report
    report.outcome, report.longrepr = "failed", problem
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    return _judged(report, item.config.getoption("--job"))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    return _judged(report, collector.config.getoption("--job"))
