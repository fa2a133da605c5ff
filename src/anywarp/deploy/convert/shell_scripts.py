"""Shell scripts, files of variables and job scripts of Slurm: their commands, and what `#SBATCH` lines ask for.

Types of cards and names of features are each site's own: they are asked for, not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from anywarp.catalogue.migration import Row, rows
from anywarp.deploy.convert import commands
from anywarp.deploy.convert.model import Change, Finding, Fine, Options, Refusal
from anywarp.migrate.formats import env_file, shell_words, slurm, wrappers
from anywarp.migrate.rulings import environment
from anywarp.migrate.scan import HEAD
from anywarp.migrate.scan.slurm import CARD

NAME = "shell"
SITE = "Y042"
_TYPE = re.compile(r"(?:^|,)(?:gpu:|gres:gpu:)?(?P<type>[A-Za-z_][\w.-]*)(?=:\d|$)")
_GRES = frozenset({"gres", "gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket"})


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is a script for a shell, a file of variables, or a job script of Slurm."""
    return shell_words.named(path, data[:HEAD]) or slurm.is_batch(path, data[:HEAD])


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a script."""
    if env_file.named(path):
        yield from _variables(data, options)
        return
    yield from commands.commands(data, options)
    yield from sbatch(data, options)


def _variables(data: bytes, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a file of variables."""
    for one in env_file.variables(data.decode("latin-1")):
        answer = environment.variable(one.name, one.value, options.target, options.mapping)
        if answer is None:
            continue
        if answer.action == "replace":
            value = one.written.replace(one.value, answer.text, 1) if one.value else answer.text
            written = f"{answer.name or one.name}={value}"
            yield Change(one.start, one.end, written.encode("latin-1"), answer.reason, answer.source)
        elif answer.action == "remove":
            yield Change(*one.line, b"", answer.reason, answer.source)
        elif answer.action == "refuse":
            yield Refusal(one.start, one.end, answer.reason, answer.help, answer.source, answer.code)
        else:
            yield Fine(one.start, one.end, answer.reason, answer.source)


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """Yield the places of the comments; what Slurm reads is none."""
    text = data.decode("latin-1")
    for start, end in commands.comment_places(text):
        if not text.startswith("#SBATCH", start):
            yield start, end


def sbatch(data: bytes, options: Options) -> Iterator[Finding]:
    """Yield what becomes of the lines that Slurm reads, and of its options in commands."""
    text = data.decode("latin-1")
    for words in slurm.directives(text):
        yield from _slurm(text, words, options)
    for words in shell_words.split_words(text):
        at = wrappers.started([word for word, _ in words], launchers=False)[1]
        name = words[at][0].rsplit("/", 1)[-1] if at < len(words) else ""
        if name in ("srun", "sbatch", "salloc"):
            yield from _slurm(text, words[at : wrappers.command_of("srun", words, at)], options)


def _slurm(text: str, words: Sequence[shell_words.Word], options: Options) -> Iterator[Finding]:
    """Yield what becomes of options of Slurm's among words of a text."""
    for one in slurm.options([word for word, _ in words]):
        start = max(text.find(one.value, words[one.last][1]), words[one.last][1])
        if one.name in _GRES:
            yield from gres(one.value, start, options)
        elif one.name == "constraint":
            yield from features(one.value, start, options)


def gres(value: str, start: int, options: Options) -> Iterator[Finding]:
    """Yield what becomes of GPUs that are asked for or there by their type: `gpu:a100:4`."""
    for one in _TYPE.finditer(value):
        if one["type"] not in ("gpu", "gres", "shard", "mps"):
            yield from asked("gres_type", "gres", one["type"], start + one.start("type"), options)
    if re.search(r"(?:^|,)mps:", value):
        help = "ask for whole GPUs, or for Slurm's shards"
        yield Refusal(start, start + len(value), "ROCm has no MPS", help, "slurm.schedmd.com/gres", SITE)


def features(value: str, start: int, options: Options) -> Iterator[Finding]:
    """Yield what becomes of features of nodes that are named for NVIDIA's cards."""
    for one in re.finditer(r"[\w.-]+", value):
        if CARD.search(one[0]) or ("constraint", one[0]) in options.mapping:
            yield from asked("constraint", "constraint", one[0], start + one.start(), options)


def asked(kind: str, key: str, name: str, start: int, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a name that each site gives by itself."""
    given = options.mapping.get((key, name))
    row: Row = next(row for row in rows("slurm") if row["kind"] == kind)
    if given is not None:
        yield Change(start, start + len(name), given[1].encode(), "as given by --map", "--map")
    elif re.search(r"(?i)amd|instinct|mi\d{2,3}|radeon", name):
        yield Fine(start, start + len(name), "names AMD's cards", row["source"])
    else:
        yield Refusal(
            start,
            start + len(name),
            row["reason"],
            f"give the site's name: --map {key}={name}:NEW",
            row["source"],
            SITE,
        )
