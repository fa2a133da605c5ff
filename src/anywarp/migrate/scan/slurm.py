"""Slurm: batch scripts with their options, and the cluster's own files that say which GPUs its nodes have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from anywarp.migrate.findings import Use
from anywarp.migrate.scan import commands, shell
from anywarp.migrate.scan.lines import Lines, Piece, Seen, seen

_DIRECTIVE = re.compile(r"^#SBATCH[ \t]+([^\n#]*)", re.MULTILINE)
_NAMES = frozenset({"slurm.conf", "gres.conf", "gres.conf.in", "slurm.conf.in", "nodes.conf"})
_FIELD = re.compile(
    r"\b(AutoDetect|GresTypes|Gres|File|Type|Feature|Features|AccountingStorageTRES|TaskProlog|Prolog)=(\"[^\"]*\"|\S+)",
    re.IGNORECASE,
)
_CARD = re.compile(
    r"(?i)nvidia|cuda|nvml|(?<![a-z])(?:gtx|rtx|tesla|quadro|a100|a10g?|a40|a30|h100|h200|b200|l40s?|l4|v100|p100|t4|k80)"
)


def wants(path: PurePath, head: bytes) -> bool:
    """Tell whether a file is a batch script or a part of Slurm's configuration, by its options or its name."""
    name = path.name.lower()
    if name in _NAMES or name.endswith((".slurm", ".sbatch")):
        return True
    return b"#SBATCH" in head and not name.endswith((".py", ".md", ".rst", ".html", ".ipynb", ".txt"))


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield what a batch script asks for and does, or what the configuration says of GPUs."""
    lines = Lines(data)
    if path.name.lower() in _NAMES:
        yield from lines.found_in(Piece(lines.text), _configured(lines.text))
        return
    if not shell.wants(path, data[:4096]):
        yield from lines.found_in(Piece(lines.text), shell.script(lines.text))
    if "#SBATCH" in lines.text:
        yield from _batch(lines, path)


def _batch(lines: Lines, path: PurePath) -> Iterator[Use]:
    """Yield the options of a batch script, and the fact that it is a job."""
    name = path.name
    for found in _DIRECTIVE.finditer(lines.text):
        words = [(word[0], found.start(1) + word.start()) for word in re.finditer(r"\S+", found[1])]
        yield from lines.found_in(Piece(lines.text), commands.slurm_flags(words))
        if job := re.search(r"(?:--job-name[= ]|-J[ ]?)(\S+)", found[1]):
            name = job[1]
    first = lines.text.find("#SBATCH")
    scripts = re.findall(
        r"(?:python[\d.]*|torchrun|deepspeed|accelerate launch|bash|sh)[ \t]+(?:-\S+[ \t]+(?:\S+[ \t]+)??)*?([\w./-]+\.(?:py|sh))",
        lines.text,
    )
    yield Use(
        "deploy.workload",
        name,
        *lines.place(first),
        lines.line(lines.place(first)[0]),
        (("kind", "slurm"), *(("command", one) for one in dict.fromkeys(scripts))),
    )


def _configured(text: str) -> Iterator[Seen]:
    place = 0
    for line in text.split("\n"):
        bare = line.split("#", 1)[0]
        for found in _FIELD.finditer(bare):
            field, value = found[1].lower(), found[2].strip('"')
            told = {
                "autodetect": "slurm.autodetect",
                "file": "slurm.device",
                "gres": "slurm.gres",
                "type": "slurm.gres_type",
                "feature": "slurm.feature",
                "features": "slurm.feature",
            }.get(field)
            if told and (_CARD.search(value) or (field == "autodetect" and value.lower() in ("nvml", "nvidia"))):
                yield seen(told, value, place + found.start(2), value=value)
        place += len(line) + 1
