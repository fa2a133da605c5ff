"""Answer for every identifier of CUDA that the catalogue knows, in one look-up, what a source text may write for it on ROCm.

The tables in `data/rocm` describe libraries as their binaries export them; whoever reads sources meets the names as headers spell
them, and needs one answer per name and release of ROCm. Assessing and translating both ask here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from anywarp.catalogue.load import load as load_driver
from anywarp.catalogue.releases import NEWEST, RELEASES, number
from anywarp.catalogue.rocm import DATA, read
from anywarp.catalogue.runtime import load as load_runtime
from anywarp.catalogue.signatures import difference, same_types

State = Literal["mapped", "emulated", "absent"]
SUBJECTS = (
    "runtime", "driver", "cublas", "cublaslt", "cufft", "curand", "cusparse", "cusolver", "cudnn", "nccl", "nvrtc", "nvml", "nvtx",
)  # fmt: skip
"""Libraries with tables of their own, in the order in which a name that several declare is looked up; `device` comes last."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """One name of CUDA and its answer in a release of ROCm.

    `state`: `mapped`, ROCm has a counterpart that a source can name (`target`); `emulated`, it has none but the libraries of this project serve
    the function on AMD GPUs; `absent`, with the reason. `differs_in` holds the major versions of CUDA (11, 12, 13) whose function takes other
    arguments than the counterpart, of which `reason` says more: such a call is more than a new name. `parameters` as C declares them, by major. `clients` counts the measured programs
    that import the function.
    """

    name: str
    subject: str
    kind: str
    state: State
    target: str = ""
    since: str = ""
    removed: str = ""
    reason: str = ""
    library: str = ""
    differs_in: tuple[int, ...] = ()
    parameters: Mapping[int, str] = field(default_factory=dict[int, str])
    target_parameters: str = ""
    header: str = ""
    clients: int = 0


def release(rocm: str) -> str:
    """Return the release of `RELEASES` that counts for version `rocm` (`7.1.3` -> `7.1`): the newest that is not newer.

    ValueError for what is no version, or is older than every release known.
    """
    if not re.fullmatch(r"\d{1,3}(\.\d{1,3}){0,3}", rocm):
        raise ValueError(f"{rocm!r} is no version of ROCm")
    known = [each for each in RELEASES if number(each) <= number(rocm)]
    if not known:
        raise ValueError(f"nothing is known of ROCm {rocm}, the oldest release known is {RELEASES[0]}")
    return known[-1]


def identifiers(rocm: str = NEWEST) -> Mapping[str, Identifier]:
    """Return every name of a function, type, constant or macro with its answer in that version of ROCm; ValueError as `release`."""
    return _identifiers(release(rocm))


def headers(rocm: str = NEWEST) -> Mapping[str, Identifier]:
    """Return the headers of CUDA by the name that an `#include` gives; a name that ends in `/` stands for all below it."""
    return _named("header", release(rocm))


def namespaces(rocm: str = NEWEST) -> Mapping[str, Identifier]:
    """Return the name spaces of CUDA's C++ libraries, with the header of the counterpart in `header`."""
    return _named("namespace", release(rocm))


@cache
def cub_names(rocm: str = NEWEST) -> Mapping[str, str]:
    """Return CUB's names that hipCUB does not have in that version of ROCm, and what to use there instead; ValueError as `release`."""
    at = number(release(rocm))
    return MappingProxyType(
        {
            row["name"]: row["hint"]
            for row, _ in read(DATA / "cub_names.tsv", ("name", "hint"))
            if (row["since"] and number(row["since"]) > at) or (row["until"] and number(row["until"]) <= at)
        }
    )


@cache
def _identifiers(rocm: str) -> Mapping[str, Identifier]:
    found: dict[str, Identifier] = {}
    for subject in SUBJECTS:
        served = _served(subject)
        for each in _of_library(subject, rocm):
            known = found.get(each.name)
            if known is not None and known.subject != subject and known.state != "absent":
                continue  # types that several libraries declare: the first one's, which is HIP's own
            if each.state == "absent" and each.kind == "function" and each.name in served:
                each = replace(
                    each, state="emulated", target="", reason=each.reason or "served by this project's library"
                )
            found[each.name] = each
    for row, _ in _rows(DATA / "source_names.tsv"):
        inline = row["kind"] == "function" or row["header"].startswith("curand")  # no library exports it
        subject = "device" if inline else "nvtx" if row["header"].startswith("nvtx") else "runtime"
        found[row["name"]] = _plain(row, subject, row["kind"], rocm)
    for each in _of_device(rocm):
        known = found.get(each.name)
        if known is None or (known.state == "absent" and each.state == "mapped"):
            found[each.name] = (
                each  # libraries borrow vector types and halves, and have no counterpart of their own for them
            )
    for each in _of_earlier(rocm):
        found.setdefault(each.name, each)

    def named(type_: str) -> str:
        row = found.get(type_)
        return row.target if row is not None and row.target else type_

    for name, each in found.items():
        if each.kind == "function" and each.state == "mapped" and (differs := _differs(each, named)):
            reason = each.reason or difference(each.parameters[differs[0]], each.target_parameters, named)
            found[name] = replace(each, differs_in=differs, reason=reason)
    return MappingProxyType(found)


def _of_library(subject: str, rocm: str) -> Iterator[Identifier]:
    """Yield the names of one library: functions, then types and constants, then macros, which hide a function of the same name."""
    path = DATA / f"{subject}.tsv"
    functions: dict[str, Identifier] = {}
    for row, _ in read(path, ("name", "route", "target", "reason")):
        functions[row["name"]] = _function(row, subject, rocm)
    yield from functions.values()
    for row, _ in _rows(DATA / f"{subject}_types.tsv"):
        yield _plain(row, subject, "type", rocm)
    for row, _ in _rows(DATA / f"{subject}_constants.tsv"):
        macro = row["type"] == "#define"
        hidden = _hidden(row, functions) if macro else None
        if hidden is not None:
            yield hidden
        elif not macro or row["target"] or not _decoration(row):
            yield _plain(row, subject, "macro" if macro else "constant", rocm)


def _hidden(row: dict[str, str], functions: Mapping[str, Identifier]) -> Identifier | None:
    """Return the function that a macro of its name hides behind another name in some versions of CUDA (`cuMemAdvise` in 13).

    What answers it is the counterpart of the form that the name has without the macro, where a version has that.
    """
    forms: dict[int, Identifier] = {}
    for major in (12, 13):
        each = functions.get(row.get(f"value_{major}", "") or row["name"])
        if each is not None and major in each.parameters:
            forms[major] = each
    if not forms or not any(row.get(f"value_{major}", "") in functions for major in (12, 13)):
        return None
    first = next((each for each in forms.values() if each.name == row["name"]), next(iter(forms.values())))
    return replace(first, name=row["name"], parameters={major: each.parameters[major] for major, each in forms.items()})


def _decoration(row: dict[str, str]) -> bool:
    """Say whether a macro only hides a function behind another name of CUDA's: the function's own row counts then."""
    return bool(re.fullmatch(r"\w+_(v\d+|ptsz|ptds|64)+", row.get("value_12", "") or row.get("value_13", "")))


def _function(row: dict[str, str], subject: str, rocm: str) -> Identifier:
    there, why = _there(row, rocm)
    state: State = "mapped" if row["target"] and row["route"] != "absent" and there else "absent"
    if row["route"] == "custom" and not row["target"]:
        state = "emulated"
    p12, p13 = row.get("parameters_12", ""), row.get("parameters_13", "")
    parameters = {12: p12, 13: p12 if p13 == "=" else p13}
    return Identifier(
        row["name"], subject, "function", state, _spelled(row, rocm) if state == "mapped" else "", row.get("since", ""),
        row.get("removed", ""), why or row["reason"] or _no_reason(state), row.get("library", ""),
        (), {major: parameters[major] for major in map(int, row["majors"].split()) if parameters[major]}, row.get("target_parameters", ""), clients=int(row.get("clients") or 0),
    )  # fmt: skip


def _no_reason(state: State) -> str:
    return {
        "absent": "no counterpart in ROCm",
        "emulated": "served by this project's library, without a counterpart",
        "mapped": "",
    }[state]


def _spelled(row: dict[str, str], rocm: str) -> str:
    """Return the name of the counterpart in that release; HIP's `R0600` names hide behind macros of the plain name."""
    earlier = dict(part.split("=", 1) for part in row.get("earlier", "").split())
    name = earlier.get(rocm, row["target"])
    return row["target"] if name.endswith("R0600") else name


def _differs(row: Identifier, named: Callable[[str], str]) -> tuple[int, ...]:
    """Return the versions of CUDA whose function a source cannot call under the counterpart's name as it is.

    Structs with other fields are another matter for binaries only: in a source their fields are found by name.
    """
    if row.subject in ("cudnn", "nvml"):
        return tuple(row.parameters)  # the counterpart stands for the subject, not for the call: MIOpen, AMD SMI
    if not row.target_parameters:
        return ()
    return tuple(
        major
        for major, ours in row.parameters.items()
        if not same_types(ours, row.target_parameters, row.target, named)
    )


def _plain(row: dict[str, str], subject: str, kind: str, rocm: str) -> Identifier:
    there, why = _there(row, rocm)
    state: State = "mapped" if row["target"] and there else "absent"
    return Identifier(
        row["name"], subject, kind, state, row["target"].removesuffix("R0600") if state == "mapped" else "", row.get("since", ""),
        row.get("removed", ""), why or row.get("reason", "") or _no_reason(state), header=row.get("header", ""),
    )  # fmt: skip


def _there(row: dict[str, str], rocm: str) -> tuple[bool, str]:
    """Say whether the counterpart is there in that release, and if not, why."""
    since, removed, target = row.get("since", ""), row.get("removed", ""), row["target"]
    if target and since and number(since) > number(rocm):
        return False, f"{target} came with ROCm {since}"
    if target and removed and number(removed) <= number(rocm):
        return False, f"{target} is gone since ROCm {removed}"
    return True, ""


def _of_device(rocm: str) -> Iterator[Identifier]:
    for name in ("device.tsv", "source_only.tsv"):
        for row, _ in _rows(DATA / name):
            yield _plain(row, "nvml" if row.get("header") == "nvml.h" else "device", row["kind"], rocm)


def _of_earlier(rocm: str) -> Iterator[Identifier]:
    """Yield what CUDA 11 and 10 had and CUDA 12 has no more."""
    for row, _ in _rows(DATA / "earlier.tsv"):
        parameters = {int(row["majors"]): row["parameters"]} if row["parameters"] else {}
        plain = _plain(row, row["subject"], row["kind"], rocm)
        target_parameters = row["target_parameters"] if plain.target else ""
        yield replace(plain, parameters=parameters, target_parameters=target_parameters, library=row["library"])


@cache
def _named(kind: str, rocm: str) -> Mapping[str, Identifier]:
    found: dict[str, Identifier] = {}
    for row, _ in _rows(DATA / "headers.tsv"):
        if row["kind"] == kind:
            if kind == "namespace":
                row = {**row, "header": row["reason"], "reason": ""}
            found[row["name"]] = _plain(row, "header", kind, rocm)
    return MappingProxyType(found)


@cache
def _served(subject: str) -> frozenset[str]:
    """Return the functions that this project's own libraries answer on AMD GPUs although ROCm has no counterpart.

    Our runtime stands on our driver library, so it cannot serve what that one lacks there: the driver's function of the same name.
    """
    own = {row["name"]: row["route"] for row, _ in _rows(DATA / "cuda_hip.tsv")}
    if subject == "driver":
        names = (row.name for row in load_driver().rows if row.route != "absent")
        return frozenset(name for name in names if own.get(name) != "absent")
    if subject == "runtime":
        names = (row.name for row in load_runtime().rows if row.route != "absent")
        return frozenset(name for name in names if own.get(_driver_name(name)) != "absent")
    return frozenset()


def _driver_name(name: str) -> str:
    """Return what the driver calls a function of the runtime, where the two differ in the prefix only or the runtime says more."""
    return "cu" + name.removeprefix("cuda").replace("ExecutionCtx", "GreenCtx")


def _rows(path: Path) -> Iterator[tuple[dict[str, str], str]]:
    yield from read(path, ("name", "target", "reason")) if path.exists() else ()
