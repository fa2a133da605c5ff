"""Which CUDA software is installed in this interpreter, and of which flavour, without importing any of it.

Importing a framework takes seconds and may fail for the very reason that a user is looking for; its metadata does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata


@dataclass(frozen=True, slots=True)
class Installed:
    """One package: its version, its flavour where there are several, whether it runs here, and a word on that."""

    name: str
    version: str
    flavour: str
    runs: bool | None
    remark: str


@dataclass(frozen=True, slots=True)
class _Known:
    """A package that uses CUDA; `names` are its distributions, `runs` and `remark` as in Installed."""

    names: tuple[str, ...]
    runs: bool | None
    remark: str
    flavour: Callable[[metadata.Distribution], str] = lambda _: ""


def _torch_flavour(found: metadata.Distribution) -> str:
    """Read torch/version.py as text: `cuda = '12.6'` or `hip = '6.2'`, else a CPU build."""
    text = found.read_text("../torch/version.py") or ""
    for kind in ("cuda", "hip"):
        match = re.search(rf"^{kind}\s*(?::[^=]*)?=\s*['\"]([\d.]+)", text, re.MULTILINE)
        if match:
            return f"{'rocm' if kind == 'hip' else kind} {match.group(1)}"
    return "cpu"


def _in_name(found: metadata.Distribution) -> str:
    match = re.search(r"(cuda|cu|rocm)[-_]?(\d+)", found.metadata["Name"].lower())
    return f"{'rocm' if match.group(1) == 'rocm' else 'cuda'} {match.group(2)}" if match else ""


_STATIC = "with anywarp run --rebind: it brings NVIDIA's runtime library linked in (docs/rebind.md)"
_LIBRARIES = (
    "needs cuBLAS or cuDNN for most models: on --device hip they are forwarded to ROCm's, on cpu they are not there yet"
)

KNOWN = (
    _Known(("tinygrad",), True, "with its PTX renderer: DEV=CUDA:PTX"),
    _Known(("numba-cuda",), True, "needs NVIDIA's nvidia-nvvm package to make PTX"),
    _Known(("cuda-core",), True, "programs that bring PTX"),
    _Known(("cuda-bindings",), True, "the driver interface"),
    _Known(("torch",), None, "", _torch_flavour),
    _Known(("triton",), True, "its NVIDIA backend, unchanged"),
    _Known(("cupy-cuda12x", "cupy-cuda13x", "cupy-rocm-5-0", "cupy"), True, _STATIC, _in_name),
    _Known(("jax-cuda12-plugin", "jax-cuda13-plugin"), False, "not yet: it needs cuDNN", _in_name),
    _Known(("tensorflow",), False, "not yet"),
    _Known(("onnxruntime-gpu",), None, _LIBRARIES),
    _Known(("xgboost",), True, _STATIC),
    _Known(("ctranslate2",), None, _LIBRARIES),
    _Known(("bitsandbytes",), True, "its kernels; matrix products in int8 need cuBLASLt"),
    _Known(
        ("warp-lang",),
        False,
        "its library carries NVIDIA's runtime without symbols, which works with NVIDIA's driver only: its device cpu runs, cuda cannot (docs/rebind.md)",
    ),
    _Known(("vllm",), False, "not yet: it needs more of NVIDIA's libraries than we replace"),
    _Known(("nvidia-nvvm", "nvidia-cuda-nvcc"), None, "makes PTX for numba-cuda"),
)
"""What doctor knows about, in the order it is shown."""


def installed() -> tuple[Installed, ...]:
    """Return the packages of KNOWN that are installed."""
    return tuple(found for known in KNOWN for name in known.names if (found := _look(name, known)) is not None)


def _look(name: str, known: _Known) -> Installed | None:
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    flavour = known.flavour(found)
    runs, remark = (_torch(flavour)) if name == "torch" else (known.runs, known.remark)
    return Installed(name, found.version, flavour, runs, remark)


def _torch(flavour: str) -> tuple[bool | None, str]:
    if flavour != "cpu":
        return (
            False if flavour.startswith("cuda") else None
        ), "not touched: anywarp gives `cuda` to CPU builds of PyTorch"
    return True, ""
