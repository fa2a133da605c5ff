"""What our pages of HTML share: one look, light and dark, escaping, and nothing from the network.

A page is a folder with `page.html` and `page.css`, which comes behind `base.css`. Its text comes from files that nobody vouches for, so all of it is
escaped, and a page forbids itself to load anything or to run any script but its own (`digest`).
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import jinja2

_HERE = Path(__file__).parent


def environment(folder: Path) -> jinja2.Environment:
    """Return an environment for the templates of a folder, with escaping on and the filter `count` (1,234)."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )  # fmt: skip
    made.filters["count"] = lambda n: f"{n:,}"
    return made


def style(folder: Path) -> str:
    """Return the style of a page: ours, then its own."""
    return "".join(
        (place / name).read_text(encoding="utf-8") for place, name in ((_HERE, "base.css"), (folder, "page.css"))
    )


def digest(script: str) -> str:
    """Return the SHA-256 of a script as a Content-Security-Policy names it."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
