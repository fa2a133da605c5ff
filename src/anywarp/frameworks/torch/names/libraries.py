"""Names of torch._C about NVIDIA's libraries: what stands behind them here, or an error that names what is missing.

cuBLAS, cuDNN and the others are not there: their work is done by the CPU's kernels, and nothing says otherwise. Settings that
programs write and read back (workspace sizes, benchmark limits, tuning) are kept.
"""

# pyright: basic
from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from anywarp.frameworks.torch import calls, patches
from anywarp.frameworks.torch.names import nvtx, runtime_api


def names(library: ctypes.CDLL) -> dict[str, Any]:
    """Return the names and what they are bound to."""
    enter = calls.checked(library, "awt_device_enter")
    _set_version(calls.returning(library, "awt_driver_version", ctypes.c_int)())
    found: dict[str, Any] = {
        "_cudart": runtime_api.module(ctypes.CDLL("libcuda.so.1"), enter),
        "_nvtx": nvtx.module(),
        "_cuda_clearCublasWorkspaces": lambda: None,  # there are none
        "_cuda_getCurrentBlasHandle": _refusal("torch.cuda.current_blas_handle", "there is no cuBLAS"),
        "_cuda_getCurrentSolverHandle": _refusal("torch.cuda.current_solver_handle", "there is no cuSOLVER"),
        "_cuda_jiterator_compile_and_launch_kernel": _refusal(
            "torch.cuda.jiterator", "there is no NVRTC for its CUDA source"
        ),
    }
    for get, set_, first in (
        ("_cuda_get_cudnn_benchmark_limit", "_cuda_set_cudnn_benchmark_limit", 10),
        ("_cuda_get_conv_benchmark_empty_cache", "_cudnn_set_conv_benchmark_empty_cache", True),
    ):
        found[get], found[set_] = _kept(first)
    # Bytes by default: CUBLAS_WORKSPACE_CONFIG ":4096:2:16:8" of cuBLAS before compute capability 9.0, 32 MiB since; 1 MiB of
    # cuBLASLt (torch's "CUDA environment variables" page).
    for name, first in (("Cublas", 32 << 20), ("CublasLt", 1 << 20)):
        get, set_ = _kept(first)
        found[f"_cuda_get{name}WorkspaceSize"], found[f"_cuda_set{name}WorkspaceSize"] = get, set_
        found[f"_cuda_reset{name}WorkspaceSize"] = _reset(set_, first)
    return found | _tuning()


def _set_version(driver: int) -> None:
    import torch.version

    version = f"{driver // 1000}.{driver % 1000 // 10}"
    patches.set_attribute(
        torch.version, "cuda", version, "programs ask it whether this is a CUDA build; it is our driver's version"
    )


def _refusal(name: str, why: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"{name} is not served by anywarp: {why}")

    return refuse


def _kept(first: Any) -> tuple[Callable[[], Any], Callable[[Any], None]]:
    """Return a function that reads and one that writes a value."""
    place = [first]

    def write(value: Any) -> None:
        place[0] = type(first)(value)

    return lambda: place[0], write


def _reset(write: Callable[[Any], None], first: Any) -> Callable[[], None]:
    return lambda: write(first)


def _tuning() -> dict[str, Any]:
    """Return the names behind torch.cuda.tunable: settings are kept, results stay empty since nothing has variants to try."""
    found: dict[str, Any] = {}
    for get, set_, first in (
        ("tunableop_is_enabled", "tunableop_enable", False),
        ("tunableop_tuning_is_enabled", "tunableop_tuning_enable", True),
        ("record_untuned_is_enabled", "record_untuned_enable", False),
        ("tunableop_get_max_tuning_duration", "tunableop_set_max_tuning_duration", 30),
        ("tunableop_get_max_tuning_iterations", "tunableop_set_max_tuning_iterations", 100),
        ("tunableop_get_rotating_buffer_size", "tunableop_set_rotating_buffer_size", 0),
    ):
        found[f"_cuda_{get}"], found[f"_cuda_{set_}"] = _kept(first)
    filename, set_filename = _kept("tunableop_results0.csv")

    def name_file(name: str, insert_device_ordinal: bool = False) -> None:
        import torch

        stem, dot, ending = name.rpartition(".")
        ordinal = str(torch.cuda.current_device()) if insert_device_ordinal else ""
        set_filename(f"{stem}{ordinal}{dot}{ending}" if dot else f"{name}{ordinal}")

    return found | {
        "_cuda_tunableop_get_filename": filename,
        "_cuda_tunableop_set_filename": name_file,
        "_cuda_tunableop_get_results": lambda: (),
        "_cuda_tunableop_get_validators": lambda: (),
        "_cuda_tunableop_read_file": _refusal(
            "torch.cuda.tunable.read_file", "its operators have no variants to choose from"
        ),
        "_cuda_tunableop_set_numerical_check_tolerances": lambda enable, atol=1e-5, rtol=1e-5: None,
    }
