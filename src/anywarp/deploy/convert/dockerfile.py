"""Dockerfiles: base images, variables, and the commands that build an image.

An instruction is changed in its place, so that continued lines, here-documents and comments stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from anywarp.catalogue import replacements
from anywarp.deploy.convert import commands, smi
from anywarp.deploy.convert.model import Change, Finding, Fine, Note, Options, Refusal, moved
from anywarp.migrate.formats.dockerfile import Instruction, Pair, Word, instructions, named
from anywarp.migrate.formats.dockerfile_scope import Scope
from anywarp.migrate.formats.shell_words import Command
from anywarp.migrate.rulings import environment, images

NAME = "dockerfile"
NVIDIAS = "Y046"
_NVIDIAS_SCRIPT = re.compile(r"[^\s\"',\[\]]*(?:/opt/nvidia/|nvidia_entrypoint|nvidia-cuda-mps)[^\s\"',\[\]]*")
_REFERENCE = re.compile(r"\$(?:\{(\w+)(?::?-[^}]*)?\}|(\w+))")
_SHELLS = frozenset("bash sh dash ksh zsh".split())


@dataclass(slots=True)
class _State:
    """What was read so far: variables, those that have another name now, and all that are read anywhere."""

    scope: Scope = field(default_factory=Scope)
    renamed: dict[str, str] = field(default_factory=dict[str, str])
    read: frozenset[str] = frozenset()


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is a Dockerfile."""
    return named(path)


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a Dockerfile."""
    text = data.decode("latin-1")
    state = _State(read=commands.read_in(text))
    for one in instructions(text):
        yield from _whole_or_not(one, list(_read(one, state, options)))


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """Yield the places of the comments."""
    return (found.span() for found in re.finditer(r"(?m)^[ \t]*#[^\n]*", data.decode("latin-1")))


def _read(one: Instruction, state: _State, options: Options) -> Iterator[Finding]:
    inner = one.inner
    if inner is not None:
        yield from _whole_or_not(inner, list(_read(inner, state, options)))
    elif reader := _READERS.get(one.name):
        yield from moved(reader(one, state, options), one.at)


def _whole_or_not(one: Instruction, found: list[Finding]) -> list[Finding]:
    """Take an instruction out where nothing would be left of its arguments."""
    rest = one.arguments
    gone = sorted((f for f in found if isinstance(f, Change)), key=lambda change: -change.start)
    for change in gone:
        first, last = change.start - one.at, change.end - one.at
        if first < one.begin:
            return found
        rest = rest[:first] + change.replacement.decode("latin-1") + rest[last:]
    if gone and not rest[one.begin :].strip(" \t\r\n\\"):
        return [Change(one.start, one.end, b"", gone[-1].reason, gone[-1].source)]
    return found


def _from(one: Instruction, state: _State, options: Options) -> Iterator[Finding]:
    words = one.words
    if not words:
        return
    image = state.scope.expand(words[0].text, base=True)
    if not state.scope.is_stage(image):
        yield from _image(words[0], state, options, base=True)
    state.scope.stage(image, words[2].text if len(words) > 2 and words[1].text.lower() == "as" else "")


def _image(word: Word, state: _State, options: Options, base: bool) -> Iterator[Finding]:
    """Yield what becomes of a reference to an image; in FROM (`base`) only the arguments before the first FROM can be read."""
    written, start, end = word.text, word.start, word.end
    only = _REFERENCE.fullmatch(written)
    if only and state.scope.value(only[1] or only[2], base) is not None:
        return  # the argument's default is converted where it stands
    meant = state.scope.expand(written, base)
    answer = images.image(meant, options.target, options.images)
    if answer is None:
        if "$" in meant and re.search(r"(?i)nvidia|cuda", meant):
            reason = f"{written} holds an argument without a default: the image is not known"
            yield Refusal(
                start, end, reason, "give the argument a default, or the image by --image", "", images.NO_COUNTERPART
            )
    elif answer.action == "replace":
        more = f"; {written} stood for {meant}" if meant != written else ""
        yield Change(start, end, answer.text.encode(), answer.reason + more, answer.source)
    elif answer.action == "refuse":
        yield Refusal(start, end, answer.reason, answer.help, answer.source, answer.code)


def _arg(one: Instruction, state: _State, options: Options) -> Iterator[Finding]:
    for pair in one.pairs:
        name, written = pair.name, pair.value or ""
        value = state.scope.expand(written)
        state.scope.argument(name, None if pair.value is None else value)
        answer = images.image(value, options.target, options.images) if "/" in value or ":" in value else None
        if answer is not None and answer.action == "replace":
            place = max(one.arguments.find(written, pair.value_start, pair.end), pair.value_start)
            more = f"; {written} stood for {value}" if value != written else ""
            state.scope.argument(name, answer.text)
            yield Change(place, place + len(written), answer.text.encode(), answer.reason + more, answer.source)
        elif answer is not None and answer.action == "refuse":
            yield Refusal(pair.start, pair.end, answer.reason, answer.help, answer.source, answer.code)
        elif name == "TORCH_CUDA_ARCH_LIST":
            command = _command(one, (pair,))
            yield from commands.variables(command, options, state.renamed, (pair.start, pair.end), state.read)
        elif replacements.variable(name) is not None or re.search(r"(?i)cuda|nvidia|cudnn|nccl", name):
            yield Note(pair.start, pair.end, "an argument of the build: it stays, look whether anything still uses it")


def _command(one: Instruction, pairs: Sequence[Pair]) -> Command:
    """Return pairs as a command that sets variables, and nothing else."""
    words = tuple(pair.name if pair.value is None else f"{pair.name}={pair.value}" for pair in pairs)
    return Command(words, tuple((pair.start, pair.end) for pair in pairs), one.arguments)


def _env(one: Instruction, state: _State, options: Options) -> Iterator[Finding]:
    pairs = one.pairs
    for pair in pairs:
        state.scope.variable(pair.name, state.scope.expand(pair.value or ""))
    pair = next(iter(pairs), None)
    if pair is None:
        return
    if not one.arguments[pair.start : pair.value_start].endswith("="):
        yield from _old_env(one, pair, state, options)
        return
    found = list(commands.variables(_command(one, pairs), options, state.renamed, (0, len(one.arguments)), state.read))
    yield from found
    changed = [(change.start, change.end) for change in found if isinstance(change, Change)]
    for use in commands.uses(one.arguments, options, state.renamed):
        if not any(first <= use.start and use.end <= last for first, last in changed):
            yield use


def _old_env(one: Instruction, pair: Pair, state: _State, options: Options) -> Iterator[Finding]:
    """Yield what becomes of `ENV NAME the rest of the line`."""
    name, value = pair.name, (pair.value or "").strip()
    answer = environment.variable(name, value, options.target, options.mapping)
    start, end = 0, len(one.arguments)
    if answer is None:
        return
    if answer.action == "replace":
        new = state.renamed[name] = answer.name or name
        place = one.arguments.find(value, pair.value_start)
        if new != name:
            yield Change(pair.start, pair.start + len(name), new.encode(), answer.reason, answer.source)
        if answer.text != value and place >= 0:
            yield Change(place, place + len(value), answer.text.encode("latin-1"), answer.reason, answer.source)
    elif answer.action == "remove" and name in state.read:
        yield Note(start, end, f"stays, because {name} is read here: {answer.reason}", answer.source)
    elif answer.action == "remove":
        yield Change(start, end, b"", answer.reason, answer.source)
    elif answer.action == "refuse":
        yield Refusal(start, end, answer.reason, answer.help, answer.source, answer.code)
    else:
        yield Fine(start, end, answer.reason, answer.source)


def _run(one: Instruction, state: _State, options: Options) -> Iterator[Finding]:
    script = one.script
    if script is not None:
        yield from commands.commands(script.encode("latin-1"), options, state.renamed)


def _label(one: Instruction, state: _State, options: Options) -> Iterator[Finding]:
    reason = "a label of NVIDIA's images, which says nothing of this one any more"
    for pair in one.pairs:
        if pair.name.startswith("com.nvidia."):
            before = re.search(r"(?:[ \t\n]|\\\n)*\Z", one.arguments[: pair.start])
            start = before.start() if before and before.start() else pair.start
            yield Change(start, pair.end, b"", reason, "NVIDIA's images")


def _started(one: Instruction, state: _State, options: Options) -> Iterator[Finding]:
    """Yield what becomes of what a container starts."""
    for hit in _NVIDIAS_SCRIPT.finditer(one.arguments):
        yield Refusal(*hit.span(), "a script of NVIDIA's images", "start the program itself", "", NVIDIAS)
    words = one.array
    if words is None:
        yield from _run(one, state, options)
    elif script := _script(one, words):
        yield from moved(commands.commands(script.text.encode("latin-1"), options, state.renamed), script.start)
    elif words and words[0].text == "nvidia-smi":
        target, reason, source = smi.smi(tuple(word.text for word in words[1:]))
        start, end = one.begin, len(one.arguments.rstrip())
        if target and "&&" not in target:
            yield Change(start, end, json.dumps(target.split()).encode(), f"{reason}; it prints other columns", source)
        else:
            help = "use another command; `anywarp smi` answers these very options with the same columns"
            yield Refusal(start, end, reason or "options that amd-smi has no match for", help, source, smi.PARSED)


def _script(one: Instruction, words: Sequence[Word]) -> Word | None:
    """Return the script of `["bash", "-c", "script"]`, whose text stands there as it is: nothing in it is escaped."""
    if len(words) != 3 or words[0].text.rpartition("/")[2] not in _SHELLS or not re.fullmatch(r"-\w*c", words[1].text):
        return None
    return words[2] if one.arguments[words[2].start : words[2].end] == words[2].text else None


def _copy(one: Instruction, state: _State, options: Options) -> Iterator[Finding]:
    for option in one.options:
        if option.name == "from" and not state.scope.is_stage(option.value):
            yield from _image(Word(option.value, option.value_start, option.end), state, options, base=False)


Reader = Callable[[Instruction, _State, Options], Iterator[Finding]]
_READERS: dict[str, Reader] = {
    "FROM": _from,
    "ARG": _arg,
    "ENV": _env,
    "RUN": _run,
    "LABEL": _label,
    "ENTRYPOINT": _started,
    "CMD": _started,
    "COPY": _copy,
    "ADD": _copy,
}
