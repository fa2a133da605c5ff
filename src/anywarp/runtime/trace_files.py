"""The trace files of a run's processes, read back: what `native/core/activity_trace.cpp` wrote (docs/contracts.md, section 9).

A process may have been killed in the middle of anything, so a file ends wherever it ends, and what makes no sense is counted and left out.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SUFFIX = ".awt"

MAGIC = b"AWTRACE1"
HEADER_BYTES = 4096
SLOT = struct.Struct("<HHI7Q")
NAME_SLOT, THREAD_SLOT = 100, 101
CALL, KERNEL, COPY, FILL, HOST, EVENT_RECORD, EVENT_WAIT, VALUE, FREE, GRAPH, MEMORY, RANGE, MARK = range(1, 14)
WORK = frozenset(range(KERNEL, GRAPH + 1))
"""The kinds of records that happen in a stream."""

DOMAINS = {1: "driver", 2: "runtime"}
_EXTRA = {KERNEL: struct.Struct("<Q10I"), COPY: struct.Struct("<Q3QII"), FILL: struct.Struct("<Q2QII"),
          MEMORY: struct.Struct("<Q3QII")}  # fmt: skip
_OTHER = struct.Struct("<Q2Q")


@dataclass(slots=True)
class Record:
    """One thing that happened; times in nanoseconds since 1970, `details` as the kind has them."""

    kind: int
    name: int
    begin: int
    end: int
    correlation: int = 0
    thread: int = 0
    domain: int = 0
    result: int = 0
    device: int = 0
    context: int = 0
    stream: int = 0
    flags: int = 0
    queued: int = 0
    graph: int = 0
    node: int = 0
    details: tuple[int, ...] = ()
    params: bytes = b""


@dataclass(slots=True)
class ProcessTrace:
    """What one process recorded; `dropped` records did not fit, `damaged` pieces made no sense."""

    pid: int
    parent: int
    command: str
    start: int
    dropped: int = 0
    damaged: int = 0
    names: dict[int, str] = field(default_factory=dict[int, str])
    threads: dict[int, str] = field(default_factory=dict[int, str])
    records: list[Record] = field(default_factory=list[Record])

    def name(self, number: int) -> str:
        """Return the text of a name; one that was never written has a text too."""
        return self.names.get(number) or (f"name {number}" if number else "")


def read_folder(folder: Path) -> list[ProcessTrace]:
    """Return the traces of all processes in `folder`, in the order in which they started; files that are none are left out."""
    found = [read_file(path) for path in sorted(folder.glob(f"*{SUFFIX}"))]
    return sorted((trace for trace in found if trace), key=lambda trace: trace.start)


def read_file(path: Path) -> ProcessTrace | None:
    """Return the trace in one file, None when it is no trace."""
    try:
        content = memoryview(path.read_bytes())
    except OSError:
        return None
    if len(content) < HEADER_BYTES or bytes(content[:8]) != MAGIC:
        return None
    piece_bytes, pid, parent, _, start, dropped = struct.unpack_from("<4I2Q", content, 8)
    if not 4096 <= piece_bytes <= 1 << 30 or piece_bytes % SLOT.size:
        return None
    command = bytes(content[40:HEADER_BYTES]).partition(b"\0")[0].decode(errors="replace").strip()
    trace = ProcessTrace(pid, parent, command, start, dropped)
    for at in range(HEADER_BYTES, len(content), piece_bytes):
        trace.damaged += not _read_piece(content[at : at + piece_bytes], trace)
    return trace


def _read_piece(piece: memoryview, trace: ProcessTrace) -> bool:
    """Add a piece's records to the trace; False when it ends in something that makes no sense."""
    slots = len(piece) // SLOT.size
    at = 0
    while at < slots:
        kind, extra, name, *words = SLOT.unpack_from(piece, at * SLOT.size)
        if kind == 0:
            return True
        if at + 1 + extra > slots:
            return False
        more = piece[(at + 1) * SLOT.size : (at + 1 + extra) * SLOT.size]
        if not _read_slot(kind, name, words, more, trace):
            return False
        at += 1 + extra
    return True


def _read_slot(kind: int, name: int, words: list[int], more: memoryview, trace: ProcessTrace) -> bool:
    if kind == NAME_SLOT:
        trace.names[name] = bytes(more[: words[0]]).decode(errors="replace")
    elif kind == THREAD_SLOT:
        text = struct.pack("<2Q", words[1], words[2]).partition(b"\0")[0]
        trace.threads.setdefault(words[0], text.decode(errors="replace"))
    elif kind == CALL:
        trace.records.append(_call(name, words, more))
    elif kind <= MARK and (len(more) >= SLOT.size or kind not in _EXTRA):
        trace.records.append(_work(kind, name, words, more))
    else:
        return False
    return True


def _low(word: int) -> int:
    return word & 0xFFFFFFFF


def _call(name: int, words: list[int], more: memoryview) -> Record:
    size = words[3] >> 40
    params = bytes(more[:size]) if len(more) else struct.pack("<3Q", *words[4:])[:size]
    return Record(
        CALL,
        name,
        words[0],
        words[1],
        _low(words[2]),
        _low(words[3]),
        words[3] >> 32 & 0xFF,
        words[2] >> 32,
        params=params,
    )


def _work(kind: int, name: int, words: list[int], more: memoryview) -> Record:
    record = Record(
        kind, name, words[0], words[1], _low(words[2]), words[2] >> 32,
        device=_low(words[3]), context=words[3] >> 32, stream=_low(words[4]), flags=words[4] >> 32,
    )  # fmt: skip
    if not len(more):  # a short one
        record.details = (words[5], words[6])
        return record
    record.node, *details = _EXTRA.get(kind, _OTHER).unpack_from(more)
    record.queued, record.graph, record.details = words[5], words[6], tuple(details)
    return record


def all_records(traces: list[ProcessTrace]) -> Iterator[tuple[ProcessTrace, Record]]:
    """Yield each record with its process."""
    for trace in traces:
        for record in trace.records:
            yield trace, record
