"""Where the time of a traced run went: calls, kernels and copies added up by name, and when each stream had nothing to do.

Pure arithmetic over a trace that was read, so that tables, JSON and the time line say the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from anywarp.runtime.trace import Event, Trace

CALLS = frozenset({"driver", "runtime", "call", "cuda_runtime", "cuda_driver"})
KERNELS = frozenset({"kernel"})
COPIES = frozenset({"copy", "fill", "gpu_memcpy", "gpu_memset"})
WORK = KERNELS | COPIES | {"host", "value"}
"""What keeps a stream busy: waiting for an event does not, and a graph is its nodes. The second names are those of PyTorch's profiler."""

RANGES = frozenset({"range", "user_annotation", "cpu_op"})


@dataclass(frozen=True, slots=True)
class Row:
    """All events of one name: microseconds, the share of the whole group's time, and bytes where they are known."""

    name: str
    count: int
    total: float
    mean: float
    shortest: float
    longest: float
    share: float
    bytes: int

    @property
    def bandwidth(self) -> float:
        """Return bytes per second, 0 when it is not known."""
        return self.bytes / self.total * 1e6 if self.total else 0.0


@dataclass(frozen=True, slots=True)
class Gap:
    """A time in which a stream had nothing to do, between two pieces of work; microseconds."""

    begin: float
    duration: float
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream of one process: when it was busy, in microseconds, and its longest gaps."""

    process: int
    name: str
    work: int
    span: float
    busy: float
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """What a report shows; times in microseconds."""

    duration: float
    processes: int
    spans: int
    ignored: int
    dropped: int
    calls: tuple[Row, ...]
    kernels: tuple[Row, ...]
    copies: tuple[Row, ...]
    ranges: tuple[Row, ...]
    streams: tuple[Stream, ...]

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping; times in microseconds, bandwidths in bytes per second."""
        content = asdict(self)
        for made, row in zip(content["copies"], self.copies, strict=True):
            made["bytes_per_second"] = row.bandwidth
        return content


def summarise(trace: Trace, gaps: int = 5) -> Summary:
    """Add a trace up; of each stream the `gaps` longest times without work."""
    spans = trace.spans
    begin = min((span.begin for span in spans), default=0.0)
    end = max((span.end for span in spans), default=0.0)
    return Summary(
        end - begin,
        len({span.process for span in spans}),
        len(spans),
        trace.ignored,
        trace.dropped,
        _calls(spans),
        rows(span for span in spans if span.category in KERNELS),
        rows(span for span in spans if span.category in COPIES),
        rows(span for span in spans if span.category in RANGES),
        _streams(trace, gaps),
    )


def _calls(spans: list[Event]) -> tuple[Row, ...]:
    """Add calls up; their shares are of the time in any call, so that a driver's call inside a runtime's is not counted twice."""
    calls = [span for span in spans if span.category in CALLS]
    whole, until = 0.0, dict[tuple[int, int], float]()
    for call in calls:  # in order of their beginnings
        reached = until.get((call.process, call.row), call.begin)
        whole += max(call.end - max(call.begin, reached), 0.0)
        until[call.process, call.row] = max(reached, call.end)
    return rows(calls, whole)


def rows(events: Iterable[Event], whole: float | None = None) -> tuple[Row, ...]:
    """Add events up by name, the most time first; shares are of `whole`, the sum of all when None."""
    groups: dict[str, list[Event]] = {}
    for event in events:
        groups.setdefault(event.name, []).append(event)
    if whole is None:
        whole = sum(event.duration for group in groups.values() for event in group)
    return tuple(
        sorted((_row(name, group, whole) for name, group in groups.items()), key=lambda row: (-row.total, row.name))
    )


def _row(name: str, group: list[Event], whole: float) -> Row:
    times = [event.duration for event in group]
    total = sum(times)
    moved = sum(_bytes(event) for event in group)
    return Row(
        name, len(group), total, total / len(group), min(times), max(times), total / whole if whole else 0.0, moved
    )


def _bytes(event: Event) -> int:
    value = event.args.get("bytes", 0)
    return value if type(value) is int and 0 <= value < 1 << 63 else 0


def _streams(trace: Trace, most: int) -> tuple[Stream, ...]:
    by_row: dict[tuple[int, int], list[Event]] = {}
    for span in trace.spans:
        if span.category in WORK:
            by_row.setdefault((span.process, span.row), []).append(span)
    return tuple(
        _stream(process, trace.rows.get((process, row), f"row {row}"), spans, most)
        for (process, row), spans in sorted(by_row.items())
    )


def _stream(process: int, name: str, spans: list[Event], most: int) -> Stream:
    busy, gaps, last = 0.0, list[Gap](), spans[0]
    until = spans[0].begin
    for span in spans:  # in order of their beginnings
        if span.begin > until:
            gaps.append(Gap(until, span.begin - until, last.name, span.name))
            until = span.begin
        if span.end > until:
            busy += span.end - until
            until, last = span.end, span
    gaps.sort(key=lambda gap: -gap.duration)
    return Stream(process, name, len(spans), until - spans[0].begin, busy, tuple(gaps[:most]))
