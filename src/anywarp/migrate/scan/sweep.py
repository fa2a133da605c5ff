"""What no scanner of a file's kind speaks for: names that mean one thing wherever they stand, and that the rest mentions CUDA at all.

It is asked last, about text of any kind, so that nothing that mentions NVIDIA or CUDA is passed over in silence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePath

from anywarp.catalogue.replacements import label, resource, variable
from anywarp.migrate.findings import Use
from anywarp.migrate.mentions import NAMES, SHORT
from anywarp.migrate.scan.commands import SYSTEM, image_use
from anywarp.migrate.scan.lines import Lines

UNREAD = "unread"
"""The subject of a file that mentions CUDA or NVIDIA in ways that nobody reads: told as not looked at."""

LARGEST = 8 << 20
_MENTION = re.compile(rf"{NAMES}|\b{SHORT}|datacenter-gpu-manager", re.IGNORECASE)
_HINT = re.compile(_MENTION.pattern.encode(), re.IGNORECASE)
_CLUSTER = re.compile(
    r"(?:(?<![\w./-])(?:requests\.|limits\.)?|(?<=\.labels\.)|(?<=\.annotations\.)|(?<=\.allocatable\.)|(?<=\.capacity\.))"
    r"(nvidia\\{0,2}\.com/[a-z][\w.\\-]*\w)"
)
_IMAGE = re.compile(
    r"(?<![\w./:@$-])((?:[a-z0-9][a-z0-9.-]*(?::\d+)?/)?(?:[a-z0-9][\w.-]*/)*[a-z0-9][\w.-]*(?::[\w][\w.-]*)?(?:@sha256:[0-9a-f]{64})?)"
)
_QUOTED = re.compile(r"[\"'`]([^\"'`\n]{2,300})[\"'`]")
_ITEM = re.compile(r"^[ \t]*-[ \t]+[\"']?([A-Za-z][\w.+${}*~=-]*)[\"']?[ \t]*(?:#.*)?$")
_NAMED = re.compile(r"\b(?:name|pkg|package)[=:][ \t]*[\"']?([A-Za-z][\w.+-]*)")
_PAIR = re.compile(r"^[ \t]*\w*(?:pkg|package|version)\w*:[ \t]*[\"']?([A-Za-z][\w.+-]*)[\"']?[ \t]*(?:#.*)?$")
_COMMENT = re.compile(r"[ \t]*(?:#(?!\s*cgo)|//(?!\s*#cgo)|\*|--|;|<!--|/\*|%|rem\b)", re.IGNORECASE)
_PEOPLE = (
    ".md",
    ".rst",
    ".txt",
    ".adoc",
    ".html",
    ".htm",
    ".svg",
    ".css",
    ".po",
    ".tex",
    ".bib",
    ".csv",
    ".tsv",
    ".patch",
    ".diff",
    ".map",
)
_KNOWN = (
    "license",
    "notice",
    "copying",
    "readme",
    "changelog",
    "changes",
    "authors",
    "codeowners",
    "owners",
    ".git",
    ".dockerignore",
    ".helmignore",
)
_CODE = (
    ".c",
    ".cc",
    ".cpp",
    ".cxx",
    ".h",
    ".hh",
    ".hpp",
    ".hxx",
    ".cu",
    ".cuh",
    ".inl",
    ".ptx",
    ".py",
    ".pyi",
    ".ipynb",
    ".pyx",
    ".pxd",
)
"""Sources that have scanners of their own: of these only names of images and resources are looked for here."""


def wants(path: PurePath, head: bytes) -> bool:
    """Tell whether a file is a text that is for a machine, by its name and its beginning."""
    name = path.name.lower()
    return not (name.endswith(_PEOPLE) or name.startswith(_KNOWN)) and b"\0" not in head


def swept(data: bytes, path: PurePath, told: Mapping[int, Collection[str]]) -> Iterator[Use]:
    """Yield names that nobody has spoken for, and, where lines are left that nobody reads, that the file mentions CUDA.

    `told` are the names found by line. A file that a scanner of its kind has found something in is taken to be read.
    """
    if len(data) > LARGEST or _HINT.search(data) is None:
        return
    code = path.name.lower().endswith(_CODE)
    lines = Lines(data)
    mentions, first = 0, 0
    yaml = path.suffix.lower() in (".yml", ".yaml")
    for number, text in enumerate(lines.text.split("\n"), 1):
        if len(text) > 4000 or not _MENTION.search(text) or _COMMENT.match(text):
            continue
        have = told.get(number, ())
        uses = [
            u for u in _line(lines, number, text, code, yaml, bool(have)) if not any(u.name in name for name in have)
        ]
        yield from uses
        if not uses and not have:
            mentions += 1
            first = first or number
    if mentions and not told and not code:
        yield Use(UNREAD, path.name, first, 1, lines.line(first), (("count", str(mentions)),))


def _line(lines: Lines, number: int, text: str, code: bool, yaml: bool, read: bool) -> Iterator[Use]:
    start = lines.starts[number - 1]
    done: set[str] = set()
    for found in _CLUSTER.finditer(text):
        name = found[1].replace("\\", "")  # as paths of kubectl have it
        if name not in done and (resource(name) is not None or label(name) is not None):
            done.add(name)
            subject = "k8s.resource" if resource(name) is not None else "k8s.label"
            yield lines.use(subject, name, start + found.start(1), use="text")
    for found in _IMAGE.finditer(text):
        reference = found[1]
        if (
            "/" not in reference
            or reference.startswith("nvidia.com/")
            or reference in done
            or "github.com" in reference
        ):
            continue
        quoted = text[found.start() - 1 : found.start()] in ("'", '"', "`") and text[found.end() : found.end() + 1] in (
            "'",
            '"',
            "`",
        )
        sure = ":" in reference.rpartition("/")[2] and (quoted or not code)
        for one in image_use(reference, start + found.start()) if sure else ():
            done.add(reference)
            yield lines.use(one.subject, one.name, one.offset)
    if code or read:
        return
    for found in _QUOTED.finditer(text):
        word = found[1].split()[0].rpartition("/")[2] if found[1].split() else ""
        if word == "nvidia-smi":
            yield lines.use("command.nvidia-smi", "nvidia-smi", start + found.start(1), read="yes")
        elif variable(found[1]) is not None:
            yield lines.use("env", found[1], start + found.start(1), use="read")
    listed = _ITEM.match(text) or _NAMED.search(text) or _PAIR.match(text)
    if yaml and listed and SYSTEM.fullmatch(listed[1]):
        yield lines.use("package.system", listed[1], start + listed.start(1))
