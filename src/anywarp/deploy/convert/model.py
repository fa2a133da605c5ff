"""What a conversion is made of: changes, refusals and notes about places in a text, and the protocol of what finds them.

Rules are pure functions of bytes: they read no other file, so that a file is converted alike wherever it lies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import PurePath
from typing import Any, Literal, Protocol

from anywarp.catalogue.migration import Row
from anywarp.migrate.target import USUAL_ARCHITECTURE, USUAL_ROCM, Target

Naming = Literal["single", "mixed"]


@dataclass(frozen=True, slots=True)
class Change:
    """Bytes `[start, end)` of the original become `replacement`, because of `reason`, as said in `source`.

    `renames`: a name that is gone when this is done and that the bytes themselves do not show (`agreement.py`).
    """

    start: int
    end: int
    replacement: bytes
    reason: str
    source: str = ""
    renames: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Bytes `[start, end)` are not converted: why, and what a person is to do. `code` is the diagnostic's."""

    start: int
    end: int
    reason: str
    help: str
    source: str = ""
    code: str = "Y010"
    needs: str = ""
    """A name that the place goes by as it stands and that its bytes do not show (a `Change.renames`)."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something to know about bytes `[start, end)`, which stay or were changed; nobody need act for the result to be right."""

    start: int
    end: int
    reason: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Fine:
    """Bytes `[start, end)` mention NVIDIA or CUDA and are right as they are; said only in the JSON report."""

    start: int
    end: int
    reason: str
    source: str = ""


Finding = Change | Refusal | Note | Fine


@dataclass(frozen=True, slots=True)
class Options:
    """What the user chose: the target, the card, how AMD's device plugin names partitions, and answers to what only they know.

    `mapping` answers for values: (key, old value) to (new key or "", new value), as from `--map KEY=OLD:NEW`;
    `images` answers for images: old reference to new one, as from `--image OLD=NEW`.
    """

    target: Target = field(default_factory=lambda: Target("hip", USUAL_ARCHITECTURE, USUAL_ROCM))
    card: str = "Instinct MI300X"
    naming: Naming = "single"
    mapping: Mapping[tuple[str, str], tuple[str, str]] = field(default_factory=dict[tuple[str, str], tuple[str, str]])
    images: Mapping[str, str] = field(default_factory=dict[str, str])

    def answer(self, key: str, old: str) -> tuple[str, str] | None:
        """Return what the user said a value becomes, for itself or for any value (`--map KEY=*:NEW`); None where nothing was said."""
        return self.mapping.get((key, old)) or self.mapping.get((key, "*"))


def packed_options(options: Options) -> dict[str, Any]:
    """Return options as JSON can hold them."""
    mapping = [[*key, *value] for key, value in options.mapping.items()]
    return {**asdict(options), "mapping": mapping, "images": dict(options.images)}


def unpacked_options(packed: dict[str, Any]) -> Options:
    """Return what `packed_options` was given."""
    mapping = {(key, old): (new_key, new) for key, old, new_key, new in packed["mapping"]}
    own: dict[str, Any] = {"target": Target(**packed["target"]), "mapping": mapping}
    return Options(**packed | own)


class Kind(Protocol):
    """A module of this folder that converts one kind of file; listed in `registry.py`.

    `wants` looks at path and content only as long as it must; `convert` yields findings in any order, whose places lie in `data`;
    `comments` yields the places that a reader of the format does not act on.
    """

    NAME: str

    @staticmethod
    def wants(path: PurePath, data: bytes) -> bool: ...

    @staticmethod
    def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]: ...

    @staticmethod
    def comments(data: bytes) -> Iterable[tuple[int, int]]: ...


def change(start: int, end: int, replacement: str, row: Row) -> Change:
    """Return a change for the reason and from the source of a row of a table."""
    return Change(start, end, replacement.encode(), row["reason"], row["source"])


def refusal(start: int, end: int, row: Row, help: str, code: str = "Y010") -> Refusal:
    """Return a refusal for the reason and from the source of a row of a table."""
    return Refusal(start, end, row["reason"], help, row["source"], code)


def moved(findings: Iterable[Finding], by: int) -> Iterator[Finding]:
    """Yield findings about a part of a text as findings about the text, in which the part begins `by` bytes on."""
    for finding in findings:
        yield replace(finding, start=finding.start + by, end=finding.end + by)


Embedded = Callable[[bytes, Options], Iterator[Finding]]
"""What converts a text inside a file of another kind: a shell command in a manifest, a query in a dashboard."""
