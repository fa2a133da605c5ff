"""Holds one answer, or two servers' scores of the same text, against each other."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import accumulate

from anywarp.deploy.rollout.observations import Compared
from anywarp.deploy.shadow.openai import Answer, Place, WrongContent

_WORD = re.compile(r"\s*\S+|\s+")
LEAST = -60.0
"""Log-probabilities below this count as this: `-inf` is what engines say of what they have ruled out."""


@dataclass(frozen=True)
class Comparison:
    """What an observation says of a comparison; the fields are those of `Observation`."""

    comparison: Compared
    compared: int
    divergence: int | None = None
    margin: float | None = None
    kl: float | None = None
    agree: float | None = None


def compare_answers(caller: Answer, shadow: Answer) -> Comparison:
    """Compare two answers freely made, up to their first difference: what follows it says nothing.

    Places are counted in the tokens that the caller's server told of, else in the pieces of its stream, else in words.
    """
    pieces = list(caller.pieces) if len(caller.pieces) > 1 else _WORD.findall(caller.text)
    at = _parting(caller.text, shadow.text)
    if at is None:
        return Comparison("divergence", len(pieces))
    place = _place_of(at, pieces)
    margin = caller.margins[place] if place < len(caller.margins) else None
    return Comparison("divergence", place + 1, place, margin)


def compare_scores(
    caller: list[Place], shadow: list[Place], prompt_tokens: int | None, answer: Answer, replayed: Answer | None
) -> Comparison:
    """Compare how two servers score the same text behind the prompt, token by token; WrongContent where their tokens differ.

    `replayed` is what the shadow's server made by itself where nothing was left to chance. The first place where it parted counts as the
    divergence even if the scores agree there: scores are computed at once, answers token by token from a cache, and either may be wrong.
    """
    begin = _begin(caller, prompt_tokens, answer)
    mine, theirs = caller[begin:], shadow[begin:]
    if [p.token for p in caller] != [p.token for p in shadow]:
        raise WrongContent("wrong content: the servers split the same text into different tokens")
    if not mine:
        raise WrongContent("wrong content: no scores behind the prompt")
    kl = [_kl(a.top, b.top) for a, b in zip(mine, theirs)]
    same = [_first(a.top) == _first(b.top) for a, b in zip(mine, theirs)]
    place = same.index(False) if False in same else None
    parted = _parting(answer.text, replayed.text) if replayed is not None else None
    if parted is not None:
        place = min(_place_of(parted, [p.text for p in mine]), len(mine) - 1)
    margin = _margin(mine[place].top) if place is not None else None
    return Comparison("teacher-forced", len(mine), place, margin, sum(kl) / len(kl), sum(same) / len(same))


def compare_score_alone(
    shadow: list[Place], prompt_tokens: int | None, answer: Answer, replayed: Answer | None
) -> Comparison:
    """Compare a text that was made without chance with what another server finds likeliest at each place, where only that one scores."""
    begin = _begin(shadow, prompt_tokens, answer)
    places = shadow[begin:]
    if not places:
        raise WrongContent("wrong content: no scores behind the prompt")
    same = [p.top[p.token] >= max(p.top.values()) for p in places]
    place = same.index(False) if False in same else None
    parted = _parting(answer.text, replayed.text) if replayed is not None else None
    if parted is not None:
        place = min(_place_of(parted, [p.text for p in places]), len(places) - 1)
    margin = answer.margins[place] if place is not None and place < len(answer.margins) else None
    return Comparison("teacher-forced", len(places), place, margin, None, sum(same) / len(same))


def _begin(places: list[Place], prompt_tokens: int | None, answer: Answer) -> int:
    """Return where the answer begins among the places, of which the first is the text's second token."""
    if prompt_tokens is not None:
        return max(0, prompt_tokens - 1)
    left, n = answer.text, len(places)
    while left and n and places[n - 1].text and left.endswith(places[n - 1].text):
        n -= 1
        left = left[: len(left) - len(places[n].text)]
    return n


def _parting(a: str, b: str) -> int | None:
    """Return the first character in which two texts differ; None where they are the same."""
    if a == b:
        return None
    return next((n for n, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def _place_of(character: int, pieces: list[str]) -> int:
    """Return the piece that a character is in; behind the last where it is behind all."""
    return next((n for n, end in enumerate(accumulate(map(len, pieces))) if character < end), len(pieces))


def _first(top: dict[str, float]) -> str:
    return min(top, key=lambda token: (-top[token], token))


def _margin(top: dict[str, float]) -> float | None:
    best = sorted(top.values(), reverse=True)[:2]
    return best[0] - max(best[1], LEAST) if len(best) == 2 else None


def _kl(p: dict[str, float], q: dict[str, float]) -> float:
    """Return the divergence in nats over the tokens that both told of and all others taken together: never more than over all tokens."""
    both = [(math.exp(p[t]), max(p[t], LEAST), max(q[t], LEAST)) for t in p if t in q]
    rest_p = max(1 - sum(x for x, _, _ in both), 0.0)
    rest_q = max(1 - sum(math.exp(y) for _, _, y in both), math.exp(LEAST))
    other = rest_p * (math.log(rest_p) - math.log(rest_q)) if rest_p > 1e-9 else 0.0
    return max(0.0, sum(x * (a - b) for x, a, b in both) + other)
