"""LLVM's debug locations for emitted text, so that an address in the machine code leads back to a line of PTX.

Attached only when somebody asks where a kernel failed: the code is compiled again, which must give the same machine code.
"""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from elftools.elf.elffile import ELFFile

_FIRST = 1000
"""Numbers of metadata below are the emitter's own."""


def attach(lines: Sequence[str], places: Sequence[tuple[int, int]], line_of: Callable[[int], int]) -> tuple[str, str]:
    """Return the body with a location on every instruction, and the metadata that it refers to.

    `places` say from which element of `lines` on which offset in the PTX holds; `line_of` turns an offset into a line.
    """
    starts = [start for start, _ in places]
    used: dict[int, int] = {}
    out: list[str] = []
    for number, text in enumerate(lines):
        if not text.startswith("  "):
            out.append(text)
            continue
        place = bisect_right(starts, number) - 1
        line = line_of(places[place][1]) if place >= 0 else 0
        name = used.setdefault(line, _FIRST + 10 + len(used))
        out.append(f"{text}, !dbg !{name}")
    return "\n".join(out), _metadata(used)


SUBPROGRAM = f"!dbg !{_FIRST}"
"""What the function's definition carries."""


def _metadata(used: dict[int, int]) -> str:
    n = _FIRST
    lines = [
        f"!llvm.dbg.cu = !{{!{n + 1}}}",
        f"!llvm.module.flags = !{{!{n + 2}, !{n + 3}}}",
        f'!{n} = distinct !DISubprogram(name: "kernel", scope: !{n + 4}, file: !{n + 4}, line: 1, type: !{n + 5}, '
        f"spFlags: DISPFlagDefinition, unit: !{n + 1})",
        f"!{n + 1} = distinct !DICompileUnit(language: DW_LANG_C, file: !{n + 4}, emissionKind: LineTablesOnly)",
        f'!{n + 2} = !{{i32 2, !"Debug Info Version", i32 3}}',
        f'!{n + 3} = !{{i32 2, !"Dwarf Version", i32 4}}',
        f'!{n + 4} = !DIFile(filename: "kernel.ptx", directory: "/")',
        f"!{n + 5} = !DISubroutineType(types: !{n + 6})",
        f"!{n + 6} = !{{}}",
    ]
    lines += [f"!{name} = !DILocation(line: {line}, column: 1, scope: !{n})" for line, name in used.items()]
    return "\n".join(lines) + "\n"


def machine_code(object: bytes) -> tuple[bytes, dict[str, int]]:
    """Return the text section of an object and where its functions begin there."""
    elf: Any = ELFFile(io.BytesIO(object))
    number = next(i for i in range(elf.num_sections()) if elf.get_section(i).name == ".text")
    symbols: Any = elf.get_section_by_name(".symtab")
    inside = (s for s in symbols.iter_symbols() if s["st_shndx"] == number and s["st_info"]["type"] == "STT_FUNC")
    begins = {str(s.name): int(s["st_value"]) for s in inside}
    return bytes(elf.get_section(number).data()), begins


def line_at(object: bytes, symbol: str, offset: int) -> int:
    """Return the line of the instruction at `offset` from a function's start; 0 if the object's line table has none."""
    base = machine_code(object)[1].get(symbol)
    if base is None:
        return 0
    elf: Any = ELFFile(io.BytesIO(object))
    dwarf: Any = elf.get_dwarf_info()
    best = 0
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        before: Any = None
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if before is not None and not before.end_sequence and before.address <= base + offset < state.address:
                best = int(before.line)
            before = state
    return best
