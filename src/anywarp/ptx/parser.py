"""PTX text to the typed tree: a whole module, or one function of an indexed module.

A module is always indexed first, so that both ways see the same bodies and report the same errors.
"""

from __future__ import annotations

from anywarp.ptx.index import index_module
from anywarp.ptx.statements import parse_function
from anywarp.ptx.tree import Module

__all__ = ["parse_function", "parse_module"]


def parse_module(text: str, name: str = "<ptx>") -> Module:
    """Parse a whole module, bodies included; `name` is shown in errors. Raises AnywarpError."""
    return index_module(text, name).module()
