"""TensorFlow: it asks our libraries for everything and runs as it is; only what it would try out is not worth it here.

For each convolution it measures all algorithms of cuDNN, and XLA kernels of its own for each product: here all of cuDNN's are the same code.
"""

# pyright: basic
from __future__ import annotations

from anywarp import settings
from anywarp.frameworks import watching, xla
from anywarp.frameworks.torch import patches

AUTOTUNE = "TF_CUDNN_USE_AUTOTUNE"


def choose_at_once() -> None:
    """Tell TensorFlow, before it is loaded, to take the first that serves."""
    xla.choose_at_once()
    if AUTOTUNE not in settings.environment():
        settings.export({AUTOTUNE: "0"})
        reason = "convolutions by the first of cuDNN's algorithms, which are all the same code here"
        patches.write_down(AUTOTUNE, False, reason)


def install() -> watching.Watcher:
    """Put the watcher in force, once, and return it."""
    return watching.install(__name__, watching.Watcher(before={"tensorflow": choose_at_once}))
