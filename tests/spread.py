"""Rows of a test that run under one of several devices, plans or shapes in a plain run, each row under another; `long` jobs run the others.

Loaded as a plugin by `tests/conftest.py`.

    @pytest.mark.spread("device", always=("reference",))
    @pytest.mark.parametrize("device", DEVICES)
    @pytest.mark.parametrize("row", ROWS)

What differs in nothing but `device` is one row. A plain run has of each row what `always` names and one more, in turn: all rows of a file that
are spread over equally many take turns together, so that each device has its share of them, and where there are fewer rows than devices, rows
take several, so that each device has its turn. `count=2` takes two of each row; `most=3` takes no more than three, though not all have a turn
then. The rest is marked `long`. A test's own mark counts before the one of its file or folder.

`properties(few, many, *strategies)` does the same for a property: few examples in a plain run, many in the jobs `long-*`.
"""

from __future__ import annotations

import inspect
import zlib
from collections import defaultdict
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "spread(*names, always=(), count=1, most=None): a plain run has each row under some values of these parameters only (tests/spread.py)",
    )


def taken(row: int, rows: int, choices: int, count: int = 1, most: int | None = None) -> set[int]:
    """Return which of `choices` the row takes: far apart, the next row the next ones, shifted each time round, so that no pattern in rows hides any."""
    each = min(max(count, -(-choices // rows)), most or choices, choices)
    return {(row + row // choices + n * choices // each) % choices for n in range(each)}


def _rows(items) -> dict[tuple, dict[tuple, list]]:
    """Items that are spread, by file and manner, then by row; each row in the order of its values."""
    found: dict[tuple, dict[tuple, list]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        mark = item.get_closest_marker("spread")
        if mark is None or any(item.get_closest_marker(name) for name in ("long", "amd_emulator")):
            continue
        given = item.callspec.params
        if any(given[name] in mark.kwargs.get("always", ()) for name in mark.args):
            continue
        row = (item.nodeid.partition("[")[0], *sorted((k, id(v)) for k, v in given.items() if k not in mark.args))
        manner = {"always": (), "count": 1, "most": None, **mark.kwargs}
        found[item.path, mark.args, manner["count"], manner["most"]][row].append(item)
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for (path, _, count, most), every in _rows(items).items():
        by_size: dict[int, list[list]] = defaultdict(list)
        for row in every.values():
            by_size[len(row)].append(row)
        first = zlib.crc32(path.name.encode())
        for choices, rows in by_size.items():
            for number, row in enumerate(rows):
                here = {(first + x) % choices for x in taken(number, len(rows), choices, count, most)}
                for n, item in enumerate(row):
                    if n not in here:
                        item.add_marker(pytest.mark.long)


def properties(few: int, many: int, *strategies, **options) -> Callable:
    """Make a test of a function that takes fixtures and then examples of `strategies`: `few` examples in a plain run, `many` in one of what is `long`."""
    quiet = {"deadline": None, "suppress_health_check": list(HealthCheck), **options}

    def make(function: Callable[..., None]) -> Callable[[int], None]:
        @pytest.mark.parametrize("examples", [few, pytest.param(many, marks=pytest.mark.long)])
        def test(examples: int, **fixtures) -> None:
            def body(**example) -> None:
                function(**fixtures, **example)

            examined = dict(zip(names[len(fixtures) :], strategies))
            settings(max_examples=examples, **quiet)(given(**examined)(body))()

        names = list(inspect.signature(function).parameters)
        asked = ["examples", *names[: len(names) - len(strategies)]]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        test.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in asked])  # what pytest goes by

        test.__name__, test.__doc__, test.__module__ = function.__name__, function.__doc__, function.__module__
        return test

    return make
