"""Shell scripts, files of variables and job scripts of Slurm: their commands, and what `#SBATCH` lines ask for.

Types of cards and names of features are each site's own: they are asked for, not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from anywarp.catalogue.migration import Row, rows
from anywarp.deploy.convert import commands, environment
from anywarp.deploy.convert.model import Change, Finding, Fine, Options, Refusal
from anywarp.migrate.formats.shell_words import split

NAME = "shell"
SITE = "Y042"
_ENDINGS = (".sh", ".bash", ".zsh", ".ksh", ".sbatch", ".slurm", ".env", ".envrc", ".job")
_NAMES = (".env", ".envrc", ".bashrc", ".profile", ".bash_profile", ".zshrc")
_INTERPRETER = re.compile(rb"#!.*\b(?:ba|z|k|da|a)?sh\b")
_SBATCH = re.compile(r"(?m)^#SBATCH[ \t]+(?P<line>[^\n]*)")
_VARIABLE = re.compile(
    r"(?m)^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)=(?P<value>[^\n#]*?)[ \t\r]*(?:#[^\n]*)?(?:\n|\Z)"
)
_GRES = re.compile(r"(?:--gres|--gpus|--gpus-per-(?:node|task|socket)|-G)[= ]\s*(?P<value>\S+)")
_TYPE = re.compile(r"(?:^|,)(?:gpu:|gres:gpu:)?(?P<type>[A-Za-z_][\w.-]*)(?=:\d|$)")
_CONSTRAINT = re.compile(r"(?:--constraint|-C)[= ]\s*(?P<value>\S+)")
_NVIDIAS = re.compile(
    r"(?i)nvidia|tesla|geforce|quadro|rtx|gtx|(?<![a-z])(?:[abhlpv](?:10|30|40|100|200|300|800)s?|l4|t4|k80|gh200|gb[23]00|titan)(?![a-z\d])"
)


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is a script for a shell, or a file of variables."""
    name = path.name.lower()
    if name.endswith(_ENDINGS) or name in _NAMES or name.startswith(".env."):
        return True
    return not path.suffix and _INTERPRETER.match(data.split(b"\n", 1)[0]) is not None


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a script."""
    if _holds_variables(path):
        yield from _variables(data, options)
        return
    yield from commands.commands(data, options)
    yield from sbatch(data, options)


def _holds_variables(path: PurePath) -> bool:
    name = path.name.lower()
    return name == ".env" or name.startswith(".env.") or name.endswith(".env")


def _variables(data: bytes, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a file of variables: one in a line, whose value goes to the end of the line."""
    for line in _VARIABLE.finditer(data.decode("latin-1")):
        value = line["value"].strip()
        bare = value[1:-1] if value[:1] in ("'", '"') and value[-1:] == value[:1] and len(value) > 1 else value
        answer = environment.variable(line["name"], bare, options)
        start, end = line.start("name"), line.end("value")
        if answer is None:
            continue
        if answer.action == "replace":
            written = (
                f"{answer.name or line['name']}={line['value'].replace(bare, answer.text, 1) if bare else answer.text}"
            )
            yield Change(start, end, written.encode("latin-1"), answer.reason, answer.source)
        elif answer.action == "remove":
            yield Change(*line.span(), b"", answer.reason, answer.source)
        elif answer.action == "refuse":
            yield Refusal(start, end, answer.reason, answer.help, answer.source, answer.code)
        else:
            yield Fine(start, end, answer.reason, answer.source)


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """Yield the places of the comments; what Slurm reads is none."""
    text = data.decode("latin-1")
    for start, end in commands.comment_places(text):
        if not text.startswith("#SBATCH", start):
            yield start, end


def sbatch(data: bytes, options: Options) -> Iterator[Finding]:
    """Yield what becomes of the lines that Slurm reads, and of its options in commands."""
    text = data.decode("latin-1")
    for line in _SBATCH.finditer(text):
        yield from slurm_options(line["line"], line.start("line"), options)
    for command in split(text):
        if command.words[0].rsplit("/", 1)[-1] in ("srun", "sbatch", "salloc"):
            start, end = command.spans[0][0], command.end()
            yield from slurm_options(text[start:end], start, options)


def slurm_options(text: str, base: int, options: Options) -> Iterator[Finding]:
    """Yield what becomes of the options of one line, which begins `base` bytes on."""
    for found in _GRES.finditer(text):
        for one in _TYPE.finditer(found["value"]):
            if one["type"] in ("gpu", "gres", "shard", "mps"):
                continue
            start = base + found.start("value") + one.start("type")
            yield from _asked("gres_type", "gres", one["type"], start, options)
        if re.search(r"(?:^|,)mps:", found["value"]):
            start, end = base + found.start("value"), base + found.end("value")
            yield Refusal(
                start,
                end,
                "ROCm has no MPS",
                "ask for whole GPUs, or for Slurm's shards",
                "slurm.schedmd.com/gres",
                SITE,
            )
    for found in _CONSTRAINT.finditer(text):
        for one in re.finditer(r"[\w.-]+", found["value"]):
            if _NVIDIAS.search(one[0]) or ("constraint", one[0]) in options.mapping:
                yield from _asked(
                    "constraint", "constraint", one[0], base + found.start("value") + one.start(), options
                )


def _asked(kind: str, key: str, name: str, start: int, options: Options) -> Iterator[Finding]:
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
