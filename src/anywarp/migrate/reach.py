"""Which deployment a finding reaches: from workloads over images, Dockerfiles and scripts to the files that end up in them.

The edges are facts that scanners saw (`deploy.*`, `docker.*`, `oci.*`); where a name must be guessed (an image that nothing here tags is
taken for the Dockerfile in the folder of that name) the guess is the one a reader would make, and only when there is one candidate.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from anywarp.migrate.findings import Use

MOST_STEPS = 10_000
"""Most files that are followed for one deployment."""

_GLOB = re.compile(r"[*?\[]")
_WHEEL = re.compile(r"([A-Za-z0-9][A-Za-z0-9._]*)-[^/-]+(?:-[^/-]+){2,4}\.whl$")
_SCRIPT = re.compile(r"[\w./+-]+\.(?:py|sh|bash|cu|ipynb)$")
_CODE = (".py", ".cu", ".cuh", ".ipynb", ".sh", ".toml", ".txt")


@dataclass(frozen=True, slots=True)
class Deployment:
    """What is deployed: `k8s:Deployment/llm-server`, where it is declared, and its images."""

    id: str
    kind: str
    path: str
    line: int
    images: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Build:
    """An image that is built here: by which names it goes, from which Dockerfile, with which folder as context."""

    names: tuple[str, ...]
    dockerfile: str
    context: str
    guessed: bool = False


@dataclass(slots=True)
class Map:
    """All deployments, the files and folders that belong to each, and the parts of files in which they are declared."""

    deployments: list[Deployment] = field(default_factory=list[Deployment])
    owners: dict[str, set[str]] = field(default_factory=lambda: defaultdict[str, set[str]](set))
    parts: dict[str, list[tuple[int, str]]] = field(
        default_factory=lambda: defaultdict[str, list[tuple[int, str]]](list)
    )
    _known: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    def reaches(self, path: str, use: Use) -> tuple[str, ...]:
        """Return the deployments that a use in a file reaches, sorted."""
        found = set(self._file(path))
        parts = self.parts.get(path)
        if parts:
            before = [name for line, name in parts if line <= use.line]
            found |= {before[-1]} if before else {name for _, name in parts}
        return tuple(sorted(found))

    def _file(self, path: str) -> frozenset[str]:
        known = self._known.get(path)
        if known is None:
            names = (path, *_above(path))
            known = frozenset(owner for name in names if name in self.owners for owner in self.owners[name])
            self._known[path] = known
        return known


def connect(uses: Iterable[tuple[str, Use]]) -> Map:
    """Build the map from all uses with their paths."""
    facts = _Facts()
    for path, use in uses:
        facts.add(path, use)
    result = Map(facts.deployments())
    for deployment in result.deployments:
        result.parts[deployment.path].append((deployment.line, deployment.id))
        for name in facts.belonging(deployment):
            result.owners[name].add(deployment.id)
    for parts in result.parts.values():
        parts.sort()
    return result


class _Facts:
    """The facts of all files, and how to follow them."""

    def __init__(self) -> None:
        self._by_path: dict[str, list[Use]] = defaultdict(list)
        self._paths: set[str] = set()
        self._by_name: dict[str, set[str]] = defaultdict(set)
        self._wheels: dict[str, set[str]] = defaultdict(set)
        self._builds: list[_Build] | None = None

    def add(self, path: str, use: Use) -> None:
        """Take one use: a fact, or the hint that a file of that name exists."""
        self._paths.add(path)
        self._by_name[posixpath.basename(path)].add(path)
        room = use.subject.partition(".")[0]
        if room in ("deploy", "docker", "oci") or use.subject in ("package", "image"):
            self._by_path[path].append(use)
        for part in path.split("!/")[:-1] or [path]:
            if found := _WHEEL.search(part):
                self._wheels[_package(found[1])].add(path.partition(".whl")[0] + ".whl")

    def deployments(self) -> list[Deployment]:
        """Return what is deployed, each id once."""
        found: dict[str, Deployment] = {}
        for path in sorted(self._by_path):
            for use in self._by_path[path]:
                if use.subject == "deploy.workload":
                    kind = use.detail("kind", "k8s")
                    name = f"{kind}:{use.name}"
                    images = [value for key, value in use.details if key == "image"]
                    scripts = [value for key, value in use.details if key in ("command", "script")]
                    one = Deployment(name, kind, path, use.line, (*images, *self._chart_images(path)), tuple(scripts))
                    found.setdefault(name, one)
        return list(found.values())

    def belonging(self, deployment: Deployment) -> set[str]:
        """Return the files and folders that end up in a deployment."""
        found: set[str] = set()
        for build in (b for image in deployment.images for b in self._builds_of(image)):
            self._follow_build(build, found)
        for path in self._own_scripts(deployment):
            self._follow_script(path, found)
        found |= self._chart_values(deployment.path)
        for path in [p for p in found if p in self._by_path]:
            for use in self._by_path[path]:
                if use.subject == "package":
                    found |= {w for wheel in self._wheels.get(_package(use.name), ()) for w in (wheel, f"{wheel}!")}
        return found

    def _follow_build(self, build: _Build, found: set[str]) -> None:
        """Add a Dockerfile, what it copies and installs, and the images it is based on if they are built here."""
        waiting = [build]
        followed: set[str] = set()
        while waiting and len(followed) < MOST_STEPS:
            at = waiting.pop()
            if at.dockerfile in followed:
                continue
            followed.add(at.dockerfile)
            found.add(at.dockerfile)
            for use in self._by_path.get(at.dockerfile, ()):
                if use.subject == "docker.copy" and not use.detail("from"):
                    found.add(_copied(at.context, use.name))
                elif use.subject == "docker.requirements":
                    self._follow_requirements(_join(at.context, use.name), found)
                elif use.subject == "docker.from":
                    waiting += self._builds_of(use.name)
                elif use.subject in ("docker.command", "deploy.command"):
                    for path in self._scripts_in(use.detail("script") or use.name, at.context):
                        self._follow_script(path, found)

    def _follow_requirements(self, path: str, found: set[str]) -> None:
        """Add a file of requirements and those that it includes."""

        def after(at: str) -> Iterator[str]:
            folder = posixpath.dirname(at)
            yield from (_join(folder, u.name) for u in self._by_path.get(at, ()) if u.subject == "deploy.include")

        found |= _walk(path, after)

    def _follow_script(self, path: str, found: set[str]) -> None:
        """Add a script, the code beside it (which it imports), and the scripts it calls."""

        def after(at: str) -> Iterator[str]:
            folder = posixpath.dirname(at)
            if at.endswith((".py", ".ipynb")):
                found.update(p for p in self._paths if posixpath.dirname(p) == folder and p.endswith(_CODE))
            for use in self._by_path.get(at, ()):
                if use.subject == "deploy.command":
                    yield from self._scripts_in(use.detail("script") or use.name, folder)
                elif use.subject == "docker.requirements":
                    self._follow_requirements(self._find(use.name, folder) or _join(folder, use.name), found)

        found |= _walk(path, after)

    def _own_scripts(self, deployment: Deployment) -> Iterator[str]:
        """Yield the scripts that a deployment names, itself or in the part of its file that is its own."""
        folder = posixpath.dirname(deployment.path)
        for text in deployment.scripts:
            yield from self._scripts_in(text, folder)
        uses = self._by_path.get(deployment.path, ())
        later = [u.line for u in uses if u.subject == "deploy.workload" and u.line > deployment.line]
        end = min(later, default=1 << 60)
        for use in uses:
            if not deployment.line <= use.line < end:
                continue
            if use.subject == "deploy.command":
                yield from self._scripts_in(use.detail("script") or use.name, folder)
            elif use.subject == "docker.requirements":
                found = self._find(use.name, folder)
                yield from [found] if found else []

    def _scripts_in(self, text: str, folder: str) -> Iterator[str]:
        """Yield the files of the tree that a command line names."""
        for word in text.replace('"', " ").replace("'", " ").replace(",", " ").split():
            if _SCRIPT.search(word):
                found = self._find(word, folder)
                if found:
                    yield found

    def _find(self, name: str, folder: str) -> str | None:
        """Return the file meant by a name used in a folder: there, in a folder above, or the only one that ends so."""
        for base in (folder, *_above(folder), ""):
            path = _join(base, name)
            if path in self._paths:
                return path
        tail = "/" + posixpath.normpath(name).lstrip("/")
        parts = tail.split("/")
        for start in range(1, len(parts)):  # /app/src/train.py in an image may be src/train.py here
            end = "/".join(parts[start:])
            found = [p for p in self._by_name.get(parts[-1], ()) if p == end or p.endswith("/" + end)]
            if len(found) == 1:
                return found[0]
        return None

    def _builds_of(self, image: str) -> list[_Build]:
        """Return the builds that make an image: by its full name, by its last part, or by guess where there is one candidate."""
        if self._builds is None:
            self._builds = list(self._all_builds())
        wanted = _image_name(image)
        if not wanted or "$" in wanted:
            return []
        last = wanted.rpartition("/")[2]
        exact = [b for b in self._builds if not b.guessed and any(_image_name(n) == wanted for n in b.names)]
        if exact:
            return exact
        for guessed in (False, True):
            near = [
                b
                for b in self._builds
                if b.guessed == guessed and any(_image_name(n).rpartition("/")[2] == last for n in b.names)
            ]
            if len({b.dockerfile for b in near}) == 1:
                return near[:1]
        return []

    def _all_builds(self) -> Iterator[_Build]:
        for path, uses in sorted(self._by_path.items()):
            folder = posixpath.dirname(path)
            for use in uses:
                if use.subject == "docker.build":
                    yield self._build(use, folder)
                elif use.subject in ("oci.tag", "oci.image"):
                    archive, inner, _ = path.partition("!/")
                    yield _Build((use.name,), f"{archive}!" if inner else folder, folder)
            if any(use.subject == "docker.from" for use in uses):
                name = posixpath.basename(path)
                ending = name.partition(".")[2] if name.startswith(("Dockerfile.", "Containerfile.")) else ""
                names = tuple(n for n in (posixpath.basename(folder), ending, name.rpartition(".")[0]) if n)
                yield _Build(names, path, folder, guessed=True)

    def _build(self, use: Use, folder: str) -> _Build:
        """Return a build that is written down: its context is meant from the file's folder, or from one above it (CI)."""
        context = use.detail("context", ".")
        written = use.detail("dockerfile") or ""
        for base in (folder, *_above(folder), ""):
            at = _join(base, context)
            for dockerfile in (_join(at, written or "Dockerfile"), _join(base, written or "Dockerfile")):
                if dockerfile in self._paths:
                    return _Build((use.name,), dockerfile, at)
        at = _join(folder, context)
        return _Build((use.name,), _join(at, written or "Dockerfile"), at)

    def _chart_images(self, path: str) -> Iterator[str]:
        """Yield the images in the values of the chart that a template belongs to."""
        for values in self._chart_values(path):
            yield from (u.name for u in self._by_path.get(values, ()) if u.subject == "image")

    def _chart_values(self, path: str) -> set[str]:
        chart, found, _ = path.rpartition("/templates/")
        if not found:
            return set()
        return {p for p in self._paths if posixpath.dirname(p) == chart and posixpath.basename(p).startswith("values")}


def _walk(start: str, after: Callable[[str], Iterable[str]]) -> set[str]:
    """Return the files that are reached from one, each followed once."""
    waiting, followed = [start], set[str]()
    while waiting and len(followed) < MOST_STEPS:
        at = waiting.pop()
        if at not in followed:
            followed.add(at)
            waiting += after(at)
    return followed


def _copied(context: str, source: str) -> str:
    """Return the file or folder that a COPY takes, up to its first pattern."""
    glob = _GLOB.search(source)
    if glob is not None:
        source = source[: glob.start()].rpartition("/")[0] or "."
    return _join(context, source.lstrip("/"))


def _join(folder: str, name: str) -> str:
    """Return a path in the tree; the tree's own folder is the empty path."""
    path = posixpath.normpath(posixpath.join(folder, name))
    return "" if path == "." else path


def _above(path: str) -> Sequence[str]:
    """Return the folders that hold a path, the nearest first, and last the empty one: the tree itself."""
    found: list[str] = []
    while path:
        path = path.rpartition("/")[0]
        found.append(path)
    return found


def _image_name(reference: str) -> str:
    """Return an image reference without digest and tag: `ghcr.io/x/y:1@sha256:...` is `ghcr.io/x/y`."""
    name = reference.partition("@")[0]
    head, slash, last = name.rpartition("/")
    return f"{head}{slash}{last.partition(':')[0]}"


def _package(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
