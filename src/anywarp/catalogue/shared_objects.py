"""Read what a shared object exports.

The exports are what programs can be linked to, whatever a header says.
"""

from __future__ import annotations

from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection


def exports_of(library: Path) -> list[str]:
    """Return the functions that a shared library defines for others, sorted."""
    with library.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".dynsym")
        if not isinstance(table, SymbolTableSection):
            return []
        found = {
            symbol.name
            for symbol in table.iter_symbols()
            if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["type"] in ("STT_FUNC", "STT_GNU_IFUNC")
        }
    return sorted(found)
