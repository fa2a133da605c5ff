"""An endpoint held against what was recorded of another: on the recorded text where the server tells of its prompts, else up to where they part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from anywarp.check.bundle import Bundle, limits
from anywarp.check.bundle.documents import parse
from anywarp.check.bundle.problems import damaged, shown
from anywarp.check.numbers.judging import judge
from anywarp.check.numbers.language import TopPosition, compare_top
from anywarp.check.numbers.results import Report
from anywarp.check.record.endpoints import FILE, Completion, Endpoint, complete
from anywarp.check.record.keys import Key
from anywarp.diagnostics import AnywarpError, Diagnostic


def verify(
    reference: Bundle, url: str, model: str | None, step: Callable[[int, int], None], key: Key | None = None
) -> Report:
    """Ask an endpoint for what was recorded and compare; AnywarpError: V002, V009, V015."""
    recorded = completions(reference)
    named = str(reference.mapping("endpoint").get("model", ""))
    endpoint = Endpoint(url, model or named, key)
    one, other = list[TopPosition](), list[TopPosition]()
    forced, parted = 0, 0
    for number, theirs in enumerate(recorded):
        step(number, len(recorded))
        ours = _forced(endpoint, theirs)
        if ours is not None:
            forced += 1
        else:
            ours = complete(endpoint, theirs.prompt, max(len(theirs.tokens), 1))
            same = next((i for i, (a, b) in enumerate(zip(theirs.tokens, ours.tokens)) if a != b), None)
            if same is not None:  # what follows was written after another text
                parted += 1
                theirs, ours = _cut(theirs, same + 1), _cut(ours, same + 1)
        count = min(len(theirs.tokens), len(ours.tokens))
        one += _positions(_cut(theirs, count), theirs.tokens)
        other += _positions(_cut(ours, count), theirs.tokens)
    if not one:
        raise AnywarpError(Diagnostic("V015", "the recording has no tokens to compare", help="record with --tokens 64"))
    notes = [*reference.notes, f"{forced} of {len(recorded)} texts were compared on the recorded tokens"]
    if parted:
        notes.append(f"{parted} texts differ from some token on: they are compared up to there")
    about = {
        "model, recorded": shown(named),
        "model, here": shown(endpoint.model),
        "endpoint": shown(url.partition("?")[0]),
    }
    return judge([], language=compare_top(one, other).as_json(), about=about, notes=notes)


def completions(bundle: Bundle) -> list[Completion]:
    """Return what a recording of an endpoint holds; AnywarpError: V002, V015 where it is one of a program."""
    content = bundle.file(FILE, limits.ENTRIES_BYTES)
    if content is None:
        help = "verify it with the command that was recorded: anywarp verify BUNDLE -- COMMAND"
        raise AnywarpError(Diagnostic("V015", "the recording is of a program, not of an endpoint", help=help))
    found = list[Completion]()
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        where = f"{FILE}, line {number}"
        try:
            found.append(_read(parse(line, where)))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise damaged(where, "it is no completion") from None
    return found


def _read(line: dict[str, Any]) -> Completion:
    tokens = tuple(str(each) for each in line["tokens"])
    top = tuple({str(t): float(p) for t, p in each.items()} for each in line["top"])
    chosen = tuple(None if each is None else float(each) for each in line["chosen"])
    if not len(tokens) == len(top) == len(chosen):
        raise ValueError
    return Completion(str(line["prompt"]), tokens, top, chosen)


def _forced(endpoint: Endpoint, theirs: Completion) -> Completion | None:
    """Return what the endpoint expects at each recorded token, None where the server does not tell of prompts, or reads the text as other tokens."""
    text = theirs.prompt + "".join(theirs.tokens)
    try:
        found = complete(endpoint, text, 1, echo=True)
    except AnywarpError:
        return None
    count = len(theirs.tokens)
    begin = len(found.tokens) - 1 - count
    if begin < 0 or found.tokens[begin:-1] != theirs.tokens or not all(found.top[begin:-1]):
        return None
    return Completion(theirs.prompt, theirs.tokens, found.top[begin:-1], found.chosen[begin:-1])


def _cut(each: Completion, count: int) -> Completion:
    return Completion(each.prompt, each.tokens[:count], each.top[:count], each.chosen[:count])


def _positions(each: Completion, tokens: tuple[str, ...]) -> list[TopPosition]:
    """Return positions, of which the reference's token is the one that follows; its own log-probability where it is known."""
    return [
        TopPosition(cast("dict[int | str, float]", top), token, top.get(token, chosen if own == token else None))
        for top, chosen, own, token in zip(each.top, each.chosen, each.tokens, tokens)
        if top
    ]
