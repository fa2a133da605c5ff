"""Tells by the number of its arguments which form of a function a call has, where CUDA has several or the counterpart another."""

from __future__ import annotations

import re
from typing import Literal

from anywarp.catalogue.identifiers import Identifier
from anywarp.catalogue.signatures import types_of


def form_of(row: Identifier, count: int) -> Literal["same", "other"] | int:
    """Say which form a call with `count` arguments has: the counterpart's, another, or the counterpart's with one more at an index.

    A form of CUDA whose types are the counterpart's but one is told by that one's place, when only it has that many.
    """
    theirs = types_of(row.target_parameters)
    forms = {types_of(each) for each in row.parameters.values()}
    of_count = [each for each in forms if len(each) == count]
    if count == len(theirs) and len(of_count) <= 1:
        differs = not of_count or len({len(each) for each in forms}) == 1
        return "other" if differs and of_count else "same"
    if len(of_count) != 1 or count != len(theirs) + 1:
        return "other"
    names = [re.findall(r"\w+", each)[-1] for each in _parts(row, count)]
    extra = [
        index
        for index, name in enumerate(names)
        if name in ("edgeData", "dependencyData", "ctxCreateParams", "blockSizeToDynamicSMemSize")
    ]
    return extra[0] if len(extra) == 1 else "other"


def _parts(row: Identifier, count: int) -> list[str]:
    for each in row.parameters.values():
        parts = each.split(",")
        if len(parts) == count:
            return parts
    return []
