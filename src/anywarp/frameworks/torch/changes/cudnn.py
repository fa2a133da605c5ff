"""cuDNN is not there, which `torch.backends.cudnn` says; asking for it per tensor shall not warn at every recurrent layer.

torch warns because a CUDA build without cuDNN is slow and a mistake of whoever built it. Here it is neither.
"""

# pyright: basic
from __future__ import annotations

from typing import Any

from anywarp.frameworks.torch import patches


@patches.when_imported("torch.backends.cudnn")
def _said_without_a_warning(module: Any) -> None:
    def is_acceptable(tensor: Any) -> bool:
        """Tell whether cuDNN can be used for `tensor`: it cannot."""
        return False

    patches.set_attribute(
        module, "is_acceptable", is_acceptable, "a warning about a build without cuDNN would come with every nn.LSTM"
    )
