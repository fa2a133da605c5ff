"""Python packages: what becomes of requirements, wherever they stand, and of the indexes they come from.

Packages of torch's family go together: their kernels are compiled for one release of ROCm, so that either all of them can move to
its index or none does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from anywarp.catalogue import replacements
from anywarp.catalogue.migration import Row, by
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal
from anywarp.migrate.rulings.answer import Answer
from anywarp.migrate.rulings.packages import REFUSED, asked_for, fellow, fitting, held, release, releases_with

PIN = "Y034"
HASH = "Y035"
FAMILY = ("torch", "torchvision", "torchaudio")
_CUDA_VERSION = re.compile(r"\+cu\d+$")
_OTHER_BUILD = re.compile(r"\+(?:rocm|cpu|xpu)")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A requirement as written in bytes `[start, end)`; `line` is what must go for it to go; `hashed`: bound to files by their hashes."""

    text: str
    start: int
    end: int
    line: tuple[int, int] | None = None
    hashed: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What becomes of requirements that are installed together; `index`: torch's family moves, and must come from ROCm's index."""

    findings: tuple[Finding, ...]
    index: bool
    blocked: bool  # torch's family cannot move: its index must stay


def torch_index(options: Options) -> Row:
    """Return the row of torch's index for ROCm, its `target` filled in."""
    row = by("indexes", "name")["torch default"]
    return {**row, "target": row["target"].format_map({"rocm": release(options.target)})}


def plan(wanted: Iterable[Wanted], options: Options, exclusive: bool) -> Plan:
    """Say what becomes of requirements that are installed together; `exclusive`: from torch's index only, so that versions need no mark."""
    wanted = list(wanted)
    findings: list[Finding] = []
    family: list[tuple[Wanted, Requirement]] = []
    unread: list[tuple[Wanted, bool, Row]] = []
    for one in wanted:
        asked = _read(one.text)
        name = asked.name if asked else _begins(one.text)
        row = replacements.package(name) if name else None
        if row is None:
            continue
        if asked is None:
            unread.append((one, replacements.canonical(name) in FAMILY, row))
            continue
        if row["name"] == "triton" and not _with_torch(wanted):
            findings.append(Note(one.start, one.end, "torch for ROCm brings the Triton that fits it", row["source"]))
        elif row["conversion"] == "index" and replacements.canonical(asked.name) in FAMILY:
            family.append((one, asked))
        else:
            findings += _single(one, asked, row, options)
    for one, _, row in unread:
        if row["conversion"] not in ("keep", "remove"):
            reason = "its version is a variable, or is not read"
            findings.append(
                Refusal(one.start, one.end, reason, "write the version out, or choose it by hand", row["source"], PIN)
            )
        elif row["conversion"] == "remove":
            findings.append(Change(*(one.line or (one.start, one.end)), b"", row["reason"], row["source"]))
    if any(mine for _, mine, _ in unread):
        reason = "stays with its fellows: packages of torch's family move together or not at all"
        findings += [Note(one.start, one.end, reason) for one, _ in family]
        return Plan(tuple(_staying(findings)), False, True)
    moved, blocked = _family(family, options, exclusive)
    if blocked:
        findings = list(_staying(findings))
    needed = any(not isinstance(one, Fine) for one in moved) or (exclusive and bool(moved))
    return Plan((*findings, *moved), needed and not blocked, blocked)


def _read(text: str) -> Requirement | None:
    try:
        return Requirement(text.strip())
    except InvalidRequirement:
        return None


def _with_torch(wanted: Iterable[Wanted]) -> bool:
    return any(replacements.canonical(_begins(re.split(r"[;\s]", one.text.strip())[0])) == "torch" for one in wanted)


def _staying(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings of which none takes anything out: what torch's build for CUDA needs stays with it."""
    for one in findings:
        if isinstance(one, Change) and not one.replacement:
            yield Note(one.start, one.end, "stays with the torch that cannot move: " + one.reason, one.source)
        else:
            yield one


def named(text: str) -> str:
    """Return the name of the package that a requirement asks for, as indexes compare names; "" where it is none."""
    asked = _read(text)
    return replacements.canonical(asked.name if asked is not None else _begins(text))


def _begins(text: str) -> str:
    """Return the name with which a text begins that is no requirement as it stands: `torch==${VERSION}`."""
    found = re.match(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(?=[=<>~!@]|$)", text)
    return found[1] if found else ""


def _single(one: Wanted, asked: Requirement, row: Row, options: Options) -> list[Finding]:
    answer = answer_for(asked, row, options)
    if answer is None:
        return []
    if answer.action == "keep":
        return [Fine(one.start, one.end, answer.reason, answer.source)]
    if answer.action == "refuse":
        return [Refusal(one.start, one.end, answer.reason, answer.help, answer.source, answer.code)]
    if answer.action == "remove":
        start, end = one.line or (one.start, one.end)
        return [Change(start, end, b"", answer.reason, answer.source)]
    if one.hashed:
        return [_hash(one)]
    return [Change(one.start, one.end, _with_tail(one.text, answer.text), answer.reason, answer.source)]


def _hash(one: Wanted) -> Refusal:
    reason = "its hashes are those of other files than would be installed"
    help = "take the hashes out, convert, and make them anew (pip-compile --generate-hashes, uv pip compile)"
    return Refusal(one.start, one.end, reason, help, "pip documentation, hash checking", HASH)


def answer_for(asked: Requirement, row: Row, options: Options) -> Answer | None:
    """Return what becomes of a requirement outside torch's family; None where it asks for nothing of CUDA's."""
    how, name = row["conversion"], replacements.canonical(asked.name)
    if name == "jax" and not any(extra.startswith("cuda") for extra in asked.extras):
        return None
    if name == "tensorflow" and "and-cuda" not in asked.extras:
        return None
    if how == "keep":
        return Answer("keep", row["reason"], source=row["source"])
    if how == "remove":
        return Answer("remove", row["reason"], source=row["source"])
    if asked.url:
        return _refuse(
            row, "the address leads to a wheel for CUDA", f"give the address of one for ROCm of {row['target'] or name}"
        )
    if how not in ("rename", "extra"):
        advice = f"use {row['target']}" if row["target"] else "do without"
        return _refuse(row, row["reason"], f"{advice}; `anywarp assess` says what depends on it")
    if row["rocm"] and not _serves(row["rocm"], options.target.rocm):
        return _refuse(row, f"{row['target']} is for ROCm {row['rocm']}", "choose another release by --rocm")
    if not replacements.admits(row, asked.specifier):
        reason = f"of {row['target']} only {row['known']} is known, which {asked.specifier} does not admit"
        return _refuse(row, reason, f"look up which versions of {row['target']} exist", PIN)
    return Answer("replace", row["reason"], _written(asked, row), source=row["source"])


def _refuse(row: Row, reason: str, help: str, code: str = REFUSED) -> Answer:
    return Answer("refuse", reason, help=help, source=row["source"], code=code)


def _serves(condition: str, rocm: str) -> bool:
    return not rocm or SpecifierSet(condition).contains(Version(rocm))


def _written(asked: Requirement, row: Row) -> str:
    base, _, extra = row["target"].rstrip("]").partition("[")
    extras = [one for one in asked.extras if not one.startswith("cuda")] + ([extra] if extra else [])
    marks = f"[{','.join(sorted(extras))}]" if extras else ""
    specifier = "" if row["version"] == "drop" else str(asked.specifier)
    return base + marks + specifier


def _with_tail(old: str, new: str) -> bytes:
    """Keep what follows the specifier: a marker, and the space before it."""
    found = re.search(r"\s*;.*$", old, re.DOTALL)
    return (new + (found[0] if found else "")).encode()


def _family(family: list[tuple[Wanted, Requirement]], options: Options, exclusive: bool) -> tuple[list[Finding], bool]:
    chosen: list[tuple[Wanted, Requirement, str]] = []
    refused: list[Finding] = []
    settled: list[Finding] = []
    for one, asked in family:
        if any(_OTHER_BUILD.search(wish.version) for wish in asked.specifier):
            settled.append(Fine(one.start, one.end, "names its build, which is none for CUDA"))
            continue
        version, problem = _version(asked, options, family)
        if problem is not None:
            refused.append(Refusal(one.start, one.end, problem[0], problem[1], problem[2], PIN))
        elif one.hashed:
            refused.append(_hash(one))
        else:
            chosen.append((one, asked, version))
    if refused:
        reason = "stays with its fellows: packages of torch's family move together or not at all"
        return settled + refused + [Note(one.start, one.end, reason) for one, _, _ in chosen], True
    findings = settled
    for one, asked, version in chosen:
        text = _torch(asked, version, options, exclusive)
        old = re.split(r"\s*;", one.text, maxsplit=1)[0].strip()
        row = by("packages", "name")[replacements.canonical(asked.name)]
        if text == old:
            findings.append(Fine(one.start, one.end, row["reason"], row["source"]))
        else:
            reason = row["reason"] + (
                "" if exclusive else "; the version is marked, since pip takes the highest of all indexes"
            )
            findings.append(Change(one.start, one.end, _with_tail(one.text, text), reason, row["source"]))
    return findings, False


def _torch(asked: Requirement, version: str, options: Options, exclusive: bool) -> str:
    extras = f"[{','.join(sorted(asked.extras))}]" if asked.extras else ""
    if exclusive and not any(_CUDA_VERSION.search(one.version) for one in asked.specifier):
        return asked.name + extras + str(asked.specifier)
    return f"{asked.name}{extras}=={version}+rocm{release(options.target)}"


Problem = tuple[str, str, str]


def _version(
    asked: Requirement, options: Options, family: list[tuple[Wanted, Requirement]]
) -> tuple[str, Problem | None]:
    """Return the version of a package of torch's family that ROCm's index is known to hold and that is asked for."""
    name, here = replacements.canonical(asked.name), release(options.target)
    if asked.url:
        return "", ("the address leads to a wheel for CUDA", f"give that of one for ROCm {here}", "")
    specifier = _unmarked(asked)
    partner = _partner(name, family, here)
    for version in reversed(fitting(name, specifier, here)):
        if partner is None or version.minor == partner:
            return str(version), None
    elsewhere = releases_with(name, specifier)
    where = f"; it is known on that of ROCm {', '.join(elsewhere)}" if elsewhere else ""
    reason = f"{name}{specifier} is not known to be on the index for ROCm {here or '(none given)'}{where}"
    known = ", ".join(map(str, held(name, here))) or "nothing known"
    help = (
        f"that index holds {known}: ask for one of these, give another release by --rocm, or look the version up there"
    )
    return "", (reason, help, "pytorch.org/get-started/previous-versions")


def _unmarked(asked: Requirement) -> SpecifierSet:
    return asked_for(str(asked.specifier)) or SpecifierSet()


def _partner(name: str, family: list[tuple[Wanted, Requirement]], here: str) -> int | None:
    """Return the minor version that torchvision or torchaudio must have beside the torch that is asked for; None for any."""
    torch = next((asked for _, asked in family if replacements.canonical(asked.name) == "torch"), None)
    if name == "torch" or torch is None or torch.url:
        return None
    fits = fitting("torch", _unmarked(torch), here)
    if not fits:
        return None
    return fellow(name, fits[-1])
