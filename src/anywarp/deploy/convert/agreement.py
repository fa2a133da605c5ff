"""A change is made only where all that depends on it in the same file changes too.

Rules see one place each. Here their findings are held against each other: a name that something must go on using is not taken
away elsewhere, a list of architectures follows the variable that carries it, and what is left as a whole is left.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from anywarp.catalogue import replacements
from anywarp.catalogue.migration import rows
from anywarp.deploy.convert import codes
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal

_LIST = re.compile(r"[ ]*\d{1,2}\.\d[af]?(?:\+PTX)?(?:(?:[ ;,]|\\;)+\d{1,2}\.\d[af]?(?:\+PTX)?)*[ ;]*")
"""Architectures of NVIDIA's cards, as PyTorch's and CMake's variables list them."""

_SET = re.compile(r"(?<![\w$])(?<!\$[{(])[A-Z][A-Z_\d]+(?!\w)")
_READ = re.compile(
    r"\$[{(]?(?P<shell>[A-Z_]\w*)|(?:\benv\.|\benviron(?:\.get\(|\[)[\"']|\bgetenv\([\"'])(?P<other>[A-Z_]\w*)"
)
"""A variable that is read: by a shell, by Kubernetes and make (`$(NAME)`), by a workflow's expression, by Python."""


def agreed(data: bytes, findings: Sequence[Finding], options: Options) -> list[Finding]:
    """Return the findings about a text, of which those that would break another are refusals."""
    out = _architectures(data, list(findings), options)
    out = _names(data, out)
    return _whole(out)


# --- names ----------------------------------------------------------------------------------------------------------------


def _names(data: bytes, findings: list[Finding]) -> list[Finding]:
    """Leave a name where something that stays goes by it, and with it everything else that goes by that name."""
    needed: dict[str, Refusal] = {}
    while True:
        renamed = {name for f in findings if isinstance(f, Change) for name in _renames(data, f)}
        for finding in findings:
            if isinstance(finding, Refusal):
                needed |= {name: finding for name in _needs(data, finding) if name in renamed and name not in needed}
        left = {
            id(f): _left(data, f, needed)
            for f in findings
            if isinstance(f, Change) and needed.keys() & _goes_by(data, f)
        }
        if not left:
            return findings
        for finding in findings:  # a variable that goes on being set under its name is read under that name
            if isinstance(finding, Change) and id(finding) in left:
                names = [*_renames(data, finding), *(f"{target}=" for _, target in _set(_text(data, finding)))]
                needed |= {name: left[id(finding)] for name in names if name not in needed}
        findings = [left.get(id(f), f) for f in findings]


def _renames(data: bytes, change: Change) -> Iterator[str]:
    """Yield the names that are gone when a change is made."""
    if change.renames:
        yield change.renames
    old, new = _text(data, change), change.replacement.decode("latin-1")
    before = data[max(0, change.start - len("${")) : change.start]
    if before.endswith((b"$", b"${", b"$(")):
        return  # a variable that is read
    for name, target in _set(old):
        if not re.search(rf"(?<!\w){name}(?!\w)", new):
            yield f"${name}"
        if not new.strip():
            yield f"{target}="  # taken out, since another variable has that name


def _text(data: bytes, finding: Finding) -> str:
    return data[finding.start : finding.end].decode("latin-1")


def _set(text: str) -> Iterator[tuple[str, str]]:
    """Yield the variables of CUDA's that a text sets and that have another name on ROCm, with that name."""
    for found in _SET.finditer(text):
        row = replacements.variable(found[0])
        if row is not None and row["conversion"] == "rename":
            yield found[0], row["target"]


def _needs(data: bytes, refusal: Refusal) -> Iterator[str]:
    if refusal.needs:
        yield refusal.needs
    if refusal.code != codes.REPLACED_WHOLE:
        yield from _named(_seen(data, refusal))


def _goes_by(data: bytes, change: Change) -> set[str]:
    return {*_named(_seen(data, change)), *_renames(data, change)}


def _seen(data: bytes, finding: Finding) -> bytes:
    """Return the bytes of a finding; where a variable is read its name alone is, without what stands before it."""
    return data[max(0, finding.start - len("${")) : finding.end]


def _named(text: bytes) -> Iterator[str]:
    """Yield the names that a piece of text goes by: variables that it reads, and nvidia-smi."""
    for found in _READ.finditer(text.decode("latin-1")):
        yield f"${found['shell'] or found['other']}"
    if b"nvidia-smi" in text:
        yield "nvidia-smi"


def _left(data: bytes, change: Change, needed: dict[str, Refusal]) -> Refusal:
    name = next(name for name in sorted(_goes_by(data, change)) if name in needed)
    other = needed[name]
    snippet = data[other.start : other.end].split(b"\n")[0][:60].decode("utf-8", "replace")
    line = data.count(b"\n", 0, other.start) + 1
    reason = f"stays, because line {line} goes by {name} and is not converted: {snippet}"
    help = "convert that place by hand, then this one"
    return Refusal(change.start, change.end, reason, help, change.source, codes.DEPENDS, needs=change.renames)


# --- lists of architectures ---------------------------------------------------------------------------------------------------


def _architectures(data: bytes, findings: list[Finding], options: Options) -> list[Finding]:
    """Where a list of architectures comes from another variable, change the list there, or leave both."""
    names = [row["name"] for row in rows("environment") if row["values"] == "architectures"]
    carries = re.compile(
        rf"(?<!\w)(?:{'|'.join(names)})[\"']?[ \t]*[=: ][ \t]*[\"']?"
        r"\$(?:\{(?P<braced>\w+)(?::?-(?P<default>[^}]*))?\}|(?P<bare>\w+))[\"']?(?![\w/.])"
    )
    text = data.decode("latin-1")
    carried: dict[str, list[re.Match[str]]] = {}
    for found in carries.finditer(text):
        name = found["braced"] or found["bare"]
        if name not in names:
            carried.setdefault(name, []).append(found)
    for name, places in carried.items():
        findings = _carried(text, findings, name, places, options)
    return findings


def _carried(
    text: str, findings: list[Finding], name: str, places: list[re.Match[str]], options: Options
) -> list[Finding]:
    spans = [place.span() for place in places]
    renames = [f for f in findings if isinstance(f, Change) and _within_any(f.start, spans)]
    if not renames:
        return findings
    set_in = list(
        re.finditer(rf"(?m)(?<![\w$]){name}=(?P<quote>[\"']?)(?P<value>[^\"'\n]*?)(?P=quote)(?=[\s;&|]|$)", text)
    )
    values = [found for found in set_in if found["value"]]
    elsewhere = any(not _within_any(found.start(), spans) for found in re.finditer(rf"\$\{{?{name}\b", text))
    if elsewhere:
        why = f"{name} is read for other things, too"
    elif not values and not any(place["default"] for place in places):
        why = f"{name} is not set here: whoever sets it gives NVIDIA's numbers"
    elif not all(_LIST.fullmatch(found["value"]) for found in values):
        why = f"what {name} is set to is no list of architectures"
    elif not options.target.architecture:
        why = "the target's architecture is not known"
    else:
        reason = f"{name} is what the architectures are taken from"
        new = [
            Change(*found.span("value"), options.target.architecture.encode(), reason, renames[0].source)
            for found in values
        ]
        spoken = [*spans, *(found.span() for found in set_in)]
        fine = [Fine(start, end, reason) for start, end in spoken]
        lines = {text.rfind("\n", 0, change.start) for change in new}
        gone = [
            f
            for f in findings
            if (isinstance(f, Note) and text.rfind("\n", 0, f.start) in lines)  # "it stays"
            or (isinstance(f, Refusal) and f.code == codes.NOT_CONVERTED and _within_any(f.start, spoken))
        ]
        return [f for f in findings if f not in gone] + new + fine
    help = f"set the variable to architectures of AMD GPUs, such as {options.target.architecture or 'gfx942'}, and rename it"
    left = {id(f): Refusal(f.start, f.end, why, help, f.source, codes.DEPENDS) for f in renames}
    return [left.get(id(f), f) for f in findings]


def _within_any(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)


# --- what is left as a whole --------------------------------------------------------------------------------------------------


def _whole(findings: list[Finding]) -> list[Finding]:
    """Drop changes inside what is left as a whole."""
    spans = sorted((f.start, f.end) for f in findings if isinstance(f, Refusal) and f.code == codes.REPLACED_WHOLE)
    if not spans:
        return findings
    starts, reach, furthest = [start for start, _ in spans], list[int](), 0
    for _, end in spans:
        furthest = max(furthest, end)
        reach.append(furthest)

    def inside(change: Change) -> bool:
        index = bisect_right(starts, change.start) - 1
        return index >= 0 and change.end <= reach[index] and change.start < reach[index]

    return [f for f in findings if not (isinstance(f, Change) and inside(f))]
