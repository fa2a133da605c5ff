"""What an organisation consists of: a list in YAML, or a folder of checkouts, images and manifests."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from anywarp.deploy import checked_yaml
from anywarp.deploy.fleet.problems import LIST, problem
from anywarp.migrate.shown import visible

Kind = Literal["repository", "image", "namespace"]
MOST = 20_000
_ARCHIVES = (".tar", ".tar.gz", ".tgz")
_MANIFESTS = (".yaml", ".yml", ".json")
_PATH = r"^[^\x00]+$"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


def _short(value: Any) -> Any:
    """Read a bare path as what has it."""
    return {"path": value} if isinstance(value, str) else value


Path_ = Annotated[str, Field(pattern=_PATH, max_length=4000)]
Called = Annotated[str, Field(pattern=r"^[^\x00-\x1f]+$", max_length=300)]


class Place(_Part):
    """A checkout, or an image on disk (an OCI layout, an archive of `docker save`)."""

    path: Path_
    name: Called | None = None


class Namespace(_Part):
    """A namespace: what `kubectl get -o yaml` wrote, or live, by a context of kubeconfig."""

    path: Path_ | None = None
    context: Called | None = None
    name: Called | None = None

    @model_validator(mode="after")
    def _fits(self) -> Namespace:
        if (self.path is None) == (self.context is None):
            raise ValueError("give one of path (a dump) and context (a live cluster)")
        if self.context is not None and self.name is None:
            raise ValueError("name the namespace of the context")
        return self


Places = Annotated[tuple[Annotated[Place, BeforeValidator(_short)], ...], Field(max_length=MOST)]


class Organisation(_Part):
    """The list."""

    version: Literal[1]
    name: Called
    folders: tuple[Path_, ...] = Field(default=(), description="Folders whose every part is taken for what it is.")
    repositories: Places = ()
    images: Places = ()
    namespaces: tuple[Annotated[Namespace, BeforeValidator(_short)], ...] = Field(default=(), max_length=MOST)
    needs: dict[Called, tuple[Called, ...]] = Field(
        default_factory=dict, description="What needs what, by name, where no file says it."
    )


FORM = checked_yaml.Form(
    Organisation, LIST, "list of an organisation", "give a folder of checkouts instead", "docs/fleet.md describes every key"
)  # fmt: skip


@dataclass(frozen=True)
class Member:
    """A repository, image or namespace: where it lies (a live namespace: in which context), and its name, unique."""

    kind: Kind
    name: str
    place: str
    context: str = ""


@dataclass(frozen=True)
class Members:
    """All of them, in order of their names."""

    name: str
    members: tuple[Member, ...]
    needs: dict[str, tuple[str, ...]]


def read(place: Path) -> Members:
    """Return the members of a list file or a folder; AnywarpError (Y146) where there are none, or a name is given twice."""
    if place.is_dir():
        found, name, needs = _in_folder(place), place.absolute().name, {}
    else:
        listed = checked_yaml.parse(checked_yaml.text_of(place, FORM), str(place), FORM)
        found, name, needs = _listed(listed, place.absolute().parent), listed.name, dict(listed.needs)
    if not found:
        raise problem(
            LIST,
            f"{place} holds nothing to assess",
            "list repositories, images or namespaces, or give a folder that holds some",
        )
    if len(found) > MOST:
        raise problem(LIST, f"{place} holds more than {MOST:,} members", "divide it")
    return Members(visible(name), tuple(sorted(_named(found), key=lambda one: one.name)), needs)


def _listed(listed: Organisation, base: Path) -> list[Member]:
    found = [one for folder in listed.folders for one in _in_folder(base / folder)]
    for kind, places in (("repository", listed.repositories), ("image", listed.images)):
        found += [_member(kind, base / one.path, one.name) for one in places]  # pyright: ignore[reportArgumentType]
    for one in listed.namespaces:
        if one.path is not None:
            found.append(_member("namespace", base / one.path, one.name))
        else:
            found.append(Member("namespace", visible(one.name or ""), "", one.context or ""))
    return found


def _member(kind: Kind, place: Path, name: str | None = None) -> Member:
    if not place.exists():
        raise problem(LIST, f"{visible(str(place))} is not there", "paths are meant from the list's folder")
    return Member(kind, visible(name or _bare(place)), str(place.absolute()))


def _bare(place: Path) -> str:
    name = place.absolute().name
    endings = (*_ARCHIVES, *_MANIFESTS)
    return next((name[: -len(ending)] for ending in endings if name.endswith(ending) and place.is_file()), name) or name


def _in_folder(folder: Path) -> list[Member]:
    """Return what lies in a folder: folders are repositories, or OCI layouts; archives are images; files of YAML dumps of namespaces."""
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise problem(
            LIST, f"{visible(str(folder))} cannot be read: {error.strerror}", "give a folder or a list"
        ) from None
    found: list[Member] = []
    for entry in entries:
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_dir():
            found.append(_member("image" if _is_layout(entry) else "repository", entry))
        elif entry.name.endswith(_ARCHIVES):
            found.append(_member("image", entry))
        elif entry.name.endswith(_MANIFESTS):
            found.append(_member("namespace", entry))
    return found


def _is_layout(folder: Path) -> bool:
    """Tell whether a folder is an OCI layout (image-spec, image-layout.md)."""
    try:
        return "imageLayoutVersion" in json.loads((folder / "oci-layout").read_bytes()[:4096])
    except (OSError, ValueError, TypeError):
        return False


def _named(found: list[Member]) -> list[Member]:
    """Give members with the same name their kind beside it; AnywarpError (Y146) where that is not enough."""
    names = [one.name for one in found]
    made = [
        one if names.count(one.name) == 1 else Member(one.kind, f"{one.name} ({one.kind})", one.place, one.context)
        for one in found
    ]
    names = [one.name for one in made]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise problem(LIST, f"two members are called {twice}", "give one of them a `name:` in the list")
    return made
