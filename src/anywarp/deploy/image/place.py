"""Where anywarp lies in an image that `anywarp image wrap` made, and how a command is started there.

The webhook goes by the same names: a pod's own command is started as the image's would be.
"""

from __future__ import annotations

from collections.abc import Sequence

FOLDER = "opt/anywarp"
"""The folder of everything that the layer brings, from the root of the image."""
PROGRAM = f"/{FOLDER}/bin/anywarp"


def prefixed(command: Sequence[str], device: str) -> list[str]:
    """Return a command as it is started on a device; one that is started so already stays."""
    if command and command[0] == PROGRAM:
        return list(command)
    return [PROGRAM, "run", "--device", device, "--", *command]
