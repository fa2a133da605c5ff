"""Slurm: batch scripts with their options, and the cluster's own files that say which GPUs its nodes have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from anywarp.migrate.findings import Use
from anywarp.migrate.formats import slurm
from anywarp.migrate.scan import HEAD, commands, shell
from anywarp.migrate.scan.lines import Lines, Piece, Seen, seen

CARD = re.compile(
    r"(?i)nvidia|cuda|nvml|tesla|geforce|quadro|rtx|gtx|titan"
    r"|(?<![a-z])(?:[abhlpv](?:10|30|40|100|200|300|800)[gs]?|l4|t4|k80|gh200|gb[23]00)(?:sxm\d*|pcie|nvl|x)?(?![a-z\d])"
)
"""Words of sites' own names that say NVIDIA's cards."""

_SUBJECTS = {
    "autodetect": "slurm.autodetect",
    "file": "slurm.device",
    "gres": "slurm.gres",
    "type": "slurm.gres_type",
    "feature": "slurm.feature",
    "features": "slurm.feature",
}


def wants(path: PurePath, head: bytes) -> bool:
    """Tell whether a file is a batch script or a part of Slurm's configuration, by its options or its name."""
    return slurm.is_configuration(path) or slurm.is_batch(path, head)


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield what a batch script asks for and does, or what the configuration says of GPUs."""
    lines = Lines(data)
    if slurm.is_configuration(path):
        yield from lines.found_in(Piece(lines.text), _configured(lines.text))
        return
    if not shell.wants(path, data[:HEAD]):
        yield from lines.found_in(Piece(lines.text), shell.script(lines.text))
    if "#SBATCH" in lines.text:
        yield from _batch(lines, path)


def _batch(lines: Lines, path: PurePath) -> Iterator[Use]:
    """Yield the options of a batch script, and the fact that it is a job."""
    name = path.name
    for words in slurm.directives(lines.text):
        yield from lines.found_in(Piece(lines.text), commands.slurm_flags(words))
        if job := re.search(r"(?:--job-name[= ]|-J[ ]?)(\S+)", " ".join(word for word, _ in words)):
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
    for one in slurm.settings(text):
        subject = _SUBJECTS.get(one.name)
        if subject and (
            CARD.search(one.value) or (one.name == "autodetect" and one.value.lower() in ("nvml", "nvidia"))
        ):
            yield seen(subject, one.value, one.start, value=one.value)
