"""What the kernel says in small files (/sys, /proc): nothing where a file is not there or may not be read."""

from __future__ import annotations

from pathlib import Path


def text(path: Path) -> str:
    """Return a file's text; "" where it cannot be read."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def line(path: Path) -> str:
    """Return the text of a file of one line, without the end of the line."""
    return text(path).strip()
