"""A run as a time line: traces of its processes become one file in the format of Chrome's and Perfetto's viewers, and are read back.

The format is the one that browsers, Perfetto and other profilers share, so that a trace can be looked at without us.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.runtime import trace_files as files
from anywarp.runtime.trace_arguments import arguments

MOST_BYTES = 4 << 30
"""The longest trace that is read, when it is unpacked."""

MOST_EVENTS = 20_000_000

STREAM_ROWS = 1 << 30
"""Rows of streams have numbers of threads from here on; Linux has none as large."""

_MEMORY = ("memory", "pageable", "pinned", "device", "array", "managed")
_KINDS = {
    files.KERNEL: "kernel",
    files.COPY: "copy",
    files.FILL: "fill",
    files.HOST: "host",
    files.EVENT_RECORD: "event",
    files.EVENT_WAIT: "event",
    files.VALUE: "value",
    files.FREE: "free",
    files.GRAPH: "graph",
}
_NAMES = {
    files.FILL: "fill",
    files.HOST: "host function",
    files.EVENT_RECORD: "event record",
    files.EVENT_WAIT: "event wait",
    files.VALUE: "write value",
    files.FREE: "free",
    files.GRAPH: "graph",
}


def write(traces: Sequence[files.ProcessTrace], target: Path) -> int:
    """Write the traces of a run to `target`, packed where its name ends in .gz; returns the number of events."""
    zero = min((record.begin for _, record in files.all_records(list(traces))), default=0)
    other = {"made_by": "anywarp", "start_ns": zero, "dropped": sum(t.dropped for t in traces)}
    count = 0
    with _opened(target) as out:
        out.write('{"displayTimeUnit":"ns","otherData":' + json.dumps(other) + ',"traceEvents":[\n')
        for trace in traces:
            for event in _events(trace, zero):
                out.write((",\n" if count else "") + json.dumps(event, separators=(",", ":")))
                count += 1
        out.write("\n]}\n")
    return count


def _opened(target: Path) -> IO[str]:
    if target.suffix == ".gz":
        return gzip.open(target, "wt", encoding="utf-8", compresslevel=4)
    return target.open("w", encoding="utf-8")


def _events(trace: files.ProcessTrace, zero: int) -> Iterator[dict[str, Any]]:
    yield _label("process_name", trace.pid, 0, trace.command[:200] or str(trace.pid))
    for thread, name in trace.threads.items():
        yield _label("thread_name", trace.pid, thread, f"{name} {thread}")
    rows: set[tuple[int, int]] = set()
    in_use: dict[str, int] = {}
    for record in trace.records:
        if record.kind in files.WORK:
            row = (record.device, record.stream)
            if row not in rows:
                rows.add(row)
                yield _label("thread_name", trace.pid, STREAM_ROWS + record.stream, f"device {row[0]} stream {row[1]}")
            yield from _work_events(trace, record, zero)
        elif record.kind == files.CALL:
            yield _call_event(trace, record, zero)
        elif record.kind == files.MEMORY:
            yield _memory_event(trace, record, zero, in_use)
        else:
            yield _range_event(trace, record, zero)


def _label(kind: str, pid: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": pid, "tid": thread, "args": {"name": name}}


def _micro(nanoseconds: int) -> float:
    return nanoseconds / 1000


def _span(trace: files.ProcessTrace, record: files.Record, zero: int, name: str, category: str, row: int) -> dict[str, Any]:  # fmt: skip
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": trace.pid,
        "tid": row,
        "ts": _micro(record.begin - zero),
        "dur": _micro(max(record.end - record.begin, 0)),
    }


def _call_event(trace: files.ProcessTrace, record: files.Record, zero: int) -> dict[str, Any]:
    name = trace.name(record.name)
    event = _span(trace, record, zero, name, files.DOMAINS.get(record.domain, "call"), record.thread)
    event["args"] = {"correlation": record.correlation, **arguments(name, record.params)}
    if record.result:
        event["args"]["result"] = record.result
    return event


def _work_events(trace: files.ProcessTrace, record: files.Record, zero: int) -> Iterator[dict[str, Any]]:
    name, details = _describe(trace, record)
    event = _span(trace, record, zero, name, _KINDS[record.kind], STREAM_ROWS + record.stream)
    args = {"correlation": record.correlation, "device": record.device, "context": record.context, "stream": record.stream, **details}  # fmt: skip
    if record.queued:
        args["queued_us"] = round(_micro(max(record.begin - record.queued, 0)), 3)
    if record.graph:
        args["graph"] = hex(record.graph)
    if record.node:
        args["node"] = hex(record.node)
    event["args"] = args
    yield event


def _describe(trace: files.ProcessTrace, record: files.Record) -> tuple[str, dict[str, Any]]:
    """Return the name of a piece of work, and what there is to say about it."""
    d = record.details
    if record.kind == files.KERNEL:
        said: dict[str, Any] = {
            "grid": list(d[0:3]),
            "block": list(d[3:6]),
            "dynamic_shared": d[6],
            "static_shared": d[7],
        }
        return trace.name(record.name) or "kernel", said | ({"cooperative": True} if record.flags & 1 else {})
    if record.kind == files.COPY:
        to, source = (_MEMORY[k] if k < len(_MEMORY) else "memory" for k in d[3:5])
        return f"copy {source} to {to}", {"bytes": d[0], "to": hex(d[1]), "from": hex(d[2])}
    if record.kind == files.FILL:
        return "fill", {"bytes": d[1], "address": hex(d[0]), "value": d[2]}
    if record.kind == files.VALUE and record.flags & 1:
        return "wait for value", {"address": hex(d[0]), "value": d[1]}
    key = {files.EVENT_RECORD: "event", files.EVENT_WAIT: "event", files.HOST: "function"}.get(record.kind, "handle")
    return trace.name(record.name) or _NAMES[record.kind], {key: hex(d[0])}


def _memory_event(trace: files.ProcessTrace, record: files.Record, zero: int, in_use: dict[str, int]) -> dict[str, Any]:
    _, size, _, kind, is_free = record.details
    name = f"{_MEMORY[kind] if kind < len(_MEMORY) else 'memory'} memory of device {record.device}"
    in_use[name] = in_use.get(name, 0) + (-size if is_free else size)
    used = max(in_use[name], 0)
    return {"ph": "C", "cat": "memory", "name": name, "pid": trace.pid, "tid": record.thread,
            "ts": _micro(record.begin - zero), "args": {"bytes": used}}  # fmt: skip


def _range_event(trace: files.ProcessTrace, record: files.Record, zero: int) -> dict[str, Any]:
    event = _span(trace, record, zero, trace.name(record.name), "range", record.thread)
    if record.kind == files.MARK:
        del event["dur"]
        return event | {"ph": "i", "s": "t", "cat": "mark"}
    return event


@dataclass(frozen=True, slots=True)
class Event:
    """One span of a trace that was read: times in microseconds from the trace's own zero."""

    name: str
    category: str
    begin: float
    duration: float
    process: int
    row: int
    args: dict[str, Any]

    @property
    def end(self) -> float:
        return self.begin + self.duration


@dataclass(slots=True)
class Trace:
    """A trace as it is reported on; `ignored` events were of kinds or shapes that a report has no use for."""

    spans: list[Event] = field(default_factory=list[Event])
    processes: dict[int, str] = field(default_factory=dict[int, str])
    rows: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    ignored: int = 0
    dropped: int = 0


def read(path: Path) -> Trace:
    """Read a trace file of ours or of another profiler (a list of events, or an object with `traceEvents`; perhaps packed).

    AnywarpError R030 when it cannot be read or is no trace; single events that make no sense are counted and left out.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if content[:2] == b"\x1f\x8b":
            unpacker = zlib.decompressobj(wbits=31)
            content = unpacker.decompress(content, MOST_BYTES + 1)
            if len(content) <= MOST_BYTES and not unpacker.eof:
                raise _no_trace(path, "it ends in the middle of its packed data")
        if len(content) > MOST_BYTES:
            raise _no_trace(path, f"it is longer than {MOST_BYTES >> 30} GiB")
        whole: Any = json.loads(content, parse_constant=lambda _: None)
    except OSError as error:
        raise _no_trace(path, error.strerror or str(error)) from error
    except (zlib.error, UnicodeDecodeError) as error:
        raise _no_trace(path, f"it is damaged ({error})") from error
    except RecursionError as error:
        raise _no_trace(path, "its values are nested too deeply") from error
    except ValueError as error:
        raise _no_trace(path, f"it is not JSON ({str(error)[:200]})") from error
    return _from_json(whole, path)


def _no_trace(path: Path, why: str) -> AnywarpError:
    return AnywarpError(
        Diagnostic("R030", f"{path} is not a trace: {why}", help="give a file that `anywarp run --trace` wrote")
    )


def _from_json(whole: Any, path: Path) -> Trace:
    content = cast("dict[str, Any]", whole) if isinstance(whole, dict) else {}
    listed: object = content.get("traceEvents") if content else cast("object", whole)
    if not isinstance(listed, list):
        raise _no_trace(path, "it has no list of events")
    events = cast("list[Any]", listed)
    if len(events) > MOST_EVENTS:
        raise _no_trace(path, f"it has more than {MOST_EVENTS} events")
    trace = Trace()
    other: Any = content.get("otherData")
    if isinstance(other, dict):
        trace.dropped = int(_number(cast("dict[str, Any]", other).get("dropped")) or 0)
    for event in events:
        if not isinstance(event, dict) or not _take(cast("dict[str, Any]", event), trace):
            trace.ignored += 1
    trace.spans.sort(key=lambda span: (span.begin, -span.duration))
    return trace


def _number(value: Any) -> float | None:
    """Return a finite number, None for everything else (numbers as texts count, as some profilers write them)."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and abs(number) < 1e15 else None


def _whole(value: Any) -> int:
    number = _number(value)
    return int(number) if number is not None else 0


def _take(event: dict[str, Any], trace: Trace) -> bool:
    phase, name = event.get("ph"), event.get("name")
    args_given: Any = event.get("args")
    args = cast("dict[str, Any]", args_given) if isinstance(args_given, dict) else {}
    process, row = _whole(event.get("pid")), _whole(event.get("tid"))
    if phase == "M":
        label = args.get("name")
        if name == "process_name" and isinstance(label, str):
            trace.processes[process] = label
        elif name == "thread_name" and isinstance(label, str):
            trace.rows[process, row] = label
        return True
    begin, duration = _number(event.get("ts")), _number(event.get("dur"))
    if phase == "i" and begin is not None:
        duration = 0.0
    elif phase != "X":
        return phase in ("C", "s", "f", "t")
    if begin is None or duration is None or duration < 0 or not isinstance(name, str):
        return False
    category = event.get("cat")
    trace.spans.append(Event(name, category if isinstance(category, str) else "", begin, duration, process, row, args))
    return True
