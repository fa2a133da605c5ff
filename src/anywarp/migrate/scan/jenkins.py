"""Jenkinsfiles: the machine a pipeline asks for, its container, and its shell steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from anywarp.migrate.findings import Use
from anywarp.migrate.rulings import workflows
from anywarp.migrate.scan import commands, shell
from anywarp.migrate.scan.lines import Lines, Piece, Seen, seen, utf8

_HINT = re.compile(rb"(?i)cuda|nvidia|gpu|pip|conda|docker")
_STEP = re.compile(
    r"\b(?P<word>sh|image|args|label|node)\b[ \t]*\(?[ \t]*(?:script[ \t]*:[ \t]*)?"
    r"(?P<text>'''(?:[^\\']|\\.|'(?!''))*'''|\"\"\"(?:[^\\\"]|\\.|\"(?!\"\"))*\"\"\"|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def wants(path: PurePath, head: bytes) -> bool:
    """Tell whether a file is a Jenkinsfile, by its name."""
    return path.name.lower().startswith("jenkinsfile") or path.name.endswith(".jenkinsfile")


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield what a pipeline says about CUDA."""
    data = utf8(data)
    if not _HINT.search(data):
        return
    lines = Lines(data)
    comments = [
        found.span() for found in _COMMENT.finditer(lines.text) if lines.text[found.start() - 1 : found.start()] != ":"
    ]
    for found in _STEP.finditer(lines.text):
        if not any(start <= found.start() < end for start, end in comments):
            yield from lines.found_in(Piece(lines.text), _step(found))


def _step(found: re.Match[str]) -> Iterator[Seen]:
    quoted = found["text"]
    width = 3 if quoted.startswith(("'''", '"""')) else 1
    text, offset = quoted[width:-width], found.start("text") + width
    if found["word"] == "sh":
        for one in shell.script(text):
            yield Seen(one.subject, one.name, one.offset + offset, one.details)
    elif found["word"] == "image":
        yield from commands.image_use(text, offset)
    elif found["word"] == "args":
        if "--gpus" in text or "--runtime=nvidia" in text:
            yield seen("container.gpus", "--gpus", offset, value=text)
    elif (answer := workflows.runner(text)) is not None and answer.action == "refuse":
        yield seen("ci.runner", text, offset)
