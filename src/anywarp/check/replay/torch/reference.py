"""The recording's values as tensors, found by where they were in the program."""

# pyright: basic, reportAttributeAccessIssue=false
from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import torch

from anywarp.check.bundle import Bundle, Entry
from anywarp.check.record.torch.values import from_bytes
from anywarp.check.replay import pieces
from anywarp.check.replay.assembled import Side, ranks
from anywarp.check.replay.torch.cutting import NotWhole, cut

_SIDES = {"tokens": "input", "logits": "output"}
Slots = dict[str, Entry]


class Reference:
    """A recording that a program is held against, of as many ranks as there are here: this rank's."""

    is_whole = False
    """Whether values are of another number of ranks, put together and cut anew."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.models: dict[str, Any] = bundle.manifest.get("models") or {}
        self._entries: dict[tuple[str, int, int, str], Slots] = {}
        for entry in bundle.entries:
            side = _SIDES.get(entry.role, entry.role)
            self._entries.setdefault((entry.name, entry.call, entry.visit, side), {}).setdefault(entry.slot, entry)

    def begins(self, root: str, call: int, modules: Mapping[str, Any]) -> bool:
        """Whether the recorded inputs of an outermost module are this rank's to take."""
        return True

    def slots(self, name: str, call: int, visit: int, side: str) -> Slots:
        """Return what was recorded of one side (input, output, buffer) of a module's call, by slot."""
        return self._entries.get((name, call, visit, side), {})

    def tensor(self, entry: Entry, like: torch.Tensor) -> torch.Tensor:
        """Return an entry's values on the device and in the dtype of `like`; AnywarpError where the recording is damaged, NotWhole."""
        content = self.bundle.read(entry)
        return _in_dtype(from_bytes(content, entry.dtype, entry.shape, entry.layout), like)


class WholeReference(Reference):
    """A recording of another number of ranks, or of one process: values are put together, and this rank gets its part."""

    is_whole = True

    def __init__(self, bundle: Bundle, rank: int, count: int) -> None:
        self.bundle, self._rank, self._count = bundle, rank, count
        side = Side(bundle)
        self.models = {root: model for each in side.models.values() for root, model in each.items()}
        self._entries = defaultdict(dict)
        self._groups: dict[int, list[pieces.Piece]] = {}
        for (name, call, visit, role, slot, run), group in side.places.items():
            if run == "propagated":
                entry = group[0].entry
                self._entries[name, call, visit, role][slot] = entry
                self._groups[id(entry)] = group

    def begins(self, root: str, call: int, modules: Mapping[str, Any]) -> bool:
        """Whether what was recorded first within an outermost module's call is among `modules`: a later stage of a pipeline is given what this program computed."""
        prefix = f"{root}."
        names = (key[0] for key in self._entries if key[1] == call and key[3] == "output" and key[0].startswith(prefix))
        first = next(names, prefix).removeprefix(prefix).partition(".attention()")[0]
        return first in modules

    def tensor(self, entry: Entry, like: torch.Tensor) -> torch.Tensor:
        join = _joined(self._groups[id(entry)], tuple(like.shape), self._count)
        layout = entry.layout if join.shape == entry.shape else None
        whole = _in_dtype(from_bytes(join.values(), join.dtype, join.shape, layout), like)
        return cut(whole, like, self._rank, self._count)


def chosen(bundle: Bundle, part: str, place: tuple[int, int] | None) -> Reference:
    """Return what this process is held against; `place` is its rank and how many there are, None where it is alone."""
    names = ranks(bundle)
    if len(names) != (place[1] if place else 0) and (names or not bundle.parts):
        return WholeReference(bundle, *(place or (0, 1)))
    name = part or (f"rank-{place[0]}" if place else "")
    return Reference(bundle.part(name) if name in bundle.parts else bundle)


def _joined(group: list[pieces.Piece], like: tuple[int, ...], count: int) -> pieces.Join:
    if len(group) == 1 or len({each.entry.blob for each in group}) == 1:
        return pieces.alone(group[0])
    if not all(each.entry.blob for each in group):
        raise NotWhole("not all ranks' values were recorded")
    if all(each.entry.placement for each in group):
        found = pieces.placed(group)
        if isinstance(found, str):
            raise NotWhole(found)
        return found[0]
    shapes = [each.entry.shape for each in group]
    for theirs in ([like], [like] * count):
        axes = pieces.axes_of(shapes, theirs)
        if axes is not None and axes[0] is not None:
            return pieces.one_after_another(group, axes[0])
    raise NotWhole("the ranks had different values, and do not say how they belong together")


def _in_dtype(found: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    found = found.to(like.device)
    if like.dtype == found.dtype:
        return found
    return found.to(like.dtype) if like.is_floating_point() and found.is_floating_point() else found
