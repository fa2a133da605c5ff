"""Which partition of an AMD GPU can take the place of a MIG profile: by memory and by compute, with the figures and the choices.

A profile is one slice of a GPU that holds others of other sizes; AMD divides a whole GPU into equal parts. So a profile may find no
part of its size, and then a person decides: a larger part, another card, or several workloads in one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from anywarp.catalogue.migration import Row, by, rows

_PROFILE = re.compile(
    r"(?:nvidia\.com/)?mig-(?P<profile>(?P<slices>\d)g\.(?P<memory>\d+)gb)(?P<attributes>(?:[.+-][a-z]+)*)$"
)
_GIB_PER_GB = 1e9 / (1 << 30)
ENOUGH_COMPUTE = 0.8
"""A part with less than this share of the profile's compute does not take its place unasked: data sheets are no finer than that."""
MUCH = 2.5
"""A part with more than this many times the profile's memory is said to waste some."""


@dataclass(frozen=True, slots=True)
class Part:
    """A partition of a card: the resource under which it is asked for, and its size."""

    resource: str
    mode: str
    per_gpu: int
    compute_units: int
    memory: float
    peak: float
    managed: bool
    source: str

    def words(self) -> str:
        """Return the part's size in words."""
        how = "" if self.managed else ", set up by the driver, not by AMD's operator"
        return f"{self.resource} ({self.memory:g} GiB, {self.compute_units} compute units, {self.per_gpu} per GPU{how})"


@dataclass(frozen=True, slots=True)
class Fit:
    """What takes a profile's place: the part, or None where none does, with the figures in `reason` and the choices in `choices`."""

    part: Part | None
    reason: str
    choices: str
    wasteful: bool = False


def parts(card: str) -> tuple[Part, ...]:
    """Return the partitions of a card, smallest first; of equal ones those whose memory is divided, too, as a MIG profile's is."""
    found = [_part(row) for row in rows("partitions") if row["product"] == card]
    return tuple(sorted(found, key=lambda part: (part.memory, not part.managed, part.mode.endswith("nps1"))))


def cards() -> tuple[str, ...]:
    """Return the cards whose partitions are known."""
    return tuple(dict.fromkeys(row["product"] for row in rows("partitions")))


def profile(resource: str) -> Row | None:
    """Return the row of a MIG resource such as nvidia.com/mig-3g.40gb; None where it is none or no profile that is known."""
    found = _PROFILE.match(resource)
    return by("mig_profiles", "profile").get(found["profile"]) if found else None


def fit(resource: str, card: str) -> Fit:
    """Choose the partition of `card` for a MIG resource: the smallest that AMD's operator sets up and that is large enough."""
    row = profile(resource)
    if row is None:
        return Fit(None, f"{resource} is no profile that is known, so its size is not either", _choices(parts(card)))
    known = parts(card)
    if not known:
        return Fit(None, f"it is not known how a {card} is divided", f"choose a card: {', '.join(cards())}")
    memory, peak = float(row["memory_gb"]) * _GIB_PER_GB, float(row["fp16_tflops"] or 0)
    asked = (
        f"{row['profile']} is {memory:.1f} GiB and {row['slices']}/{row['of_slices']} of the compute of {row['cards']}"
    )
    asked += f", {peak:.0f} TFLOPS of FP16 at most" if peak else " (its TFLOPS are not known: only memory was compared)"
    large = [
        part for part in known if part.memory >= memory and part.peak >= ENOUGH_COMPUTE * peak and part.per_gpu > 1
    ]
    chosen = next((part for part in large if part.managed), None)
    if not large and row["slices"] == row["of_slices"] and known[-1].memory >= memory:
        return Fit(known[-1], f"{asked}: it is a whole GPU, and so is what takes its place", _choices(known), False)
    if chosen is None or (large and large[0].memory * 1.5 < chosen.memory):
        return Fit(None, f"{asked}; {_why_not(known, memory, peak, card)}", _choices(large or known))
    got = f"{asked}; a part {chosen.mode} of {card} has {chosen.memory:g} GiB, {chosen.compute_units} compute units, {chosen.peak:.0f} TFLOPS"
    return Fit(chosen, got, _choices(large), chosen.memory > MUCH * memory)


def _why_not(known: tuple[Part, ...], memory: float, peak: float, card: str) -> str:
    managed = [part for part in known if part.managed and part.per_gpu > 1]
    if not managed:
        return f"AMD's operator divides no {card}"
    part = managed[-1]
    lacks = [
        *([f"{part.memory:g} GiB"] if part.memory < memory else []),
        *([f"{part.peak:.0f} TFLOPS"] if part.peak < ENOUGH_COMPUTE * peak else []),
    ]
    if not lacks:
        return f"a {card} has a part that is nearer in size than those that AMD's operator sets up"
    return f"a part {part.mode} of {card} has only {' and '.join(lacks)}"


def _choices(found: tuple[Part, ...] | list[Part]) -> str:
    return "; ".join(part.words() for part in found) or "none"


def _part(row: Row) -> Part:
    return Part(
        row["target"],
        row["mode"],
        int(row["partitions"]),
        int(row["compute_units"]),
        float(row["memory_gib"]),
        float(row["fp16_tflops"]),
        row["supported"] == "yes",
        row["source"],
    )
