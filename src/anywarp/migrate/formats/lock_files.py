"""Lock files of Python projects: which file is one, and the command that makes it anew."""

from __future__ import annotations

import re
from pathlib import PurePath

_MADE_BY = {
    "poetry.lock": "poetry lock",
    "uv.lock": "uv lock",
    "pdm.lock": "pdm lock",
    "pipfile.lock": "pipenv lock",
    "pixi.lock": "pixi install",
    "conda-lock.yml": "conda-lock",
    "conda-lock.yaml": "conda-lock",
}
_PYLOCK = re.compile(r"pylock(?:\.[^.]+)?\.toml")  # PEP 751


def made_by(path: PurePath) -> str:
    """Return the command that makes a lock file, as far as its name tells; "" for a file that is none."""
    name = path.name.lower()
    return "the tool that made it" if _PYLOCK.fullmatch(name) else _MADE_BY.get(name, "")
