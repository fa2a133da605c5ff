"""gres.conf: which GPUs a node of Slurm has, and how Slurm finds them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from anywarp.catalogue.migration import rows
from anywarp.deploy.convert import shell_scripts
from anywarp.deploy.convert.model import Change, Finding, Options, Refusal, moved

NAME = "gres.conf"
_AUTODETECT = re.compile(r"(?i)\bAutoDetect[ \t]*=[ \t]*(?P<value>\w+)")
_FILE = re.compile(r"(?i)\bFile[ \t]*=[ \t]*(?P<value>/dev/nvidia\S*)")
_TYPE = re.compile(r"(?i)\bType[ \t]*=[ \t]*(?P<value>[\w.-]+)")
_NAME = re.compile(r"(?i)\bName[ \t]*=[ \t]*(?P<value>mps)\b")


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is a gres.conf."""
    return path.name.lower() in ("gres.conf", "cgroup.conf") or path.name.lower().endswith(".gres.conf")


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a gres.conf."""
    text = data.decode("latin-1")
    for line in re.finditer(r"(?m)^(?P<body>[^#\n]*)", text):
        base, body = line.start(), line["body"]
        for found in _AUTODETECT.finditer(body):
            row = next(
                (row for row in rows("slurm") if row["kind"] == "autodetect" and row["name"] == found["value"].lower()),
                None,
            )
            if row is not None:
                start, end = base + found.start("value"), base + found.end("value")
                yield Change(start, end, row["target"].encode(), row["reason"], row["source"])
        for found in _FILE.finditer(body):
            row = next(row for row in rows("slurm") if row["kind"] == "device")
            start, end = base + found.start("value"), base + found.end("value")
            yield Refusal(
                start,
                end,
                row["reason"],
                f"write {row['target']} with the node's numbers, or AutoDetect=rsmi",
                row["source"],
                shell_scripts.SITE,
            )
        for found in _TYPE.finditer(body):
            yield from _type(found, base, options)
        for found in _NAME.finditer(body):
            start, end = base + found.start("value"), base + found.end("value")
            yield Refusal(
                start,
                end,
                "ROCm has no MPS",
                "take the line out, or use Slurm's shards",
                "slurm.schedmd.com/gres",
                shell_scripts.SITE,
            )


def _type(found: re.Match[str], base: int, options: Options) -> Iterator[Finding]:
    name = found["value"]
    for one in shell_scripts.slurm_options(f"--gres=gpu:{name}:1", 0, options):
        shift = base + found.start("value") - one.start
        if isinstance(one, Change | Refusal):
            yield from moved([one], shift)


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """Yield the places of the comments."""
    return (found.span() for found in re.finditer(r"(?m)#[^\n]*", data.decode("latin-1")))
