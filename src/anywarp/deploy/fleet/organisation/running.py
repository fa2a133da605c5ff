"""Assessing all members, each by a process that may die over it; what is told of each is kept at once, so that a run that is cut short goes on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anywarp import __version__
from anywarp.catalogue.releases import NEWEST
from anywarp.check.store import Run, Store
from anywarp.check.store.run import key_of
from anywarp.deploy.fleet.expansion import tree_digest
from anywarp.deploy.fleet.organisation.list_file import Member, Members
from anywarp.deploy.fleet.organisation.reading import BEGIN
from anywarp.deploy.fleet.organisation.units import Told
from anywarp.deploy.fleet.problems import MEMBER
from anywarp.diagnostics import Diagnostic
from anywarp.migrate import crew
from anywarp.migrate.target import Target
from anywarp.migrate.tree import File

PATIENCE, LONG_PATIENCE = 120.0, 900.0
"""Seconds that a member's process may be silent: one that reads all files itself, one that has each read by another process."""

LIVE = "deployments,statefulsets,daemonsets,replicasets,jobs,cronjobs,pods"


@dataclass(frozen=True)
class Order:
    """What is asked of every member."""

    target: Target
    exclude: Sequence[str] = ()
    jobs: int = 1
    fresh: bool = False
    keep: bool = True

    def title(self) -> str:
        """Return the target as `--target` names it."""
        return f"{self.target.device}:{self.target.architecture}".rstrip(":")


@dataclass
class Found:
    """What was told of members by name, and of those that are lost, why; `known` of them were known already."""

    told: dict[str, Told] = field(default_factory=dict[str, Told])
    lost: dict[str, str] = field(default_factory=dict[str, str])
    known: int = 0


def assess_all(
    members: Members, order: Order, store: Store, step: Callable[[int, int], None] = lambda done, total: None
) -> Found:
    """Assess every member whose content is not known for this target."""
    found = Found()
    with tempfile.TemporaryDirectory(prefix="anywarp-organisation-") as folder:
        left: list[tuple[Member, File, str]] = []
        for member, file in _placed(members.members, Path(folder), found):
            key = _key(member, file, order)
            run = None if order.fresh else store.latest(key)
            if run is not None and "offers" in run.result:
                found.told[member.name] = run.result
                found.known += 1
            else:
                left.append((member, file, key))
        step(found.known, len(members.members))
        _read(left, order, store, found, lambda: step(len(found.told) + len(found.lost), len(members.members)))
    return found


def _read(
    left: Sequence[tuple[Member, File, str]], order: Order, store: Store, found: Found, step: Callable[[], None]
) -> None:
    """Have members read, each by one process; those over which it dies or hangs again, with a process for their files: then a file costs itself."""
    again = _each(left, order, store, found, step, readers=0)
    _each([each for each in left if each[0].name in again], order, store, found, step, readers=1)


def _each(
    left: Sequence[tuple[Member, File, str]], order: Order, store: Store, found: Found, step: Callable[[], None], readers: int
) -> set[str]:  # fmt: skip
    """Keep what is told of members; return the names of those over which their process was lost."""
    asked: dict[str, Any] = {
        "target": order.title(), "rocm": order.target.rocm or NEWEST, "exclude": list(order.exclude), "keep": order.keep, "readers": readers,
        "kinds": {member.name: member.kind for member, _, _ in left},
    }  # fmt: skip
    gone: set[str] = set()
    work = crew.Work(BEGIN, asked, order.jobs, LONG_PATIENCE if readers else PATIENCE)
    for answer in crew.each_of([file for _, file, _ in left], work, lambda _: step()):
        member, _, key = left[answer.number]
        if answer.loss is not None:
            if answer.loss.how != "raised":
                gone.add(member.name)
            if readers or answer.loss.how == "raised":
                found.lost[member.name] = answer.loss.why
            continue
        told: dict[str, Any] = json.loads(answer.payload)
        store.add(Run("assess", told, model=f"{member.kind} {member.name}"[:2000], device=order.title(), key=key))
        found.told[member.name] = told
    return gone


def _placed(members: Sequence[Member], folder: Path, found: Found) -> Iterator[tuple[Member, File]]:
    """Yield each member as a file for the crew; a live namespace is asked for first, and lies in `folder`."""
    for number, member in enumerate(members):
        place = member.place
        if member.context:
            place = str(folder / f"{number}" / f"{member.name.replace('/', '_')}.yaml")
            why = _dumped(member, Path(place))
            if why:
                found.lost[member.name] = why
                continue
        try:
            yield member, File(place, member.name, os.stat(place).st_size, named=True)
        except OSError as error:
            found.lost[member.name] = f"it cannot be read: {error.strerror}"


def _dumped(member: Member, place: Path) -> str:
    """Write what runs in a namespace to a file, by the user's own kubectl; return why it cannot be had, "" where it was."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        return "there is no kubectl on the path"
    place.parent.mkdir()
    command = [
        kubectl,
        f"--context={member.context}",
        f"--namespace={member.name}",
        "--request-timeout=60s",
        "get",
        LIVE,
        "--output=yaml",
    ]
    try:
        with place.open("wb") as out:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, timeout=120)
    except subprocess.TimeoutExpired:
        return "the cluster has not answered for two minutes"
    told = " ".join(done.stderr.decode(errors="replace").split())[:300]
    return f"kubectl: {told}" if done.returncode else ""


def _key(member: Member, file: File, order: Order) -> str:
    """Return the key of a member as it is now: of its content (of trees: names, sizes, times), the target and this anywarp."""
    place = Path(file.place)
    if place.is_dir():
        content = tree_digest(place)
    elif member.context:
        content = key_of(text=place.read_text(encoding="utf-8", errors="replace"))
    else:
        status = place.stat()
        content = f"{status.st_size} {status.st_mtime_ns}"
    where = member.place or member.context
    return key_of(
        member=member.name,
        kind=member.kind,
        where=where,
        content=content,
        target=str(order.target),
        exclude=list(order.exclude),
        by=__version__,
    )


def problems(found: Found) -> list[Diagnostic]:
    """Return the members that could not be assessed as problems."""
    help = "assess it alone (`anywarp assess PATH`) to see why; the others are in the report"
    return [
        Diagnostic(MEMBER, f"{name} could not be assessed: {why}", help=help)
        for name, why in sorted(found.lost.items())
    ]
