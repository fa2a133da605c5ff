"""Options under which clang takes more of what nvcc takes, for files that it has refused without them.

- nvcc's front end looks at the body of a template when it is used: names that are declared nowhere, or later, do not matter before.
- NVIDIA's `cooperative_groups.h` includes `cuda/atomic`, which takes a second where CCCL's is found; ours does not.
"""

from __future__ import annotations

import re

LATE = "-fdelayed-template-parsing"
"""The body of a template is looked at when it is used. What clang says without it is what a user is to read."""

_WAYS = (
    (
        re.compile(r"error: (?:no (?:member|type|template) named '\w+' in namespace 'cuda'|use of undeclared identifier 'cuda')"),
        ("-include", "cuda/atomic"),
    ),
    (
        re.compile(r"error: (?:use of undeclared identifier|unknown type name|no (?:matching|member|template|type)\b)"),
        (LATE, "-Wno-delayed-template-parsing-in-cxx20"),
    ),
)  # fmt: skip


def more(said: str, used: tuple[str, ...]) -> tuple[str, ...]:
    """Return options that may help where clang said this under options of this kind; empty where none will."""
    return next((options for words, options in _WAYS if options[-1] not in used and words.search(said)), ())
