"""Results as users name them: by an id, or by a JSON file that holds some."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from anywarp.check.store.database import opened
from anywarp.check.store.problems import UNKNOWN, problem
from anywarp.check.store.run import LONGEST, Run, from_json


def read(text: str) -> list[Run]:
    """Return the result of an id, or all that a JSON file holds; AnywarpError (V032)."""
    path = Path(text)
    if not path.is_file():
        with opened() as store:
            return [store.get(text)]
    if path.stat().st_size > LONGEST * 4:
        raise problem(UNKNOWN, f"{text} is too large for results")
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise problem(UNKNOWN, f"{text} cannot be read as results: {error}") from None
    several = cast("list[Any]", content if isinstance(content, list) else [content])
    return [from_json(each, text) for each in several]
