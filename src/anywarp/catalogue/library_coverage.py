"""Render which functions of NVIDIA's libraries are there on the processor, from the libraries as they were built.

`python -m anywarp.catalogue.library_coverage FOLDER` prints the page. A function that nobody has written is a weak symbol (`generate_library.py`).
"""

from __future__ import annotations

import sys
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from anywarp.catalogue.generate_library import REPLACED, functions_of
from anywarp.catalogue.rocm import load

HEAD = """\
# Which functions of NVIDIA's libraries are there on the processor

Made by `scripts/docs` from the libraries that `scripts/build` made. On the device `cpu` each library exports every function of the original. One that is
*there* computes; an *absent* one returns the library's code for what it does not support and says so once on stderr, by name. A function that is
there may refuse some of its arguments, in the same way ([libraries.md](../libraries.md) says which). `imported` counts the functions that measured clients (PyTorch,
JAX, CuPy, TensorFlow, ONNX Runtime ...) import.

| library | file | functions | there | absent | imported | of these absent |
| --- | --- | --- | --- | --- | --- | --- |
"""


def written(library: Path) -> set[str]:
    """Return the functions that a built library computes: those of its exports that are not weak."""
    with library.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym")
        assert isinstance(symbols, SymbolTableSection)
        return {
            symbol.name
            for symbol in symbols.iter_symbols()
            if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["bind"] == "STB_GLOBAL"
        }


def page(folder: Path) -> str:
    """Return the page for the libraries in a folder."""
    rows: list[str] = []
    absent: list[str] = []
    for stem, replaced in REPLACED.items():
        table = load(stem)
        variant = replaced.variants[-1]
        there = written(folder / variant.soname)
        functions = functions_of(table, variant)
        missing = [f for f in functions if f.name not in there]
        imported = [f for f in functions if f.clients]
        wanted = [f for f in imported if f.name not in there]
        counts = (len(functions), len(functions) - len(missing), len(missing), len(imported), len(wanted))
        rows.append(f"| {replaced.title} | `{variant.soname}` | {' | '.join(map(str, counts))} |\n")
        names = ", ".join(f"`{f.name}`" + (f" ({f.clients})" if f.clients else "") for f in missing)
        if len(there) * 100 < len(functions):
            names = f"All but {', '.join(f'`{f.name}`' for f in functions if f.name in there)}."
        absent.append(f"\n## {replaced.title}: absent\n\n{names or 'None.'}\n")
    note = "\n## What is absent, by library\n\nA number says how many of the measured clients import it.\n"
    return HEAD + "".join(rows) + note + "".join(text.replace("\n## ", "\n### ", 1) for text in absent)


if __name__ == "__main__":
    sys.stdout.write(page(Path(sys.argv[1])))
