"""Straight code in the order of memory: chunk after chunk, not operation after operation.

A gang's operations are emitted for all of its chunks, one operation after the other. Where nothing crosses lanes, the same code
is put in another order here: all that chunk 0 loads, computes and stores, then chunk 1, and so on. The lines of each array then follow each other
as in a plain loop, and what is alive at once are the values of one chunk, however wide the gang is.

Legality: lanes are threads, and weak accesses of different threads are not ordered with each other. The accesses of one chunk keep
their order, and so do stores behind loads that serve several chunks. An operation that is not of each lane alone (shuffles, barriers,
fences, atomics, ordered and volatile accesses, calls) ends a stretch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from anywarp.compiler.abi import WORKER
from anywarp.compiler.simd.text import Note, Text

SEVERAL = 5
"""The kind of a note of several accesses (compiler/abi.py)."""

TOGETHER = 4
"""Chunks whose operations stand one beside the other: so much work that does not wait for each other keeps a processor busy."""

MOST_NOTES = 16
"""Accesses that one note may name."""

_DEFINES = re.compile(r"  (%[\w.]+) = (\w+)")
_NAME = re.compile(r"%[\w.]+")
_OWN = re.compile(r"  (?:%[\w.]+ = load [^%]+|store .+), ptr (%a\w*)$")
_FUNCTION = re.compile(r"@(llvm\.[\w.]+)\(")
_PURE = frozenset(
    "add sub mul udiv sdiv urem srem shl lshr ashr and or xor fadd fsub fmul fdiv frem fneg icmp fcmp select freeze bitcast trunc zext "
    "sext fptrunc fpext fptosi fptoui sitofp uitofp ptrtoint inttoptr getelementptr extractelement insertelement shufflevector".split()
)
_PURE_CALL = re.compile(
    r"llvm\.(fma|sqrt|fabs|minnum|maxnum|minimum|maximum|copysign|floor|ceil|trunc|rint|roundeven|round|ctpop|ctlz|cttz|bitreverse|bswap"
    r"|smin|smax|umin|umax|fshl|fshr|abs|prefetch|x86\.avx2\.(perm|pack|pmovmskb)|x86\.avx512\.permvar|x86\.avx512\.(add|sub|mul|div|sqrt|vfmadd)\.p[sd]"
    r"|x86\.avx512\.(vpdpbusd|pmaddw\.d)\.|x86\.avx2\.pmadd\.wd|x86\.avx512\.(mask\.)?(getexp|getmant|scalef|rndscale|rcp14|rsqrt14|fixupimm)|x86\.(sse|avx)\.(rcp|rsqrt)\.ps)"
)
_ASKS = re.compile(r"  call void @llvm\.prefetch\.p0\(ptr (%[\w.]+),")
_ACCESS_CALL = re.compile(r"llvm\.masked\.(load|store|gather|scatter)\.")


@dataclass(slots=True)
class _Node:
    """A line of a stretch (or the note of its accesses), and which must come before it."""

    lines: list[str]
    offset: int
    after: list[int]
    chunk: int = -1
    """Of an access of one chunk's lanes; else -1."""
    late: bool = False
    """Whether it needs something that was loaded in the stretch."""


@dataclass(slots=True)
class _Stretch:
    """Lines that may be put in another order, as far as they are read."""

    nodes: list[_Node] = field(default_factory=list[_Node])
    makers: dict[str, int] = field(default_factory=dict[str, int])
    notes: list[Note] = field(default_factory=list[Note])
    note: int = -1
    last: dict[int, int] = field(default_factory=dict[int, int])
    """The last access of each chunk."""
    own: dict[str, int] = field(default_factory=dict[str, int])
    """The last access to each variable."""
    shared_loads: list[int] = field(default_factory=list[int])
    stores: bool = False
    accesses: int = 0

    def late(self, names: Iterable[str]) -> bool:
        return any(name in self.makers and self.nodes[self.makers[name]].late for name in names)

    def needed(self, names: Iterable[str]) -> list[int]:
        return [self.makers[name] for name in names if name in self.makers]


def order_by_chunks(t: Text) -> None:
    """Put each stretch of a function's lines in the order of chunks."""
    variables = _plain_variables(t)
    notes = {note.start: note for note in t.notes}
    offsets = _offsets(t)
    lines: list[str] = []
    places: list[int] = []
    at = 0
    while at < len(t.lines):
        end, stretch = _read(t, at, variables, notes, offsets)
        if stretch is not None and _pays(stretch):
            nodes = _ordered(t, stretch)
            if len(stretch.notes) > 1 and _notes_follow(t, end):  # and may count on what the last one left
                nodes.append(_Node(_header(t, stretch.notes[0], stretch.notes[0].word), offsets[end - 1], []))
            for node in nodes:
                lines += node.lines
                places += [node.offset] * len(node.lines)
        else:
            end = max(end, at + 1)
            lines += t.lines[at:end]
            places += offsets[at:end]
        at = end
    t.lines[:] = lines
    t.places = [(i, place) for i, place in enumerate(places) if place >= 0 and (i == 0 or places[i - 1] != place)]


def _notes_follow(t: Text, at: int) -> bool:
    """Tell whether more accesses are noted in the basic block."""
    for line in t.lines[at:]:
        if line.endswith(":"):
            return False
        if " volatile " in line:
            return True
    return False


def _offsets(t: Text) -> list[int]:
    """Return for each line from which offset in the PTX it comes; -1: not said."""
    out, said = list[int](), dict(t.places)
    now = -1
    for i in range(len(t.lines)):
        now = said.get(i, now)
        out.append(now)
    return out


def _plain_variables(t: Text) -> set[str]:
    """Return the variables that are nothing but loaded and stored whole, so that no pointer leads to them."""
    names = {line.split(" = ", 1)[0].strip() for line in t.allocas if " = alloca " in line}
    for line in t.lines:
        own = _OWN.match(line)
        where = line if own is None else line[: own.start(1)]
        names.difference_update(_NAME.findall(where))
    return names


def _pays(stretch: _Stretch) -> bool:
    return len(stretch.last) > 1 and stretch.accesses > len(stretch.last)


def _read(
    t: Text, start: int, variables: set[str], notes: dict[int, Note], offsets: list[int]
) -> tuple[int, _Stretch | None]:
    """Read a stretch as far as it goes; returns where it ends."""
    found = _Stretch()
    at = start
    while at < len(t.lines) and not (at in t.walls and at > start):
        note = notes.get(at)
        if note is not None:
            if not _take_note(found, note, offsets[at]):
                break
            at = note.end
            continue
        if at in t.pacing:  # keeps LLVM from beginning all loads at once, which this order does as well
            at += 1
            continue
        if not _take_line(found, t.lines[at], offsets[at], t.chunk_of.get(at, -1), variables):
            break
        at += 1
    return at, found if found.nodes else None


def _take_note(found: _Stretch, note: Note, offset: int) -> bool:
    names = [x for x in (note.base, note.mask) if x]
    if found.late(names) or len(found.notes) == MOST_NOTES:
        return False
    if found.notes and (found.notes[0].word, found.notes[0].step, found.notes[0].mask) != (
        note.word,
        note.step,
        note.mask,
    ):
        return False
    if found.note < 0:
        found.note = len(found.nodes)
        found.nodes.append(_Node([], offset, []))
    found.notes.append(note)
    found.nodes[found.note].after += found.needed(names)
    return True


def _take_line(found: _Stretch, line: str, offset: int, chunk: int, variables: set[str]) -> bool:
    """Add a line; False if the stretch ends before it."""
    if "\n" in line:
        return False
    defines = _DEFINES.match(line)
    name, how = (defines[1], defines[2]) if defines else ("", line.split(None, 1)[0] if line.strip() else "")
    used = [x for x in _NAME.findall(line) if x != name]
    node = _Node([line], offset, found.needed(used))
    number = len(found.nodes)
    late = found.late(used)
    own = _OWN.match(line)
    if own is not None and own[1] in variables:
        if own[1] in found.own:
            before = found.own[own[1]]
            node.after.append(before)
            late = late or found.nodes[before].late
        found.own[own[1]] = number
    elif how in _PURE or not how:
        pass
    elif how in ("load", "store", "call"):
        access = how
        if how == "call":
            function = _FUNCTION.search(line)
            if function is None:
                return False
            kind = _ACCESS_CALL.match(function[1])
            if kind is None:
                if not _PURE_CALL.match(function[1]):
                    return False
                access = ""
            else:
                access = "load" if kind[1] in ("load", "gather") else "store"
        elif " volatile " in line or " atomic " in line:
            return False
        if access and not _take_access(found, node, number, access == "store", chunk):
            return False
        if access and number and _asks_for(found.nodes[-1], used):  # behind the access it would be in vain
            node.after.append(number - 1)
        late = late or access == "load"
    else:
        return False
    node.late = late
    found.nodes.append(node)
    if name:
        found.makers[name] = number
    return True


def _asks_for(node: _Node, names: Iterable[str]) -> bool:
    """Tell whether a line asks for what lies at one of these pointers."""
    asks = _ASKS.match(node.lines[0]) if node.lines else None
    return asks is not None and asks[1] in names


def _take_access(found: _Stretch, node: _Node, number: int, store: bool, chunk: int) -> bool:
    if chunk < 0 and (store or found.stores):
        return False  # of several chunks: it keeps its place among stores
    if found.note >= 0:
        node.after.append(found.note)
    if chunk < 0:
        found.shared_loads.append(number)
        return True
    node.chunk = chunk
    if chunk in found.last:
        node.after.append(found.last[chunk])
    if store:
        node.after += found.shared_loads
        found.stores = True
    found.last[chunk] = number
    found.accesses += 1
    return True


def _ordered(t: Text, stretch: _Stretch) -> list[_Node]:
    """Return the nodes some chunks after the other: accesses, and what is made of what they load; what they need stands before it."""
    nodes = stretch.nodes
    if stretch.note >= 0:
        nodes[stretch.note].lines = _note_lines(t, stretch.notes)
    parts: dict[int, list[int]] = {}
    part = [-1] * len(nodes)
    for i, node in enumerate(nodes):
        part[i] = max([node.chunk // TOGETHER if node.chunk >= 0 else -1, *(part[x] for x in node.after)])
        if node.late or node.chunk >= 0:
            parts.setdefault(part[i], []).append(i)
    done = [False] * len(nodes)
    out: list[_Node] = []

    def emit(number: int) -> None:
        work = [number]
        while work:
            top = work[-1]
            missing = [x for x in nodes[top].after if not done[x]]
            if missing and not done[top]:
                work += missing
                continue
            work.pop()
            if not done[top]:
                done[top] = True
                out.append(nodes[top])

    for number in sorted(parts):
        for i in parts[number]:
            emit(i)
    for i in range(len(nodes)):
        emit(i)
    return out


def _note_lines(t: Text, notes: list[Note]) -> list[str]:
    """Write the note of a stretch's accesses: as it was, or of several, whose first addresses lie behind the mask."""
    first = notes[0]
    if len(notes) == 1:
        return t.lines[first.start : first.end]
    out: list[str] = []
    if first.wide_mask:
        out += _store(t, f"{first.wide_mask} {first.mask}", "addresses", 1)
    out += _header(t, first, (first.word & ~0xFF) | SEVERAL | len(notes) << 24)
    for i, note in enumerate(notes):
        out += _store(t, f"i64 {note.base}", "addresses", MOST_NOTES + i if i else 0)
    return out


def _header(t: Text, note: Note, word: int) -> list[str]:
    value = f"<i32 {word}, i32 -1, i32 {note.step}, i32 {-1 if note.step < 0 else 0}>"
    if not note.mask or note.wide_mask:
        return _store(t, f"<4 x i32> {value}", "access_kind", 0)
    name = "%" + t.fresh("v.note")
    return [
        f"  {name} = insertelement <4 x i32> {value}, i32 {note.mask}, i32 1",
        *_store(t, f"<4 x i32> {name}", "access_kind", 0),
    ]


def _store(t: Text, value: str, member: str, index: int) -> list[str]:
    name = "%" + t.fresh("v.note")
    offset = WORKER.offset(member, index)
    return [
        f"  {name} = getelementptr i8, ptr %worker, i64 {offset}",
        f"  store volatile {value}, ptr {name}, align 8",
    ]
