"""What is known of AMD's GPUs and of ROCm's releases, from the tables in `data/`; each begins with its source and date."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Gpu:
    """A product. `compute_units` of all its dies; LDS and registers in KiB, memory in GiB (0: shared with the processor)."""

    product: str
    architecture: str
    generation: str
    compute_units: int
    wave: str
    lds_kib: int
    vgpr_kib: str
    memory_gib: int


@dataclass(frozen=True, slots=True)
class Release:
    """What AMD lists for a release of ROCm; frameworks by the versions named, newest first."""

    rocm: str
    architectures: tuple[str, ...]
    pytorch: tuple[str, ...]
    tensorflow: tuple[str, ...]
    jax: tuple[str, ...]
    onnxruntime: tuple[str, ...]
    systems: tuple[str, ...]
    source: str


@cache
def gpus() -> tuple[Gpu, ...]:
    """Return the products, by architecture and name."""
    return tuple(Gpu(r[0], r[1], r[2], int(r[3]), r[4], int(r[5]), r[6], int(r[7] or 0)) for r in _rows("gpus.tsv"))


@cache
def releases() -> tuple[Release, ...]:
    """Return the releases that are known, oldest first."""
    return tuple(
        Release(
            r[0], tuple(r[1].split()), tuple(r[2].split()), tuple(r[3].split()), tuple(r[4].split()), tuple(r[5].split()),
            tuple(r[6].split("; ")), r[7],
        )
        for r in _rows("support.tsv")
    )  # fmt: skip


def source(name: str) -> str:
    """Return where a table comes from, as its first line says."""
    return (DATA / name).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def products(architecture: str) -> tuple[str, ...]:
    """Return the products of an architecture, `gfx942`."""
    return tuple(gpu.product for gpu in gpus() if gpu.architecture == architecture)


def release(version: str) -> Release | None:
    """Return the row for a version of ROCm, `7.0.2`: the newest that is not newer, of the same series; None where nothing is known.

    7.9 and later are another stream than 7.0 to 7.8 (therock-7.9.0's release notes) and have no row of their own.
    """
    wanted = number(version)
    if not wanted:
        return None
    known = [r for r in releases() if number(r.rocm)[0] == wanted[0] and number(r.rocm) <= wanted]
    if not known or (wanted[0] == 7 and wanted[1:2] >= (9,)):
        return None
    newest = max(known, key=lambda r: number(r.rocm))
    # A row without a patch level stands for the last of its minor version, and does not speak for the next minor one.
    same_minor = number(newest.rocm)[1:2] in ((), wanted[1:2])
    return newest if same_minor else None


def first_with(architecture: str) -> str:
    """Return the first release that lists an architecture; empty when none does."""
    return next((r.rocm for r in releases() if architecture in r.architectures), "")


def number(version: str) -> tuple[int, ...]:
    """Return `7.0.2-38` as (7, 0, 2)."""
    match = re.match(r"\d+(\.\d+)*", version.strip())
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def _rows(name: str) -> list[list[str]]:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines[2:]]
