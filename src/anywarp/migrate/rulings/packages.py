"""Indexes of Python packages: what takes the place of one that holds builds for CUDA, and which versions of torch's family ROCm's hold."""

from __future__ import annotations

import re

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from anywarp.catalogue.migration import rows
from anywarp.migrate.rulings.answer import Answer
from anywarp.migrate.target import Target

REFUSED = "Y033"


def release(target: Target) -> str:
    """Return the release of ROCm as indexes write it: 7.1 for 7.1.2."""
    return ".".join((target.rocm or "").split(".")[:2])


def index(address: str, target: Target) -> Answer | None:
    """Return what becomes of the address of a package index; None where it is none of CUDA's."""
    for row in rows("indexes"):
        found = re.fullmatch(row["pattern"], address) if row["pattern"] else None
        if found is None:
            continue
        if row["conversion"] == "rename":
            values = {"rocm": release(target), **{key: text or "" for key, text in found.groupdict().items()}}
            return Answer("replace", row["reason"], row["target"].format_map(values), source=row["source"])
        if row["conversion"] == "remove":
            return Answer("remove", row["reason"], source=row["source"])
        if row["conversion"] == "keep":
            return Answer("keep", row["reason"], source=row["source"])
        help = "build from source, or do without"
        return Answer("refuse", row["reason"], help=help, source=row["source"], code=REFUSED, instead=row["target"])
    return None


def held(name: str, release: str) -> list[Version]:
    """Return the versions of a package of torch's family known on ROCm's index, in order; torchvision's and torchaudio's also by their torch."""
    found = _listed(name, release)
    if name == "torchvision":
        found |= {Version(f"0.{torch.minor + 15}.{torch.micro}") for torch in _listed("torch", release)}
    elif name == "torchaudio":
        found |= {torch for torch in _listed("torch", release) if torch <= Version("2.11.0")}
    return sorted(found)


def _listed(name: str, release: str) -> set[Version]:
    return {
        Version(row["version"]) for row in rows("torch_wheels") if row["package"] == name and row["release"] == release
    }


def asked_for(specifier: str) -> SpecifierSet | None:
    """Return what a requirement asks for, without the marks of builds for CUDA; None where it is no specifier."""
    try:
        return SpecifierSet(re.sub(r"\+cu\d+", "", specifier))
    except InvalidSpecifier:
        return None


def fitting(name: str, asked: SpecifierSet, release: str) -> list[Version]:
    """Return the versions of a package of torch's family known on ROCm's index that are asked for, in order."""
    return [version for version in held(name, release) if asked.contains(version, prereleases=True)]


def fellow(name: str, torch: Version) -> int:
    """Return the minor version of torchvision or torchaudio that belongs to a torch: 0.N came with 2.(N - 15); torchaudio's last is 2.11."""
    return torch.minor + 15 if name == "torchvision" else min(torch.minor, 11)


def releases_with(name: str, asked: SpecifierSet) -> list[str]:
    """Return the releases of ROCm whose index is known to hold a version that is asked for."""
    rows_of = (row for row in rows("torch_wheels") if row["package"] == name)
    return sorted({row["release"] for row in rows_of if asked.contains(row["version"], prereleases=True)})
