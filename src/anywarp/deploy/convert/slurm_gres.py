"""gres.conf: which GPUs a node of Slurm has, and how Slurm finds them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from anywarp.catalogue.migration import rows
from anywarp.deploy.convert import shell_scripts
from anywarp.deploy.convert.model import Change, Finding, Options, Refusal
from anywarp.migrate.formats import slurm

NAME = "gres.conf"


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is a part of Slurm's configuration."""
    return slurm.is_configuration(path)


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a part of Slurm's configuration."""
    for one in slurm.settings(data.decode("latin-1")):
        known = {
            row["kind"]: row for row in rows("slurm") if row["kind"] != "autodetect" or row["name"] == one.value.lower()
        }
        if one.name == "autodetect" and (row := known.get("autodetect")):
            yield Change(one.start, one.end, row["target"].encode(), row["reason"], row["source"])
        elif one.name == "file" and one.value.startswith("/dev/nvidia"):
            row = known["device"]
            help = f"write {row['target']} with the node's numbers, or AutoDetect=rsmi"
            yield Refusal(one.start, one.end, row["reason"], help, row["source"], shell_scripts.SITE)
        elif one.name == "type":
            yield from shell_scripts.asked("gres_type", "gres", one.value, one.start, options)
        elif one.name == "gres":
            yield from shell_scripts.gres(one.value, one.start, options)
        elif one.name in ("feature", "features"):
            yield from shell_scripts.features(one.value, one.start, options)
        elif one.name == "name" and one.value.lower() == "mps":
            help = "take the line out, or use Slurm's shards"
            yield Refusal(one.start, one.end, "ROCm has no MPS", help, "slurm.schedmd.com/gres", shell_scripts.SITE)


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """Yield the places of the comments."""
    return (found.span() for found in re.finditer(r"(?m)#[^\n]*", data.decode("latin-1")))
