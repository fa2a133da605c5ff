"""Write the table of runtime entry points as C++, for the build: `python generate.py entries.tsv OUTPUT`.

One table serves the library that redirects entries and the one that answers them, so that their numbers agree.
"""

from __future__ import annotations

import sys
from pathlib import Path


def _release(text: str) -> int:
    """Return `12.4` as 124, and 0 for `-`."""
    major, _, minor = text.partition(".")
    return int(major) * 10 + int(minor) if minor else 0


def table(tsv: str) -> str:
    """Return one line `{"name", since12, since13, since11},` for each row, in order of name (bytes)."""
    rows = [line.split("\t") for line in tsv.splitlines() if line and not line.startswith("#")]
    lines = [
        f'{{"{name}", {_release(since12)}, {_release(since13)}, {_release(since11)}}},\n'
        for name, since12, since13, since11 in sorted(rows, key=lambda row: row[0].encode())
    ]
    return "// Made by native/rebind/generate.py; change entries.tsv instead.\n" + "".join(lines)


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(table(Path(sys.argv[1]).read_text(encoding="utf-8")), encoding="utf-8")
