"""Makes sources that compile for both vendors: CUDA's names stay, and one header, made for the tree, maps them for HIP.

A macro per name is the least that changes a source; nvcc never sees the header, and the names are listed in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from anywarp.catalogue.identifiers import headers, identifiers
from anywarp.migrate.translate.edits import Edit, Outcome
from anywarp.migrate.translate.includes import Include
from anywarp.migrate.translate.needs import place_of_include
from anywarp.migrate.translate.rules_device import ATTRIBUTES, FUNCTIONS, GONE, macros
from anywarp.migrate.translate.rules_foreign import Collectives
from anywarp.migrate.translate.rules_names import DECORATIONS, PROPERTY, interesting
from anywarp.migrate.translate.rules_pasting import PASTED
from anywarp.migrate.translate.rules_versions import VERSIONS
from anywarp.migrate.translate.unit import Unit

HEADER = "anywarp_cuda_names.h"
GIVEN = frozenset(Collectives.HEADERS)
"""Headers of CUDA that support headers stand in for."""
_BY_GROUPS = b"labeled_partition"
"""A function that a support header declares where HIP's headers have its kin."""
GUARD = b"#if defined(__HIP_PLATFORM_AMD__) || defined(__HIP__)"


def guarded(unit: Unit, cudas: list[Include], implicit: bool) -> Iterator[Outcome]:
    """Yield the edits that put CUDA's includes, neighbours together, behind a condition, or add the header where none is."""
    end_of_line = b"\r\n" if b"\r\n" in unit.data else b"\n"
    header = b'#include "' + b"../" * (len(unit.path.parts) - 1) + HEADER.encode() + b'"'
    reason = "for HIP, the names of CUDA come from one header"
    for first, last in _neighbours(unit, cudas):
        before = end_of_line.join((GUARD, header, b"#else", b""))
        end = min(last.directive.end + 1, len(unit.data))
        after = (b"" if unit.data[end - 1 : end] == b"\n" else end_of_line) + b"#endif" + end_of_line
        start = first.directive.start
        yield Edit(start, start, before, "keep-cuda", reason, group=start + 1)
        yield Edit(end, end, after, "keep-cuda", reason, group=start + 1)
    if not cudas and implicit and HEADER.encode() not in unit.data:
        place = place_of_include(unit)
        yield Edit(place, place, end_of_line.join((GUARD, header, b"#endif", b"")), "keep-cuda", reason)


def _neighbours(unit: Unit, cudas: list[Include]) -> Iterator[tuple[Include, Include]]:
    first = last = None
    for each in cudas:
        if last is not None and not unit.data[last.directive.end : each.directive.start].strip():
            last = each
            continue
        if first is not None and last is not None:
            yield first, last
        first = last = each
    if first is not None and last is not None:
        yield first, last


def names_of(unit: Unit) -> frozenset[str]:
    """Return the names of CUDA in a unit that a header must map, and the headers of CUDA that it includes."""
    known = interesting(unit.target.rocm)
    candidates = set(unit.words)
    for left in PASTED.findall(unit.code):
        candidates |= {left + word for word in unit.words}
    mapped = {word for word in candidates & known.keys() if known[word].target and not PROPERTY.match(word)}
    device = FUNCTIONS.keys() | GONE.keys() | ATTRIBUTES.keys() | {_BY_GROUPS}
    found = mapped | (candidates & (VERSIONS.keys() | DECORATIONS | device))
    given = unit.headers.keys() | GIVEN
    included = {each.name for each in unit.includes if each.name in given or each.name.startswith("cub/")}
    return frozenset((*(word.decode() for word in found), *included))


def header_text(names: Iterable[str], rocm: str) -> str:
    """Return the text of the header for the names, and headers of CUDA, that a tree uses."""
    wanted, known, counterparts = set(names), identifiers(rocm), headers(rocm)
    includes = sorted(
        {counterparts[name].target for name in wanted if name in counterparts and counterparts[name].target}
        - {"hip/hip_runtime.h"}
    )
    lines = [
        "// Names of CUDA that this tree uses, as HIP has them. Made by `anywarp translate --keep-cuda`; only compilers for HIP see it.",
        "#pragma once",
        "#include <hip/hip_runtime.h>",
    ]
    for each in includes:
        lines += [f"#if __has_include(<{each}>)", f"#include <{each}>", "#endif"]
    if any(name.startswith("cub/") for name in wanted):
        lines += [
            "#if __has_include(<hipcub/hipcub.hpp>)",
            "#include <hipcub/hipcub.hpp>",
            "namespace cub = hipcub;",
            "#endif",
        ]
    needed, defined = macros(wanted)
    needed |= {Collectives.HEADERS[name] for name in wanted if name in Collectives.HEADERS}
    needed |= {b'"anywarp_groups.h"'} if _BY_GROUPS.decode() in wanted else set()
    lines += [f"#include {each.decode()}" for each in sorted(needed)]
    versions = {name for name in wanted if name.encode() in VERSIONS}
    if versions:
        lines.append('#include "anywarp_version.h"')
        lines += [f"#define {name} {VERSIONS[name.encode()].decode()}" for name in sorted(versions)]
    lines += [f"#define {name}" for name in sorted(wanted) if name.encode() in DECORATIONS]
    lines.append("")
    lines += defined
    lines += [
        f"#define {name} {known[name].target}"
        for name in sorted(wanted - versions)
        if name.encode() not in FUNCTIONS and name in known and known[name].target
    ]
    return "\n".join(lines) + "\n"
