"""Python projects and their lock files: pyproject.toml, setup.cfg, setup.py, Pipfile, and the locks of poetry, uv, pdm and pip.

Every tool writes dependencies in a place of its own; which package is meant, and from which index, is the same question in all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from anywarp.migrate.findings import Use
from anywarp.migrate.formats import setup_cfg
from anywarp.migrate.formats.lock_files import made_by
from anywarp.migrate.formats.outline import documents
from anywarp.migrate.formats.toml_text import Text, texts
from anywarp.migrate.scan import declared
from anywarp.migrate.scan.lines import Lines, Piece, Seen, seen

_PROJECTS = frozenset({"pyproject.toml", "pipfile", "pixi.toml", "hatch.toml", "uv.toml"})
_LISTS = re.compile(
    r"(?:^|\.)(?:dependencies|requires|extra-dependencies|constraint-dependencies|override-dependencies|dev-dependencies|build-constraint-dependencies)(?:$|\.)"
)
_POETRY = re.compile(
    r"tool\.poetry\.(?:.*\.)?(?:dev-)?dependencies$|^(?:dev-)?packages$|tool\.pixi\.(?:.*\.)?pypi-dependencies$|(?:^|\.)pypi-dependencies$"
)
_CONDA = re.compile(
    r"tool\.pixi\.(?:.*\.)?dependencies$|^(?:feature\.[\w-]+\.|target\.[\w-]+\.)*dependencies$|tool\.conda-lock\.dependencies$"
)
_GROUPS = ("project.optional-dependencies", "dependency-groups", "tool.pdm.dev-dependencies")
_INDEXES = re.compile(r"(?:^|\.)(?:index|sources?)$")
_LOCKED = re.compile(r'^name = "([^"\n]+)"\n(?:[a-z].*\n){0,3}?version = "([^"\n]+)"', re.MULTILINE)
_SETUP_LIST = re.compile(
    r"(?:install_requires|extras_require|setup_requires|tests_require|dependencies|requirements)\b"
)
_SETUP_START = re.compile(
    r"(?:\b\w*(?:[Rr]equire|[Rr]eqs?\b|REQ|[Dd]epend|[Dd]eps\b|DEP)\w*|[\"'](?:install_requires|extras_require)[\"'])"
    r"[ \t]*(?:\+?=|:)[ \t]*(?:[\w.]+(?:\([\w\"'., ]*\))?[ \t]*\+[ \t]*)*[\[({]"
)
_QUOTED = re.compile(r"""(["'])([A-Za-z][\w.-]*(?:\[[\w,\- ]*\])?[ \t]*(?:(?:[<>=!~]=?|===)[^"'\n]{0,80})?)\1""")


def wants(path: PurePath, head: bytes) -> bool:
    """Tell whether a file describes a Python project or locks its packages, by its name."""
    name = path.name.lower()
    lock = bool(made_by(path)) and path.suffix in (".lock", ".toml")  # conda's is known by what it holds
    return lock or name in _PROJECTS or name in ("setup.cfg", "setup.py")


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield the packages, sources and indexes that concern CUDA."""
    lines = Lines(data)
    name = path.name.lower()
    if name == "setup.cfg":
        yield from lines.found_in(Piece(lines.text), _setup_cfg(lines.text))
    elif name == "setup.py":
        yield from lines.found_in(Piece(lines.text), _setup_py(lines.text))
    elif name == "pipfile.lock":
        yield from _pipfile_lock(lines)
    elif name == "pixi.lock":
        yield from lines.found_in(Piece(lines.text), _pixi_lock(lines.text))
    elif made_by(path):
        found = _lock(lines.text)
        if declared.of_others(path):
            found = (one for one in found if one.name not in declared.BUILDS)
        yield from lines.found_in(Piece(lines.text), found)
    else:
        yield from lines.found_in(Piece(lines.text), _project(lines.text, name == "pixi.toml"))


def _project(text: str, pixi: bool) -> Iterator[Seen]:
    every = list(texts(text))
    sources = _sources(every)
    tables: dict[tuple[str, str], list[Text]] = {}
    for one in every:
        if channel := _channel(one.table, pixi):
            tables.setdefault((one.table, channel), []).append(one)
        else:
            yield from _listed(one, sources)
    for (_, channel), table in tables.items():
        yield from _by_key(table, channel, sources)


def _channel(table: str, pixi: bool) -> str:
    """Return where packages of a table that has them as keys come from; "" for any other table."""
    if _POETRY.search(table):
        return "pypi"
    return "conda" if (pixi or "pixi" in table) and _CONDA.search(table) else ""


def _listed(one: Text, sources: dict[str, str]) -> Iterator[Seen]:
    last = one.key.rpartition(".")[2]
    if one.table.startswith("tool.uv.sources"):
        if last in ("url", "git", "path"):
            yield from declared.link(one.text, one.start, "pyproject")
    elif last in ("index-url", "extra-index-url", "find-links") or (last == "url" and _INDEXES.search(one.table)):
        yield from declared.index(one.text, one.start, "pyproject")
    elif _LISTS.search(f"{one.table}.{one.key}") or one.table in _GROUPS:
        name = re.match(r"[\w.-]+", one.text)
        build = sources.get(declared.canonical(name[0]), "") if name else ""
        yield from declared.requirement(one.text, one.start, "pyproject", build)


def _sources(every: list[Text]) -> dict[str, str]:
    """Return which build each package is taken from: uv's and poetry's sources by name, with the builds that those hold."""
    builds: dict[str, str] = {}
    name = url = ""
    for one in every:
        if re.search(r"(?:^|\.)(?:index|source)$", one.table):
            if one.first:
                name = url = ""
            name, url = (one.text, url) if one.key == "name" else (name, one.text) if one.key == "url" else (name, url)
            if name and url:
                builds[name] = declared.index_of(url + "/")
    found: dict[str, str] = {}
    for one in every:
        keys = one.key.split(".")
        if one.table == "tool.uv.sources" and keys[-1] == "index" and one.text in builds:
            known = found.get(declared.canonical(keys[0]), "")
            found[declared.canonical(keys[0])] = known if known.startswith("cu") else builds[one.text]
        elif keys[-1] == "source" and one.text in builds:
            found.setdefault(declared.canonical(keys[0]), builds[one.text])
    return found


def _by_key(table: list[Text], channel: str, sources: dict[str, str]) -> Iterator[Seen]:
    """A table of packages: the key is the package, its value a version, or a table with one."""
    packages: dict[str, dict[str, Text]] = {}
    for one in table:
        name, _, attribute = one.key.partition(".")
        packages.setdefault(name, {}).setdefault(attribute, one)
    for name, told in packages.items():
        if link := told.get("url") or told.get("git"):
            yield from declared.link(link.text, link.start, "pyproject")
            continue
        version = told.get("version") or told.get("")
        specifier = version.text if version and version.text != "*" else ""
        specifier = f"=={specifier}" if re.match(r"\d", specifier) else specifier
        extras = told["extras"].text if "extras" in told else ""
        offset = next(iter(told.values())).start
        build = sources.get(declared.canonical(name), "")
        yield from declared.named(name, offset, "pyproject", specifier, extras, build, channel)


def _lock(text: str) -> Iterator[Seen]:
    for found in _LOCKED.finditer(text):
        block = text[found.end() : found.end() + 400].split("\n[[", 1)[0]
        source = re.search(r'(?:registry|url) = "([^"\n]+)"', block)
        build = declared.index_of(source[1] + "/") if source else ""
        yield from declared.named(found[1], found.start(1), "lock", f"=={found[2]}", index=build)
    for found in re.finditer(r'registry = "([^"\n]+)"', text):
        if declared.CUDA_INDEX.match(found[1]):
            yield from declared.index(found[1], found.start(1), "lock")
            return  # the same for every package: once is enough


def _pixi_lock(text: str) -> Iterator[Seen]:
    done: set[str] = set()
    for found in re.finditer(r"/([A-Za-z0-9_.-]+?)-(\d[^-/\s]*)-([\w.]+)\.(?:conda|tar\.bz2)$", text, re.MULTILINE):
        if found[1] not in done:
            done.add(found[1])
            build = re.search(r"cuda\w*", found[3])
            if build:
                yield seen(
                    "package", found[1], found.start(1), version=found[2], index=build[0], where="lock", channel="conda"
                )
            elif "cpu" not in found[3]:
                yield from declared.named(found[1], found.start(1), "lock", f"=={found[2]}", channel="conda")


def _pipfile_lock(lines: Lines) -> Iterator[Use]:
    for root in documents(lines.text):
        for section in (root.get("default"), root.get("develop")):
            for key, entry in section.pairs if section else ():
                for one in declared.named(key.text, 0, "lock", entry.value("version")):
                    yield lines.use_at(one.subject, one.name, key.line, key.column + 1, **dict(one.details))


def _setup_cfg(text: str) -> Iterator[Seen]:
    for one in setup_cfg.requirements(text):
        yield from declared.requirement(one.text, one.start, "setup.cfg")


def _setup_py(text: str) -> Iterator[Seen]:
    """Find requirements in the lists of a setup script, without running it."""
    if not _SETUP_LIST.search(text):
        return
    for start in _SETUP_START.finditer(text):
        end = _closed(text, start.end() - 1)
        for found in _QUOTED.finditer(text, start.end(), end):
            if "#" not in text[text.rfind("\n", 0, found.start()) + 1 : found.start()]:
                yield from declared.requirement(found[2], found.start(2), "setup.py")


def _closed(text: str, start: int) -> int:
    depth = 0
    for found in re.compile(r"[\[({]|[\])}]|\"[^\"\n]*\"|'[^'\n]*'").finditer(text, start, start + 20_000):
        depth += 1 if found[0] in "[({" else -1 if found[0] in "])}" else 0
        if not depth:
            return found.end()
    return min(len(text), start + 20_000)
