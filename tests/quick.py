"""The quick layer (`scripts/test --quick`): one row of a few tests of each file, without what starts compilers, frameworks or many processes.

What is left out is said at the end of the run; `make test` runs all of it.
"""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).resolve().parent

FOLDERS = {
    "clients": "programs of other projects",
    "emulator": "AMD's instructions on the processor",
    "end_to_end": "programs that are compiled first",
    "frameworks": "PyTorch and Triton",
    "toolchain": "the compiler of CUDA C++",
}
"""Folders that are left out, and what they test."""

MARKS = ("slow", "long")
TESTS = 2
"""Of each file so many tests, from its first to its last."""


def spread(those: list, count: int) -> list:
    """Return `count` of these, the first and the last among them; all where there are no more."""
    if len(those) <= count:
        return those
    return [those[number * (len(those) - 1) // (count - 1)] for number in range(count)]


class Selection:
    """Chooses among the tests that were collected, and tells at the end what that left out."""

    def __init__(self) -> None:
        self.kept = self.tests = self.rows = self.slow = 0

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        return True if collection_path.parent == HERE and collection_path.name in FOLDERS else None

    def pytest_collection_modifyitems(self, config, items) -> None:
        files: dict[Path, dict[str, list]] = {}
        for item in items:
            if any(item.get_closest_marker(mark) for mark in MARKS):
                self.slow += 1
            else:
                files.setdefault(item.path, {}).setdefault(item.nodeid.partition("[")[0], []).append(item)
        chosen = [rows[-1] for tests in files.values() for rows in spread(list(tests.values()), TESTS)]
        self.kept = len(chosen)
        self.tests = sum(map(len, files.values())) - self.kept
        self.rows = len(items) - self.slow - self.kept - self.tests
        kept = set(map(id, chosen))
        config.hook.pytest_deselected(items=[each for each in items if id(each) not in kept])
        items[:] = [each for each in items if id(each) in kept]

    def pytest_terminal_summary(self, terminalreporter) -> None:
        folders = ", ".join(f"tests/{name} ({what})" for name, what in FOLDERS.items())
        terminalreporter.write_line(
            f"quick: {self.kept:,} tests were chosen; left out are {self.tests:,} others of their files, {self.rows:,} further rows of tests,"
            f" {self.slow:,} that are slow, and {folders}. make test runs them."
        )
