"""Installed distributions: a virtual environment, site-packages, a wheel or a conda environment, package by package.

What counts is what is installed, not what a file asks for: the variant for CUDA, and NVIDIA's own wheels that become unneeded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, cast

from anywarp.catalogue.replacements import canonical, package
from anywarp.migrate.findings import Use

LARGEST = 4 << 20
INSTALLED = True

_FIELD = re.compile(r"^(Name|Version|Requires-Dist):[ \t]*(.+?)\s*$", re.MULTILINE)
_NVIDIA = re.compile(r"(?:nvidia-(?!ml-py)|cuda-(?:toolkit|bindings)|pytorch-triton\b)")
_CUDA_NAME = re.compile(r"-cu(?:da)?1[0-9]x?$|-cu1[0-9]\d?(?:-|$)|^nvidia-|-gpu(?:-cu\d+)?$")
_LOCAL = re.compile(r"\+(?:\w+\.)?(cu\d{2,3}|cpu|rocm[\d.]+)")
_CONDA_BUILD = re.compile(r"cuda_?\d[\d.]*|cu1\d\d|_gpu\b|gpu_")


def wants(path: PurePath, head: bytes) -> bool:
    """Take METADATA of distributions, PKG-INFO of eggs, and the records of conda."""
    folder = path.parts[-2] if len(path.parts) > 1 else ""
    if path.name == "METADATA":
        return folder.endswith(".dist-info")
    if path.name == "PKG-INFO":
        return folder.endswith((".egg-info", "EGG-INFO"))
    return folder == "conda-meta" and path.suffix == ".json"


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield the distribution, if it has to do with CUDA."""
    found = _conda(data) if path.suffix == ".json" else _metadata(data)
    if found is not None:
        yield found


def _metadata(data: bytes) -> Use | None:
    head = data[: 1 << 16].decode("utf-8", "replace").replace("\r\n", "\n").partition("\n\n")[0]
    fields: dict[str, list[str]] = {}
    for match in _FIELD.finditer(head):
        fields.setdefault(match[1], []).append(match[2])
    name, version = fields.get("Name", [""])[0], fields.get("Version", [""])[0]
    if not name:
        return None
    needs = [need for need in fields.get("Requires-Dist", []) if _NVIDIA.match(need) and "extra ==" not in need]
    local = _LOCAL.search(version)
    variant = local[1] if local else "cuda" if needs else ""
    if not _concerns(name, variant, bool(needs)):
        return None
    details = [("version", version), ("variant", variant), ("nvidia", str(len(needs)) if needs else "")]
    return Use("installed.package", name, details=tuple(d for d in details if d[1]))


def _concerns(name: str, variant: str, needs: bool) -> bool:
    plain = canonical(name)
    return bool(needs or variant.startswith("cu") or package(plain) is not None or _CUDA_NAME.search(plain))


def _conda(data: bytes) -> Use | None:
    try:
        record: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    fields = cast(dict[str, Any], record)
    name, version, build = (str(fields.get(key, ""))[:200] for key in ("name", "version", "build"))
    cuda = _CONDA_BUILD.search(build)
    if not name or not (cuda or package(name, "conda") is not None or name.startswith(("cuda-", "libcu", "libnv"))):
        return None
    details = (("version", version), ("variant", cuda[0] if cuda else ""), ("channel", "conda"))
    return Use("installed.package", name, details=tuple(d for d in details if d[1]))
