"""Write `native/hip/hip_api.h` from headers and bindings of several versions of HIP.

The driver library for AMD, the forwarding libraries and the fake that tests them must agree on types, values and
parameters, and on which version has which function; so one file is made from all versions at once.

    python -m anywarp.catalogue.derive_hip OLD_INCLUDE NEW_INCLUDE CYHIP_PXD OUTPUT

scripts/derive runs it for the releases that read `hip_api` (data/rocm/releases.tsv). The first two are include folders (Debian's libamdhip64-dev, the folder in Triton's wheel), the third is the declaration
file of the bindings (rocm-bindings-hip). Only names, values, layouts and parameter lists are taken.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anywarp.catalogue.releases import hip_versions

OLD, NEW, NEWEST = hip_versions("hip_api")
"""What HIP calls itself in the releases that are read: two by their headers, the newest by its bindings."""
_LEAST_MACRO = re.compile(r"(hip|HIP)\w+$")
_NUMBER = re.compile(r"[-\w\s()+*|<>~]+$")


@dataclass(slots=True)
class Interface:
    """What one version declares: types in their order, enumerators with values, functions with parameters."""

    types: dict[str, str] = field(default_factory=dict[str, str])
    functions: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    macros: dict[str, str] = field(default_factory=dict[str, str])
    enumerators: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])


def read_headers(folder: Path) -> Interface:
    """Read the headers in an include folder of HIP through the C preprocessor."""
    source = "#include <hip/hip_runtime_api.h>\n#include <hip/hip_deprecated.h>\n"
    command = ["cc", "-E", "-dD", "-x", "c", "-D__HIP_PLATFORM_AMD__", f"-I{folder}", "-"]
    text = subprocess.run(command, input=source, text=True, capture_output=True, check=True).stdout
    own: list[str] = []
    interface, keep = Interface(), False
    for line in text.split("\n"):
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            keep = "/hip/" in marker[1]
        elif keep and line.startswith("#define"):
            _read_macro(interface, line)
        elif keep and not line.startswith("#"):
            own.append(line)
    for declaration in _declarations("\n".join(own)):
        _read_declaration(interface, declaration)
    return interface


def _read_macro(interface: Interface, line: str) -> None:
    parts = line.split(None, 2)
    if len(parts) == 3 and _LEAST_MACRO.match(parts[1]) and _NUMBER.match(parts[2]) and re.search(r"\d", parts[2]):
        interface.macros[parts[1]] = parts[2]


def _declarations(text: str) -> Iterator[str]:
    """Yield the declarations of C text in a canonical spacing; functions with bodies are left out."""
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
    depth = start = 0
    for at, letter in enumerate(text):
        if letter == "{":
            depth += 1
        elif letter == "}":
            depth -= 1
            if depth == 0 and "(" in text[start:at].split("{", 1)[0]:
                start = at + 1
        elif letter == ";" and depth == 0:
            words = " ".join(re.findall(r"\w+|[^\w\s]", text[start : at + 1]))
            start = at + 1
            if words != ";":
                yield words


def _read_declaration(interface: Interface, words: str) -> None:
    function = re.match(r"(?!typedef)(.*?)(\w+) \( (.*?) ?\) ;$", words)
    if function and "{" not in words:
        interface.functions[function[2]] = (function[1].strip(), function[3])
        return
    named = re.match(r"(?:typedef )?(?:struct|union|enum) (\w+) \{", words)
    last = re.search(r"(\w+) ;$", words)
    callback = re.search(r"\( \* (\w+) \) \(", words)
    name = callback[1] if callback and "{" not in words else last[1] if last else named[1] if named else ""
    if not name:
        name = "enum of " + words.split()[2]
    interface.types[name] = words
    enum = re.match(r"(?:typedef )?enum (?:\w+ )?\{(.*)\}", words)
    if enum:
        interface.enumerators[name] = _values(interface, enum[1])


def _values(interface: Interface, body: str) -> dict[str, int]:
    known = {key: value for values in interface.enumerators.values() for key, value in values.items()}
    found: dict[str, int] = {}
    following = 0
    for item in body.split(","):
        name, _, value = (part.strip() for part in item.partition("="))
        if not name:
            continue
        if value:
            following = _number(value, known | found)
        found[name] = following
        following += 1
    return found


def _number(text: str, known: Mapping[str, int]) -> int:
    """Evaluate an enumerator's value: numbers, earlier enumerators, and + - | << of them."""
    text = re.sub(r"\b([A-Za-z_]\w*)\b", lambda name: str(known[name[1]]), text)
    text = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]*\b", r"\1", text).replace("< <", "<<")
    if not re.fullmatch(r"[\s0-9a-fA-Fx()+|<-]+", text):
        raise ValueError(f"an enumerator has the value {text!r}")
    return int(eval(text, {"__builtins__": {}}))  # digits and four operators, checked above


def read_bindings(path: Path) -> Interface:
    """Read function signatures and the members of enums from the declaration file of the bindings."""
    interface = Interface()
    for line in path.read_text(encoding="utf-8").split("\n"):
        found = re.match(r"cdef (\w+) (hip\w+)\((.*?)\)", line)
        if found:
            words = " ".join(re.findall(r"\w+|[^\w\s]", found[3])) or "void"
            interface.functions[found[2]] = (found[1], words)
    return interface


def write_header(versions: Sequence[Interface]) -> str:
    """Return the header: types of the newest headers, what older ones have otherwise, functions with their versions."""
    old, new, newest = versions
    lines = [
        "// clang-format off",
        "// HIP's interface as facts: types, values, parameters, and which version has which function. Written by",
        f"// anywarp.catalogue.derive_hip from HIP {OLD} and {NEW} headers and the bindings of {NEWEST}; change that instead.",
        "#pragma once",
        "",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "#ifndef __cplusplus",
        "#include <stdbool.h>",
        "#endif",
        "",
        *(f"#define {name} {value}" for name, value in {**old.macros, **new.macros}.items()),
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
    ]
    for name, words in new.types.items():
        lines += _type_lines(name, words, old, new)
    lines += ["", *(_prototype(name, versions) for name in _callable(versions)), ""]
    lines += ["#ifdef __cplusplus", '}  // extern "C"', "#endif", ""]
    lines += [
        f"// X(function, 1 if HIP {OLD} has it + 2 if {NEW} has it + 4 if {NEWEST} has it)",
        "#define AW_HIP_FUNCTIONS(X) \\",
    ]
    lines += [f"  X({name}, {_mask(name, versions)}) \\" for name in _callable(versions)]
    lines[-1] = lines[-1].removesuffix(" \\")
    others = [name for name in newest.functions if name not in _callable(versions)]
    lines += ["", f"// Only in {NEWEST}, with types that the headers read do not have:"]
    lines += [f"//   {name}" for name in sorted(others)]
    return "\n".join(lines) + "\n"


def _callable(versions: Sequence[Interface]) -> list[str]:
    """Return the names of functions whose prototype can be written down with the types at hand."""
    old, new, newest = versions
    known = {name for name in new.types if name != "dim3"} | {"hipUUID_t"}
    known |= set("const void char int unsigned long short float double struct union enum size_t * , [ ] bool".split())
    known |= {f"uint{n}_t" for n in (8, 16, 32, 64)}
    names = {name for name in (*old.functions, *new.functions) if name.startswith("hip")}
    for name, (_, parameters) in newest.functions.items():
        types = {word for part in parameters.split(",") for word in part.split()[:-1]}
        if types <= known:
            names.add(name)
    return sorted(names)


def _mask(name: str, versions: Sequence[Interface]) -> int:
    return sum(1 << place for place, version in enumerate(versions) if name in version.functions)


def _prototype(name: str, versions: Sequence[Interface]) -> str:
    old, new, newest = versions
    chosen = next(v for v in (new, old, newest) if name in v.functions)
    result, parameters = chosen.functions[name]
    before = "" if name not in old.functions or _types(old, name) == _types(chosen, name) else old.functions[name][1]
    if chosen is newest:  # the bindings write no tags of structures, and the elements of arrays as pointers
        parameters = re.sub(r"\bhipUUID_t\b", "hipUUID", parameters)
    return f"{result} {name}({_tidy(parameters)});" + (f"  // {OLD}: {_tidy(before)}" if before else "")


def _types(interface: Interface, name: str) -> list[list[str]]:
    parts = interface.functions[name][1].replace("enum ", "").replace("struct ", "").split(",")
    return [part.split()[:-1] for part in parts]


def _type_lines(name: str, words: str, old: Interface, new: Interface) -> list[str]:
    values = new.enumerators.get(name)
    if values is None:
        lines = [_laid_out(words)]
        before = old.types.get(name)
        if before is not None and before != words and "{" in words:
            lines.append(f"// HIP {OLD} has it thus:")
            lines += ["// " + line for line in _laid_out(before).split("\n")]
        return lines
    head = words.split("{")[0]
    tail = words.rsplit("}", 1)[1]
    earlier = old.enumerators.get(name, {})
    lines = [head.strip() + " {"]
    for key, value in values.items():
        was = earlier.get(key)
        note = "" if was == value else f"  // since {NEW.partition('.')[0]}" if was is None else f"  // {OLD}: {was}"
        lines.append(f"  {key} = {value},{note if earlier else ''}")
    lines += [f"  // {OLD} has {key} = {value}" for key, value in earlier.items() if key not in values]
    return [*lines, "}" + tail.replace(" ;", ";")]


def _laid_out(words: str) -> str:
    """Return a declaration with a line for each member, indented by its depth."""
    out, depth = "", 0
    for word in re.split(r"(\{|\}|;)", words):
        word = word.strip()
        if word == "{":
            depth += 1
            out = out.rstrip() + " {\n" + "  " * depth
        elif word == "}":
            depth -= 1
            out = out.rstrip() + "\n" + "  " * depth + "} "
        elif word == ";":
            out = out.rstrip() + ";\n" + "  " * depth
        elif word:
            out += _tidy(word)
    return out.strip()


def _tidy(text: str) -> str:
    for before, after in ((" ,", ","), (" *", "*"), ("* ", "* "), (" [ ", "["), (" ]", "]"), ("( ", "("), (" )", ")")):
        text = text.replace(before, after)
    return text


def main(arguments: Sequence[str]) -> int:
    """Run as a command: two include folders, a declaration file, the output; returns the exit code."""
    if len(arguments) != 4:
        print("usage: derive_hip OLD_INCLUDE NEW_INCLUDE CYHIP_PXD OUTPUT", file=sys.stderr)
        return 2
    first, second, third, output = map(Path, arguments)
    output.write_text(write_header((read_headers(first), read_headers(second), read_bindings(third))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
