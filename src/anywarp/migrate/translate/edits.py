"""What a rule of the translator yields: edits of the source's bytes, problems to tell of, and needs for headers.

How edits meet: rules run in the order of `registry.py`; an edit that overlaps one of an earlier rule is dropped
with everything else of its group, so keep edits small (a token, an insertion at a place). An edit that must move text
names the pieces it keeps (`Kept`): the edits of other rules inside such a piece are still applied, there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
"""error: needs a person; warning: should be looked at, and counts as a finding; note: for information only."""


@dataclass(frozen=True)
class Kept:
    """A piece `[start, end)` of the source inside a replacement, copied with the edits of other rules in it."""

    start: int
    end: int


@dataclass(frozen=True)
class Edit:
    """Replace the bytes `[start, end)` of the source; an insertion has start == end.

    `rule` is the name of the rule, `reason` one sentence for the report. Edits of one rule with the same `group`
    (any number but 0) are applied together or not at all.
    """

    start: int
    end: int
    replacement: bytes | tuple[bytes | Kept, ...]
    rule: str
    reason: str
    group: int = 0


@dataclass(frozen=True)
class Problem:
    """What a person should know of the bytes `[start, end)`: a diagnostic's code, message, severity and help."""

    start: int
    end: int
    code: str
    message: str
    help: str = ""
    severity: Severity = "error"


@dataclass(frozen=True)
class Need:
    """The translated text needs this header, included once.

    `header` is written as in the include: b"<hip/hip_bf16.h>", or b'"anywarp_hip.h"' for a file of
    `migrate/translate/support/`, which is written at the root of the output, and included by its relative path.
    """

    header: bytes
    reason: str


Outcome = Edit | Problem | Need
