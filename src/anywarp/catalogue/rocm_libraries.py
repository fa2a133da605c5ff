"""Say what is replaced: per library of CUDA the files, their names, ROCm's counterpart and the codes for what goes wrong.

These are the few facts that are no rows of a table; the generator, the tests and the pages share them.
"""

from __future__ import annotations

from dataclasses import dataclass

from anywarp.catalogue.rocm import Library


@dataclass(frozen=True, slots=True)
class Variant:
    """One file: the version in its name, and the versions of CUDA whose programs load it (the first one's declarations count)."""

    name: str
    soname: str
    majors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Replaced:
    """One library of CUDA and its counterpart.

    `codes` names constants of the status enum: success, not_initialized, invalid_value, not_supported, internal. `target_sonames`
    are tried in order, as `MAJOR:NAME`, where MAJOR is that of the HIP runtime they are built on.
    """

    stem: str
    title: str
    variants: tuple[Variant, ...]
    target_title: str
    package: str
    target_sonames: tuple[str, ...]
    status: str
    codes: dict[str, str]
    versioned: bool = True

    def code(self, library: Library, what: str) -> int:
        """Return the number of a code of the status enum."""
        name = self.codes.get(what, self.codes["invalid_value"])
        constant = next((c for c in library.constants.get(self.status, ()) if c.name == name), None)
        if constant is None:
            raise KeyError(f"{self.stem}: no constant {name}")
        return next(iter(constant.values.values()))


def _variants(prefix: str, first: int, second: int) -> tuple[Variant, ...]:
    if first == second:
        return (Variant(str(first), f"{prefix}.so.{first}", (12, 13)),)
    return (Variant(str(first), f"{prefix}.so.{first}", (12,)), Variant(str(second), f"{prefix}.so.{second}", (13,)))


def _codes(
    prefix: str, not_initialized: str, invalid_value: str, not_supported: str, internal: str, success: str = "SUCCESS"
) -> dict[str, str]:
    return {
        "success": prefix + success,
        "not_initialized": prefix + not_initialized,
        "invalid_value": prefix + invalid_value,
        "not_supported": prefix + not_supported,
        "internal": prefix + internal,
    }


_USUAL = ("NOT_INITIALIZED", "INVALID_VALUE", "NOT_SUPPORTED", "INTERNAL_ERROR")

LIBRARIES = {
    entry.stem: entry
    for entry in (
        Replaced(
            "cublas", "cuBLAS", _variants("libcublas", 12, 13), "hipBLAS", "hipblas",
            ("7:libhipblas.so.3", "6:libhipblas.so.2"), "cublasStatus_t", _codes("CUBLAS_STATUS_", *_USUAL),
        ),
        Replaced(
            "cublaslt", "cuBLASLt", _variants("libcublasLt", 12, 13), "hipBLASLt", "hipblaslt",
            ("7:libhipblaslt.so.1", "6:libhipblaslt.so.0", "6:libhipblaslt.so.1"), "cublasStatus_t", _codes("CUBLAS_STATUS_", *_USUAL),
        ),
        Replaced(
            "cufft", "cuFFT", _variants("libcufft", 11, 12), "hipFFT", "hipfft", ("7:libhipfft.so.0", "6:libhipfft.so.0"),
            "cufftResult_t",
            _codes("CUFFT_", "SETUP_FAILED", "INVALID_VALUE", "NOT_SUPPORTED", "INTERNAL_ERROR")
            | {"invalid_handle": "CUFFT_INVALID_PLAN"},
        ),
        Replaced(
            "curand", "cuRAND", _variants("libcurand", 10, 10), "hipRAND", "hiprand", ("7:libhiprand.so.1", "6:libhiprand.so.1"),
            "curandStatus",
            # cuRAND has no code for what it cannot do.
            _codes("CURAND_STATUS_", "INITIALIZATION_FAILED", "TYPE_ERROR", "INTERNAL_ERROR", "INTERNAL_ERROR"),
        ),
        Replaced(
            "cusparse", "cuSPARSE", _variants("libcusparse", 12, 12), "hipSPARSE", "hipsparse",
            ("7:libhipsparse.so.4", "6:libhipsparse.so.1"), "cusparseStatus_t", _codes("CUSPARSE_STATUS_", *_USUAL),
        ),
        Replaced(
            "cusolver", "cuSOLVER", _variants("libcusolver", 11, 12), "hipSOLVER", "hipsolver",
            ("7:libhipsolver.so.1", "6:libhipsolver.so.0"), "cusolverStatus_t", _codes("CUSOLVER_STATUS_", *_USUAL),
        ),
        Replaced(
            "nccl", "NCCL", _variants("libnccl", 2, 2), "RCCL", "rccl", ("7:librccl.so.1", "6:librccl.so.1"), "ncclResult_t",
            # What NCCL cannot do is an invalid usage there.
            _codes("nccl", "SystemError", "InvalidArgument", "InvalidUsage", "InternalError", "Success"),
            versioned=False,
        ),
    )
}  # fmt: skip
"""By the name of its tables: every library that is replaced by forwarding."""
