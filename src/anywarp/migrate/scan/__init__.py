"""The scanners: what each kind of file says about CUDA, as facts that no target changes.

A scanner is a module of this room, named once in `SCANNERS`, with

    def wants(path: PurePath, head: bytes) -> bool          # head: the first 4096 bytes
    def scan(data: bytes, path: PurePath) -> Iterator[Use]  # cheap look at the bytes first, parse only what can hold something

and, where it matters, constants: `LARGEST` (bytes of a file it takes, 64 MiB where it says nothing), `MAPPED` (True: files over 1 MiB come
as `mmap.mmap`, which slices, searches and unpacks as bytes do, and are not held in memory), `INSTALLED` (True: it also looks at what others
made and a machine or image merely holds: `site-packages`, system folders of images, a toolkit's own; else a venv would drown the user's code).

One scanner may come last: it has `swept(data, path, told)` in the place of `scan`, and is told on which lines the others found something.

A container is a module named in `CONTAINERS`: `wants` as above, and

    def members(file: BinaryIO, path: PurePath) -> Iterator[Member | Use | Diagnostic]

Each member is offered to the scanners and to the containers again, and shown as `image.tar!/usr/lib/x.so`; a Use is about the container.
Names of members may hold anything (`../`, control characters): they are shown, escaped, and never become a path on disk.

`path` has the last four parts of the file's name alone, so that what was found can be kept by content and name.
A scanner runs in a process of its own which may be killed: it keeps nothing between files. Facts are for `anywarp.migrate.verdicts`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from types import ModuleType
from typing import BinaryIO

from anywarp.diagnostics import Diagnostic
from anywarp.migrate.findings import Use
from anywarp.migrate.tree import LARGEST

SCANNERS: tuple[str, ...] = (
    "cuda_source",
    "python_source",
    "notebook",
    "binary",
    "distributions",
    "requirements",
    "projects",
    "dockerfile",
    "shell",
    "manifests",
    "build_files",
    "slurm",
    "grafana",
    "oci",
    "system_packages",
    "jenkins",
    "units",
    "sweep",
)
"""The modules of this room that scan files, in the order in which their findings are listed."""

CONTAINERS: tuple[str, ...] = ("archives",)
"""The modules of this room that open what holds other files."""

HEAD = 4096
"""Bytes of a file by which a scanner may recognise it."""

PARTS = 4
"""How many parts of its name a scanner sees."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file inside another: its name there, its size in bytes as claimed, and how to read it, at most so many bytes of it.

    `open` is called at most once, before the next member is asked for; what it returns need not seek.
    """

    name: str
    size: int
    open: Callable[[], BinaryIO]


@dataclass(frozen=True, slots=True)
class Scanner:
    """A scanner as its module describes it."""

    name: str
    wants: Callable[[PurePath, bytes], bool]
    scan: Callable[[bytes, PurePath], Iterator[Use]]
    largest: int = LARGEST
    mapped: bool = False
    installed: bool = False
    last: Callable[[bytes, PurePath, Mapping[int, Collection[str]]], Iterator[Use]] | None = None


@dataclass(frozen=True, slots=True)
class Container:
    """A container as its module describes it."""

    name: str
    wants: Callable[[PurePath, bytes], bool]
    members: Callable[[BinaryIO, PurePath], Iterator[Member | Use | Diagnostic]]


@dataclass(frozen=True, slots=True)
class Doors:
    """All scanners and containers that are asked."""

    scanners: tuple[Scanner, ...]
    containers: tuple[Container, ...]


def doors(scanners: Sequence[str] = SCANNERS, containers: Sequence[str] = CONTAINERS) -> Doors:
    """Import the modules named: of this room, or from anywhere by a dotted name."""
    return Doors(tuple(_scanner(_module(n)) for n in scanners), tuple(_container(_module(n)) for n in containers))


def cut(path: PurePath) -> PurePath:
    """Return the last parts of a path, which are all that a scanner sees."""
    return PurePath(*path.parts[-PARTS:])


def _module(name: str) -> ModuleType:
    return importlib.import_module(name if "." in name else f"{__name__}.{name}")


def _nothing(data: bytes, path: PurePath) -> Iterator[Use]:
    """Find nothing: what comes last is asked otherwise."""
    return iter(())


def _scanner(module: ModuleType) -> Scanner:
    return Scanner(
        module.__name__.rpartition(".")[2],
        module.wants,
        getattr(module, "scan", _nothing),
        getattr(module, "LARGEST", LARGEST),
        getattr(module, "MAPPED", False),
        getattr(module, "INSTALLED", False),
        getattr(module, "swept", None),
    )


def _container(module: ModuleType) -> Container:
    return Container(module.__name__.rpartition(".")[2], module.wants, module.members)
