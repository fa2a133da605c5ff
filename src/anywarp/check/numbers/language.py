"""How two language models differ over the same text: from logits, or from the log-probabilities of the likeliest tokens.

All of it is teacher-forced: both sides were given the same tokens, and position t holds what each expects after the first t of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from anywarp.check.numbers.results import Grade


@dataclass(frozen=True)
class TopPosition:
    """What an endpoint says of one position: the likeliest tokens with their natural log-probabilities, and the log-probability of the token that follows in the text.

    Tokens may be numbers or texts, as long as both sides use the same. `chosen` is None where the endpoint does not say it.
    """

    top: Mapping[int | str, float]
    token: int | str
    chosen: float | None = None


@dataclass(frozen=True)
class Divergence:
    """The first position where the likeliest tokens differ, and by how much the reference preferred its own (nats)."""

    position: int
    margin: float
    reference: int | str
    observed: int | str


@dataclass(frozen=True)
class Language:
    """How two models differ over a text. All in nats.

    `kl_mean`, `kl_p99`, `kl_largest`: KL(reference || observed) per token; from top-k these are lower bounds and `kl_upper` bounds the mean from
    above (None: nothing bounds it). `agreement`: the share of the same likeliest token among the `decided` positions, those at which the
    reference's margin exceeds `noise`; `close` positions were too close to tell. `perplexity`: reference's and observed's; `nll_difference`: the mean
    difference of negative log-likelihood with its interval (95 %, paired bootstrap over blocks of positions).
    """

    grade: Grade
    reason: str
    positions: int
    kl_mean: float
    kl_p99: float
    kl_largest: float
    kl_upper: float | None
    agreement: float | None
    decided: int
    close: int
    noise: float
    divergence: Divergence | None
    perplexity: tuple[float, float] | None
    nll_difference: float | None
    nll_interval: tuple[float, float] | None
    partial: bool

    def as_json(self) -> dict[str, Any]:
        """Return a mapping ready for `json.dumps`."""
        raise NotImplementedError


def compare_logits(
    reference: NDArray[Any],
    observed: NDArray[Any],
    tokens: NDArray[Any] | None = None,
    *,
    null: NDArray[Any] | None = None,
) -> Language:
    """Compare logits of shape (positions, vocabulary). `tokens`: the token that follows at each position; `null`: the reference's logits from another run."""
    raise NotImplementedError


def compare_top(
    reference: Sequence[TopPosition], observed: Sequence[TopPosition], *, null: Sequence[TopPosition] | None = None
) -> Language:
    """Compare positions of which only the likeliest tokens are known."""
    raise NotImplementedError


def mcnemar(only_reference: int, only_observed: int) -> float:
    """Return the two-sided exact p-value that as many tasks were solved by one side alone by chance (McNemar 1947, binomial form)."""
    raise NotImplementedError
