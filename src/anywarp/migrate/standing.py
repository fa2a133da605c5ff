"""What stands in production and what stands beside it: tests, samples, documentation, others' code, releases of the past.

Told by the names of folders, as people use them; the work for what stands aside is counted apart, for it can wait.
"""

from __future__ import annotations

import re

ASIDE: dict[str, str] = {
    **dict.fromkeys(("test", "tests", "testing", "testdata", "test_data", "e2e", "ci-tests", "unittest", "unittests", "conformance"), "tests"),
    **dict.fromkeys(("example", "examples", "sample", "samples", "demo", "demos", "tutorial", "tutorials", "docs", "doc", "website", "notebooks"), "samples"),
    **dict.fromkeys(("third_party", "third-party", "thirdparty", "vendor", "external", "extern", "submodules"), "others' code"),
    **dict.fromkeys(("archive", "archived", "old", "legacy", "deprecated", "attic", "obsolete", "retired"), "old releases"),
}  # fmt: skip
"""Names of folders, and what stands in them."""

_RELEASES = re.compile(r"(?:^|/)(?:releases?|versions?|install)/v?\d+\.\d+[\w.-]*/")
_TEST = re.compile(r"(?:^|[._-])(?:tests?|spec)(?:[._-]|$)")


def standing(path: str) -> str:
    """Return what a file is by its path: "" for production, else one of the words of `ASIDE`."""
    *folders, name = path.replace("!/", "/").lower().split("/")
    for folder in folders:
        if folder in ASIDE:
            return ASIDE[folder]
    if _RELEASES.search(path.lower()):
        return "old releases"
    return "tests" if _TEST.search(name.rpartition(".")[0]) else ""
