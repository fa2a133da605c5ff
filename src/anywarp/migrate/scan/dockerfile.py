"""Dockerfiles and Containerfiles: base images, variables, what is installed and copied, and what the image starts.

An image is where a service's CUDA comes from; what goes into it decides which findings reach the service.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePath

from anywarp.migrate.findings import Use
from anywarp.migrate.formats.dockerfile import Instruction, instructions, named
from anywarp.migrate.formats.dockerfile_scope import Scope
from anywarp.migrate.scan import commands, declared, shell
from anywarp.migrate.scan.lines import Lines, Seen, seen

_NVIDIAS = "com.nvidia."
_SAID = frozenset({"TORCH_CUDA_ARCH_LIST", "CUDAARCHS", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"})
"""Arguments that are findings by themselves."""


def wants(path: PurePath, head: bytes) -> bool:
    """Tell whether a file describes how an image is made, by its name."""
    return named(path)


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield what a Dockerfile says about CUDA, and how the image hangs together with other files."""
    lines = Lines(data)
    if "\0" in lines.text[:4096]:
        return
    scope, build = Scope(), declared.of_others(path)
    for instruction in instructions(lines.text):
        for one in _read(instruction, scope):
            if not (build and one.subject == "package" and one.name in declared.BUILDS):
                yield lines.use_at(
                    one.subject, one.name, *lines.place(instruction.at + one.offset), **dict(one.details)
                )


def _read(one: Instruction, scope: Scope) -> Iterator[Seen]:
    """Yield what an instruction says, with offsets in its arguments."""
    inner = one.inner
    if inner is not None:
        by = inner.at - one.at
        reader = _run if one.name == "HEALTHCHECK" else _read
        yield from (Seen(found.subject, found.name, found.offset + by, found.details) for found in reader(inner, scope))
    elif reader := _READERS.get(one.name):
        yield from reader(one, scope)


def _from(one: Instruction, scope: Scope) -> Iterator[Seen]:
    words = one.words
    if not words:
        return
    written, offset = words[0].text, words[0].start
    reference = scope.expand(written, base=True)
    stage = words[2].text if len(words) > 2 and words[1].text.lower() == "as" else ""
    yield seen("docker.from", reference, offset, stage=stage)
    if not scope.is_stage(reference):
        for found in commands.image_use(reference, offset):
            yield seen(found.subject, found.name, offset, written=written if written != reference else "")
    scope.stage(reference, stage)


def _arg(one: Instruction, scope: Scope) -> Iterator[Seen]:
    for pair in one.pairs:
        value = None if pair.value is None else scope.expand(pair.value)
        scope.argument(pair.name, value)
        if pair.name in _SAID and value is not None:
            yield from commands.set_variable(pair.name, value, pair.start, "argument")


def _env(one: Instruction, scope: Scope) -> Iterator[Seen]:
    for pair in one.pairs:
        value = scope.expand(pair.value or "")
        scope.variable(pair.name, value)
        yield from commands.set_variable(pair.name, value, pair.start)
    yield from shell.paths(one.arguments)


def _run(one: Instruction, scope: Scope) -> Iterator[Seen]:
    script = one.script
    if script is not None:
        yield from shell.script(script, scope.expand)
    else:
        yield from shell.command(one.arguments, [(word.text, word.start) for word in one.words])


def _copy(one: Instruction, scope: Scope) -> Iterator[Seen]:
    origin = next((option for option in one.options if option.name == "from"), None)
    if origin is not None and not scope.is_stage(origin.value) and not origin.value.isdigit():
        yield from commands.image_use(scope.expand(origin.value), origin.value_start)
    operators = {heredoc.operator[0] for heredoc in one.heredocs}
    words = [word for word in one.words if word.start not in operators]
    for word in words[:-1]:
        where = origin.value if origin is not None else ""
        yield seen("docker.copy", scope.expand(word.text), one.begin, dest=words[-1].text, from_=where)


def _start(one: Instruction, scope: Scope) -> Iterator[Seen]:
    words = one.words
    if words:
        yield seen("docker.command", " ".join(word.text for word in words), 0)
        yield from _run(one, scope)


def _label(one: Instruction, scope: Scope) -> Iterator[Seen]:
    for pair in one.pairs:
        if pair.name.startswith(_NVIDIAS):
            yield seen("container.label", pair.name, one.arguments.find(_NVIDIAS, pair.start))


_READERS: dict[str, Callable[[Instruction, Scope], Iterator[Seen]]] = {
    "LABEL": _label,
    "FROM": _from,
    "ARG": _arg,
    "ENV": _env,
    "RUN": _run,
    "COPY": _copy,
    "ADD": _copy,
    "CMD": _start,
    "ENTRYPOINT": _start,
}
