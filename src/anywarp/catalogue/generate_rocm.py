"""Write the C++ of one library of CUDA that forwards to ROCm's: a thunk per function, converters of enums, exports.

The build runs it (`python generate_rocm.py STEM OUTDIR`, with the standard library only). What is the same for CUDA 12 and 13
goes into one file, which is compiled once.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__" and not __package__:  # run as a file by the build, where nothing is installed
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from anywarp.catalogue.conversion import (
    NUMBERS,
    OPEN_ENDED,
    Argument,
    Unconvertible,
    arguments_of,
    from_target,
    meaning,
    to_target,
)
from anywarp.catalogue.rocm import DATA, Answer, Function, Library, load, parameters_of
from anywarp.catalogue.rocm_libraries import LIBRARIES, Replaced, Variant

MADE = "// Made by anywarp/catalogue/generate_rocm.py; change the tables instead.\n"


NATIVE = Path(__file__).resolve().parents[3] / "native" / "rocm"
"""Where functions are written by hand, a folder per library."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One exported function of one variant: the text of its thunk (none if written by hand), and the enums that it converts."""

    function: Function
    route: str
    reason: str
    text: str = ""
    converters: tuple[str, ...] = ()


def major_of(function: Function, variant: Variant) -> int | None:
    """Return the version of CUDA whose declaration a variant of the library follows, None where it has not the function."""
    return next((major for major in variant.majors if major in function.majors), None)


def written_by_hand(folder: Path) -> dict[str, set[str]]:
    """Return the functions that C++ files of `folder` define, by the version that they are for ("" for all)."""
    found: dict[str, set[str]] = {}
    for path in sorted(folder.glob("*.cpp")) if folder.is_dir() else ():
        version = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if match := re.match(r"#if AW_VERSION == (\d+)", line):
                version = match[1]
            elif line.startswith(("#endif", "#else")):
                version = ""
            elif match := re.match(r"(?:AW_EXPORT\b[^(]*?\b|AW_BY_HAND\w*\()(\w+)\s*[(,)]", line):
                found.setdefault(match[1], set()).add(version)
    return found


def plan(library: Library, replaced: Replaced, variant: Variant, by_hand: Mapping[str, set[str]]) -> list[Planned]:
    """Decide what answers each function that a variant exports: what is written by hand comes before what the tables say."""
    planned: list[Planned] = []
    for index, function in enumerate(library.functions):
        major = major_of(function, variant)
        if major is None:
            continue
        route, reason, text, converters = function.route, function.reason, "", tuple[str, ...]()
        if by_hand.get(function.name, set()) & {"", variant.name}:
            planned.append(Planned(function, "custom", ""))
            continue
        if route == "custom" and function.answers and function.reason.startswith("CUDA "):
            route = "forward"  # the table compared declarations word by word; there may be a rule for the difference
        if route == "custom":
            route, reason = "absent", reason or "nothing answers it yet"
        if route == "forward":
            try:
                text, converters = thunk(library, replaced, function, major, index)
            except Unconvertible as problem:
                route, reason = "absent", str(problem)
        if route == "absent":
            text = absent(library, replaced, function, index)
        planned.append(Planned(function, route, reason, text, converters))
    return planned


def thunk(
    library: Library, replaced: Replaced, function: Function, major: int, index: int
) -> tuple[str, tuple[str, ...]]:
    """Return the C++ of a forwarder and the enums that it converts; Unconvertible where a type has no rule.

    Answers that are called alike share one way; where they differ between versions of ROCm there is one way for each.
    """
    ways = [_way(library, replaced, function, answer, major) for answer in function.answers]
    taken, result, status = ways[0].taken, ways[0].result, ways[0].status
    lines = [f"AW_EXPORT {result} {function.name}({taken}) {{"]
    if len({way.body for way in ways}) == 1:
        lines += [f"  void* const t = enter({index});", f"  if (!t) return {_missing(ways[0], index)};", ways[0].body]
    else:
        lines += [
            "  int answer;",
            f"  void* const t = enter({index}, &answer);",
            f"  if (!t) return {_missing(ways[0], index)};",
        ]
        bodies = list(dict.fromkeys(way.body for way in ways))
        for body in bodies[:-1]:
            chosen = " || ".join(f"answer == {n}" for n, way in enumerate(ways) if way.body == body)
            lines += [f"  if ({chosen}) {{", body, "  }"]
        lines.append(bodies[-1])
    lines.append("}")
    used = {name for way in ways for name in way.converters} | ({replaced.status} if status else set[str]())
    return "\n".join(lines).replace("@INDEX@", str(index)) + "\n", tuple(sorted(used))


@dataclass(frozen=True, slots=True)
class _Way:
    taken: str
    result: str
    status: bool
    body: str
    converters: tuple[str, ...]


def _missing(way: _Way, index: int) -> str:
    return f"missing({index})" if way.status else f"nothing<{way.result}>({index})"


def _way(library: Library, replaced: Replaced, function: Function, answer: Answer, major: int) -> _Way:
    """Return how one answer is called."""
    arguments = arguments_of(library, function, answer, major)
    result, status, named = _result(library, replaced, function, answer)
    checks, given, after, lines = list[str](), list[str](), list[str](), list[str]()
    for n, argument in enumerate(arguments):
        _convert(n, argument, lines, checks, given, after)
    if (checks or after) and not status:
        raise Unconvertible(f"returns {function.result}, which cannot tell of a wrong argument")
    if checks:
        lines.append(f"  if (const int e = {' | '.join(checks)}) return refuse(e, @INDEX@);")
    types = ", ".join(argument.target_type for argument in arguments)
    call = f"reinterpret_cast<{result} (*)({types})>(t)({', '.join(given)})"
    if named:
        lines += [f"  int r = {call};", f"  return from_{named}(r, &r), r;"]
    elif not status:
        lines.append(f"  return {call};")
    elif after:
        lines += [f"  const int r = status({call});", f"  if (r == {replaced.code(library, 'success')}) {{"]
        lines += [*(f"    {line}" for line in after), "  }", "  return r;"]
    else:
        lines.append(f"  return status({call});")
    taken = ", ".join(f"{argument.type} a{n}" for n, argument in enumerate(arguments))
    converters = (*(a.converter for a in arguments if a.converter), *([named] if named else []))
    return _Way(taken, result, status, "\n".join(lines), converters)


def _convert(
    n: int, argument: Argument, lines: list[str], checks: list[str], given: list[str], after: list[str]
) -> None:
    name = argument.converter
    match argument.how:
        case "enum":
            lines.append(f"  int c{n} = 0;")
            checks.append(f"to_{name}(a{n}, &c{n})")
            given.append(f"c{n}")
        case "enum_out":
            lines.append(f"  int c{n} = 0;")
            given.append(f"a{n} ? &c{n} : nullptr")
            after.append(f"if (a{n} && from_{name}(c{n}, a{n})) return unknown_value();")
        case "stream":
            given.append(f"stream(a{n})")
        case "number":
            lines.append(f"  {argument.target_type} c{n};")
            checks.append(f"narrow(a{n}, &c{n})")
            given.append(f"c{n}")
        case "number_out":
            lines.append(f"  unsigned long c{n} = 0;")
            given.append(f"a{n} ? &c{n} : nullptr")
            after.append(f"if (a{n} && narrow(c{n}, a{n})) return unknown_value();")
        case "own":
            lines.append(f"  void* c{n} = nullptr;")
            checks.append(f"own_find(a{n}, &c{n})")
            given.append(f"c{n}")
        case "own_out":
            lines.append(f"  void* c{n} = nullptr;")
            given.append(f"a{n} ? &c{n} : nullptr")
            after.append(f"if (a{n}) *a{n} = own_enter(c{n});")
        case _:
            given.append(f"a{n}")


def _result(library: Library, replaced: Replaced, function: Function, answer: Answer) -> tuple[str, bool, str]:
    """Return the C++ type of the result, whether it is the library's status, and the other enum that it is."""
    kind, name = meaning(library, function.result, target=False)
    if kind == "enum" and name != replaced.status:
        if meaning(library, answer.result, target=True) == ("enum", library.types[name].target):
            return "int", False, name
        raise Unconvertible(f"returns {function.result}, {answer.symbol} {answer.result}")
    if meaning(library, function.result, target=False) == ("enum", replaced.status):
        if meaning(library, answer.result, target=True) != ("enum", library.types[replaced.status].target):
            raise Unconvertible(f"returns {function.result}, {answer.symbol} {answer.result}")
        return "int", True, ""
    ours, theirs = parameters_of(function.result)[:1], parameters_of(answer.result)[:1]
    if not ours or not theirs:
        if ours == theirs:
            return "void", False, ""
        raise Unconvertible(f"returns {function.result}, {answer.symbol} {answer.result}")
    if ours[0].base in NUMBERS and theirs[0].base in NUMBERS and ours[0].pointers == theirs[0].pointers:
        if ours[0].pointers:
            return "void*", False, ""
        if NUMBERS[ours[0].base] == NUMBERS[theirs[0].base]:
            return NUMBERS[ours[0].base][0], False, ""
    raise Unconvertible(f"returns {function.result}, {answer.symbol} {answer.result}")


def absent(library: Library, replaced: Replaced, function: Function, index: int) -> str:
    """Return the C++ of a function that says that it is not there."""
    kind = meaning(library, function.result, target=False)
    # Of functions that no header declares only the name is known; they are taken for the library's usual kind.
    if kind == ("enum", replaced.status) or not function.result:
        return f"AW_ABSENT({function.name}, {index})\n"
    return f"AW_ABSENT_NOTHING({function.name}, {index})\n"


def converter(library: Library, name: str, major: int) -> str:
    """Return the C++ of both converters of an enum: 0 done, 1 no such value, 2 a value that the counterpart has not."""
    to, back = ([table(library, name, major, runtime) for runtime in (7, 6)] for table in (to_target, from_target))
    start = next((c.values[major] for c in library.constants[name] if c.name == OPEN_ENDED.get(name)), None)
    return _converter(f"to_{name}", to[0], to[1], start) + _converter(
        f"from_{name}", dict(back[0]), dict(back[1]), start
    )


Values = dict[int, int | None]


def _converter(name: str, newest: Values | dict[int, int], older: Values | dict[int, int], start: int | None) -> str:
    lines = [f"[[maybe_unused]] static int {name}(int value, [[maybe_unused]] int* out) {{"]
    if start is not None:
        lines.append(f"  if (value >= {start}) return *out = value, 0;")
    if newest != older:
        lines += ["  if (runtime_major() == 6) {", *_switch(older), "  }"]
    return "\n".join([*lines, *_switch(newest), "}"]) + "\n"


def _switch(table: Values | dict[int, int]) -> list[str]:
    known = [
        f"    case {_int(value)}: *out = {_int(counterpart)}; return 0;"
        for value, counterpart in sorted(table.items())
        if counterpart is not None
    ]
    lost = [f"    case {_int(value)}:" for value, counterpart in sorted(table.items()) if counterpart is None]
    return [
        "  switch (value) {",
        *known,
        *([*lost, "      return 2;"] if lost else []),
        "    default: return 1;",
        "  }",
    ]


def status_code(replaced: Replaced, library: Library) -> str:
    """Return the C++ that turns the counterpart's status into ours; a status that nobody knows is an internal error."""
    return (
        f"static inline int status(int value) {{\n  int out;\n"
        f"  return from_{replaced.status}(value, &out) ? {replaced.code(library, 'internal')} : out;\n}}\n"
    )


def status_names(replaced: Replaced, library: Library, major: int) -> str:
    """Return the C++ that gives the name of one of our status codes, null for a number that is none."""
    names = {c.values[major]: c.name for c in reversed(library.constants[replaced.status]) if major in c.values}
    cases = [f'    case {value}: return "{name}";' for value, name in sorted(names.items())]
    return "\n".join(
        [
            "[[maybe_unused]] static const char* status_name(int value) {",
            "  switch (value) {",
            *cases,
            "    default: return nullptr;",
            "  }",
            "}",
        ]
    )


def _text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


def _source(library: Library, replaced: Replaced, chosen: Iterable[Planned], major: int, extra: str = "") -> str:
    chosen = list(chosen)
    names = sorted({name for entry in chosen for name in entry.converters} | {replaced.status})
    return "\n".join(
        [
            f'{MADE}#include "rocm/forward.h"\n\nusing namespace aw::rocm;\n',
            *(converter(library, name, major) for name in names),
            status_code(replaced, library),
            *(entry.text for entry in chosen if entry.text),
            extra,
        ]
    )


def tables(library: Library, replaced: Replaced, plans: dict[str, list[Planned]]) -> str:
    """Return the C++ tables that the loader reads: functions with their targets, the library's names and codes."""
    reasons = {entry.function.name: entry for group in plans.values() for entry in group}
    rows = list[str]()
    for function in library.functions:
        entry = reasons.get(function.name)
        reason = entry.reason if entry and entry.route == "absent" else ""
        target = "" if reason else "|".join(_symbol(answer) for answer in function.answers)
        rows.append(f"    {{{_text(function.name)}, {_text(target)}, {_text(reason)}}},")
    codes = ("not_initialized", "invalid_value", "not_supported", "internal", "invalid_handle")
    sonames = ", ".join(f'"{name}"' for name in (*replaced.target_sonames, ""))
    return "\n".join(
        [
            "namespace aw::rocm {",
            "const Function functions[] = {",
            *rows,
            "};",
            f"const unsigned function_count = {len(rows)};",
            f"State states[{len(rows)}];",
            f"static const char* const sonames[] = {{{sonames}}};",
            f"const Library library = {{{_text(replaced.title)}, {_text(replaced.target_title)}, {_text(replaced.package)}, sonames,",
            f"                         {', '.join(str(replaced.code(library, what)) for what in codes)}}};",
            "}  // namespace aw::rocm",
            "",
        ]
    )


def _symbol(answer: Answer) -> str:
    return f"{answer.symbol}@{answer.first}{answer.last}"


def header(library: Library, replaced: Replaced, variant: Variant) -> str:
    """Return what the functions written by hand need: constants of both sides, converters, their own declarations."""
    major = variant.majors[0]
    lines = [f'{MADE}#pragma once\n\n#include "rocm/forward.h"\n', "namespace cuda {"]
    wanted = [name for name, entry in library.types.items() if entry.kind == "enum" and name in library.constants]
    seen = set[str]()
    for name in wanted:
        values = [(c.name, c.values[m]) for c in library.constants[name] for m in variant.majors[:1] if m in c.values]
        values += [(c.name, c.values[m]) for c in library.constants[name] for m in variant.majors[1:] if m in c.values]
        values = [(key, value) for key, value in dict(reversed(values)).items() if key not in seen]
        seen |= {key for key, _ in values}
        if values:
            lines.append(f"enum : int {{ {', '.join(f'{key} = {_int(value)}' for key, value in values)} }};  // {name}")
    for constant in library.constants.get("#define", ()):
        value = constant.values.get(major)
        if value is not None and -(1 << 31) <= value < 1 << 31:
            lines.append(f"constexpr int {constant.name} = {value};")
    lines += ["}  // namespace cuda", "namespace hip {"]
    seen.clear()
    for back in (entry for name in wanted for entry in library.back.get(name, ())):
        if back.name not in seen and 7 in back.values:
            seen.add(back.name)
            lines.append(f"constexpr int {back.name} = {_int(back.values[7])};")
    for name in wanted:
        for constant in library.constants[name]:
            if constant.target and constant.target_values[7] is not None and constant.target not in seen:
                seen.add(constant.target)
                lines.append(f"constexpr int {constant.target} = {_int(constant.target_values[7])};")
    lines += ["}  // namespace hip"]
    lines.append("namespace aw::rocm {")
    lines += [converter(library, name, major) for name in wanted]
    lines.append(status_code(replaced, library))
    lines.append(status_names(replaced, library, major))
    lines.append("// Places of functions in the table.\nenum : unsigned {")
    lines += [f"  at_{function.name} = {index}," for index, function in enumerate(library.functions)]
    lines.append("};\n}  // namespace aw::rocm")
    return "\n".join(lines) + "\n"


def _int(value: int) -> str:
    return str(value if value < 1 << 31 else value - (1 << 32))


def exports(replaced: Replaced, variant: Variant, planned: list[Planned]) -> str:
    """Return a linker version script: every function, under the version that the original has, and nothing else."""
    version = f"{variant.soname} " if replaced.versioned else ""
    return (
        f"{version}{{\n  global:\n"
        + "".join(f"    {entry.function.name};\n" for entry in planned)
        + "  local:\n    *;\n};\n"
    )


def generate(stem: str, directory: Path, folder: Path = DATA) -> list[Path]:
    """Write the files of library `stem` into `directory`; returns those written."""
    library, replaced = load(stem, folder), LIBRARIES[stem]
    by_hand = written_by_hand(NATIVE / stem)
    plans = {variant.name: plan(library, replaced, variant, by_hand) for variant in replaced.variants}
    shared = _shared(library, replaced, plans)
    first = replaced.variants[0]
    files = {
        f"{stem}_common.cpp": _source(
            library,
            replaced,
            (entry for entry in plans[first.name] if entry.function.name in shared),
            first.majors[0],
            tables(library, replaced, plans),
        )
    }
    for variant in replaced.variants:
        planned = plans[variant.name]
        own = [entry for entry in planned if entry.function.name not in shared]
        by_hand = [entry.function.name for entry in planned if entry.route == "custom"]
        # A function that is written by hand and missing fails the link, not the program.
        needed = "".join(f'extern "C" void {name}();\n' for name in by_hand)
        needed += "extern void (*const aw_written_by_hand[])();\nvoid (*const aw_written_by_hand[])() = {"
        needed += "".join(f"{name}, " for name in by_hand) + "nullptr};\n"
        files[f"{stem}_{variant.name}.cpp"] = _source(library, replaced, own, variant.majors[0], needed)
        files[f"{stem}_{variant.name}.h"] = header(library, replaced, variant)
        files[f"{stem}_{variant.name}.map"] = exports(replaced, variant, planned)
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (directory / name).write_text(content, encoding="utf-8")
    return [directory / name for name in files]


def _shared(library: Library, replaced: Replaced, plans: dict[str, list[Planned]]) -> set[str]:
    """Return the functions whose C++ is the same in every variant, converters included."""
    groups = [{entry.function.name: entry for entry in group} for group in plans.values()]
    majors = [variant.majors[0] for variant in replaced.variants]
    first = groups[0]

    def same(name: str, entry: Planned) -> bool:
        if any(name not in group or group[name].text != entry.text for group in groups):
            return False
        return all(
            len({converter(library, each, major) for major in majors}) == 1
            for each in (*entry.converters, replaced.status)
        )

    return {name for name, entry in first.items() if same(name, entry)}


def main(arguments: Sequence[str]) -> int:
    """Run as a command: STEM DIRECTORY; returns the exit code."""
    if len(arguments) != 2:
        print("usage: generate_rocm.py STEM DIRECTORY", file=sys.stderr)
        return 2
    generate(arguments[0], Path(arguments[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
