"""bitsandbytes brings a library for each release of ROCm, and older ones look for exactly torch's: with another of the same major release it runs.

https://github.com/bitsandbytes-foundation/bitsandbytes/issues/1519, https://github.com/ROCm/bitsandbytes/issues/82; BNB_ROCM_VERSION is its own variable. It chooses like
that itself in 0.50. A library for another major release asks for another libamdhip64.so: nothing mends that.
"""

from __future__ import annotations

import re
from pathlib import Path

from anywarp import settings
from anywarp.diagnostics import Diagnostic
from anywarp.frameworks import watching
from anywarp.frameworks.torch import messages, patches, rocm

MODULE = "bitsandbytes"
VARIABLE = "BNB_ROCM_VERSION"
CHOOSES = (0, 50)
"""The first release that was seen to choose."""


def install() -> watching.Watcher:
    """Put the watcher in force, once, and return it."""
    return watching.install(__name__, watching.Watcher(before={MODULE: _choose}))


def _choose() -> None:
    folder = rocm.folder_of(MODULE)
    if VARIABLE in settings.environment() or folder is None or not rocm.concerns(MODULE):
        return
    torch, have = rocm.installed(), libraries(folder)
    wanted = _release(torch.hip) if torch is not None else None
    if wanted is None or "".join(map(str, wanted)) in have:
        return
    major, minor = wanted
    alike = {int(each.removeprefix(str(major))): each for each in have if re.match(rf"{major}\d", each)}
    if not alike:
        text = f"bitsandbytes in {folder} has no library for ROCm {major}, which torch is for (it has: {', '.join(sorted(have)) or 'none'}): its functions on the GPU will be missing"
        help = f"a release of bitsandbytes for ROCm {major}, or build it from source"
        messages.say_once(Diagnostic("F033", text, severity="warning", help=help))
        return
    if (_release(rocm.version_of(MODULE)) or CHOOSES) >= CHOOSES:
        return
    near = alike[max((each for each in alike if each < minor), default=min(alike))]
    settings.export({VARIABLE: near})
    reason = f"bitsandbytes has no library for ROCm {major}.{minor}: libbitsandbytes_rocm{near}.so is taken"
    patches.write_down(f"environment {VARIABLE}", True, reason)


def libraries(folder: Path) -> set[str]:
    """Return the releases of ROCm for which there are libraries, as their names have them: 64 for 6.4, 714 for 7.14, 101 for 10.1."""
    names = (re.fullmatch(r"libbitsandbytes_rocm(\d+)\.so", path.name) for path in folder.iterdir())
    return {name[1] for name in names if name}


def _release(text: str) -> tuple[int, int] | None:
    match = re.match(r"(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else None
