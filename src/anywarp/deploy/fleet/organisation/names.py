"""What a member offers to others and what it wants of them, by name: images, packages, repositories, workloads.

Facts of the assessment say what is built, deployed and based on what; packages and repositories are read from the manifests that name all of a
project's dependencies, of which the assessment only sees those that have to do with CUDA.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath

from packaging.requirements import InvalidRequirement, Requirement

from anywarp.diagnostics import AnywarpError
from anywarp.migrate.findings import Use
from anywarp.migrate.formats import requirements, setup_cfg, toml_text
from anywarp.migrate.reach import Deployment
from anywarp.migrate.tree import read, walk

MOST_FILES, MOST_BYTES, MOST_NAMES = 2000, 1 << 20, 500
_LONGEST = 2000  # of a requirement
_FIXED = ("pyproject.toml", "setup.cfg", "setup.py", ".gitmodules", "CMakeLists.txt")
_GIT = re.compile(
    r"(?:git\+)?(?:(?:https?|ssh|git)://(?:[^@\s/]+@)?|git@)([A-Za-z0-9.-]+)(?::\d+/|[:/])([\w./~-]+?)(?:\.git)?(?=[@#\s\"')]|$)"
)
_MODULE = re.compile(r"^\s*url\s*=\s*(\S+)", re.MULTILINE)
_FETCHED = re.compile(r"\bGIT_REPOSITORY\s+\"?(\S+?)[\"\s)]")
_NAME = re.compile(r"^[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?$")
_CFG_NAME = re.compile(r"^\[metadata\][^\[]*?^name\s*=\s*(\S+)", re.MULTILINE)

Names = set[str]
"""`image:registry/team/base`, `guess:base`, `package:our-lib`, `repository:host/team/lib`, `workload:k8s:Deployment/x`."""


def of_facts(
    facts: Sequence[tuple[str, Use]], deployments: Iterable[Deployment], member: str, kind: str
) -> tuple[Names, Names]:
    """Return what the facts of an assessment say is offered, and wanted."""
    offered, wanted = set[str](), set[str]()
    for path, use in facts:
        if use.subject in ("docker.build", "oci.tag", "oci.image"):
            offered |= image(use.name)
        elif use.subject == "docker.from":
            wanted |= image(use.name)
            folder = posixpath.basename(posixpath.dirname(path)) or member
            offered |= {f"guess:{folder.lower()}"}
    for one in deployments:
        wanted |= {name for each in one.images for name in image(each)}
        if kind == "repository":
            offered.add(f"workload:{one.id}")
    return offered, wanted


def image(reference: str) -> Names:
    """Return the name of an image without tag, digest and Docker's own registry; nothing where it is a template."""
    name = reference.partition("@")[0].strip()
    head, slash, last = name.rpartition("/")
    name = f"{head}{slash}{last.partition(':')[0]}".lower()
    for start in ("docker.io/library/", "docker.io/", "index.docker.io/"):
        name = name.removeprefix(start)
    return {f"image:{name}"} if re.fullmatch(r"[a-z0-9][a-z0-9._:/-]*", name) and name != "scratch" else set()


def of_tree(root: Path, member: str) -> tuple[Names, Names]:
    """Return what the manifests below a checkout say it offers, and wants."""
    offered, wanted = {f"guess:{member.lower()}"}, set[str]()
    if not root.is_dir():
        return offered, wanted
    offered |= _repositories(_text(root / ".git" / "config"), _MODULE)
    seen = 0
    for file in walk(root):
        path = PurePath(file.shown)
        if file.installed or not (path.name in _FIXED or path.suffix == ".cmake" or requirements.named(path, b"")):
            continue
        seen += 1
        if seen > MOST_FILES:
            break
        more, needed = _of_file(path, _text(Path(file.place)))
        offered |= more
        wanted |= needed
    return offered, wanted


def _of_file(path: PurePath, text: str) -> tuple[Names, Names]:
    if path.name == "pyproject.toml":
        return _project(text)
    if path.name == "setup.cfg":
        named = _CFG_NAME.search(text)
        return _package(named[1] if named else ""), _wanted(one.text for one in setup_cfg.requirements(text))
    if path.name == "setup.py":
        return _setup(text)
    if path.name == ".gitmodules":
        return set(), _repositories(text, _MODULE)
    if path.name == "CMakeLists.txt" or path.suffix == ".cmake":
        return set(), _repositories(text, _FETCHED)
    return set(), _wanted(line.text.strip() for line in requirements.lines(text))


def _project(text: str) -> tuple[Names, Names]:
    offered, wanted = set[str](), list[str]()
    for one in toml_text.texts(text):
        path = one.path
        if path in (("project", "name"), ("tool", "poetry", "name")):
            offered |= _package(one.text)
        elif path[:2] in (("project", "dependencies"), ("project", "optional-dependencies"), ("build-system", "requires")) or path[:1] == ("dependency-groups",):  # fmt: skip
            wanted.append(one.text)
        elif path[:3] == ("tool", "poetry", "dependencies") and len(path) > 3:
            wanted += [path[3], one.text]
    return offered, _wanted(wanted)


def _setup(text: str) -> tuple[Names, Names]:
    """Return what the call of `setup` in a setup.py says in so many words; what is computed is not known."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set(), set()
    offered, wanted = set[str](), list[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node.func) == "setup":
            for word in node.keywords:
                if word.arg == "name":
                    offered |= _package("".join(_texts(word.value)[:1]))
                elif word.arg in ("install_requires", "extras_require", "setup_requires"):
                    wanted += _texts(word.value)
    return offered, _wanted(wanted)


def _called(function: ast.expr) -> str:
    return (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )


def _texts(value: ast.expr) -> list[str]:
    """Return the strings of lists, without the keys of a dictionary."""
    keys = {id(key) for node in ast.walk(value) if isinstance(node, ast.Dict) for key in node.keys}
    return [
        n.value
        for n in ast.walk(value)
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in keys
    ]


def _wanted(texts: Iterable[str]) -> Names:
    found = set[str]()
    for text in texts:
        if len(text) > _LONGEST:
            continue
        if url := _GIT.search(text):
            found.add(_repository(url))
        try:
            found |= _package(Requirement(text.removeprefix("-e ").strip()).name)
        except InvalidRequirement:
            found |= _package(text) if _NAME.match(text) else set()
    return found


def _package(name: str) -> Names:
    return {f"package:{re.sub(r'[-_.]+', '-', name).lower()}"} if _NAME.match(name) and len(name) < 200 else set()


def _repositories(text: str, places: re.Pattern[str]) -> Names:
    return {_repository(url) for found in places.finditer(text) if (url := _GIT.search(found[1]))}


def _repository(url: re.Match[str]) -> str:
    return f"repository:{url[1].lower()}/{url[2].strip('/').lower()}"


def _text(place: Path) -> str:
    try:
        return read(place, limit=MOST_BYTES).decode("utf-8", "replace")
    except AnywarpError:
        return ""


def several(names: Names) -> list[str]:
    """Return names in order, so many as are kept."""
    return sorted(names)[:MOST_NAMES]


def chained(parts: Iterable[tuple[Names, Names]]) -> Iterator[Names]:
    """Yield what is offered, and what is wanted, of several parts together."""
    offered, wanted = set[str](), set[str]()
    for more, needed in parts:
        offered |= more
        wanted |= needed
    yield offered
    yield wanted - offered
