"""Compiling ahead of a run: every kernel of the images in given files, for given block shapes, into the cache.

A service that must answer at once, or a container image built once and started often, should not compile while a user waits.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from anywarp.compiler.options import options_of_variant
from anywarp.compiler.pipeline import kernels_for_tiles
from anywarp.diagnostics import AnywarpError
from anywarp.ptx import elf, fatbin
from anywarp.ptx.index import ModuleIndex
from anywarp.runtime.client import Client
from anywarp.runtime.modules import open_image

Shape = tuple[int, int, int]

SUFFIXES = (".ptx", ".fatbin", ".cubin", ".so", ".whl")
"""What is taken from a directory; a file that is named is always read."""

DEFAULT: Shape = (256, 1, 1)
"""The block shape where a kernel states none: most kernels are launched with it."""
LARGEST = 1024

_FATBIN = struct.Struct("<IHHQ")


@dataclass(frozen=True, slots=True)
class Job:
    """One kernel to compile: the image as a program would pass it, the kernel's name, the block shape, and whether code of it may use tiles."""

    image: bytes
    kernel: str
    block: Shape
    tiles: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """How a job ended: from the cache, compiled in so many milliseconds, or with the text of a problem."""

    job: Job
    cached: bool = False
    milliseconds: float = 0.0
    problem: str = ""


def files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the files named, and those with a suffix of SUFFIXES below the directories named."""
    for path in paths:
        if path.is_dir():
            yield from (
                p for p in sorted(path.rglob("*")) if p.is_file() and (p.suffix in SUFFIXES or ".so." in p.name)
            )
        else:
            yield path


def images(content: bytes) -> tuple[bytes, ...]:
    """Return the images in a file as a program passes them to the driver: PTX text, or whole fat binaries that hold PTX.

    AnywarpError when the file is damaged or of another kind.
    """
    if content[:4] == b"\x7fELF":
        read = elf.read(content)
        sections = [bytes(read.section(name) or b"") for name in fatbin.SECTIONS]
        return tuple(f for section in sections for f in _fatbins(section) if fatbin.best_ptx(f) is not None)
    if fatbin.best_ptx(content) is None:
        return ()
    return (content.rstrip(b"\0"),) if fatbin.is_ptx(content) else tuple(_fatbins(content))


def jobs(image: bytes, name: str, blocks: Iterable[Shape] = (), pattern: str = "*") -> tuple[Job, ...]:
    """Return a job for every kernel whose name matches and every shape; `likely_shapes` says which shapes those are."""
    index = open_image(image, name)
    wanted = tuple(blocks)
    names = [k for k in index.entries if fnmatchcase(k, pattern)]
    tiles = kernels_for_tiles(index)
    return tuple(Job(image, k, b, k in tiles) for k in names for b in likely_shapes(index, k, wanted))


def likely_shapes(index: ModuleIndex, kernel: str, wanted: tuple[Shape, ...] = ()) -> tuple[Shape, ...]:
    """Return the block shapes to compile a kernel for: the one it requires; else `wanted`; else the largest it allows; else 256."""
    stated: dict[str, Shape] = {}
    for directive in index.functions[kernel].header.directives:
        if directive.name in ("reqntid", "maxntid"):
            x, y, z = (*(int(a) for a in directive.arguments), 1, 1)[:3]
            stated[directive.name] = (x, y, z)
    if "reqntid" in stated:
        return (stated["reqntid"],)
    if wanted:
        return wanted
    x, y, z = stated.get("maxntid", DEFAULT)
    return ((x, y, z) if 0 < x * y * z <= LARGEST else DEFAULT,)


def compile_all(
    work: Iterable[Job], identity: str, build_id: str, cache: Path, at_once: int, with_tiles: str = ""
) -> Iterator[Done]:
    """Compile every job through the compile service, `at_once` at a time, and yield each as it ends.

    `with_tiles`: the device of code that may use tiles, if it is another.
    """
    own = threading.local()
    clients: list[Client] = []

    def compile_one(job: Job) -> Done:
        if not hasattr(own, "client"):
            own.client = Client(build_id, cache)
            clients.append(own.client)
        client: Client = own.client
        try:
            device = with_tiles if with_tiles and job.tiles else identity
            done, variant = _ask(client, device, job, "")
            if variant:  # launches would ask for it next
                done = _both(done, _ask(client, device, job, variant)[0])
        except AnywarpError as error:
            return Done(job, problem=error.diagnostic.as_text())
        return done

    try:
        with ThreadPoolExecutor(at_once) as pool:
            waiting = [pool.submit(compile_one, job) for job in work]
            try:
                for done in as_completed(waiting):
                    yield done.result()
            finally:  # who stops listening wants no more compiled
                pool.shutdown(wait=False, cancel_futures=True)
    finally:
        for client in clients:
            client.close()


def _ask(client: Client, identity: str, job: Job, options: str) -> tuple[Done, str]:
    """Have one version of a kernel compiled; return how it went and the options of the variant that it asks for."""
    reply = client.compile(identity, job.image, job.kernel, job.block, options)
    if reply.value("status") != "ok":
        return Done(job, problem=reply.payload.decode(errors="replace")), ""
    done = Done(job, reply.value("cached") == "1", float(reply.value("compile_ms")))
    return done, options_of_variant(reply.payload, options, job.block)


def _both(first: Done, second: Done) -> Done:
    if second.problem:
        return second
    return Done(first.job, first.cached and second.cached, first.milliseconds + second.milliseconds)


def _fatbins(content: bytes) -> Iterator[bytes]:
    """Split fat binaries that follow one another, with zeros between them; `fatbin.images` has checked them before."""
    at = 0
    while at + _FATBIN.size <= len(content):
        magic, _, header, size = _FATBIN.unpack_from(content, at)
        if magic != fatbin.FATBIN_MAGIC:
            at += 4
            continue
        yield content[at : at + header + size]
        at += header + size
