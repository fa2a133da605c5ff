"""The tables of `anywarp report`: which columns, in which units; how they are printed is another matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anywarp.cli.readable_names import readable
from anywarp.runtime.trace_summary import Row, Stream, Summary

Lines = list[Sequence[str]]


def tables(summary: Summary, top: int) -> Iterator[tuple[str, tuple[str, ...], Lines]]:
    """Yield title, head and lines of each table, at most `top` lines long."""
    head: Lines = [
        ("time", duration(summary.duration)),
        ("processes", str(summary.processes)),
        ("events", str(summary.spans)),
    ]
    head += [("left out", f"{summary.ignored} events that the report ignores")] if summary.ignored else []
    head += [("lost", f"{summary.dropped} events that the trace had no room for")] if summary.dropped else []
    yield "trace", ("what", "value"), head
    columns = ("share", "total", "count", "mean", "shortest", "longest", "name")
    for title, rows in (("kernels", summary.kernels), ("calls", summary.calls), ("ranges", summary.ranges)):
        yield _titled(title, rows, top), columns, [_row(row) for row in rows[:top]]
    copies: Lines = [
        (*_row(row)[:3], size(row.bytes), size(row.bandwidth) + "/s", safe(row.name)) for row in summary.copies[:top]
    ]
    yield _titled("copies and fills", summary.copies, top), ("share", "total", "count", "bytes", "rate", "name"), copies
    streams: Lines = [_stream(stream) for stream in summary.streams[:top]]
    yield _titled("streams", summary.streams, top), ("busy", "of", "share", "work", "stream"), streams
    gaps = sorted(((gap, s) for s in summary.streams for gap in s.gaps), key=lambda pair: -pair[0].duration)[:top]
    idle: Lines = [
        (
            duration(g.duration),
            duration(g.begin),
            safe(f"{s.name} of {s.process}: after {readable(g.before)}, before {readable(g.after)}"),
        )
        for g, s in gaps
    ]
    yield "longest times without work", ("idle", "from", "stream"), idle


def _titled(title: str, rows: Sequence[object], top: int) -> str:
    return title if len(rows) <= top else f"{title} (the first {top} of {len(rows)})"


def _row(row: Row) -> tuple[str, ...]:
    times = (duration(row.mean), duration(row.shortest), duration(row.longest))
    return (f"{row.share:.1%}", duration(row.total), str(row.count), *times, safe(readable(row.name)))


def _stream(stream: Stream) -> tuple[str, ...]:
    share = stream.busy / stream.span if stream.span else 1.0
    name = safe(f"{stream.name} of {stream.process}")
    return duration(stream.busy), duration(stream.span), f"{share:.1%}", str(stream.work), name


def duration(microseconds: float) -> str:
    """Return a time with three digits and a unit."""
    for factor, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= factor:
            return f"{microseconds / factor:.2f} {unit}"
    return f"{microseconds:.2f} us"


def size(count: float) -> str:
    """Return a number of bytes with a binary unit."""
    for shift, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count >= 1 << shift:
            return f"{count / (1 << shift):.1f} {unit}"
    return f"{count:.0f} B"


def safe(text: str) -> str:
    """Return a name of at most 120 characters that no terminal takes for a command."""
    shown = "".join(c if c.isprintable() else "?" for c in text[:121])
    return shown if len(shown) <= 120 else shown[:119] + "…"
