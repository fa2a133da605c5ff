"""What a machine's or an image's package manager has installed of NVIDIA's, and toolkits that lie in their usual folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, cast

from anywarp.migrate.findings import Use
from anywarp.migrate.scan.commands import SYSTEM
from anywarp.migrate.scan.lines import Lines

LARGEST = 64 << 20
INSTALLED = True

_HINT = re.compile(rb"(?i)cuda|nvidia|cudnn|nccl|nvinfer|cublas|nsight|dcgm")
_DEBIAN = re.compile(r"^Package: (\S+)\n((?:[^\n]+\n?)*)", re.MULTILINE)
_ALPINE = re.compile(r"^P:(\S+)\nV:(\S+)$", re.MULTILINE)


def wants(path: PurePath, head: bytes) -> bool:
    """Tell whether a file is the list of installed packages of Debian's or Alpine's manager, or says a toolkit's version."""
    parts = path.parts
    if parts[-2:] == ("dpkg", "status") or "status.d" in parts[-2:-1] or parts[-3:] == ("apk", "db", "installed"):
        return True
    return path.name == "version.json" and len(parts) > 1 and re.fullmatch(r"cuda(?:-[\d.]+)?", parts[-2]) is not None


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield each installed package of NVIDIA's with its version, or the toolkit."""
    if not _HINT.search(data):
        return
    if path.name == "version.json":
        yield from _toolkit(data)
        return
    lines = Lines(data)
    if path.name == "installed":
        for found in _ALPINE.finditer(lines.text):
            if SYSTEM.fullmatch(found[1]):
                yield lines.use("package.system", found[1], found.start(1), version=found[2], where="installed")
        return
    for found in _DEBIAN.finditer(lines.text):
        if SYSTEM.fullmatch(found[1]) and not re.search(
            r"^Status: (?:deinstall|purge|unknown) ", found[2], re.MULTILINE
        ):
            version = re.search(r"^Version: (\S+)", found[2], re.MULTILINE)
            yield lines.use(
                "package.system", found[1], found.start(1), version=version[1] if version else "", where="installed"
            )


def _toolkit(data: bytes) -> Iterator[Use]:
    try:
        found = json.loads(bytes(data))
    except (ValueError, RecursionError):
        return
    told = cast(dict[str, Any], found).get("cuda") if isinstance(found, dict) else None
    if isinstance(told, dict):
        version = str(cast(dict[str, Any], told).get("version", ""))[:40]
        yield Use("package.system", "cuda-toolkit", details=(("version", version), ("where", "installed")))
