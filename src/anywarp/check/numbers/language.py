"""How two language models differ over the same text: from logits, or from the log-probabilities of the likeliest tokens.

All of it is teacher-forced: both sides were given the same tokens, and position t holds what each expects after the first t of them. A token that
differs means nothing where the reference itself was undecided: agreement is counted where its margin exceeds what noise can turn. Two scores
over the same tasks are compared by the tasks that only one side solves (McNemar 1947), two perplexities by the paired differences of
the tokens' log-probabilities (moving-block bootstrap: Künsch, Ann. Statist. 17, 1989).
"""

# pyright: basic
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anywarp.check.numbers.results import Grade

Array = NDArray[Any]

NULL_FACTOR = 3.0
"""How many times the source's own KL the target's may be."""
PASS_KL, FAIL_KL = 2e-3, 5e-2
"""Mean KL per token in nats, where no noise of the source was measured: a prior. A perturbation of the logits of deviation s makes about s^2 / 2,
so these are logits off by 0.06 and 0.3."""
LEAST_KL = 1e-6
"""Below this mean KL nothing is made of it: logits off by a thousandth."""
AGREEMENT = 0.995
"""Of the decided positions, the share that must agree."""
RESAMPLES = 2000
CHUNK = 1 << 20


@dataclass(frozen=True)
class TopPosition:
    """What an endpoint says of one position: the likeliest tokens with their natural log-probabilities, and the log-probability of the token that follows.

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

    `kl_mean`, `kl_p99`, `kl_largest`: KL(reference || observed) per token; from the likeliest tokens alone these are lower bounds (all other tokens
    taken as one), `kl_upper` is None then: nothing bounds them from above. `variation`: bounds of the mean total variation distance,
    which do hold, and `missing` the mean probability of the reference's that lies on tokens not told by both.
    `agreement`: the share of the same likeliest token among the `decided` positions, those at which the reference's margin exceeds twice `noise`;
    `close` positions were too close to tell. `noise`: how far a difference of two log-probabilities moves (99 %), measured on the source if it could be (`measured`), otherwise
    between the two sides. `perplexity`: reference's and observed's; `nll_difference`: the mean difference of negative log-likelihood with its
    interval (95 %, paired bootstrap over blocks of positions). `unlike`: positions with NaN on one side.
    """

    grade: Grade
    reason: str
    positions: int
    kl_mean: float
    kl_p99: float
    kl_largest: float
    kl_upper: float | None
    variation: tuple[float, float]
    missing: float
    agreement: float | None
    decided: int
    close: int
    noise: float
    measured: bool
    divergence: Divergence | None
    perplexity: tuple[float, float] | None
    nll_difference: float | None
    nll_interval: tuple[float, float] | None
    unlike: int
    partial: bool

    def as_json(self) -> dict[str, Any]:
        """Return a mapping of plain values; numbers that are not finite stay so (`as_json.report` makes them null)."""
        return asdict(self)


@dataclass
class _Positions:
    """Figures for each position, from whichever source."""

    kl: Array
    low: Array
    high: Array
    missing: Array
    margin: Array
    """The reference's likeliest token over its second."""
    moved: Array
    """By how much the observed changes that margin."""
    first: list[tuple[int | str, int | str]]
    agree: Array
    nll: tuple[Array, Array] | None
    unlike: int = 0


def compare_logits(
    reference: NDArray[Any],
    observed: NDArray[Any],
    tokens: NDArray[Any] | None = None,
    *,
    null: NDArray[Any] | None = None,
) -> Language:
    """Compare logits of shape (positions, vocabulary). `tokens`: the token that follows at each position; `null`: the reference's logits from another run.

    ValueError if the shapes differ or there is no position.
    """
    reference, observed = np.asarray(reference), np.asarray(observed)
    if reference.shape != observed.shape or reference.ndim != 2 or not reference.size:
        raise ValueError(f"logits are two tables of one shape, not {reference.shape} and {observed.shape}")
    found = _from_logits(reference, observed, tokens)
    noise = None if null is None else _from_logits(reference, np.asarray(null), None)
    return _graded(found, noise, partial=False)


def _logarithms(logits: Array) -> Array:
    x = np.asarray(logits, np.float64)
    x = x - x.max(axis=1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=1, keepdims=True))


def _from_logits(reference: Array, observed: Array, tokens: Array | None) -> _Positions:
    count, vocabulary = reference.shape
    step = max(1, CHUNK // vocabulary)
    parts: list[tuple[Array, ...]] = []
    unlike = 0
    for start in range(0, count, step):
        with np.errstate(all="ignore"):
            p, q = (_logarithms(x[start : start + step]) for x in (reference, observed))
            bad_p, bad_q = np.asarray(np.isnan(p).any(axis=1)), np.asarray(np.isnan(q).any(axis=1))
            unlike += int((bad_p != bad_q).sum())
            rows = np.arange(len(p))
            probability = np.exp(p)
            terms = np.where(probability > 0, probability * (p - q), 0.0)
            kl = np.maximum(0.0, terms.sum(axis=1))
            variation = np.abs(probability - np.exp(q)).sum(axis=1) / 2
            best = np.argmax(p, axis=1)
            top = p[rows, best]
            without = p.copy()
            without[rows, best] = -np.inf
            second = np.argmax(without, axis=1) if vocabulary > 1 else best
            margin = top - p[rows, second]
            moved = np.abs((q[rows, best] - q[rows, second]) - margin)
            theirs = np.argmax(q, axis=1)
            agree = q[rows, best] >= q[rows, theirs]
            bad = bad_p | bad_q
            kl[bad], variation[bad], agree[bad] = np.where(bad_p[bad] & bad_q[bad], 0.0, np.inf), 1.0, False
            margin[bad], moved[bad] = 0.0, 0.0
        chosen = (
            (-p[rows, tokens[start : start + step]], -q[rows, tokens[start : start + step]])
            if tokens is not None
            else (kl, kl)
        )
        parts.append((kl, variation, margin, moved, best, theirs, agree, *chosen))
    kl, variation, margin, moved, best, theirs, agree, mine, other = (np.concatenate(x) for x in zip(*parts))
    first = list(zip(best.tolist(), theirs.tolist()))
    nll = None if tokens is None else (mine, other)
    return _Positions(kl, variation, variation, np.zeros(count), margin, moved, first, agree, nll, unlike)


def compare_top(
    reference: Sequence[TopPosition], observed: Sequence[TopPosition], *, null: Sequence[TopPosition] | None = None
) -> Language:
    """Compare positions of which only the likeliest tokens are known. ValueError if their numbers differ or there is none."""
    if len(reference) != len(observed) or not reference:
        raise ValueError(f"{len(reference)} and {len(observed)} positions cannot be compared")
    found = _from_top(reference, observed)
    noise = None if null is None or len(null) != len(reference) else _from_top(reference, null)
    return _graded(found, noise, partial=True)


def _from_top(reference: Sequence[TopPosition], observed: Sequence[TopPosition]) -> _Positions:
    rows: list[tuple[float, ...]] = []
    first: list[tuple[int | str, int | str]] = []
    unlike = 0
    for r, o in zip(reference, observed):
        p, q = _probabilities(r), _probabilities(o)
        if not p or not q:
            unlike += bool(p) != bool(q)
            rows.append((math.inf if bool(p) != bool(q) else 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, float(not p and not q)))
            first.append((r.token, o.token))
            continue
        shared = p.keys() & q.keys()
        rest_p, rest_q = (max(0.0, 1 - sum(x[t] for t in shared)) for x in (p, q))
        kl = sum(p[t] * math.log(p[t] / q[t]) for t in shared if p[t] > 0 and q[t] > 0)
        if rest_p > 1e-12:  # what rounding of the sums leaves is nothing
            kl += rest_p * math.log(rest_p / max(rest_q, 1e-12))
        inner = sum(abs(p[t] - q[t]) for t in shared)
        low, high = (inner + abs(rest_p - rest_q)) / 2, min(1.0, (inner + rest_p + rest_q) / 2)
        best = max(p, key=lambda t: p[t])
        theirs = max(q, key=lambda t: q[t])
        others = [t for t in p if t != best]
        second = max(others, key=lambda t: p[t]) if others else None
        margin = math.log(p[best] / p[second]) if second is not None and p[second] > 0 else math.inf
        known = (
            second is not None and best in q and second in q and q[second] > 0 and q[best] > 0 and math.isfinite(margin)
        )
        moved = abs(math.log(q[best] / q[second]) - margin) if known and second is not None else math.nan
        rows.append((max(0.0, kl), low, high, rest_p, margin, moved, float(q.get(best, -1.0) >= q[theirs])))
        first.append((best, theirs))
    kl, low, high, missing, margin, moved, agree = (np.array(x) for x in zip(*rows))
    pairs = [
        (-r.chosen, -o.chosen) for r, o in zip(reference, observed) if r.chosen is not None and o.chosen is not None
    ]
    pairs = [pair for pair in pairs if all(map(math.isfinite, pair))]
    nll = (np.array([x for x, _ in pairs]), np.array([y for _, y in pairs])) if pairs else None
    return _Positions(kl, low, high, missing, margin, moved, first, agree.astype(bool), nll, unlike)


def _probabilities(position: TopPosition) -> dict[int | str, float]:
    told = dict(position.top)
    if position.chosen is not None:
        told.setdefault(position.token, position.chosen)
    return {t: math.exp(min(0.0, x)) for t, x in told.items() if not math.isnan(x)}


def _graded(found: _Positions, null: _Positions | None, *, partial: bool) -> Language:
    count = len(found.kl)
    source = null if null is not None else found
    moves = source.moved[np.isfinite(source.moved)]
    noise = float(np.quantile(moves, 0.99)) if moves.size else 0.0
    decided = found.margin > 2 * noise
    if (
        null is None
    ):  # what a few positions move by is no noise: judged by the median's, at eight deviations of a normal distribution
        noise = min(noise, 8 * 1.4826 * float(np.median(moves))) if moves.size else 0.0
        decided = found.margin > 2 * noise
    agreement = float(found.agree[decided].mean()) if decided.any() else None
    apart = np.flatnonzero(~found.agree)
    divergence = None
    if apart.size:
        at = int(apart[0])
        divergence = Divergence(at, float(found.margin[at]), *found.first[at])
    perplexity = difference = interval = None
    if found.nll is not None:
        mine, other = found.nll
        perplexity = _exp(float(mine.mean())), _exp(float(other.mean()))
        difference, interval = paired_bootstrap(other - mine)
    mean = float(found.kl.mean())
    grade, reason = _verdict(
        found, mean, agreement, int(decided.sum()), None if null is None else float(null.kl.mean()), interval
    )
    return Language(
        grade, reason, count, mean, float(np.quantile(found.kl, 0.99, method="higher")), float(found.kl.max()), None if partial else mean,
        (float(found.low.mean()), float(found.high.mean())), float(found.missing.mean()), agreement, int(decided.sum()), count - int(decided.sum()),
        noise, null is not None, divergence, perplexity, difference, interval, found.unlike, partial,
    )  # fmt: skip


def _exp(value: float) -> float:
    return math.exp(value) if value < 700 else math.inf


def _verdict(
    found: _Positions,
    mean: float,
    agreement: float | None,
    decided: int,
    null: float | None,
    interval: tuple[float, float] | None,
) -> tuple[Grade, str]:
    if found.unlike:
        return "fail", f"{found.unlike} positions have no numbers on one side"
    if agreement is not None and agreement < AGREEMENT:
        wrong = round((1 - agreement) * decided)
        # One in a thousand is let pass at any length: a decided position may be turned by what few positions see.
        if wrong > max(1, 0.001 * decided):
            return (
                "fail",
                f"another token is the likeliest at {wrong} of {decided} positions at which the reference was not in doubt",
            )
    limit = PASS_KL if null is None else max(LEAST_KL, NULL_FACTOR * null)
    worst = FAIL_KL if null is None else max(10 * LEAST_KL, 10 * NULL_FACTOR * null)
    words = "of what is taken as a prior" if null is None else "of what the source differs from itself"
    if mean > worst:
        return "fail", f"KL is {mean:.3g} nats a token, {mean / limit:.3g} times the limit, made {words}"
    if interval is not None and interval[0] > max(0.01, 10 * limit):
        return "fail", f"the text is less likely by {interval[0]:.3g} to {interval[1]:.3g} nats a token"
    if mean > limit:
        return "warn", f"KL is {mean:.3g} nats a token, {mean / limit:.3g} times the limit, made {words}"
    return "pass", f"KL is {mean:.3g} nats a token, within the limit, made {words}"


def paired_bootstrap(
    differences: NDArray[Any], *, seed: int = 0, level: float = 0.95
) -> tuple[float, tuple[float, float]]:
    """Return the mean of paired differences and its interval, by resampling blocks of n^(1/3) neighbours, which text makes alike."""
    values = np.asarray(differences, np.float64)
    count = len(values)
    size = max(1, round(count ** (1 / 3)))
    rng = np.random.default_rng(seed)
    whole = np.concatenate([values, values[: size - 1]])  # in a circle, so that every position is as likely
    sums = np.concatenate([[0.0], np.cumsum(whole)])
    blocks = sums[size:] - sums[:-size]
    each = max(1, -(-count // size))
    at_once = max(1, CHUNK // each)
    means = np.concatenate(
        [
            blocks[rng.integers(0, count, (min(at_once, RESAMPLES - start), each))].sum(axis=1)
            for start in range(0, RESAMPLES, at_once)
        ]
    ) / (each * size)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(values.mean()), (float(low), float(high))


def mcnemar(only_reference: int, only_observed: int) -> float:
    """Return the two-sided exact p-value that as many tasks were solved by one side alone by chance (McNemar 1947, binomial form)."""
    count, fewer = only_reference + only_observed, min(only_reference, only_observed)
    term, total = 1, 0
    for solved in range(fewer + 1):
        total += term
        term = term * (count - solved) // (solved + 1)
    whole = 1 << count
    return min(1.0, 2 * total / whole) if total < whole else 1.0


def first_difference(reference: Sequence[int | str], observed: Sequence[int | str]) -> int | None:
    """Return where two generated texts part, None if one begins the other and both are as long."""
    for position, (r, o) in enumerate(zip(reference, observed)):
        if r != o:
            return position
    return None if len(reference) == len(observed) else min(len(reference), len(observed))
