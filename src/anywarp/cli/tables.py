"""Tables on stdout: with rules and colours in a terminal, as columns of plain text elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence

Lines = Iterable[Sequence[str]]


def table(
    title: str, head: Sequence[str], lines: Lines, left: Sequence[int] = (0,), styles: Mapping[str, str] | None = None
) -> bool:
    """Print a table, with a title unless it is empty; nothing, and False, where there are no lines.

    `left`: the columns whose text stands to the left, counted from either end; numbers stand to the right. `styles`: rich's styles for the texts of the first column.
    """
    content = [list(line) for line in lines]
    if not content:
        return False
    to_left = {place % len(head) for place in left}
    if sys.stdout.isatty():
        _ruled(head, content, title, to_left, styles or {})
        return True
    if title:
        print(title)
    widths = [max(len(line[n]) for line in [list(head), *content]) for n in range(len(head))]
    for line in [list(head), *content]:
        cells = [
            cell.ljust(w) if n in to_left else cell.rjust(w)
            for n, (cell, w) in enumerate(zip(line, widths, strict=True))
        ]
        print(("  " if title else "") + "  ".join(cells).rstrip())
    return True


def _ruled(head: Sequence[str], content: Lines, title: str, to_left: set[int], styles: Mapping[str, str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=title or None, title_justify="left")
    for number, name in enumerate(head):
        shown.add_column(name, justify="left" if number in to_left else "right", overflow="fold")
    for line in content:
        # As text: a name may look like markup.
        shown.add_row(Text(line[0], style=styles.get(line[0], "")), *(Text(cell) for cell in line[1:]))
    Console().print(shown)
