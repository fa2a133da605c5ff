"""The quick layer (`scripts/test --quick`): of each test its first and last row, without what starts compilers, frameworks or many processes.

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


class Selection:
    """Chooses among the tests that were collected, and tells at the end what that left out."""

    def __init__(self) -> None:
        self.kept = 0
        self.rows = 0
        self.slow = 0

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        return True if collection_path.parent == HERE and collection_path.name in FOLDERS else None

    def pytest_collection_modifyitems(self, config, items) -> None:
        groups: dict[tuple[Path, str], list] = {}
        for item in items:
            if any(item.get_closest_marker(mark) for mark in MARKS):
                self.slow += 1
            else:
                groups.setdefault((item.path, item.nodeid.partition("[")[0]), []).append(item)
        chosen = {id(each) for rows in groups.values() for each in (rows[0], rows[-1])}
        self.kept = len(chosen)
        self.rows = sum(map(len, groups.values())) - self.kept
        config.hook.pytest_deselected(items=[each for each in items if id(each) not in chosen])
        items[:] = [each for each in items if id(each) in chosen]

    def pytest_terminal_summary(self, terminalreporter) -> None:
        folders = ", ".join(f"tests/{name} ({what})" for name, what in FOLDERS.items())
        terminalreporter.write_line(
            f"quick: {self.kept:,} tests were chosen; left out are {self.rows:,} rows between the first and the last of a test,"
            f" {self.slow:,} that are slow, and {folders}. make test runs them."
        )
