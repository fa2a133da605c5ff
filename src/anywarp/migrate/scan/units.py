"""Units of systemd: what a service starts, the variables it gets, and NVIDIA's services that it waits for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from anywarp.migrate.findings import Use
from anywarp.migrate.scan import commands, shell
from anywarp.migrate.scan.lines import Lines, Piece, Seen, seen

_ENDINGS = (".service", ".timer", ".socket", ".conf", ".service.in", ".service.j2")
_SECTION = re.compile(rb"(?m)^\[(?:Unit|Service|Timer|Socket|Install)\]")
_ENTRY = re.compile(
    r"(?m)^(?P<key>Exec\w+|Environment|After|Wants|Requires|BindsTo|PartOf|Before|DeviceAllow)[ \t]*=[ \t]*(?P<value>(?:[^\n\\]|\\.|\\\n)*)"
)
_SERVICE = re.compile(r"(nvidia-[\w-]+|dcgm|nvidia-dcgm)(?:\.service)?(?![\w.-])")
_STARTS = {"dcgm": "nv-hostengine", "nvidia-dcgm": "nv-hostengine"}
"""Services whose name is not that of the program they start."""


def wants(path: PurePath, head: bytes) -> bool:
    """Tell whether a file is a unit of systemd, by its ending and its sections."""
    return path.name.lower().endswith(_ENDINGS) and _SECTION.search(head) is not None


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield what a unit says about CUDA."""
    lines = Lines(data)
    if not shell.HINTS.search(data):
        return
    for found in _ENTRY.finditer(lines.text):
        yield from lines.found_in(Piece(lines.text), _entry(found))


def _entry(found: re.Match[str]) -> Iterator[Seen]:
    value, offset = found["value"], found.start("value")
    if found["key"] == "Environment":
        for word in re.finditer(r"[\"']?(\w+=[^\"'\s]*)[\"']?", value):
            yield from _moved(shell.script(f"export {word[1]}"), offset + word.start(1) - len("export "))
    elif found["key"].startswith("Exec"):
        skip = len(value) - len(value.lstrip("@-:+!"))
        yield from _moved(shell.script(value[skip:]), offset + skip)
    else:
        for name in _SERVICE.finditer(value):
            tool = _STARTS.get(name[1], name[1])
            if tool in commands.TOOLS:
                yield seen(f"command.{tool}", tool, offset + name.start())


def _moved(found: Iterator[Seen], by: int) -> Iterator[Seen]:
    for one in found:
        yield Seen(one.subject, one.name, one.offset + by, one.details)
