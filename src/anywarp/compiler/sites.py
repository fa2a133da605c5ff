"""What checked code watches, place by place: the table that gives the runtime's reports their words and lines.

Code passes a number for each place, so that one line in the artifact holds what is always the same about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from anywarp.diagnostics import Source, Span
from anywarp.ptx.lines import LineTable

STRONG, ALIGNED, COUNTED, ARRIVES, BULK = 1, 2, 4, 8, 16
"""Flags: an access that takes part in synchronisation (volatile, relaxed, acquire ...); a barrier that whole warps must run
together; one that counts threads; one that does not wait; an access
whose size comes with each lane."""


@dataclass(frozen=True, slots=True)
class Site:
    """One place that is watched.

    `kind` is load, store, atomic, barrier, warp (bar.warp.sync), members (another `.sync` instruction) or exit. For accesses:
    `space`, the `size` in bytes of what a lane accesses in `count` elements, and the variable that the address surely belongs to as (start, size)
    within its space (size -1: dynamic shared memory), None when that is not known.
    """

    kind: str
    span: Span | None
    space: str = "-"
    size: int = 0
    count: int = 1
    flags: int = 0
    extent: tuple[int, int] | None = None


def describe_sites(sites: list[Site], source: Source) -> tuple[str, ...]:
    """Return the text of each site for the artifact (docs/contracts.md, section 1), with its lines in PTX and source."""
    if not sites:
        return ()
    lines = LineTable(source.text)
    return tuple(_describe(site, lines) for site in sites)


def _describe(site: Site, lines: LineTable) -> str:
    start, size = site.extent or (0, 0)
    line = lines.line_of(site.span.start) if site.span is not None else 0
    found = lines.source_of(line)
    file, number = (found.file, found.line) if found is not None else ("", 0)
    inlined = f"{found.inlined_file}:{found.inlined_line}" if found is not None and found.inlined_line else ""
    words = [site.kind, site.space, site.size, site.count, site.flags, start, size, line, number]
    return " ".join([*map(str, words), quote(file, safe="/.:+") or "-", quote(inlined, safe="/.:+") or "-"])
