"""All neighbours with a file of their own, and the door that sitecustomize opens when one of those that are answered is imported."""

from __future__ import annotations

from anywarp.frameworks.neighbours import apex, as_they_are, finder, flash_attn, tensorrt, transformer_engine, vllm
from anywarp.frameworks.neighbours.neighbour import Answering, Neighbour

ANSWERED: dict[str, Answering] = {
    each.name: each for each in (apex.NEIGHBOUR, flash_attn.NEIGHBOUR, transformer_engine.NEIGHBOUR)
}
"""By the module that programs import; `runtime/site/sitecustomize.py` has the tops of all their modules."""

SERVED: tuple[Neighbour, ...] = (*ANSWERED.values(), tensorrt.NEIGHBOUR, vllm.NEIGHBOUR)
"""Those for which something of ours is put in force: by this finder, or by a door of their own."""

ALL: tuple[Neighbour, ...] = (*as_they_are.PACKAGES, *SERVED)


def install() -> finder.Finder:
    """Put the finder in force, once, and return it."""
    tops = {module.partition(".")[0]: each for each in ANSWERED.values() for module in each.answers}
    return finder.install(tops)
