"""Lay the packages that a plan names beside an environment: built apart, renamed when whole, shared by environments that want the same.

One maker at a time (a lock that ends with its process), so that whatever lies about unfinished belongs to nobody and goes.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from anywarp.catalogue.replacements import canonical
from anywarp.deploy.env.installed import Distribution, Found, look
from anywarp.deploy.env.installer import Name, Sources, install
from anywarp.deploy.env.interpreter import Python
from anywarp.deploy.env.plan import DEFAULT, Item, Plan
from anywarp.deploy.env.problems import NO_ROOM, NOT_INSTALLED, NOTHING, cannot_write, problem
from anywarp.runtime import overlay
from anywarp.runtime.overlay import Laid, Record, Replaced, Without

UNFINISHED = ".new-"
PACKAGES = "packages"
MOST_ROUNDS = 20
"""How often what a package needs may need something else; far beyond any chain of ROCm's packages."""


@dataclass(frozen=True, slots=True)
class Made:
    """The record written, where, and whether the overlay was there already."""

    record: Record
    place: Path
    shared: bool


def make(
    python: Python, found: Found, plan: Plan, installer: Name, sources: Sources, cache: Path, say: Callable[[str], None]
) -> Made:
    """Install the counterparts of `plan` beside the environment of `python` and write its record below `cache`.

    AnywarpError: Y061 where the installer fails or packages do not fit each other, Y062 where there is no room, Y063 where nothing has a
    counterpart. Whatever happens, the environment stays as it is, and an overlay is whole or absent.
    """
    items = plan.of("replace")
    if not items:
        raise problem(
            NOTHING,
            f"nothing in {python.prefix} has a counterpart to be laid beside it",
            "anywarp env plan says why, package by package",
        )
    with alone(cache, say):
        key = _request(python, items, sources)
        folder = _fitting(overlay.objects(cache) / key, python, found, items)
        shared = folder is not None
        try:
            if folder is None:
                folder = _built(overlay.objects(cache) / key, python, found, items, installer, sources)
            record = _record(python, found, plan, folder)
            place = overlay.place(cache, python.prefix)
            _write(place, record.text())
        except OSError as error:
            raise cannot_write(error, overlay.objects(cache)) from error
    return Made(record, place, shared)


@contextlib.contextmanager
def alone(cache: Path, say: Callable[[str], None]) -> Generator[None]:
    """Hold the lock of the overlays below `cache`; waits, having said so, while another process does."""
    root = cache / "overlays"
    try:
        for one in (cache, root, overlay.objects(cache), overlay.environments(cache)):
            one.mkdir(mode=0o700, parents=True, exist_ok=True)
            _own(one)
        lock = os.open(root / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise cannot_write(error, root) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another `anywarp env` is at work: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        for each in overlay.objects(cache).glob(f"*/{UNFINISHED}*"):
            shutil.rmtree(each, ignore_errors=True)
        yield
    finally:
        os.close(lock)


def _own(folder: Path) -> None:
    status = folder.stat()
    if status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise problem(
            NO_ROOM,
            f"{folder} is not yours alone, and code would be loaded from it",
            "chmod go-w it, or set ANYWARP_CACHE_DIR to a folder of yours",
        )


def _names(items: Sequence[Item]) -> set[str]:
    return {canonical(Requirement(item.asks).name) for item in items}


def _request(python: Python, items: Sequence[Item], sources: Sources) -> str:
    """Return the digest of all that decides what installers fetch: for which Python and platform, what, from where."""
    wanted = sorted((item.asks, item.index) for item in items)
    machine = [python.markers["implementation_name"], python.version, python.platform]
    asked = [overlay.FORMAT, machine, wanted, [sources.index, *sources.find_links, sources.no_index]]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]


def _fitting(folder: Path, python: Python, found: Found, items: Sequence[Item]) -> Path | None:
    """Return an overlay made for the same request that fits this environment, too: it lacks nothing there, and brings nothing that is there."""
    for each in sorted(folder.glob("*")) if folder.is_dir() else ():
        if each.name.startswith(UNFINISHED):
            continue
        laid = look([each]).packages
        brought = laid.keys() - _names(items)
        idle = any(name in found.packages and _enough(found.packages[name], laid, python) for name in brought)
        if (
            not idle
            and all(not package.missing() for package in laid.values())
            and not _needed(laid, python, found, {})
        ):
            return each
    return None


def _enough(package: Distribution, laid: dict[str, Distribution], python: Python) -> bool:
    """Tell whether a package of the environment would do for all that need it in the overlay."""
    needs = (_applying(text, python) for one in laid.values() for text in one.needs)
    return all(_serves(package, need) for need in needs if need is not None and canonical(need.name) == package.name)


def _built(
    folder: Path, python: Python, found: Found, items: Sequence[Item], installer: Name, sources: Sources
) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    stage = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=folder))
    try:
        target = stage / PACKAGES
        target.mkdir(mode=0o700)
        wanted = {item.asks: item.index for item in items}
        indexes = {canonical(Requirement(asks).name): index for asks, index in wanted.items()}
        for _ in range(MOST_ROUNDS):
            _install(wanted, python, installer, sources, stage, target)
            laid = look([target]).packages
            wanted = _needed(laid, python, found, indexes)
            indexes |= {canonical(Requirement(asks).name): index for asks, index in wanted.items()}
            if not wanted:
                break
        else:
            raise problem(
                NOT_INSTALLED,
                f"what these packages need has no end: {', '.join(wanted)}",
                "report this with the output of anywarp env plan",
            )
        _whole(laid, items)
        shutil.rmtree(target / "bin", ignore_errors=True)  # its commands would name our staging folder's Python
        final = folder / _content(laid)
        if not final.exists():
            os.rename(target, final)
        return final
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _install(
    wanted: dict[str, str], python: Python, installer: Name, sources: Sources, stage: Path, target: Path
) -> None:
    for number, index in enumerate(sorted(set(wanted.values()))):
        part, scratch = stage / f"part{number}", stage / "scratch"
        part.mkdir(mode=0o700)
        scratch.mkdir(mode=0o700, exist_ok=True)
        install(installer, python, [asks for asks, of in wanted.items() if of == index], index, sources, part, scratch)
        _merge(part, target)
        shutil.rmtree(part)


def _merge(source: Path, target: Path) -> None:
    """Move the files below `source` to `target`, where folders may be there already and files may not; commands and locks are left behind."""
    for entry in sorted(os.listdir(source)):
        here, there = source / entry, target / entry
        if not os.path.lexists(there):
            os.rename(here, there)
        elif here.is_dir() and there.is_dir() and not here.is_symlink():
            if entry != "bin":
                _merge(here, there)
        elif not entry.startswith("."):
            text = f"two packages hold the file {there.name}"
            raise problem(NOT_INSTALLED, text, "report this with the output of anywarp env plan")


def _needed(laid: dict[str, Distribution], python: Python, found: Found, indexes: dict[str, str]) -> dict[str, str]:
    """Return what packages of an overlay need that neither it nor the environment has, with the index that the one in need came from.

    AnywarpError (Y061) where the overlay itself holds another version than is needed.
    """
    wanted: dict[str, str] = {}
    for name, package in laid.items():
        for text in package.needs:
            need = _applying(text, python)
            if need is None:
                continue
            other = laid.get(canonical(need.name))
            if other is not None and not _serves(other, need):
                text = f"{name} {package.version} needs {need}, and the overlay has {other.version}"
                raise problem(NOT_INSTALLED, text, "choose another release by --rocm")
            there = found.packages.get(canonical(need.name))
            if other is None and (there is None or not _serves(there, need)):
                need.marker = None
                wanted[str(need)] = indexes.get(name, DEFAULT)
    return wanted


def _applying(text: str, python: Python) -> Requirement | None:
    try:
        need = Requirement(text)
        applies = need.marker is None or need.marker.evaluate({**python.markers, "extra": ""})
    except (InvalidRequirement, ValueError):
        return None
    return need if applies else None


def _serves(package: Distribution, need: Requirement) -> bool:
    return package.number is not None and need.specifier.contains(package.number, prereleases=True)


def _whole(laid: dict[str, Distribution], items: Sequence[Item]) -> None:
    for item in items:
        asked = Requirement(item.asks)
        package = laid.get(canonical(asked.name))
        if package is None or not _serves(package, asked):
            raise problem(
                NOT_INSTALLED, f"the installer left no {item.asks}", "run it again; --installer chooses the other one"
            )
    for package in laid.values():
        if lost := package.missing():
            text = f"{package.name} {package.version} came without its file {lost}"
            raise problem(NOT_INSTALLED, text, "run it again; --installer chooses the other one")


def _content(laid: dict[str, Distribution]) -> str:
    lines = sorted(f"{package.name}=={package.version} {overlay.digest(package.place)}" for package in laid.values())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]


def _record(python: Python, found: Found, plan: Plan, folder: Path) -> Record:
    laid = look([folder]).packages
    names = {item.name for item in plan.of("replace")} | set(laid)
    replaced = [found.packages[name] for name in sorted(names) if name in found.packages]
    return Record(
        prefix=python.prefix,
        python=python.version,
        rocm=plan.rocm,
        overlay=str(folder),
        laid=tuple(Laid(one.name, one.version, one.place.name, overlay.digest(one.place)) for one in laid.values()),
        replaced=tuple(Replaced(one.name, one.version, str(one.place), overlay.digest(one.place)) for one in replaced),
        without=tuple(Without(one.name, one.version, one.reason, one.help) for one in plan.of("none", "broken")),
    )


def _write(place: Path, text: str) -> None:
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=UNFINISHED, dir=place.parent)
    try:
        with open(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        os.replace(name, place)
    except BaseException:
        os.unlink(name)
        raise


def remove(place: Path, cache: Path, say: Callable[[str], None]) -> int:
    """Remove an environment's record, and the overlays that no record names any more; return how many overlays went."""
    with alone(cache, say):
        try:
            place.unlink(missing_ok=True)
            _prune(place.parent, overlay.environments(cache))
            return _sweep(cache)
        except OSError as error:
            raise cannot_write(error, place) from error


def _prune(folder: Path, root: Path) -> None:
    while folder != root and root in folder.parents and not os.listdir(folder):
        folder.rmdir()
        folder = folder.parent


def _sweep(cache: Path) -> int:
    found = [record for _, record in overlay.records(cache)]
    if any(not isinstance(record, Record) for record in found):
        return 0  # what a damaged record names cannot be told
    named = {record.overlay for record in found if isinstance(record, Record)}
    gone = 0
    for each in overlay.objects(cache).glob("*/*"):
        if str(each) not in named:
            shutil.rmtree(each)
            gone += 1
            if not os.listdir(each.parent):
                each.parent.rmdir()
    return gone
