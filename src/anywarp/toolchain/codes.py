"""The diagnostic codes of this room and the one way to raise them.

Codes are stable: users look them up with `anywarp explain`, and programs match on them.
"""

from __future__ import annotations

from anywarp.diagnostics import AnywarpError, Diagnostic

NO_CLANG = "T001"
BAD_OPTION = "T002"
NO_INPUT = "T003"
NO_HOST_LINKER = "T004"
DEVICE_LINK = "T005"
NOT_BUILT = "T006"
MANAGED_ADDRESS = "T007"
LIBDEVICE = "T008"
CORE_LIBRARIES = "T009"
OPENMP = "T010"

TITLES: dict[str, str] = {
    NO_CLANG: "no clang that compiles CUDA",
    BAD_OPTION: "an option of nvcc that we do not take",
    NO_INPUT: "an input that cannot be compiled",
    NO_HOST_LINKER: "no host compiler to link with",
    DEVICE_LINK: "device code that cannot be linked",
    NOT_BUILT: "a library of ours that is not there",
    MANAGED_ADDRESS: "the address of a managed variable where a constant is needed",
    LIBDEVICE: "libdevice.10.bc cannot be made",
    CORE_LIBRARIES: "Thrust, CUB or libcu++ that is not here",
    OPENMP: "OpenMP without a runtime that clang's code can call",
}


def problem(code: str, message: str, help: str) -> AnywarpError:
    """Return the error to raise: what is wrong, and what to do now."""
    return AnywarpError(Diagnostic(code, message, help=help))
