"""Dockerfiles: base images, variables, and the commands that build an image.

An instruction is changed in its place, so that continued lines, here-documents and comments stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePath

from anywarp.catalogue import replacements
from anywarp.deploy.convert import commands, environment, images, smi
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal, moved
from anywarp.deploy.convert.shell_words import split, unix

NAME = "dockerfile"
NVIDIAS = "Y046"
_FILE = re.compile(r"(?:docker|container)file(?:[._-].*)?|.*[._-](?:docker|container)file")
_INSTRUCTION = re.compile(r"(?P<lead>[ \t]*)(?P<name>[A-Za-z]+)(?P<space>(?:[ \t]|\\\r?\n)+)(?P<rest>[^\n]*)")
_HEREDOC = re.compile(r"<<-?\s*([\"']?)(\w+)\1")
_REFERENCE = re.compile(r"\$(?:\{(?P<braced>\w+)(?::-(?P<default>[^}]*))?\}|(?P<bare>\w+))")
_FROM = re.compile(r"(?:--\S+[ \t]+)*(?P<image>\S+)(?:[ \t]+[Aa][Ss][ \t]+(?P<stage>\S+))?")
_ARG = re.compile(r"(?P<name>\w+)(?:=(?P<value>\"[^\"]*\"|'[^']*'|\S*))?")
_COPIED = re.compile(r"--from=(?P<image>\S+)")
_MOUNTS = re.compile(r"(?:--\w[\w-]*(?:=\S+)?(?:[ \t]|\\\n)+)*")
_NVIDIAS_SCRIPT = re.compile(r"[^\s\"',\[\]]*(?:/opt/nvidia/|nvidia_entrypoint|nvidia-cuda-mps)[^\s\"',\[\]]*")
_LABEL = re.compile(r"(?P<key>\"?com\.nvidia\.[\w.-]+\"?)=(?P<value>\"(?:[^\"\\]|\\.)*\"|\S*)")


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction: its name, and where its body and it as a whole stand; inner comments of the body are blanked."""

    name: str
    start: int
    end: int
    body_start: int
    body: str


@dataclass(slots=True)
class _Stage:
    """What was read so far: arguments with their defaults, names of stages, variables that have another name now."""

    arguments: dict[str, str] = field(default_factory=dict[str, str])
    names: set[str] = field(default_factory=set[str])
    renamed: dict[str, str] = field(default_factory=dict[str, str])
    read: frozenset[str] = frozenset()


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is a Dockerfile."""
    return _FILE.fullmatch(path.name.lower()) is not None


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a Dockerfile."""
    text = data.decode("latin-1")
    stage = _Stage(read=commands.read_in(text))
    for one in instructions(text):
        reader = _READERS.get(one.name)
        if reader is not None:
            yield from _whole_or_not(one, list(reader(one, stage, options)))


def _whole_or_not(one: Instruction, found: list[Finding]) -> list[Finding]:
    """Take an instruction out where nothing would be left of its body."""
    rest = one.body
    for change in sorted((f for f in found if isinstance(f, Change)), key=lambda f: -f.start):
        first, last = change.start - one.body_start, change.end - one.body_start
        if first < 0:
            return found
        rest = rest[:first] + change.replacement.decode("latin-1") + rest[last:]
    gone = [f for f in found if isinstance(f, Change)]
    if gone and not _MOUNTS.sub("", rest, count=1).strip(" \t\r\n\\"):
        return [Change(one.start, one.end, b"", gone[0].reason, gone[0].source)]
    return found


def instructions(text: str) -> Iterator[Instruction]:
    """Yield the instructions of a Dockerfile. A line that ends in a backslash goes on, over comments, too."""
    place = 0
    while place < len(text):
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        found = _INSTRUCTION.match(text, place, len(text))
        line = text[place:end]
        if not line.strip() or line.lstrip().startswith("#") or found is None:
            place = end + 1
            continue
        stop = _last(text, place)
        stop = _heredocs(text, place, stop)
        body_start = found.start("rest")
        body = text[body_start:stop]
        blanked = (
            re.sub(r"(?m)^[ \t]*#[^\n]*(?=\n)", lambda hit: " " * (len(hit[0]) - 1) + "\\", body)
            if "<<" not in body
            else body
        )
        yield Instruction(found["name"].upper(), place, min(stop + 1, len(text)), body_start, unix(blanked))
        place = stop + 1


def _last(text: str, place: int) -> int:
    while True:
        end = text.find("\n", place)
        if end < 0:
            return len(text)
        line = text[place:end].rstrip()
        if not line.endswith("\\") and not line.lstrip().startswith("#") and line:
            return end
        following = text.find("\n", end + 1)
        if not line.endswith("\\") and not line and following < 0:
            return end
        place = end + 1


def _heredocs(text: str, place: int, stop: int) -> int:
    for mark in _HEREDOC.finditer(text, place, stop):
        closing = re.compile(rf"^[ \t]*{re.escape(mark[2])}[ \t]*$", re.MULTILINE).search(text, stop)
        if closing:
            stop = max(stop, closing.end())
    return stop


def _from(one: Instruction, stage: _Stage, options: Options) -> Iterator[Finding]:
    found = _FROM.match(one.body)
    if found is None:
        return
    known = found["image"] in stage.names
    if found["stage"]:
        stage.names.add(found["stage"])
    if not known:
        yield from _image(one, found["image"], found.start("image"), stage, options)


def _image(one: Instruction, written: str, offset: int, stage: _Stage, options: Options) -> Iterator[Finding]:
    start = one.body_start + offset
    end = start + len(written)
    only = _REFERENCE.fullmatch(written)
    name = (only["braced"] or only["bare"]) if only else ""
    if only and name in stage.arguments:
        return  # the argument's default is converted where it stands
    meant = _REFERENCE.sub(
        lambda hit: stage.arguments.get(hit["braced"] or hit["bare"]) or hit["default"] or hit[0], written
    )
    answer = images.image(meant, options)
    if answer is None:
        if "$" in meant and re.search(r"(?i)nvidia|cuda", meant):
            reason = f"{written} holds an argument without a default: the image is not known"
            yield Refusal(
                start, end, reason, "give the argument a default, or the image by --image", "", images.NO_TWIN
            )
    elif answer.action == "replace":
        more = f"; {written} stood for {meant}" if meant != written else ""
        yield Change(start, end, answer.text.encode(), answer.reason + more, answer.source)
    elif answer.action == "refuse":
        yield Refusal(start, end, answer.reason, answer.help, answer.source, answer.code)


def _arg(one: Instruction, stage: _Stage, options: Options) -> Iterator[Finding]:
    for found in _ARG.finditer(one.body):
        name, value = found["name"], (found["value"] or "").strip("\"'")
        stage.arguments[name] = value
        start, end = one.body_start + found.start(), one.body_start + found.end()
        answer = images.image(value, options) if "/" in value or ":" in value else None
        if answer is not None and answer.action == "replace":
            place = one.body_start + found.start("value") + found["value"].find(value)
            stage.arguments[name] = answer.text
            yield Change(place, place + len(value), answer.text.encode(), answer.reason, answer.source)
        elif answer is not None and answer.action == "refuse":
            yield Refusal(start, end, answer.reason, answer.help, answer.source, answer.code)
        elif name == "TORCH_CUDA_ARCH_LIST":
            yield from _assigned(one, found.start(), found.end(), stage, options)
        elif replacements.variable(name) is not None or re.search(r"(?i)cuda|nvidia|cudnn|nccl", name):
            yield Note(start, end, "an argument of the build: it stays, look whether anything still uses it")


def _assigned(one: Instruction, first: int, last: int, stage: _Stage, options: Options) -> Iterator[Finding]:
    text = " " * first + one.body[first:last]
    for command in split(text):
        yield from moved(commands.variables(command, options, stage.renamed, (first, last), stage.read), one.body_start)


def _env(one: Instruction, stage: _Stage, options: Options) -> Iterator[Finding]:
    legacy = re.match(r"(\w+)[ \t]+(?!=)(.*)", one.body, re.DOTALL)
    if legacy and "=" not in legacy[1]:
        yield from _old_env(one, legacy[1], legacy[2], stage, options)
        return
    for command in split(one.body):
        found = list(commands.variables(command, options, stage.renamed, (0, len(one.body)), stage.read))
        yield from moved(found, one.body_start)
        changed = [(change.start, change.end) for change in found if isinstance(change, Change)]
        for use in commands.uses(one.body, options, stage.renamed):
            if not any(first <= use.start and use.end <= last for first, last in changed):
                yield from moved([use], one.body_start)


def _old_env(one: Instruction, name: str, value: str, stage: _Stage, options: Options) -> Iterator[Finding]:
    answer = environment.variable(name, value.strip(), options)
    start, end = one.body_start, one.body_start + len(one.body)
    if answer is None:
        return
    if answer.action == "replace":
        stage.renamed[name] = answer.name or name
        tail = one.body[len(name) :].replace(value.strip(), answer.text, 1)
        yield Change(start, end, ((answer.name or name) + tail).encode("latin-1"), answer.reason, answer.source)
    elif answer.action == "remove" and name in stage.read:
        yield Note(start, end, f"stays, because {name} is read here: {answer.reason}", answer.source)
    elif answer.action == "remove":
        yield Change(start, end, b"", answer.reason, answer.source)
    elif answer.action == "refuse":
        yield Refusal(start, end, answer.reason, answer.help, answer.source, answer.code)
    else:
        yield Fine(start, end, answer.reason, answer.source)


def _run(one: Instruction, stage: _Stage, options: Options) -> Iterator[Finding]:
    flags = _MOUNTS.match(one.body)
    skip = flags.end() if flags else 0
    body = " " * skip + one.body[skip:]
    if body.lstrip().startswith("["):
        return
    yield from moved(commands.commands(_opened(body).encode("latin-1"), options, stage.renamed), one.body_start)


def _opened(body: str) -> str:
    """Blank the operator of a here-document, so that its text is read as the script it is."""
    first = body.split("\n", 1)[0]
    mark = _HEREDOC.search(first)
    if mark is None or first[: mark.start()].strip() not in (
        "",
        "bash",
        "sh",
        "/bin/bash",
        "/bin/sh",
        "bash -e",
        "bash -ex",
    ):
        return body
    cleared = " " * len(first)
    rest = body[len(first) :]
    return cleared + re.sub(rf"(?m)^[ \t]*{re.escape(mark[2])}[ \t]*\Z", lambda hit: " " * len(hit[0]), rest)


def _label(one: Instruction, stage: _Stage, options: Options) -> Iterator[Finding]:
    found = list(_LABEL.finditer(one.body))
    reason = "a label of NVIDIA's images, which says nothing of this one any more"
    for hit in found:
        before = re.search(r"(?:[ \t]|\\\n)*\Z", one.body[: hit.start()])
        start = before.start() if before and before.start() else hit.start()
        yield Change(one.body_start + start, one.body_start + hit.end(), b"", reason, "NVIDIA's images")


def _started(one: Instruction, stage: _Stage, options: Options) -> Iterator[Finding]:
    """Yield what becomes of what a container starts."""
    for hit in _NVIDIAS_SCRIPT.finditer(one.body):
        place = one.body_start + hit.start()
        yield Refusal(
            place, place + len(hit[0]), "a script of NVIDIA's images", "start the program itself", "", NVIDIAS
        )
    if not one.body.lstrip().startswith("["):
        yield from _run(one, stage, options)
        return
    try:
        words = json.loads(one.body.replace("\\\n", "  "))
    except ValueError:
        return
    if script := _script(one.body):
        place = one.body_start + script.start(1)
        yield from moved(commands.commands(script[1].encode("latin-1"), options, stage.renamed), place)
        return
    if isinstance(words, list) and words and words[0] == "nvidia-smi":  # pyright: ignore[reportUnknownArgumentType]
        target, reason, source = smi.smi(tuple(str(word) for word in words[1:]))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        start, end = one.body_start, one.body_start + len(one.body.rstrip())
        if target and "&&" not in target:
            yield Change(start, end, json.dumps(target.split()).encode(), f"{reason}; it prints other columns", source)
        else:
            help = "use another command; `anywarp smi` answers these very options with the same columns"
            yield Refusal(start, end, reason or "options that amd-smi has no match for", help, source, smi.PARSED)


_SHELL = re.compile(
    r"""\s*\[\s*"(?:/usr)?(?:/bin/)?(?:ba|da|k|z)?sh"\s*,\s*"-\w*c"\s*,\s*"([^"\\\n]*)"\s*\]\s*\Z""",
)


def _script(body: str) -> re.Match[str] | None:
    """Return the script of `["bash", "-c", "script"]`, whose text stands there as it is: nothing in it is escaped."""
    return _SHELL.match(body)


def _copy(one: Instruction, stage: _Stage, options: Options) -> Iterator[Finding]:
    found = _COPIED.search(one.body)
    if found and found["image"] not in stage.names:
        yield from _image(one, found["image"], found.start("image"), stage, options)


Reader = Callable[[Instruction, _Stage, Options], Iterable[Finding]]
_READERS: dict[str, Reader] = {
    "FROM": _from,
    "ARG": _arg,
    "ENV": _env,
    "RUN": _run,
    "LABEL": _label,
    "ENTRYPOINT": _started,
    "CMD": _started,
    "HEALTHCHECK": _run,
    "COPY": _copy,
    "ADD": _copy,
}


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """Yield the places of the comments."""
    return (found.span() for found in re.finditer(r"(?m)^[ \t]*#[^\n]*", data.decode("latin-1")))
