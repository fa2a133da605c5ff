"""Make the fake libamdhip64's table of functions and its exported entries out of native/hip/hip_api.h.

The table and the driver come from the same facts, so a parameter cannot be read in two ways.

python generate_hip.py HIP_API_H FOLDER      writes hip_table.cpp, hip_implementations.h, entries_6.S and entries_7.S
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

VERSIONS = {"6": (1, 60443484), "7": (6, 71526043)}
"""The bits of AW_HIP_FUNCTIONS that a library of that number exports, and the version that it reports."""


def functions(text: str) -> list[tuple[str, list[tuple[str, str]], int]]:
    """Return name, parameters (type, name) and version bits of each function."""
    masks = {name: int(bits, 0) for name, bits in re.findall(r"X\((\w+), (\w+)\)", text)}
    found: dict[str, list[tuple[str, str]]] = {}
    for name, inside in re.findall(r"^[\w ]+[ *]+((?:hip|HIP|__hip)\w*)\((.*)\);$", text, re.M):
        if "(*" not in inside:
            found[name] = [split(part, place) for place, part in enumerate(parameters(inside))]
    missing = sorted(set(masks) - set(found))
    if missing:
        sys.exit(f"no prototype found of {missing}")
    return [(name, found[name], bits) for name, bits in sorted(masks.items())]


def parameters(inside: str) -> list[str]:
    """Return the parameters of a list; none of (void)."""
    return [part.strip() for part in inside.split(",") if part.strip() not in ("", "void")]


def split(parameter: str, place: int) -> tuple[str, str]:
    """Return type and name of a parameter; an array is a pointer."""
    match = re.fullmatch(r"(.+?[\s*])(\w+)\s*(\[\w*\])?", parameter)
    if not match or match[2] in {"int", "unsigned", "char"}:
        return parameter, f"p{place}"
    return match[1].strip() + ("*" if match[3] else ""), match[2]


def structures(text: str) -> dict[str, list[str]]:
    """Return the names of the outer fields of each structure that has a name."""
    found: dict[str, list[str]] = {}
    for match in re.finditer(r"^(?:typedef )?struct (\w+)? ?\{\n(.*?)^\} ?(\w+)?;$", text, re.M | re.S):
        name = match[3] or match[1]
        depth, fields, inner = 0, [], []
        for line in match[2].splitlines():
            named = re.search(r"(\w+)\s*(?:\[\w+\])?;\s*$", line) if ":" not in line and "(*" not in line else None
            closed = re.match(r"\s*\} ?(\w+)?", line)
            if depth == 0 or (closed and depth == 1 and closed[1]):
                fields += [named[1]] if named else []
            elif closed and depth == 1:
                fields += inner[:1]
            elif depth == 1:
                inner += [named[1]] if named else []
            depth += line.count("{") - line.count("}")
            inner = inner if depth else []
        if name and fields:
            found[name] = fields
    return found


def table(text: str) -> str:
    """Return hip_table.cpp."""
    known = structures(text)
    used = {
        name for name in known if not re.match(r"(texture|surface)|(u?(char|short|int|long|float|double)\w*\d)$", name)
    }
    lines = ['#include "hip_types.h"', ""]
    for number, name in enumerate(
        sorted(used, key=lambda each: text.find(f"}} {each};" if f"}} {each};" in text else f"struct {each} {{"))
    ):
        fields = ", ".join(f'FAKE_FIELD({name}, {field}, "{field}")' for field in known[name])
        lines.append(f"static const FakeField fields_{number}[] = {{{fields}}};")
        lines.append(f'static const FakeStruct layout_{number} = {{"{name}", {len(known[name])}, fields_{number}}};')
        lines.append(f"template <> inline constexpr const FakeStruct* kLayout<{name}> = &layout_{number};")
    rows = []
    for name, those, _ in functions(text):
        if those:
            inside = ", ".join(f'{{"{called}", fake_type<{kind}>()}}' for kind, called in those)
            lines.append(f"static const FakeParameter p_{name}[] = {{{inside}}};")
        rows.append(
            f'  {{"{name}", {f"p_{name}" if those else "nullptr"}, {len(those)}, reinterpret_cast<void*>(&impl_{name})}},'
        )
    lines += ['extern "C" {', "extern const FakeFunction fake_functions[] = {", *rows, "};"]
    lines += [
        f"extern const uint32_t fake_function_count = {len(rows)};",
        "extern const int fake_default_result = hipErrorNotSupported;",
    ]
    lines += [f"void* fake_slots[{len(rows)}];", "}"]
    return "\n".join(lines) + "\n"


def entries(names: list[tuple[int, str]], constants: str = "") -> str:
    """Return assembly that exports these functions: each goes where its slot says, its number in r11."""
    lines = [".text"]
    for number, name in names:
        lines += [
            f".globl {name}",
            f".type {name}, @function",
            f"{name}:",
            f"  mov ${number}, %r11d",
            f"  jmp *fake_slots+{8 * number}(%rip)",
        ]
    return "\n".join([*lines, constants, '.section .note.GNU-stack,"",@progbits']) + "\n"


def implementations(text: str) -> str:
    """Return the header that declares what may implement each function."""
    lines = ["#pragma once", '#include "hip_api.h"', 'extern "C" {']
    lines += [
        f'decltype(::{name}) impl_{name} __attribute__((weak, visibility("hidden")));' for name, _, _ in functions(text)
    ]
    return "\n".join([*lines, "}"]) + "\n"


def main() -> None:
    """Write the files."""
    text, folder = re.sub(r" *//.*", "", Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    (folder / "hip_table.cpp").write_text(table(text))
    (folder / "hip_implementations.h").write_text(implementations(text))
    for version, (bits, number) in VERSIONS.items():
        names = [(place, name) for place, (name, _, mask) in enumerate(functions(text)) if mask & bits]
        constant = (
            f".section .rodata\n.globl fake_hip_version\n.hidden fake_hip_version\nfake_hip_version: .long {number}"
        )
        (folder / f"entries_{version}.S").write_text(entries(names, constant))


if __name__ == "__main__":
    main()
