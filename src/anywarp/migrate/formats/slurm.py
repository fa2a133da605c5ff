"""Slurm: the options of a batch script and the settings of a configuration, with places (sbatch(1), slurm.conf(5), gres.conf(5)).

sbatch reads lines that begin with `#SBATCH` up to the first line that is neither empty nor a comment, and of each as far as a `#`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from anywarp.migrate.formats.command_words import Argument
from anywarp.migrate.formats.shell_words import Word, unquoted

_CONFIGURATIONS = frozenset({"slurm.conf", "gres.conf", "cgroup.conf", "nodes.conf"})
_NO_SCRIPTS = (".py", ".md", ".rst", ".html", ".ipynb", ".txt")
_LINE = re.compile(r"[ \t]*(?:#[^\n]*)?\r?(?:\n|\Z)")
_DIRECTIVE = re.compile(r"#SBATCH[ \t]+")
_WORD = re.compile(r"(?P<comment>(?<!\S)#[^\n]*)|(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'#]|(?<=\S)#|[\"'])+", re.ASCII)
_SETTING = re.compile(r"#[^\n]*|(?P<name>[A-Za-z][\w.]*)[ \t]*=[ \t]*(?P<value>\"[^\"\n]*\"|[^\s#\"]*)", re.ASCII)
_FLAG = re.compile(r"--(gres|gpus|gpus-per-node|gpus-per-task|gpus-per-socket|gpu-bind|constraint|mem-per-gpu|cpus-per-gpu|ntasks-per-gpu|gpu-freq|tres-per-\w+)(?:=(.*))?|-(G|C)(.*)", re.DOTALL)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Setting:
    """`Name=value` of a configuration: its name in small letters, its value without quotes, and where that stands."""

    name: str
    value: str
    start: int
    end: int


def is_configuration(path: PurePath) -> bool:
    """Tell whether a file is a part of Slurm's configuration, by its name."""
    name = path.name.lower().removesuffix(".in")
    return name in _CONFIGURATIONS or name.endswith(".gres.conf")


def is_batch(path: PurePath, head: bytes) -> bool:
    """Tell whether a file is a batch script, by its name or its options."""
    name = path.name.lower()
    return name.endswith((".slurm", ".sbatch")) or (b"#SBATCH" in head and not name.endswith(_NO_SCRIPTS))


def directives(text: str) -> Iterator[list[Word]]:
    """Yield the words of each line of options that sbatch reads."""
    place = 0
    while place < len(text) and (line := _LINE.match(text, place)):
        if found := _DIRECTIVE.match(text, place):
            words = _WORD.finditer(text, found.end(), line.end())
            yield [(unquoted(word[0]), word.start()) for word in words if not word["comment"]]
        place = line.end()


def options(words: Sequence[str]) -> Iterator[Argument]:
    """Yield the options that ask for GPUs or for nodes with them, by their long names without dashes."""
    for place, word in enumerate(words):
        found = _FLAG.fullmatch(word)
        if found is None:
            continue
        name = found[1] or ("gpus" if found[3] == "G" else "constraint")
        value = found[2] if found[1] else found[4].removeprefix("=") or None
        if value is None and place + 1 < len(words):
            yield Argument(name, words[place + 1], place, place + 1)
        else:
            yield Argument(name, value or "", place, place)


def settings(text: str) -> Iterator[Setting]:
    """Yield the settings of a configuration, comments left out."""
    for found in _SETTING.finditer(text):
        if found["name"]:
            quoted = found["value"][:1] == '"'
            yield Setting(
                found["name"].lower(),
                found["value"].strip('"'),
                found.start("value") + quoted,
                found.end("value") - quoted,
            )
