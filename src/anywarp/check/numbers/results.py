"""What comparing and judging give back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from anywarp.numerics.operation import Operation

Grade = Literal["pass", "warn", "fail"]
GRADES: tuple[Grade, ...] = ("pass", "warn", "fail")
"""From best to worst."""


@dataclass(frozen=True)
class Fingerprint:
    """A likely cause of a difference.

    `name` is one of `causes.CAUSES`; `evidence` says in words what was seen, with figures; `confidence` is from 0 to 1: how well this
    cause explains what was seen, not a probability. `place` says where, if the cause has one: "head 3", "columns 32 to 63".
    """

    name: str
    evidence: str
    confidence: float
    place: str = ""


@dataclass(frozen=True)
class Spot:
    """One of the largest differences: its index and the two values."""

    index: tuple[int, ...]
    reference: float
    observed: float
    allowed: float


@dataclass(frozen=True)
class Comparison:
    """How an observed value lies to its reference.

    Differences are `observed - reference` as numbers, by absolute size: `quantiles` holds them at `results.LEVELS`, `largest` the greatest.
    `relative` is the greatest |difference| / allowed, `beyond` how many elements lie beyond what is allowed, `bound` names the bound that allowed
    it ("sharp", "probabilistic", "null", "exact", "precise", "assumed" ...), and `ceiling` is the greatest |difference| / ceiling, above 1 never right
    (None where no ceiling exists). `bias` is the mean signed difference over the mean absolute one, from -1 to 1. `cosine` is that of the two as vectors.
    `unlike` counts elements of which one is NaN or infinite and the other is not the same. `ratio` is, where a precise result was given, the
    error of the observed over the error of the reference. `estimated` says that tensors were not there and figures come from statistics.
    """

    grade: Grade
    reason: str
    bound: str
    dtype: str
    shape: tuple[int, ...]
    count: int
    quantiles: tuple[float, ...] = ()
    largest: float = 0.0
    rms: float = 0.0
    scale: float = 0.0
    relative: float = 0.0
    ceiling: float | None = None
    beyond: int = 0
    bias: float = 0.0
    cosine: float = 1.0
    unlike: int = 0
    ratio: float | None = None
    worst: tuple[Spot, ...] = ()
    fingerprints: tuple[Fingerprint, ...] = ()
    estimated: bool = False


LEVELS = (0.5, 0.9, 0.99, 0.999)
"""The quantiles of |difference| that a comparison holds."""


@dataclass(frozen=True)
class Layer:
    """One recorded place in one call, in order of execution, and how it compares.

    `isolated`: the layer was given the reference's inputs; `propagated`: it ran within the whole. Either may be missing. `weights` says whether its
    parameters are the reference's (None: not known). `note` says, for a person, why something is missing.
    """

    name: str
    call: int = 0
    slot: str = "0"
    operation: Operation = field(default_factory=Operation)
    isolated: Comparison | None = None
    propagated: Comparison | None = None
    weights: bool | None = None
    note: str = ""


@dataclass(frozen=True)
class Report:
    """The verdict over all layers.

    `first` is the first layer that fails by itself (isolated, or propagated where it has no isolated comparison), `cause` the likely cause, and `reason`
    the verdict in one sentence. `as_json.report` and `page.page` show it. `language` holds what `language.py` measured, ready for JSON; `about` what was compared (names, devices, versions), for people.
    """

    grade: Grade
    reason: str
    layers: Sequence[Layer]
    first: Layer | None = None
    cause: Fingerprint | None = None
    language: Mapping[str, Any] = field(default_factory=dict[str, Any])
    about: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: Sequence[str] = ()
