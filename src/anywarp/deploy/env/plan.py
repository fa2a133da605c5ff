"""Which package for ROCm takes the place of each one for CUDA, and why some have none: of an environment, or of what files ask for.

The answers are those of `anywarp assess` and `anywarp convert` (migrate/rulings/packages.py, convert/packages.py). Packages of torch's
family go together here, too: one release of ROCm serves all of them, or none moves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import unquote

from packaging.markers import InvalidMarker, Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from anywarp.catalogue import replacements
from anywarp.catalogue.migration import by, rows
from anywarp.catalogue.releases import USUAL, number
from anywarp.catalogue.replacements import canonical
from anywarp.deploy.convert.model import Options
from anywarp.deploy.convert.packages import FAMILY, answer_for
from anywarp.deploy.env.installed import Distribution, Found
from anywarp.diagnostics import AnywarpError
from anywarp.frameworks.torch import found as torches
from anywarp.migrate.rulings.packages import asked_for, fellow, fitting, held
from anywarp.migrate.target import Target

What = Literal["replace", "keep", "unused", "none", "broken"]
"""`replace`: a counterpart is laid before it; `keep`: serves as it is; `unused`: NVIDIA's own, stays where it is and nothing asks for it; `none`: no counterpart; `broken`: not whole."""

DEFAULT = ""
"""The index that the installer is set up for, PyPI unless its user said otherwise."""


@dataclass(frozen=True, slots=True)
class Item:
    """One package and what becomes of it; `asks` is the requirement of its counterpart and `index` where that is (empty: the installer's own)."""

    name: str
    version: str
    what: What
    reason: str
    asks: str = ""
    index: str = DEFAULT
    help: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What becomes of packages that are used together, for one release of ROCm."""

    rocm: str
    items: tuple[Item, ...]

    def of(self, *what: What) -> tuple[Item, ...]:
        """Return the items of which one of these becomes."""
        return tuple(item for item in self.items if item.what in what)


def of_environment(found: Found, rocm: str = "") -> Plan:
    """Plan for what is installed; `rocm` chooses a release, else the newest that has the same torch serves."""
    asked: dict[str, Requirement] = {}
    items: list[Item] = [Item(name, "", "broken", text) for name, text in sorted(found.faults.items())]
    for name, package in found.packages.items():
        if name in found.faults or replacements.package(name) is None:
            continue
        if lost := package.missing():
            text = f"{name} {package.version} is half installed: {package.place.parent / lost} is missing or cut short; install it again"
            items.append(Item(name, package.version, "broken", text))
        elif _for_rocm(package):
            items.append(Item(name, package.version, "keep", "is a build for ROCm already"))
        elif package.number is None:
            items.append(
                Item(
                    name,
                    package.version,
                    "none",
                    "its version is none that installers can compare",
                    help="install a release",
                )
            )
        else:
            asked[name] = Requirement(f"{name}=={package.number.public}")
    versions = {name: found.packages[name].version for name in asked}
    return _plan(asked, versions, items, rocm)


def of_requirements(texts: Iterable[str], markers: Mapping[str, str], rocm: str = "") -> Plan:
    """Plan for requirements as files state them; what a marker excludes is left out, what is no requirement is `broken`."""
    asked: dict[str, Requirement] = {}
    items: list[Item] = []
    for text in texts:
        name = re.split(r"[^\w.-]", text.strip(), maxsplit=1)[0]
        try:
            one = Requirement(text.strip())
        except InvalidRequirement:
            if (wheel := _wheel_for_cuda(text.strip(), markers)) is not None:
                items.append(wheel)
            elif name and replacements.package(name) is not None:
                items.append(
                    Item(
                        canonical(name),
                        "",
                        "none",
                        f"{text.strip()[:80]!r} is no requirement",
                        help="write its version out",
                    )
                )
            continue
        if replacements.package(one.name) is None or (
            one.marker is not None and not one.marker.evaluate(dict(markers))
        ):
            continue
        name = canonical(one.name)
        if _other_build(one):
            items.append(Item(name, str(one.specifier), "keep", "names its build, which is none for CUDA"))
        elif name in asked:
            asked[name].specifier &= one.specifier
            asked[name].extras |= one.extras
        else:
            asked[name] = one
    return _plan(asked, {name: str(one.specifier) for name, one in asked.items()}, items, rocm)


def _wheel_for_cuda(text: str, markers: Mapping[str, str]) -> Item | None:
    """Say what becomes of a wheel that a line names by its address alone, where its version says that it is for CUDA."""
    address, _, marker = text.partition(";")
    match = re.match(r"(?:https?|file)://\S*?/([^/\s#?]+\.whl)", address)
    try:
        if match is None or (marker.strip() and not Marker(marker).evaluate(dict(markers))):
            return None
        name, version, *_ = parse_wheel_filename(unquote(match[1]))
    except (InvalidMarker, InvalidWheelFilename):
        return None
    if not re.match(r"cu(?:da)?\d", version.local or ""):
        return None
    reason = "is a wheel for CUDA by its version, at an address of its own"
    help = "install a build for ROCm in its place, or build it from source"
    return Item(name, str(version), "none", reason, help=help)


def _other_build(one: Requirement) -> bool:
    return any(re.search(r"\+(?:rocm|xpu)", wish.version) for wish in one.specifier)


def _for_rocm(package: Distribution) -> bool:
    if re.search(r"\+(?:git\w+\.)?rocm", package.version) or re.search(r"(?:^|-)rocm", package.name):
        return True
    if package.name != "torch":
        return False
    try:
        return torches.read(package.place.parent / "torch").vendor == "ROCm"
    except (AnywarpError, OSError):
        return False


def _plan(asked: Mapping[str, Requirement], versions: Mapping[str, str], items: list[Item], rocm: str) -> Plan:
    family = {name: one for name, one in asked.items() if name in FAMILY}
    release, moved = _family(family, rocm)
    items = [*items, *(replace(item, version=versions[item.name]) for item in moved)]
    options = Options(Target("hip", "", release))
    for name, one in asked.items():
        if name not in FAMILY and (item := _single(name, versions[name], one, options, bool(family))) is not None:
            items.append(item)
    return Plan(release, tuple(sorted(items, key=lambda item: (item.name not in FAMILY, item.name))))


def _single(name: str, version: str, one: Requirement, options: Options, with_torch: bool) -> Item | None:
    row = replacements.package(name)
    if row is None:
        return None
    if row["name"] == "triton" and not with_torch:
        return Item(name, version, "keep", "its wheel holds the backend for AMD GPUs", source=row["source"])
    if row["under_run"] == "unchanged":
        return Item(name, version, "keep", "`anywarp run` serves it as it is", source=row["source"])
    answer = answer_for(one, row, options)
    if answer is None:
        return None
    if answer.action == "keep":
        return Item(name, version, "keep", answer.reason, source=answer.source)
    if answer.action == "remove":
        return Item(name, version, "unused", answer.reason, source=answer.source)
    if answer.action == "replace":
        return Item(name, version, "replace", answer.reason, answer.text, source=answer.source)
    return Item(name, version, "none", answer.reason, help=answer.help, source=answer.source)


def _family(family: Mapping[str, Requirement], rocm: str) -> tuple[str, list[Item]]:
    """Return the release of ROCm that serves all packages of torch's family that are asked for, and what becomes of each."""
    if not family:
        return rocm or USUAL, []
    addresses = [name for name, one in family.items() if one.url]
    if addresses:
        return rocm or USUAL, _staying(
            family, addresses[0], "its address leads to one file, which is for CUDA", "ask for a version instead"
        )
    known = {row["release"] for row in rows("torch_wheels") if row["package"] == "torch"}
    candidates = [rocm] if rocm else sorted(known, key=number, reverse=True)
    for release in candidates:
        chosen = _together(
            {name: asked_for(str(one.specifier)) or SpecifierSet() for name, one in family.items()}, release
        )
        if chosen is not None:
            return release, [_moved(name, version, release) for name, version in chosen.items()]
    name, reason = _why(family, candidates)
    return rocm or USUAL, _staying(family, name, reason, _advice(name, candidates))


def _together(asked: Mapping[str, SpecifierSet], release: str) -> dict[str, Version] | None:
    """Return the newest versions on a release's index that are asked for and belong together; None where there are none."""
    for torch in reversed(fitting("torch", asked["torch"], release) if "torch" in asked else held("torch", release)):
        chosen = {"torch": torch} if "torch" in asked else {}
        for name, specifier in asked.items():
            if name != "torch":
                fits = [one for one in fitting(name, specifier, release) if _belongs(name, one, torch)]
                if fits:
                    chosen[name] = fits[-1]
        if len(chosen) == len(asked):
            return chosen
    return None


def _belongs(name: str, version: Version, torch: Version) -> bool:
    """Tell whether a torchvision or torchaudio was released with a torch: each needs that very one."""
    last_audio = name == "torchaudio" and torch.minor > 11  # 2.11 goes with every torch since
    return version.minor == fellow(name, torch) and (last_audio or version.micro == torch.micro)


def _moved(name: str, version: Version, release: str) -> Item:
    row = by("packages", "name")[name]
    index = by("indexes", "name")["torch default"]["target"].format_map({"rocm": release})
    return Item(name, "", "replace", row["reason"], f"{name}=={version}+rocm{release}", index, source=row["source"])


def _staying(family: Mapping[str, Requirement], culprit: str, reason: str, help: str) -> list[Item]:
    others = f"{culprit} has no counterpart, and packages of torch's family move together or not at all"
    return [Item(name, "", "none", reason if name == culprit else others, help=help) for name in family]


def _why(family: Mapping[str, Requirement], candidates: list[str]) -> tuple[str, str]:
    """Return the package for whose sake none can move, and the reason."""
    for name, one in family.items():
        specifier = asked_for(str(one.specifier)) or SpecifierSet()
        if not any(fitting(name, specifier, release) for release in candidates):
            where = f"the index for ROCm {candidates[0]}" if len(candidates) == 1 else "any index for ROCm"
            oldest = min((version for release in candidates for version in held(name, release)), default=None)
            wishes = list(specifier)
            if (
                oldest is not None
                and len(wishes) == 1
                and wishes[0].operator == "=="
                and "*" not in wishes[0].version
                and Version(wishes[0].version) < oldest
            ):
                return name, f"{name} {wishes[0].version} is too old: the oldest known on {where} is {oldest}"
            return name, f"{name}{specifier} is not known to be on {where}"
    return next(iter(family)), f"these versions of {', '.join(family)} do not belong together on any one index for ROCm"


def _advice(name: str, candidates: list[str]) -> str:
    known = [f"{version} (ROCm {release})" for release in candidates for version in held(name, release)][:4]
    return (
        f"known are {', '.join(known)}, for example: install one of these, or look the version up and give its release by --rocm"
        if known
        else "choose another release by --rocm"
    )
