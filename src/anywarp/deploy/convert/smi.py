"""nvidia-smi: the command of amd-smi that answers the same question, where a person reads the answer.

What a program reads stays: other columns would be read as what they are not, and `anywarp smi` has the old ones.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from anywarp.catalogue.migration import Row, by, rows
from anywarp.deploy.convert.model import Change, Finding, Refusal
from anywarp.deploy.convert.shell_words import Command, line_of

PARSED = "Y037"


def converted(command: Command, place: int, parsed: bool) -> Iterator[Finding]:
    """Yield what becomes of a command in which the word at `place` is nvidia-smi; `parsed`: a program reads what it prints."""
    start = command.spans[place][0]
    words = tuple(itertools.takewhile(lambda word: not re.match(r"[\d&]*>|<", word), command.words[place + 1 :]))
    end = command.spans[place + len(words)][1]
    same = "`anywarp smi` answers these very options with the same columns"
    target, reason, source = smi(words)
    if not target:
        if reason and source and reason.startswith("drop: "):
            yield Change(*line_of(command), b"", reason[6:], source)
        else:
            yield Refusal(
                start,
                end,
                reason or "options of nvidia-smi that amd-smi has no match for",
                f"use another command; {same}",
                source,
                PARSED,
            )
    elif parsed or any(word.startswith("--format") for word in words):
        text = "a program reads this output, and amd-smi prints other columns"
        yield Refusal(start, end, text, f"{same}; or read `{target}` (--csv or --json)", source, PARSED)
    else:
        yield Change(start, end, target.encode(), f"{reason}; it prints other columns", source)


def smi(words: tuple[str, ...]) -> tuple[str, str, str]:
    """Return the command of amd-smi for options of nvidia-smi, the reason, and its source; an empty command where there is none."""
    table = {row["name"]: row for row in rows("smi") if row["kind"] == "command"}
    rest, extra = _common(list(words))
    query = next((word.partition("=")[2] for word in rest if word.startswith("--query-gpu=")), "")
    if query:
        return _query(query.split(","), extra)
    if any(word.startswith(("--query-compute-apps", "--query-apps")) for word in rest):
        row = by("smi", "name")["--query-compute-apps"]
        return row["target"] + extra, row["reason"], row["source"]
    row = table.get(" ".join(rest)) or (
        table.get(rest[0]) if rest and table.get(rest[0], {}).get("conversion") != "replace" else None
    )
    if row is None:
        return "", "", ""
    if row["conversion"] != "replace":
        return "", ("drop: " if row["conversion"] == "drop" else "") + row["reason"], row["source"]
    return row["target"] + extra, row["reason"], row["source"]


def _common(words: list[str]) -> tuple[list[str], str]:
    """Take the options that both tools have (-i, -l) out of the words, and return them as amd-smi writes them."""
    rest: list[str] = []
    extra = ""
    while words:
        word = words.pop(0)
        row = next(
            (row for row in rows("smi") if row["kind"] == "option" and row["name"] == word.partition("=")[0]), None
        )
        if word.startswith("--format"):
            continue
        if row is not None and row["columns"] == "same":
            value = word.partition("=")[2] or (words.pop(0) if words else "")
            extra += f" {row['target']} {value}"
        else:
            rest.append(word)
    return rest, extra


def _query(fields: list[str], extra: str) -> tuple[str, str, str]:
    found: list[Row] = []
    for name in fields:
        row = next((row for row in rows("smi") if row["kind"] == "query" and _fits(row["name"], name.strip())), None)
        if row is None or row["conversion"] != "replace":
            return (
                "",
                row["reason"] if row else f"amd-smi has no field for {name.strip()}",
                row["source"] if row else "",
            )
        found.append(row)
    verbs: dict[str, list[str]] = {}
    for row in found:
        verb, _, flags = row["target"].partition(" --")
        verbs.setdefault(verb, [])
        if flags and f"--{flags}" not in verbs[verb]:
            verbs[verb].append(f"--{flags}")
    text = " && ".join(" ".join((verb, *flags)) + extra for verb, flags in verbs.items())
    return text, "; ".join(dict.fromkeys(row["reason"] for row in found)), found[0]["source"]


def _fits(pattern: str, name: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else pattern == name
