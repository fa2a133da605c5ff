"""What our pages of HTML share: one look, light and dark, escaping, and nothing from the network.

A page is a folder with `page.html` and perhaps `page.css`, which comes behind `base.css`; `base.html` is the frame of pages without scripts. Its text comes from files that nobody vouches for, so all of it is
escaped, and a page forbids itself to load anything or to run any script but its own (`digest`).
"""

from __future__ import annotations

import base64
import datetime
import hashlib
from pathlib import Path

import jinja2

from anywarp import __version__

_HERE = Path(__file__).parent


def environment(folder: Path) -> jinja2.Environment:
    """Return an environment for the templates of a folder, with escaping on and the filter `count` (1,234)."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, _HERE]), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )  # fmt: skip
    made.filters["count"] = lambda n: f"{n:,}"
    made.filters["moment"] = moment
    made.globals.update(style=style(folder), version=__version__)
    return made


def moment(seconds: float) -> str:
    """Return a time (seconds since 1970) as people read it, in UTC."""
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")


def style(folder: Path) -> str:
    """Return the style of a page: ours, then its own."""
    files = [_HERE / "base.css", *(folder / "page.css",) * (folder / "page.css").exists()]
    return "".join(file.read_text(encoding="utf-8") for file in files)


def digest(script: str) -> str:
    """Return the SHA-256 of a script as a Content-Security-Policy names it."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
