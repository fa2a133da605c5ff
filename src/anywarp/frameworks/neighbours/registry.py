"""All neighbours with a file of their own, and the door that sitecustomize opens when one of those that are answered is imported."""

from __future__ import annotations

from anywarp.frameworks.neighbours import finder, flash_attn
from anywarp.frameworks.neighbours.neighbour import Answering

ANSWERED: dict[str, Answering] = {each.name: each for each in (flash_attn.NEIGHBOUR,)}
"""By the module that programs import; `runtime/site/sitecustomize.py` has the same names."""


def install() -> finder.Finder:
    """Put the finder in force, once, and return it."""
    return finder.install(ANSWERED)
