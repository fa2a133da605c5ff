"""A text to train on, made here: sentences out of a small grammar, with the same seed each time.

The programs' own data sets are downloads; their preparation scripts take any text that lies in its place.
"""

from __future__ import annotations

import random

NAMES = "KING QUEEN FOOL CAPTAIN NURSE HERALD".split()
SUBJECTS = "my lord|the night|a sword|our ship|thy brother|the crown|this letter|no man".split("|")
VERBS = "hath seen|shall follow|loves|must not keep|will bury|knows|forgets|did carry".split("|")
OBJECTS = "the sea|a heavy heart|thy name|the morning light|that old oath|an empty cup".split("|")
ENDS = [".", "!", "?", "; and yet,", ", I say."]


def text(characters: int) -> str:
    """Return at least `characters` characters of speeches."""
    draw = random.Random(20)
    parts: list[str] = []
    size = 0
    while size < characters:
        lines = [
            f"{draw.choice(SUBJECTS)} {draw.choice(VERBS)} {draw.choice(OBJECTS)}{draw.choice(ENDS)}" for _ in range(3)
        ]
        parts.append(draw.choice(NAMES) + ":\n" + "\n".join(line.capitalize() for line in lines) + "\n\n")
        size += len(parts[-1])
    return "".join(parts)
