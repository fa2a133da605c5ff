"""OpenAI-style endpoints of language models: tokens and the log-probabilities of the likeliest ones, at temperature 0.

Completions are asked for (`POST /v1/completions`), with `logprobs`: the number of likeliest tokens; `echo` gives those of the prompt, too, where the server does it.
"""

from __future__ import annotations

import json
import math
import os
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from anywarp import __version__
from anywarp.check.bundle import Writer
from anywarp.check.bundle.documents import dump, parse
from anywarp.check.bundle.problems import shown
from anywarp.check.record import keys
from anywarp.check.record.keys import Key
from anywarp.diagnostics import AnywarpError, Diagnostic

TOP = 5
_REPLY = 64 << 20
_PROMPTS = 64 << 20
_PATIENCE = 600.0
FILE = "completions.jsonl"


@dataclass(frozen=True)
class Endpoint:
    """A server, by its URL up to /v1, the model it is asked for, and the key that it wants."""

    url: str
    model: str
    key: Key | None = None


@dataclass(frozen=True)
class Completion:
    """What an endpoint wrote: texts of tokens, the likeliest ones at each with their log-probabilities, and those of the tokens themselves.

    With `echo` the first tokens are the prompt's.
    """

    prompt: str
    tokens: tuple[str, ...]
    top: tuple[dict[str, float], ...]
    chosen: tuple[float | None, ...]


def _no(
    endpoint: str, why: str, help: str = "check the URL, the model's name and that the server gives log-probabilities"
) -> AnywarpError:
    return AnywarpError(Diagnostic("V009", f"the endpoint {shown(endpoint)} cannot be used: {shown(why)}", help=help))


def complete(endpoint: Endpoint, prompt: str, tokens: int, *, echo: bool = False) -> Completion:
    """Ask an endpoint to go on with a prompt at temperature 0; AnywarpError (V009)."""
    if urlsplit(endpoint.url).scheme not in ("http", "https"):
        raise _no(endpoint.url, "it is no URL of http or https")
    url = endpoint.url.rstrip("/")
    url = f"{url}/completions" if url.endswith("/v1") else f"{url}/v1/completions"
    asked = {
        "model": endpoint.model,
        "prompt": prompt,
        "max_tokens": tokens,
        "temperature": 0,
        "logprobs": TOP,
        "seed": 0,
    }
    body = json.dumps({**asked, **({"echo": True} if echo else {})}).encode()
    key = endpoint.key
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", **keys.headers(key)})
    try:
        with keys.opener(url, key).open(request, timeout=_PATIENCE) as reply:
            content = reply.read(_REPLY + 1)
    except urllib.error.HTTPError as error:
        raise _refused(endpoint, error.code, keys.told(error.reason, key)) from None
    except (OSError, ValueError) as error:
        raise _no(endpoint.url, keys.told(getattr(error, "reason", error), key)) from None
    if len(content) > _REPLY:
        raise _no(endpoint.url, "its answer does not end")
    return _completion(endpoint.url, prompt, content)


def _refused(endpoint: Endpoint, code: int, reason: str) -> AnywarpError:
    text = f"it answers {code} {reason}"
    if code in (401, 403):
        help = (
            "is it the right key?"
            if endpoint.key
            else "it wants a key: give --key-from and the name of the variable that holds it"
        )
        return _no(endpoint.url, text, help)
    if endpoint.key is not None and 300 <= code < 400:
        return _no(
            endpoint.url,
            text,
            "a key is sent to the endpoint that is named, and nowhere else: name the one it points to",
        )
    return _no(endpoint.url, text)


def _completion(url: str, prompt: str, content: bytes) -> Completion:
    try:
        choice = cast("dict[str, Any]", parse(content, "the answer")["choices"][0])
        found = cast("dict[str, Any]", choice["logprobs"])
        tokens = [str(each) for each in found["tokens"]]
        likeliest = cast("list[dict[str, Any] | None]", found["top_logprobs"])
        top = [{str(t): float(p) for t, p in (each or {}).items()} for each in likeliest]
        chosen = [None if each is None else float(each) for each in found["token_logprobs"]]
    except AnywarpError as error:
        raise _no(url, error.diagnostic.message) from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise _no(url, "its answer has no log-probabilities of completions") from None
    finite = all(math.isfinite(p) for each in top for p in each.values())
    if not len(tokens) == len(top) == len(chosen) or not finite:
        raise _no(url, "its log-probabilities are not of its tokens, or are no numbers")
    return Completion(prompt, tuple(tokens), tuple(top), tuple(chosen))


def prompts_in(path: Path) -> list[str]:
    """Return the prompts of a file of JSON lines, each an object with `prompt`; AnywarpError (V014)."""

    def no(why: str) -> AnywarpError:
        help = 'write one JSON object a line: {"prompt": "Once upon a time"}'
        return AnywarpError(Diagnostic("V014", f"there are no prompts in {shown(path)}: {shown(why)}", help=help))

    try:
        with path.open("rb") as file:
            content = file.read(_PROMPTS + 1)
    except OSError as error:
        raise no(error.strerror or str(error)) from None
    if len(content) > _PROMPTS:
        raise no("it is too large")
    found = list[str]()
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        try:
            prompt = parse(line, f"line {number}").get("prompt")
        except AnywarpError as error:
            raise no(error.diagnostic.message) from None
        if not isinstance(prompt, str):
            raise no(f"line {number} has none")
        found.append(prompt)
    if not found:
        raise no("it is empty")
    return found


def record(endpoint: Endpoint, prompts: Path, tokens: int, folder: Path, budget: int) -> None:
    """Record what an endpoint writes after each prompt of a file."""
    texts = prompts_in(prompts)
    address = urlsplit(endpoint.url)
    place = f"{address.scheme}://{address.hostname or ''}"  # without user, password and query
    about = {
        "command": ["--endpoint", place],
        "mode": "endpoint",
        "endpoint": {"model": endpoint.model, "tokens": tokens},
    }
    facts = {"versions": {"anywarp": __version__}, "flags": {}, "device": {"type": "endpoint", "name": endpoint.model}}
    writer = Writer(folder, budget, {**about, **facts})
    file = os.open(folder / FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(file, "wb", buffering=0) as out:
        for prompt in texts:
            found = complete(endpoint, prompt, tokens)
            out.write(
                dump({"prompt": found.prompt, "tokens": found.tokens, "top": found.top, "chosen": found.chosen}) + b"\n"
            )
    writer.close(True, completions=len(texts))
