"""Derive the tables that our nvml.h and nvJitLink.h are written from, of NVIDIA's own bindings for Python.

scripts/derive runs it (`derive_bindings CYNVML.PXD CYNVJITLINK.PXD PYNVML.PY VERSIONS`) with the files of cuda-bindings and nvidia-ml-py.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from anywarp.catalogue import cython_facts, dated
from anywarp.catalogue.c_facts import Facts, Type, spell
from anywarp.catalogue.declarations import COLUMNS, DATA, Declaration

_INVENTED = re.compile(r"cuda_bindings_\w+__anon_pod\d+|_anon_pod_member\d+|_\w+_INTERNAL_LOADING_ERROR")
"""Names that the bindings give to what has none, and an error of their own."""

_BITS = re.compile(r'\("(\w+)", c_uint, (\d+)\)')
_WORDS = re.compile(r"(?:NVML_|nvml[A-Z])\w*")


def of_bindings(facts: Facts, bits: dict[str, str]) -> Iterator[Declaration]:
    """Yield what a file of cuda-bindings declares, each type behind those that it names; `bits` are the widths of bit fields."""
    for entry in facts.types.values():
        if _INVENTED.fullmatch(entry.name):
            continue
        if entry.kind == "enum":
            values = facts.constants[entry.name].items()
            members = " ".join(f"{name}={value}" for name, value in values if not _INVENTED.fullmatch(name))
            yield Declaration("enum", entry.name, "", members)
        elif entry.kind in ("struct", "union"):
            yield Declaration(entry.kind, entry.name, "", _members(entry, facts, bits))
        else:
            yield Declaration(entry.kind, entry.name, "" if entry.kind == "handle" else entry.definition, "")
    for function in facts.functions.values():
        yield Declaration("function", function.name, function.result, function.declared())


def _members(entry: Type, facts: Facts, bits: dict[str, str]) -> str:
    found: list[str] = []
    for kind, name in entry.fields:
        base, array = re.fullmatch(r"(.+?)((?:\[\w+\])*)", kind).groups()  # type: ignore[union-attr]
        if _INVENTED.fullmatch(base):
            under = facts.types[base]
            base = f"{under.kind} {{ {_members(under, facts, bits)} }}"
        shown = "" if _INVENTED.fullmatch(name) else name
        width = f" : {bits[name]}" if name in bits else ""
        found.append(f"{spell(base, shown)}{array}{width};")
    return " ".join(found)


def macros(python_binding: str, known: set[str]) -> Iterator[Declaration]:
    """Yield the constants of nvidia-ml-py that are macros: names of NVML's with a value, not among the `known` names."""
    for statement in ast.parse(python_binding).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _WORDS.fullmatch(name) and name not in known:
                if isinstance(value, ast.Tuple):  # a comma too many
                    value = value.elts[0]
                if not isinstance(value, ast.Call) and not (isinstance(value, ast.Constant) and value.value is None):
                    yield Declaration("macro", name, "", _as_c(ast.get_source_segment(python_binding, value) or ""))
            case _:
                pass


def _as_c(text: str) -> str:
    """Return an expression of Python's as C: on one line, whole masks of 64 bits as long long, text in C's quotes."""
    text = re.sub(r"(?:#.*)?\s*\\?\n\s*", " ", text).replace("'", '"')
    text = re.sub(r"\b(0x[\dA-Fa-f]{16})\b", r"\1LL", text).replace("c_uint", "unsigned int")
    return f"({text})" if re.search(r"[|+]|<<", text) else text


def main(arguments: Sequence[str]) -> int:
    """Run as a command; returns the exit code."""
    if len(arguments) != 4:
        print(
            "usage: python -m anywarp.catalogue.derive_bindings CYNVML.PXD CYNVJITLINK.PXD PYNVML.PY VERSIONS",
            file=sys.stderr,
        )
        return 2
    python_binding = Path(arguments[2]).read_text(encoding="utf-8")
    bits = dict[str, str](_BITS.findall(python_binding))
    for stem, path in (("nvml", arguments[0]), ("nvjitlink", arguments[1])):
        facts = cython_facts.read(Path(path))
        found = list(of_bindings(facts, bits))
        if stem == "nvml":
            known = {name for values in facts.constants.values() for name in values} | set(facts.functions)
            known |= {each.name.removesuffix("_t") for each in found if each.is_versioned}
            found += macros(python_binding, known)
        lines = ["\t".join(COLUMNS), *("\t".join(each) for each in found)]
        dated.write(DATA / f"{stem}_declarations.tsv", f"declarations of {stem}, from NVIDIA's {arguments[3]}", lines)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
