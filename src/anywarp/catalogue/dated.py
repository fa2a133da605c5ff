"""Write a derived table with the day on which its content last changed, so that deriving it again from the same inputs changes nothing."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from pathlib import Path

_DATE = re.compile(r", (\d{4}-\d\d-\d\d)$")


def write(path: Path, source: str, lines: Sequence[str]) -> None:
    """Write `# source, date` and the lines; the date stays that of the file while source and lines are what it holds."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    known = _DATE.search(old.partition("\n")[0])
    if known is not None and _text(source, known[1], lines) == old:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        _text(source, datetime.datetime.now(datetime.timezone.utc).date().isoformat(), lines), encoding="utf-8"
    )


def _text(source: str, date: str, lines: Sequence[str]) -> str:
    return "\n".join([f"# {source}, {date}", *lines]) + "\n"
