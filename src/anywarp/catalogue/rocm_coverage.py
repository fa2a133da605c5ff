"""Render what answers each function of CUDA's libraries on AMD GPUs as a page.

A user who wonders whether a program will run looks a function up there; it must say why what is missing is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from anywarp.catalogue.generate_rocm import NATIVE, Planned, plan, written_by_hand
from anywarp.catalogue.rocm import Answer, Library, load
from anywarp.catalogue.rocm_libraries import LIBRARIES, Replaced

ROUTES = {"forward": "forwarded", "custom": "by hand", "absent": "absent"}


NOTES = (
    "Versions asked for (`cublasGetVersion`, `cufftGetProperty` ...) are those of NVIDIA's libraries that the tables were made from, because"
    " programs compare them with their headers; `ncclGetVersion` is RCCL's, which counts as NCCL does.",
    "fp8: NVIDIA's E4M3 and E5M2 are OCP's, and are handed on as such. A device with other flavours only (gfx942 has FNUZ ones) refuses them;"
    " they are never taken for the other flavour, in which the same byte is another number.",
    "Random numbers: a generator is handed on as ROCm's generator of the same algorithm, seed, offset and dimensions. In which order hipRAND"
    " writes what its parallel states yield is its own affair, so a program must not expect cuRAND's numbers from XORWOW, Philox, MRG32k3a,"
    " MTGP32 or MT19937; Sobol sequences follow from their direction vectors. No sequence was compared on a device.",
    "Math modes of cuBLAS are permissions: TF32 becomes hipBLAS's xf32 where the device has it, else full precision; the program reads back what"
    " it wrote. Algorithms of `cublasGemmEx` name NVIDIA's kernels: ROCm's default is taken for each.",
    "cuBLASLt: algorithms come from `cublasLtMatmulAlgoGetHeuristic` alone, where an empty list becomes `CUBLAS_STATUS_NOT_SUPPORTED`. Attributes"
    " that only steer the choice among NVIDIA's kernels are kept; others without a counterpart are refused by number (N023).",
    "cuFFT plans are numbers, in one table per process. Callbacks are refused: they are NVIDIA's device code.",
    "NCCL configurations are copied field by field into RCCL's own, which is older; fields that it lacks are said once and left out.",
    "The legacy stream under its name (1) becomes the null stream, which is the same for libraries, and which HIP 6 knows.",
)


@dataclass(frozen=True, slots=True)
class Served:
    """One library with what answers each of its functions, over all its files."""

    replaced: Replaced
    library: Library
    planned: dict[str, Planned]

    def count(self, route: str, *, demanded: bool = False) -> int:
        """Return how many functions are answered so; of those that measured clients import, if `demanded`."""
        return sum(e.route == route and (not demanded or e.function.clients > 0) for e in self.planned.values())


@cache
def served() -> tuple[Served, ...]:
    """Return every library, from the tables and the sources written by hand."""
    found: list[Served] = []
    for stem, replaced in LIBRARIES.items():
        library, by_hand = load(stem), written_by_hand(NATIVE / stem)
        planned: dict[str, Planned] = {}
        for variant in reversed(replaced.variants):
            planned |= {entry.function.name: entry for entry in plan(library, replaced, variant, by_hand)}
        found.append(Served(replaced, library, dict(sorted(planned.items()))))
    return tuple(found)


def as_markdown() -> str:
    """Return `docs/coverage/rocm_libraries.md`."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    libraries = served()
    yield from (
        "# What answers the functions of CUDA's libraries on AMD GPUs",
        "",
        "Made from the tables in `src/anywarp/catalogue/data/rocm` and the sources in `native/rocm` by `scripts/docs`.",
        "",
        "On the device `hip` CUDA's math and communication libraries are forwarders to ROCm's. *Forwarded* functions are made from the",
        "tables: each argument is converted by a rule (enumerations by value, handles, streams, numbers), and the status on the way back.",
        "Those *by hand* have no counterpart that takes the same. *Absent* ones return the library's code for what it does not support and say so",
        "once on stderr. None of it has run on an AMD GPU yet: every forwarded function was called over libraries that record what they",
        "get, and each argument compared with the tables. `imported` counts what measured clients (PyTorch, JAX, CuPy, ...) import.",
        "",
        "| library | files | answered by | functions | forwarded | by hand | absent | imported | of these absent |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    )
    for each in libraries:
        files = ", ".join(f"`{variant.soname}`" for variant in each.replaced.variants)
        numbers = (len(each.planned), *(each.count(route) for route in ROUTES))
        demanded = sum(entry.function.clients > 0 for entry in each.planned.values())
        row = (*map(str, numbers), str(demanded), str(each.count("absent", demanded=True)))
        yield f"| {each.replaced.title} | {files} | {each.replaced.target_title} | {' | '.join(row)} |"
    yield from ("", "## What to know", "", *(f"- {note}" for note in NOTES))
    yield from ("", "## Imported by clients, and absent", "", "| function | clients | why |", "| --- | --- | --- |")
    for each in libraries:
        for name, entry in each.planned.items():
            if entry.route == "absent" and entry.function.clients:
                yield f"| `{name}` | {entry.function.clients} | {entry.reason} |"
    for each in libraries:
        yield from _section(each)


def _section(each: Served) -> Iterator[str]:
    yield from ("", f"## {each.replaced.title}", "")
    yield from ("| function | CUDA | answer | by |", "| --- | --- | --- | --- |")
    for name, entry in each.planned.items():
        if entry.route != "absent":
            majors = " ".join(map(str, entry.function.majors))
            yield f"| `{name}` | {majors} | {ROUTES[entry.route]} | {_counterparts(entry.function.answers)} |"
    by_reason: dict[str, list[str]] = {}
    for name, entry in each.planned.items():
        if entry.route == "absent":
            by_reason.setdefault(entry.reason, []).append(name)
    yield from ("", f"Absent in {each.replaced.title}:", "")
    for reason, names in by_reason.items():
        yield f"- {reason}: {', '.join(f'`{name}`' for name in names)}"


def _counterparts(answers: tuple[Answer, ...]) -> str:
    note = {(6, 6): " (ROCm 6)", (7, 7): " (since ROCm 7)"}
    return ", ".join(f"`{answer.symbol}`{note.get((answer.first, answer.last), '')}" for answer in answers)


if __name__ == "__main__":
    print(as_markdown(), end="")
