"""Shell: commands of NVIDIA's, containers started with GPUs, packages installed, variables set.

Scripts are wherever machines are described, so that one reader serves files of their own, Dockerfiles, workflows, manifests and job scripts.
It splits commands as a shell does and executes nothing; a variable stays its name.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from pathlib import PurePath

from anywarp.catalogue.replacements import resource, variable
from anywarp.migrate.findings import Use
from anywarp.migrate.formats import env_file, shell_words
from anywarp.migrate.formats.shell_words import Word, is_read, split_words, word_end
from anywarp.migrate.scan import commands
from anywarp.migrate.scan.lines import Lines, Piece, Seen, line_starts, seen, utf8

HINTS = re.compile(
    rb"(?i)cuda|nvidia|nvcc|nccl|cudnn|cublas|dcgm|nsys|\bncu\b|nvprof|nv-|gpu|pip|conda|mamba|requirements|\buv\b|docker|podman|helm|sbatch|srun"
)
"""What a file must hold somewhere to be read at all."""

PATH = re.compile(
    r"/usr/(?:local/(?:cuda(?:-[\d.]+)?|nvidia)|lib/(?:x86_64|aarch64)-linux-gnu/libcuda\.so[.\d]*)(?![\w-])|/proc/driver/nvidia[/\w]*"
)
_ASSIGNED = re.compile(r"(?:^|[\s;])\w+=[\"']?[^\s;\"']*$")
_SUBSTITUTION = re.compile(r"\$\(((?:[^()\"]|\"[^\"]*\"|\([^()]*\)){0,400})\)")
_CLUSTER = re.compile(r"(?<![\w./-])nvidia\.com/[a-z][\w.-]*\w")
_READ = re.compile(r"\$\{?(CUDA_[A-Z0-9_]+|NVIDIA_[A-Z0-9_]+|TORCH_CUDA_ARCH_LIST)\b")

MOST_DEPTH = 3
"""Scripts inside scripts (`bash -c`) that are looked into."""


def wants(path: PurePath, head: bytes) -> bool:
    """Tell whether a file is a shell script, by its name or its first line."""
    return shell_words.named(path, head)


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield what a script says about CUDA."""
    data = utf8(data)
    if not HINTS.search(data):
        return
    lines = Lines(data)
    if env_file.named(path):
        yield from lines.found_in(Piece(lines.text), _variables(lines.text))
        return
    told: set[int] = set()
    for use in lines.found_in(Piece(lines.text), script(lines.text)):
        if use.subject.startswith("k8s."):
            told.add(lines.starts[use.line - 1])
        yield use
    yield from lines.found_in(Piece(lines.text), named(lines.text, told))


def _variables(text: str) -> Iterator[Seen]:
    """Yield what a file of variables says."""
    for one in env_file.variables(text):
        yield from commands.set_variable(one.name, one.value, one.start)
        yield from commands.value_use(one.value, one.start)
    yield from paths(text)


def script(text: str, expand: Callable[[str], str] | None = None, depth: int = 0) -> Iterator[Seen]:
    """Yield what shell text does that concerns CUDA, in the order of the text; `expand` puts in the values of known variables."""
    for words in split_words(text):
        if expand is not None:
            words = [(expand(word) if "$" in word else word, offset) for word, offset in words]
        for one in commands.seen_in(words):
            if one.subject == "command.nvidia-smi" and is_read(text, words[0][1], word_end(text, words[-1][1])):
                one = Seen(one.subject, one.name, one.offset, (*one.details, ("read", "yes")))
            yield one
        if depth < MOST_DEPTH:
            yield from _substituted(text, words, expand, depth)
        inner = commands.inner_script(words) if depth < MOST_DEPTH else None
        if inner is not None:
            start, end = inner[1], word_end(text, inner[1])
            quoted = text[start : start + 1] in ("'", '"')
            body = text[start + quoted : end - quoted]
            for one in script(body, expand, depth + 1):
                yield Seen(one.subject, one.name, start + quoted + one.offset, one.details)
    if not depth:
        yield from paths(text)


def command(text: str, words: list[Word]) -> Iterator[Seen]:
    """Yield what one command does that is given by its words and read by no shell; the script that it may hand to one stands in `text`."""
    yield from commands.seen_in(words)
    if inner := commands.inner_script(words):
        for one in script(inner[0], depth=1):
            yield Seen(one.subject, one.name, inner[1] + one.offset, one.details)
    yield from paths(text)


def _substituted(text: str, words: list[Word], expand: Callable[[str], str] | None, depth: int) -> Iterator[Seen]:
    """Yield what commands in quoted substitutions do: `N="$(nvidia-smi -L | wc -l)"`; those without quotes are split like any other."""
    for word, offset in words:
        if "$(" not in word:
            continue
        end = word_end(text, offset)
        for found in _SUBSTITUTION.finditer(text, offset, end):
            for one in script(found[1], expand, depth + 1):
                read = (("read", "yes"),) if one.subject == "command.nvidia-smi" else ()
                yield Seen(one.subject, one.name, found.start(1) + one.offset, (*one.details, *read))


def named(text: str, told: set[int]) -> Iterator[Seen]:
    """Yield names of NVIDIA's in a cluster that stand in commands of other programs, once a line; `told` are offsets of lines to leave out."""
    starts = line_starts(text) if "nvidia.com/" in text else []
    for found in _CLUSTER.finditer(text):
        start = starts[bisect_right(starts, found.start()) - 1]
        if start in told:
            continue
        told.add(start)
        if not re.search(r"(?:^|\s)#", text[start : found.start()]):
            subject = "k8s.resource" if resource(found[0]) is not None else "k8s.label"
            yield seen(subject, found[0], found.start(), use="command")


def paths(text: str) -> Iterator[Seen]:
    """Yield the folders of NVIDIA's toolkit and the variables of CUDA's that a text reads, comments left out."""
    starts: list[int] = []
    for found in itertools.chain(PATH.finditer(text), _READ.finditer(text)):
        starts = starts or line_starts(text)
        start = starts[bisect_right(starts, found.start()) - 1]
        if re.match(r"[ \t]*#", text[start : start + 200]):
            continue
        if found.re is PATH:
            use = "set" if _ASSIGNED.search(text[max(start, found.start() - 400) : found.start()]) else ""
            yield seen("path.cuda", found[0], found.start(), use=use)
        elif variable(found[1]) is not None:
            yield seen("env", found[1], found.start(), use="read")
