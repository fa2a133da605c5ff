"""Whether an overlay still fits its environment, package by package: more than `anywarp run` asks, which looks at digests only."""

from __future__ import annotations

from pathlib import Path

from anywarp.deploy.env.installed import Found, read
from anywarp.deploy.env.interpreter import Python
from anywarp.deploy.env.plan import Plan
from anywarp.runtime import overlay
from anywarp.runtime.overlay import Record


def check(record: Record, python: Python, found: Found, plan: Plan) -> list[str]:
    """Return a line for each thing that does not fit any more; nothing where all does.

    Looked at are the Python's version, every file of the overlay, the packages that it stands before, what lies half installed in the
    environment, and packages that came since and want a counterpart.
    """
    lines: list[str] = []
    if record.python != python.version:
        lines.append(f"it was made for Python {record.python}, and {python.command} is {python.version} now")
    lines += overlay.misfits(record)
    for one in record.laid:
        package = read(Path(record.overlay) / one.folder)
        if package is not None and (lost := package.missing()):
            lines.append(f"{one.name} {one.version} of its overlay is damaged: {lost} is missing or cut short")
    lines += [item.reason for item in plan.of("broken")]
    before = {one.name for one in record.replaced}
    lines += [
        f"{item.name} {item.version} came since, and {item.asks} would be laid before it"
        for item in plan.of("replace")
        if item.name not in before
    ]
    for one in record.replaced:
        now = found.packages.get(one.name)
        if now is not None and str(now.place) != one.place and now.version == one.version:
            lines.append(f"{one.name} {one.version} lies in {now.place.parent} now, before where it was")
    return list(dict.fromkeys(lines))
