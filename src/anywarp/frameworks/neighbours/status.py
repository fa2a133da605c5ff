"""What `anywarp doctor` says of neighbours."""

from __future__ import annotations

from collections.abc import Iterator

from anywarp.frameworks.neighbours.registry import SERVED
from anywarp.runtime.checkup import Fact


def statuses() -> Iterator[Fact]:
    """Yield what `anywarp doctor` says of each that is installed, or half installed."""
    for each in SERVED:
        found = each.detect()
        if found.state != "absent":
            status = "warning" if found.state == "broken" else "ok"
            yield Fact("software", each.name, status, f"{found.words}; {each.explain(found)}")
