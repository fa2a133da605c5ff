"""Derive the map between CUDA's error codes and HIP's from the headers of both.

Most codes have equal numbers, which hides the ones that mean something else: every pair here is one of names, never of numbers alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from anywarp.catalogue import c_facts, cython_facts, dated
from anywarp.catalogue.library_rows import DATA
from anywarp.catalogue.library_sources import DEFINES
from anywarp.catalogue.packages import Packages
from anywarp.catalogue.releases import having

FROM = "hip_value hip_name rocm driver_value driver_name runtime_value runtime_name reason"
TO = "cuda_value driver_name runtime_name majors hip_value hip_name since reason"

# HIP's code to CUDA's driver code and runtime code, where the numbers differ or one of the two has none.
MEANING: dict[str, tuple[str, str, str]] = {
    "hipErrorInvalidConfiguration": ("CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidConfiguration", ""),
    "hipErrorInvalidPitchValue": ("CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidPitchValue", ""),
    "hipErrorInvalidSymbol": ("CUDA_ERROR_NOT_FOUND", "cudaErrorInvalidSymbol", ""),
    "hipErrorInvalidDevicePointer": ("CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidDevicePointer", ""),
    "hipErrorInvalidMemcpyDirection": ("CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidMemcpyDirection", ""),
    "hipErrorInsufficientDriver": ("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "cudaErrorInsufficientDriver", ""),
    "hipErrorMissingConfiguration": ("CUDA_ERROR_INVALID_VALUE", "cudaErrorMissingConfiguration", ""),
    "hipErrorPriorLaunchFailure": ("CUDA_ERROR_LAUNCH_FAILED", "cudaErrorPriorLaunchFailure", ""),
    "hipErrorInvalidDeviceFunction": ("CUDA_ERROR_NOT_FOUND", "cudaErrorInvalidDeviceFunction", ""),
    "hipErrorContextAlreadyCurrent": ("CUDA_ERROR_CONTEXT_ALREADY_CURRENT", "cudaErrorUnknown", "the runtime has no such code"),
    "hipErrorInvalidChannelDescriptor": (
        "CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidChannelDescriptor", "its number means an external device to CUDA",
    ),
    "hipErrorInvalidTexture": (
        "CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidTexture", "its number means the size of a cluster to CUDA",
    ),
    "hipErrorStreamDetached": ("CUDA_ERROR_STREAM_DETACHED", "cudaErrorStreamDetached", "its number means key rotation to CUDA"),
    "hipErrorInvalidClusterSize": (
        "CUDA_ERROR_INVALID_CLUSTER_SIZE", "cudaErrorInvalidClusterSize", "before ROCm 10 its number meant no error in particular",
    ),
    "hipErrorRuntimeMemory": ("CUDA_ERROR_UNKNOWN", "cudaErrorUnknown", "the layer below HIP failed on memory, and says no more"),
    "hipErrorRuntimeOther": ("CUDA_ERROR_UNKNOWN", "cudaErrorUnknown", "the layer below HIP failed, and says no more"),
    "hipErrorTbd": ("CUDA_ERROR_UNKNOWN", "cudaErrorUnknown", "HIP's mark for an error without a number"),
    "hipErrorInvalidImage": ("CUDA_ERROR_INVALID_IMAGE", "cudaErrorInvalidKernelImage", ""),
    "hipErrorNoDevice": ("CUDA_ERROR_NO_DEVICE", "cudaErrorNoDevice", ""),
    "hipErrorInvalidDevice": (
        "CUDA_ERROR_INVALID_DEVICE", "cudaErrorInvalidDevice",
        "of a call that takes no device, while hipGetDeviceCount finds none: CUDA_ERROR_NO_DEVICE (HIP 5.2 says 101 there, 6.4 says 100)",
    ),
}  # fmt: skip
# CUDA's code to HIP's where equal numbers mislead or names differ.
COUNTERPARTS = {
    "cudaErrorInvalidChannelDescriptor": "hipErrorInvalidChannelDescriptor",
    "cudaErrorInvalidTexture": "hipErrorInvalidTexture",
    "CUDA_ERROR_EXTERNAL_DEVICE": "",
    "CUDA_ERROR_INVALID_CLUSTER_SIZE": "hipErrorInvalidClusterSize",
    "CUDA_ERROR_KEY_ROTATION": "",
    "CUDA_ERROR_STREAM_DETACHED": "hipErrorStreamDetached",
}

Codes = dict[int, tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]]]]


def hip_codes(packages: Packages, builtin: Path) -> dict[str, dict[str, int]]:
    """Return HIP's codes by version."""
    found: dict[str, dict[str, int]] = {}
    for version in having("hip"):
        header = packages.find(f"rocm-{version}", "include/hip/hip_runtime_api.h")
        bindings = packages.find(f"rocm-{version}", "cyhip.pxd")
        if header:
            include = [*packages.include(f"rocm-{version}"), builtin]
            facts = c_facts.read(header, include, ["hip_runtime_api.h"], define=DEFINES)
        elif bindings:
            facts = cython_facts.read(bindings)
        else:
            continue
        found[version] = facts.constants["hipError_t"]
    return found


def cuda_codes(packages: Packages, builtin: Path) -> Codes:
    """Return CUDA's codes: value to (driver names, runtime names), each with its major versions."""
    found: Codes = {}
    for major in (12, 13):
        include = [*packages.include(f"cuda{major}"), builtin]
        for place, name, enum in ((0, "cuda.h", "cudaError_enum"), (1, "cuda_runtime_api.h", "cudaError")):
            header = packages.find(f"cuda{major}", f"include/{name}")
            assert header is not None, f"no {name} of CUDA {major}"
            facts = c_facts.read(header, [header.parent, *include], [name, "driver_types.h"])
            for key, value in facts.constants[enum].items():
                names = found.setdefault(value, ({}, {}))[place]
                names[key] = (*names.get(key, ()), major)
    return found


def rows_from_hip(hip: Mapping[str, Mapping[str, int]], cuda: Codes) -> list[list[str]]:
    """Return one row for each of HIP's codes: what the driver's and the runtime's callers are told."""
    numbers = {name: value for value, groups in cuda.items() for group in groups for name in group}
    rows: list[list[str]] = []
    names = {(value, name) for codes in hip.values() for name, value in codes.items()}
    for value, name in sorted(names):
        versions = [v for v, codes in hip.items() if codes.get(name) == value]
        if name in MEANING:
            driver, runtime, reason = MEANING[name]
        else:
            groups = cuda[value]  # a code without an entry above has its number's meaning
            driver, runtime = next(iter(groups[0]), "CUDA_ERROR_UNKNOWN"), next(iter(groups[1]), "cudaErrorUnknown")
            reason = ""
        rows.append(
            [str(value), name, " ".join(versions), str(numbers[driver]), driver, str(numbers[runtime]), runtime, reason]
        )
    return rows


def rows_to_hip(hip: Mapping[str, Mapping[str, int]], cuda: Codes) -> list[list[str]]:
    """Return one row for each of CUDA's codes: HIP's code of the same meaning, if there is one."""
    versions = list(hip)
    everywhere: dict[str, tuple[int, str]] = {}
    for version, codes in hip.items():
        for name, value in codes.items():
            first = everywhere[name][1] if name in everywhere else version
            everywhere[name] = (value, first)
    rows: list[list[str]] = []
    for value, (driver, runtime) in sorted(cuda.items()):
        names = [*driver, *runtime]
        equal = [n for n, (number, _) in everywhere.items() if number == value and n not in MEANING] or [
            n for n, (number, _) in everywhere.items() if number == value and n.removeprefix("hip") in (m.removeprefix("cuda") for m in names)
        ] or [n for n, (number, _) in everywhere.items() if number == value and set(MEANING.get(n, ("", ""))[:2]) & set(names)]  # fmt: skip
        chosen = next((COUNTERPARTS[n] for n in names if n in COUNTERPARTS), equal[0] if equal else "")
        majors = sorted({m for group in (driver, runtime) for held in group.values() for m in held})
        number, since = everywhere.get(chosen, (0, ""))
        reason = "" if chosen else "HIP has no such code"
        cells = [
            str(value),
            " ".join(driver),
            " ".join(runtime),
            " ".join(map(str, majors)),
            str(number) if chosen else "",
            chosen,
        ]
        rows.append([*cells, since if since != versions[0] else "", reason])
    return rows


def main(arguments: Sequence[str]) -> int:
    """Run as a command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m anywarp.catalogue.derive_errors", description=__doc__)
    parser.add_argument("packages", type=Path)
    parser.add_argument(
        "--builtin", type=Path, required=True, help="the include folder of a C compiler's own headers (stddef.h)"
    )
    options = parser.parse_args(arguments)
    packages = Packages(options.packages)
    hip, cuda = hip_codes(packages, options.builtin), cuda_codes(packages, options.builtin)
    what = f"from the headers of CUDA 12 and 13 and of HIP {', '.join(hip)}, by anywarp.catalogue.derive_errors"
    for name, heading, rows in (
        ("errors_from_hip", FROM, rows_from_hip(hip, cuda)),
        ("errors_to_hip", TO, rows_to_hip(hip, cuda)),
    ):
        lines = ["\t".join(heading.split()), *("\t".join(row) for row in rows)]
        dated.write(DATA / f"{name}.tsv", f"error codes {what}", lines)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
