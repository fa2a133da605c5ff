"""Dockerfiles and Containerfiles: base images, variables, what is installed and copied, and what the image starts.

An image is where a service's CUDA comes from; what goes into it decides which findings reach the service.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import cast

from anywarp.migrate.findings import Use
from anywarp.migrate.scan import commands, declared, shell
from anywarp.migrate.scan.lines import Lines, Piece, Seen, seen

_NAME = re.compile(r"(?i)(?:.*[._-])?(?:docker|container)file(?:[._-].*)?$|.*\.(?:docker|container)file$")
_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)(?:[ \t]+|$)")
_HEREDOC = re.compile(r"<<-?([\"']?)([A-Za-z_]\w*)\1")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?::?([-+])([^}]{0,1000}))?\}|([A-Za-z_]\w*))")
_PAIR = re.compile(r"""([A-Za-z_][\w.-]*)=((?:"[^"\\]*(?:\\.[^"\\]*)*"|'[^']*'|\\.|[^\s\\"'])*)""")
_FLAG = re.compile(r"--([a-z-]+)(?:=(\S+))?[ \t]+")
_KNOWN = frozenset(
    "FROM RUN CMD LABEL MAINTAINER EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG ONBUILD STOPSIGNAL HEALTHCHECK SHELL".split()
)


@dataclass(slots=True)
class _State:
    """What is known on the way through a file: variables with defaults, and the current stage."""

    variables: dict[str, str] = field(default_factory=dict[str, str])
    stages: set[str] = field(default_factory=set[str])
    stage: str = ""
    build: str = ""  # what packages are built for where a file says so by its name

    def expand(self, text: str) -> str:
        def value(found: re.Match[str]) -> str:
            name = found[1] or found[4]
            known = self.variables.get(name)
            if found[2] == "+":
                return found[3] if known else ""
            return known if known else found[3] if found[2] == "-" else found[0]

        return _VARIABLE.sub(value, text)


def wants(path: PurePath, head: bytes) -> bool:
    """Tell whether a file describes how an image is made, by its name."""
    return _NAME.match(path.name) is not None and not path.name.lower().endswith(
        (".md", ".py", ".yml", ".yaml", ".json", ".html", ".go")
    )


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield what a Dockerfile says about CUDA, and how the image hangs together with other files."""
    lines = Lines(data)
    if "\0" in lines.text[:4096]:
        return
    state = _State(build=declared.of_others(path))
    for name, piece in instructions(lines):
        reader = _READERS.get(name)
        if reader is not None:
            found = reader(piece.text, state)
            if state.build:
                found = (one for one in found if one.subject != "package" or one.name not in declared.BUILDS)
            yield from lines.found_in(piece, found)


def instructions(lines: Lines) -> Iterator[tuple[str, Piece]]:
    """Yield each instruction, in capitals, with its arguments as they stand: continued lines joined by nothing but their backslash."""
    text, place, escape = lines.text, 0, "\\"
    if found := re.match(r"(?:#.*\n)*?#[ \t]*escape[ \t]*=[ \t]*(`)", text):
        escape = found[1]
    while place < len(text):
        end = _line_end(text, place)
        line = text[place:end]
        found = _INSTRUCTION.match(line)
        if found is None or found[1].upper() not in _KNOWN:
            place = end + 1
            continue
        start = place + found.end()
        parts, end = _continued(text, start, end, escape)
        for mark in _HEREDOC.finditer(parts) if found[1].upper() in ("RUN", "COPY", "ADD") else ():
            close = re.compile(rf"^\t*{re.escape(mark[2])}[ \t]*$", re.MULTILINE).search(text, end)
            if close:
                parts, end = parts + text[end : close.start()], close.end()
        line_number, column = lines.place(start)
        yield found[1].upper(), Piece(parts, line_number, column, 0)
        place = end + 1


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def _continued(text: str, start: int, end: int, escape: str) -> tuple[str, int]:
    """Return an instruction's text to its end; comments between its lines become blanks, so that offsets stay."""
    parts = [text[start:end]]
    while parts[-1].rstrip().endswith(escape) or not parts[-1].strip() or parts[-1].lstrip().startswith("#"):
        if end >= len(text) or (len(parts) == 1 and not parts[0].rstrip().endswith(escape)):
            break
        begin, end = end + 1, _line_end(text, end + 1)
        parts.append(text[begin:end])
    shown = [parts[0]]
    for part in parts[1:]:
        blank = part.lstrip().startswith("#")
        shown.append((" " * (len(part) - 1) + "\\") if blank else part)
    if escape != "\\":
        shown = [re.sub(r"`([ \t]*)$", r"\\\1", part) for part in shown]
    return "\n".join(shown), end


def _from(text: str, state: _State) -> Iterator[Seen]:
    offset = len(text) - len(text.lstrip())
    while found := _FLAG.match(text, offset):
        offset = found.end()
    words = text[offset:].replace("\\\n", "  ").split()
    if not words:
        return
    reference = state.expand(words[0])
    state.stage = words[2] if len(words) > 2 and words[1].lower() == "as" else ""
    yield seen("docker.from", reference, offset, stage=state.stage)
    if words[0].lower() not in state.stages:
        written = words[0] if words[0] != reference else ""
        for one in commands.image_use(reference, offset):
            yield Seen(one.subject, one.name, one.offset, (("written", written),) if written else ())
    if state.stage:
        state.stages.add(state.stage.lower())


def _arg(text: str, state: _State) -> Iterator[Seen]:
    for found in _PAIR.finditer(text):
        value = state.expand(shell.unquoted(found[2]))
        state.variables.setdefault(found[1], value)
        yield from commands.set_variable(found[1], value, found.start(), "argument") if _speaks(found[1]) else ()


def _speaks(name: str) -> bool:
    return name in ("TORCH_CUDA_ARCH_LIST", "CUDAARCHS", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")


def _env(text: str, state: _State) -> Iterator[Seen]:
    pairs = [(found[1], shell.unquoted(found[2]), found.start()) for found in _PAIR.finditer(text)]
    old = re.match(r"\s*([A-Za-z_]\w*)[ \t]+([^\n=][^\n]*)$", text)
    if old and not pairs:
        pairs = [(old[1], old[2].strip(), old.start(1))]
    for name, value, offset in pairs:
        value = state.expand(value)
        state.variables[name] = value
        yield from commands.set_variable(name, value, offset)
    yield from shell.paths(text)


def _run(text: str, state: _State) -> Iterator[Seen]:
    offset = len(text) - len(text.lstrip())
    while found := _FLAG.match(text, offset):
        offset = found.end()
    words = _json_words(text[offset:])
    if words is not None:
        yield from shifted(shell.script(" ".join(words), state.expand), offset + 1, len(text))
        return
    body = " " * offset + text[offset:]
    here = _HEREDOC.match(text, offset)
    if here and "\n" in text:  # RUN <<EOF: the lines that follow are the script
        first = text.index("\n")
        interpreter = text[here.end() : first].strip()
        if interpreter and not re.search(r"sh\b", interpreter):
            return
        body = " " * first + text[first:]
    yield from shell.script(body, state.expand)


def shifted(found: Iterator[Seen], by: int, most: int) -> Iterator[Seen]:
    """Yield what was seen in a text that stands further on in another; places are those of the other as near as they are known."""
    for one in found:
        yield Seen(one.subject, one.name, min(one.offset + by, most), one.details)


def _json_words(text: str) -> list[str] | None:
    if not text.startswith("["):
        return None
    try:
        words = json.loads(text.replace("\\\n", ""))
    except (ValueError, RecursionError):
        return None
    return [word for word in cast(list[object], words) if isinstance(word, str)] if isinstance(words, list) else None


def _copy(text: str, state: _State) -> Iterator[Seen]:
    offset, source_stage, place = len(text) - len(text.lstrip()), "", 0
    while found := _FLAG.match(text, offset):
        if found[1] == "from":
            source_stage, place = found[2] or "", found.start(2)
        offset = found.end()
    body = text[offset:].split("\n", 1)[0] if _HEREDOC.match(text, offset) else text[offset:]
    words = _json_words(body) or body.replace("\\\n", "  ").split()
    if source_stage and source_stage.lower() not in state.stages and not source_stage.isdigit():
        yield from commands.image_use(state.expand(source_stage), place)
    for word in words[:-1]:
        yield seen("docker.copy", state.expand(word), offset, dest=words[-1], from_=source_stage)


def _start(text: str, state: _State) -> Iterator[Seen]:
    words = _json_words(text.strip()) or shell.unquoted(text.strip()).split()
    if words:
        yield seen("docker.command", " ".join(words), 0)
        yield from shifted(shell.script(" ".join(words), state.expand), 0, len(text))


def _onbuild(text: str, state: _State) -> Iterator[Seen]:
    found = _INSTRUCTION.match(text)
    reader = _READERS.get(found[1].upper()) if found else None
    if found and reader is not None and reader is not _onbuild:
        yield from shifted(reader(text[found.end() :], state), found.end(), len(text))


def _healthcheck(text: str, state: _State) -> Iterator[Seen]:
    found = re.search(r"\bCMD\s+", text)
    if found:
        yield from shifted(shell.script(text[found.end() :]), found.end(), len(text))


def _label(text: str, state: _State) -> Iterator[Seen]:
    for found in re.finditer(r"\bcom\.nvidia\.[\w.-]+", text):
        yield seen("container.label", found[0], found.start())


_READERS = {
    "LABEL": _label,
    "FROM": _from,
    "ARG": _arg,
    "ENV": _env,
    "RUN": _run,
    "COPY": _copy,
    "ADD": _copy,
    "CMD": _start,
    "ENTRYPOINT": _start,
    "ONBUILD": _onbuild,
    "HEALTHCHECK": _healthcheck,
}
