"""The diagnostic codes of images (Y120 to Y129)."""

from __future__ import annotations

from anywarp.diagnostics import AnywarpError, Diagnostic

DAMAGED = "Y120"
NO_PLATFORM = "Y121"
NO_PYTHON = "Y122"
TOO_OLD = "Y123"
CANNOT_WRITE = "Y124"
WRAPPED = "Y125"
NOT_INSTALLED = "Y126"
NOT_CARRIED = "Y127"


def problem(code: str, message: str, help: str) -> AnywarpError:
    """Build the error for a code; the caller raises it."""
    return AnywarpError(Diagnostic(code, message, help=help))


def damaged(message: str) -> AnywarpError:
    """Build the error for a layout that is not as it says."""
    return problem(DAMAGED, message, "save the image again as an OCI layout: skopeo copy docker://IMAGE oci:FOLDER")
