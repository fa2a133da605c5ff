"""Spills and reloads of registers, counted per loop in the remarks of LLVM's assembly text.

What the register allocator could not keep is invisible in the IR, and in a hot loop it costs more than the arithmetic.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_LABEL = re.compile(r"^(?:\.L|# %)?(?:B?BB\d+_|bb\.)(\d+):(?:\s*#\s*%(\S+))?")
_HEADER = re.compile(r"Header=BB\d+_(\d+)")
_THIS = re.compile(r"=>\s*This (?:Inner )?Loop Header")
_SPILL = re.compile(r"#.*?(\d+)-byte (Folded )?(Spill|Reload)")
_BLOCK = re.compile(r"[FS](\d+)$")


@dataclass(slots=True)
class Traffic:
    """Registers written to and read from the stack in a loop of the machine code, whole vectors counted apart.

    `blocks` are the numbers of the kernel's blocks that lie in it; loops inside it count for themselves.
    """

    blocks: set[int] = field(default_factory=set[int])
    spills: int = 0
    reloads: int = 0
    vector_spills: int = 0
    vector_reloads: int = 0

    def add(self, kind: str, size: int) -> None:
        """Count one."""
        wide = size >= 16
        if kind == "Spill":
            self.spills += 1
            self.vector_spills += wide
        else:
            self.reloads += 1
            self.vector_reloads += wide


def register_traffic(assembly: str) -> dict[int | None, Traffic]:
    """Map the number of each loop's header in the machine code (None: outside all loops) to its traffic."""
    out: dict[int | None, Traffic] = {None: Traffic()}
    loop: int | None = None
    for number, name, body in _blocks(assembly):
        head = body[:1200]
        outer = _HEADER.search(head)
        loop = number if _THIS.search(head) else int(outer[1]) if outer else None
        traffic = out.setdefault(loop, Traffic())
        named = _BLOCK.match(name)
        if named:
            traffic.blocks.add(int(named[1]))
        for size, _, kind in _SPILL.findall(body):
            traffic.add(kind, int(size))
    return out


def _blocks(assembly: str) -> list[tuple[int, str, str]]:
    """Split the text at its block labels: number, the IR's name for it ("" if none), and the text."""
    out: list[tuple[int, str, list[str]]] = []
    for line in assembly.splitlines():
        found = _LABEL.match(line)
        if found:
            out.append((int(found[1]), found[2] or "", [line]))
        elif out:
            out[-1][2].append(line)
    return [(number, name, "\n".join(lines)) for number, name, lines in out]
