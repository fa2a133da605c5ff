"""nvidia-smi: the command of amd-smi that answers the same question, where a person reads the answer.

What a program reads stays: other columns would be read as what they are not, and `anywarp smi` has the old ones.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from anywarp.catalogue.smi import smi
from anywarp.deploy.convert.model import Change, Finding, Refusal
from anywarp.migrate.formats.shell_words import Command, line_of

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
