"""An answer: what becomes of one name or value wherever it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Answer:
    """What becomes of one name or value (an image, a variable) wherever it stands; the caller turns it into a finding at its place.

    action `replace`: `text` takes the value's place, and `name` (where not empty) the name's; `remove`: the whole entry goes;
    `keep`: right as it is; `refuse`: a person must see to it, as `help` says (`instead`: what may take its place). A value of several
    words is one text. `code` is that of convert's diagnostic.
    """

    action: Literal["replace", "remove", "keep", "refuse"]
    reason: str
    text: str = ""
    name: str = ""
    help: str = ""
    source: str = ""
    code: str = "Y010"
    instead: str = ""
