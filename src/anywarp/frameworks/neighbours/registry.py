"""All neighbours with a file of their own, and the door that sitecustomize opens when one of those that are answered is imported."""

from __future__ import annotations

from anywarp.frameworks.neighbours import apex, finder, flash_attn
from anywarp.frameworks.neighbours.neighbour import Answering

ANSWERED: dict[str, Answering] = {each.name: each for each in (apex.NEIGHBOUR, flash_attn.NEIGHBOUR)}
"""By the module that programs import; `runtime/site/sitecustomize.py` has the tops of all their modules."""


def install() -> finder.Finder:
    """Put the finder in force, once, and return it."""
    tops = {module.partition(".")[0]: each for each in ANSWERED.values() for module in each.answers}
    return finder.install(tops)
