"""OpenAI's interface of completions and chats, as far as answers are compared: what was asked, what was answered, and how to ask for scores.

Forms: https://platform.openai.com/docs/api-reference (completions, chat, streaming); `prompt_logprobs`, `continue_final_message` and `token_ids`
are vLLM's (https://docs.vllm.ai, OpenAI-compatible server), `echo` is that of the older completions.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, cast

Json = dict[str, Any]
PATHS = ("/v1/completions", "/v1/chat/completions")
TOP = 5
"""How many of the likeliest tokens are asked for at each place."""
_USAGE = {name: re.compile(rb'"%b"\s*:\s*(\d{1,9})' % name.encode()) for name in ("prompt_tokens", "completion_tokens")}
_OURS = ("stream", "stream_options", "stop", "max_completion_tokens", "max_tokens", "min_tokens", "logprobs", "top_logprobs", "response_format", "n", "seed", "temperature", "top_p", "echo")  # fmt: skip
"""What a request for scores says itself, or leaves out."""


class NotComparable(Exception):
    """A request whose answers say nothing about the servers, or that must not be sent twice; the words name why, for counting."""


class WrongContent(Exception):
    """A server's answer is not what the interface promises."""


@dataclass(frozen=True)
class Answer:
    """What a server answered: the text, the pieces it came in (tokens where known) and how sure it was of each."""

    text: str
    pieces: tuple[str, ...] = field(repr=False, default=())
    margins: tuple[float | None, ...] = field(repr=False, default=())
    token_ids: tuple[int, ...] | None = field(repr=False, default=None)
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


def read_request(path: str, body: bytes, model: str = "") -> Json:
    """Return the JSON of a request that may be replayed and compared; NotComparable else."""
    given = read_json(body, NotComparable("no JSON"))
    if model and given.get("model") != model:
        raise NotComparable("another model")
    if given.get("n", 1) not in (1, None) or given.get("best_of", 1) not in (1, None):
        raise NotComparable("several answers")
    if (given.get("tools") and given.get("tool_choice") != "none") or given.get("functions"):
        raise NotComparable("tools")
    if given.get("store"):
        raise NotComparable("stored by the server")
    if given.get("temperature") != 0 and given.get("seed") is None:
        raise NotComparable("chance without a seed")
    if given.get("use_beam_search"):
        raise NotComparable("beam search")
    prompt: Any = given.get("prompt")
    if path == PATHS[0] and not isinstance(prompt, str) and not _is_ids(prompt):
        raise NotComparable("several prompts")
    if path == PATHS[1] and not isinstance(given.get("messages"), list):
        raise NotComparable("no messages")
    return given


def read_json(body: bytes, otherwise: Exception) -> Json:
    """Return the object that a body holds, or raise `otherwise`."""
    try:
        given: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise otherwise from None
    if not isinstance(given, dict):
        raise otherwise
    return cast(Json, given)


def replay_of(given: Json) -> Json:
    """Return the request to replay: the same, but that a stream tells how many tokens there were."""
    if not given.get("stream"):
        return given
    options: Any = given.get("stream_options")
    known: Json = cast(Json, options) if isinstance(options, dict) else {}
    return {**given, "stream_options": {**known, "include_usage": True}}


def read_answer(content_type: str, body: bytes) -> Answer:
    """Return an answer, streamed or whole; WrongContent where it is none of this interface, or not whole."""
    try:
        if content_type.startswith("text/event-stream"):
            return _join(_events(body))
        return _join([read_json(body, WrongContent("wrong content: no JSON"))])
    except (TypeError, AttributeError, KeyError, IndexError, OverflowError):
        raise WrongContent("wrong content: not in the form of the interface") from None


def usage_at_the_end(tail: bytes) -> tuple[int | None, int | None]:
    """Return tokens of prompt and answer as the end of an answer tells them; None where it does not."""
    found = [list(pattern.finditer(tail)) for pattern in _USAGE.values()]
    prompt, answer = (int(matches[-1][1]) if matches else None for matches in found)
    return prompt, answer


def _events(body: bytes) -> list[Json]:
    events: list[Json] = []
    for line in body.replace(b"\r\n", b"\n").split(b"\n"):
        data = line[5:].strip() if line.startswith(b"data:") else b""
        if data == b"[DONE]":
            return events
        if data:
            events.append(read_json(data, WrongContent("wrong content: an event that is no JSON")))
    raise WrongContent("wrong content: a stream without its end")


def _join(parts: list[Json]) -> Answer:
    pieces: list[str] = []
    margins: list[float | None] = []
    tokens: list[str] = []
    ids: list[int] = []
    usage: Json = {}
    finished = False
    for part in parts:
        if part.get("error") is not None:
            raise WrongContent("wrong content: an error in an answer that began well")
        usage = part.get("usage") or usage
        choices: list[Any] = part.get("choices") or []
        for choice in choices[:1]:
            text, calls = _text(choice)
            if calls:
                raise NotComparable("tools")
            if text:
                pieces.append(text)
            seen, how_sure = _logprobs(choice.get("logprobs"))
            tokens += seen
            margins += how_sure
            new: list[int] = choice.get("token_ids") or []
            ids += new
            finished = finished or choice.get("finish_reason") is not None
    if not finished:
        raise WrongContent("wrong content: no reason why the answer ended")
    text = "".join(pieces)
    known = "".join(tokens) == text
    return Answer(
        text, tuple(tokens if known else pieces), tuple(margins) if known else (), tuple(ids) or None,
        _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")),
    )  # fmt: skip


def _text(choice: Json) -> tuple[str, Any]:
    said: Json = choice.get("message") or choice.get("delta") or {}
    text = choice.get("text") if "text" in choice else said.get("content")
    if text is not None and not isinstance(text, str):
        raise WrongContent("wrong content: text that is none")
    return text or "", said.get("tool_calls")


def _logprobs(given: Any) -> tuple[list[str], list[float | None]]:
    if not isinstance(given, dict):
        return [], []
    told = cast(Json, given)
    if isinstance(told.get("content"), list):
        content: list[Any] = told["content"]
        places = [(str(p["token"]), _tops(p.get("top_logprobs") or [])) for p in content]
    else:
        names: list[Any] = told.get("tokens") or []
        none: list[Any] = [None] * len(names)
        tops: list[Any] = told.get("top_logprobs") or none
        places = [(str(token), cast(Json, top or {})) for token, top in zip(names, tops)]
    return [token for token, _ in places], [_margin(top.values()) for _, top in places]


def _tops(given: list[Any]) -> Json:
    return {str(one["token"]): one["logprob"] for one in given}


def _margin(logprobs: Any) -> float | None:
    best = sorted((float(x) for x in logprobs), reverse=True)[:2]
    return best[0] - best[1] if len(best) == 2 and math.isfinite(best[1]) else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and 0 <= value < 1 << 31 else None


def _is_ids(prompt: Any) -> bool:
    if not isinstance(prompt, list):
        return False
    ids = cast("list[Any]", prompt)
    return bool(ids) and all(isinstance(i, int) for i in ids)


def scoring_request(path: str, given: Json, answer: Answer, form: str) -> Json | None:
    """Return the request by which a server scores an answer along its own prompt, in the form `vllm` or `echo`; None where there is none."""
    asked = {name: value for name, value in given.items() if name not in _OURS}
    wanted: Json = {"max_tokens": 1, "temperature": 0}
    wanted |= {"prompt_logprobs": TOP} if form == "vllm" else {"echo": True, "logprobs": TOP}
    if path == PATHS[1]:
        if form != "vllm" or not answer.text:
            return None
        turn = {"role": "assistant", "content": answer.text}
        return {**asked, **wanted, "messages": [*given["messages"], turn], "continue_final_message": True, "add_generation_prompt": False}  # fmt: skip
    prompt: Any = given["prompt"]
    if isinstance(prompt, str):
        return {**asked, **wanted, "prompt": prompt + answer.text} if answer.text else None
    if answer.token_ids is None:
        return None
    return {**asked, **wanted, "prompt": [*prompt, *answer.token_ids]}


@dataclass(frozen=True)
class Place:
    """One token of a scored text: which it is, how it reads, and the log-probabilities of the likeliest there."""

    token: str
    text: str
    top: dict[str, float] = field(repr=False)


def read_scores(body: bytes, form: str) -> list[Place] | None:
    """Return the scored places behind the first token; None where the server does not score in this form."""
    given = read_json(body, WrongContent("wrong content: no JSON"))
    try:
        choice: Json = given["choices"][0]
        if form == "vllm":
            told: Any = choice.get("prompt_logprobs") or given.get("prompt_logprobs")
            return [_place(entry) for entry in told[1:]] if told else None
        marks: Any = choice.get("logprobs")
        if not marks or not marks.get("top_logprobs"):
            return None
        tokens = marks["tokens"][:-1] if len(marks["tokens"]) > 1 else marks["tokens"]  # the last one is new
        rows = list(zip(tokens, marks["token_logprobs"], marks["top_logprobs"]))[1:]
        return [Place(str(t), str(t), _numbers({**(top or {}), t: own})) for t, own, top in rows]
    except (TypeError, AttributeError, KeyError, IndexError, ValueError):
        raise WrongContent("wrong content: scores in another form") from None


def _place(entry: Json) -> Place:
    token = next(iter(entry))  # vLLM puts the text's own token first
    return Place(token, str(entry[token].get("decoded_token") or ""), _numbers({t: one["logprob"] for t, one in entry.items()}))  # fmt: skip


def _numbers(top: Json) -> dict[str, float]:
    numbers = {token: float(value) for token, value in top.items()}
    if not all(value <= 1e-3 and not math.isnan(value) for value in numbers.values()):
        raise WrongContent("wrong content: a log-probability that is none")
    return numbers
