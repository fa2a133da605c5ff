"""Calls of functions whose counterpart takes other arguments are rewritten where the arguments prove the form, or reported.

A name is never changed alone when the call would then mean something else or not compile: what this rule claims,
the rule of names leaves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from anywarp.catalogue.identifiers import Identifier, identifiers
from anywarp.catalogue.signatures import types_of
from anywarp.migrate.translate.brackets import arguments, call
from anywarp.migrate.translate.edits import Edit, Need, Outcome, Problem
from anywarp.migrate.translate.scopes import is_anothers
from anywarp.migrate.translate.signatures import form_of
from anywarp.migrate.translate.unit import Unit

BY_HAND = frozenset(("cudnn", "nvml"))
"""Libraries whose counterparts (MIOpen, AMD SMI) serve the same purpose through another interface: nothing is renamed."""

COUNTED = frozenset(("cublas", "cublaslt", "cufft", "curand", "cusparse", "cusolver", "nccl"))
"""Libraries whose functions have one form each: C, without overloads."""

SYMBOLS = {
    b"cudaMemcpyToSymbol": 0,
    b"cudaMemcpyToSymbolAsync": 0,
    b"cudaMemcpyFromSymbol": 1,
    b"cudaMemcpyFromSymbolAsync": 1,
    b"cudaGetSymbolAddress": 1,
    b"cudaGetSymbolSize": 1,
}
"""Functions and the argument that is a device variable, which HIP's documentation has in HIP_SYMBOL()."""

KERNELS = {
    b"cudaFuncSetAttribute": 0,
    b"cudaFuncGetAttributes": 1,
    b"cudaFuncSetCacheConfig": 0,
    b"cudaFuncSetSharedMemConfig": 0,
    b"cudaLaunchKernel": 0,
}
"""Functions and the argument that is a kernel: HIP declares them for `const void *` alone, CUDA for kernels of any type too."""

POINTERS = {b"cudaHostGetDevicePointer": 0}
"""Functions and the argument that is the address of a pointer: void ** in HIP, of any type in CUDA's template."""

_CAST = re.compile(rb"\(\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*\)|(?:reinterpret|static)_cast\s*<")
_VOIDS = re.compile(rb"\(\s*void\s*\*\s*\*\s*\)|(?:reinterpret|static)_cast\s*<\s*void\s*\*\s*\*")
_NOTHING = re.compile(rb"(?:NULL|nullptr|0)\Z")


@dataclass(frozen=True)
class Call:
    """A call: its name's range, the places of its brackets, its arguments, and the catalogue's row."""

    unit: Unit
    name: re.Match[bytes]
    open: int
    close: int
    args: tuple[tuple[int, int], ...]
    row: Identifier | None

    def text(self, index: int) -> bytes:
        start, end = self.args[index]
        return self.unit.code[start:end]


class Wrapped:
    """Puts device variables into HIP_SYMBOL() and casts kernels to `const void *` where HIP asks for it."""

    name = "wrapped"
    words = frozenset(SYMBOLS) | frozenset(KERNELS) | frozenset(POINTERS)

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        for found in _calls(unit, self.words):
            name = found.name.group()
            if name in SYMBOLS and unit.options.keep_cuda:
                continue
            index = SYMBOLS.get(name, KERNELS.get(name, POINTERS.get(name, 0)))
            if index >= len(found.args):
                continue
            start, end = found.args[index]
            after = b")"
            if name in SYMBOLS:
                before, reason = b"HIP_SYMBOL(", "HIP names a device variable by HIP_SYMBOL"
                if b"," in unit.code[start:end]:  # it is a macro of one argument
                    before, after = before + b"(", after + b")"
            elif name in POINTERS:
                if _VOIDS.match(unit.code, start, end) or _declares(found):
                    continue
                before = b"(void **)(" if unit.path.suffix == ".c" else b"reinterpret_cast<void **>("
                reason = "HIP takes the address of a void * here"
            elif _CAST.match(unit.code, start, end) or _declares(found):
                continue
            else:
                plain_c = unit.path.suffix == ".c"
                before = b"(const void *)(" if plain_c else b"reinterpret_cast<const void *>("
                reason = "HIP takes a kernel here as const void *"
            yield Edit(start, start, before, self.name, reason, group=start)
            yield Edit(end, end, after, self.name, reason, group=start)


class Reshaped:
    """Rewrites calls whose counterpart takes other arguments, and claims those that it cannot."""

    name = "calls"
    words = frozenset[bytes]()

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        differing = _differing(unit.target.rocm)
        told = set[bytes]()
        for match in unit.occurrences(unit.words & differing.keys()):
            if is_anothers(unit, match.start()):
                continue
            row = differing[match.group()]
            if row.subject in BY_HAND:
                yield from self._by_hand(unit, match, row, told)
                continue
            places = call(unit.code, match.end())
            if places is None:
                yield from self._claimed(
                    match, row, "its name is used without arguments that would tell which form is meant"
                )
                continue
            args = tuple(arguments(unit.code, *places))
            found = Call(unit, match, *places, args, row)
            outcome = RESHAPES.get(match.group(), _by_parameters)(found)
            if isinstance(outcome, str):
                yield from self._claimed(match, row, outcome)
            elif not unit.options.keep_cuda:
                yield from outcome
            elif outcome:
                yield from self._claimed(match, row, "one text cannot have both forms")

    def _claimed(self, match: re.Match[bytes], row: Identifier, why: str) -> Iterator[Outcome]:
        yield Edit(match.start(), match.end(), match.group(), self.name, "left as it is")
        hint = f"in ROCm: {row.target}({row.target_parameters})"
        message = f"{row.name} is {row.target} in ROCm, with other arguments, and is left as it is: {why}"
        yield Problem(match.start(), match.end(), "M112", message, hint)

    def _by_hand(self, unit: Unit, match: re.Match[bytes], row: Identifier, told: set[bytes]) -> Iterator[Outcome]:
        yield Edit(match.start(), match.end(), match.group(), self.name, "left as it is")
        if row.kind != "function" or match.group() in told:
            return
        told.add(match.group())
        library = {"cudnn": "cuDNN", "nvml": "NVML"}[row.subject]
        near = f"; nearest is {row.target}" if row.target else ""
        message = f"{row.name}: {library} is left as it is, for ROCm's library is used in another way{near}"
        hint = "write this part for HIP by hand; `anywarp run` serves the program with this library unchanged"
        yield Problem(match.start(), match.end(), "M113", message, hint)


class Counted:
    """Tells of calls of a library's functions with another number of arguments than CUDA's function of that name has.

    Such a call is of another interface, cuBLAS's of before CUDA 4 or cuSPARSE's of before CUDA 11, and is left as it is.
    """

    name = "arguments"
    words = frozenset[bytes]()

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        counts = _counts(unit.target.rocm)
        for match in unit.occurrences(unit.words & counts.keys()):
            places = call(unit.code, match.end())
            if places is None or is_anothers(unit, match.start()):
                continue
            args = arguments(unit.code, *places)
            row, expected = counts[match.group()]
            inside = unit.code[places[0] : places[1]]
            if len(args) in expected or b"__VA_ARGS__" in inside or b"..." in inside or b"##" in inside:
                continue
            if len(args) == 1 and re.fullmatch(rb"[A-Za-z_]\w*", unit.code[slice(*args[0])]):
                continue  # a macro that stands for several
            yield Edit(match.start(), match.end(), match.group(), self.name, "left as it is")
            what = " or ".join(map(str, sorted(expected)))
            message = f"{row.name} has {len(args)} arguments here and takes {what}: it is of another interface, or no call of CUDA's, and is left as it is"
            hint = f"in ROCm: {row.target}({row.target_parameters})"
            yield Problem(match.start(), match.end(), "M112", message, hint)


@cache
def _counts(rocm: str) -> dict[bytes, tuple[Identifier, frozenset[int]]]:
    """Return the functions of libraries in C, which have no overloads, and how many arguments they take."""
    found: dict[bytes, tuple[Identifier, frozenset[int]]] = {}
    for name, row in identifiers(rocm).items():
        if row.kind == "function" and row.subject in COUNTED and row.target and name.encode() not in RESHAPES:
            forms = list(row.parameters.values()) or [row.target_parameters]
            if row.target_parameters and not row.differs_in:
                found[name.encode()] = row, frozenset(len(types_of(each)) for each in forms)
    return found


@cache
def _differing(rocm: str) -> dict[bytes, Identifier]:
    """Return what this rule looks at: functions with other arguments, and everything of libraries that are done by hand."""
    return {
        name.encode(): row
        for name, row in identifiers(rocm).items()
        if row.subject in BY_HAND or row.differs_in or name.encode() in RESHAPES
    }


def _calls(unit: Unit, words: frozenset[bytes]) -> Iterator[Call]:
    for match in unit.occurrences(words):
        places = call(unit.code, match.end())
        if places is not None and not is_anothers(unit, match.start()):
            row = unit.names.get(match.group().decode())
            yield Call(unit, match, *places, tuple(arguments(unit.code, *places)), row)


def _declares(found: Call) -> bool:
    """Say whether this is a declaration or definition of the function itself: its arguments have types."""
    return any(
        re.match(rb"(?:const\s+)?(?:struct\s+|enum\s+)?\w+\s*[*&\s]\s*\w+\s*\Z", found.text(i))
        for i in range(len(found.args))
    )


def _by_parameters(found: Call) -> list[Outcome] | str:
    """Decide by the number of arguments: the counterpart's form stays, an argument that is nothing and has no counterpart goes."""
    row = found.row
    assert row is not None
    form = form_of(row, len(found.args))
    if form == "same":
        return []
    if isinstance(form, int) and _NOTHING.match(found.text(form)):
        until = found.args[form + 1][0] if form + 1 < len(found.args) else found.close
        return [
            Edit(
                found.args[form][0], until, b"", "calls", f"{row.target} has no such parameter, and it is nothing here"
            )
        ]
    return row.reason


def _graph_instantiate(found: Call) -> list[Outcome] | str:
    start, end = found.name.span()
    if len(found.args) == 5:
        return []  # CUDA 11's form is HIP's
    if len(found.args) not in (2, 3):
        return "the form with three or with five arguments is expected"
    reason = "CUDA 12's form with flags has a name of its own in HIP"
    edits: list[Outcome] = [Edit(start, end, b"hipGraphInstantiateWithFlags", "calls", reason, group=start + 1)]
    if len(found.args) == 2:
        edits.append(Edit(found.close, found.close, b", 0", "calls", reason, group=start + 1))
    return edits


def _with_location(index: int, counts: tuple[int, ...]) -> Callable[[Call], list[Outcome] | str]:
    """Return what decides between a device's number and CUDA 13's location, which HIP's `_v2` takes, as an argument."""

    def decide(found: Call) -> list[Outcome] | str:
        if index >= len(found.args):
            return "too few arguments"
        located = _is_location(found.unit, found.text(index))
        if located is None:
            return f"whether `{found.text(index).decode('latin-1')}` is a device's number or a location is not to be seen here"
        if not located:
            return [] if len(found.args) in counts else "the number of arguments fits neither form"
        counterpart = found.unit.names.get(found.name.group().decode() + "_v2")
        if counterpart is None or not counterpart.target:
            return f"HIP's form with a location is not in ROCm {found.unit.target.rocm}"
        start, end = found.name.span()
        return [
            Edit(start, end, counterpart.target.encode(), "calls", "HIP's function for locations is the one with _v2")
        ]

    return decide


LOCATIONS = (b"cudaMemLocation", b"CUmemLocation", b"hipMemLocation")


def _is_location(unit: Unit, text: bytes) -> bool | None:
    if unit.words.isdisjoint(LOCATIONS) or re.fullmatch(rb"-?\d+|cudaCpuDeviceId|CU_DEVICE_CPU", text):
        return False  # nothing in this file has the type
    if text.startswith(b"{") or any(each in text for each in LOCATIONS):
        return True
    if re.fullmatch(rb"\w+", text) is None:
        return None
    declared = re.search(rb"\b(\w+)\s*&?\s+&?\s*\b" + re.escape(text) + rb"\s*[=;,){\[]", unit.code)
    return None if declared is None or declared[1] in (b"return", b"auto") else declared[1] in LOCATIONS


def _event_create(found: Call) -> list[Outcome] | str:
    if len(found.args) != 2 or _declares(found):
        return []
    reason = "CUDA's second form for C++ is the function with flags"
    return [Edit(*found.name.span(), b"hipEventCreateWithFlags", "calls", reason)]


def _capture_info(found: Call) -> list[Outcome] | str:
    return [] if len(found.args) == 3 else "hipStreamGetCaptureInfo gives the status and the number alone"


def _graph_exec_update(found: Call) -> list[Outcome] | str:
    if len(found.args) == 4:
        return []  # CUDA 11's form is HIP's
    if len(found.args) != 3:
        return "the form with three or with four arguments is expected"
    reason = "CUDA 12's form gives one struct where HIP's gives two values"
    return [
        Edit(*found.name.span(), b"anywarp::graph_exec_update", "calls", reason),
        Need(b'"anywarp_graphs.h"', reason),
    ]


def _gemm_ex(found: Call) -> list[Outcome] | str:
    row = found.row
    if row is None or len(found.args) != 17:
        return "17 arguments are expected"
    reason = "cuBLAS's function computes in single precision, which hipBLAS's is told"
    edits = [
        (*found.name.span(), row.target.encode()),
        (found.close, found.close, b", HIPBLAS_COMPUTE_32F, HIPBLAS_GEMM_DEFAULT"),
    ]
    return [Edit(*each, "calls", reason, group=found.open + 1) for each in edits]


def _malloc_host(found: Call) -> list[Outcome] | str:
    if found.unit.path.suffix != ".c" or len(found.args) != 2:
        return []
    return [Edit(found.close, found.close, b", hipHostMallocDefault", "calls", "only C++ may leave the flags out")]


def _fft_property(found: Call) -> list[Outcome] | str:
    if len(found.args) != 2 or not re.fullmatch(rb"MAJOR_VERSION|MINOR_VERSION|PATCH_LEVEL", found.text(0)):
        return "hipFFT has an enumeration of its own for what is asked"
    reason = "hipFFT has an enumeration of its own for what is asked"
    start = found.args[0][0]
    edits = [(*found.name.span(), b"hipfftGetProperty"), (*found.args[0], b"HIPFFT_" + found.text(0))]
    return [Edit(*each, "calls", reason, group=start + 1) for each in edits]


RESHAPES: dict[bytes, Callable[[Call], list[Outcome] | str]] = {
    b"cudaGraphExecUpdate": _graph_exec_update,
    b"cudaGraphInstantiate": _graph_instantiate,
    b"cudaMemPrefetchAsync": _with_location(2, (3, 4)),
    b"cudaMemAdvise": _with_location(3, (4,)),
    b"cuMemAdvise": _with_location(3, (4,)),
    b"cuMemPrefetchAsync": _with_location(2, (4,)),
    b"cublasSgemmEx": _gemm_ex,
    b"cublasCgemmEx": _gemm_ex,
    b"cudaMallocHost": _malloc_host,
    b"cufftGetProperty": _fft_property,
    b"cudaStreamGetCaptureInfo": _capture_info,
    b"cudaEventCreate": _event_create,
}
"""Functions with a decision of their own: the outcomes (none: the name alone changes), or why it cannot be decided."""

RULES = (Wrapped(), Reshaped(), Counted())
