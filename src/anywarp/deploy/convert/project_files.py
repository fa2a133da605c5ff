"""pyproject.toml, Pipfile and setup.cfg: what a project depends on, and the indexes that its tools take it from.

A project's own metadata cannot name an index; where no tool's section does either, a person must say where torch for ROCm comes from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from anywarp.catalogue import replacements
from anywarp.deploy.convert import packages
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal
from anywarp.migrate.formats import setup_cfg
from anywarp.migrate.formats.toml_text import Text, texts
from anywarp.migrate.rulings.packages import REFUSED, index

NAME = "project"
INDEX = "Y047"
_LISTS = re.compile(
    r"project/dependencies|project/optional-dependencies/[^/]+|dependency-groups/[^/]+|build-system/requires|"
    r"tool/uv/(?:dev|constraint|override|build-constraint)-dependencies|tool/pdm/dev-dependencies/[^/]+|tool/hatch/envs/[^/]+/(?:extra-)?dependencies"
)
_TABLES = re.compile(
    r"(?:tool/poetry/(?:dev-)?dependencies|tool/poetry/group/[^/]+/dependencies|(?:dev-)?packages)/(?P<name>[^/]+)(?P<more>/version)?"
)
_URLS = re.compile(
    r"tool/uv/(?:index/url|index-url|extra-index-url|pip/(?:extra-)?index-url|find-links)|tool/(?:poetry|pdm)/source/url|source/url"
)
_NAMES = re.compile(
    r"tool/uv/index/name|tool/poetry/source/name|tool/pdm/source/name|source/name|tool/uv/sources/[^/]+/index|.*/(?:source|index)"
)


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is the file of a project."""
    return path.name in ("pyproject.toml", "Pipfile", "setup.cfg", "uv.toml")


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a project's file."""
    if path.name == "setup.cfg":
        yield from _settings(data, options)
        return
    strings = [one for one in texts(data.decode("latin-1")) if not one.stray]
    urls = [one for one in strings if _URLS.fullmatch("/".join(one.path))]
    moving = [one for one in urls if _moved(one.text, options)]
    settled = any(re.search(r"/whl/(?:nightly/)?(?:cpu|rocm|xpu)", one.text) for one in urls)
    blocked = False
    for group in _groups(strings).values():
        plan = packages.plan([_wanted(data, one) for one in group], options, exclusive=True)
        blocked |= plan.blocked
        yield from _placed(plan, data, bool(moving) or settled, options)
    for one in strings:
        found = _TABLES.fullmatch("/".join(one.path))
        if found and not one.entry:
            findings, stays = _pinned(data, one, found["name"], bool(moving) or settled, options)
            blocked |= stays
            yield from findings
    yield from _indexes(urls, moving, strings, blocked, options)


def _moved(address: str, options: Options) -> bool:
    answer = index(address, options.target)
    return answer is not None and answer.action == "replace"


def _groups(strings: list[Text]) -> dict[tuple[str, ...], list[Text]]:
    found: dict[tuple[str, ...], list[Text]] = {}
    for one in strings:
        if one.entry and _LISTS.fullmatch("/".join(one.path)):
            found.setdefault(one.path, []).append(one)
    return found


def _wanted(data: bytes, one: Text) -> packages.Wanted:
    start, end = one.outer
    after = re.compile(rb"[ \t]*,[ \t]*(?:#[^\n]*)?").match(data, end)
    end = after.end() if after else end
    head = data.rfind(b"\n", 0, start) + 1
    if not data[head:start].strip() and data[end : end + 1] == b"\n":
        return packages.Wanted(one.text, one.start, one.end, (head, end + 1))
    if not after:
        before = re.search(rb",[ \t]*\Z", data[:start])
        start = before.start() if before else start
    return packages.Wanted(one.text, one.start, one.end, (start, end))


def _placed(plan: packages.Plan, data: bytes, known: bool, options: Options) -> Iterator[Finding]:
    """Yield a plan; without an index that moves, packages of torch's family wait for a person."""
    yield_all = known or not plan.index
    for one in plan.findings:
        family = re.match(rb"torch(?:vision|audio)?(?![\w-])", data[one.start : one.end]) is not None
        if yield_all or not family or isinstance(one, Refusal):
            yield one
        else:
            yield _unplaced(one.start, one.end, options)


def _unplaced(start: int, end: int, options: Options) -> Refusal:
    row = packages.torch_index(options)
    reason = "a project's metadata cannot say which index torch comes from, and PyPI's torch is the build for CUDA"
    help = f"name the index {row['target']} for it in [[tool.uv.index]] and [tool.uv.sources], a source of poetry or pdm, or when installing"
    return Refusal(start, end, reason, help, row["source"], INDEX)


def _pinned(data: bytes, one: Text, name: str, known: bool, options: Options) -> tuple[list[Finding], bool]:
    """Return what becomes of `name = "version"`, and whether it keeps torch's index where it is."""
    row = replacements.package(name)
    if row is None:
        return [], False
    try:
        asked = Requirement(name + _specifier(one.text))
    except (InvalidRequirement, InvalidVersion):
        return [
            Refusal(
                one.start, one.end, f"the version {one.text!r} is not read", "write it as >= and <", "", packages.PIN
            )
        ], True
    if replacements.canonical(name) in packages.FAMILY:
        plan = packages.plan([packages.Wanted(str(asked), one.start, one.end)], options, exclusive=True)
        if plan.blocked or known:
            return list(plan.findings), plan.blocked
        return [_unplaced(one.start, one.end, options)], False
    answer = packages.answer_for(asked, row, options)
    if answer is None:
        return [], False
    if answer.action == "refuse":
        return [Refusal(one.start, one.end, answer.reason, answer.help, answer.source, answer.code)], False
    if answer.action == "keep":
        return [Fine(one.start, one.end, answer.reason, answer.source)], False
    head = data.rfind(b"\n", 0, one.start) + 1
    tail = data.find(b"\n", one.end)
    tail = len(data) if tail < 0 else tail
    if answer.action == "remove":
        return [Change(head, min(tail + 1, len(data)), b"", answer.reason, answer.source)], False
    place = re.compile(rb"[ \t]*([\"']?)" + re.escape(name.encode()) + rb"\1[ \t]*=").match(data, head)
    if place is None or "[" in answer.text:
        return [Refusal(one.start, one.end, answer.reason, f"write {answer.text}", answer.source, REFUSED)], False
    new = re.split(r"[=<>!~]", answer.text, maxsplit=1)[0]
    start = data.find(name.encode(), head)
    return [Change(start, start + len(name), new.encode(), answer.reason, answer.source)], False


def _specifier(text: str) -> str:
    """Return a version as poetry and pipenv write it as PEP 440 has it: ^2.1 is at least 2.1 and less than 3."""
    parts: list[str] = []
    for part in (one.strip() for one in text.split(",")):
        if part in ("*", ""):
            continue
        if part[0] == "^" or (part[0] == "~" and not part.startswith("~=")):
            parts += _caret(part)
        elif part[0].isdigit():
            parts.append(f"=={part}")
        else:
            parts.append(part)
    return ",".join(parts)


def _caret(part: str) -> list[str]:
    version = Version(part[1:].strip())
    release = list(version.release)
    if part[0] == "^":
        fixed = next((place for place, number in enumerate(release) if number), len(release) - 1)
    else:
        fixed = min(1, len(release) - 1)
    upper = [*release[:fixed], release[fixed] + 1]
    return [f">={version}", f"<{'.'.join(map(str, upper))}"]


def _indexes(
    urls: list[Text], moving: list[Text], strings: list[Text], blocked: bool, options: Options
) -> Iterator[Finding]:
    for one in urls:
        answer = index(one.text, options.target)
        if answer is None:
            continue
        if blocked and answer.action == "replace":
            yield Note(one.start, one.end, "stays with the packages that cannot move")
        elif answer.action == "replace":
            yield Change(one.start, one.end, answer.text.encode(), answer.reason, answer.source)
        elif answer.action == "keep":
            yield Fine(one.start, one.end, answer.reason, answer.source)
        else:
            yield Refusal(one.start, one.end, answer.reason, answer.help or "take it out", answer.source, INDEX)
    if moving and not blocked:
        for one in strings:
            if _NAMES.fullmatch("/".join(one.path)) and re.search(r"cu\d{2,3}", one.text):
                new = re.sub(r"cu\d{2,3}", "rocm", one.text)
                yield Change(one.start, one.end, new.encode(), "the name of the index says what it holds")


def _settings(data: bytes, options: Options) -> Iterator[Finding]:
    """Yield what becomes of setup.cfg, whose lists are each installed as a whole."""
    groups: dict[tuple[str, str], list[packages.Wanted]] = {}
    for one in setup_cfg.requirements(data.decode("latin-1")):
        groups.setdefault((one.section, one.key), []).append(packages.Wanted(one.text, one.start, one.end, one.line))
    for wanted in groups.values():
        yield from _placed(packages.plan(wanted, options, exclusive=True), data, False, options)


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """Yield the places of the comments."""
    return (found.span() for found in re.finditer(r"(?m)(?:^|(?<=[ \t]))#[^\n]*", data.decode("latin-1")))
