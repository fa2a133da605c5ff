"""Declared packages: what a requirement, an index or a link to a wheel says about CUDA, wherever it is written.

The same words stand in requirement files, projects, lock files, Dockerfiles and scripts, and must mean the same in all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from urllib.parse import unquote

from anywarp.catalogue.replacements import CUDA_NAME, canonical, package
from anywarp.migrate.scan.lines import Seen, seen

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)[ \t]*(?:\[(?P<extras>[^\]\n]*)\])?[ \t]*"
    r"(?:@[ \t]*(?P<url>\S+)|\(?(?P<specifier>(?:[<>=!~]=?=?[ \t]*[^\s;,)#]+[ \t]*,?[ \t]*)*)\)?)[ \t]*(?P<rest>;.*)?$"
)
_WHEEL = re.compile(r"([A-Za-z0-9._]+)-([^-/]+)(?:-[^-/]+)?-[^-/]+-[^-/]+-[^-/]+\.whl")
_LOCAL = re.compile(r"\+(cu\d+|cpu|rocm[\d.]*|cuda[\d.]*)")
_EXTRA = re.compile(r"cuda|^cu\d|gpu|nvidia|tensorrt", re.IGNORECASE)
CUDA_INDEX = re.compile(
    r"https?://[^\s\"',]*?(?:/whl/(?:[a-z]+/)*cu\d+|pypi\.nvidia\.com|pypi\.ngc\.nvidia\.com|jax_cuda_releases|jax_nightly_releases_cuda"
    r"|[+/_-]cu(?:da)?1[0-9]\d?(?![0-9a-z])|developer\.download\.nvidia\.com)[^\s\"',]*"
)
CPU_INDEX = re.compile(r"/whl/(?:[a-z]+/)*(?:cpu|xpu|hpu)\b")
ROCM_INDEX = re.compile(r"/whl/(?:[a-z]+/)*rocm|repo\.amd\.com|repo\.radeon\.com")
_OTHERS = re.compile(
    r"(?:^|[-_./])(?:rocm|amd|hip|cpu|intel|xpu|gaudi|hpu|habana|neuron|inferentia|tpu|ascend|npu|cann|musa|metal|mps|openvino|s390x|ppc64le|riscv)(?:$|[-_./])",
    re.IGNORECASE,
)
_CUDA_TOO = re.compile(r"cuda|nvidia|gpu|cu1\d", re.IGNORECASE)
BUILDS = ("torch", "torchvision", "torchaudio", "xformers", "triton")
"""Packages of which indexes for the processor and for ROCm hold other builds under the same name."""


def requirement(text: str, offset: int, where: str, index: str = "", channel: str = "pypi") -> Iterator[Seen]:
    """Yield what one requirement (PEP 508, or a link to a wheel) says; nothing where it does not concern CUDA."""
    text = text.strip()
    if "://" in text and not _NAME.match(text.split("@")[0].strip()[:1] or "!"):
        return
    if re.match(r"(?:git\+|hg\+|svn\+)?(?:https?|file|ssh)://", text):
        yield from link(text, offset, where)
        return
    found = _REQUIREMENT.match(text)
    if found is None:
        return
    if found["url"]:
        yield from link(found["url"], offset, where)
        return
    yield from named(
        found["name"],
        offset,
        where,
        (found["specifier"] or "").strip(),
        (found["extras"] or "").strip(),
        index,
        channel,
    )


def named(
    name: str, offset: int, where: str, specifier: str = "", extras: str = "", index: str = "", channel: str = "pypi"
) -> Iterator[Seen]:
    """Yield a package by its name and version specifier; nothing for one that has nothing to do with CUDA."""
    canon = canonical(name)
    local = _LOCAL.search(specifier)
    build = local[1] if local else index
    row = package(canon, channel)
    if row is None and not CUDA_NAME.search(canon) and not (local and local[1].startswith("cu")):
        return
    if build.startswith(("cpu", "rocm")) and (local or canon in BUILDS):
        return  # another build than NVIDIA's
    if row is not None and (row["conversion"] == "extra" or canon == "tensorflow") and not _EXTRA.search(extras):
        return  # CUDA is an extra of it
    exact = re.fullmatch(r"={2,3}[ \t]*([^\s,]+)", specifier)
    yield seen(
        "package", name, offset,
        version=exact[1] if exact else "", specifier=specifier, extras=extras, index=build, where=where, channel=channel,
    )  # fmt: skip


def with_torch(found: Iterable[Seen]) -> list[Seen]:
    """Say with each of NVIDIA's own packages which torch the same file asks for: it goes or stays with it."""
    every = list(found)
    asked = next(
        (
            dict(one.details).get("specifier", "")
            for one in every
            if one.subject == "package" and canonical(one.name) == "torch"
        ),
        "",
    )
    if not asked:
        return every
    return [
        Seen(one.subject, one.name, one.offset, (*one.details, ("torch", asked)))
        if one.subject == "package" and canonical(one.name) != "torch"
        else one
        for one in every
    ]


def link(url: str, offset: int, where: str) -> Iterator[Seen]:
    """Yield the package that a link leads to, where it is a wheel for CUDA or comes from an index for CUDA."""
    wheel = _WHEEL.search(unquote(url))
    if wheel:
        yield from named(wheel[1], offset, where, f"=={wheel[2]}", index=index_of(url))
    elif CUDA_INDEX.search(url):
        yield seen("package.index", url, offset, where=where)


def index(url: str, offset: int, where: str) -> Iterator[Seen]:
    """Yield an index of packages that holds builds for CUDA."""
    if CUDA_INDEX.match(url):
        yield seen("package.index", url, offset, where=where)


def index_of(text: str) -> str:
    """Return for which build an index or a text that names some is: cu121, cpu, rocm or nothing."""
    found = re.search(r"[/+_-](cu1\d\d)\b", text)
    if found:
        return found[1]
    if ROCM_INDEX.search(text):
        return "rocm"
    return "cpu" if CPU_INDEX.search(text) else ""


def of_others(path: PurePath) -> str:
    """Return `cpu` where a file is, by its name or folder, about other hardware than NVIDIA's: its torch is another build; else ""."""
    text = "/".join(path.parts)
    return "cpu" if _OTHERS.search(text) and not _CUDA_TOO.search(path.name) else ""
