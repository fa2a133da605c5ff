"""XLA, of JAX and of TensorFlow: how it is told to choose among kernels.

It tries dozens of kernels for each product of matrices and keeps the fastest, which takes minutes where each is compiled for vectors of the
processor, and the fastest is cuBLAS, which is ours: it is told to take that at once. Everything else runs as it is.
"""

# pyright: basic
from __future__ import annotations

from anywarp import settings
from anywarp.frameworks.torch import patches

FLAGS = {"--xla_gpu_autotune_level": "0", "--xla_gpu_enable_triton_gemm": "false"}
"""What XLA_FLAGS gets where the user has not said otherwise: products by cuBLAS, without trying others."""


def add_flags(given: str) -> str:
    """Return XLA_FLAGS with ours before those that were given, which count."""
    named = {word.partition("=")[0] for word in given.split()}
    return " ".join([*(f"{name}={value}" for name, value in FLAGS.items() if name not in named), given]).strip()


def choose_at_once() -> None:
    """Tell XLA, before it reads its flags, and write it down."""
    settings.export({"XLA_FLAGS": add_flags(settings.environment().get("XLA_FLAGS", ""))})
    patches.write_down(
        "XLA_FLAGS", False, "products of matrices by cuBLAS at once, without compiling others to try them"
    )
