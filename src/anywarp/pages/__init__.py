"""What our pages of HTML share: one look, light and dark, escaping, and nothing from the network.

A page is a folder with `page.html` and perhaps `page.css`, which comes behind `base.css`. `base.html` is the frame of pages without scripts, `charts.html` has
charts of intervals (`charts.py`). Text comes from files that nobody vouches for, so all of it is escaped, and a page forbids itself to load anything or to run
any script but its own (`digest`).
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import time
from pathlib import Path
from typing import Any

import jinja2

from anywarp import __version__

_HERE = Path(__file__).parent


def environment(folder: Path, charts: bool = False) -> jinja2.Environment:
    """Return an environment for the templates of a folder, with escaping on, the filters `count` (1,234) and `moment`, and `style`, `version` and `date`.

    `charts`: the style has what `charts.html` draws with.
    """
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, _HERE]), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )  # fmt: skip
    made.filters["count"] = lambda n: f"{n:,}"
    made.filters["moment"] = moment
    shared: dict[str, Any] = {"style": style(folder, charts), "version": __version__, "date": moment(time.time())}
    made.globals.update(shared)
    return made


def moment(seconds: float) -> str:
    """Return a time (seconds since 1970) as people read it, in UTC."""
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")


def style(folder: Path, charts: bool = False) -> str:
    """Return the style of a page: ours, then its own where it has one."""
    own = folder / "page.css"
    files = [_HERE / "base.css", *[_HERE / "charts.css"] * charts, *[own] * own.exists()]
    return "".join(file.read_text(encoding="utf-8") for file in files)


def digest(script: str) -> str:
    """Return the SHA-256 of a script as a Content-Security-Policy names it."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
