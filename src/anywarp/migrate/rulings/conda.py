"""conda's packages and channels: what becomes of each, and what stays because another package stays.

No channel of conda has torch for ROCm; pip has, so such packages wait for a person, and what they need of NVIDIA's stays with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from anywarp.catalogue import replacements
from anywarp.catalogue.migration import Row, rows
from anywarp.migrate.formats import command_words
from anywarp.migrate.rulings.answer import Answer

REFUSED = "Y033"
_BUILD = re.compile(r"cuda\w*|cu1\d\d|_gpu")
_HOST = re.compile(r"https?://(?:conda\.anaconda\.org|anaconda\.org)/")


@dataclass(frozen=True, slots=True)
class Asked:
    """A package for CUDA that conda is asked for: its name, what follows that, the build's mark of CUDA (`cuda12.1*`), and what becomes of it."""

    name: str
    specifier: str
    build: str
    answer: Answer


def requirement(text: str) -> Asked | None:
    """Return what a specification asks for (`nvidia::cuda-toolkit=12.1`, `pytorch=2.1=py3.11_cuda12.1*`); None where it is none of CUDA's.

    A build for the processor, by its name, is none.
    """
    spec = command_words.conda(text)
    if spec is None or "cpu" in spec.rest:
        return None
    row = replacements.package(spec.name, "conda")
    found = _BUILD.search(spec.rest)
    build = found[0] if found else ""
    if row is not None:
        return Asked(spec.name, spec.rest, build, _of_row(row))
    if build:
        reason = "a build for CUDA is asked for by its name"
        return Asked(spec.name, spec.rest, build, Answer("refuse", reason, help="leave the build out", code=REFUSED))
    if replacements.CUDA_NAME.search(replacements.canonical(spec.name)):
        reason = "a package for CUDA that no table of replacements has"
        return Asked(spec.name, spec.rest, "", Answer("refuse", reason, help="do without", code=REFUSED))
    return None


def _of_row(row: Row) -> Answer:
    if row["conversion"] == "remove":
        return Answer("remove", row["reason"], source=row["source"])
    if row["conversion"] == "keep":
        return Answer("keep", row["reason"], source=row["source"])
    help = f"use {row['target']}" if row["target"] else "do without"
    return Answer("refuse", row["reason"], help=help, source=row["source"], code=REFUSED, instead=row["target"])


def channel(name: str) -> Answer | None:
    """Return what becomes of a channel, by its name or its address; None for one that is not NVIDIA's."""
    name = _HOST.sub("", name).rstrip("/")
    row = next((row for row in rows("channels") if re.fullmatch(row["pattern"], name)), None)
    return _of_row(row) if row is not None else None


def staying(texts: Iterable[str]) -> str:
    """Return the first of some specifications, by its package's name, that stays: what else there is of NVIDIA's stays with it; "" for none."""
    asked = (requirement(text) for text in texts)
    return next((one.name for one in asked if one is not None and one.answer.action == "refuse"), "")
