"""Files of variables (`.env`), as Docker, Compose and systemd read them: one in a line, whose value goes to the line's end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

_VARIABLE = re.compile(
    r"(?m)^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)=(?P<value>[^\n#]*?)[ \t\r]*(?:#[^\n]*)?(?:\n|\Z)", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, its value as written and without quotes around all of it, and where it, its value and its line stand."""

    name: str
    written: str
    value: str
    start: int
    end: int
    line: tuple[int, int]


def named(path: PurePath) -> bool:
    """Tell whether a file holds variables, by its name."""
    name = path.name.lower()
    return name.endswith(".env") or name.startswith(".env.")


def variables(text: str) -> Iterator[Variable]:
    """Yield the variables of a file, in order."""
    for found in _VARIABLE.finditer(text):
        written = found["value"]
        quoted = len(written) > 1 and written[0] in "'\"" and written[-1] == written[0]
        bare = written[1:-1] if quoted else written.strip()
        yield Variable(found["name"], written, bare, found.start("name"), found.end("value"), found.span())
