"""Buffers that a program copied from its device to the host: what it looks at, whatever it is written in. The native side leaves a file for each process."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from anywarp import settings
from anywarp.check.bundle import Entry, Writer, limits
from anywarp.check.bundle.blob import SIZES
from anywarp.check.bundle.problems import shown
from anywarp.check.record import arrays, session
from anywarp.check.record.plan import Kind, Plan
from anywarp.diagnostics import AnywarpError, Diagnostic

FOLDER = "copies"
"""Beside the recording while the program runs."""
SLOT = "bytes"
"""The slot of a copy of which nobody said what it holds."""
_HEAD = struct.Struct("<4sIQQ")
_MAGIC = b"AWC1"
_SHORT = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8",
          "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8"}  # fmt: skip


@dataclass(frozen=True)
class Copy:
    """One copy, in order: `number` from 1; `content` is None where there was no room for it."""

    number: int
    kernel: str
    size: int
    content: bytes | None

    @property
    def name(self) -> str:
        """Return what it is called: its number among the copies of its process, and the kernel that was launched last before it."""
        return f"copy {self.number}" + (f" after {self.kernel}" if self.kernel else "")


def kind_of(text: str) -> Kind:
    """Read `copy 3:f32[32,32]`, a name and what it holds; AnywarpError (V016)."""
    name, _, held = text.rpartition(":")
    short, bracket, rest = held.partition("[")
    dtype = _SHORT.get(short, short)
    sizes = rest.removesuffix("]").split(",") if bracket else []
    good = bool(name) and dtype in SIZES and rest.endswith("]" if bracket else "")
    if not good or not all(each.strip().isascii() and each.strip().isdigit() and len(each) < 16 for each in sizes):
        help = f"write a name, a type and perhaps a shape: 'copy 3:f32[32,32]'; types: {', '.join(_SHORT)}"
        raise AnywarpError(Diagnostic("V016", f"{shown(text)} does not say what a buffer holds", help=help))
    return Kind(name, dtype, tuple(map(int, sizes)) if bracket else None)


def kinds_in(entries: Sequence[Entry]) -> tuple[Kind, ...]:
    """Return what a recording knows of its copies."""
    named = [e for e in entries if e.name.startswith("copy ") and e.slot != SLOT]
    return tuple(Kind(_literal(e.name), e.dtype, e.shape) for e in named)


def _literal(name: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def environment(plan: Plan, beside: Path) -> Mapping[str, str]:
    """Return what has the native side of a program keep its copies in a folder, which is made."""
    folder = beside / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    return {settings.COPIES_DIR.name: str(folder), settings.COPIES_LIMIT.name: str(plan.budget)}


def add(plan: Plan, beside: Path) -> None:
    """Make recordings of the copies that processes left, where they recorded nothing else; OSError."""
    files = sorted((beside / FOLDER).glob("*.copies"), key=lambda path: path.stat().st_mtime_ns)
    root = Path(plan.output)
    if not files or (root / "entries.jsonl").is_file() or any(root.glob("*/entries.jsonl")):
        return
    for number, path in enumerate(files, 1):
        folder = root if len(files) == 1 else root / f"process-{number}"
        folder.mkdir(mode=0o700, exist_ok=True)
        with path.open("rb") as file:
            _record(plan, folder, read(file))


def read(file: BinaryIO) -> Iterator[Copy]:
    """Yield the copies in a file of the native side's; one that was cut off by the program's end is left out."""
    number = 0
    while len(head := file.read(_HEAD.size)) == _HEAD.size:
        magic, length, size, kept = _HEAD.unpack(head)
        if magic != _MAGIC or length > limits.NAME or kept not in (0, size):
            return
        name, content = file.read(length), file.read(kept)
        if len(name) < length or len(content) < kept:
            return
        number += 1
        yield Copy(number, shown(name.decode(errors="replace"), 1000), size, content if kept == size else None)


def _record(plan: Plan, folder: Path, found: Iterator[Copy]) -> None:
    about = {"command": session.hide_secrets(plan.command), "mode": plan.mode, "modules": list(plan.modules), "calls": plan.calls, "seed": plan.seed, "sample": plan.sample}  # fmt: skip
    facts = {"versions": arrays.versions(), "flags": {}, "device": {"type": "device", "name": "copies to the host"}}
    writer = Writer(folder, plan.budget, {**about, **facts})
    notes = dict[str, None]()
    for copy in found:
        if not plan.chooses(copy.name):
            continue
        if copy.number > limits.ENTRIES:
            notes[f"more than {limits.ENTRIES:,} copies: the later ones are left out"] = None
            break
        if copy.content is None:
            notes[f"{copy.name}, {copy.size:,} bytes, had no room and is left out; --budget"] = None
        else:
            writer.add(_entry(plan, writer, copy, copy.content, notes))
    writer.close(True, notes=list(notes))


def _entry(plan: Plan, writer: Writer, copy: Copy, content: bytes, notes: dict[str, None]) -> Entry:
    """Return the entry of a copy as what it is said to hold, or as bytes."""
    kind = next((each for each in plan.kinds if each.is_of(copy.name)), None)
    dtype, shape, slot = "uint8", (copy.size,), SLOT
    if kind is not None:
        if copy.size % SIZES[kind.dtype] or (kind.shape is not None and math.prod(kind.shape) * SIZES[kind.dtype] != copy.size):  # fmt: skip
            notes[f"{copy.name} has {copy.size:,} bytes, which is not {kind.dtype}{list(kind.shape or ())}: it is kept as bytes"] = None  # fmt: skip
        else:
            dtype, slot = kind.dtype, "0"
            shape = kind.shape or (copy.size // SIZES[dtype],)
    host = arrays.Host(dtype, shape, content)
    known = arrays.figures(host, plan.seed, plan.sample)
    blob = writer.keep(copy.name, dtype, shape, content) if plan.mode == "tensors" else None
    dropped = "budget" if plan.mode == "tensors" and blob is None else ""
    made = arrays.composed(host)
    return Entry(
        0, 0, copy.name, "output", slot, dtype, shape, statistics=known, blob=blob, dropped=dropped, operation=made
    )


def unsaid(entry: Entry) -> bool:
    """Whether an entry is a copy of which nobody said what it holds."""
    return entry.slot == SLOT and entry.dtype == "uint8" and entry.name.startswith("copy ")
