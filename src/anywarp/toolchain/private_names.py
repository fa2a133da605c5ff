"""Names of what is private to a file, in PTX that is linked with other files'.

Where the host uses a static device variable, clang makes it visible under a longer name (`NAME__static__HASH`), but device code
that it has seen before still says the short one, which it then declares extern: nobody defines that.
"""

from __future__ import annotations

import re

_LONG = re.compile(r"\b([A-Za-z_$][\w$]*?)__(?:static|intern)__[0-9a-f]{1,16}\b")
_EXTERN = re.compile(r"^\.extern \.(?:global|const)[^;\n]*?([A-Za-z_$][\w$]*)(?:\[\d*\])?;\n", re.MULTILINE)


def settled(ptx: str) -> str:
    """Return the module with every use of a private variable under the name it is defined by."""
    long = {match[1]: match[0] for match in _LONG.finditer(ptx)}
    wrong = {match[1] for match in _EXTERN.finditer(ptx) if match[1] in long}
    if not wrong:
        return ptx
    ptx = _EXTERN.sub(lambda match: "" if match[1] in wrong else match[0], ptx)
    names = re.compile(rf"(?<![\w$])({'|'.join(map(re.escape, sorted(wrong)))})(?![\w$])")
    return names.sub(lambda match: long[match[1]], ptx)
