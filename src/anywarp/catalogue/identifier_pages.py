"""Write docs/coverage/identifiers.md: how much of what CUDA's headers declare a translated source can name on ROCm, by library.

Someone who weighs a migration wants the share first; `anywarp explain NAME` then tells of one name.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

from anywarp.catalogue.identifiers import SUBJECTS, Identifier, headers, identifiers, namespaces
from anywarp.catalogue.releases import NEWEST, RELEASES

TITLES = {
    "runtime": "CUDA runtime", "driver": "CUDA driver", "cublas": "cuBLAS", "cublaslt": "cuBLASLt", "cufft": "cuFFT", "curand": "cuRAND",
    "cusparse": "cuSPARSE", "cusolver": "cuSOLVER", "cudnn": "cuDNN", "nccl": "NCCL", "nvrtc": "NVRTC", "nvml": "NVML", "nvtx": "NVTX",
    "device": "device code",
}  # fmt: skip
KINDS = ("function", "type", "constant", "macro")
STATES = ("mapped", "emulated", "absent")
_MANY = 12

_INTRODUCTION = """# CUDA's names in sources, and what ROCm has for them

Made from the tables in `src/anywarp/catalogue/data/rocm` by `scripts/docs`. `anywarp explain NAME` tells of one name; the pages
[by library](rocm.md) list the functions.

- *mapped*: ROCm has a counterpart that a source can name. `anywarp translate` writes it. *other arguments* counts those functions of which the
  counterpart takes something else, so that a call is more than a new name: it is rewritten where that can be shown to be right, else reported.
- *emulated*: ROCm has no counterpart; this project's libraries serve it on AMD GPUs, so the unchanged program has it and a translated one has not.
- *absent*: neither; the tables say why.

*imported* counts functions that measured programs (PyTorch, JAX, CuPy and others) import. Counted is every name that the headers of CUDA 12.9 and 13.5 declare, decorations of compilers apart, and what older sources use. Names
say nothing about hardware: no translated program was run on an AMD GPU.
"""


def as_markdown() -> str:
    """Return docs/coverage/identifiers.md."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    everything = {rocm: tuple(identifiers(rocm).values()) for rocm in RELEASES}
    newest = everything[NEWEST]
    yield _INTRODUCTION
    yield f"## By library, for ROCm {NEWEST}"
    yield ""
    yield from _heads("library")
    for subject in (*SUBJECTS, "device"):
        yield _row(TITLES[subject], [each for each in newest if each.subject == subject])
    yield _row("all", list(newest))
    yield from ("", "## By kind of name", "", *_heads("kind"))
    for kind in KINDS:
        yield _row(kind, [each for each in newest if each.kind == kind])
    yield from ("", "## By release of ROCm", "", f"| ROCm | {' | '.join(STATES)} |", "| --- | --- | --- | --- |")
    for rocm, names in everything.items():
        counts = Counter(each.state for each in names)
        yield f"| {rocm} | {' | '.join(str(counts[state]) for state in STATES)} |"
    yield from _files()
    yield from _reasons(newest)


def _heads(first: str) -> tuple[str, str]:
    columns = (
        first, "names", "mapped", "with other arguments", "emulated", "absent", "share mapped", "share served at all",
        "imported by measured programs", "of these served",
    )  # fmt: skip
    return f"| {' | '.join(columns)} |", "| --- " * len(columns) + "|"


def _row(title: str, names: list[Identifier]) -> str:
    counts = Counter(each.state for each in names)
    other = sum(bool(each.differs_in) for each in names)
    total = max(len(names), 1)
    served = counts["mapped"] + counts["emulated"]
    wanted = [each for each in names if each.clients]
    cells = (len(names), counts["mapped"], other, counts["emulated"], counts["absent"])
    shares = f"{counts['mapped'] / total:.0%} | {served / total:.0%}"
    return f"| {title} | {' | '.join(map(str, cells))} | {shares} | {len(wanted)} | {sum(each.state != 'absent' for each in wanted)} |"


def _files() -> Iterator[str]:
    files, spaces = headers().values(), namespaces().values()
    mapped = sum(each.state == "mapped" for each in files)
    yield from ("", "## Headers and name spaces", "")
    yield f"{mapped} of {len(files)} headers and {sum(each.state == 'mapped' for each in spaces)} of {len(spaces)} name spaces have a counterpart; [the list](rocm.md)."


def _reasons(names: tuple[Identifier, ...]) -> Iterator[str]:
    yield from ("", "## Why names are absent", "", "The reasons given most often, with a few of the names.", "")
    yield from ("| library | reason | names | such as |", "| --- | --- | --- | --- |")
    for subject in (*SUBJECTS, "device"):
        grouped: dict[str, list[str]] = {}
        for each in names:
            if each.subject == subject and each.state == "absent":
                grouped.setdefault(each.reason, []).append(each.name)
        for reason, those in sorted(grouped.items(), key=lambda item: -len(item[1]))[:_MANY]:
            yield f"| {TITLES[subject]} | {reason} | {len(those)} | {', '.join(f'`{name}`' for name in sorted(those)[:3])} |"


if __name__ == "__main__":
    sys.stdout.write(as_markdown())
