"""What takes the place of one name of CUDA on AMD GPUs: `anywarp explain cudaMemPrefetchAsync`.

Someone who reads a source or a report wonders about one function; the tables hold the answer for every release of ROCm.
"""

from __future__ import annotations

import difflib
import json

import click

from anywarp.catalogue.identifiers import Identifier, headers, identifiers, namespaces
from anywarp.catalogue.releases import NEWEST, RELEASES, USUAL
from anywarp.diagnostics import AnywarpError, Diagnostic

WORDS = {
    "mapped": "{name} is {target} on ROCm {rocm}",
    "emulated": "{name} has no counterpart on ROCm {rocm}; programs under `anywarp run` have it, served by anywarp's own library",
    "absent": "{name} has no answer on ROCm {rocm}",
}


def explain_name(name: str, rocm: str | None, style: str) -> int:
    """Print what is known of `name`; return the exit code. AnywarpError (L002) for a name that no table has, or no release of ROCm."""
    try:
        found = _look_up(name, rocm or NEWEST)
    except ValueError as error:
        raise AnywarpError(Diagnostic("L002", str(error), help=f"give a release such as --rocm {USUAL}")) from None
    if found is None:
        near = difflib.get_close_matches(name, identifiers().keys(), 3)
        help = (
            f"did you mean {' or '.join(near)}?"
            if near
            else "`anywarp explain` without a name lists the codes of diagnostics"
        )
        raise AnywarpError(Diagnostic("L002", f"there is no diagnostic and no name of CUDA {name[:80]!r}", help=help))
    if style == "json":
        click.echo(json.dumps(_as_json(found, rocm), indent=2))
        return 0
    click.echo("\n".join(_lines(found, rocm)))
    return 0


def _look_up(name: str, rocm: str) -> Identifier | None:
    for table in (identifiers(rocm), headers(rocm), namespaces(rocm)):
        if name in table:
            return table[name]
    return None


def _lines(found: Identifier, rocm: str | None) -> list[str]:
    headline = WORDS[found.state].format(name=found.name, target=found.target, rocm=rocm or NEWEST)
    lines = [f"{headline} ({found.kind}, {found.subject})"]
    if found.reason and found.state != "mapped":
        lines.append(f"  why: {found.reason}")
    if found.since:
        lines.append(f"  since: ROCm {found.since}")
    if found.removed:
        lines.append(f"  gone: since ROCm {found.removed}")
    if found.differs_in:
        lines.append(
            f"  the counterpart takes other arguments than CUDA {' and '.join(map(str, found.differs_in))}'s: {found.reason}"
        )
    for major, parameters in sorted(found.parameters.items()):
        lines.append(f"  CUDA {major}: {found.name}({parameters})")
    if found.target_parameters and found.target:
        lines.append(f"  ROCm:    {found.target}({found.target_parameters})")
    if rocm is None:
        other = {each: _look_up(found.name, each) for each in RELEASES[:-1]}
        lines += [
            f"  in ROCm {each}: {then.state}" for each, then in other.items() if then and then.state != found.state
        ]
    return lines


def _as_json(found: Identifier, rocm: str | None) -> dict[str, object]:
    return {
        "name": found.name, "library": found.subject, "kind": found.kind, "rocm": rocm or NEWEST, "state": found.state,
        "target": found.target, "since": found.since, "removed": found.removed, "reason": found.reason,
        "differs_in": list(found.differs_in), "parameters": {str(k): v for k, v in found.parameters.items()},
        "target_parameters": found.target_parameters,
    }  # fmt: skip
