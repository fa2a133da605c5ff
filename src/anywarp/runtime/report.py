"""What a run did: the report files of all its processes read and added up (docs/contracts.md, section 5).

Each process writes its own file when it ends, so a run that starts others, or is cut short, still leaves what it knew.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote


@dataclass(slots=True)
class KernelUse:
    """How often one kernel was launched, compiled and taken from the cache, and the milliseconds spent compiling it."""

    launches: int = 0
    compiled: int = 0
    cached: int = 0
    compile_ms: float = 0.0


@dataclass(slots=True)
class OperatorUse:
    """How often one operator of a framework ran on a device, its milliseconds, and the bytes that it copied.

    `widened` of its runs were computed in a wider type than was asked for, which the processor has no kernel for.
    """

    count: int = 0
    ms: float = 0.0
    copied: int = 0
    widened: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found at one place, for the thread that came to it first; `count` is how many threads did.

    `line` 0 and `file` "": the PTX has no line information there. `address` is an offset within shared or local memory.
    """

    check: str
    kind: str
    count: int
    kernel: str
    file: str
    line: int
    inlined_at: str
    ptx_line: int
    block: str
    thread: str
    access: str
    space: str
    address: int
    size: int
    text: str
    more: str

    @property
    def place(self) -> str:
        """Return the source line, or the line of the PTX where nothing tells of a source."""
        return f"{self.file}:{self.line}" if self.file else f"PTX line {self.ptx_line}"

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(slots=True)
class Report:
    """The sum over all processes of a run; `damaged` counts lines that could not be read."""

    devices: list[str] = field(default_factory=list[str])
    processes: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    calls: Counter[str] = field(default_factory=Counter[str])
    absent: Counter[str] = field(default_factory=Counter[str])
    kernels: dict[str, KernelUse] = field(default_factory=dict[str, KernelUse])
    operators: dict[str, OperatorUse] = field(default_factory=dict[str, OperatorUse])
    diagnostics: list[str] = field(default_factory=list[str])
    findings: list[Finding] = field(default_factory=list[Finding])
    peak_memory: int = 0
    damaged: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping; times in milliseconds, memory in bytes."""
        return {
            "devices": self.devices,
            "processes": [{"pid": pid, "command": command} for pid, command in self.processes],
            "kernels": [
                {
                    "name": name,
                    "launches": use.launches,
                    "compiled": use.compiled,
                    "cached": use.cached,
                    "compile_ms": round(use.compile_ms, 3),
                }
                for name, use in sorted(self.kernels.items(), key=lambda item: -item[1].launches)
            ],
            "operators": [
                {
                    "name": name,
                    "count": use.count,
                    "ms": round(use.ms, 3),
                    "copied_bytes": use.copied,
                    "widened": use.widened,
                }
                for name, use in sorted(self.operators.items(), key=lambda item: -item[1].ms)
            ],
            "calls": dict(self.calls.most_common()),
            "unsupported": dict(self.absent.most_common()),
            "diagnostics": self.diagnostics,
            "findings": [finding.as_json() for finding in self.findings],
            "peak_memory_bytes": self.peak_memory,
            "damaged_lines": self.damaged,
        }


def read(folder: Path) -> Report:
    """Add up every report file in a folder."""
    report = Report()
    for path in sorted(folder.glob("*.tsv")):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                _add(report, [unquote(part) for part in line.split("\t")])
            except (ValueError, IndexError):
                report.damaged += 1
    return report


def _add(report: Report, fields: list[str]) -> None:
    """Add one line; ValueError or IndexError when it is damaged."""
    kind, values = fields[0], fields[1:]
    if kind == "call":
        report.calls[values[0]] += int(values[1])
    elif kind == "absent":
        report.absent[values[0]] += int(values[1])
    elif kind == "kernel":
        launches, compiled, cached, spent = int(values[1]), int(values[2]), int(values[3]), float(values[4])
        use = report.kernels.setdefault(values[0], KernelUse())
        use.launches += launches
        use.compiled += compiled
        use.cached += cached
        use.compile_ms += spent
    elif kind == "operator":
        count, nanoseconds, copied, widened = (int(each) for each in values[1:5])
        ran = report.operators.setdefault(values[0], OperatorUse())
        ran.count += count
        ran.ms += nanoseconds / 1e6
        ran.copied += copied
        ran.widened += widened
    elif kind == "diagnostic":
        _once(report.diagnostics, values[0])
    elif kind == "finding":
        report.findings.append(_finding(values))
    elif kind == "device":
        _once(report.devices, values[0])
    elif kind == "memory":
        report.peak_memory = max(report.peak_memory, int(values[0]))
    elif kind == "process":
        report.processes.append((int(values[0]), " ".join(values[1:])))
    else:
        raise ValueError(kind)


def _finding(values: list[str]) -> Finding:
    """Read the fields of a finding, in the order of docs/contracts.md, section 5."""
    (
        check,
        kind,
        count,
        kernel,
        file,
        line,
        inlined_at,
        ptx_line,
        block,
        thread,
        access,
        space,
        address,
        size,
        *words,
    ) = values
    text, more = words
    return Finding(
        check, kind, int(count), kernel, file, int(line), inlined_at, int(ptx_line), block, thread, access, space,
        int(address), int(size), text, more,
    )  # fmt: skip


def _once(texts: list[str], text: str) -> None:
    if text not in texts:
        texts.append(text)
